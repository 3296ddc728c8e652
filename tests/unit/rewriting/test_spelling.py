"""Tests of `rewriting/spelling.py`.

Abbreviations are read as the words that they stand for, where training has these. References of HTML for letters and
quotes are read as these, and written again.
"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.languages.codes import DATA
from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.protocol import TextContext, Written
from nmt_cli.rewriting.spelling import (
    Abbreviations,
    Entities,
    GenderForms,
    SpellingVariants,
    drop_gender_marks,
    find_gender_marks,
    is_usual,
)
from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.profile import CorpusProfile, TextProfile
from nmt_cli.text.profile_building import build_profile
from support.rewriting import ABBREVIATED, change, read


def make_profile(*sentences: str) -> TextProfile:
    profile = CorpusProfile.parse(build_profile([(sentence, sentence) for sentence in sentences]).encode()).source
    assert profile is not None
    return profile


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Its colour", "Its color"), ("COLOUR", "Color"), ("the colours", None), ("four colors", None), ("our", None)],
)
def test_a_word_is_read_in_the_spelling_that_training_often_had(text: str, expected: str | None) -> None:
    variants = SpellingVariants(make_profile("The color is here.", "Four for us."), find_rules("eng").variants)
    assert (read(variants, text) if expected else change(variants, text)) == expected


@pytest.mark.parametrize("text", ["Approx. ten", "Das ist z. B. Rex."])
def test_a_covered_abbreviation_is_as_long_as_before(text: str) -> None:
    covered = Abbreviations(ABBREVIATED).cover_forms(text)
    assert len(covered) == len(text)
    assert covered != text
    assert [letter for letter in covered if letter.isalpha()] in (list("ten"), list("DasistRex"))


def test_each_word_stays_aligned_with_the_abbreviation_it_stands_for() -> None:
    changed = Abbreviations(ABBREVIATED).read(AlignedText.from_text("Das z. B. da"), TextContext())
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


def test_references_of_letters_and_quotes_are_read_and_written_again() -> None:
    source = "caf&eacute; &quot;x&quot; it&#x27;s &amp; &copy; &bogus;"
    changed = change(Entities(), source)
    assert changed is not None
    text, references = changed
    assert text.text == 'café "x" it\'s &amp; &copy; &bogus;'
    assert [text.find_origin(index) for index in (3, 4, 5, 6)] == [3, 11, 12, 18]
    assert Entities().write(text.text, references, Written()) == source
    assert Entities().write("é {é}", references, Written(["{é}"])) == "&eacute; {é}"


def test_a_text_without_such_references_stays() -> None:
    assert read(Entities(), "x&amp;y; z") == "x&amp;y; z"
    assert read(Entities(), "R&D, x &amp; y") == "R&D, x &amp; y"  # else one sign would stand for two


@pytest.mark.parametrize(
    ("text", "expected", "written"),
    [
        ("Oak &amp; Elm", "Oak & Elm", "&amp;"),
        ("AT&amp;T and R&amp;D", "AT&T and R&D", "&amp;"),
        (r"Oak \& Elm", "Oak & Elm", r"\&"),
        ("See Oak &Elm.", "See Oak & Elm.", "&"),
        ("&quot;Oak&quot; &amp; Elm", '"Oak" & Elm', "&amp;"),
    ],
)
def test_an_ampersand_between_words_is_read_as_a_network_knows_it(text: str, expected: str, written: str) -> None:
    changed = change(Entities(), text)
    assert changed is not None and changed[0].text == expected
    assert Entities().write("Eiche & Ulme", changed[1], Written()) == f"Eiche {written} Ulme"
    assert Entities().write("Eiche&nbsp;& Ulme", changed[1], Written(["&nbsp;"])) == f"Eiche&nbsp;{written} Ulme"


@pytest.mark.parametrize("language", ["eng", "cat", ""])
def test_other_languages_stay(language: str) -> None:
    assert drop_gender_marks("Lehrer*innen, il·lusió", language) == "Lehrer*innen, il·lusió"


def test_a_cover_hides_the_whole_word() -> None:
    covered = GenderForms("deu").cover_forms("Die Lehrer*innen, ja")
    assert covered.startswith("Die ") and covered.endswith(" ja")
    assert not any(map(str.isalpha, covered[4:-3])) and len(covered) == len("Die Lehrer*innen, ja")


@given(st.text(st.sampled_from("Lehrinn*:/-()_ e")), st.sampled_from(["deu", "fra"]))
def test_marks_are_apart_and_nothing_else_is_lost(text: str, language: str) -> None:
    marks = list(find_gender_marks(text, language))
    folded = AlignedText.from_text(text).replace(marks)
    assert [text[origin] for origin in folded.origins] == list(folded.text)
    assert all(first.end <= second.start for first, second in pairwise(marks))


def test_many_forms_take_no_longer_than_their_text() -> None:
    text = "Lehrer*innen " * 20_000 + "Abc-" * 20_000 + "*in"
    assert drop_gender_marks(text, "deu").count("Lehrerinnen ") == 20_000  # took minutes
    assert len(GenderForms("deu").cover_forms(text)) == len(text)
