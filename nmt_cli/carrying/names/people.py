"""People, greetings, ends of letters: `Yours sincerely` becomes `Mit freundlichen Grüßen`.

A network translates a surname that is a word (`Frau Schneider`), and knows no letters if it learned from none. Knows
no profiles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.spans import COVERS, Span, SpanKind
from nmt_cli.languages.codes import read_given_names
from nmt_cli.languages.rules import LanguageRules, find_rules
from nmt_cli.text.characters import COMMAS, FINAL_MARKS, INVISIBLE, LIVELY_MARKS, PAUSES

ENDS = re.escape(FINAL_MARKS)
TITLE_BLANK = rf"[{INVISIBLE}]*\s[{INVISIBLE}]*"
GENDERS, DEGREES = ("man", "woman"), ("professor", "doctor")
GREETINGS = {"man": "to_man", "woman": "to_woman"}  # by the gender that the titles tell
PHRASES = ("to_all", "to_group", "regards")  # without a name
SURNAME = (
    r"(?:[A-ZÀ-Þ]\.\s?)*(?:(?:van|von|de|di|da|der|den|la|le|du|zu)\s){0,2}"  # J. R. van der
    r"(?:[A-ZÀ-Þ]['’])?[A-ZÀ-Þ][^\W\d_]+(?:-[A-ZÀ-Þ][^\W\d_]+)*"
)
LOOK_BACK = 40  # characters before a person
SHORT_CAPITALS = re.compile(r"[A-ZÀ-Þ]{2}\s")  # no title, beside words in lower case: MS Word, MR images, DR Congo
SIGNATURE = rf",?(?:\s{SURNAME}){{1,4}}(?=\W*$)"  # behind what a letter ends with


class PersonKind(Kind):
    """Titles with names, greetings of letters and what letters end with, in the words of the target's language."""

    def find(self, text: str, context: Context) -> Iterator[Span]:
        pattern = compile_people(context.languages[0])
        if pattern is None:
            return
        source, target = map(find_rules, context.languages)
        is_noun, is_shouted = re.compile(rf"\b(?:{source.noun_signs or '(?!)'})\s$"), text.isupper()
        for match in pattern.finditer(text):
            if match.lastgroup in PHRASES:
                spans = read_phrase(match, target)
            elif is_noun.search(text, max(0, match.start() - LOOK_BACK), match.start()):
                continue
            elif not is_shouted and SHORT_CAPITALS.match(match["titles"] or ""):
                continue
            else:
                spans = read_person(match, source, target)
            yield from (span._replace(text=span.text.upper()) if is_shouted else span for span in spans)


PEOPLE = PersonKind(
    SpanKind.PERSON,
    cues=rf"(?<![^\W_])[A-ZÀ-Þ][^\W\d_]{{0,30}}\.?{TITLE_BLANK}[^a-zß-ÿ\d\s]"  # Mr. Brown, Mr. {name}
    rf"|(?:^|[{ENDS}]\s)[A-ZÀ-Þ][^{ENDS}{COMMAS}]{{2,30}}(?:[{COMMAS}]|\W*$)",  # what letters begin and end with
)


def read_phrase(match: re.Match[str], target: LanguageRules) -> Iterator[Span]:
    """Yields the span of a phrase, with the names behind what a letter ends with."""
    signed = re.compile(SIGNATURE).match(match.string, match.end()) if match.lastgroup == "regards" else None
    name = signed[0] if signed else ""
    for written in list_forms(target, match.lastgroup or "")[:1]:
        yield Span(match.start(), match.end() + len(name), f"{written}{name}", SpanKind.PERSON)


def read_person(match: re.Match[str], source: LanguageRules, target: LanguageRules) -> Iterator[Span]:
    """Yields the span of a person: of the name alone if the target's titles are not known.

    A mark, such as a tag, may stand between titles and name, which are then two spans.
    """
    begin, end = find_name(match)
    name = match.string[begin:end]
    keys = [key for title in (match["titles"] or "").split() for key in name_title(title.strip(INVISIBLE), source)]
    gender = next((key for key in keys if key in GENDERS), "")
    degrees = [key for key in keys if key in DEGREES]
    greeting = GREETINGS.get(gender, "to_any" if keys else "to_friend")
    words = [greeting] * bool(match["greeting"]) + (degrees or [gender] * bool(gender))  # a degree is title enough
    titles = [form for word in words for form in list_forms(target, word)[:1]]
    if target.courtesies and set(keys) == set(GENDERS):  # Mr. and Mrs. Brown
        titles[-1:] = [list_forms(target, keys[0])[0], target.list_links.split("|")[0], list_forms(target, keys[-1])[0]]
    if titles and match["name"] is not None:
        yield Span(match.start(), end, " ".join([*titles, name]), SpanKind.PERSON)
        return
    if titles:
        yield Span(
            match.start(),
            match.start() + len(re.sub(f"{TITLE_BLANK}$", "", match[0])),
            " ".join(titles),
            SpanKind.PERSON,
        )
    if name:
        yield Span(begin, end, name, SpanKind.PERSON)


def find_name(match: re.Match[str]) -> tuple[int, int]:
    """Returns the place of a name, with the surname behind a given name; the name may be behind a mark."""
    behind = match if match["name"] else re.compile(rf"[{COVERS}]+(?P<name>{SURNAME})").match(match.string, match.end())
    if behind is None:
        return match.end(), match.end()
    begin, end = behind.span("name")
    more = re.compile(rf"\s{SURNAME}").match(match.string, end) if behind["name"] in read_given_names() else None
    return begin, end if more is None else more.end()


def name_title(title: str, rules: LanguageRules) -> list[str]:
    """Returns the key of a title."""
    return [key for key in (*GENDERS, *DEGREES) if title.upper() in map(str.upper, list_forms(rules, key))]


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
        "|".join(map(re.escape, sorted(list_cased_forms(rules, keys), key=len, reverse=True)))
        for keys in ((*GENDERS, *DEGREES), ("to_man", "to_woman"), *((key,) for key in PHRASES))
    )
    begins, ends = rf"(?:^|(?<=[{ENDS}{COMMAS}]\s))", rf"(?=\s*(?:[{ENDS}{PAUSES}]|$)|{SIGNATURE})"
    linked = rf"(?:(?i:{rules.list_links}){TITLE_BLANK}(?=(?:{titles}){TITLE_BLANK}))?"  # Mr. and Mrs. Brown
    titled = rf"(?P<titles>(?:(?:{titles}){TITLE_BLANK}{linked})+)(?!(?i:{rules.roles})\b)"
    called = rf"(?(greeting)(?=(?:[^\W\d_]+|[{COVERS}]+)[{COMMAS}{LIVELY_MARKS}])|(?!))"  # without a title: Dear Anna,
    behind_titles = (
        rf"(?:(?P<name>{SURNAME})|(?=[{COVERS}]+(?:{SURNAME}|[{COMMAS}{LIVELY_MARKS}]))|(?<=\.\s)(?=[{COVERS}]))"
    )
    person = rf"(?<![^\W_])(?:(?P<greeting>{greetings}){TITLE_BLANK})?(?:{titled}|{called}){behind_titles}"
    phrases = rf"(?P<to_all>{to_all})|(?P<to_group>{to_group})|(?P<regards>{regards})"
    return re.compile(rf"{begins}(?:{phrases}){ends}|{person}")


def list_cased_forms(rules: LanguageRules, keys: Iterable[str]) -> set[str]:
    """Returns the forms of courtesies, also in capitals."""
    forms = {form for key in keys for form in list_forms(rules, key)}
    return forms | set(map(str.upper, forms))
