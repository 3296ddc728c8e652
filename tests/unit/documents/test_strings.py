"""Files of strings: JSON, YAML, Java properties, and strings of Android and Apple apps."""

import codecs
import json
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.documents.strings import entries
from nmt_cli.documents.strings.syntax import is_text
from nmt_cli.errors import DataError, MissingExtraError
from support.documents import SAMPLES, convert_bytes, echo_document, list_texts, open_bytes, read_sample
from support.translations import aligned, backwards, louder


@pytest.mark.parametrize("name", ["json", "properties", "android", "apple", "yaml"])
@pytest.mark.parametrize("mark", ["'", '"', "\\", "&", "<", ": ", " #", "[", "{", "%", "- a", "é", "😀", "no", "@x"])
def test_a_translation_is_escaped(name: str, mark: str) -> None:
    rule = lambda text: aligned(text, mark.split(), [0] * len(mark.split()))  # noqa: E731
    sample = read_sample(name).encode()
    written = convert_bytes(name, sample, rule)
    assert written.count(b"name=") == sample.count(b"name=")
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


# What is particular to Android's strings: escapes, quotes around a value, and entities.


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


# Files of strings of every form, made at random: byte for byte the same where nothing is translated.


PARTS_OF_APPLE = ["a b", '"', '" = "', '";', "=", "\\n", '\\"', "/* c */", "// d", "\n", "é", "/", "("]
VALUES = st.recursive(
    st.text(st.sampled_from("ab \n\t\"\\'é😀{}:#-,%\u2028\x07/"), max_size=12)
    | st.integers()
    | st.none()
    | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab@$ .", max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_any_json_stays_byte_for_byte(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert echo_document("json", text.encode()).decode() == text
    assert json.loads(convert_bytes("json", text.encode(), louder)) is not ...


@given(VALUES, st.sampled_from([True, False]))
def test_any_yaml_stays_byte_for_byte(value: object, flow: bool) -> None:
    import io

    import ruamel.yaml

    stream = io.StringIO()
    writer = ruamel.yaml.YAML(typ="safe", pure=True)
    writer.default_flow_style = flow
    writer.dump(value, stream)
    text = stream.getvalue()
    assert echo_document("yaml", text.encode()).decode() == text


@given(st.text(st.sampled_from("ab= :#!\\\n\r\tué0{}'"), max_size=40))
def test_any_properties_stay_byte_for_byte(text: str) -> None:
    assert echo_document("properties", text.encode()).decode() == text


@given(
    st.lists(
        st.sampled_from(
            ["a b", "\\'", "\\n", "&lt;", "<b>", "</b>", "é", '\\"', "  ", "\\u0020", "%1$s", "\n   ", "<br/>"]
        )
    ).filter(lambda parts: parts.count("<b>") == parts.count("</b>") == 0 or parts[:1] + parts[-1:] == ["<b>", "</b>"])
)
def test_any_string_resource_stays_byte_for_byte(parts: list[str]) -> None:
    inner = [part for part in parts[1:-1] if part not in ("<b>", "</b>")]
    text = f'<resources><string name="x">{"".join([*parts[:1], *inner, *parts[-1:]])}</string></resources>'
    try:
        written = echo_document("android", text.encode())
    except DataError:
        return  # tags that do not match
    assert written.decode() == text


@given(st.lists(st.sampled_from(PARTS_OF_APPLE)))
def test_any_strings_of_apple_stay_byte_for_byte(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        written = echo_document("apple", text.encode())
    except DataError:
        return  # a string or a comment that is never closed
    assert written.decode() == text


# Values of configuration files that programs read are no text: commands, classifiers, names of packages.


@pytest.mark.parametrize(
    ("value", "key", "outer"),
    [
        ("Development Status :: 4 - Beta", "anything", ()),
        ("tsc -p . && node dist/index.js", "anything", ()),
        ("pytest -x -q tests", "anything", ()),
        ("-y", "anything", ()),
        ("--watch=all", "anything", ()),
        ("npx", "command", ()),
        ("start", "args", ()),
        ("vite build", "dev", ("scripts",)),
        ("latest", "left-pad", ("devDependencies",)),
        ("ubuntu-latest", "runs-on", ("jobs", "build")),
        ("production", "MODE", ("env",)),
        ("UP", "select", ("[tool", "ruff")),
        ("shop", "name", ("[project",)),
    ],
)
def test_values_of_programs_are_no_text(value: str, key: str, outer: tuple[str, ...]) -> None:
    assert not is_text(value, key, outer)


@pytest.mark.parametrize(
    ("value", "key", "outer"),
    [
        ("A small shop for books.", "description", ("[project",)),
        ("Build the shop", "name", ("jobs",)),
        ("Command to run", "command", ("labels",)),
        ("Command", "command", ("labels",)),
        ("see docs/readme.md for help", "help", ()),
        ("either this and/or that", "help", ()),
        ("save", "ok", ()),
        ("full name", "name", ()),
        ("draw a line", "tip", ("tool",)),
        ("wait ... please", "tip", ()),
        ("well-known words", "tip", ()),
        ("one :two", "tip", ()),
    ],
)
def test_words_for_people_are_text(value: str, key: str, outer: tuple[str, ...]) -> None:
    assert is_text(value, key, outer)


# What is particular to the YAML of Rails: symbols, and the language as the only key at the top.


# Files of entries: INI, TOML, PHP, DTD, resource scripts, calendars, Fluent, and strings of Apple and Java.


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
