"""Reads the text of subtitle cues: who speaks, and which sentences go on in the next cue.

A cue is a list of turns, one for each speaker; a sentence that goes on in the next cue is translated as one and divided
again. Knows text, and no file format; `srt` finds the cues in a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from nmt_cli.documents.cue_paragraph import SLACK, WIDEST, wrap_text
from nmt_cli.documents.markup import Mark, MarkedText, link_words
from nmt_cli.documents.sentences import find_sentence_starts, split_marked
from nmt_cli.text.characters import DASHES, HYPHENS, PAUSES, ROUND_BRACKETS, SQUARE_BRACKETS
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.text.words import has_letters
from nmt_cli.translation.segmentation.sentence_ends import ends_with_mark

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

TAG = re.compile(r"</?(?!br\b)[A-Za-z][^<>\n]*>|\{\\[^{}\n]*\}")  # `<br>` parts sentences, as a translator knows
OPENING = re.compile(r"<([A-Za-z][\w-]*)")
DASH = rf"\s*[{re.escape(HYPHENS + DASHES)}]\s*(?=[^\s\d-])|\s*>>+\s*"
LABEL = re.compile(r"[^\n:]{1,40}:\s+(?=\S)")  # if in capitals: the name of who speaks
SOUND_BRACKETS = ROUND_BRACKETS + SQUARE_BRACKETS
SOUND = re.compile(rf"\s*(?:[{re.escape(SOUND_BRACKETS[::2])}].*[{re.escape(SOUND_BRACKETS[1::2])}]|♪.*♪?)\s*")
LONGEST_SENTENCE = 4  # cues


@dataclass(frozen=True)
class Turn:
    """What one speaker says in a cue: the dash or the name before it, and the text of its lines."""

    before: str
    text: MarkedText
    words: tuple[int, ...]  # of each line
    width: int  # of the longest line, in characters
    is_sound: bool = False

    @property
    def lines(self) -> int:
        return len(self.words)

    def split(self, must_split: Callable[[str], bool]) -> list[MarkedText]:
        return split_marked(self.text, by_sentence=must_split(self.text.text))


def split_turns(cue: str) -> list[Turn]:
    """Splits the text of a cue at its speakers; a line that says nothing of a speaker goes on with the turn before."""
    groups: list[list[str]] = []
    was_sound = False
    for line in cue.split("\n"):
        bare = TAG.sub("", line)
        is_sound = SOUND.fullmatch(bare) is not None
        if not groups or is_sound or was_sound or measure_speaker(bare):
            groups.append([])
        groups[-1].append(line)
        was_sound = is_sound
    return [make_turn(lines) for lines in groups]


def make_turn(lines: Sequence[str]) -> Turn:
    marked = extract_tags(" ".join(line.strip() for line in lines) if len(lines) > 1 else lines[0])
    length = measure_speaker(marked.text)
    is_sound = SOUND.fullmatch(marked.text) is not None
    before, marks = marked.text[:length], marked.marks
    if length and TAG.match(lines[0].lstrip()):  # `<i>- Yes.</i>`
        before = "".join(mark.fixed or mark.before for mark in marks if mark.start == 0) + before
        marks = tuple(
            mark if mark.start else replace(mark, before="") for mark in marks if mark.start or not mark.is_point
        )
    moved = tuple(replace(mark, start=max(0, mark.start - length), end=max(0, mark.end - length)) for mark in marks)
    first, *others = (len(TAG.sub(close_tag, line).split()) for line in lines)
    words = (first - len(marked.text[:length].split()), *others)
    width = max(len(TAG.sub("", line)) for line in lines)
    return Turn(before, MarkedText(marked.text[length:], moved), words, width, is_sound)


def close_tag(tag: re.Match[str]) -> str:
    """Returns a tag as one word."""
    return tag[0].replace(" ", "\0")


def measure_speaker(text: str) -> int:
    """Returns the length of the dash or the name that says who speaks, with the blanks after it; 0 without any."""
    dash = re.match(DASH, text)
    start = dash.end() if dash else 0
    label = LABEL.match(text, start)
    return label.end() if label and label[0].isupper() else start


def extract_tags(text: str) -> MarkedText:
    """Returns the text without its tags, with a mark for each pair of tags and for each tag without a partner."""
    plain, position = "", 0
    marks: list[Mark] = []
    open_tags: list[int] = []  # indices in `marks` of tags whose end has not been read yet
    for tag in TAG.finditer(text):
        plain += text[position : tag.start()]
        position = tag.end()
        if open_tags and is_closed_by(tag[0], marks[open_tags[-1]].fixed or ""):
            index = open_tags.pop()
            start, opening = marks[index].start, marks[index].fixed or ""
            if start < len(plain):
                marks[index] = Mark(start, len(plain), opening, tag[0], depth=len(open_tags))
                continue
        elif OPENING.match(tag[0]):
            open_tags.append(len(marks))
        marks.append(Mark(len(plain), len(plain), fixed=tag[0], depth=len(open_tags)))
    return MarkedText(plain + text[position:], tuple(marks))


def is_closed_by(tag: str, opening: str) -> bool:
    """Whether `tag` is the end tag of `opening`, as `</font>` is that of `<font color="red">`."""
    name = OPENING.match(opening)
    return name is not None and tag == f"</{name[1]}>"


def goes_on(turn: Turn, following: Turn, *, is_cased: bool) -> bool:
    """Whether a sentence goes on in the first turn of the next cue.

    With tags it does not, since a tag cannot be divided. In a file without capitals, only a comma tells.
    """
    text, next_text = turn.text.text.rstrip(), following.text.text.lstrip()
    if following.before or turn.is_sound or following.is_sound or turn.text.marks or following.text.marks:
        return False
    if not (has_letters(text) and has_letters(next_text)) or ends_with_mark(text):
        return False
    return next_text[:1].islower() if is_cased else text[-1:] in PAUSES


@dataclass(frozen=True)
class JoinedText:
    """The texts of consecutive cues, joined, as sentences; each knows where its text goes on in the next cue."""

    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.parts)

    def split(self, must_split: Callable[[str], bool]) -> list[tuple[int, int]]:
        """Returns the ranges of the sentences in the text; of the whole text if `must_split` says so of it."""
        starts = find_sentence_starts(self.text, by_sentence=must_split(self.text))
        return list(zip(starts, [*starts[1:], len(self.text)], strict=True))

    def divide(self, sentences: Sequence[tuple[int, int]], translations: Sequence[Translation]) -> list[list[str]]:
        """Returns for each part the translations of its sentences, and of its share of those that go on."""
        ends = [len(" ".join(self.parts[: count + 1])) for count in range(len(self.parts))]
        divided: list[list[str]] = [[] for _ in self.parts]
        for (start, end), translation in zip(sentences, translations, strict=True):
            first = next(index for index, part_end in enumerate(ends) if start < part_end)
            inside = [part_end for part_end in ends[first:-1] if part_end < len(self.text[:end].rstrip())]
            words = [len(self.text[start:part_end].split()) for part_end in inside]
            for offset, text in enumerate(divide_text(translation, words, len(self.text[start:end].split()))):
                divided[first + offset].append(text)
        return divided


def divide_text(translation: Translation, boundaries: Sequence[int], total: int) -> Iterator[str]:
    """Yields the translation in parts, divided where those of its source are: after so many of its `total` words.

    The words on each side of a cut come from the words of the source on that side, as far as attention tells; a pause
    and the same proportion decide between cuts.
    """
    if not boundaries:
        yield translation.text
        return
    words, blank = translation.text.split(" "), " "
    links = link_words(translation, words, total)
    if len(words) <= len(boundaries) and find_unspaced(translation.text):
        words, blank = list(translation.text), ""
        links = [index * total // len(words) for index in range(len(words))]
    start = 0
    for boundary in boundaries:
        target = boundary * len(words) / total

        def rate(cut: int, boundary: int = boundary, target: float = target, start: int = start) -> float:
            agreeing = sum(link < boundary for link in links[start:cut]) + sum(link >= boundary for link in links[cut:])
            return agreeing + 0.5 * (words[cut - 1][-1:] in PAUSES) - 0.5 * abs(cut - target)

        cut = max(range(min(start + 1, len(words)), max(start + 2, len(words))), key=rate)
        yield blank.join(words[start:cut])
        start = cut
    yield blank.join(words[start:])


def wrap_like(text: str, turn: Turn) -> list[str]:
    """Returns a translation in the lines of its turn: with as many words in each, if these are all, and fit."""
    words = TAG.sub(close_tag, text).split()
    if len(words) == sum(turn.words) and turn.lines > 1:
        ends = list(accumulate(turn.words))
        lines = [" ".join(words[end - count : end]) for end, count in zip(ends, turn.words, strict=True)]
        lines = [line.replace("\0", " ") for line in lines]
        if max(len(TAG.sub("", line)) for line in lines) <= max(WIDEST, turn.width + SLACK):
            return lines
    return wrap_text(text, turn.lines, TAG)
