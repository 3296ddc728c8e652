"""Markdown (CommonMark with tables, strikethrough, footnotes and front matter), parsed by markdown-it-py.

1. The parser finds the lines with running text. Only that text is replaced; the rest (code, HTML, addresses, the form
   of lists and tables) is kept byte for byte.
2. `inline` reads the running text as a paragraph, whose marks `translation.placement` puts into its translation.
3. `lines` ensures that no line of the translation begins a block.

Alternative texts of images and titles of links are kept, not translated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Any

from nmt_cli.documents.document import Document, TranslationUnit, import_library, make_verbatim_unit
from nmt_cli.documents.markdown.inline import NEED_TEXT, InlineReader, make_inline_parser
from nmt_cli.documents.markdown.lines import LINE_END, finish_lines
from nmt_cli.documents.marks.paragraph import Paragraph

MARKDOWN_MEBIBYTES = 12  # of which the parser makes about 1 GiB in memory
# Unknown to the parser: a byte order mark, and front matter in TOML.
PREAMBLE = r"\ufeff?(?:\+\+\+[ \t]*\r?\n(?s:.*?)(?m:^\+\+\+[ \t]*\r?$))?"
ESCAPED_IN_TEXT = re.compile(r"[\\`*\[\]]|(?<!\{\{)<|>(?!\}\})|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|~(?=~)|!(?=\[)")
BARE_ADDRESS = re.compile(r"((?:https?://|www\.)[^\s<>]+)")
ESCAPED_IN_ADDRESSES = re.compile(r"[\\`*\[\]]")  # the other characters have a meaning only between words
PARAGRAPHS_NOT_LOCATED = "paragraphs that were not translated: they could not be located in the file after parsing"


@dataclass(frozen=True)
class Passage:
    """The running text in the characters [start, end) of a document."""

    start: int
    end: int
    paragraph: Paragraph


class MarkdownDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        whole = self.source.read_text(MARKDOWN_MEBIBYTES)
        preamble = re.match(PREAMBLE, whole)
        text = whole[preamble.end() :] if preamble else whole
        yield make_verbatim_unit(preamble[0] if preamble else "")
        position = 0
        for passage in self.find_passages(text):
            yield make_verbatim_unit(text[position : passage.start])
            finish = partial(finish_lines, text[passage.start : passage.end])
            unit = passage.paragraph.make_unit(self.notes, finish)
            yield unit._replace(raw=text[passage.start : passage.end])
            position = passage.end
        yield make_verbatim_unit(text[position:])

    def find_passages(self, text: str) -> Iterator[Passage]:
        """Yields the passages of running text in document order; notes those that cannot be located."""
        lines = SourceLines(text)
        cursor = 0
        for token, in_table in sorted(list_inline_tokens(text), key=lambda item: item[0].map[0]):
            positions = lines.locate_cell(token, cursor) if in_table else lines.locate_paragraph(token)
            escape = escape_cell if in_table else escape_markdown
            reader = InlineReader(token, text, positions or range(len(token.content) + 1))
            paragraph = Paragraph(reader.read_items(), escape, NEED_TEXT, "ui" if in_table else "")
            if positions and (paragraph.texts or in_table):  # the next cell is searched for behind this one
                cursor = positions[-1]
            if positions and (paragraph.texts or self.source.reads_back):
                yield Passage(positions[0], cursor, paragraph)
            elif paragraph.texts:
                self.notes[PARAGRAPHS_NOT_LOCATED] += 1


def escape_markdown(text: str) -> str:
    """Escapes plain text so that Markdown finds no markup in it except addresses."""
    patterns = cycle((ESCAPED_IN_TEXT, ESCAPED_IN_ADDRESSES))
    parts = zip(BARE_ADDRESS.split(text), patterns, strict=False)
    return "".join(pattern.sub(lambda match: "\\" + match[0], part) for part, pattern in parts)


def escape_cell(text: str) -> str:
    """Escapes plain text for a table cell."""
    return escape_markdown(text).replace("|", "\\|")


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


class SourceLines:
    """The lines of a document, in which tokens are located."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in LINE_END.finditer(text))]
        ends = [*self.starts[1:], len(text)]
        self.lines = [text[start:end].replace("\0", "\ufffd") for start, end in zip(self.starts, ends, strict=True)]

    def locate_paragraph(self, token: Any) -> list[int] | None:
        """Returns the position of each character of one or more lines and of their end, or None.

        Each line end of the token corresponds to the document's, with any quote or list prefix of the next line.
        """
        positions: list[int] = []
        for number, content in enumerate(token.content.split("\n"), start=token.map[0]):
            column = self.lines[number].rfind(content) if number < len(self.lines) else -1
            if column < 0:
                return None
            start = self.starts[number] + column
            positions += range(start, start + len(content) + 1)
        return positions

    def locate_cell(self, token: Any, cursor: int) -> list[int] | None:
        """Locates a table cell after `cursor` likewise; in the source, a `|` within it is escaped."""
        number = token.map[0]
        content = token.content.replace("|", "\\|")
        column = self.lines[number].find(content, max(0, cursor - self.starts[number]))
        if column < 0:
            return None
        position = self.starts[number] + column
        positions = [position]
        for character in token.content:
            position += 2 if character == "|" else 1
            positions.append(position)
        return positions
