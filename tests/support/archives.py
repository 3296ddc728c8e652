"""Documents in archives, made by hand and small; and archives part by part."""

import io
import zipfile
from collections.abc import Mapping

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
OPEN_XML = "application/vnd.openxmlformats-officedocument"
DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def pack(parts: Mapping[str, str | bytes], *, stored: str = "mimetype") -> bytes:
    """An archive of these parts; the part `stored` is not compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            info = zipfile.ZipInfo(name, (2020, 1, 2, 3, 4, 6))
            info.compress_type = zipfile.ZIP_STORED if name == stored else zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {info.filename: archive.read(info) for info in archive.infolist()}


def make_docx(body: str, **parts: str) -> bytes:
    """A document of a word processor; `parts` are its header, footnotes and so on."""
    overrides = {"document": "document.main", **{name: name.rstrip("0123456789") for name in parts}}
    types = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{OPEN_XML}.wordprocessingml.{kind}+xml"/>'
        for name, kind in overrides.items()
    )
    document = f'{DECLARATION}<w:document xmlns:w="{WORD}"><w:body>{body}<w:sectPr/></w:body></w:document>'
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    return pack(
        {
            "[Content_Types].xml": f'{DECLARATION}<Types xmlns="{TYPES}"><Default Extension="rels" ContentType='
            f'"application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>',
            "_rels/.rels": f'{DECLARATION}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
            f'relationships"><Relationship Id="r1" Type="{relation}/officeDocument" Target="word/document.xml"/>'
            "</Relationships>",
            "word/document.xml": document,
            **{f"word/{name}.xml": content for name, content in parts.items()},
            "word/media/image1.png": b"\x89PNG\0\xff",
        }
    )


def make_odt(body: str, styles: str = "") -> bytes:
    """A text of OpenDocument."""
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    spaces = f'xmlns:office="{office}" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    spaces += ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    spaces += ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    spaces += ' xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
    kind = "application/vnd.oasis.opendocument.text"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    return pack(
        {
            "mimetype": kind,
            "content.xml": f'{DECLARATION}<office:document-content {spaces} office:version="1.2"><office:body>'
            f"<office:text>{body}</office:text></office:body></office:document-content>",
            "styles.xml": f'{DECLARATION}<office:document-styles {spaces} office:version="1.2"><office:master-styles>'
            f"{styles}</office:master-styles></office:document-styles>",
            "META-INF/manifest.xml": f'{DECLARATION}<manifest:manifest xmlns:manifest="{manifest}">'
            f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
            '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
            '<manifest:file-entry manifest:full-path="styles.xml" manifest:media-type="text/xml"/>'
            "</manifest:manifest>",
        }
    )


def make_pptx(slide: str, notes: str = "") -> bytes:
    """A presentation of one slide; its parts stand alone, so no program opens it."""
    main = "http://schemas.openxmlformats.org/drawingml/2006/main"
    show = "http://schemas.openxmlformats.org/presentationml/2006/main"

    def wrap(tag: str, text: str) -> str:
        return f'{DECLARATION}<p:{tag} xmlns:p="{show}" xmlns:a="{main}"><p:txBody>{text}</p:txBody></p:{tag}>'

    kinds = {"presentation": "presentation.main", "slides/slide1": "slide", "notesSlides/notesSlide1": "notesSlide"}
    types = "".join(
        f'<Override PartName="/ppt/{name}.xml" ContentType="{OPEN_XML}.presentationml.{kind}+xml"/>'
        for name, kind in kinds.items()
    )
    return pack(
        {
            "[Content_Types].xml": f'{DECLARATION}<Types xmlns="{TYPES}">{types}</Types>',
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{show}"/>',
            "ppt/slides/slide1.xml": wrap("sld", slide),
            "ppt/notesSlides/notesSlide1.xml": wrap("notes", notes),
        }
    )


def make_epub(page: str) -> bytes:
    """A book of one page."""
    return pack(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container version="1.0" '
            'xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
            "</container>",
            "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i">'
            '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="i">x</dc:identifier>'
            "<dc:title>The harbour</dc:title><dc:language>en</dc:language>"
            '<meta property="dcterms:modified">2020-01-02T03:04:06Z</meta></metadata><manifest>'
            '<item id="p" href="text/page%201.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
            '<item id="t" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
            '<item id="c" href="a.css" media-type="text/css"/></manifest>'
            '<spine toc="t"><itemref idref="p"/></spine></package>',
            "OEBPS/text/page 1.xhtml": page,
            "OEBPS/nav.xhtml": '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub='
            '"http://www.idpf.org/2007/ops"><head><title>Contents</title></head><body><nav epub:type="toc"><ol><li>'
            '<a href="text/page%201.xhtml">First page</a></li></ol></nav></body></html>',
            "OEBPS/toc.ncx": '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><head/><docTitle>'
            "<text>"
            'The harbour</text></docTitle><navMap><navPoint id="a" playOrder="1"><navLabel><text>First page</text>'
            '</navLabel><content src="text/page%201.xhtml"/></navPoint></navMap></ncx>',
            "OEBPS/a.css": "p { color: red }",
        }
    )


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def make_xlsx(rows: str, strings: str, before: str = "", table: str = "") -> bytes:
    """A workbook of one sheet with these rows; `before` stands before them."""
    kinds = {"workbook": "sheet.main", "worksheets/sheet1": "worksheet", "sharedStrings": "sharedStrings"}
    kinds |= {"tables/table1": "table"} if table else {}
    types = "".join(
        f'<Override PartName="/xl/{name}.xml" ContentType="{OPEN_XML}.spreadsheetml.{kind}+xml"/>'
        for name, kind in kinds.items()
    )
    return pack(
        {
            "[Content_Types].xml": f'{DECLARATION}<Types xmlns="{TYPES}">{types}</Types>',
            "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{RELATIONS}"><sheets>'
            '<sheet name="Texts" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" Type="x" '
            'Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f'{DECLARATION}<worksheet xmlns="{SHEET}">{before}<sheetData>{rows}'
            "</sheetData></worksheet>",
            "xl/sharedStrings.xml": f'{DECLARATION}<sst xmlns="{SHEET}">{strings}</sst>',
            **({"xl/tables/table1.xml": table} if table else {}),
        }
    )


def make_ods(rows: str) -> bytes:
    """A spreadsheet of OpenDocument with two sheets, the second of which has these rows."""
    parts = unpack(make_odt(""))
    sheets = f'<table:table table:name="Empty"/><table:table table:name="Texts">{rows}</table:table>'
    content = (
        parts["content.xml"]
        .decode()
        .replace("<office:text></office:text>", f"<office:spreadsheet>{sheets}</office:spreadsheet>")
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return pack({**parts, "mimetype": kind, "content.xml": content})
