"""Mistyped words are read as the known words that they surely stand for, and no others."""

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.rewriting.slips import ReadAs
from support.rewriting import SPELLED, change, make_slips, read

WORDS = sorted({word.strip(".,?") for sentence in SPELLED for word in sentence.split()})


def respell(text: str) -> str:
    return read(make_slips(), text)


@given(st.lists(st.sampled_from([*WORDS, "5", "—", "⟦0⟧", "日本"])))
def test_known_words_stay(words: list[str]) -> None:
    assert change(make_slips(), " ".join(words)) is None


def test_what_follows_a_name_does_not_begin_the_sentence() -> None:
    assert respell("Chidren and ⟦0⟧ went.") == "Children and ⟦0⟧ went."
    assert respell("⟦0⟧ Chidren went.") == "⟦0⟧ Chidren went."


def test_a_slip_is_known_with_what_was_meant() -> None:
    changed = change(make_slips(), "(chidren)! and Magraret")
    assert changed is not None and changed[1] == (ReadAs("chidren", "children"), ReadAs("Magraret", "Margaret"))


def test_without_enough_training_text_no_unknown_word_is_taken_for_a_slip() -> None:
    assert change(make_slips(SPELLED), "chidren went home") is None


def test_a_word_that_may_be_two_others_stays() -> None:
    training = (*SPELLED * 30, *("They hurt the hart.",) * 30)
    assert change(make_slips(training), "I want the hrt") is None


def test_words_before_it_do_not_decide_about_a_word() -> None:
    finder = make_slips()
    assert change(finder, "I want Chidren") is None  # may be a name
    assert change(finder, "Chidren want the house")[0].text == "Children want the house"


TEXTS = [
    "the",
    "Chidren",
    "I want Chidren",
    "Chidren want",
    "the chidren",
    "want chidren the",
    "childre",
    "childre nwent",
]


@given(st.lists(st.sampled_from(TEXTS), min_size=2))
def test_a_text_is_respelled_the_same_after_any_others(texts: list[str]) -> None:
    finder = make_slips()
    assert [read(finder, text) for text in texts] == [respell(text) for text in texts]


def test_slips_are_not_looked_for_in_what_is_no_word() -> None:
    finder = make_slips()
    assert change(finder, "children " + "ca" * 50_000) is None  # took gigabytes
    assert not finder.may_be_mistyped("Ca" * 50_000, is_first=True)


@given(st.text("abcdefghij '’.XÄ\n"))
def test_each_letter_has_an_origin(text: str) -> None:
    respelled = change(make_slips(), text)
    if respelled is not None:
        assert len(respelled[0].origins) == len(respelled[0].text)
        assert list(respelled[0].origins) == sorted(respelled[0].origins)
