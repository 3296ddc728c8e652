"""The lines of a translated Markdown passage: none begins a block, and links keep their form.

A translation keeps the line ends of its source where the words on both sides are adjacent in it too; if any line end
has no such place, it is written on one line, and so is each part between hard line breaks.
"""

from __future__ import annotations

import re

LINE_END = re.compile(r"(\r\n|\n|\r)")  # as the parser defines it
PREFIX = re.compile(r"[ \t>]*")  # of the second and later lines, in a quote or a list
HARD_BREAK = re.compile(r"(?:  |\\|<br\s*/?>|^\[!\w+\])$")  # how a line ends whose end must stay
BLOCK_START = re.compile(r"(#{1,6}(?=\s|$)|[-+](?=\s|$)|=+\s*$|-+\s*$|~{3,}|:(?=\s|$|::))|(\d{1,9})(?=[.)](\s|$))")
BLOCK_OF_MARKS = re.compile(r"<|\$\$|\*(?=\s|$)")  # the same, which no backslash prevents
FIRST_WORD = re.compile(r"[ \t>]*(<[^<>]*>|\S*)")  # of a line, or the tag that begins it
OWN_REFERENCE = re.compile(r"\[([^\[\]]+)\]\[([^\[\]]+)\]")


def finish_lines(raw: str, written: str) -> str:
    """Returns the translation `written` for the passage `raw`, with lines that begin no block."""
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
    """Escapes a line of running text so that it begins no list, heading or fence."""
    match = BLOCK_START.match(line)
    if not match:
        return line
    position = match.end(2) if match[2] else match.start()
    return f"{line[:position]}\\{line[position:]}"


def restore_references(raw: str, written: str) -> str:
    """Returns links whose words are their own reference in the form that they have in the source: `[it]`."""

    def shorten(link: re.Match[str]) -> str:
        words = " ".join(re.sub(r"\n[ \t>]*", " ", link[1]).split())
        forms = (link[0], f"[{link[1]}][]", f"[{link[1]}]") if words == link[2] else ()
        return next((form for form in forms if form in raw), link[0])

    return OWN_REFERENCE.sub(shorten, written)
