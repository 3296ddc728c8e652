"""Markdown, parsed by markdown-it-py: prose is translated; code, links and layout are kept byte for byte.

    Press **Save** and `x`.          the text "Press Save and {1}."; the code is a placeholder
    Drück **Sichern** und `x`.       with the marks at the aligned words

Everything else stays exactly as written, as does the layout of translated text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import cycle, pairwise
from typing import Any
from unicodedata import category
from urllib.parse import unquote

from nmt_cli.carrying.syntax import VERBATIM
from nmt_cli.documents.document import Document, TranslationUnit, import_library, make_verbatim_unit, weave
from nmt_cli.documents.marks import InlineItem, TextSyntax, make_text, read_spelled_text
from nmt_cli.documents.paragraph import Paragraph
from nmt_cli.text.aligned import Edit
from nmt_cli.text.words import has_letters

# The lines of a translated Markdown passage: none begins a block, and links keep their form.
#
# A translation keeps the line ends of its source where the words on both sides are adjacent in it too; if any line end
# has no such place, it is written on one line, and so is each part between hard line breaks.


LINE_END = re.compile(r"(\r\n|\n|\r)")  # as the parser defines it
PREFIX = re.compile(r"[ \t>]*")  # of the second and later lines, in a quote or a list
HARD_BREAK = re.compile(r"(?:  |\\|<br\s*/?>|^\[!\w+\])$")  # how a line ends whose end must stay
BLOCK_START = re.compile(r"(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|=+\s*$|-+\s*$|~{3,}|:(?=\s|$|::))|(\d{1,9})(?=[.)](\s|$))")
BLOCK_OF_MARKS = re.compile(r"<|\$\$|\*(?=\s|$)")  # the same, which no backslash prevents
FIRST_WORD = re.compile(r"[ \t>]*(<[^<>]*>|\S*)")  # of a line, or the tag that begins it
OWN_REFERENCE = re.compile(r"\[([^\[\]]+)\]\[([^\[\]]+)\]")


def finish_lines(raw: str, written: str) -> str:
    """Returns `written`, the translation of the passage `raw`, changed so that none of its lines begins a block."""
    parts, raw_parts = LINE_END.split(restore_references(raw, written)), LINE_END.split(raw)
    has_all_lines = len(parts) == len(raw_parts)
    starts = [find_first_word(line) for line in raw_parts[::2]]
    line = parts[0]
    result = [line if find_first_word(line) == starts[0] else escape_line_start(line)]
    for end, following in zip(parts[1::2], parts[2::2], strict=True):
        text = PREFIX.sub("", following, count=1)
        prefix = following[: len(following) - len(text)]
        begins_block = BLOCK_START.match(text) or BLOCK_OF_MARKS.match(text)
        is_same = find_first_word(text) in starts[1:]
        if HARD_BREAK.search(line):
            result += [end, prefix, text if is_same else escape_line_start(text)]
        elif has_all_lines and (is_same or not begins_block):
            result += [end, following]
        else:
            result += [" ", text]
        line = following
    return "".join(result)


def find_first_word(line: str) -> str:
    match = FIRST_WORD.match(line)
    return match[1] if match else ""


def escape_line_start(line: str) -> str:
    """Escapes a line of running text so that it does not begin a list, heading or fence."""
    match = BLOCK_START.match(line)
    if not match:
        return line
    position = match.end(2) if match[2] else match.start()
    return f"{line[:position]}\\{line[position:]}"


def restore_references(raw: str, written: str) -> str:
    """Returns the translation with links that are their own reference (`[it][it]`) in the source's form: `[it]`."""

    def shorten(link: re.Match[str]) -> str:
        words = " ".join(re.sub(r"\n[ \t>]*", " ", link[1]).split())
        forms = (link[0], f"[{link[1]}][]", f"[{link[1]}]") if words == link[2] else ()
        return next((form for form in forms if form in raw), link[0])

    return OWN_REFERENCE.sub(shorten, written)


# Rules for a Markdown parser: keep lines that CommonMark takes for a paragraph although they are not prose.
#
# Lines: fences of containers (`:::`), imports, exports and components of MDX, formulas (`$$`), comments, tables of
# contents (`[TOC]`), abbreviations (`*[HTML]: ...`), attributes (`{: .class}`), LaTeX and template commands. The text
# inside admonitions (`!!! note`) is read as blocks. Within a line: formulas (`$x$`), wiki links (`[[page]]`), citations
# (`[@key]`), emoji by name (`:smile:`), comments (`{/* */}`, `%% %%`) and attributes (`{#id}`, `{: .class}`).
#
# The state passed to a rule belongs to markdown-it-py, which this file does not import.


KEPT_INLINE_RULE, KEPT_EMOJI, KEPT_BLOCK = "kept_inline", "kept_emoji", "kept_block"
ATTRIBUTES, COMMENT = "attributes", "comment"
INTERRUPTED = {"alt": ["paragraph", "reference", "blockquote", "list", "table"]}
KEPT_LINE = re.compile(
    r":{3,}.*|\[{1,2}_?(?:TOC|toc)_?\]{1,2}|\\[A-Za-z]+\*?(?:\[[^\]]*\])*(?:\{[^{}]*\})*|\*\[[^\]]+\]:.*"
    r"|</?>|</?[A-Z][\w.]*(?:\s[^<>]*|\s*\{.*\}\s*)?>|\{%.*%\}|\{\{[%<].*[>%]\}\}|-{2,}8<-{2,}.*",
)
ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?|={3}[!+]*)\s+\S.*")
MODULE = re.compile(
    r"import\s+(?:['\"]|[\w{*].*\bfrom\s+['\"]|\{)|export\s+(?:default|const|let|var|function|async|class|\{|\*)"
)
# What begins a block that is no prose, and what ends it; both may stand in one line.
ENCLOSED = (
    (re.compile(r"\\begin\{(\w+\*?)\}"), r"\end{%s}"),
    (re.compile(r"(\$\$)"), "$$"),
    (re.compile(r"(\\\[)$"), r"\]"),
    (re.compile(r"(\{/\*)"), "*/}"),
    (re.compile(r"(%%)(?!\{)"), "%%"),
    (re.compile(r"\{::(comment|nomarkdown)\}"), "{:/%s}"),
)
MATH = re.compile(r"\$\$(?!\s*\$)[^$\n]+\$\$|\$(?![\s$])(?:\\.|[^$\\\n])+?(?<![\s\\])\$(?![\d$])")
WIKI = re.compile(r"\[\[[^\[\]\n]+\]\]|\[-?@[^\[\]\n]+\]")
NAMED_EMOJI = re.compile(r":[a-z][a-z0-9_+-]*:(?![\w:])|:[+-]1:")
# Of Python-Markdown, kramdown, Pandoc and Docusaurus. `{name}` and `{{name}}` are placeholders.
ATTRIBUTE_LIST = re.compile(
    r"\{(?:-|[:#.][^{}\n]*|\s*(?:[\w:-]+=(?:\"[^\"{}\n]*\"|'[^'{}\n]*'|[^\s\"'{}=]+)(?:\s+|(?=\}))|[#.][\w:.-]+(?:\s+|(?=\})))+)\}"
)
SOURCE_COMMENT = re.compile(r"\{/\*.*?\*/\}|%%.+?%%", re.DOTALL)
KEPT_PATTERNS = {  # by the first character: patterns, each with the token that it makes
    "$": ((MATH, KEPT_INLINE_RULE),),
    "[": ((WIKI, KEPT_INLINE_RULE),),
    ":": ((NAMED_EMOJI, KEPT_EMOJI),),
    "{": ((ATTRIBUTE_LIST, ATTRIBUTES), (SOURCE_COMMENT, COMMENT)),
    "%": ((SOURCE_COMMENT, COMMENT),),
}


def add_rules(parser: Any) -> Any:
    """Adds these rules to the parser and returns it."""
    parser.block.ruler.before("fence", "nmt_kept_lines", keep_lines, INTERRUPTED)
    parser.block.ruler.before("fence", "nmt_admonition", read_admonition, INTERRUPTED)
    parser.inline.ruler.before("escape", "nmt_kept_inline", keep_inline)
    for name in (KEPT_BLOCK, KEPT_INLINE_RULE, KEPT_EMOJI, ATTRIBUTES, COMMENT):
        parser.add_render_rule(name, render_kept)
    return parser


def render_kept(_renderer: Any, tokens: Any, index: int, _options: Any, _environment: Any) -> str:
    """Renders a kept token, for comparing pages as displayed."""
    return str(tokens[index].content)


def get_line(state: Any, number: int) -> str:
    """Returns a line of a block without its indentation; empty for a line indented as code."""
    if state.sCount[number] - state.blkIndent >= 4 or state.sCount[number] < state.blkIndent:
        return ""
    return str(state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]).rstrip()


def keep_lines(state: Any, start: int, end: int, silent: bool) -> bool:
    """Consumes lines that are not prose as a single kept block."""
    line = get_line(state, start)
    if not line:
        return False
    following = find_block_end(state, line, start, end)
    if following is None:
        if KEPT_LINE.fullmatch(line) is None and ATTRIBUTE_LIST.fullmatch(line) is None:
            return False
        following = start + 1
    if not silent:
        push_kept(state, start, following)
        state.line = following
    return True


def push_kept(state: Any, start: int, end: int) -> None:
    """Adds a token for the kept lines [start, end)."""
    token = state.push(KEPT_BLOCK, "", 0)
    token.map, token.content = [start, end], state.getLines(start, end, state.blkIndent, False)


def find_block_end(state: Any, line: str, start: int, end: int) -> int | None:
    """Returns the line after a formula, a comment or a module statement; None if none of them begins here."""
    if MODULE.match(line) and state.blkIndent == 0 and state.level == 0:
        return next((number for number in range(start, end) if state.isEmpty(number)), end)
    opening, closing = next(
        ((match, closing) for pattern, closing in ENCLOSED if (match := pattern.match(line))), (None, "")
    )
    if opening is None:
        return None
    closing = closing.replace("%s", opening[1])
    if closing in line[opening.end() :]:
        return start + 1 if line.endswith(closing) else None
    lines = (number for number in range(start + 1, end) if get_line(state, number).endswith(closing))
    last = next(lines, None)
    return None if last is None else last + 1


def read_admonition(state: Any, start: int, end: int, silent: bool) -> bool:
    """Keeps the first line of an admonition and reads the indented lines below it as blocks."""
    if ADMONITION.fullmatch(get_line(state, start)) is None:
        return False
    if silent:
        return True
    last = following = start + 1
    while following < end and (state.isEmpty(following) or state.sCount[following] - state.blkIndent >= 4):
        following += 1
        last = last if state.isEmpty(following - 1) else following
    push_kept(state, start, start + 1)
    outer, parent = (state.lineMax, state.blkIndent), state.parentType
    state.lineMax, state.blkIndent, state.parentType = last, state.blkIndent + 4, "nmt_admonition"
    state.md.block.tokenize(state, start + 1, last)
    state.lineMax, state.blkIndent = outer
    state.parentType, state.line = parent, last
    return True


def keep_inline(state: Any, silent: bool) -> bool:
    """Consumes inline syntax that is not text: see `KEPT_PATTERNS`."""
    character = state.src[state.pos]
    before = state.src[state.pos - 1 : state.pos] if state.pos else ""
    if character in "$:" and (before.isalnum() or before == character):
        return False
    for pattern, name in KEPT_PATTERNS.get(character, ()):
        match = pattern.match(state.src, state.pos, state.posMax)
        if match is None:
            continue
        if not silent:
            token = state.push(name, "", 0)
            token.content, token.meta = match[0], {RAW: match[0]}  # which a link around it would else overwrite
        state.pos = match.end()
        return True
    return False


# Converts a Markdown parser's inline tokens into items of a paragraph.
#
# The parser records no positions within a line. `InlineReader` therefore finds each token again in the parsed text,
# from left to right; for links and code, whose tokens do not record their spelling, a wrapper around the parser's rules
# does.


RECORDED_RULES = ("backticks", "link", "image", "autolink", "footnote_ref", "footnote_inline")
RAW, LABEL_END = "nmt_raw", "nmt_label_end"
ALERT = re.compile(r"\[![A-Za-z]+\]")  # makes an alert of a quote on GitHub, on a line of its own
LINE_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
TASK = re.compile(r"\[[ xX]\](?=\s)")
VOID_NAMES = frozenset("area br col embed hr img input link meta source track wbr".split())  # have no end tag
INLINE_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
LINE_BREAK = re.compile(r" *\\?\n[ \t]*")
SPELLED = re.compile(r"([ \t\r\n]+|\|)")  # a bar has a backslash in a table
LINK_TITLE = re.compile(
    r"(?P<before>\]\(.*?\s(?P<quote>[\"']))(?P<title>(?:\\.|(?!(?P=quote)).)+)(?P<after>(?P=quote)\s*\))", re.DOTALL
)
TITLE_SYNTAX = TextSyntax(
    re.compile(r"\\[!-/:-@\[-`{-~]|\s+"),
    lambda written: " " if written.isspace() else written[1],
    lambda text: re.sub(r"([\\\"'])", r"\\\1", text),
)
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
    """Wraps a rule so that its tokens record the source text consumed, and where a link's label ends in it."""

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


def read_title(link_end: str) -> tuple[str | Paragraph, ...]:
    """Returns the end of a link with its title as a paragraph: `](https://example.org "Title")`."""
    match = LINK_TITLE.fullmatch(link_end)
    if match is None or not has_letters(match["title"]):
        return (link_end,)
    title = Paragraph([read_spelled_text(match["title"], TITLE_SYNTAX)], TITLE_SYNTAX.escape)
    return (match["before"], title, match["after"])


class InlineReader:
    """Reads a token of running text as items. Character i of the token is at `positions[i]` in `document`."""

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
        """Adds text to the run; a task's checkbox in front of the text becomes a point."""
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
        """Adds a line break as a space; after the name of an alert, it separates the name from the text."""
        match = LINE_BREAK.match(self.content, self.cursor)
        if match is None:
            return
        if not self.items and ALERT.fullmatch(self.content, 0, match.start()):
            self.cursor = 0
            self.add_item("break", self.content[: match.end()])
        else:
            self.spell(" ", len(match[0]))

    def read_pair(self, token: Any) -> None:
        """Adds an opening or closing mark; a link's words are translated, and its address is kept."""
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
            self.items.append(InlineItem("close", read_title(written), name=name))

    def read_attributes(self, token: Any, *, is_last: bool) -> None:
        """Adds attributes to the mark before them; after a heading's or paragraph's text, they are separate from it."""
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
        """Adds `text` to the run, as spelled by the next `length` characters."""
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
        """Adds an item for the next characters, which the content spells as `written`."""
        self.add_run()
        self.items.append(InlineItem(kind, (self.take(len(written)),), name=name))

    def add_run(self) -> None:
        """Adds the text read so far as an item."""
        if self.run < self.cursor:
            raw = self.document[self.positions[self.run] : self.positions[self.cursor]]
            self.items.append(make_text(raw, self.edits))
        self.edits = []


# Markdown (CommonMark with tables, strikethrough, footnotes and front matter), parsed by markdown-it-py.
#
# 1. The parser finds the lines with running text. Only that text is replaced; the rest (code, HTML, addresses, the form
#    of lists and tables) is kept byte for byte.
# 2. `inline` reads the running text as a paragraph, whose marks `translation.placement` puts into its translation.
# 3. `lines` ensures that no line of the translation begins a block.
#
# Titles of links are translated, alternative texts of images are kept.


MARKDOWN_MEBIBYTES = 12  # of which the parser makes about 1 GiB in memory
# Unknown to the parser: a byte order mark, and front matter in TOML.
PREAMBLE = r"\ufeff?(?:\+\+\+[ \t]*\r?\n(?s:.*?)(?m:^\+\+\+[ \t]*\r?$))?"
ESCAPED_IN_TEXT = re.compile(r"[\\`*\[\]]|(?<!\{\{)<|>(?!\}\})|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|~(?=~)|!(?=\[)")
BARE_ADDRESS = re.compile(r"((?:https?://|www\.)[^\s<>]+)")
ESCAPED_IN_ADDRESSES = re.compile(r"[\\`*\[\]]")  # the other characters have a meaning only between words
TITLES_KEPT = "titles and descriptions in front matter, and alt texts, left unchanged"
TITLE = re.compile(r"(?m)^(?:title|description|summary|subtitle)[ \t]*[:=][ \t]*\S")
FRONT_MATTER = re.compile(r"\s*(---|\+\+\+)[ \t]*\r?\n.*?^\1[ \t]*\r?$", re.DOTALL | re.MULTILINE)
PARAGRAPHS_NOT_LOCATED = "paragraphs that were not translated: nmt could not locate them in the file"


@dataclass(frozen=True)
class Passage:
    """The running text in the characters [start, end) of a document."""

    start: int
    end: int
    paragraph: Paragraph


class MarkdownDocument(Document):
    preamble = text = ""

    def complete(self, written: str | bytes) -> str:
        return self.preamble + follow_headings(self.text, str(written).removeprefix(self.preamble))

    def read_units(self) -> Iterator[TranslationUnit]:
        whole = self.source.read_text(MARKDOWN_MEBIBYTES)
        preamble = re.match(PREAMBLE, whole)
        self.preamble = preamble[0] if preamble else ""
        text = self.text = whole.removeprefix(self.preamble)
        yield make_verbatim_unit(self.preamble)
        front = FRONT_MATTER.match(whole.removeprefix("\ufeff"))
        self.notes += Counter({TITLES_KEPT: len(TITLE.findall(front[0])) if front else 0})
        yield from weave(text, map(self.make_unit, self.find_passages(text)))

    def make_unit(self, passage: Passage) -> tuple[int, int, TranslationUnit]:
        raw = self.text[passage.start : passage.end]
        unit = passage.paragraph.make_unit(self.notes, partial(finish_lines, raw))
        return passage.start, passage.end, unit._replace(raw=raw)

    def find_passages(self, text: str) -> Iterator[Passage]:
        """Yields the passages of running text in document order; notes those that cannot be located."""
        lines = SourceLines(text)
        cursor = 0
        for token, in_table in sorted(list_inline_tokens(text), key=lambda item: item[0].map[0]):
            positions = lines.locate_cell(token, cursor) if in_table else lines.locate_paragraph(token)
            escape = escape_cell if in_table else escape_markdown
            pictures = sum(part.type == "image" and has_letters(part.content) for part in token.children)
            self.notes += Counter({TITLES_KEPT: pictures})
            reader = InlineReader(token, text, positions or range(len(token.content) + 1))
            paragraph = Paragraph(reader.read_items(), escape, NEED_TEXT, "ui" if in_table else "")
            if positions and (paragraph.texts or in_table):  # the next cell is searched for behind this one
                cursor = positions[-1]
            if positions and (paragraph.texts or self.source.reads_back):
                yield Passage(positions[0], cursor, paragraph)
            elif paragraph.texts:
                self.notes[PARAGRAPHS_NOT_LOCATED] += 1


# Links to headings: `](#arrival)`, behind `## Arrival`, becomes `](#ankunft)`, as GitHub names headings.


OWN_LINK = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<before>\]\(\s*<?|^[ \t>]*\[[^\]\n]+\]:[ \t]*<?|\bhref\s*=\s*[\"'])#(?P<name>[^\s<>()\"']+)(?=[\s<>)\"']|$)",
    re.MULTILINE,
)
OWN_NAME = re.compile(r"""\b(?:id|name)\s*=\s*["']?([^\s<>"']+)|\{[^{}\n]*?#([\w:.-]+)[^{}\n]*\}""")
HIDDEN = ("image", "html_inline", ATTRIBUTES, COMMENT)  # of a heading: no part of its name
KEPT_TOKENS = ("fence", "code_block", "front_matter", KEPT_BLOCK)


def follow_headings(source: str, written: str) -> str:
    """Returns the translation, with links to source headings changed to point to the translated headings.

    Names that the source defines explicitly stay.
    """
    if not any(link["name"] for link in OWN_LINK.finditer(source)):
        return written
    before, after = list_names(source), list_names(written)
    spelled = {name for names in OWN_NAME.findall(source) for name in names}
    if len(before) != len(after):
        return written
    moved = {old: new for old, new in zip(before, after, strict=True) if new and old not in spelled}

    def follow(link: re.Match[str]) -> str:
        name = link["name"] and moved.get(unquote(link["name"]))
        return f"{link['before']}#{name}" if name else link[0]

    starts, position, parts = [*SourceLines(written).starts, len(written)], 0, list[str]()
    for token in make_inline_parser().parse(written):
        if token.type in KEPT_TOKENS:
            first, last = (starts[number] for number in token.map)
            parts += [OWN_LINK.sub(follow, written[position:first]), written[first:last]]
            position = last
    return "".join([*parts, OWN_LINK.sub(follow, written[position:])])


def list_names(text: str) -> list[str]:
    """Returns the name that each heading has in links on GitHub: `what-is-it`, `what-is-it-1`."""
    tokens, counts, names = make_inline_parser().parse(text), Counter[str](), list[str]()
    for heading, token in pairwise(tokens):
        if heading.type == "heading_open":
            shown = "".join(
                part.content or " " * (part.type == "softbreak") for part in token.children if part.type not in HIDDEN
            )
            kept = (
                sign for sign in shown.strip().lower() if sign in " -_" or sign.isalnum() or category(sign)[0] == "M"
            )
            name = "".join(kept).replace(" ", "-")
            names.append(f"{name}-{counts[name]}" if counts[name] else name)
            counts[name] += 1
    return names


def escape_markdown(text: str) -> str:
    """Escapes plain text so that Markdown finds no markup in it except addresses."""
    patterns = cycle((ESCAPED_IN_TEXT, ESCAPED_IN_ADDRESSES))
    parts = zip(BARE_ADDRESS.split(text), patterns, strict=False)
    return "".join(pattern.sub(lambda match: "\\" + match[0], part) for part, pattern in parts)


def escape_cell(text: str) -> str:
    """Escapes plain text for a table cell."""
    return escape_markdown(text).replace("|", "\\|")


def list_inline_tokens(text: str) -> Iterator[tuple[Any, bool]]:
    """Yields the parser's tokens of running text, and whether each is in a table."""
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
        """Returns the position of each character of one or more lines, and of their end; None if not found.

        Each line end of the token stands for the document's line end and any quote or list prefix after it.
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
        """Locates a table cell after `cursor` in the same way; in the source, a `|` within it is escaped."""
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
