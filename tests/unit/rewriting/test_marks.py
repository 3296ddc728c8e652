"""Tests of `rewriting/marks.py`.

Quotes around a whole sentence are taken off and come back as those of the target. A translation has no final mark
where its source has none; sentences keep theirs.
"""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.marks import (
    MARK_KINDS,
    FinalMarks,
    OuterQuotes,
    Reports,
    choose_marks,
    choose_target_quotes,
    find_final_mark,
    find_outer_quotes,
)
from nmt_cli.rewriting.protocol import Written
from support.final_marks import ENDED
from support.rewriting import change, model_text

GERMAN = Counter("„Ja“ " * 30)


@pytest.mark.parametrize(("words", "mark"), ENDED)
def test_a_final_mark_of_any_language_may_follow_the_quotes(words: str, mark: str) -> None:
    assert find_outer_quotes(f"“{words}”{mark}") == OuterQuotes("“", "”", is_mark_outside=True)


def test_the_translation_gets_the_quotes_of_its_language() -> None:
    assert choose_target_quotes(OuterQuotes('"', '"'), GERMAN).wrap("Es regnet.") == "„Es regnet.“"
    assert (
        choose_target_quotes(OuterQuotes("“", "”", is_mark_outside=True), GERMAN).wrap("Es regnet.") == "„Es regnet“."
    )
    assert choose_target_quotes(OuterQuotes("“", ""), GERMAN).wrap("Es regnet.") == "„Es regnet."
    assert choose_target_quotes(OuterQuotes("“", "”"), Counter("no quotes")).wrap("Es regnet.") == "“Es regnet.”"


@given(st.text("ab. "), st.sampled_from([("“", "”"), ("«", "»"), ('"', '"')]))
def test_what_is_between_the_quotes_is_all_the_rest(text: str, pair: tuple[str, str]) -> None:
    quotes = find_outer_quotes(f"{pair[0]}{text}{pair[1]}")
    if any(map(str.isalpha, text)):
        assert quotes is not None
        line = f"{pair[0]}{text}{pair[1]}"
        assert "".join(line[index] for index in quotes.find_inside(line)) == text and quotes.wrap(text) == line


def write(source: str, translation: str, language: str = "de", spans: tuple[str, ...] = ()) -> str:
    """Returns the translation as it is written behind a source."""
    rewrite = FinalMarks(find_rules(language), choose_marks({",": 9, "、": 1, ":": 2}))
    changed = change(rewrite, source)
    return translation if changed is None else rewrite.write(translation, changed[1], Written(spans))


@pytest.mark.parametrize(
    ("language", "text", "read_as", "translation", "written"),
    [
        ("en", "said Anna", '"⟦0⟧," said Anna.', "„⟦0⟧“, sagte Anna.", "sagte Anna."),
        ("en", "⟦0⟧ said.", '"⟦1⟧," ⟦0⟧ said.', '"⟦1⟧," sagte ⟦0⟧.', "sagte ⟦0⟧."),
        ("de", "rief er", "„⟦0⟧“, rief er.", "He called.", "He called."),
        ("en", "said Anna", '"⟦0⟧," said Anna.', '"⟦0⟧," sagte: Anna.', "sagte Anna."),
        ("en", "said Anna: now", '"⟦0⟧," said Anna: now.', "sagte Anna: jetzt.", "sagte Anna: jetzt."),
    ],
)
def test_words_that_say_who_speaks_are_read_behind_a_quotation(
    language: str, text: str, read_as: str, translation: str, written: str
) -> None:
    rewrite = Reports.from_model(model_text([("Yes.", "Ja.")], (language, "fr")))
    assert rewrite is not None and change(rewrite, text) is None
    changed = change(rewrite, text, is_report=True)
    assert changed is not None and changed[0].text == read_as
    assert rewrite.write(translation, text, Written()) == written


def test_a_mark_is_dropped_before_spans_and_never_out_of_one() -> None:
    assert write("Hello", "Hallo! 😀", spans=("😀",)) == "Hallo 😀"
    assert write("Hello", "<b>Hallo!</b>", spans=("<b>", "</b>")) == "<b>Hallo</b>"
    assert write("Visit ⟦0⟧", "Besuche Yahoo!", spans=("Yahoo!",)) == "Besuche Yahoo!"
    assert write("Visit ⟦0⟧", "Besuche, ⟦0⟧", spans=("⟦0⟧",)) == "Besuche ⟦0⟧"


@pytest.mark.parametrize("mark", [*",;:–"])
def test_a_mark_of_the_source_before_its_last_span_stays(mark: str) -> None:
    assert write(f"Room 12{mark} ⟦0⟧", f"Raum 12{mark} 5. Mai", spans=("5. Mai",)) == f"Raum 12{mark} 5. Mai"
    assert write(f"Room 12{mark} ⟦0⟧", f"Raum 12{mark} 5. Mai.", spans=("5. Mai",)) == f"Raum 12{mark} 5. Mai"
    assert write(f"Room{mark} “⟦0⟧” ⟦1⟧", f"Raum{mark} „{{n}}“ 5 €", spans=("{n}", "5 €")) == f"Raum{mark} „{{n}}“ 5 €"


@pytest.mark.parametrize(
    ("source", "translation", "written"),
    [
        ("We met in Paris, ⟦0⟧.", "Wir trafen uns in Paris 5. Mai.", "Wir trafen uns in Paris, 5. Mai."),
        ("The office, ⟦0⟧", "Das Büro 5. Mai.", "Das Büro, 5. Mai"),
        ("The office: ⟦0⟧!", "Das Büro 5. Mai!", "Das Büro: 5. Mai!"),
        ("In Paris, ⟦0⟧", "5. Mai in Paris", "5. Mai in Paris"),
        ("In Paris, ⟦0⟧", "In Paris (5. Mai)", "In Paris (5. Mai)"),
        ("In Paris ⟦0⟧", "In Paris 5. Mai", "In Paris 5. Mai"),
        ("Hello, ⟦0⟧", "Hallo {n0}", "Hallo {n0}"),
        ("On March 25, ⟦0⟧.", "Am 25. März 1996.", "Am 25. März 1996."),
    ],
)
def test_a_lost_pause_before_a_last_date_or_time_is_put_back(source: str, translation: str, written: str) -> None:
    (span,) = (span for span in ("{n0}", "5. Mai", "1996") if span in translation)
    assert write(source, translation, spans=(span,)) == written


def test_no_ordinal_is_written_in_a_language_that_writes_none_so() -> None:
    assert write("May 3rd", "May 3.", "en") == "May 3"


@pytest.mark.parametrize(("words", "mark"), ENDED)
def test_final_marks_of_a_kind_stand_for_each_other_in_any_language(words: str, mark: str) -> None:
    assert MARK_KINDS[find_final_mark(f"{words}{mark}")] == ("?" if mark in "؟？" else ".")
    assert (write("Settings", f"{words}{mark}") == words) == (mark != "…")


def test_a_source_that_marks_no_ends_leaves_the_marks_of_the_target() -> None:
    pairs = [("เขาอยู่ที่นี่", "He is here."), ("ใครน่ะ", "Who is it?")]
    assert FinalMarks.from_model(model_text(pairs, ("th", "en"))) is None
    assert FinalMarks.from_model(model_text([(target, source) for source, target in pairs], ("en", "th"))) is not None


def test_a_semicolon_or_comma_of_any_language_is_a_pause() -> None:
    assert {MARK_KINDS[mark] for mark in ";؛፤；,،፣、"} == {":"}  # Arabic, Amharic, Chinese


def test_the_final_mark_stands_before_quotes_brackets_and_tags() -> None:
    assert [find_final_mark(text) for text in ('He said "no."', "(Yes!)", "<b>So?</b> </i>", "No", "")] == [*".!?o", ""]


def test_a_calmer_language_need_not_exclaim() -> None:
    rewrite = FinalMarks(find_rules("en"), choose_marks({".": 9, "!": 1}), calms=True)
    assert rewrite.keep("Komm her!", "Come here.") == "Come here."
    assert rewrite.keep("Ich komme.", "I'm coming!") == "I'm coming."
