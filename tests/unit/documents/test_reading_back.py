"""Every format that is written is read back: what a translator tears is kept as in the source, and named."""

import contextlib
import io
import re
from collections.abc import Callable
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.documents import CATALOGUES, open_document
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit
from nmt_cli.errors import NmtError
from nmt_cli.formats import list_formats
from nmt_cli.translation.result import Translation
from support.archives import make_docx, make_epub, make_odt, make_pptx
from support.documents import convert_bytes, open_bytes
from support.properties import examples
from support.translations import Rule, aligned, louder, same

TEXT = "Please open {name} and the door"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{}</Types>'
TYPE = '<Override PartName="/{}" ContentType="application/vnd.openxmlformats-officedocument.{}+xml"/>'


def pack(**parts: str) -> bytes:
    """An archive of these parts, whose names have `__` for a slash and `_` for a point."""
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, text in parts.items():
            archive.writestr(
                "[Content_Types].xml" if name == "types" else name.replace("__", "/").replace("_", "."), text
            )
    return stream.getvalue()


def pack_open_document(body: str) -> bytes:
    spaces = f'xmlns:office="{OFFICE}:office:1.0" xmlns:text="{OFFICE}:text:1.0" xmlns:table="{OFFICE}:table:1.0"'
    return pack(
        content_xml=f"<office:document-content {spaces}><office:body>{body}</office:body></office:document-content>"
    )


def pack_book() -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        archive.writestr("META-INF/container.xml", '<container><rootfile full-path="b.opf"/></container>')
        item = '<item href="a.xhtml" media-type="application/xhtml+xml"/>'
        archive.writestr("b.opf", f"<package><manifest>{item}</manifest></package>")
        archive.writestr("a.xhtml", f"<html lang='de'><body><p>{TEXT}</p><p>Good <b>morning</b></p></body></html>")
    return stream.getvalue()


PARAGRAPHS = f"<text:p>{TEXT}</text:p><text:p>Good <text:span>morning</text:span></text:p>"
FILES: dict[str, str | bytes] = {
    "tsv": f"text\tid\n{TEXT}\t1\nGood morning\t2\n",
    "csv": f'text,id\n"{TEXT}, please",1\nGood morning,2\n',
    "jsonl": f'{{"text": "{TEXT}"}}\n{{"text": "Good morning"}}\n',
    "srt": f"1\n00:00:01,000 --> 00:00:02,000\n{TEXT}.\n\n2\n00:00:03,000 --> 00:00:04,000\nGood <i>morning</i>.\n",
    "vtt": f"WEBVTT\n\n00:01.000 --> 00:02.000\n{TEXT}.\n\n00:03.000 --> 00:04.000\nGood <i>morning</i>.\n",
    "ass": f"[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,{TEXT}.\n"
    "Dialogue: 0,0:00:03.00,0:00:04.00,D,,0,0,0,,Good morning.\n",
    "microdvd": f"{{1}}{{20}}{TEXT}.\n{{30}}{{40}}Good morning.\n",
    "subviewer": f"0:00:01.00,0:00:02.00\n{TEXT}.\n\n0:00:03.00,0:00:04.00\nGood morning.\n",
    "lrc": f"[00:01.00]{TEXT}.\n[00:02.00]Good morning.\n",
    "po": 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    f'msgid "{TEXT}"\nmsgstr ""\n\nmsgid "Good morning"\nmsgstr ""\n',
    "fb2": f"<FictionBook><body><section><p>{TEXT}</p><v>Good <emphasis>morning</emphasis></v></section></body>"
    "<binary id='a'>aGVs</binary></FictionBook>",
    "ts": '<?xml version="1.0"?>\n<!DOCTYPE TS>\n<TS version="2.1"><context><name>A</name>'
    f'<message><source>{TEXT}</source><translation type="unfinished"></translation></message>'
    "<message><source>Good morning</source><translation/></message></context></TS>",
    "xcstrings": f'{{"sourceLanguage" : "en", "strings" : {{"{TEXT}" : {{}}, "Good morning" : {{}}}}}}',
    "plist": f"<plist><dict><key>a</key><string>{TEXT}</string>"
    "<key>b</key><string>Good morning</string></dict></plist>",
    "md": f"# {TEXT}\n\nGood *morning* all\n",
    "json": f'{{"a": "{TEXT}", "b": "Good morning"}}',
    "yaml": f"a: '{TEXT}'\nb: Good morning\n",
    "properties": f"a={TEXT}\nb=Good morning\n",
    "android": f'<resources><string name="a">{TEXT}</string><string name="b">Good <b>morning</b></string></resources>',
    "apple": f'"a" = "{TEXT}";\n"b" = "Good morning";\n',
    "paradox": f'l_french:\n a:0 "{TEXT}"\n b:0 "§YGood§! morning"\n',
    "ini": f"[a]\na={TEXT}\nb=Good morning\n",
    "toml": f'a = "{TEXT}"\nb = "Good morning"\n',
    "php": f"<?php return ['a' => '{TEXT}', 'b' => 'Good morning'];\n",
    "dtd": f'<!ENTITY a "{TEXT}">\n<!ENTITY b "Good morning">\n',
    "rc": f'STRINGTABLE\nBEGIN\n  A "{TEXT}"\n  B "Good morning"\nEND\n',
    "ics": f"BEGIN:VEVENT\nSUMMARY:{TEXT}\nCOMMENT:Good morning\nEND:VEVENT\n",
    "ftl": f"a = {TEXT}\nb = Good morning\n",
    "resx": f'<root><data name="a"><value>{TEXT}</value></data>'
    '<data name="b"><value>Good morning</value></data></root>',
    "svg": f'<svg xmlns="http://www.w3.org/2000/svg"><text>{TEXT}</text><title>Good morning</title></svg>',
    "html": f"<html lang='en'><p>{TEXT}</p><p>Good <b>morning</b></p></html>",
    "xliff": '<xliff version="1.2"><file source-language="en" target-language="de"><body>'
    f'<trans-unit id="1"><source>{TEXT}</source></trans-unit>'
    '<trans-unit id="2"><source>Good <g id="1">morning</g></source></trans-unit></body></file></xliff>',
    "usfm": f"\\id GEN\n\\c 1\n\\p\n\\v 1 {TEXT}\n\\v 2 Good \\nd morning\\nd*\n",
    "tmx": '<tmx version="1.4"><header srclang="en"/><body>'
    f'<tu><tuv xml:lang="en"><seg>{TEXT}</seg></tuv></tu><tu><tuv xml:lang="en"><seg>Good morning</seg></tuv></tu>'
    "</body></tmx>",
    "docx": pack(
        types=TYPES.format(TYPE.format("word/document.xml", "wordprocessingml.document.main")),
        word__document_xml=f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>{TEXT}</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>Good morning</w:t></w:r></w:p></w:body></w:document>",
    ),
    "pptx": pack(
        types=TYPES.format(TYPE.format("ppt/slides/slide1.xml", "presentationml.slide")),
        ppt__slides__slide1_xml=f'<p:sld xmlns:p="p" xmlns:a="{DRAWING}"><a:p><a:r><a:t>{TEXT}</a:t></a:r></a:p>'
        "<a:p><a:r><a:t>Good morning</a:t></a:r></a:p></p:sld>",
    ),
    "xlsx": pack(
        types=TYPES.format(TYPE.format("xl/sharedStrings.xml", "spreadsheetml.sharedStrings")),
        xl__sharedStrings_xml=f'<sst xmlns="x"><si><t>{TEXT}</t></si><si><t>Good morning</t></si></sst>',
    ),
    "odt": pack_open_document(f"<office:text>{PARAGRAPHS}</office:text>"),
    "odp": pack_open_document(f"<office:presentation>{PARAGRAPHS}</office:presentation>"),
    "ods": pack_open_document(
        f'<office:spreadsheet><table:table><table:table-row><table:table-cell office:value-type="string">{PARAGRAPHS}'
        "</table:table-cell></table:table-row></table:table></office:spreadsheet>"
    ),
    "epub": pack_book(),
}
OPTIONS = {name: {"column": "text"} for name in ("tsv", "csv", "jsonl")}


def say(change: Callable[[str], str]) -> Rule:
    """Translates to the words that `change` makes of a text, in order."""

    def rule(text: str) -> Translation:
        words = change(text).split()
        return aligned(text, words, [min(index, len(text.split()) - 1) for index in range(len(words))])

    return rule


TEARING: dict[str, Rule] = {
    "drops a brace": say(lambda text: text.upper().replace("{NAME}", "NAME}")),
    "doubles a placeholder": say(lambda text: text.replace("{name}", "{name} {name}")),
    "loses a placeholder": say(lambda text: text.replace("{name}", "")),
    "renames a placeholder": say(lambda text: text.replace("name", "Name")),
}


def translate(name: str, rule: Rule) -> tuple[bytes, Document]:
    """A document as it is written with all its guards."""
    data = FILES[name]
    document = open_bytes(name, data if isinstance(data, bytes) else data.encode(), **OPTIONS.get(name, {}))
    written = [unit.write([rule(text) for text in unit.texts]) for unit in document.read_with_domain()]
    return b"".join(part if isinstance(part, bytes) else part.encode() for part in written), document


def read_all(data: bytes) -> bytes:
    """What a document says: of an archive, its parts."""
    if not data.startswith(b"PK"):
        return data
    with ZipFile(io.BytesIO(data)) as archive:
        return b"".join(map(archive.read, archive.namelist()))


@pytest.mark.parametrize("damage", TEARING)
@pytest.mark.parametrize("name", FILES)
def test_a_text_that_is_torn_is_kept_as_in_the_source_and_named(name: str, damage: str) -> None:
    written, document = translate(name, TEARING[damage])
    assert [torn.number for torn in document.torn] == [1] and "open {name}" in document.torn[0].source
    if name == "po":  # which says so: programs ignore a fuzzy message
        assert b'#, fuzzy\nmsgid "Please open' in written
    else:
        assert written.count(b"{name}") + read_all(written).count(b"{name}") * written.startswith(b"PK") in (1, 2)
    assert list(
        open_bytes(
            name, written, **{**OPTIONS.get(name, {}), "new_column": "new"} if name in OPTIONS else {}
        ).read_units()
    )


@pytest.mark.parametrize("name", FILES)
def test_what_is_translated_well_is_written_as_it_is_said(name: str) -> None:
    keep = say(lambda text: " ".join(word if "{" in word else word.upper() for word in text.split()))
    written, document = translate(name, keep)
    assert document.torn == []
    assert b"MORNING" in read_all(written)


@pytest.mark.parametrize("name", [name for name in FILES if name not in (*OPTIONS, *CATALOGUES, "tmx")])
def test_what_is_not_changed_is_written_byte_for_byte(name: str) -> None:
    data = FILES[name]
    written, document = translate(name, same)
    assert document.torn == []
    source = read_all(data if isinstance(data, bytes) else data.encode())
    assert read_all(written) == source.replace(b"lang='en'", b"lang='de'")


def test_every_format_but_plain_text_is_tried() -> None:
    assert set(FILES) == set(list_formats("translate")) - {"text", "wrapped", "eml"}


def test_a_unit_that_cannot_be_read_is_named_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = ",\n".join(f'"k{number}": "Some words {number}"' for number in range(20))
    source = DocumentSource(io.BytesIO(f"{{{entries}}}".encode()), "x.json", DocumentOptions(), "de")
    document = open_document("json", source)
    read_units = document.read_units

    def break_some() -> list[TranslationUnit]:
        units = list(read_units())
        return [
            unit._replace(write=lambda _: 'a " b') if re.search(r"words (?:7|13)$", "".join(unit.texts)) else unit
            for unit in units
        ]

    monkeypatch.setattr(document, "read_units", break_some)
    written = "".join(str(unit.write([louder(text) for text in unit.texts])) for unit in document.read_with_domain())
    assert [(torn.number, str(torn.location)) for torn in document.torn] == [(8, "line 8"), (14, "line 14")]
    assert '"k7": "Some words 7"' in written and '"k8": "SOME WORDS 8"' in written


# Whatever the bytes of a file are, a document is translated or refused, and nothing else happens.


RUN = '<w:r><w:t>one</w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:t>1</w:t></w:r>'
PAGE = '<html lang="en"><body><p title="a b">One <b>two</b> <code>x</code><br/>three &amp; four</p></body></html>'
SAMPLES = {
    "html": PAGE.encode(),
    "xliff": b'<xliff version="1.2"><file source-language="en" target-language="de"><trans-unit id="1"><source>One '
    b'<g id="1">two</g><x id="2"/></source><seg-source><mrk mtype="seg" mid="1">One</mrk></seg-source></trans-unit>'
    b"</file></xliff>",
    "android": b'<resources><string name="a">It\\\'s <b>so</b> \\u00e9 <![CDATA[a b]]></string></resources>',
    "vtt": b"WEBVTT\n\n1\n00:01.000 --> 00:02.000\n<v Ann>One <i>two</i>\n- three\n\nNOTE x\n",
    "srt": b"1\n00:00:01,000 --> 00:00:02,000\nOne <i>two</i>\nthree\n\n2\n00:00:03,000 --> 00:00:04,000\nfour\n",
    "json": b'{"a": "one \\"two\\" \\u00e9", "b": [1, {"c": "{n, plural, one {# file} other {# files}}"}]}',
    "yaml": b"a: one two\nb: 'it''s'\nc: |\n  one\n  two\nd: {e: \"x y\"}\nf: &x >-\n  folded\n  text\ng: *x\n",
    "apple": b'/* c */ "a" = "one \\U00e9 \\"two\\"\\nthree";\n',
    "properties": b"# c\na=one \\u00e9 \\\n  two\nb : it''s {0}\n",
    "md": b"# one *two*\n\n- [a](b) `c`\n\n!!! note\n    x $y$\n\n| a | b |\n|---|---|\n| c | d |\n",
    "po": b'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "one %s"\nmsgstr ""\n',
    "docx": make_docx(f"<w:p>{RUN}</w:p>"),
    "odt": make_odt('<text:p>One <text:span text:style-name="a">two</text:span></text:p>'),
    "pptx": make_pptx("<a:p><a:r><a:t>One</a:t></a:r></a:p>"),
    "epub": make_epub(PAGE),
}
PIECES = [
    b"<",
    b">",
    b"&",
    b'"',
    b"\\",
    b"\n",
    b"\0",
    b"{",
    b"}",
    b"\xff",
    b"</",
    b"<!--",
    b"]]>",
    b"%",
    b"-->",
    b"\xf0\x9f",
    b": ",
]


@pytest.mark.parametrize("name", SAMPLES)
@examples(60)
@given(data=st.data())
def test_a_damaged_file_is_translated_or_refused(name: str, data: st.DataObject) -> None:
    content = SAMPLES[name]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 30)))
        piece = data.draw(st.sampled_from(PIECES) | st.binary(max_size=3))
        content = content[:start] + piece * data.draw(st.integers(0, 3)) + content[end:]
    with contextlib.suppress(NmtError):
        convert_bytes(name, content, louder)
