"""Rules for a Markdown parser: keep lines that CommonMark takes for a paragraph although they are not prose.

Lines: fences of containers (`:::`), imports, exports and components of MDX, formulas (`$$`), comments, tables of
contents (`[TOC]`), abbreviations (`*[HTML]: ...`), attributes (`{: .class}`), LaTeX and template commands. The text
inside admonitions (`!!! note`) is read as blocks. Within a line: formulas (`$x$`), wiki links (`[[page]]`), citations
(`[@key]`), emoji by name (`:smile:`), comments (`{/* */}`, `%% %%`) and attributes (`{#id}`, `{: .class}`).

The state passed to a rule belongs to markdown-it-py, which this file does not import.
"""

from __future__ import annotations

import re
from typing import Any

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
    """Returns a line of a block without its indentation; empty for one indented as code."""
    if state.sCount[number] - state.blkIndent >= 4 or state.sCount[number] < state.blkIndent:
        return ""
    return str(state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]).rstrip()


def keep_lines(state: Any, start: int, end: int, silent: bool) -> bool:
    """Consumes lines that are not prose, as a block that is not rendered."""
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
            state.push(name, "", 0).content = match[0]
        state.pos = match.end()
        return True
    return False
