"""Reads numbers in amounts, times, identifiers and labels, and writes them in the target language.

`1,234.50` is read as 1234.5 and written `1.234,50` in German; `10:30 a.m.` becomes `10:30`, `A4-17` stays.

    NUMBER_WORDS        3 hrs., p. 17       3 Std., S. 17
    ERAS                AD 70               70 n. Chr.
    SPELLED_NUMBERS     six (6)             sechs (6)
    ROMAN_NUMBERS       Chapter IV          IV
    STREETS             12 Baker St.        unchanged, whichever of the two languages the street is in
    AMOUNTS             $5, 3×10⁸ m/s       with the target's separators, which `NumberNotation` learned from a corpus
    SCALED_AMOUNTS      $1.5 million        1,5 Millionen $
    TIMES, FULL_TIMES   5-6 PM, 14 Uhr      17:00-18:00, 14:00
    HOUR_PARTS          half past nine, ten past five, at six thirty    halb zehn, zehn nach fünf, um 6:30 Uhr
    IDENTIFIERS         v1.2.3, #123, [3]   unchanged, as are labels: version 3.1
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.carrying.spans import (
    BARE_DECIMAL,
    BEFORE,
    COMPARISON,
    COVERS,
    INNER_STOP,
    LETTER,
    MINUS,
    NUMBER_WITH_SIGNS,
    PLACEHOLDER_PATTERN,
    Context,
    Kind,
    Span,
    SpanKind,
)
from nmt_cli.carrying.syntax import REFERENCE
from nmt_cli.languages.cldr import fold_words, spell_cardinal, spell_number
from nmt_cli.languages.number_words import NumberWords
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import DASHES, HYPHENS, OPENING_QUOTES, PAUSES, RAISED_DIGITS, THIN_BLANKS

if TYPE_CHECKING:
    from nmt_cli.text.profile import CorpusProfile, NumberMarks


NUMBER = re.compile(rf"\d{{1,3}}(?:[ {THIN_BLANKS}]\d{{3}})+(?!\d)|\d+(?:[.,'’]\d+)*|{BARE_DECIMAL}")
FULL_HOUR = re.compile(r"(?<=\d:)00(?![\d:])")  # 9:00 is 9 a.m.
CLOCK = r"(?<!\d)\d{1,2}[:h][0-5]\d(?!\d)"
DECADE_YEARS, CENTURY = 10, 100
HALF_DAY = 12  # hours
LONGEST_WHOLE = 100  # digits; converting them takes time that grows with their square


class NumberToken(NamedTuple):
    """A number in a text."""

    text: str  # as it stands there
    groups: tuple[int, ...]  # what its separators part
    values: frozenset[Decimal]  # its possible values; exact, however many digits it has

    @property
    def whole(self) -> int | None:
        """The greatest possible whole value, or None; nobody spells a number of more than LONGEST_WHOLE digits."""
        short = (value for value in self.values if value.adjusted() < LONGEST_WHOLE)
        return max((int(value) for value in short if value == int(value)), default=None)


class NumberText(NamedTuple):
    """A text and its language code, for comparing numbers."""

    text: str
    language: str

    @classmethod
    def read(cls, text: str, language: str) -> NumberText:
        return cls(unicodedata.normalize("NFKC", drop_other_digits(text)), language)

    @property
    def numbers(self) -> list[NumberToken]:
        """The numbers written in digits of any script."""
        return [read_number(match[0]) for match in NUMBER.finditer(FULL_HOUR.sub("", self.text))]

    @property
    def tells_time(self) -> bool:
        """Whether a number of the text is a time of day."""
        clocks = filter(None, (CLOCK, find_rules(self.language).clock))
        return re.search("|".join(clocks), self.text, re.IGNORECASE) is not None

    @property
    def tells_full_hour(self) -> bool:
        """Whether the text gives an afternoon hour in digits, to which nobody adds a half hour in words: 14 Uhr."""
        hours = rf"(?<![\d:.])[12](?:{find_rules(self.language).clock})"
        heads = (match[0][:2] for match in re.finditer(hours, self.text, re.IGNORECASE))
        return any(head.isdecimal() and int(head) > HALF_DAY for head in heads)

    def list_readings(self, token: NumberToken, *, has_clock: bool) -> set[int]:
        """Returns the whole numbers that a number may mean: 70 for the 1970s, 17 for 5 p.m., 0 for 12 a.m."""
        readings = self.list_decade(token)
        hour = token.groups[0]
        if has_clock and hour <= 24 and len(token.groups) <= 2:
            readings |= {hour} | {hour + shift for shift in (HALF_DAY, -HALF_DAY) if hour + shift >= 0}
        return readings

    def list_decade(self, token: NumberToken) -> set[int]:
        """Returns the whole number and, for a decade, also the number without its century."""
        if token.whole is None:
            return set()
        endings = find_rules(self.language).decade_endings if token.whole % DECADE_YEARS == 0 else ""
        is_decade = endings and re.search(rf"{re.escape(token.text)}(?:{endings})\b", self.text)
        return {token.whole, token.whole % CENTURY} if is_decade else {token.whole}

    def drop_bare_decade(self, readings: Iterable[int], token: NumberToken) -> set[int]:
        """Returns the readings that this text may write in digits: 90 for the 1990s only as 90er, in German."""
        short = token.whole % CENTURY if token.whole is not None else 0
        is_bare = short != token.whole and not re.search(rf"(?<!\d){short}['’-]?[^\W\d_]", self.text)
        return {*readings} - {short} if is_bare and find_rules(self.language).decade_endings else {*readings}


def drop_other_digits(text: str) -> str:
    """Removes digits that are not numbers: those in placeholders and references (`&#39;`).

    Separates a single-character fraction from the number before it: 1½ is not 11/2.
    """
    text = PLACEHOLDER_PATTERN.sub(" ", text)
    text = text if text.isascii() else re.sub(r"(?<=\d)(?=[¼-¾⅐-⅞])", " ", text)
    return REFERENCE.sub("'", text) if "&#" in text else text


def read_number(text: str) -> NumberToken:
    """Returns a number with all its readings: separators may mark thousands, a fraction, or separate numbers."""
    parts = re.split(r"\D", text if text[0].isdigit() else f"0{text}")
    values: set[Decimal] = set()
    if len(parts) == 1 or (len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])):
        values.add(Decimal("".join(parts)))
    if len(parts) > 1:
        values.add(Decimal(f"{''.join(parts[:-1])}.{parts[-1]}"))
    return NumberToken(text, tuple(int(Decimal(part)) for part in parts), frozenset(values))


COUNT = r"\d{1,2}(?:\s?[-–]\s?\d{1,2})?(?!\d|[.,:/–-]\d|\s?%)"  # all other numbers are covered, as spans of their own


def find_number_words(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields numbers after `No.`, before a law (`Art. 3 GG`) and before abbreviated units of time; longer numbers are
    already spans.
    """
    written = list_number_words(context.languages)
    signs = find_rules(context.languages[0]).number_signs
    words = {signs.get("code")} - {*signs.get("number", "").split("|")}  # before small numbers: I said no. 5 came.
    for match in compile_number_words(context.languages).finditer(text) if written else ():
        sign, unit = match["sign"], match["unit"]
        if match["number"] and sign in words:
            continue
        word = written[sign or unit]
        number = match["number"] or match["count"] or ""
        yield Span(*match.span(), f"{word} {number}" if sign else f"{number} {word}", kind.name)


NUMBER_WORDS = Kind(SpanKind.NUMBER_WORD, signs=r"\d", search=find_number_words)


@cache
def list_number_words(languages: tuple[str, str]) -> dict[str, str]:
    """Returns the target's equivalent of each source abbreviation that stands next to a number."""
    source, target = map(find_rules, languages)
    written = {
        form: target.number_signs[sign].partition("|")[0]
        for sign, forms in source.number_signs.items()
        if sign in target.number_signs
        for form in forms.split("|")
    }
    for unit, forms in source.time_units.items():
        if unit in target.time_units:
            forms_without_stop = re.sub(r"\.(?=\||$)", "", forms).split("|")
            written |= dict.fromkeys(forms_without_stop, target.time_units[unit].partition("|")[0])
    return written


@cache
def compile_number_words(languages: tuple[str, str]) -> re.Pattern[str]:
    written = list_number_words(languages)
    rules = find_rules(languages[0])
    signs = {form for forms in rules.number_signs.values() for form in forms.split("|")}
    # No noun follows an era: 3 CE marks.
    no_noun = rf"(?!\s(?!{rules.determiners})[a-z]{{3,}}(?:{rules.inflections.get('', '(?!)')})\b)"
    units, sign = (
        "|".join(
            re.escape(form) + no_noun * (form.isupper() and form.isalpha() and not is_sign)
            for form in sorted(written, key=len, reverse=True)
            if (form in signs) is is_sign
        )
        for is_sign in (False, True)
    )
    return re.compile(
        rf"(?<![^\W_])(?P<sign>{sign or '(?!)'})\s?"
        rf"(?:(?P<number>{COUNT}(?: [A-Z]{{2,6}}(?!-))?)(?![^\W_])|(?=[{COVERS}]))"
        rf"|(?:(?<![\w.,:/–-])(?P<count>{COUNT})|(?<=[{COVERS}]))\s?(?P<unit>{units or '(?!)'})(?![^\W_])"
        rf"(?:{INNER_STOP})?"
    )


def find_eras(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields years with the era before them, which the target writes after them: `AD 70`."""
    source, target = map(find_rules, context.languages)
    for era in source.number_signs.keys() & target.time_units.keys():
        forms = "|".join(map(re.escape, source.number_signs[era].split("|")))
        years = rf"(?<![^\W_])(?:{forms})\s?(?P<year>\d{{1,4}}(?:[-–]\d{{1,4}})?)(?![\w-]|[.,]\d)"
        for match in re.finditer(years, text):
            written = f"{match['year']} {target.time_units[era].partition('|')[0]}"
            yield kind.make_span(match.start(), match[0])._replace(text=written)


ERAS = Kind(SpanKind.NUMBER_WORD, signs=r"\d", search=find_eras)


def find_spelled(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields numbers in words that are repeated in brackets as digits, as in contracts: `fourteen (14)`."""
    for match in kind.pattern.finditer(text):
        spelled = spell_cardinal(int(match["digits"]), context.languages[1])
        if spelled and fold_words(match["word"]) in spell_number(int(match["digits"]), context.languages[0]):
            written = spelled.capitalize() if match["word"][0].isupper() else spelled
            yield kind.make_span(match.start(), match[0])._replace(text=f"{written} ({match['digits']})")


SPELLED_NUMBERS = Kind(
    SpanKind.NUMBER_WORD,
    patterns=(r"(?<![\w-])(?P<word>[^\W\d_]+(?:-[^\W\d_]+)?) \((?P<digits>\d{1,4})\)",),
    cues=r"[^\W\d_] \(\d{1,4}\)",
    search=find_spelled,
)


NUMERAL = r"(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"


def find_roman_numbers(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields Roman numbers after a label; one that is also a word must end a clause: not `part I like`."""
    rules = find_rules(context.languages[0])
    for match in kind.pattern.finditer(text):
        is_number = match["is_last"] is not None or match["number"] not in rules.one_letter_words
        if is_number and match["label"].lower() in rules.labels:
            yield kind.make_span(match.start("number"), match["number"])


ROMAN_NUMBERS = Kind(
    SpanKind.CODE,
    patterns=(
        rf"(?<![^\W_])(?P<label>[^\W\d_]+)\.?[ \u00a0](?P<number>{NUMERAL})(?![\w'’-])(?P<is_last>(?=[^\s\w,]|$))?",
    ),
    cues=r"[ \u00a0][IVXLCDM]",
    search=find_roman_numbers,
)


def find_streets(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields streets recognised by a number or an abbreviation: `Oak Ave.`, `Hauptstr. 5`; not `a long street`."""
    return map(kind.read_match, compile_streets(context.languages).finditer(text))


STREETS = Kind(SpanKind.STREET, cues=r"\d|[^\W\d_]\.(?!\s*$)", search=find_streets)


@cache
def compile_streets(languages: tuple[str, str]) -> re.Pattern[str]:
    """Returns the pattern of street names in these languages."""
    patterns = dict.fromkeys(find_rules(language).streets or "(?!)" for language in languages)
    return re.compile("|".join(rf"(?<![^\W_])(?x:{pattern})" for pattern in patterns))


# Patterns as text: compiled at their first use.
BETWEEN_DIGITS = r"(?<=\d)[.,:'’\s]+(?=\d)"
WRITTEN = (
    r"(?<![^\W_])(?<![\d.,:/'’])(?<![^\W\d_]-)(?<![^\W\d_]\d-)"
    rf"\d+(?:[.,'’{THIN_BLANKS} ]\d+)*(?![.,:/'’]?\d)(?!-\d+-)"
)
MINUS_AS_HYPHEN = str.maketrans("−–", "--")
WORD_BEFORE_NUMBER = r"([^\W\d_]+)\.?[ \u00a0]$"
BRACKETED = r"(?:<[^<>]{1,200}>)"
# What a heading begins with, before its first letter: 1.2 Overview, <b>1.2</b> – Overview; but 2.5 million people
SECTION = (
    rf"(?:{BRACKETED}|\s){{0,9}}(?P<number>[1-9]\d?\.\d{{1,2}}){BRACKETED}{{0,9}}\s"
    rf"(?:{BRACKETED}|[\s{re.escape(HYPHENS + DASHES + OPENING_QUOTES)}]){{0,9}}(?P<letter>[^\W\d_])"
)
CAPTURED_TIME = r"(\d{1,2})(?:[:.]([0-5]\d))?"
HALF_OF_DAY = rf"[ {THIN_BLANKS}]?([ap])\.?m\b\.?"
ENGLISH = find_rules("en")  # whose halves of the day these are, in texts of all languages: a.m., p.m.
TO, FROM = ENGLISH.day_phrases["to"], ENGLISH.day_phrases["from"]
UNTIL = rf"(?i: ?[-–] ?| (?:{TO}) )"
TIME_OF_DAY = rf"(?i)([(\[]?)(?:{CAPTURED_TIME}(?:{HALF_OF_DAY})?({UNTIL}))?{CAPTURED_TIME}{HALF_OF_DAY}([)\]]?)"
END_OF_RANGE = rf"(?i) \w{{2,5}} {CAPTURED_TIME}[ {THIN_BLANKS}]?([ap])\.?m\b"  # behind its beginning: 5 to 6 p.m.
GROUPS = rf"\d{{1,3}}(?:([.,'’{THIN_BLANKS} ])\d{{3}})(?:\1\d{{3}})*"
NEAR = 20  # characters behind a number that may say what it is: 5 to 6 p.m.


SCALE_SIGNS = {"k": "k", "m": "m", "bn": "bn", "b": "bn"}  # behind an amount of money
SCALE_FORMS = "[kKmMB]|bn"
SHORT_SCALE = 2  # letters of an abbreviation that may be something else where there is no money: 55101 MN
SCALE = rf"(?<=\d)(?:{SCALE_FORMS})(?![{LETTER}])"


class NumericKind(Kind):
    """A kind of span made of digits, written with the target's separators unless it is a version."""

    def write(self, span: Span, text: str, context: Context) -> str:
        is_part = re.match(r"[\d.]+[a-z]?\(", span.text)  # of a law: 4.1(a)
        is_name = is_part or is_label(text, span.start, context.languages[0], span.end)
        if context.write_number is None or is_name or context.is_version(text, span.start, span.end):
            return span.text
        return context.write_number(span.text, text[span.end : span.end + NEAR])


class NumberNotation(NamedTuple):
    """The separators known in source numbers, and how the target writes them."""

    decimal: str | None  # of the source
    thousands: str | None  # of the source
    marks: NumberMarks
    languages: tuple[str, str] = ("", "")

    @classmethod
    def from_profile(cls, profile: CorpusProfile | None, languages: tuple[str, str]) -> NumberNotation | None:
        """Returns the notation learned from a corpus; None if it shows nothing about numbers."""
        if profile is None or profile.source is None:
            return None
        return cls(profile.source.decimal_mark, profile.source.thousands_mark, profile.marks, languages)

    def convert(self, text: str, following: str = "") -> str:
        """Returns an amount or a number in the target's notation; unchanged if the corpus does not show it.

        5 p.m. becomes 17:00 in a language with a 24-hour day, and so does 5 if `following` is ` to 6 p.m.`.
        """
        source, rules = map(find_rules, self.languages)
        time = convert_time(text, following) if self.languages[1] else None
        if time is not None and rules.hours == 24:
            return time
        is_money = not frozenset(CURRENCY_SIGNS).isdisjoint(text)
        is_scaled = is_money or re.match(rf"\s(?:{source.counted or '(?!)'})\b", following)
        words = write_scale_words(self.languages, is_money=is_money) + (f"|{SCALE}" if is_scaled else "")
        text = re.sub(words, partial(write_scale, list_scales(self.languages)), text)
        if not re.fullmatch(BARE_DECIMAL, text) or precedes_measure(following, source.measures):
            text = re.sub(rf"(?={BARE_DECIMAL})(?=[.{self.decimal or ''}])", "0", text)
        text = re.sub(WRITTEN, lambda match: self.convert_number(match[0]), text)
        return re.sub(PRICE, partial(write_price, rules.price), text) if is_money and rules.price else text

    def convert_number(self, number: str) -> str:
        """Converts the separators of a number; either both change or neither does."""
        whole, decimal, fraction = split_number(number, self.decimal, self.thousands)
        thousands = next((character for character in whole if not character.isdigit()), "")
        new_decimal = self.marks.find_target_decimal(decimal) if decimal else ""
        new_thousands = self.marks.find_target_thousands(thousands) if thousands else ""
        if new_decimal is None or new_thousands is None or (new_decimal and new_decimal == new_thousands):
            return number
        return (whole.replace(thousands, new_thousands) if thousands else whole) + new_decimal + fraction


@cache
def list_scales(languages: tuple[str, str]) -> dict[str, list[str]]:
    """Returns the target's words for a thousand and more, by the words and signs of the source."""
    source, target = (find_rules(language).scales for language in languages)
    words = {form.lower(): key for key, forms in source.items() for form in forms.split("|")}
    return {form: target[key].split("|") for form, key in (SCALE_SIGNS | words).items() if key in target}


@cache
def write_scale_words(languages: tuple[str, str], *, is_money: bool) -> str:
    """Returns the pattern of a word for a thousand or more after a number: `million`, `Mio.`; `bn` only of money."""
    abbreviations = find_rules(languages[0]).abbreviations
    words = sorted({*list_scales(languages)} - {*SCALE_SIGNS}, key=len, reverse=True)
    forms = (word + r"\.?" * (word in abbreviations) for word in words if is_money or len(word) > SHORT_SCALE)
    return rf"(?<=\d)[ {THIN_BLANKS}-]?(?i:{'|'.join(forms) or '(?!)'})(?![{LETTER}(])"


def write_scale(scales: dict[str, list[str]], match: re.Match[str]) -> str:
    """Returns the target's word for a scale word or sign after a number; after 1, the second of its forms."""
    form = match[0].strip(f" {THIN_BLANKS}-.")
    words = scales.get(form.lower(), [])
    if not words or form.lower() in words[2:]:
        return match[0]
    word = words[re.sub(r"\D", "", match.string[: match.start()]) == "1"]
    return f" {word.upper() if form.isupper() and len(form) > 2 else word}"


def write_price(pattern: str, match: re.Match[str]) -> str:
    """Returns a price with its currency sign placed and spaced as in the pattern of a language."""
    return match["minus"] + pattern.replace("#", match["amount"]).replace("¤", match["before"] or match["after"])


def convert_time(text: str, following: str) -> str | None:
    """Converts a 12-hour time, or a range of them, to 24 hours; None for anything else.

    The text may also begin a range whose end is in `following`.
    """
    beginning = re.fullmatch(CAPTURED_TIME, text)
    if beginning is not None:
        end = re.match(END_OF_RANGE, following)
        return write_time(beginning[1], beginning[2], end[1], end[3]) if end else None
    time = re.fullmatch(TIME_OF_DAY, text)
    if time is None:
        return None
    opening, first_hour, first_minute, first_half, dash, hour, minute, half, closing = time.groups()
    until = (first_hour, first_half) if first_half else (hour, half)
    first = write_time(first_hour, first_minute, *until) if first_hour else ""
    last = write_time(hour, minute, hour, half)
    between = "–" if any(map(str.isalpha, dash or "")) else dash or ""
    return f"{opening}{first}{between}{last}{closing}" if first is not None and last is not None else None


def write_time(hour: str, minute: str | None, last: str, half: str) -> str | None:
    """Returns a time in 24 hours, in the same half of the day as the `last` hour or in the one before.

    From 9 to 5 p.m. is from 9:00 to 17:00. None for an hour that does not exist in a 12-hour clock.
    """
    if not (0 < int(hour) <= HALF_DAY and 0 < int(last) <= HALF_DAY):
        return None
    is_in_other_half = int(hour) % HALF_DAY > int(last) % HALF_DAY
    return f"{int(hour) % HALF_DAY + HALF_DAY * ((half in 'pP') != is_in_other_half)}:{minute or '00'}"


def is_label(text: str, start: int, language: str, end: int = 0) -> bool:
    """Whether the number at `start` is a label, whose marks must not change: `version 3.1`, or `3.1` in a heading.

    The words of a heading begin at `end` or later, so `2.5 GB` is not one.
    """
    section = re.match(SECTION, text)
    if section is not None and section.start("number") == start and section["letter"].isupper():
        return section.start("letter") >= end
    word = re.search(WORD_BEFORE_NUMBER, text[max(0, start - 24) : start])
    return word is not None and word[1].lower() in find_rules(language).labels


def split_number(number: str, decimal: str | None, thousands: str | None) -> tuple[str, str, str]:
    """Splits a number into its whole part, decimal mark and fraction; the last two may be empty.

    `decimal` and `thousands` are the usual marks of its side. Anything but a plain number, such as a date or a version,
    is left in one piece, so that its marks stay.
    """
    marks = re.sub(r"\d", "", number)
    if not marks:
        return number, "", ""
    unchanged = "", "", number  # all of it counts as the fraction, whose marks stay
    # 1. The last mark is that of the decimals if it is another one than those before it.
    whole, last, fraction = re.split(r"([^\d])(?=\d+$)", number)
    grouped = re.fullmatch(GROUPS, number)
    if len(marks) > 1:
        is_decimal = last in ".," and (groups := re.fullmatch(GROUPS, whole)) is not None and groups[1] != last
        return (whole, last, fraction) if is_decimal else ((number, "", "") if grouped else unchanged)
    # 2. A single mark before three digits may be either: what is usual decides.
    if last == decimal and last != thousands:
        return whole, last, fraction
    if grouped and whole != "0" and (last == thousands or last not in ".,"):
        return number, "", ""
    return unchanged


def make_number_key(text: str) -> str:
    """Returns a key of a number or amount that ignores separators, spaces and sign positions, which vary by language.

    >>> make_number_key("1,000.5 kg") == make_number_key("1 000,5kg")
    True
    """
    key = "".join(
        re.sub(BETWEEN_DIGITS, "", re.sub(f"(?={BARE_DECIMAL})", "0", text)).translate(MINUS_AS_HYPHEN).split()
    )
    return re.sub(rf"^({CURRENCY})([\d-]+)", r"\2\1", key)


POWER = rf"[⁺⁻]?[{RAISED_DIGITS}]{{1,4}}"
QUANTITY = rf"{NUMBER_WITH_SIGNS}(?: ?[x×·⋅] ?10{POWER})?"
SIGN_BEFORE = rf"{COMPARISON}?[~≈{MINUS}]?"
QUANTITIES = rf"{QUANTITY}(?:(?:[-–]| [-–] ){QUANTITY})?"
AMOUNT = rf"{SIGN_BEFORE}{QUANTITIES}"
CURRENCY_SIGNS = "$€£¥₹₽₩₪₫₴₺₦฿¢₿"
CURRENCY = rf"(?:US|AU|CA|HK|NZ|R)?[{CURRENCY_SIGNS}]"
# A price: $1.5M, 5–10 €. A dollar before one digit alone may be code.
PRICE = (
    rf"(?!\$\d(?![\d.,kKmMbB –-]))(?:(?P<before>{CURRENCY}) ?)?"
    rf"(?P<minus>{SIGN_BEFORE})(?P<amount>{QUANTITIES}(?:(?:{SCALE_FORMS})(?![{LETTER}])| [^\W\d_]+)?)"
    rf"(?(before)|[ {THIN_BLANKS}]?(?P<after>(?!¢){CURRENCY}))"
)
CURRENCIES = "EUR|USD|GBP|JPY|CHF|CNY|INR|RUB|BRL|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|TRY|ZAR|KRW|MXN|SGD|HKD|BTC"
# A single letter after a space may be a word of its own ("5 A students"), so only letters that are common units count.
UNITS = (
    "km/h|m/s|mph|kWh|MWh|kW|MW|GW|kV|mV|mA|mAh|kHz|MHz|GHz|Hz|kPa|hPa|bar|kcal|kJ|dB|[kMGT]i?[Bb](?:/s|it/s)?|[kMG]bps"
    "|[kcmµμn]m[²³23]?|m[²³]|ha|[kmµμ]g|[mcd]l|mL|lbs?|oz|ft|yd|min|[mµμn]s|px|pt|rpm|dpi|fps|ppm"
)
# Units joined to one: 5 kg/m², 8 l/100 km, 250 N·m, 3 €/h. The first one is known, the others may be any short word.
FACTOR = (
    rf"(?:[{CURRENCY_SIGNS}]|{UNITS}|k?N|[kM]?J|[mkM]?W|[MG]?Pa|[mk]?mol|cal|Wh|[kM]?Ω|[µμ]l|[mglLhsVtKU]|rad|lm)"
    rf"(?:{POWER})?"
)
JOINED = rf"[/·⋅](?:\d{{1,3}} ?)?°?[A-Za-zµμΩ]{{1,6}}(?:{POWER}[A-Z]?)?"
AMOUNTS = NumericKind(
    SpanKind.AMOUNT,
    patterns=(
        rf"(?<![{LETTER}.,'])\d{{1,2}}['′] ?\d{{1,2}}(?:[\"″]|'')",  # feet and inches: 6'2"
        # A price without cents: 5,- or 5,– €.
        rf"(?<![{LETTER}.,])\d{{1,9}}(?:\.\d{{3}}){{0,3}},[-{DASHES}]{{1,2}}(?: ?[{CURRENCY_SIGNS}])?(?![\w-])",
        rf"(?<![{LETTER}]){AMOUNT}[ {THIN_BLANKS}]?{FACTOR}(?:{JOINED}){{1,3}}(?![{LETTER}/])",
        rf"(?<![{LETTER}]){CURRENCY} ?{AMOUNT}(?:(?:{SCALE_FORMS})(?![{LETTER}]))?"
        rf"(?:/[A-Za-z]{{1,6}}(?![{LETTER}/]))?",
        rf"(?<![{LETTER}.,])(?:\d{{1,20}}(?:[.,]\d{{1,20}})? ?[x×·⋅] ?)?\d{{1,20}}{POWER}",
        rf"(?<![{LETTER}])(?:{CURRENCIES})[ {THIN_BLANKS}]?{AMOUNT}",
        rf"(?<![{LETTER}]){AMOUNT}(?:[ {THIN_BLANKS}]?(?:[{CURRENCY_SIGNS}]|[%‰](?![{LETTER}])"
        rf"|°(?:[CFK](?![{LETTER}]))?"
        rf"|(?:{CURRENCIES}|{UNITS}|[mglhVW])(?![{LETTER}]))|[AKJNT](?![{LETTER}])|[ {THIN_BLANKS}]s(?![{LETTER}'’]))",
    ),
    signs=r"\d",
)


def precedes_measure(text: str, measures: str) -> bool:
    """Whether a text begins with a measure, possibly after a second number: ` and .75 inches` after `.5`."""
    known = rf"(?:{UNITS})(?![{LETTER}])|[%‰{CURRENCY_SIGNS}]|{measures or '(?!)'}"
    return re.match(rf"(?:\s\w{{1,4}}\s[\d.,]+)?[\s-]?(?:{known})", text) is not None


@cache
def compile_scaled(languages: tuple[str, str]) -> re.Pattern[str]:
    of_money, words = (write_scale_words(languages, is_money=is_money) for is_money in (True, False))
    money = rf"(?:{CURRENCY}|{CURRENCIES})"
    price = rf"(?:{CURRENCY} ?{AMOUNT} ?[-–] ?)?{money} ?{AMOUNT}{of_money}"
    number = rf"{AMOUNT}(?:{of_money}\.?[ {THIN_BLANKS}]?{money}(?!\w)|{words})"
    return re.compile(rf"(?<![{LETTER}/])(?:{price}|{number})(?:(?<!\.)|(?!\s*$))")


def find_scaled(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields numbers with a word that multiplies them and any currency: `$1.5 million`, `2 Mrd.`"""
    return map(kind.read_match, compile_scaled(context.languages).finditer(text) if context.write_number else ())


SCALED_AMOUNTS = NumericKind(SpanKind.AMOUNT, cues=rf"\d[ {THIN_BLANKS}-]?[^\W\d_]{{2}}", search=find_scaled)

# What a number alone must be to count as an amount, whose marks may change: 12,500, -3.5, 1,000–1,500.
WHOLE = rf"(?:[1-9]\d{{0,2}}(?:[.,'’{THIN_BLANKS}]\d{{3}}){{1,6}}|[1-9]\d{{0,19}}|0)"
ALONE = rf"[~≈{MINUS}]?{WHOLE}(?:[.,]\d{{1,20}})?"
ALONE_RANGE = rf"{ALONE}[-–](?:\d{{1,20}}[.,]\d{{1,20}}|[1-9]\d{{0,2}}(?:[.,]\d{{3}}){{1,6}})"
BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
# And what it then still may not be: the address of a machine, a month of a year.
NO_AMOUNT = rf"{BYTE}(?:\.{BYTE}){{3}}|(?:19|20)\d\d[.](?:0?[1-9]|1[0-2])"
MARKED_NUMBER = rf"\d[.,'’{THIN_BLANKS} ]\d|{BARE_DECIMAL}"


def are_amounts(text: str, spans: Sequence[Span]) -> bool:
    """Whether a text without letters consists of amounts with a currency, a unit or `%`, or of one plain quantity.

    Versions, dates, times, addresses, telephone numbers, and lists of numbers without units do not count.
    """
    masked = [span for span in spans if not span.is_extracted]
    if not masked or any(span.kind is not SpanKind.AMOUNT for span in masked[1:]):
        return False
    first = masked[0]
    if first.kind is SpanKind.AMOUNT or len(masked) > 1:
        return first.kind is SpanKind.AMOUNT
    number = text[first.start : first.end].strip("()[]")
    rest = text[: first.start] + text[first.end :]
    if first.kind is not SpanKind.NUMBER or any(map(str.isdigit, rest)) or re.fullmatch(NO_AMOUNT, number):
        return False
    return re.fullmatch(f"{ALONE_RANGE}|{ALONE}", number) is not None


HOUR_AND_MINUTE = r"\d{1,2}(?:[:.]\d{2})?"
DOTTED = rf"{HOUR_AND_MINUTE}[ {THIN_BLANKS}]?(?i:[ap]\.m\.)"
AM_OF_GERMAN = find_rules("de").am_before  # which is no half of the day, in texts of all languages: 3 am Tisch
AM_OR_PM = rf"[ {THIN_BLANKS}]?(?:[ap]m|[AP]M|[ap]\.m|[AP]\.M)(?![{LETTER}])(?!{AM_OF_GERMAN})"
TIMES = NumericKind(
    SpanKind.TIME,
    patterns=(
        # Times of day, with the half of the day that they are in: 10:30 a.m., 5 PM; a full stop may end the sentence
        # too. Both ends of a range are in it: 5-6 p.m., 5 to 6 p.m.
        rf"{BEFORE}{HOUR_AND_MINUTE}(?= (?:{TO}|{ENGLISH.list_links}) {HOUR_AND_MINUTE}{AM_OR_PM})",
        # A time alone, such as a cell of a table, is no sentence; nor is an entry: Mon-Fri, 9 a.m. to 6 p.m.
        rf"(?:^|(?<=[{PAUSES}|] )|(?<=\b[A-Z][a-z][a-z] ))(?:(?:{DOTTED}|{HOUR_AND_MINUTE}){UNTIL})?{DOTTED}$",
        # Both ends of a range may name their halves: 9am-5pm, 9:30 a.m. – 5 p.m., and without "from" 9 a.m. to 5 p.m.
        rf"{BEFORE}(?<!(?i:{FROM}) )(?:{DOTTED}|{HOUR_AND_MINUTE}[ {THIN_BLANKS}]?(?i:[ap]m)){UNTIL}"
        rf"{HOUR_AND_MINUTE}{AM_OR_PM}(?:(?<=\.[mM])\.(?!\s*$))?",
        rf"{BEFORE}(?:{HOUR_AND_MINUTE} ?[-–] ?)?{HOUR_AND_MINUTE}{AM_OR_PM}"
        rf"(?:(?<=\.[mM])\.(?!\s*$|\s+[{OPENING_QUOTES}]?[A-ZÀ-Þ])"
        rf"|(?<=\.M)\.(?=\s(?=[A-Z]{{2}})(?i:{TO}|{ENGLISH.list_links})\b))?",
    ),
    signs=r"\d",
)


def find_full_times(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields 24-hour times marked by a word: `14 Uhr`, `9–17 Uhr`; but not `9 Uhr`, which may be in the evening and
    which a network can translate.
    """
    word, target_word = (find_rules(language).clock_word for language in context.languages)
    pattern = rf"{BEFORE}(?:{CAPTURED_TIME}( ?[-–] ?))?{CAPTURED_TIME}\s(?i:{word})(?![{LETTER}])"
    for match in re.finditer(pattern, text) if word else ():
        first_hour, first_minute, dash, hour, minute = match.groups()
        if dash or minute or int(hour) > HALF_DAY:
            first = f"{first_hour}:{first_minute or '00'}{dash}" if dash else ""
            written = f"{first}{hour}:{minute or '00'}"
            yield Span(*match.span(), f"{match[0][: -len(word)]}{target_word}" if target_word else written, kind.name)


FULL_TIMES = Kind(SpanKind.FULL_TIME, cues=r"\d\s[^\W\d_]{3}", search=find_full_times)


def find_hour_parts(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields quarter and half hours in words; networks confuse those before an hour with those after it."""
    source, target = (find_rules(language).hour_parts for language in context.languages)
    offsets = {
        form.lower(): int(minutes)
        for minutes, forms in source.items()
        if minutes not in ("to", "past")
        for form in forms.split("|")
    }
    forms = "|".join(offsets) or "(?!)"
    for match in re.finditer(rf"(?i)(?<!\w)(?P<part>{forms})\s(?P<hour>[^\W\d_]+)", text) if target else ():
        minutes, word = offsets[match["part"].lower()], fold_words(match["hour"])
        hour = next((hour for hour in range(1, HALF_DAY + 1) if word in spell_number(hour, context.languages[0])), 0)
        if hour and str(minutes) not in target:  # half past nine is halb zehn
            hour, minutes = (hour - 1 + (1 if minutes > 0 else -1)) % HALF_DAY + 1, -minutes
        part = target.get(str(minutes), "").partition("|")[0]
        if hour and part:
            part = part[0].upper() + part[1:] if text[0].isupper() and not match.start() else part
            written = f"{part} {spell_cardinal(hour, context.languages[1])}"
            written = written.upper() if match[0].isupper() else written
            clock_word = find_rules(context.languages[1]).clock_word  # halb zehn, which is no time with "Uhr"
            yield kind.make_span(match.start(), written)._replace(end=match.end(), covers=clock_word)


def find_minutes(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields times with minutes in words: `ten past five`; `five to nine` and `six thirty` only after a word like
    `at`.
    """
    source, target = map(find_rules, context.languages)
    if not (source.hour_parts and target.hour_parts):
        return
    for match in compile_minutes(context.languages[0]).finditer(text):
        side = (match["side"] or "").lower()
        is_before = side in source.hour_parts["to"].lower().split("|")
        is_clock = side in ("", source.clock_word.lower())
        if source.hour_cues and not match["cue"] and (is_before or not side):
            continue
        numbers = [NumberWords.load(context.languages[0]).read(fold_words(match[name])) for name in ("first", "second")]
        minutes, hour = numbers[::-1] if is_clock else numbers
        if (
            minutes is None
            or hour is None
            or not (0 < hour <= (2 * HALF_DAY if side else HALF_DAY) and 0 < minutes < 60)
        ):
            continue
        if is_clock:
            written = f"{hour}:{minutes:02} {target.clock_word}".rstrip()
        else:
            words = (spell_cardinal(number, context.languages[1]) for number in (minutes, hour))
            written = f" {target.hour_parts['to' if is_before else 'past'].partition('|')[0]} ".join(words)
        written = written[0].upper() + written[1:] if text[0].isupper() and not match.start("first") else written
        written = written.upper() if match["first"].isupper() and not is_clock else written
        yield kind.make_span(match.start("first"), written)._replace(end=match.end(), covers=target.clock_word)


@cache
def compile_minutes(language: str) -> re.Pattern[str]:
    """Returns the pattern of minutes with an hour, in words."""
    rules = find_rules(language)
    words = {spell_cardinal(number, language) for number in range(1, 60)}
    number = "|".join(sorted((re.sub("[- ]", "[- ]", word) for word in words), key=len, reverse=True))
    sides = "|".join(filter(None, (rules.hour_parts["to"], rules.hour_parts["past"], rules.clock_word)))
    return re.compile(
        rf"(?i)(?<![\w-])(?:(?P<cue>{rules.hour_cues or '(?!)'})\s)?"
        rf"(?P<first>{number})\s(?:(?P<side>{sides})\s)?(?P<second>{number})(?![\w-])"
    )


HOUR_PARTS = Kind(
    SpanKind.FULL_TIME,
    cues=r"[^\W\d_]{3}\s[^\W\d_]{2}",
    search=lambda *texts: sorted((*find_hour_parts(*texts), *find_minutes(*texts)), key=lambda span: span.start),
)


MIXED, ITEMS = (
    r"[A-Za-z0-9]{0,40}",
    r"(?:\((?:\d{1,3}|[A-Za-z]|[ivx]{2,5}|[IVX]{2,5})\)){1,5}",
)  # rests of codes, and of articles
HEXADECIMAL = r"[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6}"
LENGTH = rf"(?:\d{{1,9}}(?:[.,]\d{{1,9}})?|{BARE_DECIMAL})"
IDENTIFIERS = NumericKind(
    SpanKind.IDENTIFIER,
    patterns=(
        # Shortened addresses of machines (RFC 4291): fe80::1, ::1, fe80::/10.
        rf"(?<![\w:])(?:{HEXADECIMAL}::(?:{HEXADECIMAL})?|::{HEXADECIMAL})(?:/\d{{1,3}})?(?!:?\w|::)",
        # Numbers of orders and colours, paragraphs, powers of ten: #123, #1,234, #ff0000, § 5a, 1e-5.
        rf"(?<![\w&#])#(?:\d{{1,3}}(?:[.,]\d{{3}})+|\d{{1,12}}(?:-\d{{1,12}}){{0,4}}|[0-9A-Fa-f]{{6}})(?![{LETTER}])",
        rf"(?:§§?|¶|№)[ {THIN_BLANKS}]?\d{{1,5}}[a-z]?(?![{LETTER}])",
        rf"{BEFORE}\d{{1,20}}+(?:[.,]\d{{1,20}}+)?[eE][{MINUS}]\d{{1,4}}(?![{LETTER}])",
        # Parts of an article of a law: 5(1)(a), 12b(iv), 4.1(a)–(c).
        rf"{BEFORE}\d{{1,5}}(?:\.\d{{1,3}}){{0,3}}[a-z]?{ITEMS}(?:[{re.escape(HYPHENS + DASHES)}]{ITEMS})?(?!\w)",
        # Digits, then one small letter: 10k, 1080p, 12a, 2x; but 5e is an ordinal in French, and the 20s are a decade.
        rf"{BEFORE}\d{{1,12}}(?:[.,]\d{{1,9}})?(?![ap]\.m)[a-df-rt-z](?![{LETTER}'’])",
        # A number alone in brackets keeps them: [12], [3, 4], (34); but (030) 1234 is a telephone number. At the end of
        # a text, brackets are taken off as its frame.
        r"\[\d{1,4}(?: ?[-–,] ?\d{1,4}){0,5}\](?!\s*$)|(?<!\w)\(\d{1,4}\)(?![ -]?\d)(?!\w)",
        # Measures: 10 x 20 x 30 cm.
        rf"{BEFORE}{LENGTH}(?: ?[x×] ?{LENGTH}){{1,3}}(?: ?(?:[kcmµ]?m|px|in|ft|[mcd]?l|[kmµ]?g))?(?![{LETTER}])",
        # A code in brackets is one with them: tools for translators write what they hide as `[X7X]`.
        rf"\[(?:[A-Za-z]{{1,12}}\d|\d{{1,12}}[A-Z]){MIXED}\]",
        # Postcodes of Britain and Canada, whose halves a network swaps: SW1A 2AA, K1A 0B1.
        rf"{BEFORE}(?:[A-Z]{{1,2}}\d[A-Z\d]? \d(?!AM|PM)[A-Z]{{2}}|[A-Z]\d[A-Z] \d[A-Z]\d)(?![{LETTER}\d])",
        # Numbers of books, accounts and articles, with what they are called.
        r"(?:ISBN|ISSN)(?:-1[03])?:?[ -]?\d(?:[ -]?\d){5,15}(?:[ -]?[Xx])?(?![\dA-Za-z])",
        rf"{BEFORE}[A-Z]{{2}}\d{{2}}(?: ?[A-Z0-9]{{4}}){{2,7}}(?: ?[A-Z0-9]{{1,3}})?(?![{LETTER}])",
        # Versions before they are final: v1.2.3-beta, 1.0.0-rc.1
        rf"{BEFORE}v?\d{{1,5}}(?:\.\d{{1,5}}){{2}}-[a-z]{{1,12}}(?:\.?\d{{1,5}})?(?![{LETTER}])",
        # Letters, then digits: A4-17, MP3, v1.2.3, COVID-19; digits, then capitals: 3D, 4K, 12A; mixed: 4x4, 3f2a.
        rf"{BEFORE}(?:[A-Za-z]{{1,12}}|[A-Z]{{1,12}}-)\d{MIXED}(?:[-./_]\d{MIXED}|[-_][A-Z]{{1,20}}){{0,8}}(?![{LETTER}])",
        rf"{BEFORE}\d{{1,12}}(?!(?:AM|PM|ST|ND|RD|TH)(?![{LETTER}]))[A-Z][A-Z0-9]{{0,20}}(?:-[A-Z0-9]{{1,20}}){{0,4}}(?![{LETTER}])",
        # The same behind a hyphen or a slash: 77-XC, 12/34-B; but words in capitals are translated: 10-DAY, 12/JUNE.
        rf"{BEFORE}\d{{1,12}}(?:[./-]\d{{1,12}}){{0,4}}[-/](?!(?:AM|PM|ST|ND|RD|TH)(?![{LETTER}]))"
        rf"(?:[A-Z]{{1,2}}|(?<=\d{{4}}.)[A-Z]{{3,5}}|[A-Z]{{1,5}}\d{MIXED})(?:[-/]\d{MIXED}){{0,4}}(?![{LETTER}]|[-/][{LETTER}])",
        rf"{BEFORE}\d{{1,12}}[A-Za-z]{{1,12}}\d{MIXED}(?:-{MIXED}){{0,6}}(?![{LETTER}])",
        # Addresses of machines in hexadecimal digits.
        r"(?<![\w:])(?:[0-9A-Fa-f]{1,4}::?){2,8}[0-9A-Fa-f]{1,4}(?![\w:])",
    ),
    signs=r"\d:",
)
