"""Subtitles and lyrics: the text of each cue is translated, and the rest is kept byte for byte.

    7                                       7
    00:00:01,000 --> 00:00:02,000           00:00:01,000 --> 00:00:02,000
    - Where is                              - WHERE IS
    she?                                    SHE?
    - Here.                                 - HERE.

The texts are "Where is she?" and "Here.": a dash begins a turn, but a line break does not.
A sentence that spans two cues is translated as a whole; alignment shows where to divide its translation.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, zip_longest
from typing import ClassVar

from nmt_cli.documents.document import Document, TranslationUnit, make_verbatim_unit, weave
from nmt_cli.documents.marks import InlineItem, TextSyntax, read_spelled_text
from nmt_cli.documents.paragraph import Paragraph
from nmt_cli.documents.xml import MARKUP_SYNTAX
from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.characters import DASHES, END_MARKS, HYPHENS, PAUSES, ROUND_BRACKETS, SQUARE_BRACKETS
from nmt_cli.text.words import has_letters
from nmt_cli.translation.placement.traced_text import TextRange
from nmt_cli.translation.segmentation.segments import ends_with_mark

# Breaks the translation of a turn into as many lines as its source has.


CUE_TAG = re.compile(
    r"</?(?!br\b)[A-Za-z][^<>\n]*>|<[\d:.]+>|\{(?=\\|[A-Za-z]:|[^{}\s]*\s)[^{}\n]*\}"
)  # a break parts sentences
CUE_LINE_END = re.compile(r"\r?\n")
SENTENCE_GAP = re.compile(rf"(?<=[{re.escape(END_MARKS)}]) ")
SENTENCE_AT_END = re.compile(rf"[{re.escape(END_MARKS)}]\s*$")
LINE_WIDTH = 42  # characters of a line, which is what most guidelines for subtitles allow
SLACK = 4  # characters by which a line may be longer than any of the source


def fit_lines(raw: str, written: str, line_end: re.Pattern[str]) -> str:
    """Fits a translation to the lines of its source `raw`, rewrapping it if its lines are more, fewer or longer.

    If each source line is a sentence, each line of the translation is one too, where possible. In `written`, lines
    already end where the words on both sides of the break match those of the source.
    """
    old, new = line_end.split(raw), line_end.split(written)
    widest = max(LINE_WIDTH, *(measure_line(line) + SLACK for line in old))
    if len(old) == len(new) and (len(old) == 1 or max(map(measure_line, new)) <= widest):
        return written
    first_end, text = line_end.search(raw), " ".join(line.strip() for line in new)
    sentences = SENTENCE_GAP.split(text) if all(map(SENTENCE_AT_END.search, old[:-1])) else []
    lines = sentences if len(sentences) == len(old) else balance_lines(text, len(old))
    return (first_end[0] if first_end else " ").join(lines)


def measure_line(line: str) -> int:
    return len(CUE_TAG.sub("", line))


def balance_lines(text: str, count: int) -> list[str]:
    """Wraps `text` at spaces into at most `count` lines, keeping the longest as short as possible.

    Never breaks inside a tag; tags have no width.
    """
    closed = CUE_TAG.sub(lambda tag: tag[0].replace(" ", "\0"), text)
    words = [(word.replace("\0", " "), measure_line(word.replace("\0", " "))) for word in closed.split(" ")]
    lengths = [length for _, length in words]
    widths = range(max(lengths), sum(lengths) + len(words))
    narrowest = bisect_left(widths, True, key=lambda width: len(fill_lines(words, width)) <= count)
    return fill_lines(words, widths[narrowest])


def fill_lines(words: Sequence[tuple[str, int]], width: int) -> list[str]:
    """Fills lines of at most `width` characters greedily; each word comes with its length."""
    lines, used = [""], 0
    for word, length in words:
        if lines[-1] and used + 1 + length > width:
            lines.append(word)
            used = length
        else:
            used += length + bool(lines[-1])
            lines[-1] = f"{lines[-1]} {word}".lstrip(" ")
    return lines


# Reads the turns of subtitle cues: what each speaker says, and which sentences continue in the next cue.
#
# A turn is one text, however many lines it has. A line that begins with a speaker's dash or name, or describes a sound,
# begins another. Tags such as `<i>`, `<v Mary>` and `{\an8}` stay with their words; dashes and names are kept.


CUE_LINE = re.compile(r"[^\n]*\n|[^\n]+")
TAG_NAME = re.compile(r"</?([A-Za-z][\w-]*)")
# The tags around all of a turn, and its text without any tag.
OUTER_TAGS = re.compile(rf"(?P<before>(?:{CUE_TAG.pattern})*)(?P<text>.*?)(?P<after>(?:{CUE_TAG.pattern})*)", re.DOTALL)
DASH = re.compile(rf"\s*[{re.escape(HYPHENS + DASHES)}]\s*(?=[^\s\d-])|\s*(?:>|&gt;){{2,}}\s*")
LABEL = re.compile(r"[^\n:]{1,40}:(?:\s+(?=\S)|$)")  # in capitals, or a name of several words
SPEAKER = re.compile(r"(?:[^\W\d_a-z]\w*\.? ){1,3}[^\W\d_a-z]\w*\.?:\s*")
SOUND_BRACKETS = ROUND_BRACKETS + SQUARE_BRACKETS
SOUND = re.compile(rf"\s*(?:[{re.escape(SOUND_BRACKETS[::2])}].*[{re.escape(SOUND_BRACKETS[1::2])}]|♪.*♪?)\s*")
LONGEST_SENTENCE = 4  # cues


@dataclass(frozen=True)
class Turn:
    """What one speaker says in a cue: the characters [start, end), without tags that enclose all of them."""

    start: int
    end: int
    cue: int  # the number of the cue
    raw: str
    tags: tuple[str, str]  # around it
    items: tuple[InlineItem, ...]

    @cached_property
    def text(self) -> str:
        return "".join(item.text for item in self.items)

    @property
    def is_plain(self) -> bool:
        """Whether the sentence may continue in another cue; inner tags and sounds cannot be divided."""
        has_tags = any(item.name or item.keeps_order for item in self.items)
        return not has_tags and SOUND.fullmatch(self.text) is None

    def goes_on(self, following: Turn, *, is_cased: bool) -> bool:
        """Whether the sentence continues in the next turn. In a file without capitals, only a comma shows that."""
        text, next_text = self.text.rstrip(), following.text.lstrip()
        names_speaker = bool(following.items) and following.items[0].kind == "point"
        can_join = self.is_plain and following.is_plain and not names_speaker
        is_next = self.tags == following.tags and following.cue == self.cue + 1
        if not (can_join and is_next and has_letters(text) and has_letters(next_text)) or ends_with_mark(text):
            return False
        return next_text[:1].islower() if is_cased else text[-1:] in PAUSES


def find_turns(text: str, cues: Sequence[TextRange], syntax: TextSyntax, line_end: re.Pattern[str]) -> Iterator[Turn]:
    """Yields the turns of the cues of a file."""
    for number, cue in enumerate(cues):
        raw = text[slice(*cue)]
        line_ends = [*(match.span() for match in line_end.finditer(raw)), (len(raw), len(raw))]
        lines = list(map(TextRange, (0, *(end for _, end in line_ends)), (start for start, _ in line_ends)))
        starts = [*find_speaker_changes([raw[slice(*line)] for line in lines]), len(lines)]
        for first, last in pairwise(starts):
            start = lines[first].start
            yield make_turn(raw[start : lines[last - 1].end].rstrip("\r\n"), cue.start + start, number, syntax)


def find_speaker_changes(lines: Sequence[str]) -> Iterator[int]:
    """Yields the numbers of the lines that begin a turn: a new speaker, a sound, or the line after a sound."""
    was_sound = True
    for number, line in enumerate(lines):
        bare = CUE_TAG.sub("", line)
        is_sound = SOUND.fullmatch(bare) is not None
        if is_sound or was_sound or measure_speaker(bare):
            yield number
        was_sound = is_sound


def make_turn(raw: str, start: int, cue: int, syntax: TextSyntax) -> Turn:
    match = OUTER_TAGS.fullmatch(raw)
    if match is None or CUE_TAG.search(match["text"]):
        return Turn(start, start + len(raw), cue, raw, ("", ""), tuple(read_items(raw, syntax)))
    first, last = start + match.start("text"), start + match.end("text")
    tags, items = (match["before"], match["after"]), tuple(read_items(match["text"], syntax))
    return Turn(first, last, cue, match["text"], tags, items)


def measure_speaker(text: str) -> int:
    """Returns the length of a speaker's dash or name, including the spaces after it; 0 if there is none."""
    dash = DASH.match(text)
    start = dash.end() if dash else 0
    label = LABEL.match(text, start)
    return label.end() if label and (label[0].isupper() or SPEAKER.fullmatch(label[0])) else start


def read_items(raw: str, syntax: TextSyntax) -> Iterator[InlineItem]:
    """Yields tags and text; the speaker's dash or name becomes a point."""
    is_first = True
    for part in re.split(f"({CUE_TAG.pattern})", raw):
        name = TAG_NAME.match(part)
        if CUE_TAG.fullmatch(part) and name:
            yield InlineItem("close" if part.startswith("</") else "open", (part,), name=name[1])
        elif CUE_TAG.fullmatch(part):
            yield InlineItem("point", (part,), keeps_order=True)
        elif part:
            length = measure_speaker(part) if is_first else 0
            if length:
                yield InlineItem("point", (part[:length],))
            yield read_spelled_text(part[length:], syntax)
            is_first = False


# Shared by all subtitle formats: the text of each cue is translated, the rest is kept byte for byte.
#
# A sentence that continues in the next cue is translated as a whole and divided again where the next cue begins. Must
# not know any format.


CUE_MEBIBYTES = 48
CUT = "\ufdd1"  # stands where a cue ends and the next begins: no character, and in no file


class CueDocument(Document):
    cue: ClassVar[re.Pattern[str]]
    syntax: TextSyntax
    line_end = CUE_LINE_END  # within the text of a cue

    def read_units(self) -> Iterator[TranslationUnit]:
        text = self.source.read_text(CUE_MEBIBYTES)
        turns = list(find_turns(text, list(self.find_cues(text)), self.syntax, self.line_end))
        chains = self.chain_turns(turns, is_cased=any(map(str.isupper, "".join(turn.text for turn in turns))))
        yield from weave(text, ((chain[0].start, chain[-1].end, self.make_unit(chain, text)) for chain in chains))

    def find_cues(self, text: str) -> Iterator[TextRange]:
        """Yields the range of each cue's text, in order. Raises DataError for a file without cues."""
        yield from (TextRange(*match.span("text")) for match in self.cue.finditer(text) if match["text"] is not None)

    def chain_turns(self, turns: Iterable[Turn], *, is_cased: bool) -> Iterator[list[Turn]]:
        """Yields the turns in order, grouped where a sentence continues from one to the next."""
        chain: list[Turn] = []
        for turn in turns:
            joins = self.source.split_sentences and not self.source.reads_back and 0 < len(chain) < LONGEST_SENTENCE
            if chain and not (joins and chain[-1].goes_on(turn, is_cased=is_cased)):
                yield chain
                chain = []
            chain.append(turn)
        if chain:
            yield chain

    def make_unit(self, turns: Sequence[Turn], text: str) -> TranslationUnit:
        """Returns the unit of one turn in the file's `text`, or of several turns that share a sentence."""
        first, *others = turns
        cut = InlineItem("cut", (CUT,), AlignedText(" ", (0,)))
        items = [*first.items, *(item for turn in others for item in (cut, *turn.items))]
        paragraph = Paragraph(items, self.syntax.escape)

        def divide(written: str) -> str:
            gaps = (text[turn.end : following.start] for turn, following in pairwise([*turns, turns[-1]]))
            rows = zip(turns, written.split(CUT, len(others)), gaps, strict=True)
            return "".join(fit_lines(turn.raw, part, self.line_end) + gap for turn, part, gap in rows)

        is_kept = not (paragraph.texts or self.source.reads_back)
        return make_verbatim_unit(first.raw) if is_kept else paragraph.make_unit(self.notes, divide)


# The formats of subtitles and lyrics, each with the pattern of its cues; times, styles and the rest are kept.


class AdvancedSubtitleDocument(CueDocument):
    """Advanced SubStation: the tenth field of a dialogue line, unless it is a drawing."""

    cue = re.compile(r"^Dialogue:(?:[^,\r\n]*,){9}(?![^\r\n]*\{[^{}\r\n]*\\p[1-9])(?P<text>[^\r\n]*)", re.MULTILINE)
    line_end = re.compile(r"\\[Nn]")
    syntax = TextSyntax(re.compile(r"\\[Nnh]|[ \t]+"), lambda _: " ", str)


class MicroDvdDocument(CueDocument):
    """MicroDVD: `{100}{150}A line|and another`."""

    cue = re.compile(r"^\ufeff?\{\d+\}\{\d*\}(?P<text>[^\r\n]*)", re.MULTILINE)
    line_end = re.compile(r"\|")
    syntax = TextSyntax(re.compile(r"\||[ \t]+"), lambda _: " ", lambda text: text.replace("|", "/"))


class SubViewerDocument(CueDocument):
    """SubViewer, and YouTube captions: the lines below `00:00:01.00,00:00:03.50`, up to an empty one."""

    cue = re.compile(
        r"^\ufeff?\d+:\d\d:\d\d[.:,]\d{1,3},\d+:\d\d:\d\d[.:,]\d{1,3}[ \t]*\r?\n(?P<text>[^\r\n]+(?:\r?\n[^\r\n]+)*)",
        re.MULTILINE,
    )
    line_end = re.compile(r"\[br\]|\r?\n")
    syntax = TextSyntax(re.compile(r"\[br\]|[ \t\r\n]+"), lambda _: " ", str)


class LyricsDocument(CueDocument):
    """Lyrics (LRC): `[00:12.00]A line`, also with word timestamps."""

    cue = re.compile(r"^\ufeff?(?:\[\d+:\d+(?:[.:]\d+)?\][ \t]*)+(?P<text>[^\r\n]*)", re.MULTILINE)
    syntax = TextSyntax(re.compile(r"[ \t]+"), lambda _: " ", str)


# Subtitles (SubRip): numbers and times are kept byte for byte.


STAMP = re.compile(r"\d{1,2}:\d{1,2}:\d{1,2}[.,]\d{1,3}")
NEXT_NUMBER, LAST_NUMBER = re.compile(r"\n\s*\d+\Z"), re.compile(r"\n\s*\n *\d+\Z")  # behind the text of a cue


class SubtitleDocument(CueDocument):
    line_end = re.compile(r"\\N|\r?\n")  # the first as in Advanced SubStation
    syntax = TextSyntax(re.compile(r"\\N|[ \t\r\n]+"), lambda _: " ", str)

    def find_cues(self, text: str) -> Iterator[TextRange]:
        times = [line for line in CUE_LINE.finditer(text) if len(STAMP.findall(line[0])) == 2]
        if text.strip() and not times:
            self.source.refuse(1, "there is no cue", "a cue has a line with two times: 00:00:01,000 --> 00:00:02,000")
        for line, following in zip_longest(times, times[1:]):
            raw = text[line.end() : following.start() if following else None].rstrip()
            content = (NEXT_NUMBER if following else LAST_NUMBER).sub("", raw).strip()
            if content:
                start = text.index(content, line.end())
                yield TextRange(start, start + len(content))


# Subtitles (WebVTT): the text of each cue is translated; times, settings, notes, styles and the header are kept.


VTT_TIME, VTT_LINE = r"(?:\d{2,}:)?\d\d:\d\d\.\d{3}", r"[ \t]*[^\s][^\r\n]*"


class WebVttDocument(CueDocument):
    cue = re.compile(
        rf"^(?<!\S\n)(?<!\S\r\n)\ufeff?(?:NOTE|STYLE|REGION|WEBVTT)[^\r\n]*(?:\r?\n{VTT_LINE})*"
        rf"|^[ \t]*{VTT_TIME}[ \t]+-->[ \t]+{VTT_TIME}(?:[ \t][^\r\n]*)?\r?\n"
        rf"(?P<text>(?:(?!.*-->){VTT_LINE}(?:\r?\n(?!.*-->){VTT_LINE})*)?)",
        re.MULTILINE,
    )
    syntax = MARKUP_SYNTAX

    def find_cues(self, text: str) -> Iterator[TextRange]:
        if not text.startswith(("WEBVTT", "\ufeffWEBVTT")):
            self.source.refuse(1, "this is not WebVTT: the first line must be WEBVTT", "name its format with --format")
        return super().find_cues(text)
