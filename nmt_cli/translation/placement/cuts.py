"""Divides a translation where its source is divided: between two lines of a subtitle, two cells. Knows no formats."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from nmt_cli.text.characters import PAUSES
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.translation.placement.traced_text import UNALIGNED, Position, TracedText, find_word


def find_cut(traced: TracedText, point: int, low: int) -> Position:
    """Returns the blank after `low` that divides the translation where the blank `point` divides its source.

    The words on each side come from the source words on that side, as far as known; a pause, and the same
    proportion, decide between blanks. Without blanks, a script without blanks is divided anywhere.
    """
    ends = [word.end for word in traced.words[:-1] if word.end > low]
    if not ends:
        spread = round(point / len(traced.source) * len(traced.text))
        end = min(max(spread, low + 1), len(traced.text)) if find_unspaced(traced.text) else len(traced.text)
        return Position(end, end)
    starts = [word.start for word in traced.words if word.start >= low and traced.sources[word.start] != UNALIGNED]
    agreeing = [0, *accumulate(1 if traced.sources[start] < point else -1 for start in starts)]  # less a constant
    expected = sum(word.end <= point for word in traced.source_words) / len(traced.source_words) * len(traced.words)

    def rate(end: int) -> float:
        distance = abs(find_word(traced.words, end) + 1 - expected)
        return agreeing[bisect_left(starts, end)] + 0.5 * (traced.text[end - 1] in PAUSES) - 0.5 * distance

    end = max(ends, key=rate)
    start = next(word.start for word in traced.words if word.start > end)
    exact = [index for index in traced.targets.get(point, ()) if end <= index < start]
    return Position(exact[0], exact[0] + 1) if exact else Position(end, start)
