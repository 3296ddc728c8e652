r"""Cues of subtitles, in any format: their lines, speakers and tags, and how a translation is broken into lines.

A cue is one text, however many lines it has; a line that begins with a speaker's dash or label, a bracket or a note of
music begins another. Tags such as `<i>`, `<v Mary>` and `{\an8}` stay with their words. A translation keeps the line
breaks that stand between the same words as in the source; if it has more or fewer lines, or too long ones, it is
wrapped anew.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.documents.marks.items import InlineItem
from nmt_cli.documents.marks.paragraph import Paragraph
from nmt_cli.text.characters import DASHES, HYPHENS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nmt_cli.translation.result import Translation

Speller = Callable[[str], "tuple[str, Mapping[int, str]]"]

TAG = re.compile(r"(</?[A-Za-z][^<>\n]*>|<[\d:.]+>|\{\\[^{}\n]*\})")
TAG_NAME = re.compile(r"</?([A-Za-z]+)")
LINE = re.compile(r"[^\n]*\n|[^\n]+")
DASH = re.compile(rf"\s*[{re.escape(HYPHENS + DASHES)}]\s*(?=[^\s\d])")
NEW_SPEAKER = re.compile(rf"\s*(?:[{re.escape(HYPHENS + DASHES)}]\s*[^\s\d-]|[\[(♪]|\w[\w .']{{0,30}}:\s)")
WIDEST = 42  # characters of a line, which is what most guidelines for subtitles allow
SLACK = 4  # characters by which a line may be longer than any of the source


def read_cue(text: str, spell: Speller, escape: Callable[[str], str]) -> Paragraph:
    """Returns the lines of a cue as a paragraph; `spell` decodes its text, and `escape` encodes it."""
    items: list[InlineItem] = []
    for number, line in enumerate(LINE.findall(text)):
        if number and NEW_SPEAKER.match(TAG.sub("", line)):
            items.append(InlineItem("break", ("",)))
        items += read_line(line, spell)
    return Paragraph(items, escape)


def read_line(line: str, spell: Speller) -> Iterator[InlineItem]:
    """Yields tags and text; a speaker's dash at the beginning is a point."""
    has_text = False
    for part in TAG.split(line):
        name = TAG_NAME.match(part)
        dash = None if has_text else DASH.match(part)
        if not TAG.fullmatch(part):
            if dash is not None:
                yield InlineItem("point", (dash[0],))
                part = part[dash.end() :]
            has_text = has_text or bool(part.strip())
            yield InlineItem("text", (part,), *spell(part))
        elif name is None:
            yield InlineItem("point", (part,), keeps_order=True)
        else:
            yield InlineItem("close" if part.startswith("</") else "open", (part,), name=name[1])


def write_cue(cue: Paragraph, translations: Sequence[Translation], notes: Counter[str]) -> str:
    """Returns a cue with its translations, in as many lines as it had."""
    return fit_lines(cue.raw, cue.write(iter(translations), notes))


def fit_lines(before: str, after: str) -> str:
    """Returns a translated cue in as many lines as it had; wrapped anew, if it has more or fewer, or too long ones."""
    old, new = before.split("\n"), after.split("\n")
    widest = max(WIDEST, *(len(TAG.sub("", line)) + SLACK for line in old))
    if len(old) == len(new) and all(len(TAG.sub("", line)) <= widest for line in new):
        return after
    speakers = [index for index, line in enumerate(new) if index == 0 or NEW_SPEAKER.match(TAG.sub("", line))]
    if len(speakers) > 1 or len(old) == 1:
        return after
    line_end = "\r\n" if "\r\n" in before else "\n"
    return line_end.join(wrap_text(" ".join(line.strip() for line in new), len(old)))


def wrap_text(text: str, count: int, tag_pattern: re.Pattern[str] = TAG) -> list[str]:
    """Wraps `text` at blanks into at most `count` lines, of which the longest is as short as possible.

    No line ends inside a tag, and tags count as empty.
    """
    closed = tag_pattern.sub(lambda tag: tag[0].replace(" ", "\0"), text)
    words = [(word.replace("\0", " "), len(tag_pattern.sub("", word))) for word in closed.split(" ")]
    lengths = [length for _, length in words]
    widths = range(max(lengths), sum(lengths) + len(words))
    narrowest = bisect_left(widths, True, key=lambda width: len(fill_lines(words, width)) <= count)
    return fill_lines(words, widths[narrowest])


def fill_lines(words: Sequence[tuple[str, int]], width: int) -> list[str]:
    """Returns lines of at most `width` characters, each as long as possible; the words come with their lengths."""
    lines, used = [""], 0
    for word, length in words:
        if lines[-1] and used + 1 + length > width:
            lines.append(word)
            used = length
        else:
            used += length + bool(lines[-1])
            lines[-1] = f"{lines[-1]} {word}".lstrip(" ")
    return lines
