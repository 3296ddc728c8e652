"""Throws damaged and hostile files of every format at `nmt prepare`'s reading and checking, and counts what happens.

    python benchmarks/fuzz_prepare.py --seconds 60 --seed 1

Each input must end in pairs whose counts add up, or in an error of ours, within 20 seconds and 1 GB of memory. An input
that does not is written to the folder that is named, and the program ends with 1.
"""

from __future__ import annotations

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
from collections.abc import Callable
from pathlib import Path

import zstandard

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.formats.inputs import CorpusFile
from nmt_cli.corpus.report import format_html, format_json
from nmt_cli.corpus.steps.reading import CorpusInputs, read_pairs
from nmt_cli.corpus.steps.run_checks import run_checks
from nmt_cli.errors import NmtError

SLOWEST = 20.0  # seconds
MEMORY = 1 << 30  # bytes that may be resident
SUFFIXES = ("tsv", "csv", "jsonl", "tmx", "po", "xliff", "sgm", "xml", "usfm", "xlsx", "ods")
TABLES = ("tsv", "csv", "jsonl", "xlsx", "ods")
PAIRED = ("sgm", "usfm")  # formats of one side, read together with a good file of the other
PACKERS: tuple[Callable[[bytes], bytes], ...] = (gzip.compress, lzma.compress, bz2.compress, zstandard.compress)
ENCODINGS = (None, None, None, "utf-8", "utf-16", "cp1252", "utf-7", "shift_jis", "punycode", "unicode_escape")

SEEDS: dict[str, bytes] = {
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
    "xlsx": b"",
    "ods": b"",
}
SHEET = (
    b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t='
    b'"inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c></row></sheetData></worksheet>'
)
CONTENT = (
    b'<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:'
    b'names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body>'
    b'<office:spreadsheet><table:table table:name="S"><table:table-row><table:table-cell table:number-columns-repeated='
    b'"2"><text:p>a</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body>'
    b"</office:document-content>"
)


def make_archive(suffix: str, sheet: bytes) -> bytes:
    """A spreadsheet with this sheet, or a part of it that a reader may miss."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        if suffix == "ods":
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            archive.writestr("content.xml", sheet)
        else:
            archive.writestr("[Content_Types].xml", "<Types/>")
            archive.writestr("xl/workbook.xml", WORKBOOK)
            archive.writestr("xl/_rels/workbook.xml.rels", RELATIONS)
            archive.writestr("xl/worksheets/s.xml", sheet)
    return written.getvalue()


OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORKBOOK = (
    f'<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{OFFICE}"><sheets>'
    '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    f'Type="{OFFICE}/worksheet" Target="worksheets/s.xml"/></Relationships>'
)
SEEDS["xlsx"], SEEDS["ods"] = make_archive("xlsx", SHEET), make_archive("ods", CONTENT)


def sheet_bomb(generator: random.Random, suffix: str) -> bytes:
    """A spreadsheet that is small and spans, repeats or unpacks to more than memory holds; or a damaged one."""
    number = generator.choice([10, 20_000, 1_048_576, 10**12])
    sheets = {
        "xlsx": [
            SHEET.replace(b"<row ", f'<row r="{number}"><c r="XFD{number}"><v>1</v></c></row><row '.encode()),
            SHEET + b" " * (1 << generator.choice([10, 28])),
            SHEET[: generator.randrange(len(SHEET))],
        ],
        "ods": [
            CONTENT.replace(b'"2">', f'"{number}">'.encode()),
            CONTENT.replace(b"table:table-row>", f'table:table-row table:number-rows-repeated="{number}">'.encode(), 1),
            CONTENT[: generator.randrange(len(CONTENT))],
        ],
    }
    kind = suffix if suffix in sheets else generator.choice(["xlsx", "ods"])
    return make_archive(kind, generator.choice(sheets[kind]))


def long_tokens(generator: random.Random, suffix: str) -> bytes:
    """A comment, a tag, an entry, a segment, a verse or a run of empty lines that does not end."""
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


def random_bytes(generator: random.Random, suffix: str) -> bytes:
    return generator.randbytes(generator.choice([0, 1, 3, 50, 1_000, 100_000]))


def random_unicode(generator: random.Random, suffix: str) -> bytes:
    points = (generator.choice([generator.randrange(0x80), generator.randrange(0x110000)]) for _ in range(500))
    text = "".join(chr(point) for point in points)
    return (text + generator.choice(["\t", "\n", ",", '"', "<", "{"]) + text).encode("utf-8", "surrogatepass")


def mutated(generator: random.Random, suffix: str) -> bytes:
    """A good file, with bytes changed, cut out, doubled or put in."""
    data = bytearray(
        SEEDS[generator.choice([suffix, suffix, suffix, generator.choice(SUFFIXES)])] * generator.choice([1, 5])
    )
    for _ in range(generator.randrange(1, 12)):
        place = generator.randrange(len(data) + 1)
        piece = data[place : place + generator.randrange(1, 30)]
        inserted = generator.choice(
            [b"\0", b"\t", b"\n", b'"', b"<", b">", b"&", b"\xff", b"\xed\xa0\x80", b"]]>", piece]
        )
        data[place : place + generator.choice([0, 1, 10])] = inserted
    return bytes(data)


def huge_line(generator: random.Random, suffix: str) -> bytes:
    """A field of up to 64 MB, as a quote that is never closed announces it."""
    opened = {"csv": b'a,b\nc,"', "jsonl": b'{"source": "', "po": b'msgid "', "tsv": b"a\t"}
    start = opened.get(suffix, SEEDS[suffix][: len(SEEDS[suffix]) // 2])
    filler = generator.choice([b"x", b"x\n", b'"', b"a,b\n", b"\xc3\xa9", b"\t", b"&amp;", b"<a>", b" "])
    return start + filler * (generator.choice([1 << 17, 1 << 21, 1 << 26]) // len(filler))


def ragged(generator: random.Random, suffix: str) -> bytes:
    """Lines with any number of columns."""
    mark = generator.choice([b"\t", b",", b";"])
    return b"\n".join(mark.join([b"cell"] * generator.randrange(0, 6)) for _ in range(generator.randrange(1, 200)))


def xml_bomb(generator: random.Random, suffix: str) -> bytes:
    """Entities within entities, files and hosts to be fetched, depth without end, an attribute without end."""
    root = "xliff" if suffix == "xliff" else "tmx"
    depth = generator.choice([5, 50, 500])
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


def packed(generator: random.Random, suffix: str) -> bytes:
    """A packed file, perhaps cut or damaged; or one that is a thousand times as large when it is unpacked."""
    content = generator.choice([SEEDS[suffix] * 50, b"\0" * (1 << 26), b"a\tb\n" * (1 << 20), b"x" * (1 << 25)])
    data = bytearray(generator.choice(PACKERS)(content))
    if generator.random() < 0.5:
        del data[generator.randrange(len(data)) :]
    if data and generator.random() < 0.3:
        data[generator.randrange(len(data))] ^= 0xFF
    return bytes(data)


KINDS = (
    *(random_bytes, random_unicode, mutated, mutated, mutated, huge_line, ragged, xml_bomb, packed),
    *(sheet_bomb, long_tokens),
)


def attempt(path: Path, generator: random.Random) -> str:
    """Reads and checks a file; what came of it. Raises AssertionError or anything unexpected if that is wrong."""
    columns = [None, None, "1", "a"] if path.suffix[1:] in TABLES else [None]
    config = PrepareConfig(encoding=generator.choice(ENCODINGS), source_column=generator.choice(columns))
    try:
        other = path.with_name(f"other{path.suffix}") if path.suffix[1:] in PAIRED else None
        if other is not None:
            other.write_bytes(SEEDS[path.suffix[1:]])
        inputs = CorpusInputs({"train": [CorpusFile(path, other)]}, config)
        pairs = read_pairs(inputs, config, lambda stage, done, total: None)
    except NmtError as error:
        return type(error).__name__
    findings = run_checks(pairs, config, lambda done: None)
    dropped = sum(each.count for each in findings if each.action == "dropped")
    if dropped + int(pairs.is_kept.sum()) != len(pairs):
        raise ValueError("counts do not add up")
    format_html(findings, None)
    format_json(findings, None).encode()
    return "pairs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    arguments = parser.parse_args()
    generator, results, slowest = random.Random(arguments.seed), Counter[str](), 0.0
    end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            suffix, make = generator.choice(SUFFIXES), generator.choice(KINDS)
            path = Path(folder, f"case.{suffix}")
            data = make(generator, suffix)
            path.write_bytes(data)
            started = time.monotonic()
            try:
                results[f"{make.__name__}: {attempt(path, generator)}"] += 1
            except Exception as problem:
                arguments.failures.mkdir(exist_ok=True)
                (arguments.failures / f"{sum(results.values())}.{suffix}").write_bytes(data)
                print(f"{make.__name__} {suffix}: {type(problem).__name__}: {problem}", file=sys.stderr)
                results["FAILED"] += 1
            seconds = time.monotonic() - started
            if seconds > SLOWEST / 2:
                print(f"{make.__name__} {suffix}: {len(data):,} bytes took {seconds:.1f} s", file=sys.stderr)
            slowest = max(slowest, seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for name, number in sorted(results.items()):
        print(f"{number:>8,}  {name}")
    print(f"{results.total():>8,}  inputs; the slowest took {slowest:.1f} s; {peak / 1e9:.2f} GB of memory at the peak")
    raise SystemExit(bool(results["FAILED"]) or slowest > SLOWEST or peak > MEMORY)


if __name__ == "__main__":
    main()
