"""Finds people and places: greetings and closings of letters, given names with surnames, countries and cities.

`Yours sincerely` becomes `Mit freundlichen Grüßen`, `Denmark` becomes `Dänemark`, and `Peter Brown` keeps his name.

    PEOPLE          Dear Mr. Smith,     Sehr geehrter Herr Smith: a network trained on sentences does not know letters
    COPIED_NAMES    Boston              is copied if the translation lacks it and both sides of training have it alike
    find_places     Denmark             Dänemark, if rare in training: a network would write another country
    find_persons    Peter Brown         is kept: a network would translate the surname, which is also a word
    find_firms      Green Foods Ltd     likewise
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from nmt_cli.carrying.codes import COMMON_SHARE
from nmt_cli.carrying.spans import (
    COVERS,
    NO_MATCH,
    Attempt,
    Context,
    Difference,
    Kind,
    LossWords,
    LostKind,
    Span,
    SpanKind,
)
from nmt_cli.languages.codes import read_given_names
from nmt_cli.languages.rules import LanguageRules, find_rules
from nmt_cli.text.characters import (
    CLOSING_BRACKETS,
    COMMAS,
    FINAL_MARKS,
    INVISIBLE,
    LIVELY_MARKS,
    OPENING,
    PAUSES,
    SIGN_RANGES,
)
from nmt_cli.text.profile import TextProfile

ENDS = re.escape(FINAL_MARKS)
TITLE_BLANK = rf"[{INVISIBLE}]*\s[{INVISIBLE}]*"
GENDERS, DEGREES = ("man", "woman"), ("professor", "doctor")
GREETINGS = {"man": "to_man", "woman": "to_woman"}  # by the gender that the titles tell
PHRASES = ("to_all", "to_group", "regards")  # without a name
SURNAME = (
    r"(?:[A-ZÀ-Þ]\.\s?)*(?:(?:van|von|de|di|da|der|den|la|le|du|zu)\s){0,2}"  # J. R. van der
    r"(?:[A-ZÀ-Þ]['’])?[A-ZÀ-Þ][^\W\d_]+(?:-[A-ZÀ-Þ][^\W\d_]+)*"
)
SURNAMES = rf"{SURNAME}(?:(?:\s{SURNAME})?,?\s(?:Jr|Sr)\b\.?)?"  # of a son who has his father's name: Luther King Jr.
LOOK_BACK = 40  # characters before a person
SHORT_CAPITALS = re.compile(r"[A-ZÀ-Þ]{2}\s")  # no title, beside words in lower case: MS Word, MR images, DR Congo
SIGNATURE = rf",?(?:\s{SURNAME}){{1,4}}(?=\W*$)"  # behind what a letter ends with


def find_people(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields titles with names, and the greetings and closings of letters, in the target language."""
    source, target = map(find_rules, context.languages)
    is_noun, is_shouted = re.compile(rf"\b(?:{source.noun_signs or '(?!)'})\s$"), text.isupper()
    for match in compile_people(context.languages[0]).finditer(text):
        if match.lastgroup in PHRASES:
            spans = read_phrase(match, target)
        elif is_noun.search(text, max(0, match.start() - LOOK_BACK), match.start()):
            continue
        elif not is_shouted and SHORT_CAPITALS.match(match["titles"] or ""):
            continue
        else:
            spans = read_person(match, source, target)
        yield from (span._replace(text=span.text.upper()) if is_shouted else span for span in spans)


PEOPLE = Kind(
    SpanKind.PERSON,
    search=find_people,
    cues=rf"(?<![^\W_])[A-ZÀ-Þ][^\W\d_]{{0,30}}\.?{TITLE_BLANK}[^a-zß-ÿ\d\s]"  # Mr. Brown, Mr. {name}
    rf"|(?:^|[{ENDS}]\s)[A-ZÀ-Þ][^{ENDS}{COMMAS}]{{2,30}}(?:[{COMMAS}]|\W*$)",  # what letters begin and end with
)


def read_phrase(match: re.Match[str], target: LanguageRules) -> Iterator[Span]:
    """Yields the span of a letter's greeting or closing, with the names that follow a closing."""
    signed = re.compile(SIGNATURE).match(match.string, match.end()) if match.lastgroup == "regards" else None
    name = signed[0] if signed else ""
    for written in list_forms(target, match.lastgroup or "")[:1]:
        yield Span(match.start(), match.end() + len(name), f"{written}{name}", SpanKind.PERSON)


def read_person(match: re.Match[str], source: LanguageRules, target: LanguageRules) -> Iterator[Span]:
    """Yields the span of a person: of the name alone if the target's titles are unknown.

    If a mark such as a tag stands between titles and name, these are two spans.
    """
    begin, end = find_name(match)
    name = match.string[begin:end]
    written = [title.strip(INVISIBLE).upper() for title in (match["titles"] or "").split()]
    known = {key: [form.upper() for form in list_forms(source, key)] for key in (*GENDERS, *DEGREES)}
    keys = [key for title in written for key, forms in known.items() if title in forms]
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
    """Returns the start and end of a name, including a surname after a given name. A mark may precede the name."""
    behind = match if match["name"] else re.compile(rf"[{COVERS}]+(?P<name>{SURNAME})").match(match.string, match.end())
    if behind is None:
        return match.end(), match.end()
    begin, end = behind.span("name")
    more = re.compile(rf"\s{SURNAMES}").match(match.string, end) if behind["name"] in read_given_names() else None
    return begin, end if more is None else more.end()


def list_forms(rules: LanguageRules, key: str) -> list[str]:
    """Returns the forms of a title or phrase of courtesy in a language; the first is the one to write."""
    return list(filter(None, rules.courtesies.get(key, "").split("|")))


@cache
def compile_people(language: str) -> re.Pattern[str]:
    """Returns the pattern of persons and phrases in a language; it matches none if its titles are not known."""
    rules = find_rules(language)
    if not rules.courtesies:
        return NO_MATCH
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
    """Returns the forms of titles and phrases of courtesy, also in capitals."""
    forms = {form for key in keys for form in list_forms(rules, key)}
    return forms | set(map(str.upper, forms))


NAME_WRITTEN = r"(?<![^\W_])[A-ZÀ-Þ][^\W\d_]+(?![\w-]|['’](?!s\b))"
FEWEST_COPIES = 2  # occurrences; a profile has no rarer words
COPIED_SHARE = 0.8  # of a name's occurrences in sources, those in targets at least


class CopiedNameKind(LostKind):
    """Names that both sides of the training text contain, such as `Boston`."""

    def find_lost(self, attempt: Attempt, context: Context) -> Difference:
        return Difference([match[0] for match in self.list_missing(attempt, context)])

    def list_carried(self, attempt: Attempt, context: Context) -> list[Span]:
        missing = self.list_missing(attempt, context) if context.copies_placeholders else ()
        return list(map(self.read_match, missing))

    def list_missing(self, attempt: Attempt, context: Context) -> Iterable[re.Match[str]]:
        find = context.find_missing_names
        return () if find is None else find(attempt.covered, attempt.target)


COPIED_NAMES = CopiedNameKind(
    SpanKind.RARE_NAME,
    cues=r"[A-ZÀ-Þ][a-zß-ÿ]",
    words=LossWords(
        "untranslated",
        "protected name",
        "with untranslated words",
        unrepaired="a name from the source is missing",
        repaired=("dropped name",),
        doc="Finds content words without a translation",
        nouns=("no translation of",) * 2,
    ),
)


def find_missing_names(
    source_text: str, target_text: str, source: TextProfile, target: TextProfile
) -> Iterator[re.Match[str]]:
    """Yields the names that a translation should have but lacks, including a given name that is a signature, which the
    network may replace.
    """
    is_renamed = {re.sub(r"^\W+|\W+$", "", text) for text in (source_text, target_text)} <= read_given_names()
    for match in re.finditer(NAME_WRITTEN, source_text):
        if match[0].lower() not in target_text.lower() and (is_renamed or is_copied(match[0], source, target)):
            yield match


def is_copied(name: str, source: TextProfile, target: TextProfile) -> bool:
    """Whether a word, with a capital, occurs about equally often on both sides of training."""
    count = source.find_word(name).total
    if count < FEWEST_COPIES or target.find_word(name).total < COPIED_SHARE * count:
        return False
    return source.find_usual_case(name) == name == target.find_usual_case(name)


PLACE_WORD = rf"[^\W\d_]+(?:(?:[{INVISIBLE}.-]|['’](?![sS]\b))[^\W\d_]+)*"
RARE_PLACE_COUNT = 50  # occurrences below which no network writes a place reliably
MOST_PLACE_WORDS = 5


def find_places(text: str, languages: tuple[str, str], source: TextProfile) -> Iterator[Span]:
    """Yields the rare place names of a text, written in the target language; at each word, the longest."""
    words = list(re.finditer(PLACE_WORD, text))
    plain = [read_plainly(word[0]) for word in words]
    rare = [may_be_place(word, languages, source) for word in plain]
    past, is_title = 0, text.istitle()
    for index, first in enumerate(words if any(rare) else ()):
        for behind in range(min(index + MOST_PLACE_WORDS, len(words)), index, -1):
            start, end = first.start(), words[behind - 1].end()
            written = name_places(*languages).get(read_plainly(text[start:end]))
            if written is None or start < past or not any(rare[index:behind]) or is_surname(text, start):
                continue
            is_sure = behind - index > 1 or not (is_title or start == 0)
            if is_sure or source.find_usual_case(plain[index]) != plain[index].lower():  # Turkey is good meat
                yield Span(start, end, written, SpanKind.PLACE)
                past = end


def read_plainly(name: str) -> str:
    """Returns a name without invisible characters and with ordinary spaces."""
    return " ".join(re.sub(f"[{INVISIBLE}]", "", name).split())


def may_be_place(word: str, languages: tuple[str, str], source: TextProfile) -> bool:
    """Whether a capitalised word is rare and part of a place name."""
    if word.islower() or source.find_word(word).total >= RARE_PLACE_COUNT:
        return False
    return word in list_place_words(*languages)


def is_surname(text: str, start: int) -> bool:
    """Whether a word follows a given name: Michael Jordan."""
    before = re.compile(rf"({PLACE_WORD})\s$").search(text, max(0, start - LOOK_BACK), start)
    return before is not None and before[1] in read_given_names()


@cache
def list_place_words(source: str, target: str) -> frozenset[str]:
    """Returns the words that occur in place names."""
    return frozenset(word for name in name_places(source, target) for word in re.findall(PLACE_WORD, name))


@cache
def name_places(source: str, target: str) -> dict[str, str]:
    """Returns place names in the target language by those in the source language, also in capitals.

    Omits those that are also given names (`Maurice`).
    """
    from nmt_cli.languages.cldr import load_places  # an archive, which few lines need

    links = [find_rules(language).list_links.split("|")[0] for language in (source, target)]
    sides = [
        [name.replace(" & ", f" {link} " if link.isalpha() else " & ") for name in load_places(language)]
        for language, link in zip((source, target), links, strict=True)
    ]
    pairs = sorted(zip(*sides, strict=True), key=lambda pair: pair[0] != pair[1])  # what differs has the last word
    names = {read_plainly(old): new for old, new in pairs if source != target and old not in read_given_names()}
    return {old.upper(): new.upper() for old, new in names.items()} | names


BEHIND = re.escape(FINAL_MARKS + PAUSES + CLOSING_BRACKETS)
PERSON = (
    rf"(?<![^\W_])(?P<given>[A-ZÀ-Þ][^\W\d_]+)(?=\s(?P<surname>{SURNAMES}|[IVX]{{1,6}}(?!\w))(?P<stop>\.(?=\s[a-zß-ÿ]))?"
    rf"(?:['’]s)?(?:\W*$|[{BEHIND}]|\s[^\W\dA-ZÀ-Þ]))"  # no capital follows: How Peter Makes Money
)
CLAUSE_BEGINNING = (
    rf"(?:^|[{re.escape(FINAL_MARKS + PAUSES)}]\s|[{re.escape(OPENING)}])\s*$"  # of a clause, up to the name
)
TOO_FREQUENT = 100  # occurrences of a word with a capital that is a noun rather than a surname


def find_persons(text: str, source: TextProfile, target: TextProfile, naming: str | None) -> Iterator[Span]:
    """Yields the persons in a text; where every noun has a capital (`naming` is set), only sure ones."""
    has_words, length, comma = any(map(str.islower, text.split())), len(text.strip()), text.find(",")
    for match in re.finditer(PERSON, text):
        start, end, surname = match.start(), match.end("surname"), match["surname"]
        is_alone = length == end - start or -1 < comma < start or text.startswith(tuple(COMMAS), end)
        if match["given"] not in read_given_names() or not (has_words or is_alone):
            continue
        if re.fullmatch("[IVX]+", surname):  # Henry V, but not Tell Tom I know
            is_person = surname != "I" or not text.startswith(" ", end)
        else:
            is_sure = naming is None or is_sure_person(text, start, naming)
            is_person = is_sure and may_be_surname(surname, source, target)
        if is_person:
            yield Span(start, end + bool(match["stop"]), text[start:end], SpanKind.RARE_NAME)  # Heinrich VIII. war


def is_sure_person(text: str, start: int, naming: str) -> bool:
    """Whether a person surely begins at `start`, even where every noun has a capital: a clause begins there (`Peter
    Koch kommt`), or a word that matches `naming` precedes it.
    """
    cues = [CLAUSE_BEGINNING, *[rf"\b(?:{naming})\s$"] * bool(naming)]
    return re.compile("|".join(cues)).search(text, max(0, start - LOOK_BACK), start) is not None


def may_be_surname(word: str, source: TextProfile, target: TextProfile) -> bool:
    """Whether a word after a given name may be a surname that a network would translate or misspell."""
    is_noun = source.find_word(word).total > TOO_FREQUENT and source.find_usual_case(word) == word  # Monday
    return not is_noun and not is_copied(word, source, target)


FIRM_WORD = r"(?:(?:[A-Z]\.)+|[A-ZÀ-Þ\d][\w'’+-]*)"
BEFORE_FIRM = rf"[{COVERS}{SIGN_RANGES}]\s$"  # © 2024 ACME LTD.
SHORTEST_FORM = 3  # letters of a legal form in a line of capitals, where shorter ones are words: SA, CO


@cache
def write_firm(language: str) -> str:
    """Returns the pattern of companies with their legal form, which is in capitals in a line of capitals."""
    form = rf"(?:{find_rules(language).legal_forms})(?![^\W_])(?:\.(?=\W*\s\w|,))?"
    return (
        rf"(?<![^\W_])(?P<name>{FIRM_WORD}(?:{TITLE_BLANK}(?:& )?{FIRM_WORD}){{0,4}}?)"
        rf"(?:,(?= [CILS][a-zLn.]))?{TITLE_BLANK}(?P<form>{form}(?:,? (?:& )?{form}){{0,2}})"
    )


def find_firms(text: str, source: TextProfile, language: str) -> Iterator[Span]:
    """Yields companies with their legal forms, but without a first word that is a function word (`Our`) or announces a
    name (`Firma`).

    In a line of capitals, a name begins at the start of a clause, or after a number, a sign or a function word that is
    not a subject.
    """
    rules, is_shouted = find_rules(language), text.isupper()
    for match in re.finditer(f"(?i){write_firm(language)}" if is_shouted else write_firm(language), text):
        start, end = match.span()
        begins, before = is_sure_person(text, start, "") or re.search(BEFORE_FIRM, text[:start]) is not None, ""
        for word in list(re.finditer(r"[^\s&]+", match["name"]))[: None if is_shouted else 1]:
            is_ordinary = source.count_word(word[0]) >= COMMON_SHARE * source.texts
            is_ordinary = is_ordinary or re.fullmatch(rules.determiners or "(?!)", word[0].lower()) is not None
            if rules.naming and not is_shouted:  # where a name has the capital of any noun
                is_ordinary = source.find_usual_case(word[0]) == word[0].lower()
            if (is_ordinary and (begins or is_shouted)) or re.fullmatch(rules.naming or "(?!)", word[0]):
                start, before = match.start() + word.end() + len(" "), word[0]
        if is_shouted:
            form, (total, forms) = match["form"].rstrip("."), source.find_word(match["form"].rstrip("."))
            is_word = len(form) < SHORTEST_FORM or any(2 * n > total for other, n in forms if other == form.lower())
            if is_word or not (before or begins) or re.fullmatch(rf"(?i:{rules.subjects})", before or "-"):
                continue
        if start < match.start("form") - len(" "):
            yield Span(start, end, text[start:end], SpanKind.RARE_NAME)
