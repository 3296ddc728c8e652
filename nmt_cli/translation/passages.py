"""Passages of lines that are read in context, and lines with tags of their own."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nmt_cli.search.config import SearchConfig
from nmt_cli.text.tags import TagSet

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.search import CountReporter
    from nmt_cli.translation.translator import Translator


# Cuts texts into passages, whose lines are read one behind the other, each with the line before and its translation.
#
# A line needs the translation of the line before, so the lines of a passage wait for each other; passages do not, and
# are translated side by side. The line before a passage is translated once more, without context, so that every line
# but the first of a text has one. What a line becomes thus depends on its passage alone. Knows no network and no file
# format.


PASSAGE = 16  # lines: of fewer, more are translated twice; of more, fewer passages run side by side

ContextScope = Literal["nothing", "documents", "everything"]  # that is read with context


class TextPassage(NamedTuple):
    """Lines of one text, by their numbers, and those before them, which are translated again for their context."""

    before: tuple[str, ...]
    rows: tuple[int, ...]


class PassageCutter:
    """Cuts texts into passages as their lines arrive, in blocks; lines of different kinds are apart."""

    def __init__(self) -> None:
        self.lines: dict[Hashable, list[str]] = {}  # of the passages that are open, by kind
        self.ends: dict[Hashable, int] = {}  # the number of lines with which each is complete
        self.block: list[tuple[list[str], list[int]]] = []
        self.in_block: dict[Hashable, int] = {}  # the places of open passages in the block, by kind

    def begin_text(self) -> None:
        """Ends all passages: the next line has no context."""
        self.lines, self.in_block = {}, {}

    def add(self, row: int, line: str, kind: Hashable = "") -> None:
        """Adds a line of the current text, with its number in the block; a blank one belongs to no passage."""
        if not line.strip():
            return
        lines = self.lines.setdefault(kind, [])
        if not lines:
            self.ends[kind] = PASSAGE
        elif len(lines) >= self.ends[kind]:
            lines[:] = lines[-1:]
            self.ends[kind] = 1 + PASSAGE
            self.in_block.pop(kind, None)
        if kind not in self.in_block:
            self.in_block[kind] = len(self.block)
            self.block.append((lines.copy(), []))
        self.block[self.in_block[kind]][1].append(row)
        lines.append(line)

    def cut_lines(self, lines: Iterable[str]) -> tuple[TextPassage, ...]:
        """Returns the passages of further lines of the current text, as a block."""
        for row, line in enumerate(lines):
            self.add(row, line)
        return self.end_block()

    def end_block(self) -> tuple[TextPassage, ...]:
        """Returns the passages of the lines since the last block; open ones go on in the next block."""
        passages = tuple(TextPassage(tuple(before), tuple(rows)) for before, rows in self.block)
        self.block, self.in_block = [], {}
        return passages


def cut_texts(
    sizes: Iterable[int], lines: Iterable[str], kinds: Iterable[Hashable] | None = None
) -> tuple[TextPassage, ...]:
    """Returns the passages of lines that are texts of these sizes, one after the other."""
    cutter, numbered = PassageCutter(), enumerate(lines)
    of_lines = None if kinds is None else iter(kinds)
    for size in sizes:
        cutter.begin_text()
        for _ in range(size):
            cutter.add(*next(numbered), "" if of_lines is None else next(of_lines))
    return cutter.end_block()


# Translates lines that have tags of their own, those of equal tags together, and lines of passages in order.


def translate_tagged(
    translator: Translator,
    lines: Sequence[str],
    tags: Sequence[TagSet],
    config: SearchConfig,
    progress: CountReporter | None = None,
    *,
    chains: Sequence[Sequence[int]] = (),
    **options: Any,
) -> list[Translation]:
    """Returns one translation per line, behind its own `tags`, in order.

    `options` are those of the translator; the lines of each of `chains`, by their index, have equal tags.
    """
    if len(set(tags)) <= 1:
        options |= {"chains": chains} if chains else {}
        return translator.translate(lines, replace(config, tags=next(iter(tags), ())), progress, **options)
    translations: dict[int, Translation] = {}
    for tags_of_group in dict.fromkeys(tags):
        rows = [row for row, tags_of_row in enumerate(tags) if tags_of_row == tags_of_group]
        done, positions = len(translations), {row: position for position, row in enumerate(rows)}
        report = None if progress is None else (lambda more, done=done: progress(done + more))
        of_group = {**options, "first_line": options.get("first_line", 0) + done}
        if chains:
            of_group["chains"] = [[positions[row] for row in chain] for chain in chains if chain[0] in positions]
        some = [lines[row] for row in rows]
        translated = translator.translate(some, replace(config, tags=tags_of_group), report, **of_group)
        translations |= zip(rows, translated, strict=True)
    return [translations[row] for row in range(len(lines))]


def translate_passages(
    translator: Translator,
    lines: Sequence[str],
    tags: Sequence[TagSet],
    passages: Sequence[TextPassage],
    config: SearchConfig,
    progress: CountReporter | None = None,
    **options: Any,
) -> list[Translation]:
    """Returns what `translate_tagged` does, with the lines of `passages` in context; each passage has equal tags."""
    if not passages:
        return translate_tagged(translator, lines, tags, config, progress, **options)
    all_lines, all_tags, chains = list(lines), list(tags or [()] * len(lines)), list[list[int]]()
    for passage in passages:
        before = range(len(all_lines), len(all_lines) + len(passage.before))
        chains.append([*before, *passage.rows])
        all_lines += passage.before
        all_tags += [all_tags[passage.rows[0]]] * len(before)
    report = None if progress is None else (lambda done: progress(min(done, len(lines))))
    return translate_tagged(translator, all_lines, all_tags, config, report, chains=chains, **options)[: len(lines)]
