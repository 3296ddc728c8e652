"""Breaks the translation of a turn into as many lines as its source has."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from nmt_cli.text.characters import END_MARKS

CUE_TAG = re.compile(r"</?(?!br\b)[A-Za-z][^<>\n]*>|<[\d:.]+>|\{(?:\\|[A-Za-z]:)[^{}\n]*\}")  # `<br>` parts sentences
CUE_LINE_END = re.compile(r"\r?\n")
SENTENCE_GAP = re.compile(rf"(?<=[{re.escape(END_MARKS)}]) ")
SENTENCE_AT_END = re.compile(rf"[{re.escape(END_MARKS)}]\s*$")
LINE_WIDTH = 42  # characters of a line, which is what most guidelines for subtitles allow
SLACK = 4  # characters by which a line may be longer than any of the source


def fit_lines(raw: str, written: str, line_end: re.Pattern[str]) -> str:
    """Fits a translation to the lines of its source `raw`, wrapping it anew if its lines are more, fewer or longer.

    Lines that are sentences stay so. In `written`, a line ends where the words on both sides of the break are those of
    the source.
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
    """Wraps `text` at blanks into at most `count` lines, keeping the longest as short as possible.

    Never breaks inside a tag; tags have no width.
    """
    closed = CUE_TAG.sub(lambda tag: tag[0].replace(" ", "\0"), text)
    words = [(word.replace("\0", " "), measure_line(word.replace("\0", " "))) for word in closed.split(" ")]
    lengths = [length for _, length in words]
    widths = range(max(lengths), sum(lengths) + len(words))
    narrowest = bisect_left(widths, True, key=lambda width: len(fill_lines(words, width)) <= count)
    return fill_lines(words, widths[narrowest])


def fill_lines(words: Sequence[tuple[str, int]], width: int) -> list[str]:
    """Fills lines of at most `width` characters greedily; the words come with their lengths."""
    lines, used = [""], 0
    for word, length in words:
        if lines[-1] and used + 1 + length > width:
            lines.append(word)
            used = length
        else:
            used += length + bool(lines[-1])
            lines[-1] = f"{lines[-1]} {word}".lstrip(" ")
    return lines
