"""Abbreviations are read as the words that they stand for, where training has these."""

from __future__ import annotations

import pytest

from nmt_cli.languages.codes import DATA
from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.abbreviations import Abbreviations, is_usual
from nmt_cli.rewriting.protocol import TextContext
from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.profile import CorpusProfile, TextProfile
from nmt_cli.text.profiling.building import build_profile
from support.rewriting import change, read

FORMS = {"approx.": "about", "z.B.": "zum Beispiel", "v.a.": "vor allem"}


def make_profile(*sentences: str) -> TextProfile:
    profile = CorpusProfile.parse(build_profile([(sentence, sentence) for sentence in sentences]).encode()).source
    assert profile is not None
    return profile


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It costs approx. ten euros.", "It costs about ten euros."),
        ("(approx. ten)", "(about ten)"),
        ("Approx. ten left.", "About ten left."),
        ("Das ist z. B. ein Hund, z.B. Rex.", "Das ist zum Beispiel ein Hund, zum Beispiel Rex."),
        ("Z. B. Rex.", "Zum Beispiel Rex."),
        ("Obst, v. a. Äpfel", "Obst, vor allem Äpfel"),
    ],
)
def test_an_abbreviation_is_spelled_out(text: str, expected: str) -> None:
    assert read(Abbreviations(FORMS), text) == expected


@pytest.mark.parametrize(
    "text", ["It costs ten approx.", "Approximate it. Ten.", "Das sagt V. A. Koch.", "a.approx.b c"]
)
def test_the_end_of_a_sentence_a_name_and_other_words_stay(text: str) -> None:
    assert change(Abbreviations(FORMS), text) is None


@pytest.mark.parametrize("text", ["Approx. ten", "Das ist z. B. Rex."])
def test_a_covered_abbreviation_is_as_long_as_before(text: str) -> None:
    covered = Abbreviations(FORMS).cover_forms(text)
    assert len(covered) == len(text)
    assert covered != text
    assert [letter for letter in covered if letter.isalpha()] in (list("ten"), list("DasistRex"))


def test_each_word_stays_aligned_with_the_abbreviation_it_stands_for() -> None:
    changed = Abbreviations(FORMS).read(AlignedText.from_text("Das z. B. da"), TextContext())
    assert changed is not None
    assert changed[0].find_origin(changed[0].text.index("da")) == 10
    assert list(changed[0].find_target(4, 9)) == list(range(4, 16))


def test_only_words_that_training_had_more_often_are_read() -> None:
    usual = make_profile("It costs about ten.", "About two.")
    abbreviated = make_profile("It costs approx. ten.", "approx. two", "about")
    assert is_usual("about", "approx.", usual)
    assert not is_usual("about", "approx.", abbreviated)
    assert not is_usual("at most", "max.", usual)


@pytest.mark.parametrize("code", sorted(path.stem for path in DATA.glob("*.toml")))
def test_abbreviations_of_a_language_have_full_stops_and_words(code: str) -> None:
    for short, words in find_rules(code).spelled_out.items():
        assert short.endswith("."), short
        assert words, short
        assert "." not in words, short
