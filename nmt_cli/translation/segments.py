"""A long line in segments that a network can carry, and the translations of the segments as one line again.

Knows text and spans, nothing of networks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nmt_cli.text.normalise import find_unspaced
from nmt_cli.text.spans import Span
from nmt_cli.text.symbols import PLACEHOLDERS

LETTERS_A_WORD = 15  # a word with more counts as several, so that a line without blanks is bounded too
COVERS = "\ufffb\ufffc"  # in turn, each for the characters of a span while places to cut are looked for

# Patterns as text, which Python compiles when they are first used and keeps: a line that fits needs one of them.
SENTENCE = r"(?<![.!?…؟۔։।])[.!?…؟۔։।]++[\"'”’»)\]\ufffb\ufffc]*+\s+|[。！？｡។။།]+[”’』」）]*\s*"
CLAUSE = r"[,;:)\]—–]\s+|[，、；：،؛]\s*"
WORD = r"\s+"
CHARACTER = rf"{COVERS[0]}+|{COVERS[1]}+|[^{COVERS}]"
COVERED = rf"{COVERS[0]}+|{COVERS[1]}+"
LEVELS = (SENTENCE, CLAUSE, WORD, CHARACTER)

# After these a point ends no sentence; nor after an initial (but "I"), nor after a small number ("3. Oktober").
ABBREVIATION = (
    r"(?:^|[\s(.])(?:[A-HJ-Za-zÀ-ɏ]|\d{1,2}|Mrs?|Ms|Dr|Prof|St|Sr|Jr|vs|etc|approx|bzw|ca|usw|vgl|evtl|inkl"
    r"|e\.g|i\.e|z\.\s?B|d\.\s?h|u\.\s?a)\.\s+$"
)
OF_NUMBERS = r"(?:^|[\s(.])(?:No|Nr|Abs|Art|Bd)\.\s+$"  # before a number alone: "No. I stayed."
CLOSING = "\"'”’»“"
FULL_STOP = ".。"
PAUSES = ",;:，、；："


class Segment(NamedTuple):
    """A part of a line that is translated on its own."""

    text: str
    spans: tuple[Span, ...]  # placed in `text`
    blank_before: bool  # between it and the segment before
    ends_sentence: bool


class SegmentedLine(NamedTuple):
    """A line whose spans are covered, so that nothing is cut inside them."""

    text: str
    covered: str
    spans: tuple[Span, ...]  # in order
    starts: list[int]  # of the spans

    @classmethod
    def from_text(cls, text: str, spans: Sequence[Span]) -> SegmentedLine:
        return cls(text, cover_spans(text, spans), tuple(spans), [span.start for span in spans])

    def is_within(self, start: int, end: int, most_words: int) -> bool:
        carried = sum(not span.is_extracted for span in self.spans_in(start, end))
        return carried <= len(PLACEHOLDERS) and (
            end - start <= most_words or self.count_words(start, end) <= most_words
        )

    def count_words(self, start: int, end: int) -> float:
        """Words from `start` to `end`; two characters of a script without blanks are one, and so is a span."""
        text = re.sub(COVERED, "x", self.covered[start:end])
        return max(len(text.split()) + len(find_unspaced(text)) / 2, len(text) / LETTERS_A_WORD)

    def spans_in(self, start: int, end: int) -> tuple[Span, ...]:
        return self.spans[bisect_left(self.starts, start) : bisect_left(self.starts, end)]


def cut(text: str, spans: Sequence[Span], most_words: int, *, by_sentence: bool = True) -> list[Segment]:
    """A segment for each sentence of `text`; one for all of it if it fits and they are not wanted `by_sentence`.

    A sentence that does not fit is cut behind clauses, then words, then characters, into as few segments as may be.
    """
    line = SegmentedLine.from_text(text, spans)
    ranges = list(split_to_fit(line, 0, len(text), most_words, 0, apart=by_sentence))
    return [
        segment
        for before, (start, end) in zip([(0, 0), *ranges], ranges, strict=False)
        if (segment := make_segment(line, start, end, before[1])) is not None
    ]


def find_sentence_starts(text: str, spans: Sequence[Span]) -> list[int]:
    """The places at which the sentences of `text` begin; the first is 0."""
    return [0, *(end for _, end in split_at(cover_spans(text, spans), 0, len(text), 0) if end < len(text))]


def cover_spans(text: str, spans: Sequence[Span]) -> str:
    if not spans:
        return text
    characters = list(text)
    for number, span in enumerate(spans):
        characters[span.start : span.end] = COVERS[number % 2] * (span.end - span.start)
    return "".join(characters)


def split_to_fit(
    line: SegmentedLine, start: int, end: int, most_words: int, level: int, *, apart: bool = False
) -> Iterator[tuple[int, int]]:
    """Ranges that fit and together are all from `start` to `end`; at least the parts of this level, if `apart`."""
    if level == len(LEVELS) or (not apart and line.is_within(start, end, most_words)):
        yield start, end
        return
    parts = list(split_at(line.covered, start, end, level))
    if level == 0:
        for part in parts:
            yield from split_to_fit(line, *part, most_words, 1)
        return
    yield from merge_parts(
        line, [piece for part in parts for piece in split_to_fit(line, *part, most_words, level + 1)], most_words
    )


def split_at(covered: str, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
    """The parts from `start` to `end` that the separators of a level end."""
    cased = level == 0 and any(map(str.isupper, covered))
    for match in re.compile(LEVELS[level]).finditer(covered, start, end):
        if level == 0 and not ends_sentence(covered, match, cased):
            continue
        yield start, match.end()
        start = match.end()
    if start < end:
        yield start, end


def ends_sentence(covered: str, mark: re.Match[str], cased: bool) -> bool:
    """Whether a new sentence begins behind `mark`. Of a text without capitals a small letter there says nothing."""
    following = covered[mark.end() : mark.end() + 1]
    if mark[0][0] in "!?" and mark[0].rstrip()[-1] in CLOSING:
        return False  # "Go!" Tom said.
    patterns = (ABBREVIATION, OF_NUMBERS) if is_number(following) else (ABBREVIATION,)
    before, case = max(0, mark.start() - 10), re.NOFLAG if cased else re.IGNORECASE
    known = mark[0].startswith(".") and any(
        re.compile(pattern, case).search(covered, before, mark.end()) for pattern in patterns
    )
    return not (known or (cased and following.islower()))


def is_number(character: str) -> bool:
    """Whether a number begins with it, or a span, which may be one."""
    return character.isdigit() or (character != "" and character in COVERS)


def merge_parts(line: SegmentedLine, parts: Sequence[tuple[int, int]], most_words: int) -> Iterator[tuple[int, int]]:
    """Neighbouring parts as one wherever they fit together."""
    first, last = parts[0]
    words, carried = line.count_words(first, last), count_carried(line, first, last)
    for start, end in parts[1:]:
        more, spans = line.count_words(start, end), count_carried(line, start, end)
        if words + more > most_words or carried + spans > len(PLACEHOLDERS):
            yield first, last
            first, words, carried = start, 0.0, 0
        last, words, carried = end, words + more, carried + spans
    yield first, last


def count_carried(line: SegmentedLine, start: int, end: int) -> int:
    return sum(not span.is_extracted for span in line.spans_in(start, end))


def make_segment(line: SegmentedLine, start: int, end: int, previous_end: int) -> Segment | None:
    """None where nothing but blanks stands."""
    text = line.text[start:end]
    if not text.strip():
        return None
    spans = tuple(span._replace(start=span.start - start, end=span.end - start) for span in line.spans_in(start, end))
    blank = previous_end > 0 and (text[0].isspace() or line.text[start - 1].isspace())
    matches = list(re.finditer(SENTENCE, line.covered[start:end] + " "))
    return Segment(text, spans, blank, bool(matches) and matches[-1].end() >= len(text))


def join_segments(segments: Sequence[Segment], translations: Sequence[str]) -> Iterator[str]:
    """What each translation adds to the line: itself, behind a blank where the source or the script has one."""
    left = ""  # what stands last on the line
    for number, (segment, translation) in enumerate(zip(segments, translations, strict=True)):
        inside = number < len(segments) - 1 and not segment.ends_sentence
        text = without_full_stop(segment.text, translation) if inside else translation
        yield (" " if left and text and wants_blank(left, text, segment.blank_before) else "") + text
        left = text or left


def wants_blank(left: str, right: str, blank: bool) -> bool:
    """Whether a blank goes between two segments; between the characters of scripts without blanks none does."""
    solid = [bool(find_unspaced(text)) or text in "。！？，、；：」』）" for text in (left[-1], right[0])]
    return not all(solid) and (blank or left[-1] in ".!?…" or solid[0] != solid[1])


def without_full_stop(source: str, translation: str) -> str:
    """The translation of a part of a sentence, which may end in the pause of its source but in no full stop."""
    last = source.rstrip()[-1:]
    if translation[-1:] not in FULL_STOP or last in FULL_STOP or not translation:
        return translation
    return translation[:-1].rstrip(FULL_STOP) + (last if last in PAUSES else "")
