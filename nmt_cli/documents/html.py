"""HTML pages, rewritten in place: untranslated parts are kept byte for byte, even in invalid markup.

    <p>Press <b>Save</b>.</p><script>a</script>       one text, "Press Save."
    <p>Drück <b>Sichern</b>.</p><script>a</script>    the mark is where its word is

The page is scanned, not parsed. Text between two block-level tags is a paragraph, together with its inline marks; so
are texts in attributes, such as titles and alternative texts. Scripts, styles, code, preformatted text and elements
marked as untranslatable are kept. The page's `lang` and `dir` are set for the target language.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain, islice, pairwise
from typing import NamedTuple

from nmt_cli.carrying.syntax import BLOCK_TAGS
from nmt_cli.documents.document import Document, TranslationUnit
from nmt_cli.documents.encodings import decode_document
from nmt_cli.documents.marks import InlineItem, read_spelled_text
from nmt_cli.documents.paragraph import Paragraph, make_units
from nmt_cli.documents.xml import (
    ATTRIBUTE_SYNTAX,
    MARKUP_SYNTAX,
    Attribute,
    escape_attribute,
    escape_markup,
    find_attribute,
    map_attributes,
    read_attributes,
    scan_markup,
)
from nmt_cli.formats.xml import MarkupToken
from nmt_cli.languages.codes import find_language_tag, is_right_to_left
from nmt_cli.text.characters import END_MARKS, PAUSES

# The elements of HTML: which are inline and which are blocks, which end without an end tag, which hold text.


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
    """The tags that implicitly end an element without an end tag, unless they are inside a nested container."""

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
    """Whether an element is an inline mark: a known one, or one that neither HTML nor `carrying.tags` defines.

    Components of a page are blocks, unless words precede them on their line.
    """
    return name in INLINE or not (name in BLOCK_TAGS | BLOCKS | VOID_TAGS | COMPONENTS or is_component(name))


def is_component(name: str) -> bool:
    """Whether an element is a component of a page, as a hyphen or colon in its name shows."""
    return re.search("[-:]", name) is not None


def is_form_control(items: Sequence[InlineItem]) -> bool:
    """Whether a line has a button or an input field, and no text next to it."""
    return any(item.name in FORM_CONTROLS for item in items) and not any(item.text.strip() for item in items)


def is_untranslated(token: MarkupToken) -> bool:
    """Whether an element is kept untranslated with all its content."""
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
    """Whether an attribute's value is text for readers; `values` holds all values of its tag, in lower case."""
    if values.get("translate") == "no":
        return False
    if attribute.name == "content" and token.name == "meta":
        return values.get("name", values.get("property", "")) in DESCRIPTION_META
    if attribute.name == "value":
        return token.name == "input" and values.get("type") in VALUE_TYPES
    return attribute.name in TEXT_ATTRIBUTES and not (attribute.name == "title" and token.name in ("link", "style"))


# Rows of links, such as menus, in which each link is a text of its own.


def split_links(items: list[InlineItem]) -> list[list[InlineItem]]:
    """Splits a row of links, such as a menu, into its links; other lines stay whole."""
    edges: list[int] = []  # where links begin and end
    inside = False
    for index, item in enumerate(items):
        if item.name == "a" and item.kind in ("open", "close"):
            inside = item.kind == "open"
            edges.append(index if inside else index + 1)
        elif not inside and (parts_row(item) or (edges and item.kind in ("open", "close"))):
            return [items]
    if len(edges) < 4:
        return [items]
    return [items[start:end] for start, end in pairwise((0, *edges, len(items))) if start < end]


def parts_row(item: InlineItem) -> bool:
    """Whether an item outside of links is text for readers."""
    return item.kind == "code" or (item.kind == "text" and any(map(str.isalnum, item.text)))


ENCODING = re.compile(rb"<meta[^>]{1,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
KEPT_BLOCK_NOTE = "blocks of preformatted text or text areas, left unchanged"
KEPT_LANGUAGE_NOTE = "blocks in a language other than the page's, left unchanged"
LINKS_NEED_TEXT = frozenset({"a"})


class HtmlDocument(Document):
    language = ""  # of the page

    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_document(self.source, find_declared_encoding)
        yield from make_units(FlowReader(self, decoded.text).read_parts(), decoded, self.source, self.notes)

    def translate_tag(self, token: MarkupToken) -> tuple[str | Paragraph, ...]:
        """Returns the parts of a tag, with its texts as paragraphs and its language changed."""
        raw = token.raw
        if "=" not in raw and token.name != "html":
            return (raw,)
        attributes = read_attributes(raw)
        values = {attribute.name: attribute.value.lower() for attribute in attributes}
        replaced = [(a, text) for a in attributes for text in self.replace_value(token, values, a)]
        parts: list[str | Paragraph] = []
        position = 0
        for attribute, value in replaced:
            parts += [raw[position : attribute.start], value]
            position = attribute.end
        return (*parts, self.add_language(raw[position:], values.keys()) if token.name == "html" else raw[position:])

    def replace_value(
        self, token: MarkupToken, values: Mapping[str, str], attribute: Attribute
    ) -> Iterator[str | Paragraph]:
        """Yields the replacement for the value of an attribute, if any."""
        raw = token.raw[attribute.start : attribute.end]
        if is_text_attribute(token, values, attribute) and any(map(str.isalpha, attribute.value)):
            quote = token.raw[attribute.start - 1]
            if quote in "\"'":
                yield Paragraph([read_spelled_text(raw, ATTRIBUTE_SYNTAX)], escape_attribute)
        elif self.declares_language(token, values, attribute):
            yield find_language_tag(self.source.target_language) or raw
        elif attribute.name == "dir" and token.name in ("html", "body") and attribute.value.lower() in ("ltr", "rtl"):
            tag = find_language_tag(self.source.target_language)
            yield raw if not tag else "rtl" if is_right_to_left(tag) else "ltr"

    def declares_language(self, token: MarkupToken, values: Mapping[str, str], attribute: Attribute) -> bool:
        """Whether an attribute declares the page's language, which is that of the first <html> that states one."""
        if token.name == "meta" and attribute.name == "content":
            return values.get("http-equiv") == "content-language"
        if attribute.name not in ("lang", "xml:lang"):
            return False
        if token.name == "html" and not self.language and attribute.value[:1].isalpha():  # no variable of a template
            self.language = attribute.value
        return bool(self.language) and find_primary_subtag(attribute.value) == find_primary_subtag(self.language)

    def add_language(self, end: str, names: Set[str]) -> str:
        """Adds a missing `lang` and, for right-to-left scripts, a missing `dir` at the end of the <html> tag."""
        tag = find_language_tag(self.source.target_language)
        if not tag:
            return end
        name = "xml:lang" if "xmlns" in names else "lang"
        added = "" if {"lang", "xml:lang"} & names else f' {name}="{tag}"'
        added += ' dir="rtl"' if "dir" not in names and is_right_to_left(tag) else ""
        return f"{end[:-1]}{added}>"


class TokenStream:
    """The tokens of a page; a token read too far can be put back."""

    def __init__(self, tokens: Iterator[MarkupToken]) -> None:
        self.tokens = tokens
        self.waiting: list[MarkupToken] = []

    def __iter__(self) -> TokenStream:
        return self

    def __next__(self) -> MarkupToken:
        return self.waiting.pop() if self.waiting else next(self.tokens)

    def put_back(self, token: MarkupToken) -> None:
        self.waiting.append(token)


class FlowReader:
    """Reads a page as a sequence of paragraphs and strings to keep."""

    def __init__(self, document: HtmlDocument, text: str) -> None:
        self.document = document
        self.tokens = TokenStream(scan_markup(text, is_html=True, is_template=True))
        self.items: list[InlineItem] = []
        self.components = 0  # that are open within the line
        self.shown = 0  # open elements of SHOWN_BY_PROGRAMS

    @property
    def continues_line(self) -> bool:
        """Whether words precede the next token on the same line."""
        last = self.items[-1].raw if self.items and self.items[-1].text.strip() else ""
        return last.rstrip(" \t")[-1:].strip() != ""

    def read_parts(self) -> Iterator[str | Paragraph]:
        yield from self.read_flow("")
        yield from self.flush()

    def read_flow(self, end: str) -> Iterator[str | Paragraph]:
        """Yields the parts up to the end tag `end`, consuming only its token; "" reads everything."""
        for token in self.tokens:
            yield from self.read_token(token)
            if token.kind == "close" and token.name == end:
                return

    def read_token(self, token: MarkupToken) -> Iterator[str | Paragraph]:
        if token.kind == "text":
            self.items.append(read_spelled_text(token.raw, MARKUP_SYNTAX))
        elif token.kind == "other":
            self.items.append(InlineItem("point", (token.raw,)))
        elif token.kind == "close":
            yield from self.read_end_tag(token)
        elif is_untranslated(token) or self.is_foreign(token) or token.name in self.document.source.kept_tags:
            yield from self.keep_element(token)
        elif token.name in NOTE_TAGS and token.kind == "open" and self.read_note(token):
            return
        elif token.name in POINT_TAGS:
            self.items.append(InlineItem("point", self.document.translate_tag(token), name=token.name))
        elif token.name == "br":
            self.items.append(InlineItem("break", (token.raw,)))
        elif is_inline(token.name) or (token.kind == "open" and is_component(token.name) and self.continues_line):
            self.components += is_component(token.name)
            kind = "open" if token.kind == "open" else "point"
            self.items.append(InlineItem(kind, self.document.translate_tag(token), name=token.name))  # type: ignore[arg-type]
        elif token.name in NESTED and token.kind == "open":
            self.items.append(InlineItem("point", self.read_nested(token), name=token.name))
        else:
            yield from self.flush()
            self.shown += token.kind == "open" and token.name in SHOWN_BY_PROGRAMS
            yield from self.document.translate_tag(token)

    def read_note(self, token: MarkupToken) -> bool:
        """Reads a note reference as a point; puts anything else back, and returns False."""
        element = [token, *islice(self.tokens, LONGEST_NOTE)]
        end = next((index for index, part in enumerate(element) if part.kind == "close" and part.name == token.name), 0)
        last = next((item.text for item in reversed(self.items) if item.text), "")
        is_note = is_note_reference(element[: end + 1], last)
        for part in reversed(element[end + 1 if is_note else 1 :]):
            self.tokens.put_back(part)
        if is_note:
            self.items.append(InlineItem("point", ("".join(part.raw for part in element[: end + 1]),)))
        return is_note

    def read_end_tag(self, token: MarkupToken) -> Iterator[str | Paragraph]:
        if token.name in POINT_TAGS or token.name == "br":
            self.items.append(InlineItem("point", (token.raw,)))
        elif is_inline(token.name) or (self.components and is_component(token.name)):
            self.components -= is_component(token.name)
            self.items.append(InlineItem("close", (token.raw,), name=token.name))
        else:
            yield from self.flush()
            self.shown = max(0, self.shown - (token.name in SHOWN_BY_PROGRAMS))
            yield token.raw

    def is_foreign(self, token: MarkupToken) -> bool:
        """Whether an element is in a language other than the page's."""
        if "lang" not in token.raw or token.name == "html" or not self.document.language or token.kind == "empty":
            return False
        attribute = find_attribute(token.raw, "lang") or find_attribute(token.raw, "xml:lang")
        if attribute is None or not attribute.value or token.name in VOID_TAGS or token.name in ("body", "a"):
            return False
        return find_primary_subtag(attribute.value) != find_primary_subtag(self.document.language)

    def keep_element(self, token: MarkupToken) -> Iterator[str | Paragraph]:
        """Keeps an element with its content, within the line or between two paragraphs."""
        element = self.read_element(token)
        has_text = any(part.kind == "text" and any(map(str.isalnum, part.raw)) for part in element)
        raw = "".join(part.raw for part in element)
        name = token.name
        if name in self.document.source.kept_tags:
            self.items.append(InlineItem("code", (raw,)))
        elif name in KEPT_INLINE or name in CODE_TAGS or name in INLINE:
            is_code = has_text and name not in KEPT_INLINE
            self.items.append(InlineItem("code" if is_code else "point", (raw,)))
        else:
            yield from self.flush()
            yield raw
            self.document.notes += Counter({KEPT_BLOCK_NOTE: int(has_text and name in KEPT_BLOCKS)})
            self.document.notes += Counter({KEPT_LANGUAGE_NOTE: int(has_text and self.is_foreign(token))})

    def read_element(self, token: MarkupToken) -> list[MarkupToken]:
        """Returns the tokens of an element, or all remaining tokens if it requires an end tag and has none."""
        element = [token]
        if token.kind == "empty" or token.name in VOID_TAGS:
            return element
        rule = END_RULES.get(token.name, NO_END_RULE)
        depth, containers = 1, 0
        for following in self.tokens:
            step = {"open": 1, "close": -1}.get(following.kind, 0)
            if containers == 0 and rule.ends_before(following):
                self.tokens.put_back(following)
                break
            element.append(following)
            containers += step if following.name in rule.containers else 0
            depth += step if containers == 0 and following.name == token.name else 0
            if depth == 0:
                break
        return element

    def read_nested(self, token: MarkupToken) -> tuple[str | Paragraph, ...]:
        """Returns an element inside a line whose content is read as separate paragraphs."""
        outer, self.items = self.items, []
        parts = tuple(chain(self.document.translate_tag(token), list(self.read_flow(token.name)), list(self.flush())))
        self.items = outer
        return parts

    def flush(self) -> Iterator[str | Paragraph]:
        """Yields the pending items as a paragraph, or as one paragraph per link for a row of links."""
        items, self.items, self.components = self.items, [], 0
        for row in split_links(items) if items else ():
            yield Paragraph(row, escape_markup, LINKS_NEED_TEXT, "ui" if self.shown or is_form_control(row) else "")


def find_primary_subtag(language: str) -> str:
    return re.split(r"[-_]", language.strip().lower(), maxsplit=1)[0]


def find_declared_encoding(data: bytes) -> str | None:
    """Returns the encoding that a page declares in its first 4,096 bytes."""
    match = ENCODING.search(data[:4096])
    if match is None:
        return None
    if (name := match[1].decode("ascii").lower()) in ("iso-8859-1", "latin1", "ascii", "us-ascii"):
        return "cp1252"  # which is how browsers read these (WHATWG)
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None
