r"""Gettext catalogues: entries, one at a time, with their comments, flags and plurals.

    #, fuzzy                     PoEntry(line=2, flags=("fuzzy",), message=2, texts={
    msgid "one\n"                    "msgid": "one\ntwo",
    "two"                            "msgstr": "eins"})
    msgstr "eins"
    #~ msgid "gone"              an obsolete entry: text between entries

For training, a fuzzy entry is unfinished, and an entry with plurals gives two pairs. In a document, an entry keeps its
lines (`documents/po.py`). An entry has one `msgid` and one `msgstr`; anything else is refused, naming the line. Escapes
that gettext does not write stay as they are.

Also reads pairs from catalogues of Qt (`.ts`) and Xcode (`.xcstrings`), and provides the parts of them that documents
need.

    <message numerus="yes">                        two pairs: "%n file" with the first form, "%n files" with the last;
    <source>%n file(s)</source>                    `<byte value="x9"/>` in a text is a control character
    <translation type="unfinished">                unfinished: no pair for training
    <numerusform>%n Datei</numerusform>...

    "%lld files" : { "localizations" : {           a pair per text that both languages have, by its path:
      "en" : { "variations" : { "plural" : {         variations, plural, one
        "one" : { "stringUnit" : { "state" : "translated", "value" : "%lld file" } }, ...
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple, NoReturn
from xml.etree.ElementTree import Element

from nmt_cli.formats.exchange import VariantReader, VariantUnit, XmlReader, extract_text
from nmt_cli.formats.reader import Reader, Row
from nmt_cli.formats.sniffing import CHARSET, TEMPLATE, check_encoding

KEYWORD_LINE = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?)\s*(".*)')
ESCAPES = {"\\\\": "\\", "\\t": "\t", "\\r": "\r", "\\n": "\n", "\\v": "\v", "\\b": "\b", "\\f": "\f", '\\"': '"'}
ESCAPE = re.compile(r'\\[\\trnvbf"]')
MAXIMUM_TEXT = 1 << 20  # characters of the texts of an entry
HEADER_FIELD = re.compile(r"^([\w-]+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


class PoEntry(NamedTuple):
    """An entry; the last entry of a catalogue has no texts, only the end of the file."""

    line: int  # of its first keyword
    before: str  # as it is spelled, what belongs to no entry
    lines: list[str]  # of the entry, with its comments and their ends
    message: int  # the index of the first line of its `msgstr`; 0 if there is none
    flags: tuple[str, ...]
    texts: dict[str, str]  # by keyword

    @property
    def is_header(self) -> bool:
        return self.texts.get("msgid") == "" and "msgctxt" not in self.texts

    @property
    def forms(self) -> dict[int, str]:
        """The plural forms by number."""
        plural = {keyword: text for keyword, text in self.texts.items() if keyword.startswith("msgstr[")}
        return {int(keyword[7:-1]): text for keyword, text in plural.items()}

    def read_header(self) -> dict[str, str]:
        """Returns the fields of a header."""
        return dict(HEADER_FIELD.findall(self.texts.get("msgstr", "")))


class EntryParser:
    """Collects lines into entries. `refuse` raises an error that names a line and its problem."""

    def __init__(self, refuse: Callable[[int, str], NoReturn]) -> None:
        self.refuse = refuse
        self.begin()

    def begin(self) -> None:
        self.before: list[str] = []
        self.lines: list[str] = []
        self.flags: list[str] = []
        self.parts: dict[str, list[str]] = {}
        self.keyword = ""
        self.line = self.message = self.size = 0

    def finish(self) -> PoEntry:
        texts = {keyword: "".join(parts) for keyword, parts in self.parts.items()}
        entry = PoEntry(self.line, "".join(self.before), self.lines, self.message, tuple(self.flags), texts)
        self.begin()
        return entry

    def read_line(self, line: int, raw: str) -> Iterator[PoEntry]:
        """Reads a line, and yields the entry that ended before it, if any."""
        text = raw.strip().removeprefix("\ufeff")
        match = None if text[:1] in ('"', "#", "") else KEYWORD_LINE.fullmatch(text)
        if self.keyword.startswith("msgstr") and not text.startswith(('"', "msgstr")):
            yield self.finish()
        if not text or text.startswith("#"):
            self.read_comment(text, raw)
            return
        if match is not None:
            self.begin_text(line, match[1])
            text = match[2]
        elif not text.startswith('"'):
            self.refuse(line, f"not a gettext entry ({text[:40]!r})")
        self.lines.append(raw)
        self.extend(line, text)

    def read_comment(self, text: str, raw: str) -> None:
        """Keeps a comment with its entry; blank lines and obsolete entries with their flags belong to no entry."""
        self.lines.append(raw)
        if text.startswith("#,"):
            self.flags += filter(None, map(str.strip, text[2:].split(",")))
        if not self.parts and (not text or text.startswith("#~")):
            self.before += self.lines
            self.lines = []
            self.flags = [] if text else self.flags

    def begin_text(self, line: int, keyword: str) -> None:
        if keyword in self.parts or (keyword != "msgid" and (keyword == "msgctxt") == bool(self.parts)):
            self.refuse(line, f"{keyword} is unexpected here")
        if keyword.startswith("msgstr"):
            self.message = self.message or len(self.lines)
        self.line, self.keyword = self.line or line, keyword
        self.parts[keyword] = []

    def extend(self, line: int, text: str) -> None:
        """Adds a quoted string to the text of the current keyword."""
        if not self.keyword or len(text) < 2 or not text.endswith('"'):
            self.refuse(line, "expected a quoted string here")
        decoded = ESCAPE.sub(lambda match: ESCAPES[match[0]], text[1:-1]) if "\\" in text else text[1:-1]
        self.parts[self.keyword].append(decoded)
        self.size += len(decoded) + 1  # an empty string counts too
        if self.size > MAXIMUM_TEXT:
            self.refuse(line, f"an entry of more than {MAXIMUM_TEXT:,} characters")


def read_entries(lines: Iterable[tuple[int, str]], refuse: Callable[[int, str], NoReturn]) -> Iterator[PoEntry]:
    """Yields the entries of numbered lines in order, and then what follows the last one."""
    parser = EntryParser(refuse)
    for line, raw in lines:
        yield from parser.read_line(line, raw)
    if parser.keyword:
        yield parser.finish()
    yield parser.finish()


class PoReader(Reader):
    expects = 'gettext entries: msgid "..." and msgstr "..."'

    def read_rows(self) -> Iterator[Row]:
        charset = CHARSET.search(self.stream.read_head())
        if charset and self.stream.encoding is None and charset[1].upper() != TEMPLATE:
            self.stream.encoding = check_encoding(charset[1].decode(), "Content-Type")
        for entry in read_entries(self.stream.read_lines(), self.refuse):
            if not entry.is_header:
                yield from read_rows(entry)
                continue
            fields = entry.read_header()
            if self.languages is None and fields.get("Language"):
                self.languages = (fields.get("X-Source-Language", "source"), fields["Language"])


def read_rows(entry: PoEntry) -> Iterator[Row]:
    """Yields the pair of an entry; with plurals, one pair for the singular and one for the last plural form."""
    texts, forms, is_fuzzy, context = entry.texts, entry.forms, "fuzzy" in entry.flags, entry.texts.get("msgctxt", "")
    if texts.get("msgid"):
        singular = texts.get("msgstr", forms.get(0, ""))
        yield Row(entry.line, texts["msgid"], singular, is_unfinished=is_fuzzy, context=context)
        plurals = [form for form in forms if form]
        if "msgid_plural" in texts and plurals:
            plural = forms[plurals[-1]]
            yield Row(entry.line, texts["msgid_plural"], plural, is_unfinished=is_fuzzy, context=context)


# Qt: a text with a number has one spelling for all of its forms: `%n file(s)`.


GONE = ("obsolete", "vanished")  # from the program
OPTIONAL_ENDING = re.compile(r"(?<=[^\W\d_])\(([^\W\d_]{1,3})\)")


def spell_form(text: str, *, is_singular: bool) -> str:
    """Returns the singular or plural form of a text with a number: `%n file(s)` is `%n file` or `%n files`."""
    return OPTIONAL_ENDING.sub("" if is_singular else r"\1", text)


class QtReader(XmlReader):
    expects = "a Qt catalogue: <TS> with messages"
    root = "TS"
    unit_names = frozenset({"message"})

    def read_rows(self) -> Iterator[Row]:
        for line, message, context, *_ in self.read_units():
            declared = context.get("TS", {})
            if self.languages is None and declared.get("language"):
                self.languages = (declared.get("sourcelanguage") or "source", declared["language"])
            yield from read_message(line, message)


def read_message(line: int, message: Element) -> Iterator[Row]:
    """Yields the pair of a message; with plural forms, one pair for the first and one for the last."""
    source, translation = message.find("source"), message.find("translation")
    if source is None or translation is None or translation.get("type") in GONE:
        return
    text, is_unfinished = extract_text(source), translation.get("type") == "unfinished"
    forms = [extract_text(form) for form in translation.iterfind("numerusform")]
    if not forms:
        yield Row(line, text, extract_text(translation), is_unfinished=is_unfinished)
        return
    singular, plural = (spell_form(text, is_singular=is_singular) for is_singular in (True, False))
    if len(forms) > 1 and singular != plural:
        yield Row(line, singular, forms[0], is_unfinished=is_unfinished)
    yield Row(line, plural, forms[-1], is_unfinished=is_unfinished)


# Xcode: a string has, for each language, a tree with texts at its leaves (`stringUnit`).


BLANKS = re.compile(r"\s*")
FINISHED = "translated"
STALE = "stale"  # gone from the program


class Member(NamedTuple):
    """A member of a JSON object, and its position in the text."""

    key: str
    value: Any
    start: int  # of its key
    value_start: int
    end: int


def list_members(text: str, start: int) -> Iterator[Member]:
    """Yields the members of the object that begins at `start` in a JSON text."""
    read = json.JSONDecoder(strict=False).raw_decode
    position = skip_blanks(text, start + 1)
    while text[position] != "}":
        key, end = read(text, position)
        value_start = skip_blanks(text, skip_blanks(text, end) + 1)
        value, end = read(text, value_start)
        yield Member(key, value, position, value_start, end)
        position = skip_blanks(text, end)
        if text[position] == ",":
            position = skip_blanks(text, position + 1)


def skip_blanks(text: str, position: int) -> int:
    match = BLANKS.match(text, position)
    return match.end() if match else position


def find_member(text: str, start: int, key: str) -> Member | None:
    """Returns the last member with this key (the one that counts) in the object that begins at `start`."""
    return next((member for member in reversed(list(list_members(text, start))) if member.key == key), None)


def get_object(values: Any, key: str) -> dict[str, Any]:
    """Returns the object under a key; an empty one for anything else."""
    value = values.get(key) if isinstance(values, dict) else None
    return value if isinstance(value, dict) else {}


def read_unit(tree: Any) -> Mapping[str, Any] | None:
    """Returns the text of a leaf with its state; None for other nodes."""
    unit = tree.get("stringUnit") if isinstance(tree, dict) else None
    return unit if isinstance(unit, dict) and isinstance(unit.get("value"), str) else None


def list_leaves(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yields the texts of a language, each with its path."""
    unit = read_unit(tree)
    if unit is not None:
        yield path, unit
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from list_leaves(value, (*path, key)) if key != "stringUnit" else ()


def list_localizations(key: str, entry: Any, declared: str) -> dict[str, Any]:
    """Returns the trees of a string by language; if the file's own language has none, the key is its text."""
    trees = get_object(entry, "localizations")
    return trees if declared in trees else {declared: {"stringUnit": {"state": FINISHED, "value": key}}, **trees}


class XcodeReader(VariantReader):
    expects = 'a string catalogue: {"sourceLanguage": "en", "strings": {...}}'

    def read_variants(self) -> Iterator[VariantUnit]:
        text = "".join(line for _, line in self.stream.read_lines()).removeprefix("\ufeff")
        try:
            catalogue = json.loads(text, strict=False)
        except (ValueError, RecursionError) as error:
            self.refuse(getattr(error, "lineno", 1), f"invalid JSON ({str(error)[:100]})")
        declared = str(catalogue.get("sourceLanguage", "")) if isinstance(catalogue, dict) else ""
        strings = find_member(text, skip_blanks(text, 0), "strings") if declared else None
        if strings is None or not isinstance(strings.value, dict):
            self.refuse(
                1,
                ("not a string catalogue: strings or sourceLanguage is missing"),
                f"the file must contain {self.expects}",
            )
        line, position = 1, 0
        for member in list_members(text, strings.value_start):
            line, position = line + text.count("\n", position, member.start), member.start
            if get_object(strings.value, member.key).get("extractionState") != STALE:
                yield from read_string(line, list_localizations(member.key, member.value, declared), declared)


def read_string(line: int, trees: Mapping[str, Any], declared: str) -> Iterator[VariantUnit]:
    """Yields the variants of each text of a string."""
    leaves = {language: dict(list_leaves(tree)) for language, tree in trees.items()}
    for path in dict.fromkeys(chain.from_iterable(leaves.values())):
        units = {language: of_language[path] for language, of_language in leaves.items() if path in of_language}
        unfinished = frozenset(language for language, unit in units.items() if unit.get("state") != FINISHED)
        yield VariantUnit(
            line, [(language, str(unit["value"])) for language, unit in units.items()], declared, unfinished
        )
