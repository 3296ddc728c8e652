"""What nmt finds in the texts of a language, and how it writes it: the cases of `tests/cases`, a file per language.

A file is named by its language, by a pair of languages, or `any`, where the language says nothing. Each case is a
text (or a text with its translation) and what is found in it. A new language brings its file:

    [[group]]
    name = "dates are found"
    finds = "dates"
    cases = [["He came on March 12.", ["March 12"]]]
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.carrying.dates import DATES, WEEKDAYS, find_dates
from nmt_cli.carrying.glossary import Glossary
from nmt_cli.carrying.kinds import IN_ANY_TEXT, KINDS, find_spans, write_spans
from nmt_cli.carrying.names import find_acronyms
from nmt_cli.carrying.number_values import (
    compare_numbers,
    find_ending,
    find_lost_endings,
    list_lost_words,
    list_uncertain,
)
from nmt_cli.carrying.numbers import FULL_TIMES, HOUR_PARTS, NumberNotation, is_label
from nmt_cli.carrying.people import PEOPLE, RARE_PLACE_COUNT, find_persons, find_places
from nmt_cli.carrying.prose_marks import EMPHASIS
from nmt_cli.carrying.spans import NO_CONTEXT, Attempt, Context, Span, SpanKind, cover_spans
from nmt_cli.carrying.syntax import ACCELERATORS, move_to_word, split_choice
from nmt_cli.languages.codes import guess_language
from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.characters import Characters
from nmt_cli.rewriting.marks import FinalMarks, choose_marks, find_outer_quotes
from nmt_cli.rewriting.protocol import Written
from nmt_cli.rewriting.spelling import Abbreviations, drop_gender_marks
from nmt_cli.text.normalise import normalise
from nmt_cli.text.profile import TextProfile
from nmt_cli.translation.checks.strange_words import check_negation, find_copied, find_invented
from nmt_cli.translation.checks.table import check_pair
from nmt_cli.translation.checks.words import CheckContext
from nmt_cli.translation.config import LineOptions
from nmt_cli.translation.placement.units import find_units
from nmt_cli.translation.segmentation.dividers import frame_segment
from nmt_cli.translation.segmentation.insets import Inset, find_bracketed, find_speech
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.segments import Segment, cut, find_sentence_starts, join_segments
from support.names import CONTEXT, ENGLISH_FINDER, ENGLISH_WORDS, GERMAN_FINDER, GERMAN_WORDS, list_names
from support.rewriting import (
    ABBREVIATED,
    ENGLISH,
    change,
    make_caser,
    make_slips,
    model_text,
    read,
    read_profile,
)

CASES = Path(__file__).parents[1] / "cases"
READER = LineReader(LineOptions(), copies_placeholders=True)
FREQUENT = [("We live in Austria.", "Wir leben hier.")] * RARE_PLACE_COUNT
LETTERS = {"eng": ENGLISH + "./TOES" * 3, "deu": "Er sagte: „Ja, daß die Ähren – fünf Mal – überm Löß wachsen.“ "}
LETTERS["fra"] = "Il a dit : « Ça m’est égal, n’est-ce pas ? » — Où ? "
SURNAMES = {
    "eng": [("A brown dog.", "Ein brauner Hund."), ("I know Tom Jackson.", "Ich kenne Tom Jackson.")],
    "deu": [("Der Koch isst Brot.", "The cook eats bread.")],
}
FINDERS_OF_NAMES = {"eng": ENGLISH_FINDER, "deu": GERMAN_FINDER}

Languages = tuple[str, str]


def find_texts(text: str, languages: Languages) -> list[str]:
    return [span.text for span in find_spans(text)]


def find_numbers(text: str, languages: Languages) -> list[str]:
    spans = find_spans(text)
    assert all(span.is_number for span in spans)
    return [span.text for span in spans]


def find_written(text: str, languages: Languages) -> list[str]:
    return [span.text for span in find_spans(text, Context(languages), KINDS)]


def find_streets(text: str, languages: Languages) -> list[str]:
    spans = find_spans(text, Context(languages), KINDS)
    return [span.text for span in spans if span.kind is SpanKind.STREET]


def find_notes(text: str, languages: Languages) -> list[str]:
    notes = [span for span in find_spans(text, NO_CONTEXT, KINDS) if span.kind is SpanKind.NOTE]
    assert all(span.is_extracted for span in notes)
    return [span.text for span in notes]


def find_marks(text: str, languages: Languages) -> list[str]:
    covered = cover_spans(text, find_spans(text))
    return [text[: span.start] + "|" + text[span.start :] for span in EMPHASIS.find(covered, NO_CONTEXT)]


def pair(text: str, spans: Iterable[Span]) -> list[list[str]]:
    """What stands in the text, and how the target writes it."""
    return [[text[span.start : span.end], span.text] for span in spans]


def find_kind(kind: Any) -> Callable[[str, Languages], list[list[str]]]:
    """What one kind finds; a text that its guard refuses has none."""

    def find(text: str, languages: Languages) -> list[list[str]]:
        context = Context(languages)
        written = pair(text, kind.find(text, context))
        assert kind.may_be_in(text, context) or not written
        return written

    return find


def find_people(text: str, languages: Languages) -> list[list[str]]:
    covered, context = cover_spans(text, find_spans(text, kinds=IN_ANY_TEXT)), Context(languages)
    people = pair(text, PEOPLE.find(covered, context))
    assert PEOPLE.may_be_in(text, context) or not people
    return people


@cache
def learn_places() -> TextProfile:
    return model_text([*FREQUENT, ("We eat turkey and we like oral exams.", "Wir essen.")]).source


def list_places(text: str, languages: Languages) -> list[list[str]]:
    return pair(text, find_places(text, languages, learn_places()))


def list_dates(text: str, languages: Languages) -> list[str]:
    return [text[date.start : date.end] for date in sorted(find_dates(text, languages[0]), key=lambda date: date.start)]


def split_sentences(text: str, languages: Languages) -> list[str]:
    starts = find_sentence_starts(text, find_spans(text), languages[0])
    return [text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def read_pieces(text: str, languages: Languages) -> list[str]:
    """The pieces of a line; those that are translated in capitals."""
    return [piece.text.upper() if piece.is_translated else piece.unchanged for piece in READER.split_line(text)]


def read_frames(text: str, languages: Languages) -> list[str]:
    """The pieces, of which a network that returns its input makes the line again."""
    pieces = READER.split_line(text)
    joined = join_segments([piece.segment for piece in pieces], [piece.unchanged for piece in pieces])
    assert "".join(joined) == text
    return read_pieces(text, languages)


def write_insets(insets: Iterable[Inset], text: str) -> list[str]:
    """The texts between the marks, and these as the target writes them; in angle brackets what says who speaks."""
    parts, start, form = [], 0, "{}"
    for inset in sorted(insets):
        parts += [form.format(text[start : inset.start].strip()), inset.written]
        start, form = inset.end, "<{}>" if inset.reports else "{}"
    return list(filter(None, [*parts, form.format(text[start:].strip())]))


def find_quotations(text: str, languages: Languages) -> list[str]:
    return write_insets(find_speech(text, languages, ("„", "“") if languages[1] == "deu" else ("“", "”")), text)


def find_brackets(text: str, languages: Languages) -> list[str]:
    return write_insets(find_bracketed(text, languages), text)


def compare(texts: list[str], languages: Languages) -> list[list[str]]:
    """The numbers that a source has and its translation lacks, and those that the translation invents."""
    return [list(numbers) for numbers in compare_numbers(*texts, *languages)]


def list_missing(texts: list[str], languages: Languages) -> list[str]:
    return compare(texts, languages)[0]


def list_missing_words(texts: list[str], languages: Languages) -> list[str]:
    """The numbers that a source has in words, and its translation neither in words nor in digits."""
    return [number.text for number in list_lost_words(Attempt.from_texts(*texts), languages)]


def find_uncertain(texts: list[str], languages: Languages) -> list[str]:
    return list(list_uncertain(*texts, languages))


def compare_both_ways(texts: list[str], languages: Languages) -> list[str]:
    """The numbers that either of two texts has and the other lacks."""
    there, back = compare(texts, languages), compare(texts[::-1], languages[::-1])
    return [number for difference in (*there, *back) for number in difference]


def read_usual_case(text: str, languages: Languages) -> list[Any]:
    """A text as it is read, and the case that its translation gets: in all words, or in those with these numbers."""
    changed = change(make_caser(), text)
    if changed is None:
        return [text]
    read_text, plan = changed
    return [read_text.text, *([plan.kind, *sorted(plan.words)] if plan else [])]


def read_characters(text: str, languages: Languages) -> str:
    return read(Characters(Counter(LETTERS[languages[0]])), normalise(text))


def list_foreign(text: str, languages: Languages) -> list[str]:
    return [text[start:end] for start, end in Characters(Counter(ENGLISH)).find_foreign_words(text)]


def keep_exclamation(texts: list[str], languages: Languages) -> str:
    return FinalMarks(find_rules(languages[1]), choose_marks({".": 9, "!": 1, ",": 1})).keep(*texts)


def read_marks(texts: list[str], languages: Languages) -> list[str]:
    """A source as it is read without all of its final marks, and its translation with them."""
    return [read(FinalMarks(find_rules(languages[1]), {}), texts[0]), write_final_mark(texts, languages)]


def list_terms(case: list[Any], languages: Languages) -> list[list[str]]:
    """The terms of a glossary, and other spans, in a text."""
    terms, text = case
    spans = find_spans(text)
    return pair(text, sorted([*spans, *Glossary(terms).find_terms(cover_spans(text, spans))]))


def list_forms_of_terms(case: list[str], languages: Languages) -> list[str]:
    """The words of a text that are other forms of a term."""
    return [form for form, _ in Glossary({case[0]: "…"}).find_forms(case[1], languages[0])]


@cache
def learn_surnames(language: str) -> tuple[TextProfile, TextProfile]:
    model = model_text(SURNAMES[language] * 2)
    return model.source, model.target


def list_surnames(text: str, languages: Languages) -> list[str]:
    naming = find_rules(languages[0]).naming or None  # where nouns have capitals, only a sure name is one
    return [span.text for span in find_persons(text, *learn_surnames(languages[0]), naming)]


def list_extracted(text: str, languages: Languages) -> list[str]:
    return [span.text if span.is_extracted else f"{span.text} is masked" for span in find_spans(text)]


def move_sign(text: str, languages: Languages) -> str:
    """An entry of a menu whose declared sign within a word moves before it."""
    sign = next(sign for sign in "&~_" if sign in text)
    assert move_to_word(text, "%", []) == move_to_word(text, "&" if sign == "_" else "_", []) == text
    code = [Span(0, len(text), text, SpanKind.CODE)] if text.startswith("`") else []
    return move_to_word(text, sign, code)


def read_item(text: str, languages: Languages) -> str:
    segments = frame_segment(Segment(text, (), blank_before=False, ends_sentence=True), languages[0])
    return "".join(segment.text for segment in segments if not segment.is_frame)


def list_invented(texts: list[str], languages: Languages) -> list[str]:
    return find_invented(*texts, GERMAN_WORDS if languages[1] == "deu" else ENGLISH_WORDS)


@cache
def learn_pairs(languages: Languages, sentences: tuple[str, str]) -> CheckContext:
    return CheckContext(*languages, profile=read_profile([sentences] * 40))


def list_unseen(texts: list[str], languages: Languages) -> list[str]:
    """What is reported of words that training on sentences about a dog never had."""
    context = learn_pairs(languages, ("we see dog", "wir sehen hund"))
    return [check.message for check in check_pair(*texts, context) if check.kind == "unseen words"]


def list_other_languages(text: str, languages: Languages) -> list[str]:
    context = learn_pairs(languages, ("we see dog and cat", "wir sehen hund und katze"))
    return [check.message for check in check_pair(text, text, context) if check.kind in ("language", "other language")]


class Swapped:
    """The marks of numbers of English and German, either way."""

    find_target_decimal = find_target_thousands = {".": ",", ",": "."}.get


def make_notation(languages: Languages) -> NumberNotation:
    return NumberNotation(*(",.") if languages[0] == "deu" else (".,"), Swapped(), languages)


def convert_number(text: str, languages: Languages) -> str:
    return make_notation(languages).convert(text)


def write_numbers(text: str, languages: Languages) -> list[list[str]]:
    """The numbers that are protected in a text, and how the target writes them."""
    context = Context(languages, write_number=make_notation(languages).convert)
    return pair(text, write_spans(find_spans(text, context, KINDS), text, context))


def list_lost_dates(texts: list[str], languages: Languages) -> list[str]:
    return list(DATES.find_lost(Attempt.from_texts(*texts), Context(languages)).missing)


def list_failed(texts: list[str], languages: Languages) -> list[str]:
    return [f"{check.kind}: {check.message}" for check in check_pair(*texts, CheckContext(*languages))]


def list_signs(text: str, languages: Languages) -> list[str]:
    spans = ENGLISH_FINDER.find_names(text)
    assert all(span.is_extracted and span.is_markup for span in spans)
    return [span.text for span in spans]


def list_wraps(text: str, languages: Languages) -> list[str]:
    return [span.text for span in find_spans(text, CONTEXT, KINDS) if span.kind is SpanKind.WRAP]


def list_codes(text: str, languages: Languages) -> list[str]:
    spans = find_spans(text, CONTEXT, KINDS)
    assert not any(span.is_extracted for span in spans)
    return [span.text for span in spans]


def list_acronyms(text: str, languages: Languages) -> list[str]:
    return [span.text for span in find_acronyms(text, languages[0])]


def list_negations(texts: list[str], languages: Languages) -> list[str]:
    failed = check_negation(*texts, CheckContext(*languages))
    return [failed.message] if failed else []


def is_first_label(text: str, languages: Languages) -> bool:
    """Whether the first number of a text is that of a version, a chapter or a heading."""
    return is_label(text, next(index for index, sign in enumerate(text) if sign.isdigit()), languages[0])


def read_ending(text: str, languages: Languages) -> list[int | str]:
    """Where the letters behind the first digit end, and what the target writes for them."""
    return list(find_ending(text, 1, text[0], languages))


def find_address(text: str, languages: Languages) -> str:
    return find_rules(languages[0]).find_register(text)


def cut_sentences(text: str, languages: Languages) -> list[str]:
    return [segment.text.strip() for segment in cut(text, find_spans(text), 5, languages[0])]


def list_accelerators(text: str, languages: Languages) -> list[int]:
    return [span.start for span in ACCELERATORS.find(text, NO_CONTEXT)]


def list_choices(text: str, languages: Languages) -> list[str]:
    parts = split_choice(text) or ()
    assert not parts or "".join(part.text for part in parts) == text
    return [part.text for part in parts if part.is_text]


def read_genders(text: str, languages: Languages) -> str:
    return drop_gender_marks(text, languages[0])


def list_outer_quotes(text: str, languages: Languages) -> list[str]:
    found = find_outer_quotes(text)
    return [found.opening, found.closing, *["mark outside"] * found.is_mark_outside] if found else []


def write_final_mark(texts: list[str], languages: Languages) -> str:
    """A translation as it is written behind a source, in a language whose text has commas and colons."""
    rewrite = FinalMarks(find_rules(languages[1]), choose_marks({",": 9, "、": 1, ":": 2}))
    changed = change(rewrite, texts[0])
    return texts[1] if changed is None else rewrite.write(texts[1], changed[1], Written())


def list_endings(texts: list[str], languages: Languages) -> list[str]:
    return list(find_lost_endings(*texts, languages))


FINDERS: dict[str, Callable[[Any, Languages], Any]] = {
    "spans": find_texts,
    "numbers": find_numbers,
    "written": find_written,
    "full times": find_kind(FULL_TIMES),
    "hour parts": find_kind(HOUR_PARTS),
    "dates": list_dates,
    "days": find_kind(WEEKDAYS),
    "people": find_people,
    "places": list_places,
    "streets": find_streets,
    "emphasis": find_marks,
    "notes": find_notes,
    "sentences": split_sentences,
    "frames": read_frames,
    "pieces": read_pieces,
    "speech": find_quotations,
    "brackets": find_brackets,
    "other numbers": compare,
    "missing numbers": list_missing,
    "missing number words": list_missing_words,
    "uncertain numbers": find_uncertain,
    "lost endings": list_endings,
    "same numbers": compare_both_ways,
    "notation": convert_number,
    "written numbers": write_numbers,
    "lost dates": list_lost_dates,
    "failed checks": list_failed,
    "names": lambda text, languages: list_names(text, FINDERS_OF_NAMES[languages[0]]),
    "acronyms": list_acronyms,
    "signs": list_signs,
    "wraps": list_wraps,
    "codes": list_codes,
    "negation": list_negations,
    "labels": is_first_label,
    "endings": read_ending,
    "register": find_address,
    "parts of five words": cut_sentences,
    "language of a script": lambda text, languages: guess_language([text]),
    "accelerators": list_accelerators,
    "choices": list_choices,
    "gender forms": read_genders,
    "outer quotes": list_outer_quotes,
    "final marks": write_final_mark,
    "usual case": read_usual_case,
    "seen characters": read_characters,
    "foreign words": list_foreign,
    "exclamations": keep_exclamation,
    "several marks": read_marks,
    "slips": lambda text, languages: read(make_slips(), text),
    "abbreviations": lambda text, languages: read(Abbreviations(ABBREVIATED, last="cl"), text),
    "terms": list_terms,
    "forms of terms": list_forms_of_terms,
    "surnames": list_surnames,
    "taken out": list_extracted,
    "moved signs": move_sign,
    "items": read_item,
    "units": lambda text, languages: [text[start:end] for start, end in find_units(text)],
    "invented words": list_invented,
    "copied words": lambda texts, languages: find_copied(*texts, GERMAN_WORDS),
    "unseen words": list_unseen,
    "other languages": list_other_languages,
}


def read_cases() -> Iterator[Any]:
    for path in sorted(CASES.glob("*.toml")):
        source, _, target = path.stem.replace("any", "").partition("-")
        for group in tomllib.loads(path.read_text("utf-8"))["group"]:
            languages = tuple(group.get("languages", (source, target)))
            for number, (text, expected) in enumerate(group["cases"]):
                name = f"{path.stem}: {group['name']} {number}"
                yield pytest.param(group["finds"], languages, text, expected, id=name)


@pytest.mark.parametrize(("finds", "languages", "text", "expected"), list(read_cases()))
def test_what_is_found_in_a_text_is_what_its_language_says(
    finds: str, languages: Languages, text: str | list[str], expected: list[Any]
) -> None:
    assert FINDERS[finds](text, languages) == expected


def test_every_finder_has_cases() -> None:
    assert {case.values[0] for case in read_cases()} == set(FINDERS)
