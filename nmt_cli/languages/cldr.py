"""Reads CLDR data on how languages spell numbers, write dates and name places, and writes whole numbers in words.

`spell_number(42, "de")` follows the rules that Unicode publishes for 79 languages: `zweiundvierzig`. The archive, with
its licence, has these rules in `numbers/` (CLDR 48.2, RBNF), the names of months and days and the order of a date in
`dates/`, and the names of countries and cities in `places/` (from Babel 2.19; `data/make_cldr.py`).

A rule set is a list of rules `[base, radix, text]`. The rule with the greatest base not above the number spells it:
`←x←` stands for the quotient by the rule's divisor, `→x→` for the remainder, `=x=` for the number itself, each
spelled by rule set x, or by the same set if x is missing. Bracketed text is omitted if the remainder is 0. See
https://unicode.org/reports/tr35/tr35-numbers.html#Rule-Based_Number_Formatting.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from functools import cache, lru_cache
from io import BytesIO
from operator import attrgetter
from typing import Any, Literal, NamedTuple
from zipfile import ZipFile

from nmt_cli.languages.codes import DATA, find_code


@cache
def read_archive() -> ZipFile:
    return ZipFile(BytesIO((DATA / "cldr.zip").read_bytes()))


@cache
def load_cldr(kind: Literal["dates", "numbers"], language: str) -> dict[str, Any] | None:
    """Returns the archive's data for a language code of two or three letters; None for an unknown language."""
    try:
        content: dict[str, Any] = json.loads(read_archive().read(f"{kind}/{find_code(language)}.json"))
    except KeyError:
        return None
    return content


@cache
def load_places(language: str) -> list[str]:
    """Returns the names of countries and cities in a language, or in English where it has none, always in one order."""
    archive, english = read_archive(), "places/en.txt"
    names = archive.read(english).decode().split("\n")
    if (path := f"places/{find_code(language)}.txt") not in archive.namelist():
        return names
    return [name or usual for name, usual in zip(archive.read(path).decode().split("\n"), names, strict=True)]


LARGEST = 10**12  # larger numbers are never written in words
NUMBERS_REMEMBERED = 4096
SUBSTITUTION = re.compile(r"([←→=])(%*[\w-]*|[#,0.]+)(\1)(→?)|\$\((?:cardinal|ordinal),.*?other\{([^}]*)\}\)\$")
OPTIONAL = re.compile(r"\[([^\]]*)\]")


class SpellingRule(NamedTuple):
    """One rule of a set."""

    base: int
    radix: int
    text: str

    @property
    def divisor(self) -> int:
        """The greatest power of the radix not above the base."""
        divisor = 1
        while self.radix > 1 and divisor * self.radix <= self.base:
            divisor *= self.radix
        return divisor


RuleSets = dict[str, list[SpellingRule]]


@cache
def load_rule_sets(language: str) -> RuleSets:
    """Returns the rule sets for a language code of two or three letters; empty for an unknown language."""
    sets = load_cldr("numbers", language) or {}
    return {  # an apostrophe only keeps the blank behind it
        name: [SpellingRule(base, radix, text.removeprefix("'")) for base, radix, text in rules]
        for name, rules in sets.items()
    }


@lru_cache(NUMBERS_REMEMBERED)
def spell_number(number: int, language: str) -> frozenset[str]:
    """Returns all spellings of a number, cardinal and ordinal, in every gender and case, as `fold_words` writes them.

    Empty for an unknown language and for numbers that nobody writes in words.
    """
    if not 0 <= number < LARGEST:
        return frozenset()
    rules = load_rule_sets(language)
    names = [name for name in rules if name.startswith("spellout") and "fraction" not in name and rules[name]]
    spellings = {fold_words(apply_rules(rules, name, number)) for name in names}
    return frozenset(spelling for spelling in spellings if spelling and not any(map(str.isdigit, spelling)))


def spell_cardinal(number: int, language: str) -> str:
    """Returns a number in words, as in counting; empty for an unknown language."""
    words = apply_rules(load_rule_sets(language), "spellout-numbering", number)
    return "" if any(map(str.isdigit, words)) else words.replace("\u00ad", "")


def fold_words(text: str) -> str:
    """Returns the letters and digits of a text in lower case: spaces and hyphens within a number do not matter."""
    lower = text.lower()
    return lower if lower.isalnum() else "".join(c for c in lower if c.isalnum() or unicodedata.category(c)[0] == "M")


def apply_rules(rules: RuleSets, name: str, number: int) -> str:
    """Spells a number by the rule set `name`; in digits if no rule applies."""
    rule = choose_rule(rules.get(name, []), number)
    if rule is None:
        return str(number)
    quotient, remainder = divmod(number, rule.divisor)

    def replace_substitution(match: re.Match[str]) -> str:
        if match[5] is not None:
            return match[5]
        value = {"←": quotient, "→": remainder, "=": number}[match[1]]
        if match[2][:1] in ("#", "0"):
            return str(value)
        # "→→→" and a rule that refers to itself with the number unchanged would never end.
        rule_set = match[2].lstrip("%") or name
        return str(value) if rule_set == name and value == number else apply_rules(rules, rule_set, value)

    text = OPTIONAL.sub(r"\1" if remainder else "", rule.text)
    return SUBSTITUTION.sub(replace_substitution, text)


def choose_rule(rules: list[SpellingRule], number: int) -> SpellingRule | None:
    """Returns the rule with the greatest base not above `number`.

    If that rule spells a remainder, but only its base leaves one and the number does not, the previous rule applies.
    """
    index = bisect_right(rules, number, key=attrgetter("base")) - 1
    if index < 0:
        return None
    rule = rules[index]
    gives_way = "→" in rule.text and number % rule.divisor == 0 and rule.base % rule.divisor != 0
    return rules[index - 1] if gives_way and index else rule
