"""Whether translated documents open in the programs that own their formats.

    python tests/release/check_documents.py

Writes one document per format, those of word processors and presentations by LibreOffice itself, translates it through
the command line with a tiny untrained model, and opens the result: LibreOffice makes a PDF of it, which must have as
many pages as that of the source, and text; it reads a table as the cells of the source and a column more; `msgfmt -c`,
`xmllint` and a browser read the others; a book is checked part by part. A program that is not installed is reported as
skipped. Prints one line per document; exits with 1 if any failed.
"""

import csv
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "tests"))

CATALOGUE = r"""msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

#, c-format
msgid "Open the file %s."
msgstr ""

#, c-format
msgid "%d cat"
msgid_plural "%d cats"
msgstr[0] ""
msgstr[1] ""
"""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>ba de</title></head>
<body><h1>gi ko</h1><p title="lu">ba <b>de</b> <a href="x">gi</a> &amp; ko.</p></body></html>
"""
XLIFF = """<?xml version="1.0"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2"><file original="a" source-language="x-none"
datatype="plaintext"><body><trans-unit id="1"><source>ba <g id="1">de</g></source></trans-unit></body></file></xliff>
"""
STRINGS = """<?xml version="1.0" encoding="utf-8"?>
<resources><string name="a">ba <b>de</b>\\ngi</string></resources>
"""
NAMES = "office text style draw presentation table fo svg"
SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{"drawing" if name == "draw" else name}:1.0"'
    if name not in ("fo", "svg")
    else f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{"xsl-fo" if name == "fo" else "svg"}-compatible:1.0"'
    for name in NAMES.split()
)
TEXT_BODY = """<office:text><text:h text:outline-level="1">ba de</text:h>
<text:p>gi <text:span text:style-name="bold">ko lu</text:span> ba<text:note text:id="n1" text:note-class="footnote">
<text:note-citation>1</text:note-citation><text:note-body><text:p>de gi</text:p></text:note-body></text:note>, ko
<text:a xlink:href="http://a.b" xmlns:xlink="http://www.w3.org/1999/xlink">lu</text:a>.</text:p>
<text:list><text:list-item><text:p>ba</text:p></text:list-item></text:list>
<table:table><table:table-column/><table:table-row><table:table-cell><text:p>de gi</text:p></table:table-cell>
</table:table-row></table:table><text:p>Page <text:page-number>1</text:page-number></text:p></office:text>"""
SLIDE_BODY = """<office:presentation><draw:page draw:name="1" draw:master-page-name="M"><draw:frame svg:width="20cm"
svg:height="3cm" svg:x="2cm" svg:y="2cm"><draw:text-box><text:p>ba <text:span text:style-name="bold">de</text:span> gi
</text:p></draw:text-box></draw:frame><presentation:notes><draw:frame svg:width="15cm" svg:height="5cm" svg:x="2cm"
svg:y="14cm" presentation:class="notes"><draw:text-box><text:p>ko lu</text:p></draw:text-box></draw:frame>
</presentation:notes></draw:page></office:presentation>"""


def flat(body: str, kind: str) -> str:
    """A flat file of OpenDocument, which LibreOffice saves in every other format."""
    kind = f"application/vnd.oasis.opendocument.{kind}"
    return (
        f'<?xml version="1.0"?><office:document {SPACES} office:version="1.2" office:mimetype="{kind}">'
        '<office:styles><style:style style:name="bold" style:family="text">'
        '<style:text-properties fo:font-weight="bold"/></style:style></office:styles><office:automatic-styles>'
        '<style:page-layout style:name="L"/></office:automatic-styles><office:master-styles><style:master-page '
        f'style:name="M" style:page-layout-name="L"/></office:master-styles><office:body>{body}</office:body>'
        "</office:document>"
    )


TEXTS = {
    "catalogue.po": CATALOGUE,
    "table.csv": 'id,text\n1,"ba, de."\n2,"gi ""ko"" lu."\n',
    "table.tsv": "id\ttext\n1\tba de.\n2\tgi ko.\n",
    "page.html": PAGE,
    "units.xlf": XLIFF,
    "strings.xml": STRINGS,
    "text.fodt": flat(TEXT_BODY, "text"),
    "slides.fodp": flat(SLIDE_BODY, "presentation"),
}
CELLS = "Text - txt - csv (StarCalc):{},34,76,1"  # separator, quotation mark, UTF-8, from the first line
LENGTH = "12"  # tokens of a translation: as many as an untrained network needs to fill a line, and not a page
OFFICE = {"text.docx": "text.fodt", "text.odt": "text.fodt", "slides.pptx": "slides.fodp", "slides.odp": "slides.fodp"}


class Skipped(Exception):
    """A program that is not installed."""


def run(*command: str | Path) -> str:
    """Runs a program; returns what it prints. Raises Skipped, or RuntimeError if it fails."""
    if shutil.which(str(command[0])) is None:
        raise Skipped(f"{command[0]} is not installed")
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout).strip()[-300:])
    return done.stdout


def convert(source: Path, suffix: str, output: Path, *, reading: str = "", writing: str = "") -> Path:
    """Saves a document in another format with LibreOffice; `reading` and `writing` are filters with their options."""
    profile = f"-env:UserInstallation=file://{output.parent}/profile"
    reader = [f"--infilter={reading}"] if reading else []
    kind = f"{suffix}:{writing}" if writing else suffix
    run("soffice", profile, "--headless", *reader, "--convert-to", kind, "--outdir", output, source)
    target = output / f"{source.stem}.{suffix}"
    if not target.exists():
        raise RuntimeError(f"LibreOffice made no {suffix} of {source.name}")
    return target


def count_pages(pdf: Path) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))


def open_in_office(source: Path, target: Path, scratch: Path) -> str:
    """Makes a PDF of the source and of its translation."""
    pages = []
    for path in (source, target):
        output = scratch / f"pdf.{path.parent.name}.{path.suffix[1:]}"
        output.mkdir()
        pdf = convert(path, "pdf", output)
        pages.append(count_pages(pdf))
        if shutil.which("pdftotext") and not run("pdftotext", pdf, "-").strip():
            raise RuntimeError(f"the PDF of {path.name} is empty")
    if pages[0] != pages[1]:
        raise RuntimeError(f"{pages[0]} pages became {pages[1]}")
    return f"LibreOffice, {pages[1]} page"


def open_table(source: Path, target: Path, scratch: Path) -> str:
    """Reads a table in LibreOffice: a column is added, and the other cells are those of the source."""
    separator = ord("," if target.suffix == ".csv" else "\t")
    output = scratch / f"cells.{target.suffix[1:]}"
    output.mkdir()
    cells = convert(target, "csv", output, reading=CELLS.format(separator), writing=CELLS.format(ord(",")))
    old, new = read_cells(source, chr(separator)), read_cells(cells, ",")
    if [row[: len(old[0])] for row in new] != old or {len(row) for row in new} != {len(old[0]) + 1}:
        raise RuntimeError(f"LibreOffice reads other cells: {new}")
    return f"LibreOffice, {len(new)} rows of {len(new[0])} cells"


def read_cells(path: Path, separator: str) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


def open_catalogue(_source: Path, target: Path, scratch: Path) -> str:
    run("msgfmt", "-c", target, "-o", scratch / "catalogue.mo")
    return "msgfmt"


def open_xml(_source: Path, target: Path, _scratch: Path) -> str:
    run("xmllint", "--noout", target)
    return "xmllint"


def open_page(_source: Path, target: Path, scratch: Path) -> str:
    """Opens a page in a browser, which writes what it made of it."""
    profile = f"--user-data-dir={scratch}/chromium"
    shown = run("chromium", "--headless", "--no-sandbox", "--disable-gpu", profile, "--dump-dom", f"file://{target}")
    marks = r"<p title=(?=.*<b>.*</b>.*</p>)(?=.*<a href=.*</a>.*</p>)"  # in the order of the translation
    if not re.search(marks, shown, re.DOTALL):
        raise RuntimeError("the browser shows another page")
    return "chromium"


def open_book(source: Path, target: Path, _scratch: Path) -> str:
    """Checks what an EPUB reader needs: the type first and not compressed, the same parts, and valid XML."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target) as new:
        first = new.infolist()[0]
        if (first.filename, first.compress_type, new.read(first)) != ("mimetype", 0, b"application/epub+zip"):
            raise RuntimeError("the first part is not the type")
        if old.namelist() != new.namelist() or new.testzip():
            raise RuntimeError("the parts differ")
        for name in new.namelist():
            if name.endswith((".xhtml", ".opf", ".ncx", ".xml")):
                ElementTree.fromstring(new.read(name))
    return "part by part"


OPENERS: dict[str, Callable[[Path, Path, Path], str]] = {
    ".csv": open_table,
    ".tsv": open_table,
    ".po": open_catalogue,
    ".xlf": open_xml,
    ".xml": open_xml,
    ".html": open_page,
    ".epub": open_book,
}


def translate(source: Path, target: Path, model: Path) -> None:
    column = ["--column", "text"] if source.suffix in (".csv", ".tsv") else []
    options = ["--model", model, "--max-length", LENGTH, *column]
    command = [sys.executable, "-m", "nmt_cli", "translate", source, "-o", target, *options]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])


def write_source(name: str, directory: Path) -> Path:
    """Writes a document; one of an office by LibreOffice."""
    from support.archives import make_epub

    if name in OFFICE:
        return convert(directory / OFFICE[name], name.partition(".")[2], directory)
    path = directory / name
    if name == "book.epub":
        path.write_bytes(
            make_epub(PAGE.replace("<!DOCTYPE html>\n<html", '<html xmlns="http://www.w3.org/1999/xhtml"'))
        )
    return path


def check(name: str, directory: Path, model: Path) -> bool:
    """Translates one document and opens the result; returns whether both succeeded."""
    target = directory / "out" / name
    try:
        source = write_source(name, directory)
        translate(source, target, model)
        opened = OPENERS.get(source.suffix, open_in_office)(source, target, directory)
        print(f"ok      {name}, {opened}", flush=True)
    except Skipped as reason:
        print(f"skipped {name}: {reason}", flush=True)
    except RuntimeError as problem:
        print(f"FAILED  {name}: {problem}", flush=True)
        return False
    return True


def main() -> int:
    from support.models import export_untrained, prepare_toy

    with tempfile.TemporaryDirectory(prefix="nmt.") as scratch:
        directory = Path(scratch)
        (directory / "out").mkdir()
        for name, text in TEXTS.items():
            (directory / name).write_text(text, encoding="utf-8")
        model = export_untrained(prepare_toy(directory), directory / "model")
        names = [name for name in TEXTS if not name.endswith((".fodt", ".fodp"))]
        results = [check(name, directory, model) for name in (*names, "book.epub", *OFFICE)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
