"""People, greetings, ends of letters: `Yours sincerely` becomes `Mit freundlichen Grüßen`.

A network translates a surname that is a word (`Frau Schneider`), and knows no letters if it learned from none. Knows
no profiles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.languages.codes import read_given_names
from nmt_cli.languages.rules import LanguageRules, find_rules
from nmt_cli.text.characters import COMMAS, FINAL_MARKS, LIVELY_MARKS, PAUSES

ENDS = re.escape(FINAL_MARKS)
GENDERS, DEGREES = ("man", "woman"), ("professor", "doctor")
GREETINGS = {"man": "to_man", "woman": "to_woman"}  # by the gender that the titles tell
PHRASES = ("to_all", "to_group", "regards")  # without a name
SURNAME = (
    r"(?:[A-ZÀ-Þ]\.\s?)*(?:(?:van|von|de|di|da|der|den|la|le|du|zu)\s){0,2}"  # J. R. van der
    r"(?:[A-ZÀ-Þ]['’])?[A-ZÀ-Þ][^\W\d_]+(?:-[A-ZÀ-Þ][^\W\d_]+)*"
)
LOOK_BACK = 40  # characters before a person
SIGNATURE = rf",?(?:\s{SURNAME}){{1,4}}(?=\W*$)"  # behind what a letter ends with


class PersonKind(Kind):
    """Titles with names, greetings of letters and what letters end with, in the words of the target's language."""

    def find(self, text: str, context: Context) -> Iterator[Span]:
        source, target = map(find_rules, context.languages)
        pattern = compile_people(context.languages[0])
        is_noun = re.compile(rf"\b(?:{source.noun_signs or '(?!)'})\s$")
        for match in pattern.finditer(text) if pattern is not None else ():
            if match.lastgroup in PHRASES:
                signed = re.compile(SIGNATURE).match(text, match.end()) if match.lastgroup == "regards" else None
                for written in list_forms(target, match.lastgroup)[:1]:
                    name = signed[0] if signed else ""
                    yield Span(match.start(), match.end() + len(name), f"{written}{name}", SpanKind.PERSON)
            elif not is_noun.search(text, max(0, match.start() - LOOK_BACK), match.start()):
                yield read_person(match, source, target)


PEOPLE = PersonKind(
    SpanKind.PERSON,
    cues=r"(?<![^\W_])[A-ZÀ-Þ][^\W\d_]{0,30}\.? [A-ZÀ-Þ]"  # Mr. Brown
    rf"|(?:^|[{ENDS}]\s)[A-ZÀ-Þ][^{ENDS}{COMMAS}]{{2,30}}(?:[{COMMAS}]|\W*$)",  # what letters begin and end with
)


def read_person(match: re.Match[str], source: LanguageRules, target: LanguageRules) -> Span:
    """Returns the span of a person: of the name alone if the target's titles are not known."""
    begin, end = find_name(match)
    name = match.string[begin:end]
    if not target.courtesies:
        return Span(begin, end, name, SpanKind.PERSON)
    keys = [key for title in (match["titles"] or "").split() for key in name_title(title, source)]
    gender = next((key for key in keys if key in GENDERS), "")
    degrees = [key for key in keys if key in DEGREES]
    greeting = GREETINGS.get(gender, "to_any" if keys else "to_friend")
    words = [greeting] * bool(match["greeting"]) + (degrees or [gender] * bool(gender))  # a degree is title enough
    titles = [list_forms(target, word)[0] for word in words]
    if set(keys) == set(GENDERS):  # Mr. and Mrs. Brown
        titles[-1:] = [list_forms(target, keys[0])[0], target.list_links.split("|")[0], list_forms(target, keys[-1])[0]]
    written = " ".join([*titles, name])
    return Span(match.start(), end, written, SpanKind.PERSON)


def find_name(match: re.Match[str]) -> tuple[int, int]:
    """Returns the place of a name, with the surname behind a given name."""
    begin, end = match.span("name")
    more = re.compile(rf"\s{SURNAME}").match(match.string, end) if match["name"] in read_given_names() else None
    return begin, end if more is None else more.end()


def name_title(title: str, rules: LanguageRules) -> list[str]:
    """Returns the key of a title."""
    return [key for key in (*GENDERS, *DEGREES) if title in list_forms(rules, key)]


def list_forms(rules: LanguageRules, key: str) -> list[str]:
    """Returns the forms of a courtesy in a language; the first is written."""
    return list(filter(None, rules.courtesies.get(key, "").split("|")))


@cache
def compile_people(language: str) -> re.Pattern[str] | None:
    """Returns the pattern of persons and phrases in a language; None if its titles are not known."""
    rules = find_rules(language)
    if not rules.courtesies:
        return None
    titles, greetings, to_all, to_group, regards = (
        "|".join(sorted((re.escape(form) for key in keys for form in list_forms(rules, key)), key=len, reverse=True))
        for keys in ((*GENDERS, *DEGREES), ("to_man", "to_woman"), *((key,) for key in PHRASES))
    )
    begins, ends = rf"(?:^|(?<=[{ENDS}{COMMAS}]\s))", rf"(?=\s*(?:[{ENDS}{PAUSES}]|$)|{SIGNATURE})"
    titled = rf"(?P<titles>(?:(?:{titles})\s(?:(?:{rules.list_links})\s(?=(?:{titles})\s))?)+)(?!(?:{rules.roles})\b)"
    called = rf"(?(greeting)(?=[^\W\d_]+[{COMMAS}{LIVELY_MARKS}])|(?!))"  # without a title: Dear Anna,
    person = rf"(?<![^\W_])(?:(?P<greeting>{greetings})\s)?(?:{titled}|{called})(?P<name>{SURNAME})"
    phrases = rf"(?P<to_all>{to_all})|(?P<to_group>{to_group})|(?P<regards>{regards})"
    return re.compile(rf"{begins}(?:{phrases}){ends}|{person}")
