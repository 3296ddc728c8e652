"""Throws damaged and hostile files of every format at `nmt prepare`'s reading and checking, and counts what happens.

    python benchmarks/fuzz_prepare.py --seconds 60 --seed 1

Each input must end in pairs whose counts add up, or in an error of ours, within 20 seconds and 1 GB of memory. An input
that does not is written to the folder that is named, and the program ends with 1.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import lzma
import random
import resource
import sys
import tempfile
import time
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
SUFFIXES = ("tsv", "csv", "jsonl", "tmx", "po", "xliff")
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
}


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


KINDS = (random_bytes, random_unicode, mutated, mutated, mutated, huge_line, ragged, xml_bomb, packed)


def attempt(path: Path, generator: random.Random) -> str:
    """Reads and checks a file; what came of it. Raises AssertionError or anything unexpected if that is wrong."""
    config = PrepareConfig(encoding=generator.choice(ENCODINGS), source_column=generator.choice([None, None, "1", "a"]))
    try:
        inputs = CorpusInputs({"train": [CorpusFile(path)]}, config)
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
            slowest = max(slowest, time.monotonic() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for name, number in sorted(results.items()):
        print(f"{number:>8,}  {name}")
    print(f"{results.total():>8,}  inputs; the slowest took {slowest:.1f} s; {peak / 1e9:.2f} GB of memory at the peak")
    raise SystemExit(bool(results["FAILED"]) or slowest > SLOWEST or peak > MEMORY)


if __name__ == "__main__":
    main()
