"""Bible text: verses, headings and footnotes are translated, and every mark stays as it is."""

import random
import time

from nmt_cli.documents.document import Location
from nmt_cli.translation.result import Translation
from support.documents import convert_bytes, list_texts, open_bytes, read_sample
from support.translations import aligned, backwards, louder, same

GENESIS = read_sample("usfm")


def test_marks_stay_where_their_words_are_and_lines_of_poetry_stay_lines() -> None:
    written = convert_bytes("usfm", GENESIS.encode(), louder).decode()
    for line in (
        r"\mt1 THE FIRST BOOK",
        r"\v 1 AT FIRST GOD CREATED \f + \fr 1:1 \ft THE WORD IS \fq MADE\ft , AS OFTEN.\f* THE SKY."
        r"\x - \xo 1:1 \xt Jn 1.1\x*",
        r'\v 2-3 AND \nd GOD\nd* SAID, \wj “LET THERE BE \w LIGHT|lemma="light" strong="H216"\w*”\wj*, //AND THERE WAS '
        "LIGHT.",
        r"\q1 HE CALLED THE LIGHT DAY,",
        r"\q2 AND THE DARKNESS NIGHT.",
        r"\v 4 \va 5\va* IT WAS~GOOD.",
        r'\v 1 \qt-s |sid="a"\*THE WORK WAS FINISHED.\qt-e\*',
    ):
        assert line in written.split("\n")
    moved = convert_bytes("usfm", rb"\v 1 the \nd good Lord\nd* said", backwards).decode()
    assert moved == r"\v 1 SAID \nd LORD GOOD\nd* THE"


def test_each_mark_of_a_line_is_there_once_wherever_its_words_go() -> None:
    verse, chance = (
        "\\v 1 He called the light day,\n\\q2 and the dark night,\n\\q1 was good\n\\v 2 x\n",
        random.Random(5),
    )

    def shuffle(text: str) -> Translation:
        order = list(range(len(text.split())))
        chance.shuffle(order)
        return aligned(text, [text.split()[index] for index in order], order)

    for _ in range(50):
        written = convert_bytes("usfm", verse.encode(), shuffle).decode()
        assert [written.count(mark) for mark in ("\\v 1 ", "\\q1", "\\q2", "\n\\v 2 ")] == [1, 1, 1, 1]
        assert sorted(written.split()) == sorted(verse.split())


def test_a_verse_is_named_with_its_book_and_chapter() -> None:
    locations = [unit.location for unit in open_bytes("usfm", GENESIS.encode(), "de").read_units() if unit.texts]
    assert locations == [
        *[Location("GEN")] * 2,
        Location("GEN 1"),
        *(Location("GEN 1", f"GEN 1:{verse}") for verse in ("1", "2-3", "4")),
        Location("GEN 1"),
        Location("GEN 1", "GEN 1:4"),
        *(Location("GEN 2", f"GEN 2:{verse}") for verse in "1112223"),
    ]


def test_a_backslash_in_a_translation_makes_no_mark() -> None:
    assert convert_bytes("usfm", rb"\p one", lambda text: louder("a\\p b")) == rb"\p AP B"


def test_damaged_marks_lose_no_text_and_end_no_translation() -> None:
    chance = random.Random(3)
    for _ in range(300):
        text = GENESIS
        for _ in range(chance.randint(1, 6)):
            start = chance.randrange(len(text))
            text = text[:start] + text[start + chance.randint(1, 4) :]
        written = convert_bytes("usfm", text.encode(), same).decode()
        assert "".join(written.split()) == "".join(text.split()), text


def test_blanks_within_a_verse_take_time_that_grows_with_their_number() -> None:
    text = f"\\id GEN\n\\c 1\n\\p\n\\v 1 one{' ' * 50_000}//{' ' * 50_000}two\n".encode()
    started = time.process_time()
    assert list_texts("usfm", text) == ["one two"]
    assert time.process_time() - started < 5  # minutes, if each blank looked at all behind it
