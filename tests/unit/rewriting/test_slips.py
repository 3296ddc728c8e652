"""Mistyped words are read as the known words that they surely stand for, and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.rewriting.slips import ReadAs, Slips
from support.rewriting import change, read, read_profile

SENTENCES = (
    "The children went home with Margaret because the weather was cold and windy.",
    "I hope that your brother succeeds, because he doesn't give up.",
    "Where did they put the beautiful yellow flowers for Margaret?",
    "You know that I want the house by the river.",
)
TRAINING = SENTENCES * 30
WORDS = sorted({word.strip(".,?") for sentence in SENTENCES for word in sentence.split()})


def make_finder(sentences: tuple[str, ...] = TRAINING) -> Slips:
    profile = read_profile((sentence, sentence) for sentence in sentences)
    assert profile.source is not None
    return Slips(profile.source)


def respell(text: str) -> str:
    return read(make_finder(), text)


@given(st.lists(st.sampled_from([*WORDS, "5", "—", "⟦0⟧", "日本"])))
def test_known_words_stay(words: list[str]) -> None:
    assert change(make_finder(), " ".join(words)) is None


def test_what_follows_a_name_does_not_begin_the_sentence() -> None:
    assert respell("Chidren and ⟦0⟧ went.") == "Children and ⟦0⟧ went."
    assert respell("⟦0⟧ Chidren went.") == "⟦0⟧ Chidren went."


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("chidren", "children"),  # a letter left out
        ("weatther", "weather"),  # one twice
        ("becuase", "because"),  # two exchanged
        ("flpwers", "flowers"),  # the key beside
        ("doesnt", "doesn't"),
        ("teh", "the"),
        ("Magraret", "Margaret"),
        ("margarret", "Margaret"),
        ("Chidren", "Children"),
        ("hCildren", "Children"),  # the capital a letter too late, or twice
        ("CChildren", "Children"),
        ("becaisr", "becaisr"),  # two slips
        ("flowera", "flowers"),  # the key beside the last one, as no word ends
    ],
)
def test_a_slip_of_the_fingers_is_read_as_what_was_meant(typed: str, meant: str) -> None:
    assert respell(f"{typed} home") == f"{meant} home"
    respelled = change(make_finder(), f"({typed})!")
    assert typed == meant if respelled is None else respelled[1] == (ReadAs(typed, meant),)


@pytest.mark.parametrize(
    "text",
    [
        "brothers",  # another form of a word
        "beautifully",
        "wanted",
        "qwertyuiop",
        "the 5th",
        "Rivet went home",  # a name
        "he saw Hoose",
        "HOSE",
        "hous. Margaret went home",  # an abbreviation: its full stop ends no sentence
        "wzrm",
        "he yought",  # not "hey ought"
        "",
    ],
)
def test_other_forms_names_and_strange_words_stay(text: str) -> None:
    assert respell(text) == text


def test_without_enough_training_text_no_unknown_word_is_taken_for_a_slip() -> None:
    assert change(make_finder(SENTENCES), "chidren went home") is None


def test_a_word_that_may_be_two_others_stays() -> None:
    training = (*TRAINING, *("They hurt the hart.",) * 30)
    assert change(make_finder(training), "I want the hrt") is None


@pytest.mark.parametrize("typed", ["the childre nwent home", "the childrenw ent home"])
def test_a_blank_is_typed_a_letter_too_early_or_too_late(typed: str) -> None:
    assert respell(typed) == "the children went home"


def test_words_before_it_do_not_decide_about_a_word() -> None:
    finder = make_finder()
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
    finder = make_finder()
    assert [read(finder, text) for text in texts] == [respell(text) for text in texts]


def test_slips_are_not_looked_for_in_what_is_no_word() -> None:
    finder = make_finder()
    assert change(finder, "children " + "ca" * 50_000) is None  # took gigabytes
    assert not finder.may_be_mistyped("Ca" * 50_000, is_first=True)


@given(st.text("abcdefghij '’.XÄ\n"))
def test_each_letter_has_an_origin(text: str) -> None:
    respelled = change(make_finder(), text)
    if respelled is not None:
        assert len(respelled[0].origins) == len(respelled[0].text)
        assert list(respelled[0].origins) == sorted(respelled[0].origins)
