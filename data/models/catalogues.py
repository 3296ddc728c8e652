"""Collects English-German pairs from the catalogues of programs: shops, homes, maps, mail, browsers.

    python data/models/catalogues.py --output pairs.tsv.gz

downloads the packages of `catalogues.toml` with pip, npm and apt, and writes their pairs with the name of the package,
below a header. A text is known by its file and its path in it; the language is a part of either:

    locale/de/django.po             msgid "Save" msgstr "Sichern"       the entry is a pair
    i18n/de.json, i18n/en-US.json   {"cart": {"total": "Summe"}}        i18n/{}.json, cart, total
    words.js                        "Total": {en: "Total", de: "Summe"} words.js, Total, {}

A pair of a package counts once. Where several packages translate a text, what few of them say is left out.
"""

from __future__ import annotations

import argparse
import gettext
import html
import io
import json
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain, pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from corpus import Pair, write_pairs

from nmt_cli.formats.po import read_entries, read_rows

LIST = Path(__file__).with_name("catalogues.toml")
Texts = Iterator[tuple[tuple[str, ...], str]]  # by their path in a file


class Package(NamedTuple):
    name: str  # or several, with blanks between
    registry: str  # pip, npm or apt
    licence: str
    version: str = ""  # the newest if empty
    files: Sequence[str] = ("*",)  # patterns of the paths that are read
    without: Sequence[str] = ()  # patterns of the paths within a file that are not


def read_list(path: Path) -> list[Package]:
    """Returns the packages of a list."""
    registries = tomllib.loads(path.read_text(encoding="utf-8"))
    return [Package(name, registry, **row) for registry, rows in registries.items() for name, row in rows.items()]


# Download


FETCH = {
    "pip": ("pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"),
    "npm": ("npm", "pack", "--silent"),
    "apt": ("apt-get", "download", "--quiet"),
}


SIGN = {"pip": "==", "npm": "@", "apt": ""}  # before a version


def fetch(package: Package, folder: Path) -> list[Path]:
    """Returns the archives of a package, downloaded unless a run before did so."""
    cache = folder / package.registry / re.sub(r"\W+", "-", f"{package.name} {package.version}")
    if not cache.is_dir():
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            names = [f"{name}{SIGN[package.registry]}{package.version}" for name in package.name.split()]
            subprocess.run([*FETCH[package.registry], *names], cwd=unfinished, check=True, stdout=subprocess.DEVNULL)
            shutil.copytree(unfinished, cache)
    return sorted(cache.iterdir())


def list_files(name: str, data: bytes, files: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yields the catalogues of an archive, and of archives within it."""
    if name.endswith((".whl", ".zip", ".xpi", ".ja")):
        with zipfile.ZipFile(io.BytesIO(straighten(data))) as archive:
            inner = [(entry, archive.read(entry)) for entry in archive.namelist() if is_read(entry, files)]
    elif name.endswith((".tgz", ".tar.gz", ".tar")):
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            entries = (entry for entry in tar if entry.isfile() and is_read(entry.name, files))
            inner = [(entry.name, tar.extractfile(entry).read()) for entry in entries]
    elif name.endswith(".deb"):
        unpacked = subprocess.run(["dpkg-deb", "--fsys-tarfile", "-"], input=data, check=True, capture_output=True)
        inner = [("package.tar", unpacked.stdout)]
    else:
        yield name, data
        return
    for entry, content in inner:
        yield from list_files(entry, content, files)


def is_read(name: str, files: Sequence[str]) -> bool:
    """Whether a file is an archive or a catalogue: one of the patterns, of a known kind, and of a language."""
    suffix = PurePosixPath(name).suffix
    if suffix in (".po", ".mo") and not GERMAN.search(name):
        return False  # what English it has is in the German one
    named = GERMAN.search(name) or ENGLISH.search(name) or suffix == ".properties" or files != ("*",)
    return suffix in (".xpi", ".ja") or bool(suffix in READERS and named and matches(name, files))


def matches(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def straighten(data: bytes) -> bytes:
    """Returns a ZIP archive with its directory at its end, which Mozilla's have at their start."""
    end = data.rfind(b"PK\5\6")
    size, start = struct.unpack("<II", data[end + 12 : end + 20])
    directory = data[start : start + size]
    return data[:end] + directory + data[end : end + 16] + struct.pack("<I", end) + data[end + 20 :]


# Texts of a file


def read_po(data: bytes) -> Texts:
    """Yields each text of a catalogue that is finished as English and as German."""

    def refuse(line: int, problem: str) -> None:
        raise ValueError(f"line {line}: {problem}")

    lines = enumerate(data.decode("utf-8").split("\n"), 1)
    for entry in read_entries(lines, refuse):
        for row in read_rows(entry):
            if not row.is_unfinished:
                yield (str(row.line), row.source, "en"), row.source
                yield (str(row.line), row.source, "de"), row.target


def read_mo(data: bytes) -> Texts:
    for key, text in gettext.GNUTranslations(io.BytesIO(data))._catalog.items():
        if isinstance(key, str) and key:
            yield (key, "en"), key.rpartition("\4")[2]
            yield (key, "de"), text


def read_json(data: bytes) -> Texts:
    yield from list_leaves(json.loads(data.decode("utf-8-sig")))


def list_leaves(value: object, path: tuple[str, ...] = ()) -> Texts:
    """Yields the texts of a tree; a list counts its members."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping | list):
        for key, part in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from list_leaves(part, (*path, str(key)))


SCRIPT = re.compile(
    r"""//[^\n]*|/\*.*?\*/
    |(?P<key>[\w$-]+|'[^'\n]*'|"[^"\n]*")\s*:
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)
    |(?P<open>[{\[])|(?P<close>[}\]])""",
    re.DOTALL | re.VERBOSE,
)
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)


def unescape(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else {"n": "\n", "t": " ", "r": ""}.get(match[3], match[3])

    return ESCAPE.sub(replace, text)


def read_script(data: bytes) -> Texts:
    """Yields the texts of the objects of a script, as far as they are simply written."""
    path: list[str] = []
    key, counts = "", Counter[tuple[str, ...]]()

    def name_next() -> str:
        counts[tuple(path)] += not key
        return key or str(counts[tuple(path)])

    for match in SCRIPT.finditer(data.decode("utf-8")):
        if match["key"]:
            key = match["key"].strip("'\"")
            continue
        if match["text"]:
            yield (*path, name_next()), unescape(match["text"][1:-1])
        elif match["open"]:
            path.append(name_next())
        elif match["close"]:
            path = path[:-1]
        key = ""


PROPERTY = re.compile(r"^[ \t]*([^#!\s=:][^=:\n]*?)[ \t]*[=:][ \t]*(.*)$", re.MULTILINE)


def read_properties(data: bytes) -> Texts:
    text = re.sub(r"\\\r?\n[ \t]*", "", data.decode("utf-8"))
    for key, value in PROPERTY.findall(text):
        yield (key,), unescape(value)


MESSAGE = re.compile(r"^(?:(-?[\w-]+)|[ \t]+\.([\w-]+))[ \t]*=[ \t]*((?:.*)(?:\n[ \t]+[^.\s[*}].*)*)", re.MULTILINE)


def read_fluent(data: bytes) -> Texts:
    """Yields the messages of a Fluent catalogue and their attributes."""
    name = ""
    for message, attribute, text in MESSAGE.findall(data.decode("utf-8")):
        name = message or name
        yield (name, attribute), " ".join(text.split())


def read_pak(data: bytes) -> Texts:
    """Yields the texts of a pack of resources of Chromium, of version 5, by their numbers."""
    count = struct.unpack_from("<H", data, 8)[0]
    entries = [struct.unpack_from("<HI", data, 12 + 6 * number) for number in range(count + 1)]
    for (number, start), (_, end) in pairwise(entries):
        yield (str(number),), data[start:end].decode("utf-8", "replace")


READERS = {
    ".po": read_po,
    ".mo": read_mo,
    ".json": read_json,
    ".properties": read_properties,
    ".ftl": read_fluent,
    ".pak": read_pak,
    ".js": read_script,
    ".mjs": read_script,
    ".ts": read_script,
}


# Pairs of two texts whose paths differ in the language


GERMAN = re.compile(r"(?<![A-Za-z])(?:de(?:[-_][Dd][Ee])?|deu|german)(?![A-Za-z]|[-_][A-Z]{2}\b)")
ENGLISH = re.compile(r"(?<![A-Za-z])(?:en(?:[-_](?:US|us|EN|GB|gb))?|eng|english)(?![A-Za-z]|[-_][A-Z]{2}\b)")
HASH = re.compile(r"-[0-9a-f]{20,}|-[\w-]{8}(?=\.m?js$)")  # of a bundler


def find_language(path: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Returns the language of a text, and its path with {} instead."""
    for language, pattern in (("de", GERMAN), ("en", ENGLISH)):
        if pattern.search(path[0]):
            first = () if path[1:2] == (language,) else path[1:2]  # some name it within, too
            return language, (pattern.sub("{}", path[0]), *first, *path[2:])
    for part in ("de", "en"):
        if part in path:
            return part, tuple("{}" if each == part else each for each in path)
    return "en", tuple(path)


def pair_texts(texts: Iterable[tuple[tuple[str, ...], str]]) -> Iterator[Pair]:
    """Yields the pairs of German texts with English ones of the same path; `messages.properties` may be English."""
    sides: dict[str, dict[tuple[str, ...], str]] = {"de": {}, "en": {}}
    for path, text in texts:
        language, key = find_language(path)
        sides[language].setdefault(key, text)
    behind = {(key[0].rpartition("{}/")[2], *key[1:]): text for key, text in sides["en"].items() if "{}/" in key[0]}
    for key, german in sides["de"].items():
        bare = (re.sub(r"[-_.]\{\}", "", key[0]), *key[1:])
        english = sides["en"].get(key) or sides["en"].get(bare) or behind.get((key[0].rpartition("{}/")[2], *key[1:]))
        if english is not None:
            yield Pair(english, german)


def read_package(package: Package, archives: Iterable[Path]) -> Iterator[Pair]:
    """Yields the pairs of a package, clean, each once."""
    texts: list[tuple[tuple[str, ...], str]] = []
    files = (list_files(archive.name, archive.read_bytes(), package.files) for archive in archives)
    for name, data in chain.from_iterable(files):
        suffix = PurePosixPath(name).suffix
        file = GERMAN.sub("", name) if suffix in (".po", ".mo") else HASH.sub("", name)
        try:
            read = list(READERS[suffix](data))
        except (ValueError, struct.error) as error:
            print(f"{name} is not read: {error}", file=sys.stderr)
            continue
        texts += [((file, *path), text) for path, text in read if not matches("/".join(path), package.without)]
    yield from dict.fromkeys(clean(pair_texts(texts), package.name))


# Cleaning


LONGEST = 40  # words
MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>")
PLACEHOLDER = re.compile(
    r"\{\{.*?\}\}|\$?\{[^{}]*\}|%\([\w.]+\)[a-z]|%[\d$.]*[sSdif@]|%\w+%|\[%.*?%\]|\$\w+\$?|(?<!\w):\w+|__\w+__"
)
CHOICE = re.compile(r",\s*(?:plural|select|selectordinal)\s*,|\{\s*\$[\w-]+\s*->|\s\|{1,2}\s|\[%|\$t\(")
CODE = re.compile(r"\S*(?:[_/\\@{}=<>#$]|\w[.:]\w)\S*")
MNEMONIC = re.compile(r"\s?\(&\w\)|&&?(?=\w)")
LETTERS = re.compile(r"[^\W\d_]{2}")
FOREIGN = re.compile(r"[^\W\d_A-Za-zÀ-ɏ]")
WORDS = {
    "en": frozenset("the and of to is are your you for with this that from not be will has have can by or".split()),
    "de": frozenset(
        "der die das und von zu ist sind ihr ihre du sie für mit diese nicht wird hat oder ein eine".split()
    ),
}


def clean(pairs: Iterable[Pair], group: str) -> Iterator[Pair]:
    """Yields the pairs that are texts in both languages, with plain blanks."""
    for pair in pairs:
        source, target = (" ".join(html.unescape(MNEMONIC.sub("", text)).split()) for text in pair[:2])
        if is_pair(source, target):
            yield Pair(source, target, group)


def is_pair(source: str, target: str) -> bool:
    """Whether two texts are translations of each other, as far as their form says."""
    sides = (source, target)
    marks = [Counter(MARKUP.findall(side) + PLACEHOLDER.findall(side)) for side in sides]
    texts = [PLACEHOLDER.sub("", MARKUP.sub("", side)).strip() for side in sides]
    if source.casefold() == target.casefold() or marks[0] != marks[1]:
        return False
    if any(CHOICE.search(side) or FOREIGN.search(side) or len(side.split()) > LONGEST for side in sides):
        return False
    if any(CODE.fullmatch(text) or not LETTERS.search(text) for text in texts):
        return False
    short, long = sorted(map(len, sides))
    return long <= 3 * short + 15 and speaks(source, "en", "de") and speaks(target, "de", "en")


def speaks(text: str, language: str, other: str) -> bool:
    """Whether a text has no more common words of the other language than of its language."""
    words = re.findall(r"\w+", text.casefold())
    return sum(word in WORDS[other] for word in words) <= sum(word in WORDS[language] for word in words)


RARE = 4  # times as many packages say it otherwise


def merge(packages: Iterable[Iterable[Pair]]) -> list[Pair]:
    """Returns the pairs of all packages, each once, without those that most packages say otherwise."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for pair in (pair for package in packages for pair in package):
        groups[pair[:2]].append(pair.group)
    most: dict[tuple[int, str], int] = defaultdict(int)
    for pair, names in groups.items():
        for side in enumerate(pair):
            most[side] = max(most[side], len(names))
    return [
        Pair(*pair, names[0])
        for pair, names in groups.items()
        if all(RARE * len(names) > most[side] for side in enumerate(pair))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="file of pairs, tab-separated, compressed if .gz")
    parser.add_argument("--downloads", type=Path, help="folder that keeps the packages (a temporary one)")
    options = parser.parse_args()
    read = []
    with tempfile.TemporaryDirectory() as scratch:
        for package in read_list(LIST):
            read.append(list(read_package(package, fetch(package, options.downloads or Path(scratch)))))
            print(package.name, package.version, package.licence, len(read[-1]), sep="\t", flush=True)
    write_pairs(options.output, merge(read), with_groups=True)


if __name__ == "__main__":
    main()
