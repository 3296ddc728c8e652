"""Cuts a line into segments that a network can translate, and joins their translations.

Knows text and spans, but no networks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nmt_cli.text.normalise import find_unspaced
from nmt_cli.text.spans import Span
from nmt_cli.text.symbols import PLACEHOLDERS

MAX_WORD_LETTERS = 15  # a longer word counts as several, so that a line without blanks is bounded too
COVERS = "\ufffb\ufffc"  # stand in turn for the characters of a span while a line is cut

# Patterns as text: Python compiles and caches them at their first use, and a line that fits needs only one of them.
SENTENCE = r"(?<![.!?…؟۔։।])[.!?…؟۔։।]++[\"'”’»)\]\ufffb\ufffc]*+\s+|[。！？｡។။།]+[”’』」）]*\s*"
CLAUSE = r"[,;:)\]—–]\s+|[，、；：،؛]\s*"
WORD = r"\s+"
CHARACTER = rf"{COVERS[0]}+|{COVERS[1]}+|[^{COVERS}]"
COVERED = rf"{COVERS[0]}+|{COVERS[1]}+"
LEVELS = (SENTENCE, CLAUSE, WORD, CHARACTER)

# A full stop after these ends no sentence; nor after an initial (except "I") or a small number ("3. Oktober").
ABBREVIATION = (
    r"(?:^|[\s(.])(?:[A-HJ-Za-zÀ-ɏ]|\d{1,2}|Mrs?|Ms|Dr|Prof|St|Sr|Jr|vs|etc|approx|bzw|ca|usw|vgl|evtl|inkl"
    r"|e\.g|i\.e|z\.\s?B|d\.\s?h|u\.\s?a)\.\s+$"
)
OF_NUMBERS = r"(?:^|[\s(.])(?:No|Nr|Abs|Art|Bd)\.\s+$"  # only before a number; but: "No. I stayed."
CLOSING = "\"'”’»“"
FULL_STOP = ".。"
PAUSES = ",;:，、；："


class Segment(NamedTuple):
    """A part of a line that is translated on its own."""

    text: str
    spans: tuple[Span, ...]  # with their positions in `text`
    blank_before: bool  # whether a blank separates it from the segment before
    ends_sentence: bool


class SegmentedLine(NamedTuple):
    """A line whose spans are covered, so that no cut falls inside them."""

    text: str
    covered: str
    spans: tuple[Span, ...]  # in order
    starts: list[int]  # of the spans

    @classmethod
    def from_text(cls, text: str, spans: Sequence[Span]) -> SegmentedLine:
        return cls(text, cover_spans(text, spans), tuple(spans), [span.start for span in spans])

    def fits_within(self, start: int, end: int, max_words: int) -> bool:
        """Whether the text from `start` to `end` has at most `max_words` words and no more masked spans than names."""
        return self.count_masked(start, end) <= len(PLACEHOLDERS) and (
            end - start <= max_words or self.count_words(start, end) <= max_words
        )

    def count_words(self, start: int, end: int) -> float:
        """Returns the number of words from `start` to `end`; a span counts as one.

        In a script without blanks, two characters count as one word.
        """
        text = re.sub(COVERED, "x", self.covered[start:end])
        return max(len(text.split()) + len(find_unspaced(text)) / 2, len(text) / MAX_WORD_LETTERS)

    def count_masked(self, start: int, end: int) -> int:
        """Returns the number of spans from `start` to `end` that a placeholder stands for."""
        return sum(not span.is_extracted for span in self.list_spans(start, end))

    def list_spans(self, start: int, end: int) -> tuple[Span, ...]:
        return self.spans[bisect_left(self.starts, start) : bisect_left(self.starts, end)]


def cut(text: str, spans: Sequence[Span], max_words: int, *, by_sentence: bool = True) -> list[Segment]:
    """Returns a segment for each sentence of `text`; without `by_sentence`, a single one for a text that fits.

    A sentence of more than `max_words` is cut after clauses, then words, then characters, into as few segments as
    possible.
    """
    line = SegmentedLine.from_text(text, spans)
    ranges = list(split_to_fit(line, 0, len(text), max_words, 0, must_split=by_sentence))
    return [
        segment
        for before, (start, end) in zip([(0, 0), *ranges], ranges, strict=False)
        if (segment := make_segment(line, start, end, before[1])) is not None
    ]


def find_sentence_starts(text: str, spans: Sequence[Span]) -> list[int]:
    """Returns the positions at which the sentences of `text` begin; the first is 0."""
    return [0, *(end for _, end in split_at(cover_spans(text, spans), 0, len(text), 0) if end < len(text))]


def cover_spans(text: str, spans: Sequence[Span]) -> str:
    """Returns `text` with covers for the characters of its spans."""
    if not spans:
        return text
    characters = list(text)
    for number, span in enumerate(spans):
        characters[span.start : span.end] = COVERS[number % 2] * (span.end - span.start)
    return "".join(characters)


def split_to_fit(
    line: SegmentedLine, start: int, end: int, max_words: int, level: int, *, must_split: bool = False
) -> Iterator[tuple[int, int]]:
    """Yields ranges that fit and cover `start` to `end`; with `must_split`, at least the parts of this level."""
    if level == len(LEVELS) or (not must_split and line.fits_within(start, end, max_words)):
        yield start, end
        return
    parts = list(split_at(line.covered, start, end, level))
    if level == 0:
        for part in parts:
            yield from split_to_fit(line, *part, max_words, 1)
        return
    yield from merge_parts(
        line, [piece for part in parts for piece in split_to_fit(line, *part, max_words, level + 1)], max_words
    )


def split_at(covered: str, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
    """Yields the parts from `start` to `end` that end with a separator of this level."""
    cased = level == 0 and any(map(str.isupper, covered))
    for match in re.compile(LEVELS[level]).finditer(covered, start, end):
        if level == 0 and not ends_sentence(covered, match, cased):
            continue
        yield start, match.end()
        start = match.end()
    if start < end:
        yield start, end


def ends_sentence(covered: str, mark: re.Match[str], cased: bool) -> bool:
    """Whether a new sentence begins after `mark`; in a text without capitals, a small letter there says nothing."""
    following = covered[mark.end() : mark.end() + 1]
    if mark[0][0] in "!?" and mark[0].rstrip()[-1] in CLOSING:
        return False  # "Go!" Tom said.
    patterns = (ABBREVIATION, OF_NUMBERS) if is_number(following) else (ABBREVIATION,)
    before, case = max(0, mark.start() - 10), re.NOFLAG if cased else re.IGNORECASE
    is_abbreviation = mark[0].startswith(".") and any(
        re.compile(pattern, case).search(covered, before, mark.end()) for pattern in patterns
    )
    return not (is_abbreviation or (cased and following.islower()))


def is_number(character: str) -> bool:
    """Whether a number begins with this character, or a span, which may be a number."""
    return character.isdigit() or (character != "" and character in COVERS)


def merge_parts(line: SegmentedLine, parts: Sequence[tuple[int, int]], max_words: int) -> Iterator[tuple[int, int]]:
    """Yields the parts, with neighbours merged as long as they fit together."""
    first, last = parts[0]
    words, spans = line.count_words(first, last), line.count_masked(first, last)
    for start, end in parts[1:]:
        more_words, more_spans = line.count_words(start, end), line.count_masked(start, end)
        if words + more_words > max_words or spans + more_spans > len(PLACEHOLDERS):
            yield first, last
            first, words, spans = start, 0.0, 0
        last, words, spans = end, words + more_words, spans + more_spans
    yield first, last


def make_segment(line: SegmentedLine, start: int, end: int, previous_end: int) -> Segment | None:
    """Returns the text from `start` to `end` as a segment; None for blanks alone."""
    text = line.text[start:end]
    if not text.strip():
        return None
    spans = tuple(span._replace(start=span.start - start, end=span.end - start) for span in line.list_spans(start, end))
    blank = previous_end > 0 and (text[0].isspace() or line.text[start - 1].isspace())
    matches = list(re.finditer(SENTENCE, line.covered[start:end] + " "))
    return Segment(text, spans, blank, bool(matches) and matches[-1].end() >= len(text))


def join_segments(segments: Sequence[Segment], translations: Sequence[str]) -> Iterator[str]:
    """Yields what each translation adds to the line: its text, after a blank if the source or the script needs one."""
    left = ""  # the last text that is not empty
    for number, (segment, translation) in enumerate(zip(segments, translations, strict=True)):
        inside = number < len(segments) - 1 and not segment.ends_sentence
        text = drop_full_stop(segment.text, translation) if inside else translation
        yield (" " if left and text and wants_blank(left, text, segment.blank_before) else "") + text
        left = text or left


def wants_blank(left: str, right: str, blank: bool) -> bool:
    """Whether a blank goes between two segments; none goes between characters of scripts without blanks."""
    solid = [bool(find_unspaced(text)) or text in "。！？，、；：」』）" for text in (left[-1], right[0])]
    return not all(solid) and (blank or left[-1] in ".!?…" or solid[0] != solid[1])


def drop_full_stop(source: str, translation: str) -> str:
    """Returns the translation of a part of a sentence without a full stop; it may end in the pause of its source."""
    last = source.rstrip()[-1:]
    if translation[-1:] not in FULL_STOP or last in FULL_STOP or not translation:
        return translation
    return translation[:-1].rstrip(FULL_STOP) + (last if last in PAUSES else "")
