"""Strings of programs: their escapes, their placeholders, and messages with several forms.

A string becomes a paragraph: its line breaks divide it into segments, and each character is written back with its
original escape. An ICU message with forms (`{count, plural, one {# file} other {# files}}`) is code in which each form
is a separate paragraph. Must not depend on formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nmt_cli.carrying.syntax import CHOICE_HEAD, ChoicePart, find_end, split_choice
from nmt_cli.documents.marks import InlineItem, ItemKind, TextSyntax, Wrapper, read_spelled_text
from nmt_cli.documents.paragraph import Paragraph
from nmt_cli.text.normalise import find_unspaced

MAXIMUM_NESTING = 20
LONGEST_PLACEHOLDER = 60  # characters between braces; what has more is no placeholder of prose
# Which nothing decodes: an entity, what stands in braces but is no placeholder of prose, a variable, an icon of a game.
OWN_CODE = re.compile(
    rf"&[A-Za-z][\w.-]*;|\{{(?:[^{{}}]*[{{}}].*|.{{{LONGEST_PLACEHOLDER},}})\}}|\$[^$]+\$|\[.+\]|£.+|@\w+!", re.DOTALL
)
GAME_STYLE = re.compile(r"([§#]).+", re.DOTALL)  # of a game: `§Y` or `#bold ` before words, `§!` behind them
ESCAPED_LETTERS = {"n": "\n", "t": " ", "r": "", "f": " "}  # what a letter after a backslash spells
SPECIAL_KINDS: dict[str, ItemKind] = {"": "point", "\n": "break"}  # by what an escape spells
# What is no text for people, although it has letters. A single word is one, unless its form says otherwise.
IDENTIFIER = re.compile(
    r"[a-z]+:[^\s]*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[#@$:/\\.][^\s]*|[^\s]*[_/\\=<>|{}][^\s]*|[\w-]+(?:\.[\w-]+)+"
    r"|true|false|-{1,2}[A-Za-z][\w-]*(?:=\S*)?|[^\n]* :: [^\n]*"
    r"|[a-z]+[A-Z]\w*|[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]+)*|(?=\w*\d)(?=\w*[A-Za-z])[\w-]{6,}",
)
# The same for scripts without blanks, in which a whole sentence is one word: only addresses, and paths of files.
UNSPACED_IDENTIFIER = re.compile(r"[a-z]+://\S*|[#@$/\\.]\S*|[^\s/\\]*+[/\\]\S*\.[A-Za-z0-9]{2,4}")
# What a command has beside words: options, paths, files, assignments and marks between commands.
COMMAND_TOKEN = re.compile(r"-{1,2}[A-Za-z][\w-]*(?:=\S*)?|--|&&|\|\|?|[.*]|\S*[/*=$]\S*|[\w-]+(?:\.[\w-]+)+")
COMMAND_SHARE = 1 / 3  # of its tokens
MARKUP = re.compile(r"</[A-Za-z]|<br\b")  # tells tags from what merely stands in such brackets: `List<String>`
TAG_IN_STRING = re.compile(r"</?[A-Za-z][^<>]*>")
NAMES_OF_NO_TEXT = frozenset(
    "id ids uuid url uri href src lang locale language version icon color colour class type format date mime key slug"
    " path file filename image img email accesskey accelerator shortcut".split()
)
# Keys below which only what begins as a sentence is text; a bracket stands before the first name of a table of TOML.
NAMES_OF_PROGRAMS = frozenset(
    "scripts classifiers dependencies devdependencies peerdependencies optionaldependencies engines requires command"
    " cmd args argv entrypoint run uses runson branches env [tool [project.name".split()
)
CAPITALISED_WORD = re.compile(r"\W*[A-ZÀ-Þ][a-zß-ÿ]")


def is_text(text: str, name: str = "", outer: Iterable[str] = ()) -> bool:
    """Whether a value is text for people; `name` is its key, and `outer` holds the keys of the values around it."""
    keys = (*outer, name)
    folded = (re.sub("[_-]", "", key.lower()) for key in (*keys, ".".join(keys)))  # `devDependencies`, `runs-on`
    if not CAPITALISED_WORD.match(text) and not NAMES_OF_PROGRAMS.isdisjoint(folded):
        return False
    if not any(map(str.isalpha, text)) or name[:1] in ("@", "$"):
        return False
    if re.split(r"[._-]", name.lower())[-1] in NAMES_OF_NO_TEXT and " " not in text.strip():
        return False
    return not is_identifier(text) or re.search(CHOICE_HEAD, text) is not None


def is_identifier(text: str) -> bool:
    """Whether a value is an address, a path, a program's identifier or the like, ignoring surrounding tags."""
    bare = (TAG_IN_STRING.sub(" ", text) if MARKUP.search(text) else text).strip()
    pattern = UNSPACED_IDENTIFIER if find_unspaced(bare) else IDENTIFIER
    return pattern.fullmatch(bare) is not None or is_command(bare)


def is_command(text: str) -> bool:
    """Whether a value is a command line, such as `tsc -p . && node dist/index.js`."""
    tokens = text.split() if text[:1].islower() and "\n" not in text else []
    codes = sum(COMMAND_TOKEN.fullmatch(token) is not None for token in tokens)
    return len(tokens) > 1 and codes > COMMAND_SHARE * len(tokens)


def read_string(raw: str, syntax: TextSyntax) -> Paragraph:
    """Returns an escaped string as a paragraph."""
    return Paragraph(list(read_string_items(raw, syntax, MAXIMUM_NESTING)), syntax.escape)


def read_string_items(raw: str, syntax: TextSyntax, nesting: int) -> Iterator[InlineItem]:
    position = 0
    for match in re.finditer(CHOICE_HEAD, raw):
        end = find_end(raw, match.start() + 1)
        parts = split_choice(raw[match.start() : end + 1]) if end is not None and nesting else None
        if parts is None or end is None or match.start() < position:
            continue
        yield from read_plain_items(raw[position : match.start()], syntax)
        yield InlineItem("code", tuple(read_part(part, syntax, nesting - 1) for part in parts))
        position = end + 1
    yield from read_plain_items(raw[position:], syntax)


def read_part(part: ChoicePart, syntax: TextSyntax, nesting: int) -> str | Paragraph:
    """Returns a part of a choice: text as a paragraph, and syntax unchanged."""
    return Paragraph(list(read_string_items(part.text, syntax, nesting)), syntax.escape) if part.is_text else part.text


def decode_backslash(written: str, controls: Mapping[str, str] = ESCAPED_LETTERS) -> str:
    r"""Decodes a backslash with what follows it: a code (`\xe9`, `\U0001f600`), or one character.

    Also decodes a run of UTF-16 units (`\ud83d\ude00`), in which half a character becomes U+FFFD.
    """
    if written[1] == "u" and len(written) > 2:
        return bytes.fromhex(written.replace("\\u", "")).decode("utf-16-be", "replace")
    if written[1] in "xU" and len(written) > 2:
        return chr(min(int(written[2:], 16), 0x10FFFF))
    return controls.get(written[1], written[1])


def read_plain_items(raw: str, syntax: TextSyntax, wrappers: Sequence[Wrapper] = ()) -> Iterator[InlineItem]:
    """Yields the text of a string.

    The document's own entities and placeables are code, a line break is a break, and what spells nothing is a point.
    """
    position = 0
    for match in syntax.escapes.finditer(raw):
        spelled = syntax.decode(match[0])
        style = GAME_STYLE.fullmatch(spelled)
        kind = "code" if OWN_CODE.fullmatch(spelled) else SPECIAL_KINDS.get(spelled)
        kind = ("close" if spelled.endswith("!") else "open") if style else kind
        if kind is None:
            continue
        yield read_spelled_text(raw[position : match.start()], syntax, wrappers)
        yield InlineItem(kind, (match[0],), name=style[1] if style else "", wrappers=tuple(wrappers))
        position = match.end()
    yield read_spelled_text(raw[position:], syntax, wrappers)
