"""Titles with names, greetings and ends of letters are written in the target's words; surnames are not translated."""

from __future__ import annotations

import pytest

from nmt_cli.carrying.kind import Context
from nmt_cli.carrying.kinds import IN_ANY_TEXT, find_spans
from nmt_cli.carrying.names.people import GREETINGS, PEOPLE, compile_people, list_forms
from nmt_cli.carrying.names.surnames import find_persons, is_sure_person
from nmt_cli.carrying.spans import cover_spans
from nmt_cli.languages.codes import DATA
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.profile import CorpusProfile, TextProfile
from nmt_cli.text.profiling.building import build_profile

TO_GERMAN, TO_ENGLISH, TO_JAPANESE = ("eng", "deu"), ("deu", "eng"), ("eng", "jpn")


def list_people(text: str, languages: tuple[str, str]) -> list[tuple[str, str]]:
    context = Context(languages)
    covered = cover_spans(text, find_spans(text, kinds=IN_ANY_TEXT))
    people = [(text[span.start : span.end], span.text) for span in PEOPLE.find(covered, context)]
    assert PEOPLE.may_be_in(text, context) or not people
    return people


@pytest.mark.parametrize(
    ("text", "languages", "people"),
    [
        ("I know Mr. Brown.", TO_GERMAN, [("Mr. Brown", "Herr Brown")]),
        ("Mrs O'Brien's dog", TO_GERMAN, [("Mrs O'Brien", "Frau O'Brien")]),
        ("I met Dr. Anna Brown and Tom.", TO_GERMAN, [("Dr. Anna Brown", "Dr. Anna Brown")]),
        ("Ask Mr. J. R. Baker-Smith now.", TO_GERMAN, [("Mr. J. R. Baker-Smith", "Herr J. R. Baker-Smith")]),
        ("Mr. President, thank you.", TO_GERMAN, []),
        ("MR. BROWN IS HERE.", TO_GERMAN, [("MR. BROWN", "HERR BROWN")]),
        ("MR. PRESIDENT, THANK YOU.", TO_GERMAN, []),
        ("Import MS Word files", TO_GERMAN, []),
        ("He flew to DR Congo.", TO_GERMAN, []),
        ("An MR Scanner is loud.", TO_GERMAN, []),
        ("I KNOW MS BROWN.", TO_GERMAN, [("MS BROWN", "FRAU BROWN")]),
        ("I know MS. Brown.", TO_GERMAN, [("MS. Brown", "Frau Brown")]),
        ("HERR Müller ist hier.", TO_ENGLISH, [("HERR Müller", "Mr. Müller")]),
        (
            "YOURS SINCERELY, ANNA BROWN",
            TO_GERMAN,
            [("YOURS SINCERELY, ANNA BROWN", "MIT FREUNDLICHEN GRÜSSEN, ANNA BROWN")],
        ),
        ("Mr. <b>Brown</b> is here.", TO_GERMAN, [("Mr.", "Herr"), ("Brown", "Brown")]),
        ("Dear Mr. {name}, hello.", TO_GERMAN, [("Dear Mr.", "Sehr geehrter Herr")]),
        ("Dear {name}, hello.", TO_GERMAN, [("Dear", "Hallo")]),
        ("Miss 100 people.", TO_GERMAN, []),
        (
            "Mr.\u200b Brown and Mrs.\u00a0Green",
            TO_GERMAN,
            [("Mr.\u200b Brown", "Herr Brown"), ("Mrs.\u00a0Green", "Frau Green")],
        ),
        ("Dear Mr. Smith, thank you.", TO_GERMAN, [("Dear Mr. Smith", "Sehr geehrter Herr Smith")]),
        ("Dear Anna, how are you?", TO_GERMAN, [("Dear Anna", "Hallo Anna")]),
        ("Dear friends, hello.", TO_GERMAN, []),
        ("Oh dear Tom, no!", TO_GERMAN, []),
        ("Dear Sir or Madam,", TO_GERMAN, [("Dear Sir or Madam", "Sehr geehrte Damen und Herren")]),
        (
            "Yours sincerely, Anna Brown",
            TO_GERMAN,
            [("Yours sincerely, Anna Brown", "Mit freundlichen Grüßen, Anna Brown")],
        ),
        ("Dear all, hello.", TO_GERMAN, [("Dear all", "Hallo zusammen")]),
        ("Mr. and Mrs. Brown are here.", TO_GERMAN, [("Mr. and Mrs. Brown", "Herr und Frau Brown")]),
        ("Ask Mr. Brown and Mrs. Green.", TO_GERMAN, [("Mr. Brown", "Herr Brown"), ("Mrs. Green", "Frau Green")]),
        ("Regards", TO_GERMAN, [("Regards", "Mit freundlichen Grüßen")]),
        ("He regards it as a gift.", TO_GERMAN, []),
        ("Mr. Brown is here.", TO_JAPANESE, [("Brown", "Brown")]),
        ("Regards", TO_JAPANESE, []),
        (
            "Mit freundlichen Grüßen Anna Braun",
            TO_ENGLISH,
            [("Mit freundlichen Grüßen Anna Braun", "Kind regards Anna Braun")],
        ),
        ("Mit freundlichen Grüßen verabschiedete er sich.", TO_ENGLISH, []),
        ("Herr Müller ist hier.", TO_ENGLISH, [("Herr Müller", "Mr. Müller")]),
        ("Ich sah Herrn Koch und Frau Braun.", TO_ENGLISH, [("Herrn Koch", "Mr. Koch"), ("Frau Braun", "Ms. Braun")]),
        ("Seine Frau Anna ist da.", TO_ENGLISH, []),
        ("Ich gab der Frau Blumen.", TO_ENGLISH, []),
        ("Herr Ober, bitte!", TO_ENGLISH, []),
        ("Sehr geehrte Frau Dr. Klein, danke.", TO_ENGLISH, [("Sehr geehrte Frau Dr. Klein", "Dear Dr. Klein")]),
        ("Herr von Stein ruft an.", TO_ENGLISH, [("Herr von Stein", "Mr. von Stein")]),
        ("Frau Anna Braun ruft an.", TO_ENGLISH, [("Frau Anna Braun", "Ms. Anna Braun")]),
    ],
)
def test_people_are_written_as_the_target_does(
    text: str, languages: tuple[str, str], people: list[tuple[str, str]]
) -> None:
    assert list_people(text, languages) == people


@pytest.mark.parametrize("code", [path.stem for path in DATA.glob("*.toml") if "courtesies" in path.read_text("utf-8")])
def test_a_language_that_has_courtesies_has_all(code: str) -> None:
    rules = find_rules(code)
    if rules.courtesies:
        keys = {
            "man",
            "woman",
            "doctor",
            "professor",
            *GREETINGS.values(),
            "to_any",
            "to_friend",
            "to_group",
            "to_all",
            "regards",
        }
        assert set(rules.courtesies) == keys and all(list_forms(rules, key) for key in keys)
        assert compile_people(code) is not None


def read_profiles(pairs: list[tuple[str, str]]) -> tuple[TextProfile, TextProfile]:
    profile = CorpusProfile.parse(build_profile(pairs).encode())
    assert profile.source is not None
    return profile.source, profile.target


ENGLISH = [("A brown dog.", "Ein brauner Hund."), ("I know Tom Jackson.", "Ich kenne Tom Jackson.")] * 2
GERMAN = [("Der Koch isst Brot.", "The cook eats bread.")] * 2


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        ("I met Peter Brown yesterday.", ["Peter Brown"]),
        ("Peter Brown's dog", ["Peter Brown"]),
        ("Anna Kazimierz", ["Anna Kazimierz"]),
        ("I know Tom Jackson.", []),  # training copies it
        ("How Peter Makes Money", []),
        ("London Bridge is closed.", []),
    ],
)
def test_a_surname_behind_a_given_name_is_not_translated(text: str, persons: list[str]) -> None:
    assert [span.text for span in find_persons(text, *read_profiles(ENGLISH))] == persons


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        ("Peter Koch ist hier.", ["Peter Koch"]),
        ("Ich heiße Peter Koch.", ["Peter Koch"]),
        ("Ich weiß, dass Peter Brot mag.", []),
    ],
)
def test_a_noun_behind_a_given_name_is_none_in_a_clause(text: str, persons: list[str]) -> None:
    spans, naming = find_persons(text, *read_profiles(GERMAN)), find_rules("deu").naming
    assert [span.text for span in spans if is_sure_person(text, span.start, naming)] == persons
