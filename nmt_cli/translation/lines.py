"""Lines as a caller hands them in, and the windows of lines that are read in context.

A network with context reads the previous line and its translation before each line, so the lines of a text have to wait
for each other. Texts are therefore cut into windows that do not wait for each other: the line before a window is
translated once more, without context, so that every line but the first of a text has context. A translation thus
depends on its window alone. With windows of two lines, the text "a b c" becomes the windows "a b" and "(b) c", of which
(b) is only context: `Line("a", follows=BEGINNING), Line("b", follows=0), Line("c", follows=3), Line("b",
follows=BEGINNING, only_context=True)`. Does not depend on networks or file formats.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, NamedTuple

from nmt_cli.text.aligned import MarkedText
from nmt_cli.text.tags import TagSet, merge_tags

BEGINNING = -1  # what the first line of a text follows that is read in context
WINDOW = 16  # lines: of fewer, more are translated twice; of more, fewer windows run side by side

ContextScope = Literal["nothing", "documents", "everything"]  # that is read with context


class Line(NamedTuple):
    """A text to translate, with its own settings."""

    text: str | MarkedText
    tags: TagSet = ()  # those of the options decide where both name one of a kind
    follows: int | None = None  # the line, by its index, whose translation is its context; or BEGINNING
    only_context: bool = False  # whether its translation is only context for others, and not returned


def lay_out_lines(
    texts: Sequence[str], tags: Sequence[TagSet] = (), windows: Sequence[ContextWindow] = ()
) -> Sequence[str | Line]:
    """Returns the texts as lines with their tags, if any, plus the lines that are only context for windows."""
    if not tags and not windows:
        return texts
    lines = [Line(text, line_tags) for text, line_tags in zip(texts, tags or [()] * len(texts), strict=True)]
    for window in windows:
        line_tags, previous = lines[window.rows[0]].tags, BEGINNING
        for text in window.before:
            lines.append(Line(text, line_tags, previous, only_context=True))
            previous = len(lines) - 1
        for row in window.rows:
            lines[row] = lines[row]._replace(follows=previous)
            previous = row
    return lines


def list_windows(lines: Sequence[str | Line]) -> list[list[int]]:
    """Returns the indices of the lines that are read in context, window by window, each after its previous line."""
    followers = {line.follows: row for row, line in enumerate(lines) if isinstance(line, Line)}
    windows = []
    for row, line in enumerate(lines):
        if isinstance(line, Line) and line.follows == BEGINNING:
            window = [row]
            while window[-1] in followers:
                window.append(followers[window[-1]])
            windows.append(window)
    return windows


def group_by_tags(lines: Sequence[str | Line], usual: TagSet) -> dict[TagSet, list[int]]:
    """Returns the indices of the lines with each set of tags; all lines have the `usual` tags."""
    groups: dict[TagSet, list[int]] = {}
    for row, line in enumerate(lines):
        line_tags = merge_tags(line.tags, usual) if isinstance(line, Line) and line.tags else usual
        groups.setdefault(line_tags, []).append(row)
    return groups


class ContextWindow(NamedTuple):
    """The numbers of some lines of a text, and the previous lines, which are translated again as context."""

    before: tuple[str, ...]
    rows: tuple[int, ...]


class WindowCutter:
    """Cuts texts into windows as their lines arrive in blocks; lines of different kinds get separate windows."""

    def __init__(self) -> None:
        self.lines: dict[Hashable, list[str]] = {}  # of the windows that are open, by kind
        self.ends: dict[Hashable, int] = {}  # the number of lines with which each is complete
        self.block: list[tuple[list[str], list[int]]] = []
        self.in_block: dict[Hashable, int] = {}  # the places of open windows in the block, by kind

    def begin_text(self) -> None:
        """Ends all windows: the next line has no context."""
        self.lines, self.in_block = {}, {}

    def add(self, row: int, line: str, kind: Hashable = "") -> None:
        """Adds a line of the current text, with its number in the block; a blank line belongs to no window."""
        if not line.strip():
            return
        lines = self.lines.setdefault(kind, [])
        if not lines:
            self.ends[kind] = WINDOW
        elif len(lines) >= self.ends[kind]:
            lines[:] = lines[-1:]
            self.ends[kind] = 1 + WINDOW
            self.in_block.pop(kind, None)
        if kind not in self.in_block:
            self.in_block[kind] = len(self.block)
            self.block.append((lines.copy(), []))
        self.block[self.in_block[kind]][1].append(row)
        lines.append(line)

    def cut_lines(self, lines: Iterable[str]) -> tuple[ContextWindow, ...]:
        """Adds further lines of the current text as a block, and returns its windows."""
        for row, line in enumerate(lines):
            self.add(row, line)
        return self.end_block()

    def end_block(self) -> tuple[ContextWindow, ...]:
        """Returns the windows of the lines since the last block; open windows continue in the next block."""
        windows = tuple(ContextWindow(tuple(before), tuple(rows)) for before, rows in self.block)
        self.block, self.in_block = [], {}
        return windows


def cut_texts(
    sizes: Iterable[int], lines: Iterable[str], kinds: Iterable[Hashable] | None = None
) -> tuple[ContextWindow, ...]:
    """Returns the windows of lines that form consecutive texts of these sizes."""
    cutter, numbered = WindowCutter(), enumerate(lines)
    of_lines = None if kinds is None else iter(kinds)
    for size in sizes:
        cutter.begin_text()
        for _ in range(size):
            cutter.add(*next(numbered), "" if of_lines is None else next(of_lines))
    return cutter.end_block()
