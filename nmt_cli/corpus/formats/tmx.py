"""TMX, the industry's translation memory format: units with one variant per language, with inline tags.

`--source-language` and `--target-language` choose the two languages to read; a file of two languages needs neither.
Regional varieties count as one language, unless an option names one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn
from xml.etree.ElementTree import Element

from nmt_cli.corpus.formats.reader import Row
from nmt_cli.corpus.formats.xml import XML_LANG, XmlReader, extract_text
from nmt_cli.errors import DataError
from nmt_cli.languages.codes import is_same_language, is_same_variety

Variants = list[tuple[str, str]]  # the code of the language and the text of each variant of a unit


class TmxReader(XmlReader):
    expects = "a translation memory: <tmx> with units of variants"
    root = "tmx"
    unit_names = frozenset({"tu"})

    def read_rows(self) -> Iterator[Row]:
        self.codes: dict[str, None] = {}  # in the order of their first units
        self.further = 0
        self.indices: dict[tuple[tuple[str, ...], str], list[int]] = {}  # of the variants in a language, by their codes
        has_pairs = False
        for line, unit, context in self.read_units():
            variants = read_variants(unit)
            self.note_codes(code for code, _ in variants)
            if self.languages is None:
                self.languages = self.choose_languages(context.get("header", {}).get("srclang", ""))
            if self.languages is None:
                yield Row(line, variants[0][1] if variants else "", "")
                continue
            source, target = (self.choose_variant(variants, language) for language in self.languages)
            has_pairs |= source is not None and target is not None
            yield Row(line, source or "", target or "")
        if self.codes and not has_pairs:
            self.refuse_languages()
        if self.further:
            self.add_note(f"further variants of a language in one unit, which were left out: {self.further:,}")

    def note_codes(self, codes: Iterable[str]) -> None:
        """Records the codes of a unit. Raises DataError for a third language that no option excludes."""
        for code in codes:
            if code in self.codes:
                continue
            all_known = (*self.codes, *(self.languages or ()))
            is_new = self.languages is not None and not any(is_same_language(code, known) for known in all_known)
            self.codes[code] = None
            if is_new and (self.options.source_language is None or self.options.target_language is None):
                self.refuse_languages()

    def choose_languages(self, declared: str) -> tuple[str, str] | None:
        """Returns the two languages to read: those of the options, else those of the first unit with two languages.

        Returns None while all units so far have had only one language, and so no translation.
        """
        source, target = self.options.source_language, self.options.target_language
        if source is None:
            others = [code for code in self.codes if target is None or not is_same_variety(code, target)]
            source = next((code for code in others if declared and is_same_variety(code, declared)), None)
            source = source or next(iter(others), None)
        if target is None:
            others = [code for code in self.codes if source and not is_same_language(code, source)]
            target = others[0] if others and all(is_same_language(code, others[0]) for code in others) else None
        if source is not None and target is not None:
            return source, target
        first = next(iter(self.codes), "")
        if not all(is_same_language(code, first) for code in self.codes):
            self.refuse_languages()
        return None

    def choose_variant(self, variants: Variants, language: str) -> str | None:
        """Returns the text in a language, preferably in that exact variety, or None. Counts the unused variants."""
        codes = tuple([code for code, _ in variants])
        if (codes, language) not in self.indices:
            self.indices[codes, language] = self.find_variants(codes, language)
        indices = self.indices[codes, language]
        self.further += max(0, len(indices) - 1)
        return variants[indices[0]][1] if indices else None

    def find_variants(self, codes: Sequence[str], language: str) -> list[int]:
        """Returns the indices of the variants in a language, the one to read first."""
        is_asked = language in (self.options.source_language, self.options.target_language)
        match = is_same_variety if is_asked else is_same_language
        indices = [index for index, code in enumerate(codes) if match(code, language)]
        return sorted(indices, key=lambda index: codes[index] != language)

    def refuse_languages(self) -> NoReturn:
        raise DataError(
            f"{self.file.name} has the languages {', '.join(self.codes) or '(none)'}",
            hint="choose two with --source-language and --target-language",
        )


def read_variants(unit: Element) -> Variants:
    """Returns the language and text of each variant of a unit."""
    variants = []
    for variant in unit.iterfind("tuv"):
        segment = variant.find("seg")
        code = variant.get(XML_LANG) or variant.get("lang") or ""
        variants.append((code, "" if segment is None else extract_text(segment)))
    return variants
