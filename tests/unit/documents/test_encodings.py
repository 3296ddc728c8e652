"""Documents in other encodings than UTF-8 are written in the one that they came in."""

import io

import pytest

from nmt_cli.documents import open_document, read_mark
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import DocumentSource
from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats import BY_NAME
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.tags import parse_tag_list
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.lines import group_by_tags
from nmt_cli.translation.request import Block
from support.translations import louder

HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset={}\\n"\n\n'


def translated(name: str, data: bytes, **options: str) -> bytes:
    """What is written of a document whose texts are translated into capitals."""
    source = DocumentSource(io.BytesIO(data), f"x.{name}", DocumentOptions(**options), "de")
    document = open_document(name, source)
    written = (unit.write([louder(text) for text in unit.texts]) for unit in document.read_units())
    return b"".join(text if isinstance(text, bytes) else text.encode() for text in written)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le", "utf-16-be", "utf-16", "utf-32", "shift_jis", "utf-8"])
def test_the_output_is_in_the_encoding_of_the_input(encoding: str) -> None:
    text = "two words\r\n" if encoding == "shift_jis" else "où ça\n"
    for newlines in (text, text * 3, text[:-1].rstrip()):
        written = translated("tsv", newlines.encode(encoding), encoding=encoding, column="1")
        lines = newlines.splitlines(keepends=True)
        ends = [line[len(line.rstrip()) :] for line in lines]
        expected = "".join(
            f"{line.strip()}\t{line.strip().upper()}{end}" for line, end in zip(lines, ends, strict=True)
        )
        assert written == expected.encode(encoding)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_lines_of_wide_text_have_one_byte_order_mark_as_their_source_has(encoding: str) -> None:
    written = translated("text", "où\nça\n".encode(encoding), encoding=encoding)
    assert written == "OÙ\nÇA\n".encode(encoding)  # which begins with the mark
    without = translated("text", "où\nça\n".encode(f"{encoding}-le"), encoding=f"{encoding}-le")
    assert without == "OÙ\nÇA\n".encode(f"{encoding}-le")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_tells_the_encoding_of_a_format_that_names_none(encoding: str) -> None:
    data = "\ufeff1\n00:00:01,000 --> 00:00:02,000\noù ça\n".encode(encoding)
    for name, read in (("srt", "utf-16"), ("html", None)):
        source = DocumentSource(io.BytesIO(data), "x", DocumentOptions(), "de")
        assert read_mark(source, BY_NAME[name], data).config.encoding == read
    assert translated("srt", data, encoding="utf-16") == data.decode(encoding).replace("où ça", "OÙ ÇA").encode(
        encoding
    )


@pytest.mark.parametrize("declared", ["utf-16", "UTF-32", "unicode", "base64"])
def test_a_declared_encoding_that_cannot_hold_its_declaration_is_utf_8(declared: str) -> None:
    page = f'<meta charset="{declared}"><p>où ça</p>'
    assert translated("html", page.encode()) == page.replace("où ça", "OÙ ÇA").encode()
    strings = f'<?xml version="1.0" encoding="{declared}"?><resources><string name="a">où ça</string></resources>'
    assert translated("android", strings.encode()) == strings.replace("où ça", "OÙ ÇA").encode()


def test_a_catalogue_names_its_own_encoding() -> None:
    text = HEADER.format("ISO-8859-1") + 'msgid "où"\nmsgstr ""\n'
    assert translated("po", text.encode("latin-1")) == text.replace('msgstr ""\n', 'msgstr ""\n').encode(
        "latin-1"
    ).replace(b'msgid "o\xf9"\nmsgstr ""', b'msgid "o\xf9"\nmsgstr "O\xd9"')
    utf_8 = HEADER.format("UTF-8") + 'msgid "où"\nmsgstr ""\n'
    assert translated("po", utf_8.encode()).decode().endswith('msgstr "OÙ"\n')
    with pytest.raises(OptionError, match="charset: there is no encoding 'klingon'"):
        translated("po", HEADER.format("klingon").encode())


def test_what_the_encoding_cannot_hold_or_is_not_in_it_is_refused() -> None:
    with pytest.raises(DataError, match="line 2: not shift_jis"):
        translated("text", b"a\n\xff\xff\n", encoding="shift_jis")
    with pytest.raises(DataError, match="which cp437 does not have") as caught:
        translated("text", "ÿ\n".encode("cp437"), encoding="cp437")
    assert "iconv -f cp437" in caught.value.hint
    with pytest.raises(OptionError, match="there is no encoding 'utf-17'"):
        translated("text", b"a\n", encoding="utf-17")


# What a program shows is translated in its own words, where a model knows them.

PAGE = """<html><body><nav><ul><li>Home</li></ul></nav><p>A text.</p>
<table><tr><td>Cell</td></tr></table><p>More.</p><select><option>Choice</option></select></body></html>"""


def list_domains(name: str, text: str, **options: str) -> dict[str, str]:
    """The domain of each text of a document."""
    source = DocumentSource(io.BytesIO(text.encode()), name, DocumentOptions(**options), "de")  # type: ignore[arg-type]
    units = open_document(name, source).read_with_domain()
    return {text: unit.domain for unit in units for text in unit.texts}


BUTTONS = (
    '<form><button>Save</button><label>Name</label><input type="submit" value="Go"></form>'
    '<p>Press <button>OK</button> now.</p><p><img alt="Dog"></p>'
)


@pytest.mark.parametrize(
    ("name", "text", "domains"),
    [
        ("text", "A line.\n", {"A line.": ""}),
        ("po", 'msgid "Open"\nmsgstr ""\n', {"Open": "ui"}),
        ("properties", "open=Open\n", {"Open": "ui"}),
        ("html", BUTTONS, {"Save": "ui", "Name": "ui", "Go": "ui", "Press  now.": "", "OK": "", "Dog": ""}),
        ("html", PAGE, {"Home": "ui", "A text.": "", "Cell": "ui", "More.": "", "Choice": "ui"}),
    ],
)
def test_catalogues_cells_and_menus_are_of_programs(name: str, text: str, domains: dict[str, str]) -> None:
    assert list_domains(name, text) == domains


def test_a_column_of_a_table_is_of_programs() -> None:
    assert list_domains("tsv", "id\ttext\n1\tOpen\n", column="text") == {"Open": "ui"}


@pytest.mark.parametrize(
    ("asked", "known", "tags"),
    [("", {"ui"}, ["ui", ""]), ("help", {"ui"}, ["help"]), ("to:nl", {"ui"}, [">nl ui", ">nl"]), ("", set(), [""])],
)
def test_a_domain_is_added_where_the_model_knows_it_and_none_is_asked_for(
    asked: str, known: set[str], tags: list[str]
) -> None:
    options = TranslateOptions(SearchOptions(tags=parse_tag_list(asked)), known_domains=frozenset(known))
    block = Block(0, ("open", "a text", "save"), ("ui", "", "ui"))
    groups = group_by_tags(block.lay_out(options), options.search.tags)
    assert [" ".join(map(str, own)) for own in groups] == tags
    assert sorted(row for rows in groups.values() for row in rows) == [0, 1, 2]
