"""Millions of pairs in memory: the texts of each side in one buffer, and the facts about each pair in arrays.

Letters: N pairs."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.rows import Ragged
from nmt_cli.arrays.scratch import Column, Scratch, iterate_blocks
from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.text.normalise import hash_text, make_sentence_key
from nmt_cli.text.symbols import CONTEXT_END
from nmt_cli.text.tags import TagPurpose, TagSet, find_tag_value, parse_tag_name
from nmt_cli.text.tokenizer import Tokenizer

# The tags and the context of encoded sentences: ids in front of those of the text. Does not depend on files.
#
# Letters: N rows.


def read_tag_sets(rows: Ragged, tokenizer: Tokenizer) -> list[TagSet]:
    """Returns the tags of each of N rows."""
    tags = {piece_id: parse_tag_name(piece) for piece, piece_id in tokenizer.tag_ids.items()}
    read = rows.keep(np.isin(rows.ids, list(tags)))
    return [tuple(tags[piece_id] for piece_id in row.tolist()) for row in read]


def drop_tag_ids(rows: Ragged, tokenizer: Tokenizer) -> Ragged:
    """Returns the rows without their tags."""
    return rows.keep(~np.isin(rows.ids, list(tokenizer.tag_ids.values()))) if tokenizer.tag_ids else rows


def drop_contexts(rows: Ragged, tokenizer: Tokenizer) -> Ragged:
    """Returns the rows after their last separator, without the sentence that is their context."""
    separators = np.flatnonzero(rows.ids == tokenizer.separator_id)
    if not len(separators):
        return rows
    starts = rows.offsets[:-1].copy()
    starts[np.searchsorted(rows.offsets, separators, side="right") - 1] = separators + 1
    return rows.keep(np.arange(len(rows.ids)) >= np.repeat(starts, rows.lengths))


def prepend_contexts(rows: Ragged, contexts: Sequence[str | None], tokenizer: Tokenizer) -> Ragged:
    """Returns N sentences, each preceded by its context and the separator if it has a context."""
    texts = [text for text in contexts if text is not None]
    if not texts:
        return rows
    encoded, separator = iter(tokenizer.encode_all(texts)), tokenizer.control_ids[CONTEXT_END]
    prefixes = [[] if text is None else [*next(encoded), separator] for text in contexts]
    return rows.insert_before(Ragged.from_sequences([prefixes], vocabulary_size=tokenizer.vocabulary_size))


def prepend_tag_sets(rows: Ragged, tag_sets: Sequence[TagSet], tokenizer: Tokenizer) -> Ragged:
    """Returns N rows without tags, each preceded by the ids of its tags."""
    if not any(tag_sets):
        return rows
    ids = {tags: tokenizer.list_tag_ids(tags) for tags in set(tag_sets)}
    prefixes = [[ids[tags] for tags in tag_sets]]
    return rows.insert_before(Ragged.from_sequences(prefixes, vocabulary_size=tokenizer.vocabulary_size))


def number_languages(tag_sets: Sequence[TagSet]) -> IntArray:
    """Returns numbers (N,), counted from 0, that are equal for rows whose tags name the same languages."""
    kinds = TagPurpose.TARGET, TagPurpose.SOURCE
    languages_of = {tags: tuple(find_tag_value(tags, kind) or "" for kind in kinds) for tags in set(tag_sets)}
    numbers = {languages: number for number, languages in enumerate(sorted(set(languages_of.values())))}
    return np.array([numbers[languages_of[tags]] for tags in tag_sets], np.int64)


Side = Literal["source", "target"]
Role = Literal["train", "dev", "test"]
REMEMBERED = 3  # originals of texts that are replaced
SELECTED = 20_000  # texts whose places are looked up at a time


class Texts(Sequence[str]):
    """N texts in one UTF-8 buffer, which takes a quarter of the memory of a list and can be viewed as an array.

    `data` holds the bytes, and `ends` the offset at which each text ends. By default, both are in memory.
    """

    def __init__(self, data: Column | None = None, ends: Column | None = None) -> None:
        self.data = Column(np.uint8) if data is None else data
        self.ends = Column(np.int64) if ends is None else ends

    @classmethod
    def from_strings(cls, texts: Sequence[str]) -> Self:
        """Returns the texts of a list."""
        encoded = [text.encode() for text in texts]
        result = cls()
        result.extend(b"".join(encoded), np.fromiter(map(len, encoded), np.int64, count=len(encoded)))
        return result

    def extend(self, data: bytes, sizes: NDArray[np.int64]) -> None:
        """Appends texts: their concatenated bytes, and the number of bytes of each."""
        self.ends.append(np.cumsum(sizes) + len(self.data))
        self.data.append(np.frombuffer(data, np.uint8))

    def find_bounds(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Returns the offsets in `data` at which the texts of these rows begin and end."""
        ends = self.ends.read()
        return np.where(rows > 0, ends[rows - 1], 0), ends[rows]

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return list(self.select(np.arange(*row.indices(len(self)))))
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return next(self.select(np.array([row % len(self)])))

    def __iter__(self) -> Iterator[str]:
        return self.select(np.arange(len(self)))

    def select(self, rows: IntArray) -> Iterator[str]:
        """Yields the texts of the rows, in their order; faster than indexing one by one."""
        return (str(text, "utf-8") for text in self.select_bytes(rows))

    def select_bytes(self, rows: IntArray) -> Iterator[memoryview]:
        """Yields the texts of the rows in UTF-8, in their order."""
        data = self.data.read().data
        for block in iterate_blocks(len(rows), SELECTED):
            starts, ends = self.find_bounds(rows[block])
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                yield data[start:end]


@dataclass(frozen=True)
class PairFacts:
    """The facts about each of N pairs that do not depend on the others."""

    flags: NDArray[np.uint32]  # (N,) one bit per check that found something in the pair
    source_keys: NDArray[np.uint64]  # (N,) equal for sentences with equal `make_sentence_key`
    target_keys: NDArray[np.uint64]
    checksums: NDArray[np.uint32]  # (N,) of the exact text of the pair
    source_lengths: NDArray[np.int32]  # (N,) characters
    target_lengths: NDArray[np.int32]
    source_words: NDArray[np.int32]
    target_words: NDArray[np.int32]
    source_scripts: NDArray[np.uint8]  # (N,) the script of most of the letters, 0 for none
    target_scripts: NDArray[np.uint8]
    line_numbers: NDArray[np.int64]  # (N,) the line of its file on which the pair begins
    input_numbers: NDArray[np.uint16]  # (N,) the number of the input
    group_keys: NDArray[np.uint64]  # (N,) equal for equal values of the group column; 0 for none
    tags: NDArray[np.uint16]  # (N,) the number of the pair's tags in `Pairs.tag_sets`


FACT_TYPES = {
    "flags": np.uint32,
    "source_keys": np.uint64,
    "target_keys": np.uint64,
    "checksums": np.uint32,
    "source_lengths": np.int32,
    "target_lengths": np.int32,
    "source_words": np.int32,
    "target_words": np.int32,
    "source_scripts": np.uint8,
    "target_scripts": np.uint8,
    "line_numbers": np.int64,
    "input_numbers": np.uint16,
    "group_keys": np.uint64,
    "tags": np.uint16,
}


@dataclass
class Pairs:
    """All pairs read, normalised and repaired, in input order; `reasons` says which are kept."""

    input_names: list[str]  # (inputs,) as messages name them
    input_roles: list[Role]
    input_weights: list[float]
    input_training_only: list[bool] = field(default_factory=list)  # empty: none is for training only
    input_tags: list[TagSet] = field(default_factory=list)  # empty: none has tags
    tag_sets: list[TagSet] = field(default_factory=lambda: [()])  # distinct ones, the empty one first
    more_columns: int = 0
    originals: dict[int, tuple[str, str]] = field(default_factory=dict)  # by row: some texts before mending
    # Pairs that share a sentence of these sides stay in one split.
    connecting_sides: tuple[Side, ...] = ("source", "target")
    shared_results: dict[str, Any] = field(default_factory=dict)  # by name: what one check computes and others need
    scratch: Scratch = field(default_factory=Scratch)  # where long arrays are

    def __post_init__(self) -> None:
        make_column = self.scratch.make_column
        self.columns = {name: make_column(name, dtype) for name, dtype in FACT_TYPES.items()}
        self.source, self.target = (
            Texts(make_column(f"{side}.texts", np.uint8), make_column(f"{side}.ends", np.int64))
            for side in ("source", "target")
        )

    def close(self) -> None:
        """Joins the chunks into one table, once all pairs are read. Raises ValueError if there are none."""
        if not len(self):
            raise ValueError("no pairs were read")
        self.facts = PairFacts(**{name: column.read() for name, column in self.columns.items()})
        self.reasons = self.scratch.make_array(len(self), np.uint8)  # (N,) 0: kept; otherwise 1 + the check's number

    def __len__(self) -> int:
        return len(self.source)

    def replace_texts(self, side: Side, replaced: Mapping[int, str]) -> None:
        """Replaces the texts of rows on one side, which keep their number of characters and of words."""
        for row in list(replaced)[:REMEMBERED]:
            self.originals.setdefault(row, (self.source[row], self.target[row]))
        columns = (
            self.scratch.make_column(f"{side}.mended", np.uint8),
            self.scratch.make_column(f"{side}.until", np.int64),
        )
        texts = Texts(*columns)
        for block in iterate_blocks(len(self), SELECTED):
            rows = range(len(self))[block]
            kept = self.get_texts(side).select(np.arange(rows.start, rows.stop))
            encoded = [replaced.get(row, text).encode() for row, text in zip(rows, kept, strict=True)]
            texts.extend(b"".join(encoded), np.fromiter(map(len, encoded), np.int64, count=len(encoded)))
        setattr(self, side, texts)
        keys = self.facts.source_keys if side == "source" else self.facts.target_keys
        for row, text in replaced.items():
            keys[row] = np.frombuffer(hash_text(make_sentence_key(text)), np.uint64)[0]
            self.facts.checksums[row] = zlib.crc32(f"{self.source[row]}\t{self.target[row]}".encode())

    def number_tags(self, tags: TagSet) -> int:
        """Returns the index of these tags in `tag_sets`, adding them if they are new."""
        if tags not in self.tag_sets:
            self.tag_sets.append(tags)
        return self.tag_sets.index(tags)

    @property
    def language_numbers(self) -> IntArray:
        """The numbers (N,) that are equal for pairs whose tags name the same languages."""
        return number_languages(self.tag_sets).astype(np.uint16)[self.facts.tags]

    @property
    def is_kept(self) -> BoolArray:
        """A mask (N,) of the pairs that are still kept."""
        return np.asarray(self.reasons == 0)

    def has_role(self, role: Role) -> BoolArray:
        """Returns a mask (N,) of the pairs from inputs for this split; the corpus itself has the role "train"."""
        input_has_role: BoolArray = np.array([input_role == role for input_role in self.input_roles], dtype=np.bool_)
        return input_has_role[self.facts.input_numbers]

    def rank(self, rows: IntArray) -> NDArray[np.float64]:
        """Returns the weights (R,) of rows; among equal pairs, the one with the highest weight is kept."""
        weights: NDArray[np.float64] = np.array(self.input_weights, np.float64)[self.facts.input_numbers[rows]]
        return weights

    @property
    def may_be_held_out(self) -> BoolArray:
        """A mask (N,) of the pairs from inputs that dev and test pairs may be drawn from."""
        training_only = self.input_training_only or [False] * len(self.input_names)
        is_open: BoolArray = ~np.array(training_only, dtype=np.bool_)
        return is_open[self.facts.input_numbers]

    @property
    def connecting_keys(self) -> list[NDArray[np.uint64]]:
        """The keys (N,) of each connecting side, and those of the groups, if any; 0 means no key.

        Pairs with equal keys of the same kind must not appear in different splits.
        """
        facts = self.facts
        keys = [facts.source_keys if side == "source" else facts.target_keys for side in self.connecting_sides]
        return [*keys, facts.group_keys] if facts.group_keys.any() else keys

    def get_texts(self, side: Side) -> Texts:
        return self.source if side == "source" else self.target
