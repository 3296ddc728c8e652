"""Words in quotes are also translated without them, and the likelier translation is taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.prose_marks import QUOTED_WORDS
from nmt_cli.carrying.spans import Attempt
from nmt_cli.translation.repair.asks import MOST_ASKED
from support.scripted_translator import ScriptedTranslator, repair_line


def find_marks(text: str, target: str = "", read: str | None = None) -> list[str]:
    """The quotes that are taken out of a text, with their places, as they are written."""
    attempt = Attempt(text, (), text if read is None else read, target, lambda span: True)
    return [f"{span.start}{span.text}" for span in QUOTED_WORDS.find_doubtful(attempt)]


@pytest.mark.parametrize(
    "line", ['we "have" cats.', "we have “3 cats” and dogs.", "they 'came' to go.", "we have ‘cats’."]
)
@pytest.mark.parametrize(("price", "is_taken_out"), [(0.1, True), (-0.1, False)])
def test_the_likelier_translation_is_taken(line: str, price: float, is_taken_out: bool) -> None:
    quotes = "\"“”'‘’"
    translator = ScriptedTranslator(
        lambda text: text.replace("e", "o") if set(quotes) & set(text) else text, price=price
    )
    translation = repair_line(translator, line)
    assert len(translator.given) == 2 and not set(quotes) & set(translator.given[1])
    assert translation.text == (line if is_taken_out else line.replace("e", "o"))


def test_a_line_of_quotes_is_read_again_within_a_budget() -> None:
    translator = ScriptedTranslator(str, price=0.1)
    repair_line(translator, 'we "have" cats. ' * (MOST_ASKED + 8))
    assert len(translator.given) == 2 * MOST_ASKED + 8


@pytest.mark.parametrize(("without_quotes", "is_taken_out"), [("it is", False), ("zoom", True)])
def test_a_reading_that_loses_the_quoted_word_is_not_taken(without_quotes: str, is_taken_out: bool) -> None:
    """Words that nothing attends to count as lost if the translation is as likely without them."""
    rules = {'it is "stop".': "it is due.", "it is stop.": without_quotes, "it is.": "it is."}
    translator = ScriptedTranslator(rules.__getitem__, price=0.1)
    assert (repair_line(translator, 'it is "stop".').text == "it is due.") != is_taken_out


@pytest.mark.parametrize(
    ("text", "target", "marks"),
    [
        ('the "new" car', "das „neue“ Auto", ["4„", "8“"]),
        ("the “new” car", 'das "neue" Auto', ['4"', '8"']),
        ("le «nouveau» film", "the new film", ["3«", "11»"]),
        ('a "b" and "c d".', "„b“", ['2"', '4"', '10"', '14"']),  # fewer than there were: as in the source
        ("the 'new' and \"old\" car", "„alte“", ["4'", "8'", "14„", "18“"]),
    ],
)
def test_quotes_are_written_as_the_network_writes_them(text: str, target: str, marks: list[str]) -> None:
    assert find_marks(text, target) == marks


@pytest.mark.parametrize(
    "text",
    [
        '"Where is it?" "There."',
        'He said, "I know."',
        "the dogs' and the cats' food",
        '5" and 7" disks',
        'write "==" here',
        "don't, can't",
    ],
)
def test_speech_apostrophes_inches_and_signs_are_left_to_the_network(text: str) -> None:
    assert find_marks(text) == []


def test_quotes_that_are_off_already_are_not_looked_for() -> None:
    assert find_marks('"the new car"', read="the new car") == []


@given(st.text("ab A.'\"“”„«»‘’", max_size=30))
def test_quotes_come_in_pairs_around_letters(text: str) -> None:
    spans = QUOTED_WORDS.find_doubtful(Attempt(text, (), text, text, lambda span: True))
    assert [span.pair.closes for span in spans] == [False, True] * (len(spans) // 2)
    assert all(
        any(map(str.isalpha, text[start.end : end.start])) for start, end in zip(spans[::2], spans[1::2], strict=True)
    )
