"""The table of formats, and how files are recognised."""

import io
import zipfile
from pathlib import Path

import pytest

from nmt_cli.documents import find_format
from nmt_cli.documents.document import Document
from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats import (
    BY_EXTENSION,
    BY_NAME,
    COMMANDS,
    FORMATS,
    Use,
    format_table,
    list_formats,
    load_class,
    require_use,
)
from nmt_cli.formats.reader import Reader
from nmt_cli.formats.sniffing import recognise_format

DOCS = Path(__file__).parents[3] / "docs"


def test_the_table_names_what_each_command_reads() -> None:
    bases: dict[Use, type] = {"pairs": Reader, "translate": Document}
    for use, base in bases.items():
        assert all(issubclass(load_class(BY_NAME[name], use), base) for name in list_formats(use))


def test_no_two_formats_share_a_name_or_an_extension() -> None:
    assert len(BY_NAME) == len(FORMATS)
    assert len(BY_EXTENSION) == sum(len(format.extensions) for format in FORMATS)


def test_the_docs_hold_the_table_as_the_code_has_it() -> None:
    page = (DOCS / "formats.md").read_text(encoding="utf-8")
    assert "\n".join(format_table()) in page, "put the lines of nmt_cli.formats.format_table() into docs/formats.md"


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_what_a_command_does_not_read_is_refused_with_something_to_do(format: object) -> None:
    for use in COMMANDS:
        if use not in format.uses:  # type: ignore[attr-defined]
            with pytest.raises(DataError) as caught:
                require_use(format, use, "some file.x")  # type: ignore[arg-type]
            assert "some file.x is" in caught.value.message and COMMANDS[use] in caught.value.message
            assert caught.value.hint and "{" not in caught.value.hint


def make_zip(*names: str, mimetype: str = "") -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype)
        for name in names:
            archive.writestr(name, "x")
    return written.getvalue()


CONTENT = {
    "ts": b'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS version="2.1" language="de_DE">',
    "plist": b'<?xml version="1.0"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "x">\n<plist version="1.0">',
    "rpy": b"define e = Character('Eva')\n\nlabel start:\n    e \"Good morning.\"\n",
    "gift": b"// Animals\n\n::Cats::How many feet has a cat? {=Four ~Two}\n",
    "xunity": b"// of a game\nNew game=\nGo on\\=now=\n",
    "tmx": b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- x -->\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">',
    "xliff": b'<?xml version="1.0" encoding="utf-8"?><x:xliff xmlns:x="urn:oasis" version="1.2">',
    "html": b"<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0//EN'>\n<html lang=en><p>x",
    "sgm": b'<refset setid="a" srclang="en"><doc>',
    "wmt": b"<?xml version='1.0' encoding='utf-8'?>\n<dataset id=\"test\">",
    "android": b'<?xml version="1.0"?>\n<resources>\n<string name="a">b</string>',
    "svg": b'<?xml version="1.0"?>\n<!-- x -->\n<svg xmlns="http://www.w3.org/2000/svg">',
    "xml": b"<?xml version='1.0'?><unknown/>",
    "po": b'# A comment\n\nmsgid ""\nmsgstr ""\n',
    "srt": b"\xef\xbb\xbf1\r\n00:00:01,000 --> 00:00:02,000\r\nHello.\r\n",
    "vtt": b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n",
    "ass": b"[Script Info]\nTitle: x\n",
    "microdvd": b"{100}{150}Hello.\n",
    "subviewer": b"0:00:00.599,0:00:04.160\nHello.\n",
    "lrc": b"[ar:Someone]\n[00:12.00]Hello.\n",
    "ics": b"BEGIN:VCALENDAR\nBEGIN:VEVENT\n",
    "php": b"<?php\nreturn ['a' => 'Hello.'];\n",
    "dtd": b'<!ENTITY a "Hello.">\n',
    "paradox": b'\xef\xbb\xbfl_english:\r\n a:0 "b"\r\n',
    "eml": b"From: a@b.c\nSubject: a\n long one\nMIME-Version: 1.0\n\nHello.\n",
    "usfm": b"\\id GEN English\n\\c 1\n",
    "tex": b"% a comment\n\\documentclass{article}\n",
    "md": b"---\ntitle: A day\ntags:\n  - x\n- y\n\nlayout: post\n---\n\n# A day\n",
    "rtf": b"{\\rtf1\\ansi Hello}",
    "jsonl": b'{"text": "a"}\n{"text": "b"}\n',
    "pdf": b"%PDF-1.7\n%\xe2\xe3",
    "docx": make_zip("[Content_Types].xml", "word/document.xml"),
    "xlsx": make_zip("[Content_Types].xml", "xl/workbook.xml"),
    "odt": make_zip("content.xml", mimetype="application/vnd.oasis.opendocument.text"),
    "ods": make_zip("content.xml", mimetype="application/vnd.oasis.opendocument.spreadsheet"),
    "epub": make_zip("META-INF/container.xml", mimetype="application/epub+zip"),
    "zip": make_zip("letter.txt"),
    "binary": bytes(range(256)) * 8,
    "picture": b"\x89PNG\r\n\x1a\n" + b"\0" * 20,
    "text": "Привет, мир.\nHow are you?\n".encode("utf-16"),
}


@pytest.mark.parametrize("name", CONTENT)
def test_a_file_is_recognised_by_its_content_whatever_it_is_called(name: str) -> None:
    for path in (None, Path("a.txt"), Path("b"), Path("c.tsv")):
        expected = "tsv" if name == "text" and path == Path("c.tsv") else name
        if name in ("xml", "tex", "md") and path == Path("c.tsv"):
            continue  # columns may begin with a tag
        assert recognise_format(path, CONTENT[name]).name == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("page.md", b"<!-- a note -->\n# Title\n", "md"),
        ("page.mdx", b"import A from './a';\n\n# Title\n", "md"),
        ("page.qmd", b"---\ntitle: x\n---\n", "md"),
        ("page.Rmd", b"# Title\n", "md"),
        ("a.tsv", b"\t<!DOCTYPE html>\n", "tsv"),
        ("a.tsv", b"[00:12]\tHello.\tHallo.\n", "tsv"),
        ("a.txt", b"Note: this is no e-mail.\n\nHello.\n", "text"),
        ("a.resx", b"<?xml version='1.0'?>\n<root>", "resx"),
        ("a.ftl", b"a = Hello.\n", "ftl"),
        ("a.ini", b"[main]\na=Hello.\n", "ini"),
        ("a.toml", b"[main]\na = 'Hello.'\n", "toml"),
        ("a.rc", b"STRINGTABLE\n", "rc"),
        ("a.js", b"const a = 'Hello.';\n", "code"),
        ("a.en", b"<b>Bold</b> text\n", "text"),
        ("a.txt", b"[1] A footnote.\n[2] Another.\n", "text"),
        ("a.txt", b"{name} came in.\n", "text"),
        ("a.txt", b'["Hello," she said.]\n', "text"),
        ("a.txt", b'\xef\xbb\xbf{\r\n  "menu": {\r\n', "json"),
        ("a", b'[{"open": "Open"}, {"close"', "json"),
        ("a", b'[\n  "Open",\n  "Close"\n]\n', "json"),
        ("a", b'id,name\n1,"Red ""deluxe"" shoes"\n2,"One, \ntwo"\n3,thr', "csv"),
        ("a", "Stück;Preis\r\nHut;1,50\r\n".encode("cp1252"), "csv"),
        ("a.txt", b"id,name\n1,Hat\n", "text"),
        ("a", b"Yes, sir\nNo, sir\n", "text"),
        ("a", b"1,000 people came.\n2,000 people left.\n", "text"),
        ("a", b"Over 1,000 came.\n", "text"),
        ("a", b"Come,see.\nStay,eat.\n", "text"),
        ("a.txt", b"---\nHe said: no.\n---\nShe went.\n", "text"),
        ("a.txt", b"---\nkind: Pod\n---\nkind: Service\n", "text"),  # YAML
        ("a.txt", b"---\nTom: Where are you?\nAnn: Here.\n", "text"),
        ("a.txt", b"# Title\n\n- One\n- Two\n", "text"),  # which may be lines
        ("a.yaml", b"---\ntitle: x\n---\n\nText.\n", "yaml"),
        ("a.html", b"---\ntitle: x\n---\n\nText.\n", "html"),
        ("a.txt", b"a\0b\n", "text"),
        ("a.json", b'{"menu": {"open": "Open"}}', "json"),
        ("a.json", b'{"en": "a", "de": "b"}\n{"en": "c", "de": "d"}\n', "jsonl"),
        ("res/values/strings.xml", b"", "android"),
        ("list.docx", b"This is only a text.\n", "text"),
        ("archive.tsv.gz", b"", "tsv"),
        ("dict.sfm", b"\\lx a\n\\ge b\n", "toolbox"),
        ("a.txt", b"\\_sh v3.0  400  Text\n\n\\id QAT01\n", "toolbox"),
        ("a.txt", b"\\tx a b\n\\ft c\n\n\\tx d\n", "toolbox"),
        ("a.tsv", b"\\tx\t\\ft\na b\tc\n", "tsv"),
        ("a.txt", b"\\id GEN\n\\c 1\n\\p\n\\v 1 In.\\f + \\ft A note.\\f*\n", "usfm"),
    ],
)
def test_what_its_content_does_not_tell_beyond_doubt_is_told_by_its_name(name: str, text: bytes, expected: str) -> None:
    assert recognise_format(Path(name), text).name == expected


def test_a_file_of_another_kind_is_not_translated_unless_as_lines() -> None:
    with pytest.raises(DataError, match=r"paper\.tex is LaTeX") as caught:
        find_format(Path("paper.tex"), None, b"Hello\n")
    assert "--format text" in caught.value.hint
    assert find_format(Path("paper.tex"), "text", b"Hello\n").name == "text"
    with pytest.raises(DataError, match="is a PDF document"):
        find_format(Path("a.pdf"), "text", CONTENT["pdf"])
    with pytest.raises(OptionError, match="does not read sgm"):
        find_format(Path("a.sgm"), "sgm", CONTENT["sgm"])
