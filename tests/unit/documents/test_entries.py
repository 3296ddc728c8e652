"""Files of entries: INI, TOML, PHP, DTD, resource scripts, calendars, Fluent, and strings of Apple and Java."""

import pytest

from nmt_cli.documents.strings import entries
from support.documents import SAMPLES, convert_bytes, read_sample
from support.translations import aligned, backwards, louder


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
        ("paradox", 'a:0 "b c"', 'a:0 "x \\"y\\" \\"'),
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


def test_colours_and_variables_of_a_game_follow_their_words_and_its_language_is_named() -> None:
    text = b'l_english:\n a:0 "Trade with \xc2\xa7YTom\xc2\xa7! for $SUM$"\n'
    expected = 'l_german:\n a:0 "$SUM$ FOR §YTOM§! WITH TRADE"\n'
    assert convert_bytes("paradox", text, backwards).decode() == expected


def test_every_row_of_the_table_is_tried() -> None:
    formats = ("ini", "toml", "php", "dtd", "rc", "ics", "ftl", "apple", "properties", "paradox")
    assert len(entries.EntryDocument.__subclasses__()) == len(formats)
    assert all((SAMPLES / name).exists() for name in formats)
