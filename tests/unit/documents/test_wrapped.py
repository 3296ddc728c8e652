"""Text whose paragraphs are wrapped: how it is recognised, joined, and wrapped again."""

import pytest

from nmt_cli.documents.document import is_wrapped
from support.translations import converted, louder, same

MAIL = (
    "Dear Tom,\n\nThis letter is for you and for nobody else.\nIf you are not Tom, please tell us that you\n"
    "have it, and then forget it. Nobody else is\nto know.\n\n> We have read your letter of last week. It\n"
    "> was a good one.\n\n- bring bread and the good butter from the\n  market. It is open on Sunday\n- a knife\n\n"
    "-- \nEva Berg\nin the old house\n"
)
VERSES = (
    "The rain has gone away today,\nthe sun is here, and we may play,\nAnd all the birds are in the tree\nand sing."
)
SENTENCES = (
    "The sun is warm today, and I am glad.\nWe go home when it is dark in the town.\nI have a house. It is old.\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MAIL, True),
        (VERSES, False),
        (SENTENCES * 3, False),
        (
            "a man in a red shirt is walking\na dog runs on the green grass\ntwo women are talking on a bench\n" * 3,
            False,
        ),
        ("- bread\n- butter\n- a good knife and a fork\n", False),
        ("one\ttwo\nthree\tfour\n", False),
        ("", False),
    ],
)
def test_wrapped_text_is_recognised(text: str, expected: bool) -> None:
    assert is_wrapped(text) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_paragraph_is_one_text_and_wrapped_again(end: str) -> None:
    written, notes = converted("wrapped", MAIL.replace("\n", end))
    assert notes == {}
    assert written == MAIL.replace("\n", end).upper()


def test_what_becomes_longer_gets_more_lines_with_the_marks_of_the_first() -> None:
    text = "> We have read your letter of last week. It\n> was a good one.\n"
    written = converted("wrapped", text, lambda one: louder(one.replace("good", "good and very long")))[0]
    assert written == "> WE HAVE READ YOUR LETTER OF LAST WEEK. IT\n> WAS A GOOD AND VERY LONG ONE.\n"


def test_what_is_not_changed_is_written_byte_for_byte() -> None:
    assert converted("wrapped", MAIL, same)[0] == MAIL
