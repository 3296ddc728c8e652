"""Learns or reuses the subwords of a prepared corpus, encodes its text with them, and measures how well they fit.

Knows which files of the prepared directory are written, but not how pairs are read or split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sentencepiece import sentencepiece_model_pb2 as proto

from nmt_cli.arrays.rows import Ragged
from nmt_cli.arrays.scratch import ValueCounts, count_values, iterate_blocks
from nmt_cli.arrays.types import UNKNOWN, IntArray
from nmt_cli.carrying.masking import mask_pair
from nmt_cli.corpus.checks.languages import SCRIPTS, measure_script_shares
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.manifest import JOINT_NAME, SubwordStatistics
from nmt_cli.corpus.pairs import Pairs, Side, Texts, drop_contexts, drop_tag_ids
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.corpus.steps.tagging import list_tag_pieces
from nmt_cli.errors import DamagedError, DataError, NotFoundError, OptionError
from nmt_cli.records import FileName, build, parse_json
from nmt_cli.text.characters import END_MARKS
from nmt_cli.text.normalise import count_words
from nmt_cli.text.symbols import CONTEXT_END, TokenizerSettings
from nmt_cli.text.tokenizer import Tokenizer, add_control_pieces, add_separator, train_tokenizer

# Orders a joint vocabulary so that the pieces used by targets come first.
#
# Many pieces learned from two languages together occur in only one of them. With the target's pieces first, an id
# represents the same piece on both sides, one embedding matrix serves both, and the network chooses only among the
# first ids: its output layer, the most expensive of all, becomes a third smaller. The target's subword model has no
# other pieces, so that any target is segmented into these. Source of the restriction: Sennrich, Haddow, Birch (2016),
# "Neural Machine Translation of Rare Words with Subword Units", section 3.2, available as `--vocabulary` in their
# program.


# The size of the target's vocabulary is a multiple of this: the export searches for the best token in blocks of about
# this length (`training/export/graph.py`), and processors multiply by 16 columns at a time.
BLOCK = 80
LARGEST_SHARE = 0.9  # of the joint vocabulary: a target that needs more shares all of it


def extract_target_vocabulary(joint: bytes, settings: TokenizerSettings, targets: Iterable[str]) -> tuple[bytes, bytes]:
    """Returns the joint model with its pieces reordered, and a model of its first pieces, which are all `targets` need.

    Returns `joint` twice if the targets need most of it. Both models segment these targets as `joint` does.
    """
    model = proto.ModelProto.FromString(joint)
    needed = collect_needed_pieces(model, settings, Tokenizer(joint, settings).encode_all(targets))
    size = -(-len(needed) // BLOCK) * BLOCK
    if size > LARGEST_SHARE * len(model.pieces):
        return joint, joint
    order = sorted(range(len(model.pieces)), key=lambda piece_id: (piece_id not in needed, piece_id))
    return select_pieces(model, order), select_pieces(model, order[:size])


def collect_needed_pieces(
    model: proto.ModelProto, settings: TokenizerSettings, sentences: Iterable[Iterable[int]]
) -> set[int]:
    """Returns the ids of the pieces in `sentences`, of the basic pieces, and of those from which BPE merges them."""
    needed = {piece_id for ids in sentences for piece_id in ids}
    for piece_id, piece in enumerate(model.pieces):  # symbols, placeholders, bytes and characters can spell any text
        if not is_normal(piece) or len(piece.piece) == 1:
            needed.add(piece_id)
    if settings.kind == "bpe":
        ids = {piece.piece: piece_id for piece_id, piece in enumerate(model.pieces) if is_normal(piece)}
        scores = {piece.piece: piece.score for piece in model.pieces if is_normal(piece)}
        pieces = [model.pieces[piece_id].piece for piece_id in needed if is_normal(model.pieces[piece_id])]
        needed |= {ids[part] for piece in pieces for part in list_intermediate_merges(piece, scores)}
    return needed


def is_normal(piece: proto.ModelProto.SentencePiece) -> bool:
    """Whether a piece was learned from text, rather than a special symbol, a placeholder or a byte."""
    return bool(piece.type == proto.ModelProto.SentencePiece.NORMAL)


def list_intermediate_merges(piece: str, scores: dict[str, float]) -> list[str]:
    """Returns the pieces that BPE merges, in order, from the characters of a piece to the piece itself."""
    parts, merges = list(piece), list[str]()
    while len(parts) > 2:
        candidates = [(scores[text], -i) for i in range(len(parts) - 1) if (text := parts[i] + parts[i + 1]) in scores]
        if not candidates:
            break
        index = -max(candidates)[1]  # the merge that was learned first, and of equal ones the leftmost
        parts[index : index + 2] = [parts[index] + parts[index + 1]]
        merges.append(parts[index])
    return merges


def select_pieces(model: proto.ModelProto, order: list[int]) -> bytes:
    """Returns the serialized model with only these pieces, in this order."""
    selection = proto.ModelProto()
    selection.CopyFrom(model)
    del selection.pieces[:]
    selection.pieces.extend(model.pieces[piece_id] for piece_id in order)
    selection.trainer_spec.vocab_size = len(order)
    return bytes(selection.SerializeToString(deterministic=True))


# Finds the subwords of another model, prepared corpus or SentencePiece file, for `--tokenizer-from`.
#
# Reads file names from the card of a model directory; knows nothing else about models.


CARDS = ("model.json", "dataset.json")
TOKENIZERS = "--tokenizer-from takes a model, a prepared corpus or a .spm file"


@dataclass(frozen=True)
class ReusedSubwords:
    """The files of a source and a target vocabulary, which may be the same, and their settings."""

    settings: TokenizerSettings
    source: Path
    target: Path

    @property
    def files(self) -> dict[str, Path]:
        """The subword models by role: "joint", optionally with "target", or "source" and "target"."""
        if self.source == self.target:
            return {"joint": self.source}
        return {"joint" if self.source.name == JOINT_NAME else "source": self.source, "target": self.target}

    def refuse_conflicts(self, config: PrepareOptions) -> None:
        """Raises OptionError for options that contradict these subwords; options at their defaults never do."""
        defaults = PrepareOptions()
        for name, option, default, reused in (
            ("tokenizer", config.tokenizer, defaults.tokenizer, self.settings.kind),
            ("lowercase", config.lowercase, defaults.lowercase, self.settings.lowercase),
            ("separate-vocabularies", config.separate_vocabularies, None, "source" in self.files),
        ):
            if option not in (default, reused):
                raise OptionError(
                    f"--{name} contradicts the subwords of --tokenizer-from {config.tokenizer_from}",
                    hint="leave out one of them",
                )

    def select_files(self, sides: Sequence[str]) -> dict[str, Path]:
        """Returns the files of these sides, by role.

        Raises OptionError if both sides would use the target's part of a joint vocabulary.
        """
        if len(sides) == 1:
            return {side: getattr(self, side) for side in sides}
        if self.source == self.target:
            refuse_target_part(self.source)
        return self.files


def find_reused_subwords(path: Path, settings: TokenizerSettings) -> ReusedSubwords:
    """Returns the subwords of a model directory, a prepared directory, or a single file.

    A single file is used with the settings of a card in its folder that names it, else with `settings`.

    Raises NotFoundError, DamagedError, or DataError for a subword model not made by nmt.
    """
    if not path.exists():
        raise NotFoundError(f"{path} does not exist", hint=TOKENIZERS)
    card = find_card(path)
    if path.is_dir() and card is None:
        raise NotFoundError(f"{path}/ contains neither a model nor a prepared corpus", hint=TOKENIZERS)
    reused = use_single_file(path, settings) if card is None else read_subword_card(card)
    for file in {reused.source, reused.target}:
        try:
            Tokenizer.load(file, reused.settings)
        except DamagedError as error:
            raise DataError(
                f"{error.message}; --tokenizer-from needs subwords learned by nmt",
                hint="name a model or a prepared corpus",
            ) from error
    return reused


def use_single_file(file: Path, settings: TokenizerSettings) -> ReusedSubwords:
    """Returns one file as the subwords of both sides; see `find_reused_subwords` for its settings."""
    card = find_card(file.parent)
    described = read_subword_card(card) if card is not None else None
    if described is not None and file in (described.source, described.target):
        settings = described.settings
    return ReusedSubwords(settings, file, file)


def find_card(directory: Path) -> Path | None:
    """Returns the file that describes a model or prepared directory; None for any other directory."""
    return next((directory / name for name in CARDS if (directory / name).is_file()), None)


def refuse_target_part(file: Path) -> None:
    """Raises OptionError if the neighbouring card says that `file` is the target's part of a joint vocabulary."""
    card = find_card(file.parent)
    joint = read_subword_card(card) if card is not None else None
    if joint is not None and joint.source.name == JOINT_NAME and file == joint.target != joint.source:
        raise OptionError(
            f"{file} has only the target's subwords, but both sides need subwords",
            hint=f"use {joint.source}, or {file.parent}/, which has both",
        )


def read_subword_card(card: Path) -> ReusedSubwords:
    """Reads the subwords described by model.json or dataset.json. Raises DamagedError if there are none."""
    try:
        values = build(dict, parse_json(card.read_text(encoding="utf-8")))
        if card.name == "model.json":
            names = [values["source_tokenizer"], values["target_tokenizer"]]
        else:
            names = [values[side].get("file", values["target"]["file"]) for side in ("source", "target")]
        settings = build(TokenizerSettings, values["tokenizer"], "tokenizer")
        source, target = (card.parent / build(FileName, name, "tokenizer") for name in names)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError(f"{card} is damaged: {error}") from error
    return ReusedSubwords(settings, source, target)


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


def restore_subwords(
    source: bytes, target: bytes, settings: TokenizerSettings, source_file: str, target_file: str
) -> LearnedSubwords:
    """Returns the subwords of these models and files."""
    tokenizer = Tokenizer(source, settings)
    return LearnedSubwords(
        tokenizer, tokenizer if target == source else Tokenizer(target, settings), source_file, target_file
    )


def obtain_subwords(pairs: Pairs, train: IntArray, directory: Path, config: PrepareOptions) -> LearnedSubwords:
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


def choose_separation(pairs: Pairs, train: IntArray, config: PrepareOptions, notes: list[str]) -> PrepareOptions:
    """Returns the settings, having decided on separate vocabularies: by default, if the sides share no script.

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


def learn_subwords(pairs: Pairs, train: IntArray, config: PrepareOptions) -> dict[str, bytes]:
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


def mask_pairs(pairs: list[tuple[str, str]], config: PrepareOptions) -> list[tuple[str, str]]:
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
        file=subwords.source_file if side == "source" else subwords.target_file,
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
    """Returns the share, 0 to 1, of the sentences in a sample that are as short and complete as everyday ones."""
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
    unseen = tokenizer.find_unseen_characters("".join(counts))
    return 1 - sum(counts[character] for character in unseen) / max(counts.total(), 1)
