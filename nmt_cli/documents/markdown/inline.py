"""Converts a Markdown parser's inline tokens into items of a paragraph.

The parser records no positions within a line. `InlineReader` therefore finds each token again in the parsed text, from
left to right; for links and code, whose tokens do not record their spelling, a wrapper around the parser's rules does.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from nmt_cli.carrying.elements import VERBATIM
from nmt_cli.documents.markdown.rules import ATTRIBUTES, KEPT_INLINE_RULE, add_rules
from nmt_cli.documents.marks.items import InlineItem
from nmt_cli.documents.marks.spelling import make_text
from nmt_cli.text.aligned import Edit

RECORDED_RULES = ("backticks", "link", "image", "autolink", "footnote_ref", "footnote_inline")
RAW, LABEL_END = "nmt_raw", "nmt_label_end"
ALERT = re.compile(r"\[![A-Za-z]+\]")  # makes an alert of a quote on GitHub, on a line of its own
LINE_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
TASK = re.compile(r"\[[ xX]\](?=\s)")
VOID_NAMES = frozenset("area br col embed hr img input link meta source track wbr".split())  # have no end tag
INLINE_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
LINE_BREAK = re.compile(r" *\\?\n[ \t]*")
SPELLED = re.compile(r"([ \t\r\n]+|\|)")  # a bar has a backslash in a table
NEED_TEXT = frozenset({"em", "strong", "s", "link"})  # without any, these are no marks but characters


@cache
def make_inline_parser() -> Any:
    """Returns a parser that records its source.

    It knows CommonMark, tables, strikethrough, footnotes, definition lists and front matter.
    """
    from markdown_it import MarkdownIt  # of the extra `formats`, and slow to load
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.front_matter import front_matter_plugin

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")
    parser.use(front_matter_plugin).use(footnote_plugin).use(deflist_plugin)
    parser.renderer.rules["text_special"] = parser.renderer.rules["text"]
    add_rules(parser)
    rules = dict(zip(parser.inline.ruler.get_active_rules(), parser.inline.ruler.getRules(""), strict=True))
    for name in RECORDED_RULES:
        parser.inline.ruler.at(name, record_source(rules[name]))
    return parser


def record_source(rule: Callable[[Any, bool], bool]) -> Callable[[Any, bool], bool]:
    """Wraps a rule so that its tokens record the source consumed, and the end of a link's label in it."""

    def run_rule(state: Any, silent: bool) -> bool:
        start, before = state.pos, len(state.tokens)
        label_end = state.md.helpers.parseLinkLabel(state, start, True) if state.src[start] == "[" else -1
        matched = rule(state, silent)
        if matched and not silent:
            for token in state.tokens[before:]:
                token.meta.setdefault(RAW, state.src[start : state.pos])
                token.meta.setdefault(LABEL_END, label_end - start)
        return matched

    return run_rule


class InlineReader:
    """Reads a token of running text as items. Its character i is at `positions[i]` of the `document`."""

    def __init__(self, token: Any, document: str, positions: Sequence[int]) -> None:
        self.content: str = token.content
        self.tokens: Sequence[Any] = token.children
        self.document, self.positions = document, positions
        self.cursor = 0  # in the content
        self.run = 0  # where text begins that is no item yet
        self.edits: list[Edit] = []  # that make what it spells of the document
        self.items: list[InlineItem] = []
        self.ends: dict[str, list[int]] = {}  # by the name of an element: which tokens end it
        self.last_content = max((i for i, part in enumerate(self.tokens) if part.content.strip()), default=0)

    def read_items(self) -> list[InlineItem]:
        index = 0
        while index < len(self.tokens):
            index = self.read_token(index)
        self.add_run()
        return self.items

    def read_token(self, index: int) -> int:
        """Reads a token and returns the index of the next one."""
        token = self.tokens[index]
        if token.type in ("text", "text_special"):
            self.read_text(token)
        elif token.type == "softbreak":
            self.read_line_break()
        elif token.type == "html_inline":
            return self.read_tag(index)
        elif token.type == "link_open" and token.info == "auto":
            self.add_item("code", token.meta[RAW])
            return index + 3  # after its text and its end
        elif token.nesting:
            self.read_pair(token)
        elif token.type == ATTRIBUTES:
            self.read_attributes(token, is_last=index >= self.last_content)
        elif token.type == "hardbreak":
            match = LINE_BREAK.match(self.content, self.cursor)
            self.add_item("break", match[0] if match else "")
        else:
            kind = "code" if token.type in ("code_inline", KEPT_INLINE_RULE) else "point"
            self.add_item(kind, token.meta.get(RAW, token.content))
        return index + 1

    def read_text(self, token: Any) -> None:
        """Adds text to the run; a task's checkbox before it becomes a point."""
        if token.type == "text_special":
            self.spell(token.content, len(token.markup))
            return
        text = token.content
        task = TASK.match(text) if self.cursor == 0 else None
        if task:
            self.add_item("point", task[0])
            text = text[task.end() :]
        for part in SPELLED.split(text):
            if part == "|" or part.isspace():
                self.spell(part if part == "|" else " ", len(part))
            else:
                self.cursor += len(part)

    def read_line_break(self) -> None:
        """Adds a line break as a blank; after the name of an alert, it separates the name from the text."""
        match = LINE_BREAK.match(self.content, self.cursor)
        if match is None:
            return
        if not self.items and ALERT.fullmatch(self.content, 0, match.start()):
            self.cursor = 0
            self.add_item("break", self.content[: match.end()])
        else:
            self.spell(" ", len(match[0]))

    def read_pair(self, token: Any) -> None:
        """Adds an opening or closing mark; a link's words are translated, its address is kept."""
        name, kind = token.type.rsplit("_", 1)
        if name != "link":
            self.add_item(kind, token.markup, name)
        elif kind == "open":
            self.add_item(kind, "[", name)
        else:
            raw, label_end = token.meta[RAW], token.meta[LABEL_END]
            self.add_run()
            written = self.take(len(raw) - label_end)
            if written in ("]", "][]"):  # the label is the reference
                written = f"][{' '.join(raw[1:label_end].split())}]"
            self.items.append(InlineItem("close", (written,), name=name))

    def read_attributes(self, token: Any, *, is_last: bool) -> None:
        """Adds attributes to the mark before them; behind the text of a heading or paragraph, they part from it."""
        last = self.items[-1] if self.run == self.cursor and self.items else None
        if last is None or last.kind in ("open", "break"):
            self.add_item("break" if is_last else "point", token.content)
        else:
            written = self.take(len(token.content))
            self.items[-1] = replace(last, template=(*last.template, written))

    def read_tag(self, index: int) -> int:
        """Reads an HTML tag and returns the index of the next token."""
        raw = self.tokens[index].content
        tag = INLINE_TAG.match(raw)
        name = tag[2].lower() if tag else ""
        last = self.find_end(index, name) if tag and not tag[1] and name in VERBATIM.split("|") else None
        if last is not None:
            end = self.tokens[last].content
            self.add_item("code", self.content[self.cursor : self.content.index(end, self.cursor)] + end)
            return last + 1
        if LINE_BREAK_TAG.fullmatch(raw):
            self.add_item("break", raw)
        elif tag and tag[1]:
            self.add_item("close", raw, f"<{name}")
        else:
            self.add_item(
                "open" if tag and name not in VOID_NAMES and not raw.endswith("/>") else "point", raw, f"<{name}"
            )
        return index + 1

    def find_end(self, index: int, name: str) -> int | None:
        """Returns the index of the next token that ends the element `name`."""
        if name not in self.ends:
            self.ends[name] = [i for i, part in enumerate(self.tokens) if part.content.lower().startswith(f"</{name}")]
        ends = self.ends[name]
        position = bisect_right(ends, index)
        return ends[position] if position < len(ends) else None

    def spell(self, text: str, length: int) -> None:
        """Adds a text to the run, spelled by the next `length` characters."""
        start = self.positions[self.run]
        first, last = self.positions[self.cursor], self.positions[self.cursor + length]
        self.edits.append(Edit(first - start, last - start, text))
        self.cursor += length

    def take(self, length: int) -> str:
        """Returns the next characters as written in the document, and starts a run after them."""
        start = self.positions[self.cursor]
        self.cursor = self.run = self.cursor + length
        return self.document[start : self.positions[self.cursor]]

    def add_item(self, kind: Any, written: str, name: str = "") -> None:
        """Adds an item for the next characters, `written` thus in the content."""
        self.add_run()
        self.items.append(InlineItem(kind, (self.take(len(written)),), name=name))

    def add_run(self) -> None:
        """Adds the text read so far as an item."""
        if self.run < self.cursor:
            raw = self.document[self.positions[self.run] : self.positions[self.cursor]]
            self.items.append(make_text(raw, self.edits))
        self.edits = []
