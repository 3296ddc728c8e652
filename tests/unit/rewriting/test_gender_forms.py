from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.rewriting.gender_forms import GenderForms, drop_gender_marks, find_gender_marks
from nmt_cli.text.aligned import AlignedText


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Die Schüler*innen und Lehrer_innen", "Die Schülerinnen und Lehrerinnen"),
        ("Liebe Kolleg:innen, liebe Freund·innen!", "Liebe Kolleginnen, liebe Freundinnen!"),
        ("Mieter/-innen, Käufer/innen, ein Mieter/-in", "Mieterinnen, Käuferinnen, ein Mieterin"),
        ("Schüler(innen) und eine Schülerin(nen)", "Schülerinnen und eine Schülerinnen"),
        ("Jede*r hat ein:e gute:n Ärzt*in.", "Jeder hat eine guten Ärztin."),
        ("Donau-Schiffer*in", "Donau-Schifferin"),
        ("Der/die Leser/in kennt den/die Autor(in) eines/einer Romans.", "Der Leserin kennt den Autorin eines Romans."),
        ("LIEBE KOLLEG*INNEN, liebe lehrer:innen", "LIEBE KOLLEGINNEN, liebe lehrerinnen"),
    ],
)
def test_german_words_of_several_genders_become_the_longer_form(text: str, expected: str) -> None:
    assert drop_gender_marks(text, "deu") == drop_gender_marks(text, "de-AT") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Les étudiant·e·s sont là.", "Les étudiants sont là."),
        ("tou·te·s les lycéen·nes, chaque étudiant•e", "tous les lycéens, chaque étudiant"),
    ],
)
def test_french_words_of_several_genders_become_the_shorter_form(text: str, expected: str) -> None:
    assert drop_gender_marks(text, "fra") == expected


@pytest.mark.parametrize(
    "text",
    [
        "log_in und built_in",
        "Sag es ihm: in zwei Tagen, um 12:30 Uhr",
        "und/oder, km/h, Kaffee/Tee",
        "Das Haus (in Berlin)",
        "*sehr* gut und __init__",
        "Er sagte:er kommt.",
    ],
)
def test_other_marks_stay(text: str) -> None:
    assert drop_gender_marks(text, "deu") == text


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
