"""Files of entries: INI, TOML, PHP, DTD, resource scripts, calendars, Fluent, and strings of Apple and Java."""

import pytest

from nmt_cli.documents.strings import entries
from support.documents import SAMPLES, convert_bytes, read_sample
from support.translations import aligned, louder


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("ini", 'a="b c"', 'a="x \\"y\\" \\\\"'),
        ("toml", 'a = "b c"', 'a = "x \\"y\\" \\\\"'),
        ("toml", "a = 'b c'", "a = 'x \"y\" \\'"),
        ("php", "'a' => 'b c',", "'a' => 'x \"y\" \\\\',"),
        ("dtd", '<!ENTITY a "b c">', '<!ENTITY a "x &quot;y&quot; \\">'),
        ("rc", 'LTEXT "b c"', 'LTEXT "x ""y"" \\\\"'),
        ("ics", "NOTE:b c", 'NOTE:x "y" \\\\'),
        ("ftl", "a = b c", 'a = x "y" \\'),
    ],
)
def test_what_a_translation_has_is_escaped_as_the_format_wants_it(name: str, text: str, written: str) -> None:
    assert convert_bytes(name, text.encode(), lambda source: aligned(source, 'x "y" \\'.split(), [0, 0, 1])) == (
        written.encode()
    )


def test_a_file_in_utf_16_keeps_its_encoding() -> None:
    data = read_sample("rc")
    written = convert_bytes("rc", data.encode("utf-16"), louder).decode("utf-16")
    assert written.encode() == convert_bytes("rc", data.encode(), louder) and 'ONE ""THING""\\n HERE' in written


def test_every_row_of_the_table_is_tried() -> None:
    formats = ("ini", "toml", "php", "dtd", "rc", "ics", "ftl", "apple", "properties")
    assert len(entries.EntryDocument.__subclasses__()) == len(formats)
    assert all((SAMPLES / name).exists() for name in formats)
