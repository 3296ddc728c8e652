"""Separates the words of a segment from its frame: list marks, indentation, enclosing brackets and tags, a final colon.

The network never sees the frame; it is put back exactly. Knows text and spans, but no networks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nmt_cli.carrying.numbers.dates import find_dates
from nmt_cli.carrying.spans import Span, cut_spans, find_partners, list_overlapping
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import BRACKETS, COLONS, DASHES, ELLIPSES, FINAL_MARKS, QUOTES
from nmt_cli.text.normalise import DROPPED
from nmt_cli.text.words import has_letters
from nmt_cli.translation.segmentation.segments import Segment

UNPRINTED = DROPPED[1:-1]
CLOSED_BY = dict(zip(BRACKETS[::2], BRACKETS[1::2], strict=True))
OPENED_BY = dict(zip(BRACKETS[1::2], BRACKETS[::2], strict=True))
# What may stand before the words, each kind once or more. Patterns as text: compiled at their first use.
BEFORE_CORE = (
    r"\s+"
    # Items of lists: 1. 2) 1.2.3 (a) [4] [x] ( ) iv) ① and what marks them.
    r"|(?:\d{1,3}(?:\.\d{1,3}){0,4}[.):、．]|\((?:\d{1,3}|[A-Za-z]|[ivx]{1,5}| ?[xX*]?)\)"
    r"|(?:[A-Za-z]|[ivxIVX]{1,5})\)|(?:[A-Ha-h]|[ivx]{1,5}|[IVX]{1,5})\.(?=\s+[^\W\d_a-z])"
    # Questions and answers, sections: Q: 1.2
    r"|[A-Za-z]:(?=\s+[^\W\d_a-z])|\d{1,2}\.\d{1,2}(?=\s+[A-Z][a-z])"
    r"|\[(?:\d{1,3}|[A-Za-z]|[ xX*-]?)\]|（\d{1,3}）)(?=\s)"
    r"|\d{1,2}(?:\.\d{1,2}){2,4}(?=\s)|[\u2460-\u24ff\u2776-\u2793](?=\s)"
    # Bullets, arrows, quote marks of mail, headings: signs before a blank; some even without.
    rf"|[^\w\s{UNPRINTED}{QUOTES}]{{1,10}}(?=\s)|(?:\.{{2,}}|[{ELLIPSES}{DASHES}•◦▪‣·●○■□►▶➤✓✔✗✘☐☑☒])(?=\w)"
)
# What may stand after the words.
AFTER_CORE = (
    r"\s+"
    rf"|\s*(?:[{COLONS}{ELLIPSES}]|(?<!\.)\.{{2,}}|(?<=\w)[*†‡§|]+)"
    r"|\s?\[\d{1,3}\]|\s?\(\*\)"
    rf"|\s[^\w\s{UNPRINTED}{QUOTES}{FINAL_MARKS}]{{1,10}}"
)
LONGEST_DATE = 40  # characters
WRAPPING = r"(\*{1,3}|_{1,2}|~{1,2}|={1,3})(?=\S)"


def frame_segment(segment: Segment, language: str = "") -> list[Segment]:
    """Splits a segment into up to three parts: the text before its words, the words, and the text after them."""
    start, end = find_core(segment, language)
    if (start, end) == (0, len(segment.text)) or not has_letters(segment.text[start:end]):
        return [segment]
    return list(split_frame(segment, start, end))


def find_core(segment: Segment, language: str) -> tuple[int, int]:
    """Returns the range of a segment's words."""
    text, spans = segment.text, segment.spans
    partners = find_partners([span.pair for span in spans])
    start, end = 0, len(text)
    while True:
        # 1. Widen the frame on both sides.  2. Give back what belongs to the words after all.
        new_start, new_end = skip_brackets(text, spans, start, end)
        new_start = skip_before(text, spans, new_start, new_end, language)
        new_end = skip_after(text, spans, new_start, new_end)
        new_start, new_end = narrow_frame(spans, partners, start, end, new_start, new_end)
        if (new_start, new_end) == (start, end):
            return start, end
        start, end = new_start, new_end


def skip_before(text: str, spans: Sequence[Span], start: int, end: int, language: str) -> int:
    """Returns the end of everything that may precede the words."""
    pattern = re.compile(BEFORE_CORE)
    while start < end:
        span = next(iter(list_overlapping(spans, start, start + 1)), None)
        if span is not None and span.is_extracted and span.start == start and span.end <= end:
            start = span.end
            continue
        match = pattern.match(text, start, end)
        if match is None or crosses_span(match, spans) or begins_with_date(text[start:], language):
            break
        start = match.end()
    return start


def begins_with_date(text: str, language: str) -> bool:
    """Whether a number with a full stop is a day, not the mark of an item: `5. Februar`."""
    if not text[0].isdigit() or find_rules(language).ordinal_mark != ".":
        return False
    return any(date.start == 0 for date in find_dates(text[:LONGEST_DATE], language))


def skip_after(text: str, spans: Sequence[Span], start: int, end: int) -> int:
    """Returns the start of everything that may follow the words, which begin at `start`."""
    pattern = re.compile(f"(?:{AFTER_CORE})$")
    while end > start:
        span = next(iter(list_overlapping(spans, end - 1, end)), None)
        if span is not None and span.is_extracted and start <= span.start and span.end == end:
            end = span.start
            continue
        match = pattern.search(text, max(start, end - 14), end)
        if match is None or crosses_span(match, spans):
            break
        end = match.start()
    return end


def crosses_span(match: re.Match[str], spans: Sequence[Span]) -> bool:
    """Whether a match shares characters with a span; list numbers may be spans themselves (1.2.3)."""
    start, end = match.span()
    return any(
        not (span.text[0].isdigit() and start <= span.start and span.end <= end)
        for span in list_overlapping(spans, start, end)
    )


def skip_brackets(text: str, spans: Sequence[Span], start: int, end: int) -> tuple[int, int]:
    """Excludes enclosing brackets or emphasis marks, and an unpaired bracket at either end."""
    first, last = text[start : start + 1], text[end - 1 : end]
    span_edges = {span.start for span in spans} | {span.end - 1 for span in spans}
    if end - start < 2 or start in span_edges or end - 1 in span_edges:
        return start, end
    opens, closes = first in CLOSED_BY, last in OPENED_BY
    if opens and closes and find_partner(text, start, end) == end - 1:
        return start + 1, end - 1
    if opens and find_partner(text, start, end) is None:
        return start + 1, end
    inner = text[start:end]
    if closes and inner.count(last) > inner.count(OPENED_BY[last]):
        return start, end - 1
    mark = re.compile(WRAPPING).match(text, start, end)
    if mark and inner.endswith(mark[0]) and inner.count(mark[0]) == 2 and len(inner) > 2 * len(mark[0]):
        return start + len(mark[0]), end - len(mark[0])
    return start, end


def find_partner(text: str, start: int, end: int) -> int | None:
    """Returns the position of the bracket that closes the one at `start`, or None."""
    opening, depth = text[start], 0
    closing = CLOSED_BY[opening]
    last = text.rfind(closing, start, end)  # fast, where there is none
    for index in range(start, last + 1):
        depth += (text[index] == opening) - (text[index] == closing)
        if depth == 0:
            return index
    return None


def narrow_frame(
    spans: Sequence[Span], partners: dict[int, int], start: int, end: int, new_start: int, new_end: int
) -> tuple[int, int]:
    """Narrows a frame so that no tag in it has its partner among the words."""
    changed = True
    while changed:
        changed = False
        for index, partner in partners.items():
            span, other = spans[index], spans[partner]
            if not new_start <= other.start < other.end <= new_end:
                continue
            if start <= span.start < new_start:
                new_start, changed = span.start, True
            elif new_end < span.end <= end:
                new_end, changed = span.end, True
    return new_start, new_end


def split_frame(segment: Segment, start: int, end: int) -> Iterator[Segment]:
    """Yields the parts of a segment whose words range from `start` to `end`."""
    before, words, after = (cut_segment(segment, *ends) for ends in ((0, start), (start, end), (end, None)))
    if before.text:
        yield before._replace(blank_before=segment.blank_before, ends_sentence=False, is_frame=True)
    ends_sentence = segment.ends_sentence and not after.text
    yield words._replace(
        blank_before=segment.blank_before and not start, ends_sentence=ends_sentence, is_glued=start > 0
    )
    if after.text:
        yield after._replace(is_frame=True, is_glued=True)


def cut_segment(segment: Segment, start: int, end: int | None) -> Segment:
    """Returns the text of a segment from `start` to `end`, with its spans; None: the end, without blanks."""
    end = max(start, len(segment.text.rstrip())) if end is None else end
    spans = cut_spans(segment.spans, start, end)
    return Segment(segment.text[start:end], spans, blank_before=False, ends_sentence=segment.ends_sentence)
