"""What is particular to Android's strings: escapes, quotes around a value, and entities."""

import pytest

from nmt_cli.errors import DataError
from support.documents import convert_bytes, list_texts
from support.translations import aligned, louder


def test_android_escapes_what_a_string_cannot_have() -> None:
    rule = lambda text: aligned(text, ["it's", '"so"', "&"], [0, 0, 0])  # noqa: E731
    assert rb"""<string name="a">it\'s \"so\" &amp;</string>""" in convert_bytes(
        "android", b'<resources><string name="a">Some words</string></resources>', rule
    )


@pytest.mark.parametrize(
    ("value", "text", "written"),
    [
        ('"  It is here.  "', "It is here.", '"  I don\'t.  "'),
        ('"It is here."', "It is here.", '"I don\'t."'),
        ('\n    "It is here."\n  ', "It is here.", '\n    "I don\'t."\n  '),
        ("It is here.", "It is here.", "I don\\'t."),
        ('\\"It is here.\\"', '"It is here."', "I don\\'t."),
    ],
)
def test_quotes_around_a_string_of_android_are_syntax(value: str, text: str, written: str) -> None:
    data = f'<resources><string name="a">{value}</string></resources>'.encode()
    assert list_texts("android", data) == [text]
    assert convert_bytes("android", data, lambda source: aligned(source, ["I", "don't."], [0, 2])) == (
        data.replace(value.encode(), written.encode())
    )


def test_entities_that_a_document_declares_stay_as_they_are() -> None:
    data = b"""<!DOCTYPE resources [
  <!ENTITY app "My app">
]>
<resources><string name="a">Welcome to &app;, &lt;you&gt;!</string></resources>"""
    assert list_texts("android", data) == ["Welcome to {1}, <you>!"]
    assert convert_bytes("android", data, louder) == data.replace(b"Welcome to", b"WELCOME TO").replace(b"you", b"YOU")


@pytest.mark.parametrize(
    "entity",
    [
        '<!ENTITY b "&a;&a;">',
        '<!ENTITY x SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p "a">',
        f'<!ENTITY c "{"a" * 9999}">',
    ],
)
def test_entities_that_could_grow_or_read_files_are_refused(entity: str) -> None:
    data = f'<!DOCTYPE r [<!ENTITY a "ha">{entity}]><resources><string name="a">Hello</string></resources>'.encode()
    with pytest.raises(DataError, match="declares entities"):
        list_texts("android", data)
