"""A translation whose characters are traced to the source; locates parts and points of the source in it.

Does not depend on marks or formats."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from nmt_cli.text.characters import ANY_CLOSING, CLOSING, CLOSING_QUOTES, END_MARKS, PAUSES, TURNED_QUOTES
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.text.words import has_word

# Runs of neighbours in a sequence of weights.


def find_heaviest_run(weights: Iterable[float]) -> tuple[int, int]:
    """Returns the run [start, end) with the largest sum of weights: the maximum subarray, by Kadane's algorithm.

    The run is not empty; among equals it is the first, without leading parts of weight 0. Raises ValueError if there
    are no weights.
    """
    heaviest, heaviest_run = -math.inf, None
    total, start = 0.0, 0
    for index, weight in enumerate(weights):
        if total <= 0:  # what stands before adds nothing
            total, start = 0.0, index
        total += weight
        if total > heaviest:
            heaviest, heaviest_run = total, (start, index + 1)
    if heaviest_run is None:
        raise ValueError("there is no run without weights")
    return heaviest_run


UNALIGNED = -1
BESIDE = 2  # words beside a part, of which one may be an article
FAINT = 0.5  # share of the surest word's weight below which another is not the translation of the same word
BEHIND_FINAL_MARK = CLOSING + TURNED_QUOTES + " "
WORD_CLOSERS = END_MARKS + PAUSES + ANY_CLOSING
ANY_CLOSING_QUOTES = CLOSING_QUOTES + TURNED_QUOTES
LETTERS = re.compile(r"[^\W_]+")


class TextRange(NamedTuple):
    """The characters [start, end) of a text."""

    start: int
    end: int


class Position(NamedTuple):
    """The characters [start, end) of a translation for a part of the source, or the point between two characters."""

    start: int
    end: int
    is_guess: bool = False


class MarkedRanges(NamedTuple):
    """The characters that a person enclosed in the same marks in a source and its translation; None without a mark."""

    source: TextRange | None
    target: TextRange | None
    is_piece: bool = False  # whether there is no mark, and all of a sentence is the translation of all of another


@dataclass(frozen=True)
class TracedText:
    """A translation traced to its source. Results that several marks need are computed once: n marks take n steps."""

    source: str
    text: str
    sources: Sequence[int]  # of each character, the index in the source; UNALIGNED if it has none
    source_words: Sequence[TextRange]
    words: Sequence[TextRange]
    weights: Sequence[float]  # of each word, how sure its source word is; 0 without any
    attracted: Sequence[int | None] = ()  # the word that each source word attracts most, if that is known
    known: Mapping[TextRange, Position] = field(default_factory=dict)  # where a person put parts of the source
    has_marks: bool = False  # whether a person marked any part of either side
    left_out: int = 0  # marks that the source lacks

    def bind(self, marked: Sequence[MarkedRanges]) -> TracedText:
        """Returns the text with known marks: what they enclose comes from what they enclose in the source."""
        sources, sure = list(self.sources), set[int]()
        of_sources: dict[TextRange, set[int]] = defaultdict(set)
        for before, after, _ in marked:
            if before is not None and after is not None:
                of_sources[before] |= set(range(*after))
        for before in sorted(of_sources, key=lambda part: part.start - part.end):  # the outer ones first
            inside = of_sources[before] if before != TextRange(0, len(self.source)) else set[int]()
            sure |= inside
            for index in (*inside, *self.list_targets(*before)) if inside else ():
                if (index in inside) != (before.start <= sources[index] < before.end):
                    sources[index] = before.start if index in inside else UNALIGNED
        return replace(
            self,
            sources=sources,
            weights=[1.0 if word.start in sure else self.weights[index] for index, word in enumerate(self.words)],
            known={before: Position(min(part), max(part) + 1) for before, part in of_sources.items() if part},
            has_marks=not all(pair.is_piece for pair in marked),
            left_out=sum(pair.source is None for pair in marked),
        )

    def find_known(self, start: int, end: int) -> Position | None:
        """Returns where a person put the source characters [start, end), or None; includes all parts if several."""
        part = self.source[start:end]
        after = self.known.get(TextRange(start + len(part) - len(part.lstrip()), start + len(part.rstrip())))
        return after and self.widen_to_blanks(after.start, after.end, start, end)

    @cached_property
    def targets(self) -> dict[int, list[int]]:
        """The characters of the translation that come from each source character."""
        result: dict[int, list[int]] = defaultdict(list)
        for index, source in enumerate(self.sources):
            if source != UNALIGNED:
                result[source].append(index)
        return dict(result)

    @cached_property
    def inked_before(self) -> list[int]:
        """The number of characters other than spaces before each character of the source."""
        return list(accumulate((not character.isspace() for character in self.source), initial=0))

    @cached_property
    def translated(self) -> list[int]:
        """The indices of the source words that any character of the translation comes from."""
        return [i for i, word in enumerate(self.source_words) if any(map(self.targets.__contains__, range(*word)))]

    @cached_property
    def letters(self) -> list[TextRange]:
        """The runs of letters and digits of the source."""
        return [TextRange(*match.span()) for match in LETTERS.finditer(self.source)]

    @cached_property
    def spoken(self) -> list[TextRange]:
        """The words that have letters or digits."""
        return [word for word in self.words if has_word(self.text[slice(*word)])]

    @cached_property
    def spoken_ends(self) -> list[int]:
        """The end of each word that has letters or digits and is followed by another such word."""
        spoken = frozenset(self.spoken)
        return [word.end for word, following in pairwise(self.words) if word in spoken and following in spoken]

    @cached_property
    def weights_before(self) -> list[float]:
        """The total weight of the words before each word."""
        return list(accumulate(self.weights, initial=0.0))

    @cached_property
    def find_words(self) -> Callable[[int, int], Position | None]:
        """Finds the translation of whole words of the source, once for all marks within them."""
        return cache(self.search_words)

    @cached_property
    def find_densest(self) -> Callable[[int, int], TextRange | None]:
        """Finds the densest run of the characters that come from a part of the source, once for all points in it."""
        return cache(self.search_densest)

    def is_blank(self, start: int, end: int) -> bool:
        """Whether the source characters [start, end) are all spaces."""
        return self.inked_before[end] <= self.inked_before[start]

    def list_targets(self, start: int, end: int) -> list[int]:
        """Returns the characters that come from the source characters [start, end), in order."""
        return sorted(index for source in range(start, end) for index in self.targets.get(source, ()))

    def list_attracted(self, start: int, end: int) -> list[int]:
        """Returns the characters of the words that the source words in [start, end) attract most."""
        words = sorted({index for index in self.attracted[self.find_touched(start, end)] if index is not None})
        return [position for index in words for position in range(*self.words[index])]

    def find_touched(self, start: int, end: int) -> slice:
        """Returns which source words have characters in [start, end)."""
        first = bisect_right(self.source_words, start, key=lambda word: word.end)
        return slice(first, bisect_left(self.source_words, end, key=lambda word: word.start))

    def extend_to_words(self, start: int, end: int) -> tuple[int, int]:
        """Extends the source characters [start, end) to whole words, without punctuation behind them."""
        for first, last in self.source_words[self.find_touched(start, end)]:
            start, end = min(start, first), max(end, first + len(self.source[first:last].rstrip(WORD_CLOSERS)))
        return start, end

    def find_part(self, start: int, end: int) -> Position | None:
        """Returns the densest run of words that come from the source characters [start, end), or None.

        If a person marked these characters, the run is where that person put them; if only others, it is a guess.
        """
        if (known := self.find_known(start, end)) is not None:
            return known
        positions = self.list_targets(start, end)
        if inked := self.drop_blanks(positions):
            position: Position | None = self.find_run(inked, start, end)
        elif not self.is_blank(start, end):
            position = self.find_words(*self.extend_to_words(start, end))
        else:
            return Position(positions[0], positions[-1] + 1) if positions else None
        return position and position._replace(is_guess=self.has_marks)

    def search_words(self, start: int, end: int) -> Position | None:
        """Returns the densest run of words that come from, or are attracted by, the source words [start, end)."""
        inked = self.drop_blanks(self.list_targets(start, end)) or self.list_attracted(start, end)
        return self.find_run(inked, start, end) if inked else None

    def drop_blanks(self, positions: Sequence[int]) -> list[int]:
        return [index for index in positions if not self.text[index].isspace()]

    def find_run(self, inked: list[int], start: int, end: int) -> Position:
        """Returns the densest run of these characters, which come from the source characters [start, end)."""
        first = next((n for n, index in enumerate(inked) if self.text[index] not in PAUSES), 0)
        inked = inked if self.source[start] in PAUSES else inked[first:]
        touched = self.find_touched(start, end)
        within = self.select_densest(self.drop_faint(inked) if touched.stop - touched.start == 1 else inked)
        within = self.drop_new_marks(self.drop_neighbours(within, touched), start, end)
        low, high = within[0], within[-1] + 1
        first_word, last_word = (self.words[find_word(self.words, index)] for index in (within[0], within[-1]))
        while low > first_word.start and self.sources[low - 1] == UNALIGNED:
            low -= 1
        while high < last_word.end and self.sources[high] == UNALIGNED:
            high += 1
        return self.widen_to_blanks(low, high, start, end)

    def drop_neighbours(self, positions: list[int], part: slice) -> list[int]:
        """Returns the characters without a word at either edge that only source words beside the part attract.

        A word before punctuation stays: it may be separated from its verb, as in "fing an, ...".
        """
        inside = sorted({find_word(self.words, index) for index in positions})
        within_part = {*self.attracted[part]}
        before = {*self.attracted[max(0, part.start - BESIDE) : part.start]} - within_part
        behind = {*self.attracted[part.stop : part.stop + BESIDE]} - within_part
        first = inside[inside[0] in before and len(inside) > 1]
        follows = "".join(self.text[start:end] for start, end in self.words[inside[-1] + 1 : inside[-1] + 2])
        last = inside[-2] if inside[-1] in behind and inside[-1] > first and has_word(follows) else inside[-1]
        return [index for index in positions if self.words[first].start <= index < self.words[last].end]

    def drop_new_marks(self, positions: list[int], start: int, end: int) -> list[int]:
        """Returns the characters without punctuation at their end that comes from none in the source part [start, end).

        The mark that ends the part stays, unless it ends the sentence only in the translation: `9 <b>a.m.</b> to 5`.
        """
        is_last, part = self.find_touched(start, end).stop == len(self.source_words), self.source[start:end].rstrip()
        while len(positions) > 1 and (mark := self.text[positions[-1]]) in WORD_CLOSERS:
            source, behind = self.sources[positions[-1]], positions[-1] + 1
            is_closing = mark not in END_MARKS + PAUSES
            is_inside = start <= source < end and not self.source[source].isspace()
            stays = is_closing or is_last or self.text[behind:].strip(BEHIND_FINAL_MARK)
            if is_inside or (stays and find_mark(part if is_closing else part[-1:], mark) is not None):
                break
            positions = positions[:-1]
        return positions

    def drop_faint(self, positions: Sequence[int]) -> list[int]:
        """Returns the characters of words that come from one source word nearly as surely as the surest of them."""
        weights = [self.weights[find_word(self.words, index)] for index in positions]
        least = max(weights) * FAINT
        return [index for index, weight in zip(positions, weights, strict=True) if weight >= least]

    def select_densest(self, positions: list[int]) -> list[int]:
        """Returns the characters in the densest run of words that have any; all of them if they are spaces."""
        inside = sorted({find_word(self.words, index) for index in positions if not self.text[index].isspace()})
        if not inside:
            return positions
        first, last = self.find_densest_words(inside)
        return [index for index in positions if self.words[first].start <= index < self.words[last].end]

    def find_densest_words(self, inside: Sequence[int]) -> tuple[int, int]:
        """Returns the first and the last word of the run that weighs most: words inside minus words outside."""
        weights = [self.weights[inside[0]]]  # of the words inside, and between them of those outside
        for word, following in pairwise(inside):
            weights += [self.weights_before[word + 1] - self.weights_before[following], self.weights[following]]
        start, end = find_heaviest_run(weights)
        return inside[start // 2], inside[(end - 1) // 2]

    def widen_to_blanks(self, low: int, high: int, start: int, end: int) -> Position:
        """Extends the range by adjacent spaces on each side where the source characters [start, end) have some."""
        while self.source[start].isspace() and low > 0 and self.is_blank_from(low - 1, start, end):
            low -= 1
        while self.source[end - 1].isspace() and high < len(self.text) and self.is_blank_from(high, start, end):
            high += 1
        return Position(low, high)

    def is_blank_from(self, index: int, start: int, end: int) -> bool:
        """Whether the character at `index` is a space that comes from [start, end), or from nowhere."""
        source = self.sources[index]
        return self.text[index].isspace() and (source == UNALIGNED or start <= source < end)

    def find_point(self, point: int, *, binds_right: bool | None = None) -> Position:
        """Returns the position in the translation of the point before the source character `point`.

        It stays with the translation of the word that it touches, or else of the nearest translated word. The word
        before the point comes first or, with `binds_right`, the word after it.
        """
        if self.is_blank(0, point):
            return Position(min(point, len(self.text)), min(point, len(self.text)))
        if self.is_blank(point, len(self.source)):
            end = len(self.text) - (len(self.source) - point)
            return Position(end, end)
        if binds_right is None:
            binds_right = self.source[point - 1].isspace() and not self.source[point].isspace()
        touched = point if binds_right else point - 1
        part = TextRange(touched, touched + 1) if touched in self.targets else self.find_letters(touched)
        if exact := self.find_densest(*part):
            return self.leave_word(exact.start if binds_right else exact.end, point)
        for number, (word, is_right) in enumerate(self.list_neighbours(point, binds_right=binds_right)):
            within = self.find_densest(*word) or (self.find_attracted(*word) if number == 0 else None)
            if within:
                return self.leave_word(within.start if is_right else within.end, point)._replace(is_guess=number > 0)
        return Position(0, 0, is_guess=True)

    def search_densest(self, start: int, end: int) -> TextRange | None:
        """Returns the densest run of the characters that come from the source characters [start, end), or None."""
        positions = self.list_targets(start, end)
        is_blank = self.source[start : start + 1].isspace()  # a blank comes from a blank, not from a mark put before it
        within = self.select_densest([i for i in positions if self.text[i].isspace() == is_blank] or positions)
        return TextRange(within[0], within[-1] + 1) if within else None

    def find_attracted(self, start: int, end: int) -> TextRange | None:
        """Returns the densest run of the words that the source words in [start, end) attract most, or None."""
        within = self.select_densest(self.list_attracted(start, end))
        return TextRange(within[0], within[-1] + 1) if within else None

    def find_letters(self, index: int) -> TextRange:
        """Returns the run of letters and digits around a character of the source; empty if it is neither."""
        run = self.letters[find_word(self.letters, index)] if self.letters else TextRange(0, 0)
        return run if run.start <= index < run.end else TextRange(index, index)

    def list_neighbours(self, point: int, *, binds_right: bool) -> Iterator[tuple[TextRange, bool]]:
        """Yields the nearest word beside a point of the source, then the nearest translated words on both sides.

        Each comes with a flag that says whether it is on the right.
        """
        left = find_word(self.source_words, point - 1)
        right = left if left >= 0 and self.source_words[left].end > point else left + 1
        order = -1 if binds_right else 1
        before, behind = bisect_right(self.translated, left), bisect_left(self.translated, right)
        translated = [(index, False) for index in self.translated[max(0, before - 1) : before]]
        translated += [(index, True) for index in self.translated[behind : behind + 1]]
        translated = sorted(translated[::order], key=lambda side: side[0] - right if side[1] else left - side[0])
        beside = [side for side in ((left, False), (right, True)) if 0 <= side[0] < len(self.source_words)]
        for index, is_right in (*beside[::order][:1], *translated):
            yield self.source_words[index], is_right

    def leave_word(self, index: int, point: int) -> Position:
        """Returns the point before a character, moved past a word that it divides unless the source divides it too."""
        before, after = self.text[index - 1 : index], self.text[index : index + 1]
        is_exact = index < len(self.text) and self.sources[index] == point
        if not is_exact and before.isalnum() and after.isalnum() and not find_unspaced(before + after):
            word = self.words[find_word(self.words, index)]
            index = next((i for i in range(index, word.end) if not self.text[i].isalnum()), word.end)
        return Position(index, index)

    def leave_final_mark(self, point: Position) -> Position:
        """Returns the point, moved before the final punctuation of the sentence and what closes after it."""
        bare = self.text.rstrip(BEHIND_FINAL_MARK)
        end = len(bare.rstrip(END_MARKS))
        return point._replace(start=end, end=end) if end < len(bare) and point.start > end else point

    def find_spoken(self, start: int) -> TextRange | None:
        """Returns the first word from `start` on that has letters or digits, or None."""
        index = bisect_left(self.spoken, start, key=lambda word: word.start)
        return self.spoken[index] if index < len(self.spoken) else None

    def guess_word(self, start: int, within: TextRange | None = None) -> Position:
        """Returns the word at the relative position of a source character; the point there if there is no word."""
        point = self.find_point(start)
        word = self.find_spoken(point.start if within is None else max(point.start, within.start))
        is_inside = word is not None and (within is None or word.end <= within.end)
        return Position(*(word if word is not None and is_inside else point[:2]), is_guess=True)

    def find_before(self, point: Position) -> Position:
        """Returns the point before the next word, or else before the last one; unchanged if there is no word."""
        word = self.find_spoken(point.start) or next(reversed(self.spoken), point)
        return point._replace(start=word.start, end=word.start)

    def find_between(self, point: Position) -> Position:
        """Returns the nearest point between two words; unchanged if there is none."""
        index = bisect_left(self.spoken_ends, point.start)
        ends = self.spoken_ends[max(0, index - 1) : index + 1]
        end = min(ends, key=lambda end: abs(end - point.start), default=point.start)
        return point._replace(start=end, end=end)


def find_word(words: Sequence[TextRange], position: int) -> int:
    """Returns the index of the word that contains the character at `position`, or of the last word before it."""
    return bisect_right(words, position, key=lambda word: word.start) - 1


def find_mark(marks: str, mark: str) -> int | None:
    """Returns the index of a mark, or else that of another closing quote for such a quote; None without either."""
    alike = mark if mark in marks else ANY_CLOSING_QUOTES if mark in ANY_CLOSING_QUOTES else ""
    return next((index for index, other in enumerate(marks) if other in alike), None)
