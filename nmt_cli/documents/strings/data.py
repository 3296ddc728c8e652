"""JSON and YAML: string values are translated; keys, comments and layout are kept byte for byte.

    {"title": "Good day", "id": 3}      the text "Good day"; a number is not a text
    id: x-1                             kept: an identifier is not text for people
    - "Save %s"                         a text, written in the quotes that it has

A file is parsed only to find its scalars, and only their content is replaced.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, NoReturn

from nmt_cli.documents.document import Document, TranslationUnit, import_library, make_verbatim_unit, weave
from nmt_cli.documents.encodings import DecodedText, decode_document
from nmt_cli.documents.marks import InlineItem, TextSyntax, make_text
from nmt_cli.documents.paragraph import Paragraph, make_units
from nmt_cli.documents.strings.syntax import ESCAPED_LETTERS, decode_backslash, is_text, read_plain_items, read_string
from nmt_cli.formats.xml import MAXIMUM_DEPTH
from nmt_cli.languages.codes import find_language_tag, is_same_language
from nmt_cli.text.aligned import Edit

# JSON: string values are translated; keys, numbers, comments and layout are kept byte for byte.
#
# A value is translated if it is text for people: not an address, identifier or path, and not under a key such as `url`
# or `id`. Keys that begin with `@` or `$` are kept with everything below them (ARB metadata, schemas).


JSON_TOKEN = re.compile(
    r"(?P<blank>\s+)|(?P<string>\"(?:[^\"\\\x00-\x1f]++|\\.)*+\")|(?P<sign>[{}\[\],:])"
    r"|(?P<word>true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<comment>//[^\n]*|/\*.*?\*/)",
    re.DOTALL,
)
JSON_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|\t+|(?<! ) {2}(?! )"
)

# An object with a message and remarks for translators, as Chrome and react-intl have it, up to what is nested in it.
WHOLE_STRING = r'"(?:[^"\\]|\\.)*+"'
MESSAGE_KEY = r'"(?:message|defaultMessage)"\s*:'
MESSAGE_OBJECT = re.compile(
    rf'\{{\s*(?=(?:[^{{}}"]|{WHOLE_STRING})*?{MESSAGE_KEY})(?:(?:{MESSAGE_KEY}|"(?:description|id|placeholders)"\s*:)\s*'
    rf"(?:{WHOLE_STRING}\s*,?\s*|\{{))+(?:\}}|(?<=\{{))"
)
REMARK_KEYS = ("description", "placeholders", "id")
REMARKS_KEPT = "notes to translators about messages, left unchanged"


def decode_json(written: str) -> str:
    """Decodes an escape or a run of spaces; a tab becomes a space, and a carriage return disappears."""
    if not written.startswith("\\"):
        return " "
    is_valid = written[1] in '"\\/bfnrtu' and (written[1] != "u" or len(written) > 2)
    spelled = str(json.loads(f'"{written}"')) if is_valid and re.fullmatch(JSON_ESCAPES, written) else written
    return {"\t": " ", "\r": "", "\f": " ", "\b": ""}.get(spelled, spelled)


def escape_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


@dataclass
class JsonLevel:
    """An open object or array, and the key of its next value."""

    is_object: bool = False
    is_kept: bool = False
    key: str = ""
    expects_key: bool = False
    has_remarks: bool = False  # beside a message

    @property
    def keeps_value(self) -> bool:
        """Whether the next value is not text for readers."""
        return self.is_kept or self.key[:1] in ("@", "$") or self.is_remark

    @property
    def is_remark(self) -> bool:
        return self.has_remarks and self.key in REMARK_KEYS


class JsonDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_document(self.source, lambda _: None)
        uses_ascii = decoded.text.isascii() and "\\u" in decoded.text
        escape = (lambda text: json.dumps(text)[1:-1]) if uses_ascii else escape_string
        self.syntax = TextSyntax(JSON_ESCAPES, decode_json, escape)
        yield from make_units(self.read_parts(decoded.text), decoded, self.source, self.notes)

    def read_parts(self, text: str) -> Iterator[str | Paragraph]:
        """Yields values as paragraphs and everything else unchanged. Raises DataError for invalid JSON."""
        levels = [JsonLevel()]  # of the file, then of each open object and array
        position = 0
        while position < len(text):
            token = JSON_TOKEN.match(text, position)
            if token is None:
                self.refuse_at(text, position, "not valid JSON")
            position = token.end()
            if token.lastgroup == "string":
                yield from self.read_value(token[0], levels)
                continue
            if token.lastgroup == "sign":
                self.follow_sign(token[0], levels, text, position)
            yield token[0]
        if len(levels) > 1:
            self.refuse_at(text, len(text), "not valid JSON: a bracket is not closed")

    def refuse_at(self, text: str, position: int, problem: str) -> NoReturn:
        self.source.refuse(
            text.count("\n", 0, position) + 1, problem, "to translate it line by line, use --format text"
        )

    def read_value(self, written: str, levels: list[JsonLevel]) -> Iterator[str | Paragraph]:
        level, raw = levels[-1], written[1:-1]
        if level.expects_key:
            level.key, level.expects_key = raw, False
            yield written
            return
        if level.keeps_value:
            self.notes += Counter({REMARKS_KEPT: int(level.is_remark and level.key == "description")})
            yield written
            return
        paragraph = read_string(raw, self.syntax)
        outer = [other.key for other in levels[1:-1]]
        is_read = self.source.reads_back or is_text(paragraph.text or raw, level.key, outer)
        context = ".".join([*outer, level.key])
        yield from ('"', replace(paragraph, context=context), '"') if is_read else (written,)

    def follow_sign(self, sign: str, levels: list[JsonLevel], text: str, position: int) -> None:
        """Opens and closes objects and arrays."""
        if sign in "{[":
            outer, is_object = levels[-1], sign == "{"
            key = "" if is_object else outer.key
            has_remarks = MESSAGE_OBJECT.match(text, position - 1) is not None
            levels.append(JsonLevel(is_object, outer.keeps_value, key, is_object, has_remarks))
            if len(levels) > MAXIMUM_DEPTH + 1:
                self.refuse_at(text, position, f"more than {MAXIMUM_DEPTH} nested values")
        elif sign in "}]":
            if len(levels) == 1 or levels.pop().is_object != (sign == "}"):
                self.refuse_at(text, position, "not valid JSON: brackets do not match")
        elif sign == ",":
            levels[-1].expects_key = levels[-1].is_object


# YAML: string values are translated; keys, comments, anchors, styles and layout are kept byte for byte.
#
# ruamel.yaml parses the file and locates each scalar; only their content is replaced. A value is translated if it is
# text for people, as in JSON. A plain scalar is quoted if its translation would otherwise mean something else.


FOLD = r"[ \t]*\\?\r?\n[ \t]*"
DOUBLE = re.compile(rf"{FOLD}|\\x[0-9a-fA-F]{{2}}|(?:\\u[0-9a-fA-F]{{4}})+|\\U[0-9a-fA-F]{{8}}|\\.|\t+|  +", re.DOTALL)
SINGLE = re.compile(rf"''|{FOLD}|\t+|  +")
FOLDED_BLANKS = re.compile(rf"{FOLD}|\t+|  +")
INDENTED_LINE = re.compile(r"([ ]*)([^\r\n]*)(\r?\n|\Z)")
# A plain scalar that is something else than text, in YAML 1.1 or 1.2, or not safe without quotes.
OTHER_VALUE = re.compile(r"(?i)~|null|true|false|yes|no|on|off|y|n|[-+.\d].*|=|<<")
UNSAFE = re.compile(r"[-?:](?:\s|$)|[\[\]{},#&*!|>'\"%@`]|.*(?:: | #|:$)|\s|.*\s$", re.DOTALL)
UNSAFE_INSIDE = re.compile(r".*[\[\]{},]", re.DOTALL)  # brackets
TOP_KEY = re.compile(r"^[\"']?(?P<key>[^\s#\"'{}\[\]:%.-][^\s:]*?)[\"']?(?=:(?:\s|$))", re.MULTILINE)
ANCHOR = re.compile(r"&\S+\s+")
YAML_LETTERS = {**ESCAPED_LETTERS, "0": "", "_": "\u00a0", "N": "\u0085", "e": "", "a": "", "b": ""}
YAML_CHARACTERS = 1 << 26  # characters: the parser needs many bytes for each


def decode_double(written: str) -> str:
    if not written.startswith("\\") or written[1:].lstrip(" \t\r\n") == "":
        return fold_lines(written)
    return decode_backslash(written, YAML_LETTERS)


def fold_lines(written: str) -> str:
    """Returns what a line break in a scalar, or a run of spaces, stands for: a space, or nothing after a backslash."""
    return "" if "\\" in written else " "


SYNTAXES = {
    '"': TextSyntax(DOUBLE, decode_double, escape_string),
    "'": TextSyntax(
        SINGLE,
        lambda written: "'" if written == "''" else fold_lines(written),
        lambda text: text.replace("'", "''"),
    ),
    "": TextSyntax(FOLDED_BLANKS, fold_lines, str),
}


class Scalar(NamedTuple):
    """A string value: its position, its style, and its key, preceded by the keys around it."""

    start: int
    end: int
    style: str  # one of `"`, `'`, `|`, `>`, and nothing
    key: str
    is_inside_brackets: bool


class YamlDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_document(self.source, lambda _: None)
        yield make_verbatim_unit(decoded.mark)
        text = self.rename_language(decoded.text)
        if len(text) > YAML_CHARACTERS:
            self.source.refuse(1, f"more than {YAML_CHARACTERS >> 20} MiB of YAML", "split the file")
        scalars = ((s, self.make_unit(s, text[s.start : s.end], decoded)) for s in self.find_scalars(text))
        units = ((scalar.start, scalar.end, unit._replace(context=scalar.key)) for scalar, unit in scalars)
        yield from weave(text, units, decoded.encode)

    def rename_language(self, text: str) -> str:
        """Returns the text with the target's code as its top-level key if the source's is the only one, as in Rails."""
        keys = list(islice(TOP_KEY.finditer(text), 2))
        target = find_language_tag(self.source.target_language)
        if len(keys) != 1 or not target or not is_same_language(keys[0]["key"], self.source.source_language):
            return text
        written = json.dumps(target) if OTHER_VALUE.fullmatch(target) else target  # Norwegian is `no`
        return f"{text[: keys[0].start()]}{written}{text[keys[0].end() :]}"

    def find_scalars(self, text: str) -> Iterator[Scalar]:
        """Yields the string values, in order. Raises DataError for invalid YAML."""
        ruamel = import_library("ruamel.yaml", "ruamel.yaml", "YAML files")
        parser = ruamel.YAML(typ="rt", pure=True)
        walker = ValueWalker(reads_all=self.source.reads_back)
        try:
            for event in parser.parse(text):
                scalar = walker.follow_event(event, text)
                if scalar is not None:
                    yield scalar
        except ruamel.error.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self.source.refuse((mark.line if mark else 0) + 1, f"not valid YAML: {error.problem or error.context}")
        except (ruamel.error.YAMLError, ValueError, RecursionError) as error:
            self.source.refuse(1, f"not valid YAML: {str(error)[:100]}")

    def make_unit(self, scalar: Scalar, raw: str, decoded: DecodedText) -> TranslationUnit:
        if scalar.style in ("|", ">"):
            return read_block(raw, folds=scalar.style == ">").make_unit(self.notes, decoded.encode)
        if scalar.style:
            syntax = SYNTAXES[scalar.style]
            first = Paragraph([InlineItem("point", (scalar.style,))], str)
            inner = read_string(raw[1:-1], syntax)
            whole = Paragraph([*first.items, *inner.items, *first.items], syntax.escape)
            return whole.make_unit(self.notes, decoded.encode, inner.content)

        def encode_plain(written: str) -> str | bytes:
            # A scalar gets quotes when in doubt.
            is_other = UNSAFE.match(written) is not None or OTHER_VALUE.fullmatch(written) is not None
            is_divided = scalar.is_inside_brackets and UNSAFE_INSIDE.match(written) is not None
            is_plain = bool(written) and not (is_other or is_divided)
            return decoded.encode(written if is_plain else f'"{escape_string(re.sub(FOLD, " ", written))}"')

        return read_string(raw, SYNTAXES[""]).make_unit(self.notes, encode_plain)


@dataclass
class YamlLevel:
    """An open mapping or sequence, and the key of its next value."""

    is_mapping: bool = False
    is_in_brackets: bool = False  # or one around it is
    is_kept: bool = False
    key: str | None = ""  # None before a key

    def take_key(self, value: str) -> bool:
        """Whether a value is a key; if so, remembers it."""
        is_key = self.is_mapping and self.key is None
        if is_key:
            self.key = value
        return is_key

    def finish_value(self) -> None:
        """Expects a key next, if the value just read belonged to one."""
        if self.is_mapping:
            self.key = None


class ValueWalker:
    """Follows the parser's events to tell values from keys."""

    def __init__(self, *, reads_all: bool = False) -> None:
        self.reads_all = reads_all
        self.levels = [YamlLevel()]  # of the file, then of each open collection

    def follow_event(self, event: Any, text: str) -> Scalar | None:
        """Returns the scalar of an event if it is a value to translate."""
        name = type(event).__name__
        if name in ("MappingStartEvent", "SequenceStartEvent"):
            self.enter(is_mapping=name == "MappingStartEvent", in_brackets=bool(event.flow_style))
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            self.levels.pop()
            self.levels[-1].finish_value()
        elif name == "AliasEvent":
            if not self.levels[-1].take_key(""):
                self.levels[-1].finish_value()
        elif name == "ScalarEvent":
            return self.read_scalar(event, text)
        return None

    def enter(self, *, is_mapping: bool, in_brackets: bool) -> None:
        outer = self.levels[-1]
        is_key = outer.take_key("")  # a collection that is a key
        key = outer.key or ""
        is_kept = outer.is_kept or is_key or key[:1] in ("@", "$")
        in_brackets = in_brackets or outer.is_in_brackets
        self.levels.append(YamlLevel(is_mapping, in_brackets, is_kept, None if is_mapping else key))
        if len(self.levels) > MAXIMUM_DEPTH + 1:
            raise ValueError(f"more than {MAXIMUM_DEPTH} nested values")

    def read_scalar(self, event: Any, text: str) -> Scalar | None:
        level = self.levels[-1]
        if level.take_key(event.value):
            return None
        key = level.key or ""
        level.finish_value()
        style = event.style or ""
        start, end = event.start_mark.index, event.end_mark.index
        anchor = ANCHOR.match(text, start) if event.anchor else None
        start = anchor.end() if anchor else start
        is_tagged = event.tag not in (None, "!") or level.is_kept
        is_other = not style and OTHER_VALUE.fullmatch(event.value) is not None
        is_value = self.reads_all or is_text(event.value, key, filter(None, (other.key for other in self.levels)))
        is_kept = is_tagged or is_other or not is_value or start >= end
        keys = ".".join([*(other.key or "" for other in self.levels[1:-1]), key])
        return None if is_kept else Scalar(start, end, style, keys, level.is_in_brackets)


def read_block(raw: str, *, folds: bool) -> Paragraph:
    """Reads a block scalar as a paragraph; each line is one text, or with `folds`, each group of consecutive lines."""
    header, line_end, body = raw.partition("\n")
    items = [InlineItem("point", (header + line_end,)), InlineItem("break", ("",))]
    lines = [match.groups() for match in INDENTED_LINE.finditer(body)]
    narrowest = min((len(indent) for indent, content, _ in lines if content), default=0)
    has_joined = False
    for (indent, content, end), following in zip(lines, [*lines[1:], ("", "", "")], strict=True):
        joins = folds and bool(content and following[1]) and len(indent) == len(following[0]) == narrowest
        items += [] if has_joined else [InlineItem("point", (indent,))]
        items += read_plain_items(content, SYNTAXES[""])
        raw_break = end + following[0]
        items.append(make_text(raw_break, [Edit(0, len(raw_break), " ")]) if joins else InlineItem("break", (end,)))
        has_joined = joins
    return Paragraph(items, str)
