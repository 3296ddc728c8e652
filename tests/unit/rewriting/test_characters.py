"""Unseen characters become their nearest seen equivalents; seen ones are never touched."""

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.rewriting.characters import Characters, name_character
from nmt_cli.text.normalise import normalise
from support.rewriting import ENGLISH, change, model_text, read


def fold(text: str, training: str = ENGLISH) -> str:
    return read(Characters(Counter(training)), normalise(text))


@given(st.text(sorted(set(ENGLISH))))
def test_a_text_of_seen_characters_is_never_touched(text: str) -> None:
    assert change(Characters(Counter(ENGLISH)), normalise(text)) is None


@given(st.text())
def test_folding_is_idempotent_and_says_where_each_character_was(text: str) -> None:
    folder, text = Characters(Counter(ENGLISH)), normalise(text)
    changed = change(folder, text)
    if changed is not None:
        folded, _ = changed
        assert len(folded.origins) == len(folded.text) and list(folded.origins) == sorted(folded.origins)
        assert all(0 <= origin < len(text) for origin in folded.origins)
        assert folded.text == normalise(folded.text)
        assert read(folder, folded.text) == folded.text


@given(
    st.lists(
        st.sampled_from("\u200e\u200f\u202a\u202e\u2066\u2069\u061c\u034f\ufe0f\u200d\u200c\ufff9\ufffc"), max_size=5
    )
)
def test_marks_without_a_shape_are_dropped_wherever_they_stand(marks: list[str]) -> None:
    mark = "".join(marks)
    assert fold(f"{mark}the{mark} quick {mark} fox{mark}") == "the quick fox"


def test_a_long_foreign_word_takes_no_long_look_at_each_of_its_letters() -> None:
    started = time.process_time()
    assert list(Characters(Counter(ENGLISH)).find_foreign_words("the " + "猫" * 20_000)) == [(4, 20_004)]
    assert time.process_time() - started < 5  # a minute, if each letter looked at all others


def test_joiners_stay_in_scripts_that_need_them() -> None:
    assert fold("می\u200cروم", training=ENGLISH + "میروم") == "می\u200cروم"
    assert fold("क्\u200dष", training=ENGLISH + "क्ष") == "क्\u200dष"


def test_marks_that_training_has_are_kept() -> None:
    assert fold("the \u200efox", training=ENGLISH + "\u200e") == "the \u200efox"
    assert fold("the \ufe0ffox", training=ENGLISH * 900 + "\ufe0f") == "the fox"  # of an emoji


def test_a_word_of_another_script_stays_as_it_is() -> None:
    assert fold("the Москва fox") == "the Москва fox"


def test_placeholders_stay() -> None:
    assert fold("the ⟦0⟧ “fox” ⟦3⟧", training='the fox "') == 'the ⟦0⟧ "fox" ⟦3⟧'


def test_a_mark_seen_once_among_thousands_of_another_form_counts_as_unseen() -> None:
    training = "Anna's " * 3000
    assert fold("Anna’s", training=f"{training}’") == "Anna's"
    assert fold("Anna’s", training=training + "’" * 10) == "Anna’s"


@pytest.mark.parametrize(
    ("others", "text", "read_as"),
    [
        ("'x'", "Ha'rsã tũ´pa 'ha'", "Haꞌrsã tũꞌpa 'ha'"),  # ' is a quote in training
        ("ta'a ke'e", "Ha'rsã", "Ha'rsã"),  # training has both
    ],
)
def test_an_apostrophe_is_read_as_the_one_of_the_words_of_training(others: str, text: str, read_as: str) -> None:
    words = [f"{first}aꞌ{second}ã" for first in "htkmr" for second in "rstp"]
    model = model_text([(f"{word} {others}", "x") for word in words])
    assert read(Characters.from_model(model), text) == read_as


def test_invisible_characters_have_names() -> None:
    assert name_character("\u200e") == "U+200E LEFT-TO-RIGHT MARK"
    assert name_character("\u0301") == "U+0301 COMBINING ACUTE ACCENT"
    assert name_character("\ufe0f") == "U+FE0F VARIATION SELECTOR-16"
    assert [name_character(character) for character in "字ř™"] == ["字", "ř", "™"]


def test_letters_of_a_script_that_training_only_quotes_are_not_known() -> None:
    quoted = "вода ａ ٣"
    often, seldom = (Counter(ENGLISH * times + quoted) for times in (1, 1000))
    assert read(Characters(seldom), "hаvе ａ ٣") == "have a 3"  # Cyrillic letters, full width, Arabic digits
    assert Characters(seldom).find_foreign_words("a вода") == [(2, 6)]
    assert read(Characters(often), "hа ａ ٣") == "hа ａ ٣"
    assert Characters(often).find_foreign_words("a вода") == []
