"""Learns or reuses the subwords of a prepared corpus, encodes its text with them, and measures how well they fit.

Knows which files of the prepared directory are written; nothing of how pairs are read or split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nmt_cli.arrays.counting import ValueCounts, count_values
from nmt_cli.arrays.ragged import Ragged
from nmt_cli.arrays.scratch import iterate_blocks
from nmt_cli.arrays.special_ids import UNKNOWN
from nmt_cli.arrays.types import IntArray
from nmt_cli.carrying.masking import mask_pair
from nmt_cli.corpus.checks.scripts import SCRIPTS, measure_script_shares
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.pairs import Pairs, Side, Texts
from nmt_cli.corpus.sides import SubwordStatistics
from nmt_cli.corpus.steps.reused_tokenizer import find_reused_subwords
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.corpus.steps.tagging import list_tag_pieces
from nmt_cli.corpus.steps.target_vocabulary import extract_target_vocabulary
from nmt_cli.corpus.tag_rows import drop_contexts, drop_tag_ids
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

    def __reduce__(self) -> tuple[Any, ...]:
        models = self.source.model, self.target.model  # all that another process needs of a tokenizer
        return restore_subwords, (*models, self.settings, self.source_file, self.target_file)

    @property
    def settings(self) -> TokenizerSettings:
        return self.source.settings

    def get_tokenizer(self, side: Side) -> Tokenizer:
        return self.source if side == "source" else self.target

    def get_file_name(self, side: Side) -> str:
        return self.source_file if side == "source" else self.target_file


def restore_subwords(
    source: bytes, target: bytes, settings: TokenizerSettings, source_file: str, target_file: str
) -> LearnedSubwords:
    """Returns the subwords of these models and files."""
    tokenizer = Tokenizer(source, settings)
    return LearnedSubwords(
        tokenizer, tokenizer if target == source else Tokenizer(target, settings), source_file, target_file
    )


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
