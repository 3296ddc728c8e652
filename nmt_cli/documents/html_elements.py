"""The elements of HTML: which are inline and which are blocks, which end without an end tag, which hold text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nmt_cli.carrying.tags import BLOCK_TAGS
from nmt_cli.documents.marks.items import InlineItem
from nmt_cli.documents.xml.scanner import Attribute, MarkupToken, map_attributes
from nmt_cli.text.characters import END_MARKS, PAUSES

INLINE = frozenset(
    "a abbr acronym b basefont bdi bdo big cite data del dfn em font i ins mark nobr picture q ruby s small span strike"
    " strong sub sup time u".split()
)
POINT_TAGS = frozenset("img wbr input embed source keygen track rp area".split())  # have no content
CODE_TAGS = frozenset("code kbd samp tt var math".split())
KEPT_INLINE = frozenset(
    "svg script style template canvas audio video object iframe rt".split()
)  # whole, and stand for no word
KEPT_BLOCKS = frozenset("pre xmp textarea listing plaintext".split())
NESTED = frozenset({"button"})  # texts of their own inside a line
VOID_TAGS = frozenset("area base br col embed hr img input keygen link meta param source track wbr".split())
BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hgroup hr html li main menu nav ol p pre search section summary table tbody td"
    " tfoot th thead tr ul".split()
)
COMPONENTS = frozenset("button label output meter progress slot datalist applet marquee noframes svg math".split())
SHOWN_BY_PROGRAMS = frozenset("table menu nav select label".split())  # whose texts are like those of programs
FORM_CONTROLS = frozenset({"button", "input"})  # whose texts are, too, unless they stand within a line
TEXT_ATTRIBUTES = frozenset("alt title placeholder aria-label".split())
VALUE_TYPES = frozenset("submit button reset".split())
DESCRIPTION_META = frozenset(
    "description og:title og:description og:site_name twitter:title twitter:description".split()
)


# Classes that say that an element is no prose, as programs for documentation write them.
KEPT_CLASSES = frozenset(
    "notranslate code literal input formula math katex mathjax sourcecode codeblock code-block programlisting".split()
)
WHOLE_PAGE = frozenset("html body main article section form".split())  # whose classes say nothing of their text
NOT_SHOWN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)
KEPT_SIGNS = ("translate", "class", "hidden", "style")  # in tags that `is_untranslated` looks at
NOTE_TAGS = frozenset({"a", "sup"})
LONGEST_NOTE = 16  # tokens
NOTE_TEXT = re.compile(r"[\[(]?(?:\d{1,3}|[*\u2020\u2021\u00a7\u00b6#]{1,3}|[a-z])[\])]?")
NOTE_WORD = re.compile(r"(?:epub:type|role|class|rel)\s*=\s*[\"']?[^\"'>]*(?:noteref|footnote)")
NOTED_WORD = re.compile(rf"[^\W\d_]{{4}}[{END_MARKS}{PAUSES}]?$")  # a longer one than a unit of measure


class EndRule(NamedTuple):
    """The tags before which an element without an end tag ends, unless a container inside it holds them."""

    openings: frozenset[str] = frozenset()
    closings: frozenset[str] = frozenset()
    containers: frozenset[str] = frozenset()

    def ends_before(self, token: MarkupToken) -> bool:
        return token.name in {"open": self.openings, "close": self.closings}.get(token.kind, ())


NO_END_RULE = EndRule()
TABLE_ROWS, TABLE = frozenset("tr tbody thead tfoot".split()), frozenset({"table"})
LISTS, DEFINITIONS = frozenset("ul ol menu dir".split()), frozenset("dt dd".split())
END_RULES = {  # of the elements whose end tag HTML lets a page leave out
    "p": EndRule(BLOCKS, BLOCKS - {"p"}),
    "li": EndRule(frozenset({"li"}), LISTS, LISTS),
    **dict.fromkeys(DEFINITIONS, EndRule(DEFINITIONS, frozenset({"dl"}), frozenset({"dl"}))),
    **dict.fromkeys(("td", "th"), EndRule(TABLE_ROWS | {"td", "th"}, TABLE_ROWS | TABLE, TABLE)),
    "tr": EndRule(TABLE_ROWS, (TABLE_ROWS | TABLE) - {"tr"}, TABLE),
    "option": EndRule(frozenset({"option", "optgroup"}), frozenset({"optgroup", "select", "datalist"})),
}


def is_inline(name: str) -> bool:
    """Whether an element is a mark within a line: a known one, or one that neither HTML nor `carrying.tags` knows.

    Components of a page are blocks, unless words precede them on their line.
    """
    return name in INLINE or not (name in BLOCK_TAGS | BLOCKS | VOID_TAGS | COMPONENTS or is_component(name))


def is_component(name: str) -> bool:
    """Whether an element is a component of a page, whose name has a hyphen or colon."""
    return re.search("[-:]", name) is not None


def is_form_control(items: Sequence[InlineItem]) -> bool:
    """Whether a line has a button or a field, and no text beside them."""
    return any(item.name in FORM_CONTROLS for item in items) and not any(item.text.strip() for item in items)


def is_untranslated(token: MarkupToken) -> bool:
    """Whether an element is kept with its content."""
    if token.name in KEPT_INLINE or token.name in KEPT_BLOCKS or token.name in CODE_TAGS:
        return True
    if token.kind != "open" or token.name in VOID_TAGS or not any(sign in token.raw for sign in KEPT_SIGNS):
        return False
    attributes = map_attributes(token.raw)
    is_hidden = (
        attributes.get("hidden", "until-found") != "until-found"
        or attributes.get("aria-hidden", "").lower() == "true"
        or NOT_SHOWN.search(attributes.get("style", ""))
    )
    classes = frozenset(attributes.get("class", "").split())
    kept_classes = KEPT_CLASSES if token.name not in WHOLE_PAGE else frozenset({"notranslate"})
    return bool(attributes.get("translate", "").lower() == "no" or is_hidden or classes & kept_classes)


def is_note_reference(element: Sequence[MarkupToken], before: str) -> bool:
    """Whether an element refers to a note; `before` is the text before it.

    The number of a note is not part of the preceding word, but the 2 of a square metre is.
    """
    text = "".join(part.raw for part in element if part.kind == "text").strip()
    tag = element[0].raw
    if element[0].name == "sup":
        return any(part.name == "a" for part in element) or (text.isdigit() and bool(NOTED_WORD.search(before)))
    is_local = re.search(r"href\s*=\s*[\"']?[^\"'\s>]*#", tag) is not None and before[-1:].strip() != ""
    return NOTE_TEXT.fullmatch(text) is not None and (is_local or NOTE_WORD.search(tag) is not None)


def is_text_attribute(token: MarkupToken, values: Mapping[str, str], attribute: Attribute) -> bool:
    """Whether an attribute's value is text for readers; `values` has those of its tag, in lower case."""
    if values.get("translate") == "no":
        return False
    if attribute.name == "content" and token.name == "meta":
        return values.get("name", values.get("property", "")) in DESCRIPTION_META
    if attribute.name == "value":
        return token.name == "input" and values.get("type") in VALUE_TYPES
    return attribute.name in TEXT_ATTRIBUTES and not (attribute.name == "title" and token.name in ("link", "style"))


def is_language_declaration(token: MarkupToken, values: Mapping[str, str], attribute: Attribute) -> bool:
    """Whether an attribute is the content of `<meta http-equiv="content-language">`."""
    is_content = token.name == "meta" and attribute.name == "content"
    return is_content and values.get("http-equiv") == "content-language"
