"""Catalogues of Qt (`.ts`) and Xcode (`.xcstrings`): translations are added, and nothing else changes.

    <source>%n file(s)</source>                two texts, "%n file" and "%n files", for as many forms as the target
    <translation type="unfinished">            language has; what is good loses `unfinished`, what a person must
    <numerusform></numerusform>...             review keeps it

    "%lld files" : { "localizations" : { "en" : { "variations" : { "plural" : { "one" : ..., "other" : ... }
    gets "de" in the order of the languages, in state `translated` or `needs_review`; Polish gets `few` and `many`, too

Existing translations are kept unless `retranslate` is set, and so are texts that the program no longer has. As in
gettext's catalogues, the first form comes from the singular and the others from the plural; if there are more than two,
they are uncertain.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nmt_cli.documents.document import Content, TranslationUnit, make_verbatim_unit, weave
from nmt_cli.documents.encodings import DecodedText, decode_document
from nmt_cli.documents.exchange import fits_model, refuse_languages, refuse_source
from nmt_cli.documents.po import (
    MessageDocument,
    count_plural_forms,
    fill_forms,
    find_plural_categories,
    list_form_texts,
    list_messages,
    load_plural_forms,
)
from nmt_cli.documents.strings.syntax import is_text
from nmt_cli.documents.xml import (
    XmlNode,
    cut_document,
    decode_xml,
    escape_markup,
    find_attribute,
    get_cdata,
    is_cdata,
    parse_node,
    set_attribute,
)
from nmt_cli.formats.exchange import find_variants
from nmt_cli.formats.po import (
    FINISHED,
    GONE,
    STALE,
    Member,
    QtReader,
    find_member,
    get_object,
    list_leaves,
    list_localizations,
    list_members,
    read_unit,
    skip_blanks,
    spell_form,
)
from nmt_cli.formats.xml import MarkupToken, XmlUnit
from nmt_cli.languages.codes import find_code, find_language_tag, has_same_primary_tag
from nmt_cli.translation.result import Translation

KEPT_DRAFTS = "unfinished translations that were kept (--retranslate replaces them)"
NEEDS_PERSON = "marked for review, because a check failed or plural forms are a guess"


class AppCatalogue(MessageDocument):
    """The base class of catalogues in which each translation says whether it is finished."""

    def replaces(self, are_filled: Sequence[bool], *, is_draft: bool) -> bool:
        """Whether a text lacks a translation, or all are to be replaced; notes unfinished ones that are kept."""
        if self.source.config.retranslate or self.source.reads_back or not are_filled or not all(are_filled):
            return True
        self.notes += Counter({KEPT_DRAFTS: int(is_draft)})
        return False

    def is_doubtful(self, translations: Sequence[Translation], *, is_guess: bool) -> bool:
        """Whether a person must review the translations of a text; if so, adds a note."""
        is_doubtful = is_guess or bool(list_messages(translations)) or self.source.config.fuzzy
        self.notes += Counter({NEEDS_PERSON: int(is_doubtful)})
        return is_doubtful


# Qt Linguist.


CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # which Qt spells as elements


class QtDocument(AppCatalogue):
    accelerator = "&"

    def read_units(self) -> Iterator[TranslationUnit]:
        self.forms = count_plural_forms(load_plural_forms().get(find_code(self.source.target_language), ""))
        decoded = decode_xml(self.source)
        yield make_verbatim_unit(decoded.mark)
        for before, unit, raw in cut_document(self.source, decoded.text, QtReader.unit_names, frozenset({"TS"})):
            yield make_verbatim_unit(decoded.encode(before))
            if unit is None:
                continue
            is_root = unit.element.tag == "TS"
            written = self.read_root(unit, raw) if is_root else self.make_unit(parse_node(raw), decoded)
            yield make_verbatim_unit(decoded.encode(written)) if isinstance(written, str) else written

    def read_root(self, unit: XmlUnit, tag: str) -> str:
        """Returns the tag of the catalogue; if it names no target language, or the source's, sets the target's.

        Raises DataError for languages other than the model's.
        """
        source, target = unit.element.get("sourcelanguage", ""), unit.element.get("language", "")
        is_template = not target or has_same_primary_tag(target, source or self.source.source_language)
        if not fits_model(self.source, (source, "" if is_template else target)):
            refuse_languages(self.source, (source, target))
        language = (find_language_tag(self.source.target_language) or "").replace("-", "_")
        return set_attribute(tag, "language", language) if is_template and language else tag

    def make_unit(self, node: XmlNode, decoded: DecodedText) -> str | TranslationUnit:
        """Returns the unit of a message, or its spelling if it is kept."""
        source, old = node.find("source"), node.find("translation")
        existing, kind = read_qt_forms(old), "" if old is None else old.read("type")
        if source is None or not source.content.strip() or kind in GONE:
            return node.raw
        if not self.replaces([bool(form) for form in existing], is_draft=kind == "unfinished"):
            return node.raw
        text = read_qt_text(source)
        count = (self.forms or len(existing) or 2) if node.read("numerus") == "yes" else 0
        sources = [spell_form(text, is_singular=form == 0 and count > 1) for form in range(count)] or [text]
        distinct = self.split_forms(sources)

        def write_message(translations: Sequence[Translation]) -> str | bytes:
            by_source = fill_forms(distinct, translations)
            forms = [by_source[form] for form in sources]
            if not self.source.config.retranslate:
                forms = [held or new for held, new in zip([*existing, *[""] * len(forms)], forms, strict=False)]
            is_guess = len(forms) > 2 or (len(forms) == 2 and len(distinct) == 1)
            is_doubtful = self.is_doubtful(translations, is_guess=is_guess)
            return decoded.encode(write_qt_message(node, forms, is_doubtful=is_doubtful))

        held = existing if self.source.reads_back else sources
        return TranslationUnit(
            list_form_texts(distinct), write_message, raw=decoded.encode(node.raw), content=Content(tuple(held))
        )


def read_qt_text(node: XmlNode | MarkupToken) -> str:
    """Returns a text with its spaces, and with elements such as `<byte value="x1b"/>` as control characters."""
    if isinstance(node, MarkupToken):
        return html.unescape(node.raw) if node.kind == "text" else get_cdata(node) if is_cdata(node) else ""
    if node.name != "byte":
        return "".join(map(read_qt_text, node.children))
    value = node.read("value")
    digits, base = (value[1:], 16) if value[:1] in ("x", "X") else (value, 10)
    is_code = re.fullmatch("[0-9a-fA-F]{1,4}", digits) and (base == 16 or digits.isdigit())
    return chr(int(digits, base)) if is_code else ""


def read_qt_forms(translation: XmlNode | None) -> list[str]:
    """Returns the forms of a translation, some of which may be empty, or its only text."""
    if translation is None:
        return []
    forms = [form for form in translation.elements if form.name == "numerusform"]
    return [read_qt_text(form) for form in forms or [translation]]


def escape_qt(text: str) -> str:
    """Escapes plain text as Qt's programs do."""
    escaped = escape_markup(text).replace('"', "&quot;").replace("'", "&apos;")
    return CONTROL.sub(lambda match: f'<byte value="x{ord(match[0]):x}"/>', escaped)


def write_qt_message(node: XmlNode, forms: Sequence[str], *, is_doubtful: bool) -> str:
    """Returns a message with the forms of its new translation, which replaces the old one or comes last."""
    old = node.find("translation") or XmlNode("<translation>", "translation", end="</translation>")
    tag = f"{old.tag[:-2].rstrip()}>" if old.tag.endswith("/>") else old.tag
    kind = find_attribute(tag, "type")
    if is_doubtful:
        tag = set_attribute(tag, "type", "unfinished")
    elif kind is not None:
        tag = f"{tag[: kind.start].rpartition('type')[0].rstrip()}{tag[kind.end + 1 :]}"
    content, at = "".join(map(escape_qt, forms)), next(iter(node.elements), old)
    before = next((child.raw for child in node.children[: node.children.index(at)] if at in node.children), "")
    if node.read("numerus") == "yes":
        written = [f"<numerusform>{escape_qt(form)}</numerusform>" for form in forms]
        between = before if not before.strip() and "\n" in before else ""
        inner = f"{between}    " if between else ""
        content = "".join(f"{inner}{form}" for form in written) + between
    translation = f"{tag}{content}{old.end or '</translation>'}"
    children = [translation if child is old else child.raw for child in node.children]
    if old not in node.children:
        children.insert(len(children) - bool(children and not children[-1].strip()), f"{before}{translation}")
    return f"{node.tag}{''.join(children)}{node.end}"


# Xcode's string catalogues.


INDENTED_KEY = re.compile(r"\{\s*?\n([ \t]+)\"")


class XcodeDocument(AppCatalogue):
    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_document(self.source, lambda _: None)
        yield make_verbatim_unit(decoded.mark)
        text = decoded.text
        catalogue = self.parse(text)
        strings = find_member(text, skip_blanks(text, 0), "strings")
        declared = str(catalogue.get("sourceLanguage", ""))
        if strings is None or not isinstance(strings.value, dict) or not declared:
            self.source.refuse(
                1,
                ("not a string catalogue: strings or sourceLanguage is missing"),
                "to translate its values, use --format json",
            )
        self.layout = JsonSpelling(text)
        self.has_source = not strings.value
        members = (
            (member, text[member.value_start : member.end]) for member in list_members(text, strings.value_start)
        )
        units = ((member, self.make_unit(member, declared, raw, decoded)) for member, raw in members)
        yield from weave(
            text, ((member.value_start, member.end, unit) for member, unit in units if unit), decoded.encode
        )
        if not self.has_source:
            refuse_source(self.source, f"the language {declared}")

    def parse(self, text: str) -> dict[str, Any]:
        """Returns the catalogue. Raises DataError for invalid JSON."""
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError) as error:
            self.source.refuse(
                getattr(error, "lineno", 1), "not valid JSON", "to translate it line by line, use --format text"
            )
        return value if isinstance(value, dict) else {}

    def make_unit(self, member: Member, declared: str, raw: str, decoded: DecodedText) -> TranslationUnit | None:
        """Returns the unit of a string; None if it is kept."""
        entry, trees = member.value, list_localizations(member.key, member.value, declared)
        source, target = (
            find_tree(trees, language)
            for language in (self.source.source_language or declared, self.source.target_language)
        )
        self.has_source |= bool(source)
        is_kept = not isinstance(entry, dict) or entry.get("shouldTranslate") is False
        if is_kept or not source or entry.get("extractionState") == STALE:
            return None
        tree, old = trees[source], trees.get(target) if target else None
        texts = [unit["value"] for _, unit in list_leaves(tree)]
        units = [unit for _, unit in list_leaves(old)]
        is_draft = any(unit.get("state") == "needs_review" for unit in units)
        if not self.replaces([*map(is_filled, units)], is_draft=is_draft):
            return None
        if not (self.source.reads_back or any(map(is_text, texts))):
            return None
        categories = find_plural_categories(self.source.target_language)
        keeps = {} if self.source.config.retranslate else old
        sources: list[str] = []
        fill_tree(tree, keeps, categories, lambda text: sources.append(text) or text)  # type: ignore[func-returns-value]
        distinct = self.split_forms(sources)
        is_guess = len(categories) > 2 and any("plural" in path for path, _ in list_leaves(tree))

        def write_entry(translations: Sequence[Translation]) -> str | bytes:
            by_source = fill_forms(distinct, translations)
            state = "needs_review" if self.is_doubtful(translations, is_guess=is_guess) else FINISHED
            written = fill_tree(tree, keeps, categories, by_source.__getitem__, state)
            tag = target or find_language_tag(self.source.target_language) or self.source.target_language
            return decoded.encode(self.layout.write_tree(raw, tag, written))

        content = Content(tuple([unit["value"] for unit in units] if self.source.reads_back else sources))
        return TranslationUnit(list_form_texts(distinct), write_entry, raw=decoded.encode(raw), content=content)


def find_tree(trees: Mapping[str, Any], language: str) -> str:
    """Returns the code under which a string has `language`, in any variety; empty if it lacks the language."""
    codes = tuple(trees)
    return next((codes[index] for index in find_variants(codes, language, has_same_primary_tag)), "")


def is_filled(unit: Mapping[str, Any]) -> bool:
    return bool(unit["value"].strip()) and unit.get("state") != "new"


def fill_tree(
    tree: Any, old: Any, categories: Sequence[str], translate: Callable[[str], str], state: str = FINISHED
) -> Any:
    """Returns a tree of texts in the target language with these plural categories, keeping what `old` has."""
    if not isinstance(tree, dict):
        return tree
    written: dict[str, Any] = {}
    for key, value in tree.items():
        before = get_object(old, key)
        if key == "stringUnit" and read_unit(tree) is not None:
            held = read_unit(old)
            is_kept = held is not None and is_filled(held)
            written[key] = held if is_kept else {"state": state, "value": translate(value["value"])}
        elif key == "plural" and isinstance(value, dict) and value:
            other = value.get("other") or next(reversed(value.values()))
            names = sorted({*categories, *({"zero"} & value.keys())})
            written[key] = {
                name: fill_tree(value.get(name, other), before.get(name), categories, translate, state)
                for name in names
            }
        else:
            written[key] = fill_tree(value, before, categories, translate, state)
    return written


class JsonSpelling:
    """How a JSON file is formatted: as by Xcode (`"key" : value`), or in another way."""

    def __init__(self, text: str) -> None:
        step = INDENTED_KEY.search(text)
        self.step = step[1] if step else ""
        self.colon = " : " if '" : ' in text else ": " if '": ' in text or not text.count('":') else ":"

    def write_tree(self, raw: str, language: str, tree: Any) -> str:
        """Returns a string with the tree of a language inserted at its place in the order of languages."""
        member = find_member(raw, 0, "localizations")
        inside = "{}" if member is None else raw[member.value_start : member.end]
        return self.set_member(raw, 2, "localizations", self.set_member(inside, 3, language, self.dump(tree, 4)))

    def dump(self, value: Any, depth: int) -> str:
        """Returns a value as JSON, indented for its depth in the file."""
        separators = ("," if self.step else ", " if self.colon != ":" else ",", self.colon)
        written = json.dumps(value, ensure_ascii=False, indent=self.step or None, separators=separators)
        return written.replace("\n", f"\n{self.step * depth}")

    def set_member(self, raw: str, depth: int, key: str, written: str) -> str:
        """Returns the object `raw` with a value under a key; `depth` is the object's depth in the file."""
        members = list(list_members(raw, 0))
        same = next((member for member in members if member.key == key), None)
        if same is not None:
            return f"{raw[: same.value_start]}{written}{raw[same.end :]}"
        line = f"\n{self.step * (depth + 1)}" if self.step else ""
        name = f"{json.dumps(key, ensure_ascii=False)}{self.colon}{written}"
        if not members:
            return f"{{{line}{name}{line and line[: -len(self.step)]}}}"
        before = [member for member in members if member.key < key]
        if not before:
            start = members[0].start
            return f"{raw[:start]}{name},{line or ' '}{raw[start:]}"
        return f"{raw[: before[-1].end]},{line or ' '}{name}{raw[before[-1].end :]}"
