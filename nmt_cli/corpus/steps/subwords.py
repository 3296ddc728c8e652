"""Learns or reuses the subwords of a prepared corpus, encodes its text with them, and measures how well they fit.

Knows which files of the prepared directory are written; nothing of how pairs are read or split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from nmt_cli.arrays.counting import ValueCounts, count_values
from nmt_cli.arrays.ragged import Ragged, RaggedWriter
from nmt_cli.arrays.scratch import iterate_blocks
from nmt_cli.arrays.special_ids import UNKNOWN
from nmt_cli.arrays.types import IntArray
from nmt_cli.carrying.masking import mask_pair
from nmt_cli.corpus.checks.scripts import SCRIPTS, measure_script_shares
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.pairs import Pairs, Side, Texts
from nmt_cli.corpus.sides import SubwordStatistics
from nmt_cli.corpus.steps.context import find_contexts
from nmt_cli.corpus.steps.reading import PrepareProgress
from nmt_cli.corpus.steps.reused_tokenizer import find_reused_subwords
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.corpus.steps.tagging import list_tag_pieces
from nmt_cli.corpus.steps.target_vocabulary import extract_target_vocabulary
from nmt_cli.corpus.steps.written import read_written
from nmt_cli.corpus.tag_rows import drop_contexts, drop_tag_ids, prepend_contexts, prepend_tag_sets
from nmt_cli.text.characters import END_MARKS
from nmt_cli.text.normalise import count_words
from nmt_cli.text.symbols import CONTEXT_END
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerSettings
from nmt_cli.text.tokenizer_training import add_control_pieces, add_separator, train_tokenizer

EVERYDAY_WORDS, EVERYDAY_SAMPLE = 15, 2_000  # the most words of a sentence of everyday life; sentences looked at
SIDES: tuple[Side, Side] = ("source", "target")
CHUNK = 20_000  # sentences that are encoded at a time
SAMPLE = 200_000  # sentences of a side that subwords are learned from; more take longer and change little

SCRIPT_SAMPLE = 20_000  # training pairs whose letters are counted by script
SHARED_SCRIPT = 0.05  # share of letters in the scripts of the other side from which one vocabulary serves both
MAIN_SCRIPT = 0.1  # share of letters from which a script is named


@dataclass(frozen=True)
class LearnedSubwords:
    """The subword models of both sides and their files; identical if the target needs most of a joint model."""

    source: Tokenizer
    target: Tokenizer
    source_file: str
    target_file: str

    @property
    def settings(self) -> TokenizerSettings:
        return self.source.settings

    def get_tokenizer(self, side: Side) -> Tokenizer:
        return self.source if side == "source" else self.target

    def get_file_name(self, side: Side) -> str:
        return self.source_file if side == "source" else self.target_file


def obtain_subwords(pairs: Pairs, train: IntArray, directory: Path, config: PrepareConfig) -> LearnedSubwords:
    """Writes and returns the subword models: those of `--tokenizer-from`, else models trained only on train."""
    settings = config.tokenizer_settings
    if config.tokenizer_from is not None:
        reused = find_reused_subwords(Path(config.tokenizer_from), settings)
        settings = reused.settings
        models = {role: path.read_bytes() for role, path in reused.select_files(config.text_sides).items()}
        models = add_separator(models) if config.context else models
    else:
        models = learn_subwords(pairs, train, config)
    reads = {"joint"} & models.keys() or models.keys()  # the vocabularies that sources are read with, in any direction
    pieces = list_tag_pieces(pairs.tag_sets)
    models |= {role: add_control_pieces(models[role], pieces) for role in reads}
    for role, model in models.items():
        (directory / f"{role}.spm").write_bytes(model)
    first, last = next(iter(models)), list(models)[-1]
    source = Tokenizer(models[first], settings)
    target = source if first == last else Tokenizer(models[last], settings)
    return LearnedSubwords(source, target, f"{first}.spm", f"{last}.spm")


def choose_separation(pairs: Pairs, train: IntArray, config: PrepareConfig, notes: list[str]) -> PrepareConfig:
    """Returns the settings with separate vocabularies decided: by default, if the sides share no script.

    Pieces of one script are useless to the other side, and take room from the pieces it needs. A decision not made by
    the user is added to `notes`.
    """
    separate = config.separate_vocabularies
    if separate is None and len(config.text_sides) == 2 and config.tokenizer_from is None:
        rows = train[:SCRIPT_SAMPLE]
        shares = [measure_script_shares(list(pairs.get_texts(side).select(rows))) for side in config.text_sides]
        separate = bool(all(share.any() for share in shares) and np.minimum(*shares).sum() < SHARED_SCRIPT)
        if separate:
            scripts = " / ".join(" and ".join(np.array(SCRIPTS)[share >= MAIN_SCRIPT]) for share in shares)
            notes.append(
                f"the sides share no script ({scripts}): each has a vocabulary of its own; "
                "--no-separate-vocabularies learns a joint one"
            )
    return replace(config, separate_vocabularies=bool(separate))


def learn_subwords(pairs: Pairs, train: IntArray, config: PrepareConfig) -> dict[str, bytes]:
    """Learns subword models from a sample of train.

    Returns them by role: "joint", optionally with "target", or "source" and "target".
    """
    generator = np.random.default_rng([config.seed, 2])
    shuffled = pairs.scratch.collect(len(train), train.dtype, iter([train]))
    generator.shuffle(shuffled)
    rows = np.sort(shuffled[:SAMPLE])
    sampled = mask_pairs(list(zip(pairs.source.select(rows), pairs.target.select(rows), strict=True)), config)
    sentences = {side: [pair[SIDES.index(side)] for pair in sampled] for side in config.text_sides}
    settings = config.tokenizer_settings
    learn = partial(
        train_tokenizer,
        settings=settings,
        vocabulary_size=config.vocab_size,
        minimum_count=config.min_count,
        control=[CONTEXT_END] * config.context,
    )
    if len(sentences) == 2 and not config.separate_vocabularies:
        joint_sentences = sentences["source"] + sentences["target"]
        joint = learn(joint_sentences)
        joint, target = extract_target_vocabulary(joint, settings, sentences["target"])
        return {"joint": joint} if target == joint else {"joint": joint, "target": target}
    return {side: learn(side_sentences) for side, side_sentences in sentences.items()}


def encode_splits(
    pairs: Pairs,
    splits: Splits,
    subwords: LearnedSubwords,
    directory: Path,
    report_progress: PrepareProgress,
    config: PrepareConfig,
) -> IntArray:
    """Writes the ids of each side of each split, with placeholders for protected spans shared by both sides.

    The sentences are those of the written splits. Returns the rows whose source was truncated to `max_source_length`.
    """
    done, total = 0, sum(len(rows) for rows in splits.by_name.values())
    truncated: list[IntArray] = [np.zeros(0, np.int64)]
    for split, rows in splits.by_name.items():
        with ExitStack() as stack:
            writers = {
                side: stack.enter_context(closing(make_writer(directory, split, side, subwords)))
                for side in config.text_sides
            }
            start = 0
            for block in read_blocks(directory / f"{split}.tsv"):
                block_rows = rows[start : start + len(block)]
                contexts = find_contexts(pairs, split, block_rows, config)
                truncated.append(encode_block(block, contexts, block_rows, pairs, subwords, writers, config))
                start += len(block)
                report_progress("encoding", done + start, total)
        done += len(rows)
    return np.unique(np.concatenate(truncated))


def encode_block(
    block: list[tuple[str, str]],
    contexts: list[tuple[str, str] | None],
    rows: IntArray,
    pairs: Pairs,
    subwords: LearnedSubwords,
    writers: Mapping[Side, RaggedWriter],
    config: PrepareConfig,
) -> IntArray:
    """Appends the ids of these pairs, some behind contexts, to those of their split. Returns the truncated rows."""
    masked, truncated = mask_pairs(block, config), rows[:0]
    before = [None if context is None else mask_pair(*context) for context in contexts]
    for number, (side, writer) in enumerate(writers.items()):
        tokenizer = subwords.get_tokenizer(side)
        ids = tokenizer.encode_all([pair[SIDES.index(side)] for pair in masked])
        encoded = Ragged.from_sequences([ids], vocabulary_size=tokenizer.vocabulary_size)
        if side == "source":
            truncated = find_longer(encoded, rows, config.max_source_length)
            encoded = encoded if config.max_source_length is None else encoded.truncate(config.max_source_length)
        encoded = prepend_contexts(encoded, [pair and pair[number] for pair in before], tokenizer)
        if side == "source":
            tags = [pairs.tag_sets[tag_number] for tag_number in pairs.facts.tags[rows].tolist()]
            encoded = prepend_tag_sets(encoded, tags, tokenizer)
        writer.append(encoded)
    return truncated


def make_writer(directory: Path, split: str, side: Side, subwords: LearnedSubwords) -> RaggedWriter:
    """Returns the writer of the ids of one side of a split."""
    return RaggedWriter(directory / f"{split}.{side}", subwords.get_tokenizer(side).vocabulary_size)


def find_longer(encoded: Ragged, rows: IntArray, limit: int | None) -> IntArray:
    """Returns those of the rows with more ids than the limit."""
    return rows[encoded.lengths > limit] if limit is not None else rows[:0]


def read_blocks(path: Path) -> Iterator[list[tuple[str, str]]]:
    """Yields the pairs of a written split, CHUNK at a time."""
    pairs = read_written(path)
    while block := list(islice(pairs, CHUNK)):
        yield block


def mask_pairs(pairs: list[tuple[str, str]], config: PrepareConfig) -> list[tuple[str, str]]:
    """Returns the pairs with placeholders for what both sides share; unchanged if only one side is text."""
    return [mask_pair(*pair) for pair in pairs] if len(config.text_sides) == 2 else pairs


def measure_subwords(
    side: Side, pairs: Pairs, splits: Splits, subwords: LearnedSubwords, directory: Path
) -> SubwordStatistics:
    """Measures the vocabulary of one side, and how well it fits, from the written ids."""
    tokenizer = subwords.get_tokenizer(side)
    words = pairs.facts.source_words if side == "source" else pairs.facts.target_words
    train, *held_out = (Ragged.load(directory / f"{split}.{side}") for split in splits.by_name)
    blocks = iterate_blocks(len(splits.train), CHUNK)
    words_in_train = sum(int(words[splits.train[block]].sum()) for block in blocks)
    lengths = count_values(rows.lengths for rows in read_untagged(train, tokenizer))
    held_out_ids = [rows.ids for ragged in held_out for rows in read_untagged(ragged, tokenizer)]
    unknown = sum(int(np.count_nonzero(ids == UNKNOWN)) for ids in held_out_ids)
    return SubwordStatistics(
        file=subwords.get_file_name(side),
        vocabulary=tokenizer.vocabulary_size,
        pieces_per_word=round(int(lengths.values @ lengths.counts) / max(words_in_train, 1), 3),
        unknown_share=round(unknown / max(sum(map(len, held_out_ids)), 1), 6),
        coverage=round(measure_coverage(pairs.get_texts(side), splits, tokenizer), 6),
        longest=int(lengths.values.max(initial=0)),
        longest_of_99_percent=find_99th_percentile(lengths),
        everyday_share=measure_everyday_share(pairs.get_texts(side), splits.train),
    )


def read_untagged(rows: Ragged, tokenizer: Tokenizer) -> Iterator[Ragged]:
    """Yields the sequences without their tags and contexts, block by block."""
    blocks = (rows.slice(block) for block in iterate_blocks(len(rows), CHUNK))
    return (drop_contexts(drop_tag_ids(block, tokenizer), tokenizer) for block in blocks)


def measure_everyday_share(texts: Texts, rows: IntArray) -> float:
    """Returns the share, 0 to 1, of the sentences in a sample that are as short and whole as those of everyday life."""
    sample = list(texts.select(rows[:: max(1, len(rows) // EVERYDAY_SAMPLE)]))
    count = sum(text.rstrip().endswith(tuple(END_MARKS)) and count_words(text) <= EVERYDAY_WORDS for text in sample)
    return round(count / max(1, len(sample)), 3)


def find_99th_percentile(lengths: ValueCounts) -> int:
    """Returns the greatest length after excluding the longest 1 % of the sentences; 0 without sentences."""
    return int(lengths.find_ranks(np.array([int((lengths.total - 1) * 0.99)]))[0]) if lengths.total else 0


def measure_coverage(texts: Texts, splits: Splits, tokenizer: Tokenizer) -> float:
    """Returns the share, 0 to 1, of the characters of dev and test that the vocabulary's pieces cover."""
    counts = Counter[str]()
    for text in texts.select(np.concatenate([splits.dev, splits.test])):
        counts.update(text)
    unseen = tokenizer.find_unseen("".join(counts))
    return 1 - sum(counts[character] for character in unseen) / max(counts.total(), 1)
