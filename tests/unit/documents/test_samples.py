"""What of a document is text, how it is written with its translations, and that nothing else changes by a byte.

A new format brings its file into `tests/samples`, under its name, and the texts of that into `texts.toml`:

    lrc = ["One line here.", "Another one."]

Short documents are rows of `cases.toml`: a document, and its texts or what is written of it, with options if there are
any. `stays` says by which rule a document stays byte for byte.
"""

import re
import tomllib
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest

from support.documents import SAMPLES, convert_bytes, echo_document, list_texts, read_sample
from support.translations import backwards, louder, same

TEXTS, CASES = (tomllib.loads((SAMPLES / f"{name}.toml").read_text(encoding="utf-8")) for name in ("texts", "cases"))
RULES = {"capitals": louder, "backwards": backwards}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("line_ends", [["\n"], ["\r\n"], ["\n", "\r\n"]])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_where_the_translations_equal_the_texts_a_file_stays_byte_for_byte(
    name: str, line_ends: list[str], mark: str
) -> None:
    ends = cycle(line_ends)
    data = (mark + re.sub(r"(?<!\r)\n", lambda _: next(ends), read_sample(name))).encode()
    format, _, _ = name.partition("-")
    assert list_texts(format, data) == TEXTS[name]
    assert echo_document(format, data, "en-GB") == data


def read_cases() -> Iterator[Any]:
    for group in CASES["group"]:
        for number, (document, expected, *options) in enumerate(group["cases"]):
            yield pytest.param(group, document, expected, *(options or [{}]), id=f"{group['name']} {number}")


@pytest.mark.parametrize(("group", "document", "expected", "options"), list(read_cases()))
def test_a_document_has_its_texts_or_is_written_as_its_case_says(
    group: dict[str, Any], document: str, expected: list[str] | str, options: dict[str, Any]
) -> None:
    format, data, rule = group["format"], document.encode(), RULES.get(group["finds"])
    if rule is None:
        assert list_texts(format, data, **options) == expected
    else:
        assert convert_bytes(format, data, rule, **options).decode() == expected
    if group.get("stays") == "echo":
        assert echo_document(format, data, "en", **options) == data
    elif group.get("stays") == "same":
        assert convert_bytes(format, data, same, **options) == data
