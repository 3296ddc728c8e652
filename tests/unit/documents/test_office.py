import io
import time
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.errors import DataError
from nmt_cli.formats.archives import HARMLESS
from support.archives import make_docx, make_epub, make_odt, make_pptx, pack, unpack
from support.documents import FIRST, LAST, convert_bytes, echo, list_texts
from support.translations import Rule, aligned, backwards, louder, same

BOLD = "<w:rPr><w:b/></w:rPr>"
NOTE = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="2"/></w:r>'
BODY = f"""<w:p w:rsidR="1"><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r>\
<w:t>The har</w:t></w:r><w:proofErr w:type="x"/><w:r w:rsidR="2"><w:t>bour &amp; its </w:t></w:r><w:r>{BOLD}\
<w:t xml:space="preserve">old boats</w:t></w:r><w:r><w:t xml:space="preserve"> sleep.</w:t></w:r>{NOTE}<w:r>\
<w:t xml:space="preserve"> They rest.</w:t></w:r></w:p>
<w:p><w:bookmarkStart w:id="0" w:name="a"/><w:hyperlink r:id="r9" xmlns:r="x"><w:r>{BOLD}\
<w:t>See this</w:t></w:r></w:hyperlink><w:bookmarkEnd w:id="0"/><w:r><w:t xml:space="preserve"> and </w:t></w:r>\
<w:ins w:id="1" w:author="A"><w:r><w:t>that</w:t></w:r></w:ins><w:del w:id="2" w:author="A">\
<w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:tab/>\
<w:t>after a tab</w:t><w:br/><w:t>next line</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Page </w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r>\
<w:instrText> PAGE </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>7</w:t></w:r><w:r>\
<w:fldChar w:fldCharType="end"/></w:r><w:r><w:t xml:space="preserve"> of the book, see </w:t></w:r><w:r>\
<w:fldChar w:fldCharType="begin"/></w:r><w:r>\
<w:instrText xml:space="preserve"> HYPERLINK "http://a.b" </w:instrText></w:r><w:r>\
<w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>our site</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>\
<w:r><w:t>.</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>A cell</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r>\
<w:t>12</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:p><w:r><w:t xml:space="preserve">Before the box </w:t></w:r><w:r><w:pict><v:shape xmlns:v="v"><w:txbxContent>\
<w:p><w:r><w:t>In a box</w:t></w:r></w:p><w:p/></w:txbxContent></v:shape></w:pict></w:r><w:r>\
<w:t>after it</w:t></w:r></w:p>
<w:p><w:r><w:t>Where </w:t></w:r><m:oMath xmlns:m="m"><m:r><m:t>x=1</m:t></m:r></m:oMath><w:r>\
<w:t xml:space="preserve"> holds</w:t></w:r></w:p>"""
NOTES = (
    '<w:footnotes xmlns:w="w"><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r>'
    '<w:t xml:space="preserve"> A note.'
    "</w:t></w:r></w:p></w:footnote></w:footnotes>"
)
HEADER = '<w:hdr xmlns:w="w"><w:p><w:r><w:t>Top of page</w:t></w:r></w:p></w:hdr>'
DOCX = make_docx(BODY, footnotes=NOTES, header1=HEADER, styles="<w:styles/>")
ODT = make_odt(
    "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
    '<text:h text:outline-level="1">The harbour</text:h>'
    '<text:p text:style-name="P1">Boats <text:span text:style-name="T1">sleep</text:span> here<text:note text:id="n">'
    "<text:note-citation>1</text:note-citation><text:note-body><text:p>The note.</text:p>"
    "</text:note-body></text:note>, "
    'all of <text:a xlink:href="x" xmlns:xlink="x">them</text:a><text:bookmark text:name="b"/>.<text:line-break/>Page '
    '<text:page-number>3</text:page-number> is<text:s text:c="2"/>last.</text:p><text:list>'
    "<text:list-item><text:p>An item"
    "</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>A cell</text:p>"
    "</table:table-cell></table:table-row></table:table><text:p>A <draw:frame><draw:text-box>"
    "<text:p>boxed text</text:p>"
    "</draw:text-box></draw:frame>frame</text:p>",
    "<style:master-page><style:footer><text:p>Bottom</text:p></style:footer></style:master-page>",
)
PPTX = make_pptx(
    '<a:p><a:pPr/><a:r><a:rPr b="1"/><a:t>Our plan</a:t></a:r><a:r><a:rPr/><a:t> for May</a:t>'
    "</a:r><a:br/><a:r><a:t>Later"
    '</a:t></a:r><a:endParaRPr/></a:p><a:p><a:fld id="x" type="slidenum"><a:t>4</a:t></a:fld></a:p>',
    "<a:p><a:r><a:t>Say this slowly.</a:t></a:r></a:p>",
)
EPUB = make_epub(
    '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en"><head><title>One</title>'
    '<link href="../a.css"/></head><body><p>The <i>first</i> page.<br/>Its end<a id="x"/>.</p><p/></body></html>'
)
TEXTS = {
    "docx": [
        "The harbour & its old boats sleep. They rest.",
        "See this and that",
        "after a tab",
        "next line",
        "Page {1} of the book, see our site.",
        "A cell",
        "Before the box after it",
        "In a box",
        "Where {1} holds",
        "A note.",
        "Top of page",
    ],
    "odt": [
        "The harbour",
        "Boats sleep here, all of them.",
        "The note.",
        "Page {1} is last.",
        "An item",
        "A cell",
        "A frame",
        "boxed text",
        "Bottom",
    ],
    "pptx": ["Our plan for May", "Later", "Say this slowly."],
    "epub": [
        "The harbour",
        "One",
        "The first page.",
        "Its end.",
        "Contents",
        "First page",
        "The harbour",
        "First page",
    ],
}
DOCUMENTS = {"docx": DOCX, "odt": ODT, "pptx": PPTX, "epub": EPUB}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_parts_stay_byte_for_byte_where_the_translation_equals_the_text(name: str) -> None:
    written = unpack(convert_bytes(name, DOCUMENTS[name], echo, "en"))
    stripped = {
        part: content.replace(FIRST.encode(), b"").replace(LAST.encode(), b"") for part, content in written.items()
    }
    expected = unpack(DOCUMENTS[name])
    if name == "epub":  # a page that declares no language gets that of the target
        stripped["OEBPS/nav.xhtml"] = stripped["OEBPS/nav.xhtml"].replace(b' xml:lang="en"', b"")
    assert list(stripped) == list(expected)
    for part, content in expected.items():
        assert stripped[part] == content, part


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_texts_of_a_document_are_its_paragraphs(name: str) -> None:
    assert list_texts(name, DOCUMENTS[name]) == TEXTS[name]


def test_entries_keep_their_dates_and_the_type_of_a_book_is_not_compressed() -> None:
    written = convert_bytes("epub", EPUB, louder)
    with zipfile.ZipFile(io.BytesIO(written)) as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type, first.flag_bits, first.extra) == ("mimetype", 0, 0, b"")
        assert {info.date_time for info in archive.infolist()} == {(2020, 1, 2, 3, 4, 6)}
    parts = unpack(written)
    assert b"<dc:title>THE HARBOUR</dc:title><dc:language>de</dc:language>" in parts["OEBPS/book.opf"]
    assert b'xml:lang="de" lang="de"' in parts["OEBPS/text/page 1.xhtml"]


def paragraph(*runs: str) -> str:
    return "".join(
        f'<w:r>{BOLD if "*" in run else ""}<w:t xml:space="preserve">{run.strip("*")}</w:t></w:r>' for run in runs
    )


def document_of(data: bytes) -> str:
    text = unpack(data)["word/document.xml"].decode()
    return text[text.index("<w:p>") + 5 : text.rindex("</w:p>")]


def test_runs_follow_their_words() -> None:
    source = make_docx(f"<w:p>{paragraph('I have ', '*seen*', ' the house.')}</w:p>")
    rule: Rule = lambda text: aligned(text, ["Ich", "habe", "das", "Haus", "gesehen."], [0, 1, 3, 4, 2])  # noqa: E731
    assert document_of(convert_bytes("docx", source, rule)) == paragraph("Ich habe", " das Haus ", "*gesehen*", ".")


def test_a_blank_at_the_edge_of_a_run_is_kept() -> None:
    source = make_docx("<w:p><w:r><w:t>one</w:t></w:r><w:r><w:rPr><w:i/></w:rPr><w:t> two</w:t></w:r></w:p>")
    written = document_of(convert_bytes("docx", source, lambda text: aligned(text, ["B", "A"], [1, 0])))
    assert written in (
        '<w:r><w:rPr><w:i/></w:rPr><w:t xml:space="preserve">B </w:t></w:r><w:r><w:t>A</w:t></w:r>',
        '<w:r><w:rPr><w:i/></w:rPr><w:t>B</w:t></w:r><w:r><w:t xml:space="preserve"> A</w:t></w:r>',
    )


@pytest.mark.parametrize("rule", [louder, backwards])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_nothing_but_text_is_lost(name: str, rule: Rule) -> None:
    parts = unpack(convert_bytes(name, DOCUMENTS[name], rule))
    whole = b"".join(parts.values())
    for part in unpack(DOCUMENTS[name]).values():
        for mark in (
            b"fldChar ",
            b"footnoteReference",
            b"<w:hyperlink",
            b"bookmark",
            b"<text:note ",
            b"<a:fld",
            b"oMath",
        ):
            assert whole.count(mark) >= part.count(mark)
    assert list(parts) == list(unpack(DOCUMENTS[name]))


RUN_PIECES = st.sampled_from(
    [
        "<w:t>ab</w:t>",
        "<w:t> c. D</w:t>",
        '<w:t xml:space="preserve"> </w:t>',
        "<w:tab/>",
        "<w:br/>",
        "<w:drawing/>",
        "<w:t/>",
    ]
)
RUNS = st.lists(RUN_PIECES, max_size=3).map("".join).map(lambda inner: f"<w:r><w:rPr/>{inner}</w:r>") | st.sampled_from(
    [
        '<w:bookmarkStart w:id="1"/>',
        "<w:r/>",
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>',
        "\n ",
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>',
        '<w:r><w:fldChar w:fldCharType="separate"/><w:t>x</w:t></w:r>',
        "<w:r><w:instrText>HYPERLINK</w:instrText></w:r>",
    ]
)


@given(st.lists(RUNS | st.lists(RUNS, max_size=3).map(lambda runs: f"<w:ins>{''.join(runs)}</w:ins>"), max_size=8))
def test_any_paragraph_stays_byte_for_byte(runs: list[str]) -> None:
    data = make_docx(f"<w:p>{''.join(runs)}</w:p>")
    written = unpack(convert_bytes("docx", data, echo))["word/document.xml"]
    assert written.replace(FIRST.encode(), b"").replace(LAST.encode(), b"") == unpack(data)["word/document.xml"]


PICTURE = (
    '<w:p><w:r><w:rPr><w:lang w:val="en-GB" w:bidi="ar-SA"/></w:rPr><w:t>Look</w:t></w:r><w:r><w:rPr>'
    '<w:lang w:val="fr-FR"/></w:rPr><w:drawing><wp:inline xmlns:wp="w"><wp:docPr id="1" name="Picture 1" '
    'descr="A red &quot;boat&quot;" title="boat.png"/><a:graphic xmlns:a="a"/></wp:inline></w:drawing></w:r></w:p>'
)
FRAME = (
    "<text:p>Here <draw:frame><draw:image/><svg:title>A boat</svg:title><svg:desc>Red &amp; old.</svg:desc>"
    "</draw:frame> it is</text:p>"
)


def test_pictures_are_described_in_the_target_language() -> None:
    assert list_texts("docx", make_docx(PICTURE)) == ["Look", 'A red "boat"']
    written = unpack(convert_bytes("docx", make_docx(PICTURE), louder))["word/document.xml"].decode()
    assert 'descr="A RED &quot;BOAT&quot;" title="boat.png"/>' in written
    assert list_texts("odt", make_odt(FRAME)) == ["Here  it is", "A boat", "Red & old."]
    written = unpack(convert_bytes("odt", make_odt(FRAME), louder))["content.xml"].decode()
    assert "<svg:title>A BOAT</svg:title><svg:desc>RED &amp; OLD.</svg:desc>" in written


def test_the_language_of_a_document_becomes_that_of_the_target() -> None:
    written = unpack(convert_bytes("docx", make_docx(PICTURE), louder))["word/document.xml"].decode()
    assert '<w:lang w:val="de" w:bidi="ar-SA"/>' in written and '<w:lang w:val="fr-FR"/>' in written
    same = unpack(convert_bytes("docx", make_docx(PICTURE), echo, "en"))["word/document.xml"].decode()
    assert '<w:lang w:val="en-GB" w:bidi="ar-SA"/>' in same
    style = '<text:p><text:span fo:language="en" fo:country="US">Hut</text:span></text:p>'
    written = unpack(convert_bytes("odt", make_odt(style), louder))["content.xml"].decode()
    assert 'fo:language="de" fo:country="none"' in written


def test_a_hyphen_that_does_not_break_is_a_character() -> None:
    hyphen = "</w:t><w:noBreakHyphen/><w:t>"
    paragraph = f"<w:p><w:r><w:t>A well{hyphen}known e{hyphen}mail</w:t></w:r></w:p>"
    document = make_docx(paragraph)
    assert list_texts("docx", document) == ["A well-known e-mail"]
    written = unpack(convert_bytes("docx", document, same))["word/document.xml"].decode()
    assert paragraph in written
    rule = lambda text: aligned(text, ["Eine", "bekannte", "E-Mail"], [0, 1, 2])  # noqa: E731
    written = unpack(convert_bytes("docx", document, rule))["word/document.xml"].decode()
    assert f"E{hyphen}Mail</w:t></w:r></w:p>" in written


# Archives of documents that are damaged, encrypted, or made to do harm.


SMALL_DOCX = make_docx("<w:p><w:r><w:t>Hello</w:t></w:r></w:p>")
SMALL_PPTX = make_pptx("<a:p><a:r><a:t>Our plan</a:t></a:r></a:p>")
SMALL_EPUB = make_epub('<html xmlns="http://www.w3.org/1999/xhtml"><body><p>The first page.</p></body></html>')


def zipped(**parts: str) -> bytes:
    return pack({name.replace("__", "/"): content for name, content in parts.items()})


def set_flag(data: bytes) -> bytes:
    """The archive with its first entry marked as encrypted."""
    central = data.index(b"PK\x01\x02")
    return data[: central + 8] + bytes([data[central + 8] | 1]) + data[central + 9 :]


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("docx", b"no archive", "must be a zip archive"),
        (
            "docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "the file is encrypted, or in the format of Office before",
        ),
        ("docx", set_flag(SMALL_DOCX), r"the part \S+ is encrypted\n"),
        ("docx", zipped(a="b"), "this is not docx"),
        ("docx", SMALL_PPTX, "this is not docx"),
        ("docx", pack({"../a": "b"}), "points outside the archive"),
        ("docx", pack({"/etc/a": "b"}), "points outside the archive"),
        ("docx", pack({"C:\\a": "b"}), "points outside the archive"),
        ("docx", make_docx("<w:p><w:r><w:t>" + "a" * (1 << 24) + "</w:t></w:r></w:p>"), "times its size"),
        ("docx", make_docx("<w:p>"), "not valid XML"),
        ("odt", SMALL_DOCX, "this is not an OpenDocument"),
        ("odt", pack({"content.xml": "", "META-INF/manifest.xml": "<encryption-data/>"}), "the document is encrypted"),
        ("epub", SMALL_DOCX, "this is not an EPUB"),
        ("odt", pack({"content.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}), "the file declares entities"),
    ],
)
def test_what_is_not_safe_is_refused(name: str, data: bytes, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        convert_bytes(name, data, louder)


def encrypt_part(path: str) -> bytes:
    """The book, with a note that a part of it is encrypted."""
    note = f'<encryption><e:EncryptedData><e:CipherReference URI="{path}"/></e:EncryptedData></encryption>'
    return pack(unpack(SMALL_EPUB) | {"META-INF/encryption.xml": note})


@pytest.mark.parametrize("path", ["OEBPS/text/page%201.xhtml", "OEBPS/nav.xhtml", "OEBPS/toc.ncx"])
def test_a_book_with_an_encrypted_page_or_contents_is_refused(path: str) -> None:
    with pytest.raises(DataError, match="its text is encrypted"):
        convert_bytes("epub", encrypt_part(path), louder)


def test_a_book_with_encrypted_styles_is_translated() -> None:
    assert b"FIRST" in unpack(convert_bytes("epub", encrypt_part("OEBPS/a.css"), louder))["OEBPS/text/page 1.xhtml"]


def test_a_damaged_part_is_refused() -> None:
    position = SMALL_DOCX.index(b"word/media/image1.png") + len("word/media/image1.png") + 2
    damaged = SMALL_DOCX[:position] + bytes([SMALL_DOCX[position] ^ 255]) + SMALL_DOCX[position + 1 :]
    with pytest.raises(DataError, match="is damaged"):
        convert_bytes("docx", damaged, louder)


def test_parts_without_text_that_unpack_to_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = make_docx("<w:p><w:r><w:t>A</w:t></w:r></w:p>", **{"word/media/x.png": "\0" * (HARMLESS + 1)})
    assert convert_bytes("docx", bomb, same)
    monkeypatch.setattr("nmt_cli.formats.archives.MAXIMUM_COPIED", HARMLESS)
    with pytest.raises(DataError, match="times their size"):
        convert_bytes("docx", bomb, same)


def test_tags_without_an_end_take_time_that_grows_with_their_number() -> None:
    parts = unpack(SMALL_DOCX)
    hostile = pack(parts | {"[Content_Types].xml": parts["[Content_Types].xml"] + b"<Override " * 50_000})
    started = time.process_time()
    assert b"HELLO" in unpack(convert_bytes("docx", hostile, louder))["word/document.xml"]
    assert time.process_time() - started < 5  # minutes, if each were searched to the end of the part


def test_an_archive_of_too_many_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt_cli.formats.archives.MAXIMUM_PARTS", 3)
    with pytest.raises(DataError, match="more than 3 parts"):
        convert_bytes("docx", SMALL_DOCX, same)
