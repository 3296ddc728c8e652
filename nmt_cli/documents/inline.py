"""Converts the inline tokens of a Markdown parser to sentences with marks.

The parser does not keep the positions of tokens inside a line. So its rules are wrapped in ones that record the source
that each of them consumed: links and code are written back as they were, not as the parser understood them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from nmt_cli.carrying.span_patterns import VERBATIM
from nmt_cli.documents.markdown_rules import KEPT, add_rules
from nmt_cli.documents.markup import Mark, MarkedText
from nmt_cli.documents.sentences import split_marked

RECORDED_RULES = ("escape", "backticks", "link", "image", "autolink", "html_inline", "footnote_ref", "footnote_inline")
RAW, LABEL_END = "nmt_raw", "nmt_label_end"
SHARED = re.compile(r"[\w/,.:;+=-]*")
ALERT = re.compile(r"\[![A-Za-z]+\]")  # makes an alert of a quote on GitHub, on a line of its own
BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
TASK = re.compile(r"\[[ xX]\](?=\s)")
VOID = ("area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")  # have no end tag
TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")


@dataclass(frozen=True)
class InlineSegment:
    """The sentences between two line breaks, and the break after them as it is written: with a line end, or `<br>`."""

    sentences: Sequence[MarkedText]
    hard_break: str


@cache
def make_inline_parser() -> Any:
    """Returns a parser of CommonMark, tables, strikethrough, footnotes and front matter that records its source."""
    from markdown_it import MarkdownIt  # of the extra `formats`, and slow to load
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.front_matter import front_matter_plugin

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(front_matter_plugin).use(footnote_plugin)
    add_rules(parser)
    rules = dict(zip(parser.inline.ruler.get_active_rules(), parser.inline.ruler.getRules(""), strict=True))
    for name in RECORDED_RULES:
        parser.inline.ruler.at(name, record_source(rules[name]))
    return parser


def record_source(rule: Callable[[Any, bool], bool]) -> Callable[[Any, bool], bool]:
    """Wraps a rule: its tokens also record the source that it consumed, and where in it the label of a link ends."""

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


def split_segments(token: Any, must_split: Callable[[str], bool]) -> list[InlineSegment]:
    """Returns the segments of an inline token, each in sentences if `must_split` says so of its text."""
    segments: list[InlineSegment] = []
    builder = SegmentBuilder(token.content)
    for child, following in zip(token.children, [*token.children[1:], None], strict=False):
        if builder.open_marks:
            builder.add(child)
            continue
        after = find_break(child, following)
        sentences = split_text(builder.finish(), must_split) if after else []
        if not after and child.type == "softbreak" and not segments and is_alert(builder):
            after, sentences = "\n", [MarkedText("", (Mark(0, 0, fixed=builder.text),))]
        if after:
            segments.append(InlineSegment(sentences, after))
            builder = SegmentBuilder(token.content, position=builder.position)
        else:
            builder.add(child)
    return [*segments, InlineSegment(split_text(builder.finish(), must_split), "")]


def split_text(whole: MarkedText, must_split: Callable[[str], bool]) -> list[MarkedText]:
    return split_marked(whole, by_sentence=must_split(whole.text))


def find_break(token: Any, following: Any) -> str:
    """Returns a token that ends a segment as it is written: a hard line break or `<br>`; empty for any other.

    A blank at the start of the `following` token belongs to the break, and a line end.
    """
    if token.type == "hardbreak":
        return format_break(token) + "\n"
    if token.type != "html_inline" or not BREAK.fullmatch(token.content):
        return ""
    if following is not None and following.type == "softbreak":
        return f"{token.content}\n"
    has_blank = following is not None and following.type == "text" and following.content.startswith(" ")
    return f"{token.content} " if has_blank else str(token.content)


def is_alert(builder: SegmentBuilder) -> bool:
    return ALERT.fullmatch(builder.text) is not None and not builder.marks


@dataclass(frozen=True)
class OpenMark:
    """A mark whose end has not been read yet."""

    slot: int  # index among the marks
    start: int  # character at which it begins
    token: Any


@dataclass
class SegmentBuilder:
    """Collects the text and the marks of a segment, token by token."""

    source: str  # the running text as it is written
    text: str = ""
    position: int = 0  # in the source, after the last element whose content is kept
    marks: list[Mark | None] = field(default_factory=list)  # None until the end of the mark is read
    open_marks: list[OpenMark] = field(default_factory=list)

    def add(self, token: Any) -> None:
        if token.type == "text":
            self.add_text(token.content)
        elif token.type == "softbreak":
            self.text += " "
        elif token.type == "hardbreak":
            self.add_fixed("", format_break(token) + "\n")
            self.text += " "
        elif token.type == "html_inline":
            self.add_tag(token)
        elif token.type == "code_inline":
            self.add_code(token.content.strip(), token.meta[RAW])
        elif token.type == KEPT:
            self.add_code(self.name_code(), token.content)
        elif token.nesting == 1:
            self.open(token)
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

    def add_code(self, text: str, raw: str) -> None:
        """Adds code; if it is in one word with the code before it (`a`/`b`), both become one mark."""
        last = self.marks[-1] if self.marks else None
        between = self.text[last.end :] if last else ""
        if (
            last
            and last.fixed
            and not last.is_point
            and last.depth == len(self.open_marks)
            and SHARED.fullmatch(between)
        ):
            self.marks[-1] = replace(last, end=len(self.text) + len(text), fixed=f"{last.fixed}{between}{raw}")
            self.text += text
        else:
            self.add_fixed(text, raw)

    def name_code(self) -> str:
        """Returns a placeholder that stands in the text for what is no word: `%1$s`, or the next that is free."""
        names = (f"%{number}$s" for number in range(len(self.marks) + 1, 1_000_000))
        return next(name for name in names if name not in self.source and name not in self.text)

    def add_fixed(self, text: str, raw: str) -> None:
        self.marks.append(Mark(len(self.text), len(self.text) + len(text), fixed=raw, depth=len(self.open_marks)))
        self.text += text

    def add_tag(self, token: Any) -> None:
        """Adds an HTML tag: a pair of tags is a mark on the text between them; any other tag stays where it is."""
        tag = TAG.match(token.content)
        if tag and tag[1] and self.open_marks and self.open_marks[-1].token.content.startswith(f"<{tag[2]}"):
            opening = self.open_marks.pop()
            if tag[2].lower() in VERBATIM.split("|"):
                self.keep_element(opening, token)
            else:
                self.fill(opening, Mark(opening.start, len(self.text), opening.token.content, token.content))
        elif tag and not tag[1] and tag[2].lower() not in VOID and not token.content.endswith("/>"):
            self.open(token)
        else:
            self.add_fixed("", token.content)
            self.text += " " if tag and tag[2].lower() == "br" else ""

    def keep_element(self, opening: OpenMark, token: Any) -> None:
        """Makes code of an element whose content is what is typed or printed (`<kbd>`), as it is written."""
        first, last = re.escape(opening.token.content), re.escape(token.content)
        match = re.compile(f"{first}.*?{last}", re.DOTALL).search(self.source, self.position)
        text = self.text[opening.start :]
        raw = match[0] if match else f"{opening.token.content}{text}{token.content}"
        self.position = match.end() if match else self.position
        self.text = self.text[: opening.start]
        del self.marks[opening.slot :]
        self.add_code(text, raw)

    def open(self, token: Any) -> None:
        self.open_marks.append(OpenMark(len(self.marks), len(self.text), token))
        self.marks.append(None)

    def close(self, token: Any) -> None:
        while self.open_marks[-1].token.type == "html_inline":
            self.leave_open()
        opening = self.open_marks.pop()
        if token.type == "link_close":
            self.fill(opening, make_link(opening.start, len(self.text), opening.token))
        else:
            self.fill(opening, Mark(opening.start, len(self.text), opening.token.markup, token.markup))

    def fill(self, opening: OpenMark, mark: Mark) -> None:
        """Stores a mark in its slot; a mark without text absorbs the marks inside it."""
        if mark.is_point and mark.fixed is None:
            inside = "".join(mark.fixed or "" for mark in self.marks[opening.slot + 1 :] if mark)
            mark = Mark(mark.start, mark.end, fixed=mark.before + inside + mark.after)
        if mark.fixed is not None:
            del self.marks[opening.slot + 1 :]
        self.marks[opening.slot] = replace(mark, depth=len(self.open_marks))

    def leave_open(self) -> None:
        """Makes a point of the last open tag: it has no end tag, and stays where it is."""
        opening = self.open_marks.pop()
        self.marks[opening.slot] = Mark(opening.start, opening.start, fixed=opening.token.content)

    def finish(self) -> MarkedText:
        while self.open_marks:
            self.leave_open()
        return MarkedText(self.text, tuple(mark for mark in self.marks if mark is not None))


def format_break(token: Any) -> str:
    """Returns a hard line break as it was written, a backslash or two blanks, without the line end."""
    return "\\" if token.meta.get(RAW, "").startswith("\\") else "  "


def make_link(start: int, end: int, opening: Any) -> Mark:
    """Returns the mark of a link: its words are translated, its address is kept."""
    raw, label_end = opening.meta[RAW], opening.meta[LABEL_END]
    if opening.info == "auto":
        return Mark(start, end, fixed=raw)
    label, after = raw[1:label_end], raw[label_end:]
    if after in ("]", "][]"):  # the label is the reference
        after = f"][{' '.join(label.split())}]"
    return Mark(start, end, "[", after)
