"""Files of strings: JSON, YAML, Java properties, and strings of Android and Apple apps."""

import codecs
import json
import re
import sys

import pytest

from nmt_cli.errors import DataError, MissingExtraError
from support.documents import convert_bytes, echo_document, list_texts, open_bytes
from support.translations import aligned, louder

JSON = r"""// strings of the shop
{
  "title" : "The caf\u00e9 \"Blue\" opens",
  "menu": {"soup": "Soup of the day", "list": ["One plate", 2, true, null, "Two  plates\tand\nmore"]},
  "url": "https://example.org/a", "id": "soup_1", "icon": "fa-home", "file": "a/b.png", "n": "12",
  "@title": {"description": "kept"}, "$schema": "Some schema",
  "files": "{count, plural, =0 {No files} one {# file by {name}} other {# files}} found", /* note */
  "empty": "", "key with spaces": "OK", "emoji": "smile \ud83d\ude00"
}
"""
PROPERTIES = r"""# Not this comment
! nor = that
title = The harbour
key\:with\ escapes : A value with \u00e9, \
    going on here\nand a new line
empty=
   indented   Value after blanks
message=Can''t open {0} of {1}
path=C:\\files\\a
url=https://example.org
lonely"""
ANDROID = r"""<?xml version="1.0" encoding="utf-8"?>
<!-- made by hand -->
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2" xmlns:tools="t">
    <string name="app_name" translatable="false">Acme</string>
    <string name="hello">Don\'t <b>stop</b>, <xliff:g id="n" example="Bo">%1$s</xliff:g>!\nGo &amp; see\u2026</string>
    <string name="quoted">"It's   here"</string>
    <string name="html"><![CDATA[Read <a href="x">the terms</a>]]></string>
    <string name="ref">@string/hello</string>
    <plurals name="boats"><!-- c --><item quantity="one">%d boat</item>
        <item quantity="other">%d boats</item></plurals>
    <string-array name="days"><item>Monday</item><item>@string/x</item></string-array>
    <color name="c">red</color><string name="none"/>
</resources>
"""
YAML = """# strings
strings:
  title: "The caf\\u00e9 \\"Blue\\": it
    opens"   # note
  plain: Soup of the day
  two lines: one line
    and another
  single: 'It''s here'
  url: https://example.org
  flag: yes
  number: 12
  date: 2020-01-02
  id: soup
  empty:
  list: [One plate, 'two plates', {a: Three plates}]
  anchor: &x Some words
  alias: *x
  tagged: !!binary aGVsbG8=
  ? complex key
  : Its value
  literal: |-
    First line
      indented line

    Third line
  folded: >
    A paragraph that
    goes on here

    and ends
  last: end
"""
APPLE = r"""/* "Title" = "of the screen"; */
"title" = "The \"Blue\" caf\U00e9";
// "no" = "entry";
"two words"="%1$@ has %lu files\nand a tab\there" /* why */ ;
  "blanks"  =
    "Soup  of the day";
bare = "A bare key";
"url" = "https://example.org"; "id" = "soup"; "empty" = ""; "a" = "B = \"c\";"; "octal" = "caf\351 blue";
{ list = ( "kept words", "kept too" ); name = value; }
"lines" = "One line
and another";
"""
FILES = {"json": JSON, "properties": PROPERTIES, "android": ANDROID, "apple": APPLE, "yaml": YAML}
TEXTS = {
    "json": [
        'The café "Blue" opens',
        "Soup of the day",
        "One plate",
        "Two plates and",
        "more",
        "{1} found",
        "No files",
        "# file by {name}",
        "# files",
        "OK",
        "smile 😀",
    ],
    "properties": [
        "The harbour",
        "A value with é, going on here",
        "and a new line",
        "Value after blanks",
        "Can't open {0} of {1}",
    ],
    "android": [
        "Don't stop, {1}!",
        "Go & see…",
        "It's here",
        'Read <a href="x">the terms</a>',
        "%d boat",
        "%d boats",
        "Monday",
    ],
    "apple": [
        'The "Blue" café',
        "%1$@ has %lu files",
        "and a tab here",
        "Soup of the day",
        "A bare key",
        'B = "c";',
        "café blue",
        "One line",
        "and another",
    ],
    "yaml": [
        'The café "Blue": it opens',
        "Soup of the day",
        "one line and another",
        "It's here",
        "One plate",
        "two plates",
        "Three plates",
        "Some words",
        "Its value",
        "First line",
        "indented line",
        "Third line",
        "A paragraph that goes on here",
        "and ends",
        "end",
    ],
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_file_stays_byte_for_byte_where_the_translation_equals_the_text(name: str, line_end: str) -> None:
    data = FILES[name].replace("\n", line_end).encode()
    if name == "properties":  # in which a character that is not ASCII is escaped
        first, last = (f"\\u{ord(mark):04x}".encode() for mark in "⟪⟫")
        assert echo_document(name, data).replace(first, b"").replace(last, b"") == data
    else:
        written = echo_document(name, data)
        assert written.replace(b"\\u27ea", b"").replace(b"\\u27eb", b"") == data


@pytest.mark.parametrize("name", FILES)
def test_the_texts_are_the_values_that_people_read(name: str) -> None:
    assert list_texts(name, FILES[name].encode()) == TEXTS[name]


@pytest.mark.parametrize(
    "text",
    [
        "你好{name}，欢迎",
        "はい/いいえ",
        "iPhone15を購入",
        "สวัสดี{name}",
        "<b>Delete</b>",
        "Delete<br/>",
        "こんにちは。Tom",
    ],
)
def test_a_sentence_without_blanks_and_a_word_between_tags_are_texts(text: str) -> None:
    assert list_texts("json", json.dumps({"a": text}).encode()) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "https://例え.jp/あ",
        "/图片/首页",
        "图片/首页.png",
        "@用户",
        "List<String>",
        "<code>user_id</code>",
        "user_{id}",
        "a/b",
    ],
)
def test_an_address_a_path_and_a_name_in_a_program_are_no_texts(text: str) -> None:
    assert list_texts("json", json.dumps({"a": text}).encode()) == []


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("mark", ["'", '"', "\\", "&", "<", ": ", " #", "[", "{", "%", "- a", "é", "😀", "no", "@x"])
def test_a_translation_is_escaped(name: str, mark: str) -> None:
    rule = lambda text: aligned(text, mark.split(), [0] * len(mark.split()))  # noqa: E731
    written = convert_bytes(name, FILES[name].encode(), rule)
    assert written.count(b"name=") == FILES[name].count("name=")
    assert len(list_texts(name, written)) >= 0  # it is read again without an error
    if name == "json":
        assert json.loads(written.split(b"\n", 1)[1].replace(b"/* note */", b""))["menu"]["soup"] == mark.strip()
    if name == "yaml":
        import ruamel.yaml

        values = ruamel.yaml.YAML(typ="safe", pure=True).load(written)["strings"]
        assert (values["plain"], values["single"], values["list"][0]) == (mark.strip(),) * 3
        assert list(values)[:3] == ["title", "plain", "two lines"]


def test_properties_keep_to_ascii_and_double_apostrophes_in_messages() -> None:
    rule = lambda text: aligned(text, ["l'été", "{0}"], [0, 0])  # noqa: E731
    assert convert_bytes("properties", b"a=Can''t {0}\nb=Some words", rule) == (
        b"a=l''\\u00e9t\\u00e9 {0}\nb=l'\\u00e9t\\u00e9 {0}"
    )
    assert convert_bytes("properties", "a=Café words\n".encode(), louder) == "a=CAFÉ WORDS\n".encode()
    assert convert_bytes("properties", "a=Café words\n".encode("latin-1"), louder) == b"a=CAF\\u00c9 WORDS\n"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("json", '{\n"a": "b",\n}x', "line 3: not valid JSON"),
        ("json", '{"a": [1}', "brackets do not match"),
        ("json", '{"a": "b"', "a bracket is not closed"),
        ("json", "[" * 300, "more than 200 nested values"),
        ("yaml", "a: [1\n", "not valid YAML"),
        ("yaml", "a: 'b\n", "not valid YAML"),
        ("yaml", "[" * 300 + "]" * 300, "more than 200 nested values"),
        ("android", "<resources><string>", "not valid XML"),
        ("apple", '"a" = "b";\n"c" = "d;\n', "line 2: a string is never closed"),
        ("apple", '"a" = "b";\n/* c', "line 2: a comment is never closed"),
    ],
)
def test_what_is_not_valid_is_refused_with_its_line(name: str, text: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        convert_bytes(name, text.encode(), louder)


def test_an_entry_of_apple_without_its_end_stays_whatever_comments_follow() -> None:
    text = '"a" = "Some words" ' + "/* c */ " * 200 + '"b" = "More words";'
    assert list_texts("apple", text.encode()) == ["More words"]


def test_utf_16_is_kept() -> None:
    data = codecs.BOM_UTF16_LE + '"a" = "Some words";\n'.encode("utf-16-le")
    assert convert_bytes("apple", data, louder) == codecs.BOM_UTF16_LE + '"a" = "SOME WORDS";\n'.encode("utf-16-le")


def test_escaped_pairs_are_one_character() -> None:
    assert list_texts("android", b'<resources><string name="a">so \\ud83d\\ude00</string></resources>') == ["so 😀"]
    assert list_texts("yaml", b'a: "so \\ud83d\\ude00"\n') == ["so 😀"]
    assert list_texts("properties", b"a=so \\ud83d\\ude00\n") == ["so 😀"]


@pytest.mark.parametrize(("name", "text"), [("json", '{"a": "één woord"}'), ("yaml", "a: één woord\n"), ("vtt", "")])
def test_an_encoding_that_is_typed_is_kept(name: str, text: str) -> None:
    text = text or "WEBVTT\n\n00:01.000 --> 00:02.000\néén woord\n"
    for encoding in ("cp1252", "utf-16"):
        written = convert_bytes(name, text.encode(encoding), louder, encoding=encoding)
        assert written.decode(encoding) == text.replace("één woord", "ÉÉN WOORD")


def test_a_format_without_its_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ruamel.yaml", None)
    with pytest.raises(MissingExtraError) as problem:
        convert_bytes("yaml", b"a: b\n", louder)
    assert problem.value.exit_code == 69
    assert re.search(r"pip install .*\[formats\]", problem.value.hint)


def test_remarks_for_translators_beside_a_message_stay() -> None:
    chrome = {
        "a": {"message": "Hello $USER$", "description": "no text", "placeholders": {"user": {"content": "$1 is"}}},
        "b": {"description": "a {none}", "message": "Good day"},
        "c": {"id": "x.y", "defaultMessage": "Goodbye", "description": "no text"},
        "d": {"title": "One title", "message": "One message", "description": "One text"},
    }
    texts = ["Hello $USER$", "Good day", "Goodbye", "One title", "One message", "One text"]
    document = open_bytes("json", json.dumps(chrome, indent=1).encode())
    assert [text for unit in document.read_units() for text in unit.texts] == texts
    assert sum(document.notes.values()) == 3
