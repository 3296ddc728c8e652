import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.normalise import normalise
from nmt_cli.translation.repair.faults import count_any_word_repeats, count_block_repeats, find_fault

FAULTY = [
    ("Where is the station?", "", "empty"),
    ("Where is the station?", "  ", "empty"),
    ("He came home.", "Er kam nach Hause nach Hause nach Hause.", "loop"),
    ("He came home.", "Er kam und und und und", "loop"),
    ("Tom pushed the gate open.", "Tom nüntete den Schnfffffffffffff.", "loop"),
    ("No, no, no!", "Nein, nein, nein, nein, nein, nein, nein!", "loop"),
    ("The station.", "Der Bahnhof ist? Bahnhof ist? Bahnhof? Bahnhof ist der Bahnhof?", "loop"),
    ("He likes tea.", "他喜欢茶他喜欢茶他喜欢茶他喜欢茶他喜欢茶他喜欢茶", "loop"),
    ("He said it was late.", "....................", "loop"),
    ("where is the station", "where is the station", "copied"),
    ("Then Tom said that it was late.", "then Tom said that it was late", "copied"),
    ("我们明天去北京看朋友", "我们明天去北京看朋友", "copied"),
    ("Did ⟦0⟧ or ⟦1⟧ come?", "Kam ⟦0⟧ oder?", "spans"),
    ("Did ⟦0⟧ or ⟦1⟧ come?", "Kam ⟦0⟧ oder ⟦0⟧ ⟦1⟧?", "placeholder"),
    ("Did ⟦0⟧ or ⟦1⟧ come?", "Kam ⟦1⟧, ⟦0⟧?", "enclosed words"),
    ("⟦0⟧, ⟦1⟧ and ⟦2⟧ came", "⟦0⟧, ⟦1⟧, ⟦2⟧ kamen", "enclosed words"),
    ("Cannot read ⟦0⟧: ⟦1⟧", "⟦0⟧: ⟦1⟧", "empty"),
]
FAULTLESS = [
    ("No no no!", "Nein, nein, nein!"),
    ("the ⟦0⟧", "⟦0⟧"),
    ("Ha ha ha ha!", "Ha ha ha ha!"),
    ("Ha ha ha ha ha ha ha!", "Ha, ha, ha, ha, ha, ha, ha!"),
    ("Nooooooooo!", "Neiiiiiiiin!"),
    ("It is very, very good.", "Es ist sehr, sehr, sehr gut."),
    ("again and again and again", "immer wieder und immer wieder und immer wieder"),
    ("That costs one million.", "Das kostet 1000000."),
    ("He said ...", "Er sagte ....."),
    ("Tom Smith", "Tom Smith"),
    ("New York, Rio, Tokyo, Kuala Lumpur", "New York, Rio, Tokyo, Kuala Lumpur"),
    ("https://example.org/one/two", "https://example.org/one/two"),
    ("42 17 2026", "42 17 2026"),
    ("taxi, hotel, restaurant", "Taxi, Hotel, Restaurant"),
    ("Did ⟦0⟧ or ⟦1⟧ come?", "Kam ⟦1⟧ oder ⟦0⟧?"),
    ("⟦0⟧, ⟦1⟧ (⟦2⟧) came", "⟦0⟧, ⟦1⟧ (⟦2⟧) kamen"),
    ("", ""),
    ("   ", ""),
]


@pytest.mark.parametrize(("source", "target", "expected"), FAULTY)
def test_what_went_wrong_is_named(source: str, target: str, expected: str) -> None:
    assert find_fault(source, target, finished=True) == expected


@pytest.mark.parametrize(("source", "target"), FAULTLESS)
def test_repetition_and_copies_that_belong_there_are_no_fault(source: str, target: str) -> None:
    assert find_fault(source, target, finished=True) is None


def test_a_translation_that_does_not_end_runs_away() -> None:
    assert find_fault("Where is it?", "Wo ist es denn und dann", finished=False) == "runaway"


def test_within_one_language_a_copy_is_no_fault() -> None:
    assert find_fault("where is the station", "where is the station", finished=True, same_language=True) is None


@given(st.text(max_size=40), st.integers(1, 8))
def test_what_the_source_repeats_the_target_may_repeat_as_often(text: str, times: int) -> None:
    repeated = normalise(" ".join([text] * times))  # as every translation is
    assert find_fault(repeated, repeated, finished=True, same_language=True) is None


def test_repeats_are_counted_on_end() -> None:
    assert count_block_repeats("abababx", 2) == 3
    assert count_block_repeats("abxab", 2) == 1
    assert count_block_repeats("aaaa", 1) == 4


def test_the_work_of_looking_for_repeats_grows_with_the_text() -> None:
    """Counts comparisons: four times the words take about four times as many."""

    class Word(str):
        compared = 0
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            Word.compared += 1
            return str.__eq__(self, other)

    counts = []
    for size in (1_000, 4_000):
        Word.compared = 0
        assert count_any_word_repeats([Word(number) for number in range(size)]) == 1
        counts.append(Word.compared)
    assert counts[1] <= 4.2 * counts[0]
