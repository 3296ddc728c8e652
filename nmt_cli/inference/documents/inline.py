"""What stands inside a line of Markdown: the parser's tokens as sentences with marks.

The parser keeps no places of tokens inside a line, so its rules are wrapped in ones that note what they consumed: links
and code are then written back as they were, not as the parser understood them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from nmt_cli.inference.documents.markup import Mark, MarkedText
from nmt_cli.inference.documents.sentences import sentences

NOTED = ("escape", "backticks", "link", "image", "autolink", "html_inline", "footnote_ref", "footnote_inline")
RAW, LABEL_END = "nmt_raw", "nmt_label_end"
TASK = re.compile(r"\[[ xX]\](?=\s)")
TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")


@dataclass(frozen=True)
class Segment:
    """What stands between two hard line breaks, by sentences, and the break behind it as it is written."""

    sentences: Sequence[MarkedText]
    hard_break: str


@cache
def inline_parser() -> Any:
    """A parser of CommonMark, tables, strikethrough, footnotes and front matter whose tokens say what they consumed."""
    from markdown_it import MarkdownIt  # of the extra `formats`, and slow to load
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.front_matter import front_matter_plugin

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(front_matter_plugin).use(footnote_plugin)
    rules = dict(zip(parser.inline.ruler.get_active_rules(), parser.inline.ruler.getRules(""), strict=True))
    for name in NOTED:
        parser.inline.ruler.at(name, noting(rules[name]))
    return parser


def noting(rule: Callable[[Any, bool], bool]) -> Callable[[Any, bool], bool]:
    """The rule, which also notes in its tokens what it consumed, and where in that the label of a link ended."""

    def noted(state: Any, silent: bool) -> bool:
        start, before = state.pos, len(state.tokens)
        label_end = state.md.helpers.parseLinkLabel(state, start, True) if state.src[start] == "[" else -1
        matched = rule(state, silent)
        if matched and not silent:
            for token in state.tokens[before:]:
                token.meta.setdefault(RAW, state.src[start : state.pos])
                token.meta.setdefault(LABEL_END, label_end - start)
        return matched

    return noted


def segments(token: Any) -> list[Segment]:
    """The segments of an inline token."""
    found: list[Segment] = []
    builder = Builder()
    for child in token.children:
        if child.type == "hardbreak":
            written = "\\" if child.meta.get(RAW, "").startswith("\\") else "  "  # the two ways to write one
            found.append(Segment(sentences(builder.finished()), written))
            builder = Builder()
        else:
            builder.add(child)
    return [*found, Segment(sentences(builder.finished()), "")]


@dataclass
class Builder:
    """Text and marks of a segment, token after token."""

    text: str = ""
    marks: list[Mark] = field(default_factory=list)
    opened: list[tuple[int, Any]] = field(default_factory=list)  # where, and its token

    def add(self, token: Any) -> None:
        if token.type == "text":
            self.add_text(token.content)
        elif token.type == "softbreak":
            self.text += " "
        elif token.type == "html_inline":
            self.add_tag(token)
        elif token.type == "code_inline":
            self.add_fixed(token.content.strip(), token.meta[RAW])
        elif token.nesting == 1:
            self.opened.append((len(self.text), token))
        elif token.nesting == -1:
            self.close(token)
        else:
            self.add_fixed("", token.meta.get(RAW, token.content))

    def add_text(self, text: str) -> None:
        task = TASK.match(text) if not self.text and not self.marks else None
        if task:
            self.add_fixed("", task[0])
            text = text[task.end() :]
        self.text += text

    def add_fixed(self, text: str, raw: str) -> None:
        self.marks.append(Mark(len(self.text), len(self.text) + len(text), fixed=raw))
        self.text += text

    def add_tag(self, token: Any) -> None:
        """HTML: a pair of tags is a mark on what stands between; any other stays where it is."""
        tag = TAG.match(token.content)
        if tag and tag[1] and self.opened and self.opened[-1][1].content.startswith(f"<{tag[2]}"):
            start, opening = self.opened.pop()
            self.marks.append(Mark(start, len(self.text), opening.content, token.content))
        elif tag and not tag[1] and not token.content.endswith("/>"):
            self.opened.append((len(self.text), token))
        else:
            self.add_fixed("", token.content)
            self.text += " " if tag and tag[2].lower() == "br" else ""

    def close(self, token: Any) -> None:
        while self.opened and self.opened[-1][1].type == "html_inline":
            self.give_up()
        start, opening = self.opened.pop()
        if token.type == "link_close":
            self.marks.append(link(start, len(self.text), opening))
        else:
            self.marks.append(Mark(start, len(self.text), opening.markup, token.markup))

    def give_up(self) -> None:
        """The tag opened last has no partner: it stays where it is."""
        start, opening = self.opened.pop()
        self.marks.append(Mark(start, start, fixed=opening.content))

    def finished(self) -> MarkedText:
        while self.opened:
            self.give_up()
        order = sorted(self.marks, key=lambda mark: (mark.start, -mark.end))
        return MarkedText(self.text, tuple(mark for mark in order if mark.end > mark.start or mark.fixed))


def link(start: int, end: int, opening: Any) -> Mark:
    """A link: its words are translated, its address is as it was."""
    raw, label_end = opening.meta[RAW], opening.meta[LABEL_END]
    if opening.info == "auto":
        return Mark(start, end, fixed=raw)
    label, after = raw[1:label_end], raw[label_end:]
    if after in ("]", "][]"):  # the label is the reference
        after = f"][{label}]"
    return Mark(start, end, "[", after)
