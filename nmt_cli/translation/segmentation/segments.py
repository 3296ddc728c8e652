"""Cuts a line into segments that a network can translate, and joins their translations.

Knows text and spans, but no networks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nmt_cli.carrying.spans import COVERS, EMOJI_COVER, Span, cover_spans, cut_spans, list_overlapping
from nmt_cli.text import characters
from nmt_cli.text.normalise import find_unspaced, is_solid
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.translation.segmentation.sentence_ends import ends_with_mark, find_sentence_ends, has_mark_inside

MAX_WORD_LETTERS = 15  # a longer word counts as several, so that a line without blanks is bounded too

# Patterns as text: Python compiles and caches them at their first use, and a line that fits needs only one of them.
CLAUSE = (
    rf"[{characters.SPACED_PAUSES}{re.escape(characters.CLOSING_BRACKETS)}{characters.DASHES}]\s+"
    rf"|[{characters.SOLID_PAUSES}]\s*"
)
BLANKS = r"\s+"
COVERED = rf"{COVERS[0]}+|{COVERS[1]}+|{EMOJI_COVER}+"
CHARACTER = rf"{COVERED}|[^{COVERS}{EMOJI_COVER}]"
LEVELS = ("", CLAUSE, BLANKS, CHARACTER)  # the first level is that of sentences

ROMAN, MARK_ENDS = "ivxIVX", (".", ")", ":")  # of marks of lists: iv) IV. A:
PLAIN_ENDS = frozenset(characters.FINAL_MARKS)


class Segment(NamedTuple):
    """A part of a line, either translated independently or kept exactly."""

    text: str
    spans: tuple[Span, ...]  # with their positions in `text`
    blank_before: bool  # whether a blank separates it from the segment before
    ends_sentence: bool
    is_frame: bool = False  # whether it is kept, such as a list mark or a tag that divides
    is_glued: bool = False  # whether it follows the segment before exactly: that has all blanks between them
    is_label: bool = False  # whether it names what follows: "Note", before a colon


def is_plain(segment: Segment) -> bool:
    """Whether a segment surely has no frame: fast, since nearly all sentences have none."""
    text = segment.text.rstrip()
    first_letters = text[:1].isalpha() and text[1:2] not in MARK_ENDS
    first_letters = first_letters and (text[0] not in ROMAN or text[:7].lstrip(ROMAN)[:1] not in MARK_ENDS)
    last = text[-1:]
    return not segment.spans and first_letters and (last.isalnum() or (last in PLAIN_ENDS and not text.endswith("..")))


class SegmentedLine(NamedTuple):
    """A line with its spans covered, so that no cut falls inside them."""

    text: str
    covered: str
    spans: Sequence[Span]  # in order
    language: str

    def fits_within(self, start: int, end: int, max_words: int) -> bool:
        """Whether the text from `start` to `end` has at most `max_words` words and enough placeholders for its masked
        spans.
        """
        return self.count_masked(start, end) <= len(PLACEHOLDERS) and (
            end - start <= max_words or self.count_words(start, end) <= max_words
        )

    def count_words(self, start: int, end: int) -> float:
        """Counts the words from `start` to `end`; a span counts as one.

        In a script without blanks, two characters count as one word.
        """
        text = re.sub(COVERED, "x", self.covered[start:end])
        return max(len(text.split()) + len(find_unspaced(text)) / 2, len(text) / MAX_WORD_LETTERS)

    def count_masked(self, start: int, end: int) -> int:
        """Counts the masked spans from `start` to `end`."""
        return sum(not span.is_extracted for span in list_overlapping(self.spans, start, end))


def cut(
    text: str, spans: Sequence[Span], max_words: int, language: str = "", *, by_sentence: bool = True
) -> list[Segment]:
    """Returns a segment per sentence of `text`; without `by_sentence`, a single one if the text fits.

    A sentence of more than `max_words` is cut after clauses, then words, then characters, into as few segments as
    possible.
    """
    if not spans and is_short_sentence(text, max_words):
        return [Segment(text, (), blank_before=False, ends_sentence=ends_with_mark(text))]
    line = SegmentedLine(text, cover_spans(text, spans), spans, language)
    ranges = list(split_to_fit(line, 0, len(text), max_words, 0, must_split=by_sentence))
    return [
        segment
        for before, (start, end) in zip([(0, 0), *ranges], ranges, strict=False)
        if (segment := make_segment(line, start, end, before[1])) is not None
    ]


def is_short_sentence(text: str, max_words: int) -> bool:
    """Whether a text without spans is surely one sentence that fits: fast, since nearly all are."""
    return (
        text.isascii()
        and len(text) <= max_words * MAX_WORD_LETTERS
        and 0 < len(text.split()) <= max_words
        and not has_mark_inside(text)
    )


def find_sentence_starts(text: str, spans: Sequence[Span], language: str = "") -> list[int]:
    """Returns the positions at which the sentences of `text` begin; the first is 0."""
    ends = find_sentence_ends(cover_spans(text, spans), 0, len(text), language)
    return [0, *(end for end in ends if end < len(text))]


def split_to_fit(
    line: SegmentedLine, start: int, end: int, max_words: int, level: int, *, must_split: bool = False
) -> Iterator[tuple[int, int]]:
    """Yields ranges that fit and cover `start` to `end`; with `must_split`, at least the parts of this level."""
    if level == len(LEVELS) or (not must_split and line.fits_within(start, end, max_words)):
        yield start, end
        return
    parts = list(split_at(line, start, end, level))
    if level == 0:
        for part in parts:
            yield from split_to_fit(line, *part, max_words, 1)
        return
    yield from merge_parts(
        line, [piece for part in parts for piece in split_to_fit(line, *part, max_words, level + 1)], max_words
    )


def split_at(line: SegmentedLine, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
    """Yields the parts from `start` to `end` that end with a separator of this level."""
    if level == 0:
        ends = find_sentence_ends(line.covered, start, end, line.language)
    else:
        ends = (match.end() for match in re.compile(LEVELS[level]).finditer(line.covered, start, end))
    for part_end in ends:
        yield start, part_end
        start = part_end
    if start < end:
        yield start, end


def merge_parts(line: SegmentedLine, parts: Sequence[tuple[int, int]], max_words: int) -> Iterator[tuple[int, int]]:
    """Merges neighbouring parts as long as they fit together."""
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
    """Returns the text from `start` to `end` as a segment; None if it is blank."""
    text = line.text[start:end]
    if not text.strip():
        return None
    blank = previous_end > 0 and (text[0].isspace() or line.text[start - 1].isspace())
    return Segment(text, cut_spans(line.spans, start, end), blank, ends_with_mark(line.covered[start:end]))


def join_segments(segments: Sequence[Segment], translations: Sequence[str]) -> Iterator[str]:
    """Yields each translation's addition to the line: its text, after a blank if the source or the script needs one."""
    left = ""  # the last text that is not empty
    for number, (segment, translation) in enumerate(zip(segments, translations, strict=True)):
        inside = number < len(segments) - 1 and not segment.ends_sentence and not segment.is_frame
        marks = characters.FULL_STOPS + (characters.EXCLAMATION_MARKS if has_frame_after(segments, number) else "")
        text = drop_full_stop(segment.text, translation, marks) if inside else translation
        needs_blank = left and text and not segment.is_glued and wants_blank(left, text, segment.blank_before)
        yield (" " if needs_blank else "") + text
        left = text or left


def wants_blank(left: str, right: str, blank: bool) -> bool:
    """Whether a blank goes between two segments; never between characters of scripts without blanks."""
    solid = [is_solid(left[-1]), is_solid(right[0])]
    return not all(solid) and (blank or left[-1] in characters.END_MARKS or solid[0] != solid[1])


def has_frame_after(segments: Sequence[Segment], number: int) -> bool:
    """Whether a colon, an ellipsis or the like was removed from the end of a segment."""
    return number + 1 < len(segments) and segments[number + 1].is_frame and segments[number + 1].is_glued


def drop_full_stop(source: str, translation: str, marks: str) -> str:
    """Removes a full stop from the translation of a part of a sentence; it may end in its source's pause.

    `marks` are all characters that count as a full stop.
    """
    last = source.rstrip()[-1:]
    if translation[-1:] not in marks or last in marks or not translation:
        return translation
    return translation[:-1].rstrip(marks) + (last if last in characters.PAUSES else "")
