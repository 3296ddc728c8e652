"""Markdown (CommonMark with tables, strikethrough, footnotes and front matter), parsed by markdown-it-py.

1. The parser finds the lines with running text. Only that text is replaced; everything else (code, HTML, addresses, the
   form of lists and tables) stays byte for byte.
2. `documents.inline` turns the running text into sentences with marks.
3. `documents.markup` puts the marks into the translations, which are then escaped for Markdown.

A paragraph is written on one line, as are its parts between hard line breaks, unless its words stand one for one
(`documents.markdown_lines`). Alternative texts of images and titles of links are kept, not translated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt_cli.documents.document import Document, TranslationUnit, import_library, keep_verbatim
from nmt_cli.documents.inline import InlineSegment, make_inline_parser, split_segments
from nmt_cli.documents.markdown_lines import restore_references, write_like
from nmt_cli.documents.markup import MarkedText, project_marks
from nmt_cli.documents.sentences import join_sentences

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

MAXIMUM_SIZE = 12  # MiB, of which the parser makes about 1 GiB in memory
LINE_END = re.compile(r"\r\n|\n|\r")  # as the parser defines it
# Unknown to the parser: a byte order mark, and front matter in TOML.
PREAMBLE = r"\ufeff?(?:\+\+\+[ \t]*\r?\n(?s:.*?)(?m:^\+\+\+[ \t]*\r?$))?"
ESCAPED = re.compile(r"[\\`*\[\]]|(?<!\{\{)<|>(?!\}\})|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|~(?=~)|!(?=\[)")
ADDRESS = re.compile(r"((?:https?://|www\.)[^\s<>]+)")
ESCAPED_IN_ADDRESSES = re.compile(r"[\\`*\[\]]")  # the other characters have a meaning only between words
BLOCK_START = re.compile(r"(#{1,6}(?=\s|$)|[-+](?=\s|$)|=+\s*$|-+\s*$|~{3,}|:(?=\s|$|::))|(\d{1,9})(?=[.)](\s|$))")
HARD_BREAK = re.compile(r"((?:  |\\)\n) ?")
GUESSED = "marks (emphasis, links, code) whose positions are guesses"
NOT_FOUND = "paragraphs that were not translated: they could not be located in the file after parsing"


@dataclass(frozen=True)
class Passage:
    """The running text in the characters [start, end) of a document; its second and later lines begin with `prefix`."""

    start: int
    end: int
    prefix: str
    segments: Sequence[InlineSegment]
    in_table: bool


class MarkdownDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        whole = self.source.read_text(MAXIMUM_SIZE)
        preamble = re.match(PREAMBLE, whole)
        text = whole[preamble.end() :] if preamble else whole
        yield keep_verbatim(preamble[0] if preamble else "")
        position = 0
        for passage in find_passages(text, self.notes, self.source.must_split):
            yield keep_verbatim(text[position : passage.start])
            raw = text[passage.start : passage.end]
            yield self.make_unit(passage, raw, "\r\n" if "\r\n" in text else "\n")
            position = passage.end
        yield keep_verbatim(text[position:])

    def make_unit(self, passage: Passage, raw: str, line_end: str) -> TranslationUnit:
        sentences = [sentence for segment in passage.segments for sentence in segment.sentences]

        def write_unit(translations: Sequence[Translation]) -> str:
            remaining = iter(translations)
            lines = [self.write_segment(segment, remaining, passage) for segment in passage.segments]
            breaks = [segment.hard_break for segment in passage.segments[:-1]]
            before = [f"{line}{mark}" for line, mark in zip(lines, breaks, strict=False)]
            whole = restore_references(raw, "".join(before) + lines[-1])
            written = write_like(raw, whole, escape_line_start)
            return whole.replace("\n", line_end + passage.prefix) if written is None else written

        return TranslationUnit(tuple(sentence.text for sentence in sentences), write_unit)

    def write_segment(self, segment: InlineSegment, translations: Iterator[Translation], passage: Passage) -> str:
        parts = []
        for sentence in segment.sentences:
            placed = project_marks(sentence, next(translations), escape_text)
            self.notes += Counter({GUESSED: placed.guessed})
            parts.append(placed.text)
        text = join_sentences(parts)
        if passage.in_table:
            return text.replace("|", "\\|")
        first, *others = HARD_BREAK.split(text)  # a hard break inside a mark, where the segment was not split
        return escape_line_start(first) + "".join(
            mark + escape_line_start(line) for mark, line in zip(others[::2], others[1::2], strict=True)
        )


def escape_text(text: str) -> str:
    """Escapes plain text, so that Markdown finds no markup in it but addresses."""
    patterns = cycle((ESCAPED, ESCAPED_IN_ADDRESSES))
    parts = zip(ADDRESS.split(text), patterns, strict=False)
    return "".join(pattern.sub(lambda match: "\\" + match[0], part) for part, pattern in parts)


def escape_line_start(line: str) -> str:
    """Escapes a line of running text, so that it does not begin a list, a heading or a fence."""
    match = BLOCK_START.match(line)
    if not match:
        return line
    position = match.end(2) if match[2] else match.start()
    return f"{line[:position]}\\{line[position:]}"


def find_passages(text: str, notes: Counter[str], must_split: Callable[[str], bool]) -> Iterator[Passage]:
    """Yields the passages of running text in the order of the document; notes those that cannot be located."""
    lines = SourceLines(text)
    cursor = 0
    for token, in_table in sorted(list_inline_tokens(text), key=lambda item: item[0].map[0]):
        parts = split_segments(token, must_split)
        has_text = any(has_words(sentence) for part in parts for sentence in part.sentences)
        if not (has_text or in_table):  # in a table, every cell is located, since the search begins after the last one
            continue
        source_range = lines.find_cell(token, cursor) if in_table else lines.find_paragraph(token)
        if source_range is not None:
            start, cursor, prefix = source_range
        if source_range is not None and has_text:
            yield Passage(start, cursor, prefix, parts, in_table)
        elif has_text:
            notes[NOT_FOUND] += 1


def list_inline_tokens(text: str) -> Iterator[tuple[Any, bool]]:
    """Yields the parser's tokens of running text, each with whether it is in a table."""
    import_library("markdown_it", "markdown-it-py", "Markdown files")
    import_library("mdit_py_plugins", "mdit-py-plugins", "Markdown files")
    in_table = False
    for token in make_inline_parser().parse(text.replace("\0", "\ufffd")):  # the parser does so too, see SourceLines
        if token.type in ("table_open", "table_close"):
            in_table = token.type == "table_open"
        if token.type == "inline" and token.map:
            yield token, in_table


def has_words(sentence: MarkedText) -> bool:
    """Whether there is anything to translate: a letter outside code and addresses."""
    fixed = [range(mark.start, mark.end) for mark in sentence.marks if mark.fixed is not None]
    return any(c.isalpha() and not any(index in span for span in fixed) for index, c in enumerate(sentence.text))


class SourceLines:
    """The lines of a document, in which the contents of tokens are located."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in LINE_END.finditer(text))]
        ends = [*self.starts[1:], len(text)]
        self.lines = [text[start:end].replace("\0", "\ufffd") for start, end in zip(self.starts, ends, strict=True)]

    def find_paragraph(self, token: Any) -> SourceRange | None:
        """Locates content of one or more lines, each without its prefix on the line; None if it is not there."""
        columns: list[int] = []
        contents = token.content.split("\n")
        for number, content in enumerate(contents, start=token.map[0]):
            column = self.lines[number].rfind(content) if number < len(self.lines) else -1
            if column < 0:
                return None
            columns.append(column)
        last = token.map[0] + len(contents) - 1
        prefix = self.lines[token.map[0] + 1][: columns[1]] if len(columns) > 1 else ""
        return SourceRange(
            self.starts[token.map[0]] + columns[0], self.starts[last] + columns[-1] + len(contents[-1]), prefix
        )

    def find_cell(self, token: Any, cursor: int) -> SourceRange | None:
        """Locates the content of a cell on its line, after `cursor`; in the source, a `|` in it has a backslash."""
        number = token.map[0]
        content = token.content.replace("|", "\\|")
        column = self.lines[number].find(content, max(0, cursor - self.starts[number]))
        if column < 0:
            return None
        start = self.starts[number] + column
        return SourceRange(start, start + len(content), "")


class SourceRange(NamedTuple):
    """The characters [start, end) of a document, and the prefix of their second line."""

    start: int
    end: int
    prefix: str
