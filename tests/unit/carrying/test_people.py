"""Titles with names, greetings and ends of letters are written in the target's words; surnames are not translated."""

import pytest

from nmt_cli.carrying.people import GREETINGS, compile_people, find_persons, is_sure_person, list_forms
from nmt_cli.languages.codes import DATA
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.profile import CorpusProfile, TextProfile
from nmt_cli.text.profile_building import build_profile


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
