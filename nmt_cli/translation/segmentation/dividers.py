r"""Divides a line at what frames the words on both sides: breaks, bars, boxes of forms, marks of items, labels.

`DIVIDERS` is the table. Each row finds frames, which are kept byte for byte; every text between two frames is read as
if it were a line of its own. Knows text and spans, but no networks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from nmt_cli.carrying.spans import COVERS, Span, cover_spans, list_overlapping
from nmt_cli.carrying.tags import is_block_tag
from nmt_cli.carrying.tokens import is_value
from nmt_cli.text.characters import (
    ANY_CLOSING,
    COLONS,
    DASHES,
    DOUBLE_QUOTES,
    ELLIPSES,
    END_MARKS,
    FINAL_MARKS,
    PAUSES,
    SOLID_PAUSES,
)
from nmt_cli.text.words import has_word, skip_blanks, skip_blanks_back
from nmt_cli.translation.segmentation.segments import Segment, find_sentence_starts

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
COMMENT_MARK = r"(?<!\S)(?:/\*{1,2}|\*{1,2}/|/{2,3}!?)(?!\S)"
ITEM_MARK = r"(?<!\S)(?P<opening>\(?)(?P<name>\d{1,2}|[a-z])(?P<closing>[.)])\s+(?=\S)"
ASIDE = r"[(\[](?P<inside>[^()\[\]\n]{1,60})[)\]](?P<frame>\s+)(?=\S)"
DASH_OF_DIALOGUE = rf"(?<=[{DOUBLE_QUOTES}])\s(?:[{DASHES}]|--?)\s(?=[{DOUBLE_QUOTES}])"
LABEL_WORD = rf"[-#@/.]{{0,2}}[^\W_](?:[\w.'’&/-]{{0,{LABEL_LETTERS}}}[\w.])?"
LABEL_AND_COLON = (
    rf"(?P<label>[{COVERS}]*{LABEL_WORD}(?:[ \u00a0]{LABEL_WORD}){{0,{LABEL_WORDS}}}|[{COVERS}]+)"
    rf"(?P<frame>[{COVERS}]*[ \u00a0]?"
    rf"(?:[{COLON_MARKS}]{{1,2}}[{COVERS}]*(?:\s+|$)|[{SOLID_COLONS}]|=(?=[^\W\d_a-z][^\W\d_]*\s)))"
)


@dataclass(frozen=True)
class Line:
    """A line with its spans; words need none to be divided."""

    text: str
    spans: Sequence[Span]
    language: str

    @cached_property
    def covered(self) -> str:
        return cover_spans(self.text, self.spans)

    @cached_property
    def sentence_starts(self) -> list[int]:
        return find_sentence_starts(self.text, self.spans, self.language)

    @property
    def starts(self) -> Iterator[int]:
        """The positions of the first words of its sentences."""
        from nmt_cli.translation.segmentation.frames import skip_before  # which few lines need

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
    """The characters from `start` to `end` of a line, kept; what is between it and the frame before may be a label."""

    start: int
    end: int
    ends_label: bool = False


class Divider(NamedTuple):
    """A kind of frame between texts."""

    name: str
    guard: str  # matches in every line that has such a frame
    find: Callable[[Line], Iterable[Frame]]


def find_breaks(line: Line) -> Iterator[Frame]:
    """Line ends and tabs."""
    yield from (Frame(*match.span()) for match in re.finditer(r"[\t\r\n]+", line.text))


def find_blocks(line: Line) -> Iterator[Frame]:
    """Tags that part sentences: `<br>`, `</p><p>`."""
    pairs = {span.pair for span in line.spans if span.pair is not None}
    blocks = (span for span in line.spans if is_block_tag(span, pairs) and not is_value(span, line.text))
    yield from (Frame(span.start, span.end) for span in blocks)


def find_written_breaks(line: Line) -> Iterator[Frame]:
    r"""Line ends and tabs as programs write them: `\n`."""
    for match in re.finditer(WRITTEN_BREAK, line.text):
        before = line.text[max(0, match.start() - TOKEN) : match.start()]
        after = line.text[match.end() : match.end() + 1]
        token = before.rpartition(" ")[2]
        is_path = re.match(r"[A-Za-z]:|\.{0,2}\\", token) is not None or before.endswith("\\")
        follows_mark = not before or before[-1].isspace() or before[-1] in END_MARKS + PAUSES + ANY_CLOSING
        if not is_path and (follows_mark or not after.islower()):
            yield Frame(*match.span())


def find_references(line: Line) -> Iterator[Frame]:
    """Numbers of notes behind a sentence: `It rains.[1] It snows.`"""
    yield from (Frame(*match.span()) for match in re.finditer(SENTENCE_NOTE, line.text))


def find_bars(line: Line) -> Iterator[Frame]:
    """Bars between alternatives: `|`, `||||`, `|[2,*]`."""
    bars = [match for match in find_free_bars(line.text) if is_divider(match, line.text)]
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


def find_form_fields(line: Line) -> Iterator[Frame]:
    """Lines to fill in, and boxes: `____`, `☐`, `[x]`."""
    yield from (Frame(*match.span()) for match in re.finditer(FORM_FIELD, line.text))


def find_comments(line: Line) -> Iterator[Frame]:
    """Marks of comments: `//`, `/* .. */`."""
    yield from (Frame(*match.span()) for match in re.finditer(COMMENT_MARK, line.text))


def find_items(line: Line) -> Iterator[Frame]:
    """Marks of items: `1. .. 2. ..`, `a) ..`."""
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
    """Whether a mark counts on from another of the same form."""
    if (mark["opening"], mark["closing"]) != (following["opening"], following["closing"]):
        return False
    names = mark["name"], following["name"]
    if all(map(str.isdigit, names)):
        return int(names[1]) == int(names[0]) + 1
    return not any(map(str.isdigit, names)) and ord(names[1]) == ord(names[0]) + 1


def make_items(chain: Sequence[re.Match[str]], text: str) -> Iterator[Frame]:
    """Yields the marks of a chain: of two items if marks end them, or if brackets part phrases, else of three."""
    ends = [skip_blanks_back(text, mark.start()) for mark in chain[1:]]
    are_marked = all(text[end - 1 : end] in END_MARKS + PAUSES for end in ends)
    are_phrases = all(" " in text[mark.end() : end] for mark, end in zip(chain, ends, strict=False))
    if len(chain) >= UNMARKED_ITEMS or (ends and (are_marked or (are_phrases and chain[0]["closing"] == ")"))):
        yield from (Frame(*mark.span()) for mark in chain)


def find_asides(line: Line) -> Iterator[Frame]:
    """The blank behind brackets before a sentence: `(SIGHS) I am here.`"""
    for start in line.sentence_starts:
        match = re.compile(ASIDE).match(line.covered, skip_blanks(line.text, start))
        if match and is_aside(match["inside"]) and line.text[match.end()].isupper():
            yield Frame(*match.span("frame"), ends_label=match[0].count(" ") < LABEL_WORDS)


def is_aside(text: str) -> bool:
    """Whether the words in brackets are no part of the sentence behind them: a sound, or a sentence of their own."""
    return text[:1].islower() or text.isupper() or (text[:1].isalpha() and text[-1] in END_MARKS)


def find_dashes(line: Line) -> Iterator[Frame]:
    """Dashes between quotations."""
    yield from (Frame(*match.span()) for match in re.finditer(DASH_OF_DIALOGUE, line.text))


def find_labels(line: Line) -> Iterator[Frame]:
    """Labels before a colon: `Note:`, `Mr Smith:`; but not `He said:`."""
    covered = line.covered
    for start in line.starts:
        match = re.compile(LABEL_AND_COLON).match(covered, start)
        if match is None or not names_what_follows(match["label"].strip(COVERS)):
            continue
        if 0 < (before := skip_blanks_back(line.text, start)) < start:
            yield Frame(before, start)
        yield Frame(*match.span("frame"), ends_label=True)


def names_what_follows(text: str) -> bool:
    """Whether the words before a colon are a label: one word, or a few that all have capitals or numbers."""
    words = text.split()
    is_short = len(text) <= LABEL_LETTERS and len(words) <= LABEL_WORDS
    return is_short and (len(words) < 2 or all(not word[0].islower() for word in words))


DIVIDERS = (
    Divider("breaks", r"[\t\r\n]", find_breaks),
    Divider("blocks", "<", find_blocks),
    Divider("written breaks", r"\\[nrt]", find_written_breaks),
    Divider("references", r"\[\d", find_references),
    Divider("bars", r"\|", find_bars),
    Divider("form fields", rf"___|\.{{5}}|[{ELLIPSES}]{{2}}|[☐☑☒□■▢]|\[[ xX]?\]|\( \)", find_form_fields),
    Divider("comments", r"//|/\*|\*/", find_comments),
    Divider("items", r"\w[.)]\s", find_items),
    Divider("asides", r"[)\]]\s", find_asides),
    Divider("dashes", DASH_OF_DIALOGUE, find_dashes),
    Divider("labels", rf"[{COLON_MARKS}=]", find_labels),
)
ANY_GUARD = "|".join(f"(?:{divider.guard})" for divider in DIVIDERS)  # matches in every line that can be divided


def find_frames(line: Line) -> list[Frame]:
    """Returns the frames between the texts of a line, in order, each with the blanks around it.

    Frames without a letter or digit between them are one.
    """
    unordered = [frame for divider in DIVIDERS if re.search(divider.guard, line.text) for frame in divider.find(line)]
    frames: list[Frame] = []
    for frame in sorted(frame for frame in unordered if not line.is_cut_by(frame)):
        before = frames[-1].end if frames else 0
        start, end = skip_blanks_back(line.text, frame.start, before), skip_blanks(line.text, max(before, frame.end))
        if has_word(line.text[before:start]):
            frames.append(Frame(start, end, frame.ends_label))
        elif frames:
            frames[-1] = frames[-1]._replace(end=end)
        else:
            frames.append(Frame(0, end))
    return frames


def divide(line: Line) -> list[Segment]:
    """Returns the texts of a line and the frames between them, in order; empty for a line that is one text."""
    frames = find_frames(line)
    if not frames:
        return []
    whole, parts = Segment(line.text, tuple(line.spans), False, False), []
    from nmt_cli.translation.segmentation.frames import cut_segment  # which few lines need

    for before, frame in pairwise([Frame(0, 0), *frames, Frame(len(line.text), len(line.text))]):
        if frame.start > before.end:
            text = cut_segment(whole, before.end, frame.start)
            parts.append(text._replace(is_glued=before.end > 0, is_label=frame.ends_label))
        if frame.end > frame.start:
            parts.append(cut_segment(whole, frame.start, frame.end)._replace(is_frame=True, is_glued=frame.start > 0))
    return parts
