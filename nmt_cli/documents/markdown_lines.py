"""Writes a translated passage of Markdown as its source was written, where that can be told.

If a translation has as many words as its source, word by word: its line breaks, its blanks, and the spelling of what is
escaped (`\\(`, `&amp;`) are those of the source. Any other translation stays on one line, as are its parts between hard
line breaks. A page whose translation equals its text is therefore the same, byte for byte.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator

LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
PREFIX = re.compile(r"[ \t>]*")  # of the second and later lines, in a quote or a list
BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")
HARD_BREAK = re.compile(r"[ \t]*\\\n")
LINE_BREAK = re.compile(r"[ \t]*\\$|[ \t]+$")  # at the end of a line: a hard line break, or blanks
OWN_REFERENCE = re.compile(r"\[([^\[\]]+)\]\[\1\]")
BLANKS = re.compile(r"(\s+)")


def write_like(raw: str, written: str, escape_start: Callable[[str], str]) -> str | None:
    """Returns a translation in the lines of its source `raw`; None if it has more words or fewer.

    `escape_start` escapes the start of a line that must not begin a block.
    """
    lines = [match.groups() for match in LINE.finditer(raw) if match[0]] or [(raw, "")]
    words = HARD_BREAK.sub("\n", written).split()
    prefixes = ["", *(PREFIX.match(line)[0] for line, _ in lines[1:])]  # type: ignore[index]
    contents = [line[len(prefix) :] for (line, _), prefix in zip(lines, prefixes, strict=True)]
    breaks = [*map(find_line_break, contents[:-1]), ""]
    contents = [content.removesuffix(mark) for content, mark in zip(contents, breaks, strict=True)]
    if sum(len(content.split()) for content in contents) != len(words):
        return None
    result, remaining = "", iter(words)
    for number, ((_, end), prefix, content) in enumerate(zip(lines, prefixes, contents, strict=True)):
        line = "".join(spell_line(content, remaining))
        if number and line[:1] != content[:1]:
            line = escape_start(line)
            if line.startswith("<"):
                return None
        result += prefix + line + breaks[number] + end
    return result


def find_line_break(content: str) -> str:
    match = LINE_BREAK.search(content)
    return match[0] if match else ""


def spell_line(content: str, words: Iterator[str]) -> Iterator[str]:
    """Yields the next words with the blanks between those of a line, and spelled as there if they are the same."""
    for part in BLANKS.split(content):
        yield part if not part.strip() else spell_word(part, next(words))


def spell_word(raw: str, written: str) -> str:
    """Returns a word as the source spells it, if it is the same or stands inside it unchanged."""
    if raw == written:
        return written
    before, match, after = read_plain(written).partition(read_plain(raw))
    return f"{before}{raw}{after}" if match and is_harmless(before + after) else written


def is_harmless(text: str) -> bool:
    """Whether nothing in a text has a meaning to Markdown."""
    return BACKSLASH.search("\\" + "\\".join(text)) is None if text else True


def read_plain(word: str) -> str:
    """Returns what a word spells."""
    return html.unescape(BACKSLASH.sub(r"\1", word))


def restore_references(raw: str, written: str) -> str:
    """Returns links whose words are their own reference in the short form that the source has."""
    source = " ".join(raw.split())

    def shorten(link: re.Match[str]) -> str:
        short_forms = (f"[{link[1]}][]", f"[{link[1]}]")
        return link[0] if link[0] in source else next((form for form in short_forms if form in source), link[0])

    return OWN_REFERENCE.sub(shorten, written)
