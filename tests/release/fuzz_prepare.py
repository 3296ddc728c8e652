"""Throws damaged and hostile files of every format at `nmt prepare`'s reading and checking, and counts what happens.

    python tests/release/fuzz_prepare.py [--seconds 60] [--seed 1]

Each input must end in pairs whose counts add up, or in an error of ours, within 20 seconds and 1 GB of memory. An input
that does not is written to the folder that is named, and the program ends with 1.
"""

import argparse
import bz2
import gzip
import io
import lzma
import random
import resource
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path
from random import Random

import zstandard

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.prepare import format_html, format_json
from nmt_cli.corpus.steps.reading import CorpusInputs, read_pairs
from nmt_cli.corpus.steps.run_checks import run_checks
from nmt_cli.errors import NmtError
from nmt_cli.formats.inputs import CorpusFile

SLOWEST = 20.0  # seconds
MEMORY = 1 << 30  # bytes that may be resident
TABLES = ("tsv", "csv", "jsonl", "xlsx", "ods")
PAIRED = ("sgm", "usfm")  # formats of one side, read together with a good file of the other
PACKERS = (gzip.compress, lzma.compress, bz2.compress, zstandard.compress)
ENCODINGS = (None, None, None, "utf-8", "utf-16", "cp1252", "utf-7", "shift_jis", "punycode", "unicode_escape")

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET = (
    f'<worksheet xmlns="{MAIN}"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c>'
    '<c r="B1" t="inlineStr"><is><t>b</t></is></c></row></sheetData></worksheet>'
)
WORKBOOK = (
    f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    f'Type="{OFFICE}/worksheet" Target="worksheets/s.xml"/></Relationships>'
)
SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
)
CONTENT = (
    f'<office:document-content {SPACES}><office:body><office:spreadsheet><table:table table:name="S"><table:table-row>'
    '<table:table-cell table:number-columns-repeated="2"><text:p>a</text:p></table:table-cell></table:table-row>'
    "</table:table></office:spreadsheet></office:body></office:document-content>"
)


def pack_sheet(suffix: str, sheet: str) -> bytes:
    """Returns a spreadsheet with this sheet."""
    parts = {
        "xlsx": {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.xml": WORKBOOK,
            "xl/_rels/workbook.xml.rels": RELATIONS,
            "xl/worksheets/s.xml": sheet,
        },
        "ods": {"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": sheet},
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts[suffix].items():
            archive.writestr(name, content)
    return written.getvalue()


GOOD: dict[str, bytes] = {
    "tsv": "one\teins\ntwo &amp;\tfÃ¼nf <b>5</b>\nПривет\t日本\n".encode(),
    "csv": b'source,target\n"a, ""b""",c\n"two\nlines",d\n',
    "jsonl": b'{"source": "a", "target": "b"}\n["c", "d"]\n{"translation": {"en": "x", "de": "y"}}\n',
    "tmx": b'<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx><header srclang="en"/><body><tu><tuv xml:lang='
    b'"en"><seg>a <ph>x</ph></seg></tuv><tuv xml:lang="de"><seg>b &lt;</seg></tuv></tu></body></tmx>',
    "po": b'msgid ""\nmsgstr ""\n\n#, fuzzy\nmsgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\nmsgstr[1] "d\\n"\n',
    "xliff": b'<xliff version="1.2"><file source-language="en" target-language="de"><body><trans-unit id="1"><source>a'
    b"<g>b</g></source><target>c</target></trans-unit></body></file></xliff>",
    "sgm": b'<srcset srclang="en"><doc docid="d">\n<seg id="1">a &amp; b</seg>\n<seg id="2">c</seg></doc></srcset>',
    "xml": b'<dataset><doc id="d"><src lang="en"><seg id="1">a</seg></src><ref lang="de"><seg id="1">b</seg></ref>'
    b"</doc></dataset>",
    "usfm": b'\\id GEN x\n\\c 1\n\\p\n\\v 1 a \\f + \\ft n\\f*b \\w c|d="e"\\w*\n\\v 2-3 f\n',
    "xlsx": pack_sheet("xlsx", SHEET),
    "ods": pack_sheet("ods", CONTENT),
}


def make_bytes(generator: Random, suffix: str) -> bytes:
    return generator.randbytes(generator.choice([0, 1, 3, 50, 1_000, 100_000]))


def make_unicode(generator: Random, suffix: str) -> bytes:
    points = (generator.choice([generator.randrange(0x80), generator.randrange(0x110000)]) for _ in range(500))
    text = "".join(map(chr, points))
    return (text + generator.choice(["\t", "\n", ",", '"', "<", "{"]) + text).encode("utf-8", "surrogatepass")


def mutate(generator: Random, suffix: str) -> bytes:
    """Returns a good file with bytes changed, cut out, doubled or put in."""
    chosen = generator.choice([suffix, suffix, suffix, generator.choice(list(GOOD))])
    data = bytearray(GOOD[chosen] * generator.choice([1, 5]))
    for _ in range(generator.randrange(1, 12)):
        start = generator.randrange(len(data) + 1)
        piece = bytes(data[start : start + generator.randrange(1, 30)])
        marks = [b"\0", b"\t", b"\n", b'"', b"<", b">", b"&", b"\xff", b"\xed\xa0\x80", b"]]>", piece]
        data[start : start + generator.choice([0, 1, 10])] = generator.choice(marks)
    return bytes(data)


def make_huge_field(generator: Random, suffix: str) -> bytes:
    """Returns a field of up to 64 MB, as a quote that is never closed begins it."""
    opened = {"csv": b'a,b\nc,"', "jsonl": b'{"source": "', "po": b'msgid "', "tsv": b"a\t"}
    start = opened.get(suffix, GOOD[suffix][: len(GOOD[suffix]) // 2])
    filler = generator.choice([b"x", b"x\n", b'"', b"a,b\n", b"\xc3\xa9", b"\t", b"&amp;", b"<a>", b" "])
    return start + filler * (generator.choice([1 << 17, 1 << 21, 1 << 26]) // len(filler))


def make_ragged_table(generator: Random, suffix: str) -> bytes:
    """Returns lines with any number of columns."""
    mark = generator.choice([b"\t", b",", b";"])
    return b"\n".join(mark.join([b"cell"] * generator.randrange(0, 6)) for _ in range(generator.randrange(1, 200)))


def make_xml_bomb(generator: Random, suffix: str) -> bytes:
    """Returns entities in entities, files and hosts to be fetched, depth without end, an attribute without end."""
    root, depth = "xliff" if suffix == "xliff" else "tmx", generator.choice([5, 50, 500])
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(depth))
    kinds = [
        f'<!DOCTYPE {root} [<!ENTITY e0 "lol">{entities}]><{root}><tu>&e{depth};</tu></{root}>',
        f'<!DOCTYPE {root} [<!ENTITY x SYSTEM "file:///etc/passwd">]><{root}><tu>&x;</tu></{root}>',
        f'<!DOCTYPE {root} [<!ENTITY % x SYSTEM "http://localhost:9/x.dtd"> %x;]><{root}/>',
        f"<{root}>" + "<tu>" * generator.choice([100, 10_000, 1_000_000]),
        f"<{root}>" + "<a>" * 150 + "</a>" * 150 + "<b/>" * 200_000,
        f'<{root}><tu a="' + "x" * (1 << generator.choice([10, 24])),
        f"<{root}>" + "<!-- " * 10 + "x" * (1 << 24),
    ]
    return generator.choice(kinds).encode()


def make_packed(generator: Random, suffix: str) -> bytes:
    """Returns a packed file, perhaps cut or damaged; or one that is a thousand times as large when it is unpacked."""
    content = generator.choice([GOOD[suffix] * 50, b"\0" * (1 << 26), b"a\tb\n" * (1 << 20), b"x" * (1 << 25)])
    data = bytearray(generator.choice(PACKERS)(content))
    if generator.random() < 0.5:
        del data[generator.randrange(len(data)) :]
    if data and generator.random() < 0.3:
        data[generator.randrange(len(data))] ^= 0xFF
    return bytes(data)


def make_sheet_bomb(generator: Random, suffix: str) -> bytes:
    """Returns a small spreadsheet that spans, repeats or unpacks to more than memory holds; or a damaged one."""
    number = generator.choice([10, 20_000, 1_048_576, 10**12])
    kind = suffix if suffix in ("xlsx", "ods") else generator.choice(["xlsx", "ods"])
    sheet = {"xlsx": SHEET, "ods": CONTENT}[kind]
    spans = {
        "xlsx": sheet.replace("<row ", f'<row r="{number}"><c r="XFD{number}"><v>1</v></c></row><row '),
        "ods": sheet.replace('"2">', f'"{number}">').replace("row>", f'row table:number-rows-repeated="{number}">', 1),
    }
    padded, cut = sheet + " " * (1 << generator.choice([10, 28])), sheet[: generator.randrange(len(sheet))]
    return pack_sheet(kind, generator.choice([spans[kind], padded, cut]))


def make_endless_part(generator: Random, suffix: str) -> bytes:
    """Returns a comment, a tag, an entry, a segment, a verse or a run of empty lines that does not end."""
    size = 1 << generator.choice([16, 22, 26])
    kinds = {
        "tmx": b"<tmx><!--" + b"e" * size,
        "xliff": b'<xliff a="' + b"e" * size,
        "xml": b"<dataset><doc " + b"e" * size,
        "po": b'msgid "a"\n' + b'"b"\n' * (size // 4),
        "sgm": b"<srcset><doc docid='a'><seg id='1'>" + b"e\n" * (size // 2),
        "usfm": b"\\id GEN\n\\c 1\n\\v 1 " + b"\\f + e\n" * (size // 8),
    }
    return kinds.get(suffix, b"\n" * size)


KINDS = (
    *(mutate, mutate, mutate, make_bytes, make_unicode, make_huge_field, make_ragged_table, make_xml_bomb),
    *(make_packed, make_sheet_bomb, make_endless_part),
)


def prepare(path: Path, generator: Random) -> str:
    """Reads and checks a file; returns "pairs" or the name of our error. Raises anything else if that is wrong."""
    suffix = path.suffix[1:]
    columns = [None, None, "1", "a"] if suffix in TABLES else [None]
    config = PrepareOptions(encoding=generator.choice(ENCODINGS), source_column=generator.choice(columns))
    other = path.with_name(f"other.{suffix}") if suffix in PAIRED else None
    if other:
        other.write_bytes(GOOD[suffix])
    try:
        pairs = read_pairs(CorpusInputs({"train": [CorpusFile(path, other)]}, config), config, lambda *progress: None)
    except NmtError as error:
        return type(error).__name__
    findings = run_checks(pairs, config, lambda done: None)
    dropped = sum(finding.count for finding in findings if finding.action == "dropped")
    if dropped + int(pairs.is_kept.sum()) != len(pairs):
        raise ValueError("counts do not add up")
    format_html(findings, None)
    format_json(findings, None).encode()
    return "pairs"


def try_input(folder: Path, generator: Random, failures: Path) -> tuple[str, float]:
    """Makes an input and prepares it; returns what came of it, and the seconds."""
    suffix, make = generator.choice(list(GOOD)), generator.choice(KINDS)
    path = folder / f"case.{suffix}"
    path.write_bytes(make(generator, suffix))
    started = time.monotonic()
    try:
        result = f"{make.__name__}: {prepare(path, generator)}"
    except Exception as problem:
        failures.mkdir(exist_ok=True)
        kept = failures / f"{len(list(failures.iterdir()))}.{suffix}"
        kept.write_bytes(path.read_bytes())
        print(f"{kept} by {make.__name__}: {type(problem).__name__}: {problem}", file=sys.stderr)
        result = "FAILED"
    return result, time.monotonic() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    options = parser.parse_args()
    generator, results, slowest = random.Random(options.seed), Counter[str](), 0.0
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            result, seconds = try_input(Path(folder), generator, options.failures)
            results[result] += 1
            slowest = max(slowest, seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for name, number in sorted(results.items()):
        print(f"{number:>8,}  {name}")
    print(f"{results.total():>8,}  inputs; the slowest took {slowest:.1f} s; {peak / 1e9:.2f} GB of memory at the peak")
    raise SystemExit(bool(results["FAILED"]) or slowest > SLOWEST or peak > MEMORY)


if __name__ == "__main__":
    main()
