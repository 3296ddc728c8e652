"""Divides a line at breaks, bars, boxes and labels, and separates words from the marks around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from nmt_cli.carrying.dates import find_dates, find_short_days, find_week
from nmt_cli.carrying.spans import (
    COVERS,
    Span,
    SpanKind,
    WordTest,
    cover_spans,
    cut_spans,
    find_partners,
    list_overlapping,
)
from nmt_cli.carrying.syntax import is_block_tag
from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.characters import LONG_DASHES
from nmt_cli.text.characters import (
    ANGLE_QUOTES,
    ANY_CLOSING,
    BRACKETS,
    COLONS,
    DASHES,
    DOUBLE_QUOTES,
    ELLIPSES,
    END_MARKS,
    FINAL_MARKS,
    PAUSES,
    QUOTES,
    SOLID_PAUSES,
)
from nmt_cli.text.normalise import DROPPED
from nmt_cli.text.words import has_letters, has_word, skip_blanks, skip_blanks_back
from nmt_cli.translation.segmentation.insets import Inset, find_bracketed, find_speech
from nmt_cli.translation.segmentation.segments import Segment, find_sentence_starts

# Separates the words of a segment from its frame: list marks, indentation, enclosing brackets and tags, a final colon.
#
# The network never sees the frame; it is put back exactly. Knows text and spans, but no networks.


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
    """Whether a number with a full stop is a day, not a list marker: `5. Februar`."""
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
    """Whether a match overlaps a span. A list number (1.2.3) that is itself a span does not count."""
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
    """Returns a segment's text from `start` to `end`, with its spans; None: to the end, without trailing spaces."""
    end = max(start, len(segment.text.rstrip())) if end is None else end
    spans = cut_spans(segment.spans, start, end)
    return Segment(segment.text[start:end], spans, blank_before=False, ends_sentence=segment.ends_sentence)


# Divides a line at what frames the words on both sides: breaks, bars, boxes of forms, marks of items, labels.
#
# `DIVIDERS` is the table. Each row finds frames, which are kept byte for byte; every text between two frames is read as
# if it were a line of its own. Knows text and spans, but no networks.


LABEL_WORDS, LABEL_LETTERS = 4, 40  # the most that a label has
TOKEN = 80  # characters before a mark that show of what token it is a part
UNMARKED_ITEMS = 3  # so many items in a row need no mark before each: `1. Mai 2. Juni` are dates
# Patterns as text: compiled at their first use.
COLON_MARKS = re.escape(COLONS)
SOLID_COLONS = re.escape("".join(mark for mark in COLONS if mark in SOLID_PAUSES))  # which need no blank after them
WRITTEN_BREAK = r"(?:\\[nrt])+"
BAR = r"(?<!\|)\s*(?:\|{4}|\|)(?!\|)\s*"
# Of numbers, which an alternative is for.
ALTERNATIVE_RANGE = r"(?:\{\d+\}|[\[\]](?:\d+|\*|-?Inf),\s?(?:\d+|\*|Inf)[\[\]])\s*"
SENTENCE_NOTE = rf"(?<=[^\W\d_][{re.escape(FINAL_MARKS)}])(?:\[\d{{1,3}}\])+(?=\s|$)"
FORM_FIELD = (
    rf"(?<![^\W_])_{{3,}}(?![^\W_])|\.{{5,}}|[{ELLIPSES}]{{2,}}|[☐☑☒□■▢]\ufe0f?"
    r"|(?<!\S)\[[ xX]?\](?!\S)|(?<!\S)\( \)(?!\S)"
)
ARROW_HEAD = f"[{ANGLE_QUOTES}]"
ARROW = rf"(?<!\S){ARROW_HEAD}(?!\S)"
COMMENT_MARK = r"(?<!\S)(?:/\*{1,2}|\*{1,2}/|/{2,3}!?)(?!\S)"
ITEM_MARK = r"(?<!\S)(?P<opening>\(?)(?P<name>\d{1,2}|[a-z])(?P<closing>[.)])\s+(?=\S)"
WIDE_OPENING, WIDE_CLOSING = (
    "".join(mark for mark in side if not mark.isascii()) for side in (BRACKETS[::2], BRACKETS[1::2])
)
ASIDE = (
    rf"(?:\[[^\[\]\s]{{1,30}}\] ?){{0,4}}[(\[{WIDE_OPENING}](?P<inside>[^\n{re.escape(BRACKETS)}]{{1,60}})"
    rf"(?:[)\]](?P<frame>\s+)|[{WIDE_CLOSING}](?P<gap>\s*))(?=\S)"
)
GLUED_ADDRESS = rf"(?<=[^\W_])[{re.escape(PAUSES + DASHES)}|→](?=(?:https?|ftp)://|www\.)"
CODE_BEFORE_SENTENCE = r"\[[A-Z]{2,}\]\s+(?=[A-ZÀ-Þ][a-zß-ÿ])"  # [WIP] It rains
LONG_DASH = rf"(?:-{{2,3}}|[{LONG_DASHES}])"
CLAUSE_DASH = (
    rf"(?<!\w)(?P<before>[^\W\d_]+)[^\w\s-]{{0,2}}(?P<dash>\s{LONG_DASH}\s+|{LONG_DASH}(?![\s-]))"
    r"(?=\W?(?P<after>[^\W\d_]++)(?!_))"
)
DASH_OF_DIALOGUE = rf"(?<=[{DOUBLE_QUOTES}])\s(?:[{DASHES}]|--?)\s(?=[{DOUBLE_QUOTES}])"
LABEL_WORD = rf"[-#@/.]{{0,2}}[^\W_](?:[\w.'’&/-]{{0,{LABEL_LETTERS}}}[\w.])?"
LABEL_AND_COLON = (
    rf"(?P<label>[{COVERS}]*{LABEL_WORD}(?:[ \u00a0]{LABEL_WORD}){{0,{LABEL_WORDS}}}|[{COVERS}]+)"
    rf"(?P<frame>[{COVERS}]*[ \u00a0]?"
    rf"(?:[{COLON_MARKS}]{{1,2}}[{COVERS}{UNPRINTED}]*(?:\s+|$)|[{SOLID_COLONS}]|=(?=[^\W\d_a-z][^\W\d_]*\s)))"
)


@dataclass(frozen=True)
class DividedLine:
    """A line to divide, with its spans."""

    text: str
    spans: Sequence[Span]
    languages: tuple[str, str]  # of the line and of its translation
    quotes: tuple[str, str] | None = None  # of the target; None where a network reads speech as it is
    is_word: WordTest | None = None

    @property
    def language(self) -> str:
        return self.languages[0]

    @cached_property
    def insets(self) -> list[Inset]:
        """The marks around speech, and around sentences in brackets."""
        speech = find_speech(self.covered, self.languages, self.quotes) if self.quotes else ()
        return sorted([*speech, *find_bracketed(self.covered, self.languages)])

    @cached_property
    def covered(self) -> str:
        return cover_spans(self.text, self.spans)

    @cached_property
    def sentence_starts(self) -> list[int]:
        return find_sentence_starts(self.text, self.spans, self.language)

    @property
    def starts(self) -> Iterator[int]:
        """The positions of the first words of its sentences."""

        position = 0
        for start in self.sentence_starts:
            if start >= position:  # else what precedes the words consists of several sentences: . . . Yes.
                position = skip_before(self.text, self.spans, start, len(self.text), self.language)
                yield position

    def is_cut_by(self, frame: Frame) -> bool:
        """Whether a frame would cut a span, or lies inside one."""
        touched = list_overlapping(self.spans, frame.start, frame.end)
        return any(not (frame.start <= span.start and span.end <= frame.end) for span in touched)


class Frame(NamedTuple):
    """Kept characters [start, end) of a line; the text between this frame and the one before may be a label."""

    start: int
    end: int
    ends_label: bool = False
    goes_on: bool = False  # whether the text behind it begins no sentence
    reports: bool = False  # whether that says who speaks


class Divider(NamedTuple):
    """A kind of frame between texts."""

    name: str
    guard: str  # matches in every line that has such a frame
    find: Callable[[DividedLine], Iterable[Frame]]


def find_all(pattern: str, doc: str) -> Callable[[DividedLine], Iterator[Frame]]:
    """Returns a function that finds all matches of a pattern as frames; `doc` describes them in the reference."""

    def find(line: DividedLine) -> Iterator[Frame]:
        return (Frame(*match.span()) for match in re.finditer(pattern, line.text))

    find.__doc__ = doc
    return find


def find_blocks(line: DividedLine) -> Iterator[Frame]:
    r"""Tags that separate sentences: `<br>`, `</p><p>`; not notes in a sentence: `The dog\footnote{here} sleeps`."""
    pairs = {span.pair for span in line.spans if span.pair is not None}
    blocks = (span for span in line.spans if is_block_tag(span, pairs))
    for span in blocks:
        yield Frame(span.start, span.end, goes_on=line.text[span.end :].lstrip()[:1].islower())


def find_written_breaks(line: DividedLine) -> Iterator[Frame]:
    r"""Line ends and tabs in the notation of programs: `\n`."""
    for match in re.finditer(WRITTEN_BREAK, line.text):
        before = line.text[max(0, match.start() - TOKEN) : match.start()]
        after = line.text[match.end() : match.end() + 1]
        token = before.rpartition(" ")[2]
        is_path = re.match(r"[A-Za-z]:|\.{0,2}\\", token) is not None or before.endswith("\\")
        follows_mark = not before or before[-1].isspace() or before[-1] in END_MARKS + PAUSES + ANY_CLOSING
        if not is_path and (follows_mark or not after.islower()):
            yield Frame(*match.span())


def find_bars(line: DividedLine) -> Iterator[Frame]:
    """Bars between alternatives: `|`, `||||`, `|[2,*]`."""
    bars = [match for match in find_free_bars(line.text) if is_divider(match, line.text)]
    if bars and any(find_week(line.text, line.language)):  # whose days show each other to be days
        bars = []
    for start in [0, *(match.end() for match in bars)] if bars else []:
        if number := re.compile(ALTERNATIVE_RANGE).match(line.text, start):
            yield Frame(*number.span())
    yield from (Frame(*match.span()) for match in bars)


def find_free_bars(text: str) -> Iterator[re.Match[str]]:
    """Yields the bars outside brackets."""
    position, depths = 0, {("(", ")"): 0, ("{", "}"): 0}
    for match in re.finditer(BAR, text):
        before, position = text[position : match.start()], match.start()
        for opening, closing in depths:
            depths[opening, closing] += before.count(opening) - before.count(closing)
        if max(depths.values()) <= 0:
            yield match


def is_divider(bar: re.Match[str], text: str) -> bool:
    """Whether a bar stands between texts, not in a token such as `--color=red|green`."""
    if bar[0] != bar[0].strip():
        return True
    before, after = text[max(0, bar.start() - 40) : bar.start()], text[bar.end() : bar.end() + 40]
    token = before.rpartition(" ")[2] + after.partition(" ")[0]
    return re.search(r"[=/\\$@#]|(?<!\w)-|-(?!\w)", token) is None


def find_arrows(line: DividedLine) -> Iterator[Frame]:
    """Angle quotes that enclose no quotation: `« Back`, `Home › Books`."""
    arrows = list(re.finditer(ARROW, line.text))
    if len({arrow[0] for arrow in arrows}) == 1 and len(re.findall(ARROW_HEAD, line.text)) == len(arrows):
        yield from (Frame(*arrow.span()) for arrow in arrows)


def find_columns(line: DividedLine) -> Iterator[Frame]:
    """Spaces that form columns: three or more, two after an option, or at least two in all gaps of a line.

    A line with a single gap has two columns if both words are capitalised: `Size  Price`.
    """
    runs = list(re.finditer(r"(?<=\S) {2,}(?=\S)", line.text))
    is_table = len(runs) == len(re.findall(r"(?<=\S)\s+(?=\S)", line.text))
    is_table = is_table and (len(runs) > 1 or all(word[0].isupper() for word in line.text.split()))
    for before, run in zip([None, *runs], runs, strict=False):
        if is_table or len(run[0]) > 2 or line.text.lstrip().startswith("-"):
            cell = line.text[before.end() if before else 0 : run.start()]
            yield Frame(*run.span(), ends_label=len(cell.split()) == 1)


def find_items(line: DividedLine) -> Iterator[Frame]:
    """Item marks: `1. .. 2. ..`, `a) ..`."""
    chain: list[re.Match[str]] = []
    for match in re.finditer(ITEM_MARK, line.text):
        if chain and is_next_item(chain[-1], match):
            chain.append(match)
        elif is_first_item(match, line.text):
            yield from make_items(chain, line.text)
            chain = [match]
    yield from make_items(chain, line.text)


def is_first_item(mark: re.Match[str], text: str) -> bool:
    end = skip_blanks_back(text, mark.start())
    is_mark = mark["closing"] == ")" or (mark["name"].isdigit() and not mark["opening"])
    return is_mark and (not end or (mark["name"] in "1a" and text[end - 1] in END_MARKS + COLONS))


def is_next_item(mark: re.Match[str], following: re.Match[str]) -> bool:
    """Whether a mark continues the numbering of another one of the same form."""
    if (mark["opening"], mark["closing"]) != (following["opening"], following["closing"]):
        return False
    names = mark["name"], following["name"]
    if all(map(str.isdigit, names)):
        return int(names[1]) == int(names[0]) + 1
    return not any(map(str.isdigit, names)) and ord(names[1]) == ord(names[0]) + 1


def make_items(chain: Sequence[re.Match[str]], text: str) -> Iterator[Frame]:
    """Yields the marks of three or more items; of two if punctuation ends them, or if they are phrases after `1)`."""
    ends = [skip_blanks_back(text, mark.start()) for mark in chain[1:]]
    are_marked = all(text[end - 1 : end] in END_MARKS + PAUSES for end in ends)
    are_phrases = all(" " in text[mark.end() : end] for mark, end in zip(chain, ends, strict=False))
    if len(chain) >= UNMARKED_ITEMS or (ends and (are_marked or (are_phrases and chain[0]["closing"] == ")"))):
        yield from (Frame(*mark.span()) for mark in chain)


def find_asides(line: DividedLine) -> Iterator[Frame]:
    """The end of brackets before a sentence: `(SIGHS) I am here.`, `【New】It rains.`; and names: `[YouTube]`."""
    for start in line.starts:
        match = re.compile(ASIDE).match(line.covered, start)
        if code := re.compile(CODE_BEFORE_SENTENCE).match(line.text, start):
            yield Frame(*code.span())
        if match is None or not line.text[match.end()].isupper():
            continue
        is_square, inside = match[0][0] == "[", match["inside"]
        is_name = not inside[0].islower() and not inside.isupper()
        if match["gap"] is not None:
            yield Frame(*match.span("gap"), ends_label=True)
        elif is_square and " " not in inside and (is_name or match[0].count("[") > 1):
            yield Frame(*match.span())
        elif is_square or is_aside(inside):
            yield Frame(*match.span("frame"), ends_label=match[0].count(" ") < LABEL_WORDS)


def is_aside(text: str) -> bool:
    """Whether words in brackets are not part of the sentence after them: a sound, or a sentence of their own."""
    return text[:1].islower() or text.isupper() or (text[:1].isalpha() and text[-1] in END_MARKS)


def find_dashes(line: DividedLine) -> Iterator[Frame]:
    """Dashes between quotations, and between clauses: `It is late--very late.`"""
    yield from (Frame(*match.span()) for match in re.finditer(DASH_OF_DIALOGUE, line.text))
    for match in re.finditer(CLAUSE_DASH, line.covered):
        is_word = line.is_word if match["dash"].startswith("-") else None
        if is_word is None or all(map(is_word, match.group("before", "after"))):
            yield Frame(*match.span("dash"), goes_on=True)


def find_insets(line: DividedLine) -> Iterator[Frame]:
    """Quotes around direct speech, and brackets around sentences: `“No,” he said.`"""
    yield from (Frame(inset.start, inset.end, False, inset.goes_on, inset.reports) for inset in line.insets)


def find_hours(line: DividedLine) -> Iterator[Frame]:
    """Punctuation between opening hours: `Mon-Fri 9-18, Sun closed`."""
    days = [match for _, match in find_short_days(line.covered, line.language)]
    marks = [
        Frame(first.end() + mark.start(), second.start())
        for first, second in pairwise(days)
        if (mark := re.search(r"(?<=\w)\s*[,;]\s+$", line.text[first.end() : second.start()]))
    ]
    yield from marks
    if marks and line.text.endswith("."):
        yield Frame(len(line.text) - 1, len(line.text))


def find_labels(line: DividedLine) -> Iterator[Frame]:
    """The colon after a label: `Note:`, `Mr Smith:`; not `He said:`. And a colon before a value: `Cannot save: %s`."""
    covered = line.covered
    for start in line.starts:
        match = re.compile(LABEL_AND_COLON).match(covered, start)
        if match is None or not names_what_follows(match["label"].strip(COVERS)):
            continue
        if 0 < (before := skip_blanks_back(line.text, start)) < start:
            yield Frame(before, start)
        yield Frame(*match.span("frame"), ends_label=True)
    if (reason := re.search(rf"[{COLON_MARKS}]\s+(?:[{COVERS}]+|\$\d)\W*$", covered)) and has_word(
        covered[: reason.start()]
    ):
        yield Frame(*reason.span())


def names_what_follows(text: str) -> bool:
    """Whether the words before a colon are a label: one word, or a few that all have capitals or numbers."""
    words = text.split()
    is_short = len(text) <= LABEL_LETTERS and len(words) <= LABEL_WORDS
    return is_short and (len(words) < 2 or all(not word[0].islower() for word in words))


DIVIDERS = (
    Divider("breaks", r"[\t\r\n]", find_all(r"[\t\r\n]+", "Line ends and tabs.")),
    Divider("blocks", r"[<\\]", find_blocks),
    Divider("written breaks", r"\\[nrt]", find_written_breaks),
    Divider("references", r"\[\d", find_all(SENTENCE_NOTE, "Note numbers after a sentence: `It rains.[1] It snows.`")),
    Divider("bars", r"\|", find_bars),
    Divider(
        "form fields",
        rf"___|\.{{5}}|[{ELLIPSES}]{{2}}|[☐☑☒□■▢]|\[[ xX]?\]|\( \)",
        find_all(FORM_FIELD, "Lines to fill in, and checkboxes: `____`, `☐`, `[x]`."),
    ),
    Divider("arrows", ARROW_HEAD, find_arrows),
    Divider("columns", "  ", find_columns),
    Divider("comments", r"//|/\*|\*/", find_all(COMMENT_MARK, "Comment marks: `//`, `/* .. */`.")),
    Divider("items", r"\w[.)]\s", find_items),
    Divider("asides", rf"[)\]]\s|[{WIDE_CLOSING}]", find_asides),
    Divider("insets", rf"[{QUOTES}]|\w\s+\(", find_insets),
    Divider("hours", r"[,;]\s+[^\W\d_]{2,5}\.?\s", find_hours),
    Divider("dashes", rf"--|[{LONG_DASHES}]|{DASH_OF_DIALOGUE}", find_dashes),
    Divider(
        "glued addresses",
        r"://|www\.",
        find_all(
            GLUED_ADDRESS, "Punctuation without a space between a word and an address: `Look here:https://example.com`."
        ),
    ),
    Divider("labels", rf"[{COLON_MARKS}=]", find_labels),
)
ANY_GUARD = "|".join(f"(?:{divider.guard})" for divider in DIVIDERS)  # matches in every line that can be divided


def find_frames(line: DividedLine) -> list[Frame]:
    """Returns the frames between the texts of a line, in order, each with the spaces around it.

    Frames without a letter or digit between them are merged into one.
    """
    unordered = [frame for divider in DIVIDERS if re.search(divider.guard, line.text) for frame in divider.find(line)]
    frames: list[Frame] = []
    for frame in sorted(frame for frame in unordered if not line.is_cut_by(frame)):
        before = frames[-1].end if frames else 0
        start, end = skip_blanks_back(line.text, frame.start, before), skip_blanks(line.text, max(before, frame.end))
        if has_word(line.text[before:start]):
            frames.append(frame._replace(start=start, end=end))
        elif frames:
            frames[-1] = frames[-1]._replace(end=end, goes_on=frame.goes_on, reports=frame.reports)
        else:
            frames.append(frame._replace(start=0, end=end, ends_label=False))
    return frames


def divide(line: DividedLine) -> list[Segment]:
    """Returns the texts of a line and the frames between them, in order; empty for a line that is one text."""
    frames = find_frames(line)
    if not frames:
        return []
    marks = (Span(mark.start, mark.end, mark.written, SpanKind.QUOTE, is_extracted=True) for mark in line.insets)
    whole, parts = Segment(line.text, tuple(sorted([*line.spans, *marks])), False, False), []

    for before, frame in pairwise([Frame(0, 0), *frames, Frame(len(line.text), len(line.text))]):
        if frame.start > before.end:
            text = cut_segment(whole, before.end, frame.start)
            parts.append(
                text._replace(
                    is_glued=before.end > 0, is_label=frame.ends_label, goes_on=before.goes_on, is_report=before.reports
                )
            )
        if frame.end > frame.start:
            parts.append(cut_segment(whole, frame.start, frame.end)._replace(is_frame=True, is_glued=frame.start > 0))
    return parts
