"""Fills in the header of a catalogue that was made from a template, as gettext's `msginit` does."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from nmt_cli.languages.codes import find_code, find_language_tag

# The entry of the header: its comments and flags, and its lines.
HEADER_ENTRY = re.compile(r'(?:[ \t]*(?:#[^\n]*)?\n)*msgid ""\nmsgstr ""\n(?:"[^\n]*"\n)+')
EMPTY_PLURALS = "nplurals=INTEGER; plural=EXPRESSION;"


def complete_header(text: str, language: str) -> str:
    """Returns a catalogue with the language, the encoding and the plural forms where its header has none.

    A header that a person has filled in, and the forms of a language without known ones, stay as they are.
    """
    header, tag = HEADER_ENTRY.match(text), find_language_tag(language)
    if header is None or not tag or "charset=CHARSET" not in header[0]:
        return text
    filled = header[0].replace("charset=CHARSET", "charset=UTF-8").replace("#, fuzzy\n", "")
    filled = re.sub(r'"Language: *\\n"', lambda _: f'"Language: {tag.replace("-", "_")}\\n"', filled)
    filled = filled.replace(EMPTY_PLURALS, load_plural_forms().get(find_code(language), EMPTY_PLURALS))
    return filled + text[header.end() :]


@cache
def load_plural_forms() -> dict[str, str]:
    """Returns the `Plural-Forms` of languages by their codes."""
    lines = (files("nmt_cli.languages") / "data" / "plural-forms.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return {code: forms for codes, forms in rows for code in codes.split()}
