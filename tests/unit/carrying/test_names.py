"""Words that training never had and that no language translates are found, and no others."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.codes import CodeFinder
from nmt_cli.carrying.names import join_neighbours
from nmt_cli.carrying.people import GREETINGS, compile_people, find_firms, list_forms
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.languages.codes import DATA
from nmt_cli.languages.rules import find_rules
from support.names import ENGLISH, ENGLISH_FINDER, GERMAN, GERMAN_FINDER, list_names, make_finder


@pytest.mark.parametrize("pairs", [ENGLISH, GERMAN])
def test_a_text_without_a_capital_needs_no_word_of_the_whole_table(pairs: list[tuple[str, str]]) -> None:
    finder = make_finder(pairs)
    assert finder.find_names("hello") == []
    assert "lines" not in vars(finder.source.words)  # to split them takes a tenth of the start of `nmt translate`


@pytest.mark.parametrize(
    ("sign", "count"), [(" ", 1), ("/", 1), (" & ", 1), ("–", 1), (" – ", 2), (" and ", 2), (", ", 2)]
)
def test_names_with_some_signs_between_them_are_one(sign: str, count: int) -> None:
    text = f"Kazimierz{sign}Krzysztof"
    spans = [Span(start, start + 9, text[start : start + 9], SpanKind.NAME) for start in (0, len(text) - 9)]
    assert len(join_neighbours(spans, text)) == count


@pytest.mark.parametrize(("texts", "is_rare"), [(10_000, False), (100_000, True)])
def test_a_sign_is_rare_for_the_size_of_the_training_text(texts: int, is_rare: bool) -> None:
    source = ENGLISH_FINDER.source._replace(texts=texts, character_counts={"@": 10})
    assert CodeFinder(source).is_lone_sign("@") == is_rare


def test_keys_are_left_to_a_model_that_knows_them() -> None:
    source = ENGLISH_FINDER.source._replace(character_counts={"+": 50})
    assert not CodeFinder(source).is_code("Boston+Tom") and CodeFinder(source).is_code("Ctrl+Tom")
    assert ENGLISH_FINDER.codes.is_code("Boston+Tom")


def test_an_article_is_no_word_alone() -> None:
    finder = make_finder(ENGLISH, ("eng", "deu"))
    assert list_names("A", finder) == ["A"]  # Q: .. A: ..
    assert list_names("Is it so? A?", finder) == ["A"]
    assert list_names("A dog? Is it a dog?", finder) == []


def test_a_pronoun_in_brackets_is_no_variable() -> None:
    finder = make_finder(ENGLISH, ("eng", "deu"))
    assert list_names("I see [them] and [player] here", finder) == ["[player]"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BLACK RIVER LTD. IS HERE", ["BLACK RIVER LTD."]),
        ("IT WAS © BLACK RIVER LTD.", ["BLACK RIVER LTD"]),
        ("IT WAS © \ufffc\ufffc BLACK RIVER LTD.", ["BLACK RIVER LTD"]),  # a number, covered
        ("IT IS IN THE BLACK RIVER GMBH", ["BLACK RIVER GMBH"]),
        ("WE BUY BLACK RIVER INC. TODAY", []),  # the name may begin with the verb
        ("BLACK RIVER SA 9-12", []),
    ],
)
def test_in_capitals_a_company_begins_with_a_clause_or_after_grammar_a_number_or_a_sign(
    text: str, expected: list[str]
) -> None:
    firms = list(find_firms(text, ENGLISH_FINDER.source, "eng"))
    assert [text[firm.start : firm.end] for firm in firms] == expected


def test_characters_that_training_never_had_are_read_as_those_that_it_had() -> None:
    assert list_names("Ｄid he see it? Don’t you?") == []
    assert list_names("I saw \u200e\u2068Kazimierz\u2069.") == ["Kazimierz"]


def test_where_nouns_have_capitals_these_name_nothing() -> None:
    assert ENGLISH_FINDER.capitals_are_names and not GERMAN_FINDER.capitals_are_names
    assert list_names("Ich sah Wolfgang und Weather", GERMAN_FINDER) == ["Wolfgang", "Weather"]  # as the target has it
    assert list_names("Ich sah das Radhaus und Bildungshäuser", GERMAN_FINDER) == []  # of short words, and forms


def test_where_new_words_are_frequent_a_capital_of_nouns_says_nothing() -> None:
    finder = make_finder([*GERMAN, ("Noch mehr Wörter gibt es hier kaum.", "More words.")], copies=1)
    assert list_names("Ich sah Kazimierz dort.", finder) == []


def test_a_mistyped_word_is_no_name() -> None:
    finder = make_finder(ENGLISH * 30)
    assert list_names("Childern like the weather", finder) == []


def test_many_calls_take_no_longer_than_their_text() -> None:
    assert len(ENGLISH_FINDER.find_names("f(x) it " * 20_000)) == 20_000  # took minutes


def test_a_word_of_grammar_in_brackets_is_no_variable() -> None:
    finder = make_finder(ENGLISH, ("eng", "deu"))
    assert list_names("I saw [their] house and [dog] it", finder) == ["[dog]"]


def test_new_words_are_told_from_codes_and_rare_names() -> None:
    kinds = [name.kind for name in ENGLISH_FINDER.find_names("I saw Kazimierz and C++ or Oslo")]
    assert kinds == [SpanKind.NAME, SpanKind.CODE, SpanKind.RARE_NAME]


@given(st.text("Tomxyz Kai'.,/_#&+()\n", max_size=60))
def test_names_are_in_order_apart_and_without_blanks_at_their_ends(text: str) -> None:
    names = ENGLISH_FINDER.find_names(text)
    assert all(first.end <= second.start for first, second in pairwise(names))
    for name in names:
        assert text[name.start : name.end].strip() == text[name.start : name.end] != ""
    assert ENGLISH_FINDER.find_names(text) == names  # what is remembered changes nothing


def test_compounds_with_links_that_training_has_are_no_codes() -> None:
    finder = make_finder([*ENGLISH, ("The house is up-to-date.", "Das Haus ist neu.")])
    assert list_names("a face-to-face or my-new-house", finder) == ["my-new-house"]


def test_a_first_word_that_ends_as_hardly_a_name_does_is_none() -> None:
    verbs = "We are reading, writing, talking, singing, walking, eating and drinking."
    finder = make_finder([*ENGLISH, (verbs, "Wir lesen und trinken.")])
    assert list_names("Reviewing is here.", finder) == []
    assert list_names("I saw Reviewing in the house.", finder) == ["Reviewing"]
    assert list_names("Kazimierz is here.", finder) == ["Kazimierz"]


def test_names_that_are_joined_keep_their_letters() -> None:
    people = [span.text for span in ENGLISH_FINDER.find_names("I saw Zalando/Peter Penderecki.")]
    assert people == ["Zalando/Peter Penderecki"]


# Titles with names, greetings and ends of letters are written in the target's words; surnames are not translated.


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


def test_a_frequent_letter_alone_is_a_code_unless_it_is_a_word() -> None:
    finder = make_finder([("I need vitamin C.", "Ich brauche das.")], ("eng", "deu"), copies=100)
    assert (list_names("C", finder), list_names("I", finder)) == (["C"], [])
