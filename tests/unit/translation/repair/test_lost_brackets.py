"""Brackets and slashes that a network loses are put around the same words again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.kinds import IF_LOST
from nmt_cli.carrying.prose_marks import BRACKET_PAIRS
from nmt_cli.carrying.spans import NO_CONTEXT, Attempt
from nmt_cli.translation.config import LineOptions
from nmt_cli.translation.result import Repair
from nmt_cli.translation.segmentation.line_reader import LineReader
from support.scripted_translator import ScriptedTranslator, repair_line


def translate_without_marks(line: str, *, loses: str = "()[]/") -> tuple[str, list[str], tuple[Repair, ...]]:
    """What a network writes that writes lines as they are, but for marks; what it reads; and the repairs.

    Attention places each mark between its words, so that nobody needs to check its place.
    """
    rule = str.maketrans(dict.fromkeys(loses, " "))
    translator = ScriptedTranslator(lambda text: " ".join(text.translate(rule).split()))
    translation = repair_line(translator, line)
    assert not any(placed.doubtful for placed in translation.placed if placed.text in "()[]/")
    return translation.text, translator.given, translation.repairs


@pytest.mark.parametrize(
    "line",
    [
        "we have (they came) cats.",
        "we [have] cats and (miles to) go.",
        "we have (it is [they came] to go) dogs.",
        "we have cats/dogs.",
    ],
)
def test_lost_marks_stand_around_the_same_words_again(line: str) -> None:
    text, read, repairs = translate_without_marks(line)
    assert text == line
    assert len(read) == 2 and not set("()[]/") & set(read[1])
    assert repairs == (Repair("brackets", "protected brackets"),)


@pytest.mark.parametrize("line", ["we have cats.", "we have cats/dogs.", ":-( we have."])
def test_marks_that_are_there_are_left_to_the_network(line: str) -> None:
    _, read, repairs = translate_without_marks(line, loses="")
    assert len(read) == 1 and repairs == ()


@pytest.mark.parametrize(("price", "verb"), [(0.1, "have"), (0.0, "miss"), (-0.1, "miss")])
def test_where_no_bracket_is_lost_the_likelier_translation_is_taken(price: float, verb: str) -> None:
    translator = ScriptedTranslator(lambda text: text.replace("have", "miss") if "(" in text else text, price=price)
    translation = repair_line(translator, "we have (cats).")
    assert (translation.text, translation.repairs) == (f"we {verb} (cats).", ())
    assert translator.given == ["we have (cats).", "we have cats."]


@pytest.mark.parametrize("line", ["we have dog(s).", "we have (cats.", "we have 1/2 dogs.", "we have cats) and dogs."])
def test_marks_within_a_word_or_without_a_partner_are_not_searched_again(line: str) -> None:
    _, read, _ = translate_without_marks(line)
    assert len(read) == 1


def test_a_slash_between_words_for_which_one_was_written_stays_lost() -> None:
    translator = ScriptedTranslator(lambda text: "we have cats." if "/" in text else "we have cats")
    translation = repair_line(translator, "we have cats/dogs.")
    assert translation.text == "we have cats." and len(translator.given) == 2 and translation.repairs == ()


@given(st.text("ab ()[]{}/", max_size=30))
def test_brackets_come_in_pairs(text: str) -> None:
    spans = BRACKET_PAIRS.find_pairs(text)
    assert [span.text for span in spans] == [text[span.start : span.end] for span in spans]
    assert sum(not span.pair.closes for span in spans) == sum(span.pair.closes for span in spans)
    depth = 0
    for span in spans:
        depth += -1 if span.pair.closes else 1
        assert depth >= 0


@given(st.text("ab ()[]/", max_size=30))
def test_nothing_is_lost_where_the_translation_is_the_source(text: str) -> None:
    for piece in LineReader(LineOptions(), copies_placeholders=True).split_line(text):
        same = Attempt(piece.segment.text, piece.segment.spans, piece.text, piece.text, lambda span: True)
        assert [kind.list_carried(same, NO_CONTEXT) for kind in IF_LOST] == [[]] * len(IF_LOST)
