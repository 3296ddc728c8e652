"""Rules particular to a language, as data: `data/<code>.toml` lists how the language differs from `und.toml`.

`find_rules("deu").ordinal_mark` is `"."`, from the line `ordinal_mark = "."` of `data/de.toml`. A language with few
rules has a line in `data/languages.toml` instead of a file: `az = { has_dotless_i = true }`; all others follow `und`.
To describe a language, write its file or line; nothing else changes. Words are separated by spaces, patterns are
regular expressions, and an empty value means that the language lacks the feature.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from nmt_cli.languages.codes import DATA, find_code


class LanguageRules(NamedTuple):
    """The rules of a language.

    Its word lists extend those of the language it is `like`; its other values replace them.
    """

    # 1. Where sentences end. In capitals, words count as in small letters; with a capital here, only with it.
    abbreviations: frozenset[str]  # whose full stop ends no sentence
    before_numbers: frozenset[str]  # whose full stop ends no sentence before a number
    often_last: frozenset[str]  # whose full stop ends a sentence before a capital
    one_letter_words: frozenset[str]  # which are no initials: their full stop ends a sentence
    spelled_out: dict[str, str]  # what abbreviations stand for; their full stop ends no sentence either
    goes_on: str  # pattern of what goes on with a sentence after a quotation that has a mark of its own

    # 2. Numbers.
    labels: frozenset[str]  # words that a number names something after: chapter 3.1
    ordinal_endings: str  # pattern of what makes digits an ordinal, where that can be nothing else
    ordinal_mark: str  # what is written for it
    ordinal_marks: dict[str, str]  # by the last digit, other than after a 1 before it
    decade_endings: str  # pattern of what makes a year a decade
    decade_mark: str
    hours: Literal[12, 24]  # of the day, as people usually count them
    clock: str  # pattern of words that tell the time
    am_before: str  # pattern of what "am" is a word before: 3 am Tisch, 3 am letzten Tag; but 5 am Monday
    clock_word: str  # behind a time in the 24-hour clock
    hour_parts: dict[str, str]  # what stands before an hour, by its minutes from that, or what stands between: to, past
    hour_cues: str  # pattern of what stands before a time such as six thirty, which may be two numbers elsewhere
    plural: Literal["one", "below two", "many", "dual"]  # which numbers a noun has forms for
    # Pattern of the words for 1.5, or for a half more than `count`; `whole` are those that digits may replace.
    halves: str

    # Before a number that names something, or only before a code, or that is a year; the first of several is written.
    number_signs: dict[str, str]
    # Behind an amount of money, or of what is counted, for k, m, bn and tn; the first is written, after 1 the second.
    scales: dict[str, str]
    price: str  # ¤ for the sign of a currency and # for the amount, as they are written; empty: as in the source
    counted: str  # pattern of what may be counted in millions: 2.5m people
    measures: str  # pattern of what may be behind an amount, and hardly behind a version: 2.5 miles
    time_units: dict[str, str]  # abbreviated units of time, by their English names; the first of several is written

    # 3. Dates.
    date_links: str  # pattern of what stands between the parts of a date
    date_article: str  # pattern of what stands between a preposition and a date
    day_phrases: dict[str, str]  # what relates something to a day, by its English name; the first of several is written
    # Of `on`, the second is written before a time: on May 5 at 10:30.
    month_phrases: dict[str, str]  # to a month

    opening: str  # pattern of what shops say about a day, other than hours: Sun closed

    # 4. Words and letters.
    streets: str  # verbose pattern of streets with a number or an abbreviation
    acronyms: frozenset[str]  # that are spelled like frequent words: IT
    determiners: str  # pattern of words after which a noun with a capital names a role: the Customer
    list_links: str  # pattern of words before the last item of a list
    doubled: frozenset[str]  # that often stand twice in a row: who saw that that was so
    fillers: frozenset[str]  # that link or stress, and are often left out without loss: thus, respectively
    has_dotless_i: bool
    gender_forms: str  # pattern of words that name several genders at once, up to the mark inside or all of it
    gender_marks: str  # pattern of what is left out of such a form, at its end
    formal: str  # pattern of what addresses people formally, where that can be nothing else
    informal: str  # of what addresses them informally
    negations: str  # pattern of words that negate; compared where `half_negations` are known, too
    idle_negations: str  # verbose pattern of phrases with such a word that negate nothing: not only, nicht wahr?
    privation: str  # the word of `negations` that negates a noun beside a negated verb: never without
    half_negations: str  # verbose pattern of words that another language may say with a negation: hardly, unable
    variants: dict[str, str]  # by pattern of what other spellings of the language have, what most words have for it
    compound_links: str  # pattern of what stands between the parts of a compound that is one word: Arbeit-s-zeit
    prefixes: frozenset[str]  # of two letters, with which such words begin
    endings: str  # pattern of the endings in which the forms of a word differ
    inflections: dict[str, str]  # by the end of a noun (empty: any), pattern of what its other forms have for it
    courtesies: dict[str, str]  # how people are called and greeted, and letters end; the first of several is written
    roles: str  # pattern of what stands behind a title, and is no name: Mr. President
    noun_signs: str  # pattern of words after which a title is a noun: seine Frau Anna
    legal_forms: str  # pattern of what the names of companies end with, in any language
    naming: str  # pattern of words that a name follows, where every noun has a capital
    saying: str  # pattern of words that report what somebody says
    speech_mark: str  # before a quotation, behind who speaks
    speech: str  # a quotation before the words that report it, … being what is said
    subjects: str  # pattern of words with which clauses in brackets begin
    objects: str  # pattern of other pronouns, where a word in brackets may be a noun: [him]
    example: str  # a short question, to try a model with
    bleu_tokenizer: str  # of sacreBLEU, where blanks do not part words

    def find_register(self, text: str) -> Literal["", "formal", "informal"]:
        """Returns how a text addresses people; empty if that does not show, or if it uses both forms."""
        is_formal, is_informal = (re.search(pattern, text) is not None for pattern in (self.formal, self.informal))
        return "" if is_formal == is_informal else "formal" if is_formal else "informal"


WORDS = tuple(name for name, kind in LanguageRules.__annotations__.items() if "frozenset" in str(kind))


@lru_cache(4096)
def find_rules(language: str) -> LanguageRules:
    """Returns the rules for a language code of two or three letters, with or without a region."""
    return read_rules(find_code(language))


def has_rules(language: str) -> bool:
    """Whether a language has rules that differ from the neutral ones."""
    return find_rules(language) != read_rules("und")


@lru_cache
def read_rules(code: str) -> LanguageRules:
    """Reads the rules of a language; the language that it is `like` supplies whatever its entry leaves out."""
    content = read_entry(code)
    content |= {name: frozenset(content[name].split()) for name in WORDS if name in content}
    if code == "und":
        return LanguageRules(**content)
    rules = read_rules(content.pop("like", "und"))
    content |= {name: getattr(rules, name) | content[name] for name in WORDS if name in content}
    rules = rules._replace(**content)
    spelled_out = {short[:-1] for short in rules.spelled_out if short.count(".") == 1}
    return rules._replace(abbreviations=rules.abbreviations | (spelled_out - rules.before_numbers))


def read_entry(code: str) -> dict[str, Any]:
    """Returns how a language differs from the one it is `like`, from its file or line; empty if it has neither."""
    import tomllib  # which most lines do not need

    path = DATA / f"{code}.toml"
    if len(code) in (2, 3) and code.isalpha() and path.is_file():  # and no other path
        return tomllib.loads(path.read_text(encoding="utf-8"))
    lines: dict[str, dict[str, Any]] = tomllib.loads((DATA / "languages.toml").read_text(encoding="utf-8"))
    return lines.get(code, {})
