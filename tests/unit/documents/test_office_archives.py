"""Archives of documents that are damaged, encrypted, or made to do harm."""

import time

import pytest

from nmt_cli.documents.office.archive import HARMLESS
from nmt_cli.errors import DataError
from support.archives import make_docx, make_epub, make_pptx, pack, unpack
from support.documents import convert_bytes
from support.translations import louder, same

DOCX = make_docx("<w:p><w:r><w:t>Hello</w:t></w:r></w:p>")
PPTX = make_pptx("<a:p><a:r><a:t>Our plan</a:t></a:r></a:p>")
EPUB = make_epub('<html xmlns="http://www.w3.org/1999/xhtml"><body><p>The first page.</p></body></html>')


def zipped(**parts: str) -> bytes:
    return pack({name.replace("__", "/"): content for name, content in parts.items()})


def set_flag(data: bytes) -> bytes:
    """The archive with its first entry marked as encrypted."""
    central = data.index(b"PK\x01\x02")
    return data[: central + 8] + bytes([data[central + 8] | 1]) + data[central + 9 :]


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("docx", b"no archive", "it is not a zip archive"),
        (
            "docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "it is encrypted, or in the format of Office before",
        ),
        ("docx", set_flag(DOCX), r"the part \S+ is encrypted$"),
        ("docx", zipped(a="b"), "it is not docx"),
        ("docx", PPTX, "it is not docx"),
        ("docx", pack({"../a": "b"}), "leads out of the archive"),
        ("docx", pack({"/etc/a": "b"}), "leads out of the archive"),
        ("docx", pack({"C:\\a": "b"}), "leads out of the archive"),
        ("docx", make_docx("<w:p><w:r><w:t>" + "a" * (1 << 24) + "</w:t></w:r></w:p>"), "times its size"),
        ("docx", make_docx("<w:p>"), "not valid XML"),
        ("odt", DOCX, "it is not OpenDocument"),
        ("odt", pack({"content.xml": "", "META-INF/manifest.xml": "<encryption-data/>"}), "it is encrypted"),
        ("epub", DOCX, "it is not EPUB"),
        ("odt", pack({"content.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}), "it declares entities"),
    ],
)
def test_what_is_not_safe_is_refused(name: str, data: bytes, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        convert_bytes(name, data, louder)


def encrypt_part(path: str) -> bytes:
    """The book, with a note that a part of it is encrypted."""
    note = f'<encryption><e:EncryptedData><e:CipherReference URI="{path}"/></e:EncryptedData></encryption>'
    return pack(unpack(EPUB) | {"META-INF/encryption.xml": note})


@pytest.mark.parametrize("path", ["OEBPS/text/page%201.xhtml", "OEBPS/nav.xhtml", "OEBPS/toc.ncx"])
def test_a_book_with_an_encrypted_page_or_contents_is_refused(path: str) -> None:
    with pytest.raises(DataError, match="its text is encrypted"):
        convert_bytes("epub", encrypt_part(path), louder)


def test_a_book_with_encrypted_styles_is_translated() -> None:
    assert b"FIRST" in unpack(convert_bytes("epub", encrypt_part("OEBPS/a.css"), louder))["OEBPS/text/page 1.xhtml"]


def test_a_damaged_part_is_refused() -> None:
    position = DOCX.index(b"word/media/image1.png") + len("word/media/image1.png") + 2
    damaged = DOCX[:position] + bytes([DOCX[position] ^ 255]) + DOCX[position + 1 :]
    with pytest.raises(DataError, match="is damaged"):
        convert_bytes("docx", damaged, louder)


def test_parts_without_text_that_unpack_to_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = make_docx("<w:p><w:r><w:t>A</w:t></w:r></w:p>", **{"word/media/x.png": "\0" * (HARMLESS + 1)})
    assert convert_bytes("docx", bomb, same)
    monkeypatch.setattr("nmt_cli.documents.office.archive.MAXIMUM_COPIED", HARMLESS)
    with pytest.raises(DataError, match="times their size"):
        convert_bytes("docx", bomb, same)


def test_tags_without_an_end_take_time_that_grows_with_their_number() -> None:
    parts = unpack(DOCX)
    hostile = pack(parts | {"[Content_Types].xml": parts["[Content_Types].xml"] + b"<Override " * 50_000})
    started = time.process_time()
    assert b"HELLO" in unpack(convert_bytes("docx", hostile, louder))["word/document.xml"]
    assert time.process_time() - started < 5  # minutes, if each were searched to the end of the part


def test_an_archive_of_too_many_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt_cli.documents.office.archive.MAXIMUM_PARTS", 3)
    with pytest.raises(DataError, match="more than 3 parts"):
        convert_bytes("docx", DOCX, same)
