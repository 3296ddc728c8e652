"""A given translation is read piece by piece, as the search reads its source; else it is scored as a whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.glossary import Glossary
from nmt_cli.carrying.kinds import is_amount
from nmt_cli.carrying.numbers import NumberNotation
from nmt_cli.text.normalise import normalise
from nmt_cli.text.wrapping import CONTROLS
from nmt_cli.translation.config import LineOptions
from nmt_cli.translation.segmentation.line_reader import LineReader, match_pieces
from support.spans import lines_with_spans

READER = LineReader(LineOptions(), copies_placeholders=True)


def match(source: str, target: str) -> list[tuple[str, str | None]] | None:
    """Returns the text of each piece that is translated with that of its target; None for a piece that is kept."""
    matched = match_pieces(READER.split_line(source), normalise(target), READER)
    if matched is None:
        return None
    return [(piece.text, target.masked.text if target is not None else None) for piece, target in matched]


def test_each_sentence_gets_its_own_translation() -> None:
    source, target = "We are late. Where is the bus? It rains.", "Wir sind spät. Wo ist der Bus? Es regnet."
    assert match(source, target) == [
        ("We are late.", "Wir sind spät."),
        ("Where is the bus?", "Wo ist der Bus?"),
        ("It rains.", "Es regnet."),
    ]


@pytest.mark.parametrize("target", ["Wir sind spät, denn es regnet.", "Wir sind spät. Es regnet. Ja.", ""])
def test_another_number_of_sentences_is_scored_as_a_whole(target: str) -> None:
    assert match("We are late. It rains.", target) is None


def test_what_translation_keeps_is_kept() -> None:
    assert match("- first of all", "- zuallererst") == [("", None), ("first of all", "zuallererst")]
    assert match("- first of all", "* zuallererst") is None


@pytest.mark.parametrize("line", ["🙂🙂", "12 / 30", "https://a.example/b"])
def test_a_line_without_words_is_its_own_translation(line: str) -> None:
    assert match(line, line) == [("", None)]
    assert match(line, f"{line} und mehr") is None


def test_spans_are_masked_as_the_source_has_them() -> None:
    assert match("Mail to a@b.example or c@d.example.", "Schreib an c@d.example oder a@b.example.") == [
        ("Mail to ⟦0⟧ or ⟦1⟧.", "Schreib an ⟦1⟧ oder ⟦0⟧.")
    ]
    assert match("Mail to a@b.example.", "Schreib uns.") is None


def test_characters_that_a_text_cannot_have_are_removed_from_both_sides() -> None:
    assert match("Did Tom \ufdd0swim?", "Ist Tom \ufdd0geschwommen?") == [("Did Tom swim?", "Ist Tom geschwommen?")]


# What stands around the words of a line comes back exactly, and the network never sees it.


def test_numbers_of_list_marks_and_of_versions_keep_their_notation() -> None:
    class Comma:
        keeps_digits = None

        def find_target_decimal(self, mark: str) -> str:
            return ","

        find_target_thousands = find_target_decimal

    reader = LineReader(LineOptions(), copies_placeholders=True, notation=NumberNotation(".", ",", Comma()))
    pieces = reader.split_line("3.1. Version 2.5 costs 7.50 here.")
    assert [[span.text for span in piece.spans] for piece in pieces] == [["3.1"], ["2.5", "7,50"]]


def test_a_blank_line_has_no_pieces() -> None:
    assert READER.split_line("") == READER.split_line(" \t ") == []


def test_nothing_is_framed_where_nothing_is_carried_or_a_prefix_is_forced() -> None:
    plain = LineReader(LineOptions(protect=False), copies_placeholders=True)
    assert [piece.text for piece in plain.split_line("2. it rains:")] == ["2. it rains:"]
    assert [piece.text for piece in READER.split("- it rains", whole=True)] == ["- it rains"]


@given(lines_with_spans())
def test_the_pieces_of_any_line_hold_all_of_it(line: str) -> None:
    if not normalise(line):  # control characters alone are a blank line
        return
    pieces = READER.split_line(line)
    assert keep_signs("".join(piece.segment.text for piece in pieces)) == keep_signs(line)


def keep_signs(text: str) -> str:
    """Returns a text without blanks and control characters, which are blank where they stand alone."""
    return "".join(re.sub(CONTROLS, "", text).split())


@given(
    before=st.sampled_from(["", "- ", "3. ", "(", "<b>", "  ", "> "]),
    after=st.sampled_from(["", ":", "...", " 😀", "</b>", ")"]),
)
def test_word_ranges_follow_the_words_of_the_line(before: str, after: str) -> None:
    from nmt_cli.translation.placement.alignment import split_ranges

    line = f"{before}it rains{after}"
    pieces = READER.split_line(line)
    ranges = list(split_ranges((" " if piece.segment.blank_before else "") + piece.source_text for piece in pieces))
    assert ranges[-1].stop == len(line.split())
    words = next(ranges[index] for index, piece in enumerate(pieces) if piece.is_translated)
    assert line.split()[words[-1]].startswith("rains")


AMOUNTS_ALONE = {
    "$1,234.56": "$1.234,56",
    "€ 1,700.00": "€ 1.700,00",
    "12,500": "12.500",
    " 12,500  ": " 12.500  ",
    "10.5%": "10,5%",
    "1.5 TB": "1,5 TB",
    "(1,234.56)": "(1.234,56)",
    "-0.75": "-0,75",
    "2.5-3.5": "2,5-3,5",
    "1,000–1,500": "1.000–1.500",
    "$3.50  /  $4.50": "$3,50  /  $4,50",
    "$1,234.50 (10.5%)": "$1.234,50 (10,5%)",
    "*** 1,200.50 ***": "*** 1.200,50 ***",
}
NO_AMOUNTS = [
    *("1984", "192.168.100.200", "192.168.0.1", "1.2.3", "10.0.26100.2314", "2024-01-05", "05.10.2024", "12/10/2019"),
    *("12:30", "2024.01", "01.02", "007", "+49 30 123456", "030 1234567", "555-1234", "555.123.4567", "123.456.789-00"),
    *("12.345.678-9", "52.5200, 13.4050", "978-3-16-148410-0", "#123", "3.5/5", "1:2.5", "10 × 20.5", "1,2,3", ".5"),
]


class Swapped:
    """The marks of English and German, either way."""

    keeps_digits = None
    find_target_decimal = find_target_thousands = {".": ",", ",": "."}.get


ENGLISH, GERMAN = NumberNotation(".", ",", Swapped()), NumberNotation(",", ".", Swapped())


@pytest.mark.parametrize("glossary", [None, Glossary({"house": "Haus"})])
@pytest.mark.parametrize(
    ("notation", "text", "written"),
    [
        *((ENGLISH, *pair) for pair in AMOUNTS_ALONE.items()),
        *((GERMAN, written, text) for text, written in AMOUNTS_ALONE.items()),
        *((notation, text, text) for text in NO_AMOUNTS for notation in (ENGLISH, GERMAN)),
        *((None, text, text) for text in AMOUNTS_ALONE),
        (ENGLISH, ".5%", "0,5%"),
    ],
)
def test_an_amount_alone_is_written_as_in_a_sentence_and_all_else_stays(
    notation: NumberNotation | None, text: str, written: str, glossary: Glossary | None
) -> None:
    reader = LineReader(LineOptions(), copies_placeholders=True, notation=notation, glossary=glossary)
    (piece,) = reader.split_line(text)
    assert not piece.is_translated and piece.unchanged == written


@given(st.text("0123456789.,:/-+ ()'%$#", min_size=1, max_size=20))
def test_of_what_has_no_letters_only_the_marks_of_amounts_change(text: str) -> None:
    pieces = LineReader(LineOptions(), copies_placeholders=True, notation=ENGLISH).split_line(text)
    written = "".join(piece.unchanged for piece in pieces)
    same, other = (re.sub(r"(?<!\d)0(?=\.)", "", side.replace(",", ".")) for side in (text, written))
    assert other == (same if text.strip() else "")
    assert written == text or not text.strip() or is_amount(text)
