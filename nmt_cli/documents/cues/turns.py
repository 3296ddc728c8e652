r"""Reads the turns of subtitle cues: what each speaker says, and which sentences continue in the next cue.

A turn is one text, however many lines it has. A line that begins with a speaker's dash or name, or describes a sound,
begins another. Tags such as `<i>`, `<v Mary>` and `{\an8}` stay with their words; dashes and names are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from nmt_cli.documents.cues.wrapping import CUE_TAG
from nmt_cli.documents.marks.items import InlineItem
from nmt_cli.documents.marks.spelling import TextSyntax, read_spelled_text
from nmt_cli.text.characters import DASHES, HYPHENS, PAUSES, ROUND_BRACKETS, SQUARE_BRACKETS
from nmt_cli.text.words import has_letters
from nmt_cli.translation.placement.traced_text import TextRange
from nmt_cli.translation.segmentation.sentence_ends import ends_with_mark

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
    """The characters [start, end) that one speaker says in a cue, without tags around all of them."""

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
        """Whether its sentence may continue in another cue: an inner tag or a sound cannot be divided."""
        has_tags = any(item.name or item.keeps_order for item in self.items)
        return not has_tags and SOUND.fullmatch(self.text) is None

    @property
    def names_speaker(self) -> bool:
        return self.items[:1] != () and self.items[0].kind == "point"

    def goes_on(self, following: Turn, *, is_cased: bool) -> bool:
        """Whether its sentence continues in the following turn. In a file without capitals, only a comma shows that."""
        text, next_text = self.text.rstrip(), following.text.lstrip()
        can_join = self.is_plain and following.is_plain and not following.names_speaker
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
    """Yields the numbers of the lines that begin a turn: of other speakers, of sounds, and after sounds."""
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
    """Returns the length of a speaker's dash or name with the blanks after it; 0 if there is none."""
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
