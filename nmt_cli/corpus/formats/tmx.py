"""TMX, the industry's format of translation memories: units with one variant per language, with inline tags.

`--source-language` and `--target-language` choose the two languages to read; a file of two languages needs neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn
from xml.etree.ElementTree import Element

from nmt_cli.corpus.formats.reader import Row
from nmt_cli.corpus.formats.xml import XML_LANG, XmlReader, extract_text, is_same_language
from nmt_cli.errors import DataError

TRANSPARENT = frozenset({"hi"})  # highlighted text; bpt, ept, ph, it, ut and sub hold code


class TmxReader(XmlReader):
    expects = "a translation memory: <tmx> with units of variants"
    root = "tmx"
    unit_names = frozenset({"tu"})

    def read_rows(self) -> Iterator[Row]:
        codes: dict[str, None] = {}
        has_pairs = False
        for line, unit in self.read_units():
            texts = read_variants(unit)
            codes |= dict.fromkeys(texts)
            if self.languages is None:
                self.languages = self.choose_languages(
                    list(texts), self.collector.attributes.get("header", {}).get("srclang", "")
                )
            source, target = (choose_variant(texts, language) for language in self.languages)
            has_pairs |= source is not None and target is not None
            yield Row(line, source or "", target or "")
        if codes and not has_pairs:
            self.refuse_languages(list(codes))

    def choose_languages(self, codes: list[str], declared: str) -> tuple[str, str]:
        """Returns the two languages to read: those of the options, otherwise those of the first unit."""
        source, target = self.options.source_language, self.options.target_language
        if source is None:
            declared_codes = [code for code in codes if is_same_language(code, declared)]
            others = [code for code in codes if target is None or not is_same_language(code, target)]
            source = next(iter(declared_codes or others), None)
        if target is None:
            others = [code for code in codes if source and not is_same_language(code, source)]
            target = others[0] if len(others) == 1 else None
        if source is None or target is None:
            self.refuse_languages(codes)
        return source, target

    def refuse_languages(self, codes: list[str]) -> NoReturn:
        raise DataError(
            f"{self.file.name} has the languages {', '.join(codes) or '(none)'}",
            hint="choose two with --source-language and --target-language",
        )


def read_variants(unit: Element) -> dict[str, str]:
    """Returns the text of each language of a unit."""
    texts: dict[str, str] = {}
    for variant in unit.iterfind("tuv"):
        code = variant.get(XML_LANG) or variant.get("lang") or ""
        segment = variant.find("seg")
        texts.setdefault(code, "" if segment is None else extract_text(segment, TRANSPARENT))
    return texts


def choose_variant(texts: dict[str, str], language: str) -> str | None:
    """Returns the text in a language, or in a regional variety of it; None if there is none."""
    exact = texts.get(language)
    return exact or next((text for code, text in texts.items() if is_same_language(code, language)), exact)
