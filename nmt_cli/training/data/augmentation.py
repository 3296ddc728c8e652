"""Data augmentation: rewrites the texts of training pairs.

    Anna has 3 dogs.   /   Anna hat 3 Hunde.        a pair of the corpus
    ⟦2⟧ has ⟦7⟧ dogs.  /   ⟦2⟧ hat ⟦7⟧ Hunde.       `insert_placeholders`: the network learns to copy them
    ana hsa 3 dogs.    /   Anna hat 3 Hunde.        `mistype_source`, `write_source_casually`: as people type

Few sentences have addresses or amounts, but many have names and numbers that are identical in both languages. A group
of batches is decoded at most once, passes through all text rewrites, and is encoded at most once. All random choices
come from the given generator.

Letters: B pairs of a group, C of them decoded, S source positions, T target positions, R rewrites."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.rows import Ragged
from nmt_cli.arrays.types import END, PAD, START, UNKNOWN, IntArray, SourceArray
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.corpus.manifest import SentencePair
from nmt_cli.text.characters import END_MARKS
from nmt_cli.text.symbols import BLANK, PLACEHOLDERS, SPECIALS
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.training.options import TrainOptions

TYPING_ERRORS = 0.05  # share of the letters of a sentence with typing errors
KINDS = 4  # of typing errors
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
NEIGHBOURS = {key: other for row in KEYS for pair in pairwise(row) for key, other in (pair, pair[::-1])}


def mistype_source(source: str, target: str, generator: np.random.Generator) -> SentencePair:
    """Puts typing errors into the source; a source that would become empty is unchanged."""
    return SentencePair(add_typing_errors(source, generator) or source, target)


def write_source_casually(source: str, target: str, generator: np.random.Generator) -> SentencePair:
    """Writes the source without capitals and final punctuation; a source of only punctuation is unchanged."""
    return SentencePair(write_casually(source) or source, target)


def write_casually(text: str) -> str:
    """Returns `text` in lower case and without its final punctuation."""
    return text.lower().rstrip(f"{END_MARKS} ")


def add_typing_errors(text: str, generator: np.random.Generator) -> str:
    """Returns `text` with typing errors in about one letter in twenty."""
    protected = {index for match in PLACEHOLDER_PATTERN.finditer(text) for index in range(*match.span())}
    draws = generator.random(len(text))
    hits = np.flatnonzero(draws < TYPING_ERRORS)
    kinds = (draws[hits] * (KINDS / TYPING_ERRORS)).astype(int)
    letters = list(text)
    for index, kind in zip(hits.tolist(), kinds.tolist(), strict=True):
        if text[index].isalpha() and index not in protected:
            mistype_letter(letters, index, kind)
    return "".join(letters)


def mistype_letter(letters: list[str], index: int, kind: int) -> None:
    """Drops a letter, doubles it, swaps it with the next one, or hits an adjacent key."""
    letter = letters[index]
    if kind == 0:
        letters[index] = ""
    elif kind == 1:
        letters[index] = letter * 2
    elif kind == 2 and index + 1 < len(letters) and letters[index + 1].isalpha():
        letters[index], letters[index + 1] = letters[index + 1], letter
    elif kind == 3:
        beside = NEIGHBOURS.get(letter.lower(), letter)
        letters[index] = beside.upper() if letter.isupper() else beside


MOST_WORDS = 3  # the largest number of words of a sentence that are replaced
SHORTEST_NAME = 3  # letters of a name; shorter words are mostly an "in" or "an" of related languages
EDGE_SHARE = 1 / 3  # share of the pairs without a shared word that get a placeholder at one end

WORD = re.compile(r"(?<![\w⟦])\w[\w'’]*(?:-\w+)*")


def insert_placeholders(source: str, target: str, generator: np.random.Generator) -> SentencePair:
    """Replaces up to three shared words with placeholders; a third of the pairs without any get one at an end.

    The placeholders are drawn from all ten, so that the network learns all equally well. A pair that already has all
    ten is unchanged.
    """
    free = [name for name in PLACEHOLDERS if name not in source and name not in target]
    shared = find_shared_words(source, target)
    if not free:
        return SentencePair(source, target)
    if not shared:
        if generator.random() < EDGE_SHARE:
            return insert_at_edge(source, target, free, generator)
        return SentencePair(source, target)
    count = min(len(shared), len(free), int(generator.integers(1, MOST_WORDS + 1)))
    names = dict(zip(draw_some(shared, count, generator), draw_some(free, count, generator), strict=True))
    return SentencePair(replace_words(source, names), replace_words(target, names))


def draw_some(items: Sequence[str], count: int, generator: np.random.Generator) -> list[str]:
    """Returns `count` different items in random order; for so few, in a tenth of the time of `generator.choice`."""
    drawn = list(items)
    for index, draw in enumerate(generator.random(count).tolist()):
        other = index + int(draw * (len(drawn) - index))
        drawn[index], drawn[other] = drawn[other], drawn[index]
    return drawn[:count]


def find_shared_words(source: str, target: str) -> list[str]:
    """Returns the names and numbers that occur exactly once on each side, in source order."""
    source_counts, target_counts = Counter(WORD.findall(source)), Counter(WORD.findall(target))
    return [word for word, count in source_counts.items() if count == target_counts[word] == 1 and is_name(word)]


def is_name(word: str) -> bool:
    """Whether a word shared by both languages looks like a name or a number."""
    return word[0].isdigit() or (len(word) >= SHORTEST_NAME and word[0].isupper())


def replace_words(text: str, names: Mapping[str, str]) -> str:
    """Replaces each word of `text` that is a key of `names` with its value."""
    return WORD.sub(lambda word: names.get(word[0], word[0]), text)


def insert_at_edge(source: str, target: str, free: Sequence[str], generator: np.random.Generator) -> SentencePair:
    """Puts one of the `free` placeholders before both texts, or after them but before their final punctuation."""
    (name,) = draw_some(free, 1, generator)
    if generator.random() < 0.5:
        return SentencePair(f"{name} {source}", f"{name} {target}")
    return SentencePair(append_word(source, name), append_word(target, name))


def append_word(text: str, word: str) -> str:
    """Inserts a word after the last word of `text`, before any final punctuation."""
    body = text.rstrip(END_MARKS) or text
    return f"{body} {word}{text[len(body) :]}"


UNREADABLE = "\ufdd1"  # stands for an unknown token in a decoded text; no character, so it is encoded as unknown again


class TextRewrite(NamedTuple):
    """A rewrite of training pairs, and the share of pairs (0 to 1) that it is applied to.

    A pair that offers nothing to change stays as it is. All random choices come from the generator.
    """

    share: float
    rewrite: Callable[[str, str, np.random.Generator], SentencePair]


def make_rewrites(config: TrainOptions) -> tuple[TextRewrite, ...]:
    """Returns the text rewrites of a training run, in order of application; typing errors only if requested."""
    mistyping = [TextRewrite(config.typing_errors, mistype_source)] if config.typing_errors else []
    placeholders = TextRewrite(config.placeholders, insert_placeholders)
    return (placeholders, *mistyping, TextRewrite(config.careless, write_source_casually))


class TextSide(NamedTuple):
    """A side of the pairs that consists of text."""

    column: int  # 0 is the source, 1 the target
    tokenizer: Tokenizer


@dataclass(frozen=True)
class Augmentation:
    """Rewrites the texts of groups of training pairs."""

    source_tokenizer: Tokenizer | None  # None where sources are pictures, which are never changed
    target_tokenizer: Tokenizer
    rewrites: tuple[TextRewrite, ...] = ()

    @cached_property
    def sides(self) -> tuple[TextSide, ...]:
        target = TextSide(1, self.target_tokenizer)
        return (target,) if self.source_tokenizer is None else (TextSide(0, self.source_tokenizer), target)

    def augment_group(
        self, source: SourceArray, target: IntArray, generator: np.random.Generator
    ) -> tuple[SourceArray, IntArray]:
        """Returns both sides of a group, `source` (B, S) and `target` (B, T), as augmented this time.

        Each row ends with END. A row that is not rewritten keeps its ids. If this holds for all rows, the arrays
        themselves are returned, and nothing is decoded.
        """
        arrays = [source, target]
        # 1. Draw the pairs that each rewrite is given.
        shares = np.array([rewrite.share for rewrite in self.rewrites])
        draws = generator.random((len(shares), len(target))) < shares[:, np.newaxis]  # (R, B)
        # 2. Decode these.
        rows = np.flatnonzero(draws.any(axis=0) & self.find_readable(arrays))  # (C,)
        if not len(rows):
            return source, target
        pairs = self.decode_pairs(arrays, rows)
        # 3. Pass the texts through the rewrites, one after the other.
        rewritten = apply_rewrites(self.rewrites, draws[:, rows], pairs, generator)
        # 4. Encode the texts that changed.
        for column, tokenizer in self.sides:
            texts = [(old[column], new[column]) for old, new in zip(pairs, rewritten, strict=True)]
            changed = encode_changed(texts, tokenizer)
            arrays[column] = replace_rows(arrays[column], rows, changed, list(tokenizer.tag_ids.values()))
        return arrays[0], arrays[1]

    def find_readable(self, arrays: Sequence[SourceArray]) -> NDArray[np.bool_]:
        """Returns which pairs (B,) can be decoded and encoded again: not those with context, as its position is lost.

        A tokenizer that falls back to bytes never produces unknown tokens, and would spell out `UNREADABLE`, so pairs
        with unknown tokens are excluded.
        """
        is_readable = np.ones(len(arrays[1]), dtype=bool)
        for side in self.sides:
            unreadable = [] if side.tokenizer.separator_id is None else [side.tokenizer.separator_id]
            unreadable += [] if side.tokenizer.has_unknown else [UNKNOWN]
            is_readable &= ~np.isin(arrays[side.column], unreadable).any(axis=1)
        return is_readable

    def decode_pairs(self, arrays: Sequence[SourceArray], rows: IntArray) -> list[SentencePair]:
        """Returns the texts of the pairs `rows` (C,) of a group; empty for pictures."""
        columns = [[""] * len(rows), [""] * len(rows)]
        for side in self.sides:
            columns[side.column] = decode_rows(arrays[side.column][rows], side.tokenizer)
        return list(map(SentencePair, *columns))


def apply_rewrites(
    rewrites: Sequence[TextRewrite],
    draws: NDArray[np.bool_],
    pairs: Sequence[SentencePair],
    generator: np.random.Generator,
) -> list[SentencePair]:
    """Applies each rewrite to those of the pairs (C,) that are drawn for it: `draws` (R, C)."""
    rewritten = list(pairs)
    for (_, rewrite), is_drawn in zip(rewrites, draws, strict=True):
        for index in np.flatnonzero(is_drawn).tolist():
            rewritten[index] = rewrite(*rewritten[index], generator)
    return rewritten


def decode_rows(ids: IntArray, tokenizer: Tokenizer) -> list[str]:
    """Returns the texts of the rows of `ids` (C, S), with `UNREADABLE` for each unknown token."""
    is_text = (ids == UNKNOWN) | (ids >= SPECIALS)  # (C, S)
    flat, ends = ids[is_text].tolist(), np.cumsum(is_text.sum(axis=1)).tolist()
    rows = [flat[start:end] for start, end in pairwise([0, *ends])]
    counts = (ids == UNKNOWN).sum(axis=1).tolist()  # (C,)
    piece = BLANK + UNREADABLE if tokenizer.settings.kind == "word" else UNREADABLE
    whole = iter(tokenizer.decode_all(row for row, count in zip(rows, counts, strict=True) if not count))
    return [
        tokenizer.decode_with_unknown(row, [piece] * count) if count else next(whole)
        for row, count in zip(rows, counts, strict=True)
    ]


class ChangedRows(NamedTuple):
    """Rows with new ids."""

    places: IntArray  # (N,) of the rows, among those of a group that may change
    ids: Ragged  # N


def encode_changed(texts: Sequence[tuple[str, str]], tokenizer: Tokenizer) -> ChangedRows:
    """Returns the new ids of the texts that change; `texts` (C,) has each text before and after the rewrites."""
    different = [index for index, (before, after) in enumerate(texts) if before != after]
    ids = tokenizer.encode_all([texts[index][1] for index in different])
    places = np.array(different, np.int64)
    return ChangedRows(places, Ragged.from_sequences([ids], vocabulary_size=tokenizer.vocabulary_size))


def replace_rows(array: IntArray, rows: IntArray, changed: ChangedRows, tag_ids: Sequence[int] = ()) -> IntArray:
    """Returns `array` (B, S), as wide as its longest row, with new ids and END in some of the `rows` (C,).

    A row keeps the tags at its beginning: `tag_ids`, and the START of a synthetic source.
    """
    if not len(changed.places):
        return array
    new_rows = rows[changed.places]  # (C,) from here on those with new ids
    sizes, ids = changed.ids.lengths, changed.ids.ids.astype(array.dtype)
    is_tag = np.isin(array[new_rows], (START, *tag_ids))  # (C, S)
    tags = is_tag.sum(axis=1)  # (C,)
    # 1. Make room for the longest row.
    lengths = (array != PAD).sum(axis=1)  # (B,)
    lengths[new_rows] = tags + sizes + 1
    replaced = np.full((len(array), lengths.max()), PAD, dtype=array.dtype)
    width = min(array.shape[1], replaced.shape[1])
    replaced[:, :width] = array[:, :width]
    # 2. Write the tags, the new ids and END.
    new = np.full((len(new_rows), replaced.shape[1]), PAD, dtype=array.dtype)
    position = np.arange(new.shape[1])
    new[position < tags[:, np.newaxis]] = array[new_rows][is_tag]
    new[(position >= tags[:, np.newaxis]) & (position < (tags + sizes)[:, np.newaxis])] = ids
    new[np.arange(len(new)), tags + sizes] = END
    replaced[new_rows] = new
    return replaced
