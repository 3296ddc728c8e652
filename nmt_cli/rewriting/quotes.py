"""Removes the quotes around a whole sentence, and puts the target's quotes around its translation.

Quoted sentences are rare in most training text and lead networks astray; the quotes do not affect the meaning of the
words between them. Knows profiles, no networks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

from nmt_cli.rewriting.lookalikes import DOUBLE_PAIRS, SINGLE_PAIRS
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext, Written
from nmt_cli.text.aligned import AlignedText, Edit
from nmt_cli.text.characters import END_MARKS
from nmt_cli.text.words import has_letters

QUOTE_KINDS = tuple(frozenset(quote for pair in pairs for quote in pair) for pairs in (DOUBLE_PAIRS, SINGLE_PAIRS))
QUOTE_MARKS = QUOTE_KINDS[0] | QUOTE_KINDS[1]
UNMISTAKABLE = QUOTE_MARKS - frozenset("'’`´＇′")  # which may be apostrophes
QUOTE_PAIRS = frozenset((*DOUBLE_PAIRS, *SINGLE_PAIRS))
FEWEST_QUOTES = 20  # of a side, so that they are known to be its own
QUOTED_RARELY = 0.02  # share of the training texts that end with a quote, at most, for quotes to be taken off


class OuterQuotes(NamedTuple):
    """The marks around a sentence; either may be "", since a quotation may span several sentences."""

    opening: str
    closing: str
    is_mark_outside: bool = False  # whether the final mark follows the closing quote

    def find_inside(self, text: str) -> range:
        """Returns the characters between the quotes; a final mark after them takes the place of the closing quote."""
        return range(len(self.opening), len(text) - len(self.closing) - self.is_mark_outside)

    def wrap(self, text: str) -> str:
        """Puts the quotes around a translation."""
        mark = text[-1:] if self.is_mark_outside and text[-1:] in END_MARKS else ""
        return f"{self.opening}{text[: len(text) - len(mark)]}{self.closing}{mark}"


class Quotes(Rewrite):
    """Removes quotes around a sentence, and writes the target's."""

    def __init__(self, target_counts: Mapping[str, int]) -> None:
        self.target_counts = target_counts

    @classmethod
    def from_model(cls, model: ModelText) -> Self | None:
        share = sum(share for mark, share in model.source.final_marks.items() if mark in QUOTE_MARKS)
        return cls(model.target.character_counts) if share <= QUOTED_RARELY else None

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, OuterQuotes] | None:
        """Returns the text without its outer quotes; None if a span lies outside them."""
        quotes = find_outer_quotes(text.text)
        if quotes is None:
            return None
        inside = quotes.find_inside(text.text)
        if not all(inside.start <= offset <= inside.stop for offset in context.offsets):
            return None
        end = len(text.text) - quotes.is_mark_outside
        edits = [Edit(0, inside.start, ""), Edit(inside.stop, end, "")]
        return text.replace(edits), choose_target_quotes(quotes, self.target_counts)

    def write(self, translation: str, memo: OuterQuotes, written: Written) -> str:
        return memo.wrap(translation)


def find_outer_quotes(text: str) -> OuterQuotes | None:
    """Returns the quotes around a whole text, or a single one at its beginning or end; None if there are none.

    A final mark may follow the closing quote.
    """
    mark = int(len(text) > 3 and text[-1] in END_MARKS and text[-2] in QUOTE_MARKS)
    first, last, inner = text[:1], text[len(text) - 1 - mark :][:1], text[1 : len(text) - 1 - mark]
    if QUOTE_MARKS.isdisjoint((first, last)) or not has_letters(inner):
        return None
    if (first, last) in QUOTE_PAIRS and not has_quotes(inner, first):
        return OuterQuotes(first, last, bool(mark))
    if first in UNMISTAKABLE and not has_quotes(text[1:], first):
        return OuterQuotes(first, "")
    if text[-1] in UNMISTAKABLE and not has_quotes(text[:-1], text[-1]):
        return OuterQuotes("", text[-1])
    return None


def has_quotes(text: str, quote: str) -> bool:
    """Whether a text contains quotes like `quote`; an apostrophe within a word does not count."""
    kind = next(kind for kind in QUOTE_KINDS if quote in kind)
    return any(
        character in kind and not (text[index - 1 : index].isalpha() and text[index + 1 : index + 2].isalpha())
        for index, character in enumerate(text)
    )


def choose_target_quotes(quotes: OuterQuotes, counts: Mapping[str, int]) -> OuterQuotes:
    """Returns the most frequent quotes of a target with these character `counts`; the same quotes if it has few."""
    pair = max(DOUBLE_PAIRS, key=lambda pair: min(counts.get(quote, 0) for quote in pair))
    if min(counts.get(quote, 0) for quote in pair) < FEWEST_QUOTES:
        return quotes
    return quotes._replace(opening=quotes.opening and pair[0], closing=quotes.closing and pair[1])
