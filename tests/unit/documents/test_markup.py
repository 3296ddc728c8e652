from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.documents.markup import Mark, MarkedText, project_marks
from support.translations import aligned, backwards, louder


def written(marked: MarkedText, words: str, links: list[int]) -> str:
    return project_marks(marked, aligned(marked.text, words.split(), links), str).text


def test_a_mark_goes_with_the_words_that_looked_at_its_own() -> None:
    marked = MarkedText("I have seen the red house", (Mark(16, 25, "<b>", "</b>"),))
    assert written(marked, "Ich habe das rote Haus gesehen", [0, 1, 3, 4, 5, 2]) == (
        "Ich habe das <b>rote Haus</b> gesehen"
    )


def test_marks_nest_and_change_their_order_with_their_words() -> None:
    text = "a b c d"
    marks = (Mark(0, 3, "[", "]"), Mark(2, 3, "*", "*", depth=1), Mark(6, 7, "_", "_"))
    assert project_marks(MarkedText(text, marks), backwards(text), str).text == "_D_ C [*B* A]"


def test_punctuation_outside_a_mark_stays_outside() -> None:
    marked = MarkedText("See (the docs).", (Mark(5, 13, "[", "](x)"),))
    assert project_marks(marked, louder(marked.text), str).text == "SEE ([THE DOCS](x))."


def test_blanks_inside_a_word_stay_as_they_are() -> None:
    amount = "10\u00a0000\u00a0€"
    for marks, expected in (((), f"zahlt {amount}"), ((Mark(5, 13, "*", "*"),), f"zahlt *{amount}*")):
        marked = MarkedText(f"pays {amount}", marks)
        assert project_marks(marked, aligned(marked.text, ["zahlt", amount], [0, 1]), str).text == expected
    spaced = aligned("{a  b}", ["{a  b}"], [0])
    assert project_marks(MarkedText("{a  b}"), spaced, str).text == "{a  b}"


def test_code_is_written_as_it_was_whatever_its_translation() -> None:
    marked = MarkedText("run make now.", (Mark(4, 8, fixed="`make`"),))
    assert written(marked, "jetzt machen Sie laufen.", [2, 1, 1, 0]) == "jetzt `make` laufen."


def test_a_mark_without_words_stays_behind_the_word_before_it() -> None:
    marked = MarkedText("one two three", (Mark(3, 3, fixed="[^1]"),))
    assert project_marks(marked, backwards(marked.text), str).text == "THREE TWO ONE[^1]"


def test_a_mark_whose_words_nobody_looked_at_is_placed_and_counted() -> None:
    marked = MarkedText("a b c", (Mark(2, 3, "*", "*"),))
    placed = project_marks(marked, aligned("a b c", ["A", "C"], [0, 2]), str)
    assert (placed.text, placed.guessed) == ("*A* C", 1)


def test_a_link_for_which_no_word_is_left_keeps_its_own_words() -> None:
    marked = MarkedText("a b", (Mark(0, 1, "[", "](x)"), Mark(2, 3, "[", "](y)")))
    placed = project_marks(marked, aligned("a b", ["AB"], [0]), str)
    assert placed.text == "[AB](x) [b](y)"


def test_marks_in_a_link_for_which_no_word_is_left_stay_on_its_own_words() -> None:
    marks = (Mark(0, 1, "[", "](x)"), Mark(2, 11, "[", "](y)"), Mark(6, 11, "**", "**", depth=1))
    placed = project_marks(MarkedText("a the first", marks), aligned("a the first", ["A"], [0]), str)
    assert placed.text == "[A](x) [the **first**](y)"
    assert placed.guessed


def test_one_stray_word_does_not_stretch_a_mark() -> None:
    marks = (Mark(2, 3, "**", "**"),)
    placed = project_marks(MarkedText("a b", marks), aligned("a b", list("ABCDEFGH"), [1, 0, 0, 0, 1, 1, 0, 1]), str)
    assert placed.text == "A B C D **E F** G H"


@st.composite
def marked_texts(draw: st.DrawFn) -> tuple[MarkedText, int]:
    """Words, and marks over runs of them that do not overlap."""
    words = draw(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=8))
    cuts = sorted(draw(st.sets(st.integers(0, len(words)), max_size=6)))
    starts = [sum(len(word) + 1 for word in words[:place]) for place in range(len(words) + 1)]
    marks = tuple(
        Mark(starts[first], starts[last] - 1, f"<{first}>", f"</{first}>")
        for first, last in zip(cuts[::2], cuts[1::2], strict=False)
    )
    return MarkedText(" ".join(words), marks), len(words)


@given(marked_texts(), st.lists(st.integers(0, 7), max_size=8))
def test_every_mark_is_written_once_whatever_attention_says(
    given_text: tuple[MarkedText, int], links: list[int]
) -> None:
    marked, count = given_text
    links = [link % count for link in links]
    words = [f"w{place}" for place in range(len(links))]
    text = project_marks(marked, aligned(marked.text, words, links), str).text
    for mark in marked.marks:
        assert text.count(mark.before) == text.count(mark.after) == 1
        assert text.index(mark.before) < text.index(mark.after)
    for word in words:
        assert text.count(word) == 1
