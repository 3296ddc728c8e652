"""Tests of wrapping: text of others is shown, and never obeyed by a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.wrapping import count_columns, escape_controls, escape_line, format_count, wrap_text

LINE = "rnn · additive attention · GRU 2x256 / 512 · 4.6 M parameters        CPU, 2 cores, float32"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_line_breaks_between_words_alone(width: int) -> None:
    lines = wrap_text(LINE, width)
    assert all(len(line) <= width for line in lines)
    assert " ".join(lines).split() == LINE.split()


def test_a_line_that_fits_keeps_its_blanks() -> None:
    assert wrap_text(LINE, 120) == [LINE]


def test_further_lines_are_indented_by_two_more_than_the_first() -> None:
    assert wrap_text("  ! numbers differ in line 41", 20) == ["  ! numbers differ", "    in line 41"]
    assert wrap_text("one two three", 8, hang=0) == ["one two", "three"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("hint: first make it with `nmt prepare a.tsv`", ["hint: first make it with", "  `nmt prepare a.tsv`"]),
        ("  nmt prepare toy.tsv --force -q -v", ["  nmt prepare toy.tsv --force -q -v"]),
        ("a much larger test set   nmt prepare toy.tsv", ["a much larger test set", "  nmt prepare toy.tsv"]),
        ('hint: so: echo "a b c" | nmt translate', ["hint: so:", '  echo "a b c" | nmt translate']),
        (
            "  nmt prepare /home/me/toy.tsv --test 500 --force",
            ["  nmt prepare /home/me/toy.tsv \\", "    --test 500 --force"],
        ),
        (
            "           nmt translate --report q.html a.txt",
            ["           nmt translate \\", "             --report q.html a.txt"],
        ),
        (
            'so: echo "one two three four" | nmt translate --model eng-deu',
            ["so:", '  echo "one two three four" \\', "    | nmt translate \\", "    --model eng-deu"],
        ),
        ("error: a model is here, type --model deu", ["error: a model is here, type", "  --model deu"]),
        ("Hypotheses kept at each one. [default: 5]", ["Hypotheses kept at each one.", "  [default: 5]"]),
        ("error: nmt prepared nothing at all today", ["error: nmt prepared nothing at all", "  today"]),
        ("Details: nmt translate --info. To train: nmt", ["Details: nmt translate --info. To", "  train: nmt"]),
        ("so: nmt translate --info, with another model", ["so: nmt translate --info, with", "  another model"]),
        (
            'so: nmt visualize "Wait. Why, though?" -o ... b.png',
            ["so:", "  nmt visualize \\", '    "Wait. Why, though?" -o ... \\', "    b.png"],
        ),
    ],
)
def test_a_command_is_broken_only_as_a_shell_reads_it(text: str, lines: list[str]) -> None:
    assert wrap_text(text, 36) == lines


def test_a_word_that_is_wider_than_the_line_stays_whole() -> None:
    assert wrap_text("see /a/path/that/is/long here", 12, hang=0) == ["see", "/a/path/that/is/long", "here"]


def test_a_choice_may_break_after_a_bar() -> None:
    assert wrap_text("--attention none|additive|dot|general", 20, hang=2) == [
        "--attention none|",
        "  additive|dot|",
        "  general",
    ]


def test_wide_characters_take_two_columns() -> None:
    assert count_columns("駅 é") == 4
    assert wrap_text("駅は どこ ですか", 9, hang=0) == ["駅は どこ", "ですか"]


@given(st.lists(st.text("abc.,-|", min_size=1, max_size=9), min_size=1, max_size=20), st.integers(12, 60))
def test_no_word_is_lost_or_doubled(words: list[str], width: int) -> None:
    lines = wrap_text(" ".join(words), width, hang=0)
    assert " ".join(lines).split() == words
    assert all(len(line) <= width for line in lines)


def test_a_count_has_its_noun_in_the_right_number() -> None:
    assert [format_count(number, "epoch") for number in (0, 1, 2, 2000)] == [
        "0 epochs",
        "1 epoch",
        "2 epochs",
        "2,000 epochs",
    ]
    assert format_count(2, "hypothesis", "hypotheses") == "2 hypotheses"


# The line ends of Unicode, and what begins or ends an embedding, an override or an isolate (UAX 9).
BIDI = "LRE RLE PDF LRO RLO LRI RLI FSI PDI".split()
TURNS = {"\u2028", "\u2029"} | {
    character for character in map(chr, range(0x2028, 0x206A)) if unicodedata.bidirectional(character) in BIDI
}


@given(st.text())
def test_nothing_that_is_printed_is_a_control_character(text: str) -> None:
    assert not any(
        unicodedata.category(character) == "Cc" for character in escape_controls(text) if character not in "\t\n"
    )
    assert not TURNS.intersection(escape_line(text), "\n")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_all_other_text_stays_as_it_is(text: str) -> None:
    assert escape_controls(text) == text
    assert TURNS.intersection(text) or escape_line(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("\x1b]0;title\x07", r"\x1b]0;title\x07"), ("\x9b2J", r"\x9b2J"), ("a\rb", r"a\x0db"), ("a\tb\nc", "a\tb\nc")],
)
def test_a_control_character_is_shown_by_its_number(text: str, shown: str) -> None:
    assert escape_controls(text) == shown


def test_a_mark_that_turns_the_direction_is_shown_in_messages_alone() -> None:
    name = "annual\u202efdp.exe"
    assert (escape_controls(name), escape_line(name)) == (name, r"annual\u202efdp.exe")
