"""A file of each format: what of it is text, and that nothing else changes by a byte.

A new format brings its file into `tests/samples`, under its name, and the texts of that into `texts.toml`:

    lrc = ["One line here.", "Another one."]
"""

import re
import tomllib

import pytest

from support.documents import SAMPLES, echo_document, list_texts, read_sample

TEXTS = tomllib.loads((SAMPLES / "texts.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_where_the_translations_equal_the_texts_a_file_stays_byte_for_byte(name: str, line_end: str, mark: str) -> None:
    data = (mark + re.sub(r"(?<!\r)\n", line_end, read_sample(name))).encode()
    format, _, _ = name.partition("-")
    assert list_texts(format, data) == TEXTS[name]
    assert echo_document(format, data, "en-GB") == data
