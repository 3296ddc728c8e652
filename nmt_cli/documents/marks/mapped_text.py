"""A translation with the source of each of its characters, and what follows from it: where a mark or a point goes.

Must not know how anything is written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from nmt_cli.arrays.runs import find_heaviest_run
from nmt_cli.documents.marks.items import ParagraphSegment
from nmt_cli.text.characters import PAUSES
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.translation.placement.tracing import UNALIGNED, TextRange, find_words, trace_translation

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


@dataclass(frozen=True)
class MappedText:
    """A translation between the blanks around its source, with the source character of each of its characters."""

    source: str
    text: str
    sources: list[int]
    words: list[TextRange]
    is_linked: list[bool]
    dropped: frozenset[int]  # characters that are not written: names of code that stand there a second time

    @classmethod
    def from_translation(cls, segment: ParagraphSegment, translation: Translation) -> MappedText:
        whole = segment.text
        bare = whole.strip()
        lead = len(whole) - len(whole.lstrip())
        tail = lead + len(bare)
        traced = trace_translation(bare, translation)
        text = whole[:lead] + traced.text + whole[tail:]
        sources = [index if index == UNALIGNED else index + lead for index in traced.sources]
        sources = [*range(lead), *sources, *range(tail, len(whole))]
        dropped = map_code(segment, text, sources) if segment.code_names else frozenset()
        words = [TextRange(word.start + lead, word.end + lead) for word in traced.words]
        return cls(whole, text, sources, words, traced.is_linked, dropped)

    @cached_property
    def targets(self) -> dict[int, list[int]]:
        """The characters of the translation that come from each source character."""
        result: dict[int, list[int]] = defaultdict(list)
        for index, source in enumerate(self.sources):
            if source != UNALIGNED:
                result[source].append(index)
        return dict(result)

    @cached_property
    def source_words(self) -> list[TextRange]:
        return find_words(self.source)

    @cached_property
    def linked_before(self) -> list[int]:
        """The number of linked words before each word."""
        return list(accumulate(self.is_linked, initial=0))

    def find_word(self, position: int) -> int:
        """Returns the index of the word that the character at `position` belongs to, or that is the last before it."""
        return bisect_right(self.words, position, key=lambda word: word.start) - 1

    def list_targets(self, start: int, end: int) -> list[int]:
        """Returns the characters that come from the source characters [start, end), in order."""
        return sorted(index for source in range(start, end) for index in self.targets.get(source, ()))

    def extend_to_words(self, start: int, end: int) -> tuple[int, int]:
        """Returns the source characters [start, end), extended to whole words."""
        touched = [word for word in self.source_words if word.end > start and word.start < end]
        return (min(start, touched[0].start), max(end, touched[-1].end)) if touched else (start, end)

    def find_range(self, start: int, end: int) -> tuple[int, int] | None:
        """Returns the characters [start, end) that a pair of tags goes around; None if no word comes from its own."""
        positions = self.list_targets(start, end)
        inked = [position for position in positions if not self.text[position].isspace()]
        if not inked and self.source[start:end].strip():
            start, end = self.extend_to_words(start, end)
            inked = [index for index in self.list_targets(start, end) if not self.text[index].isspace()]
        if not inked:
            return None if self.source[start:end].strip() or not positions else (positions[0], positions[-1] + 1)
        first, last = self.find_densest_words(sorted({self.find_word(position) for position in inked}))
        within = [index for index in inked if self.words[first].start <= index < self.words[last].end]
        low, high = within[0], within[-1] + 1
        while low > self.words[first].start and self.sources[low - 1] == UNALIGNED:
            low -= 1
        while high < self.words[last].end and self.sources[high] == UNALIGNED:
            high += 1
        return self.take_blanks(low, high, start, end)

    def find_densest_words(self, inside: Sequence[int]) -> tuple[int, int]:
        """Returns the first and the last word of the run with the most words inside minus linked words outside.

        Words without a link count nothing.
        """
        weights = [1]  # of the words inside, and between them of those outside
        for word, following in pairwise(inside):
            weights += [self.linked_before[word + 1] - self.linked_before[following], 1]
        start, end = find_heaviest_run(weights)
        return inside[start // 2], inside[(end - 1) // 2]

    def take_blanks(self, low: int, high: int, start: int, end: int) -> tuple[int, int]:
        """Returns the range with the blanks around it that the marked source characters [start, end) have too."""
        while low > 0 and self.text[low - 1].isspace() and self.is_blank_from(low - 1, start, end, self.source[start]):
            low -= 1
        last = self.source[end - 1]
        while high < len(self.text) and self.text[high].isspace() and self.is_blank_from(high, start, end, last):
            high += 1
        return low, high

    def is_blank_from(self, index: int, start: int, end: int, edge: str) -> bool:
        """Whether the blank at `index` comes from [start, end), or from nowhere while the `edge` of that is blank."""
        source = self.sources[index]
        return start <= source < end if source != UNALIGNED else edge.isspace()

    def find_position(self, point: int) -> tuple[int, bool]:
        """Returns where a point goes that stands before the source character `point`, and whether that is a guess."""
        if point == 0 or not self.source[:point].strip():
            return min(point, len(self.text)), False
        if not self.source[point:].strip():
            return len(self.text) - (len(self.source) - point), False
        is_behind = not self.source[point - 1].isspace()
        if is_behind or self.source[point].isspace():
            exact = self.targets.get(point - 1)
            start, end = self.extend_to_words(point - 1, point) if is_behind else (0, point)
            positions = exact or self.list_targets(start, end)
            if positions:
                return positions[-1] + 1, False
        else:
            positions = self.targets.get(point) or self.list_targets(*self.extend_to_words(point, point + 1))
            if positions:
                return positions[0], False
        positions = self.list_targets(0, point)
        return (max(positions) + 1 if positions else 0), True

    def find_cut(self, point: int, low: int) -> tuple[int, int]:
        """Returns the blank after `low` at which the translation is divided where its source is, at the blank `point`.

        The words on each side come from the words of the source on that side, as far as these are known; a pause, and
        the same proportion, decide between blanks. Where there is none, a script without blanks is divided anywhere.
        """
        ends = [word.end for word in self.words[:-1] if word.end > low]
        if not ends:
            spread = round(point / len(self.source) * len(self.text))
            end = min(max(spread, low + 1), len(self.text)) if find_unspaced(self.text) else len(self.text)
            return end, end
        origins = [(word.start, self.sources[word.start]) for word in self.words if word.start >= low]
        expected = len(find_words(self.source[:point])) / len(self.source_words) * len(self.words)

        def rate(end: int) -> float:
            agreeing = sum((start < end) == (source < point) for start, source in origins if source != UNALIGNED)
            return agreeing + 0.5 * (self.text[end - 1] in PAUSES) - 0.5 * abs(self.find_word(end) + 1 - expected)

        end = max(ends, key=rate)
        start = next(word.start for word in self.words if word.start > end)
        exact = [index for index in self.targets.get(point, ()) if end <= index < start]
        return (exact[0], exact[0] + 1) if exact else (end, start)


def map_code(segment: ParagraphSegment, text: str, sources: list[int]) -> frozenset[int]:
    """Maps the names of code to themselves, in `sources`; returns the characters of those that stand there again."""
    ranges = {index: range(segment.starts[index], segment.starts[index + 1]) for index in segment.code_names}
    inside = {source for characters in ranges.values() for source in characters}
    sources[:] = [UNALIGNED if source in inside else source for source in sources]
    repeated: set[int] = set()
    for index, name in segment.code_names.items():
        for number, position in enumerate(find_all(text, name)):
            if number:
                repeated |= set(range(position, position + len(name)))
            else:
                sources[position : position + len(name)] = ranges[index]
    return frozenset(repeated)


def find_all(text: str, part: str) -> Iterator[int]:
    """Yields the positions of a part in a text."""
    position = text.find(part)
    while position >= 0:
        yield position
        position = text.find(part, position + len(part))
