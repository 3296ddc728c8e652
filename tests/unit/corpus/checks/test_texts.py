"""Tests of `corpus/checks/texts.py`.

The checks of a single text: what they mend, and what they leave alone. The checks of a single pair: what they find,
and what they leave alone. Duplicates, and sentences that training shares with dev or test data. Lengths and ratios of
lengths, which are learned from the corpus or set by options."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.scratch import count_values
from nmt_cli.arrays.shifts import find_shifts
from nmt_cli.corpus.checks import CHECKS, TEXT_CHECKS, check_names
from nmt_cli.corpus.checks.texts import (
    Control,
    Empty,
    Identical,
    IdenticalShort,
    LostCharacters,
    Markup,
    Mojibake,
    Numbers,
    learn_length_limit,
)
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.steps.run_checks import run_checks
from nmt_cli.errors import OptionError
from support.corpora import check_rows, examine_rows, example_lines, toy_pairs


@pytest.mark.parametrize("text", ["für", "naïve – “ja”", "Привет", "日本語", "😀 café", "Ñandú", "l’été"])
def test_text_that_was_read_in_the_wrong_encoding_is_mended(text: str) -> None:
    misread = "".join(bytes([b]).decode("cp1252", "ignore") or chr(b) for b in text.encode())
    assert Mojibake().mend_text(misread) == text
    assert Mojibake().mend_text(text) == text


@pytest.mark.parametrize("text", ["„Ich vergaß“, sagte er.", "»SPÄ«", "là »", "«À»", "AÇÃO", "größer…", "Ä“", "100 Â"])
def test_good_text_that_looks_alike_is_left_alone(text: str) -> None:
    assert Mojibake().mend_text(text) == text


@given(st.text(max_size=40))
def test_menders_take_any_text_and_leave_nothing_to_mend_twice(text: str) -> None:
    for check in TEXT_CHECKS:
        if not isinstance(check, Mojibake | Markup):  # what was escaped twice is mended twice
            assert check.mend_text(check.mend_text(text)) == check.mend_text(text)
        assert isinstance(check.mend_text(text), str)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("stone &amp; tile", "stone & tile"),
        ("caf&eacute; &#8364;5 &#x20AC;", "café €5 €"),
        ("<b>bold</b> and <A HREF='x'>link</a>", "bold and link"),
        ("one<br/>two", "one two"),
        ("one <i> two </i> three <b>four", "one  two  three four"),
        ("a < b and c > d, I <3 you, <name>, AT&T; R&D", "a < b and c > d, I <3 you, <name>, AT&T; R&D"),
    ],
)
def test_entities_and_known_tags_become_text(text: str, mended: str) -> None:
    assert Markup().mend_text(text) == mended


@pytest.mark.parametrize(
    "text",
    [
        "The character é would be replaced by &eacute; or another.",
        'If the code "<SPAN>" occurs, it is ignored.',
        "Write “&amp;” or `<br>`.",
        "Use the <b> tag for that.",
        "Das Element <span> hat keine Bedeutung.",
        "Gemeint sind <OL>- und <UL>-Markierungen, nicht (<b>).",
        "The sizes are those of the <font size=1> to <font size=7> tags.",
    ],
)
def test_text_about_markup_is_no_markup(text: str) -> None:
    assert Markup().mend_text(text) == text


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ('"<i>Hello</i>", he said.', '"Hello", he said.'),
        ("<i>Half of a pair.", "Half of a pair."),
        ("one <br> two", "one   two"),
        ("see <b> this </b> word", "see  this  word"),
        ("Tom &amp; Ann & Bob", "Tom & Ann & Bob"),
    ],
)
def test_markup_in_quotes_or_halves_is_mended(text: str, mended: str) -> None:
    assert Markup().mend_text(text) == mended


def test_control_characters_go() -> None:
    assert Control().mend_text("a\0b\u200bc\x1b") == "abc"


def test_pairs_by_themselves() -> None:
    assert Empty().has_problem("", "x") and Empty().has_problem("x", "") and not Empty().has_problem("x", "y")
    assert LostCharacters().has_problem("caf\ufffd", "x") and not LostCharacters().has_problem("café", "?")
    assert LostCharacters().has_problem("He eats.", "?mikwa") and not LostCharacters().has_problem("?Come?", "Eat?")
    assert LostCharacters().has_problem("ni?o", "x") and not LostCharacters().has_problem("Really?No!", "¿Qué? ¿no?")
    assert Identical().has_problem("a b c d", "a b c d") and not Identical().has_problem("a b c", "a b c")
    assert IdenticalShort().has_problem("Taxi!", "Taxi!") and not IdenticalShort().has_problem("", "")


@pytest.mark.parametrize(
    ("source", "target", "disagree"),
    [
        ("5 dogs", "6 Hunde", True),
        ("1,000,000 men", "1.000.000 Mann", False),
        ("5 000", "5000", False),
        ("1999 200", "1999 200", False),
        ("three dogs", "3 Hunde", False),
        ("٣ dogs", "3 Hunde", False),
        ("7 and 8", "8 und 7", False),
        ("at 07:05", "um 7:05", False),
    ],
)
def test_numbers_disagree_only_where_both_sides_have_some(source: str, target: str, disagree: bool) -> None:
    assert Numbers().has_problem(source, target) is disagree


def test_duplicates_are_exact_or_equal_in_form_and_the_first_stays() -> None:
    findings = check_rows(
        [("A b", "X y"), ("c", "z"), ("A b", "X y"), ("a B", "x Y"), ("A b", "other"), ("A b", "X y")]
    )
    assert (findings["duplicate"].count, example_lines(findings, "duplicate")) == (2, [3, 6])
    assert (findings["duplicate-form"].count, example_lines(findings, "duplicate-form")) == (1, [4])
    assert findings["many-targets"].action == "reported"
    assert example_lines(findings, "many-targets") == [1, 5]


def test_exact_repeats_that_are_kept_are_no_duplicates_in_form() -> None:
    rows = [("A b", "X y"), ("c", "z"), ("A b", "X y"), ("a B", "x Y")]
    findings = check_rows(rows, PrepareOptions(keep=("duplicate",)))
    assert (findings["duplicate"].action, example_lines(findings, "duplicate")) == ("kept", [3])
    assert example_lines(findings, "duplicate-form") == [4]


def test_training_pairs_that_touch_given_test_data_are_dropped() -> None:
    rows = [("a", "1"), ("b", "2"), ("C!", "3"), ("d", "4"), ("c!", "x"), ("y", "2"), ("b", "z"), ("d", "w")]
    pairs = examine_rows(rows, roles=["train", "test", "dev"], inputs=[0, 0, 0, 0, 1, 1, 2, 2])
    findings = {finding.check: finding for finding in run_checks(pairs, PrepareOptions(), lambda done: None)}
    assert findings["held-out"].count == 3  # b and C! for test, d for dev
    assert pairs.is_kept.tolist() == [True, False, False, False, True, True, True, True]


def test_given_dev_pairs_that_touch_given_test_data_are_dropped_too() -> None:
    rows = [("a", "1"), ("b", "2"), ("b", "3")]
    pairs = examine_rows(rows, roles=["train", "dev", "test"], inputs=[0, 1, 2])
    run_checks(pairs, PrepareOptions(), lambda done: None)
    assert pairs.is_kept.tolist() == [True, False, True]


def test_lengths_are_learnt_from_the_corpus_and_options_set_them() -> None:
    short, long = np.full(1000, 8), np.full(1000, 60)
    noise = np.random.default_rng(1).lognormal(0, 0.4, 1000)
    assert learn_length_limit(count_values([(short * noise).astype(np.int32)])) == 100
    assert 300 < learn_length_limit(count_values([(long * noise).astype(np.int32)])) < 700
    rows = [*toy_pairs(300), ("a " * 120 + "b", "c " * 119 + "d"), ("x" * 5000, "y " * 90 + "z")]
    assert check_rows(rows)["too-long"].count == 2
    assert check_rows(rows, PrepareOptions(max_length=300))["length-ratio"].count == 1
    assert check_rows(rows, PrepareOptions(max_length=6))["too-long"].count == 302


def test_ratios_are_learnt_from_the_corpus() -> None:
    """Chinese has a third of the characters of its English; that is usual there, and equal lengths are not."""
    generator = random.Random(1)
    lengths = [generator.randint(4, 12) for _ in range(1000)]
    rows = [("word " * n + str(i), "字" * (2 * n) + str(i)) for i, n in enumerate(lengths)]
    assert "length-ratio" not in check_rows(rows)
    rows[500] = (rows[500][0], "字" * 90)
    rows[700] = (rows[700][0] + " word" * 20, "字字")
    assert example_lines(check_rows(rows), "length-ratio") == [501, 701]


def test_a_fixed_ratio_is_of_words_and_spares_short_pairs() -> None:
    rows = [("a b c d e", "x"), ("a b c d e f", "x y"), ("a b c d e f", "x"), ("x", "a b c d e f")]
    assert example_lines(check_rows(rows, PrepareOptions(max_ratio=3)), "length-ratio") == [3, 4]


# Parallel files whose lines are shifted against each other.


def lengths(number: int, seed: int = 1) -> tuple[list[int], list[int]]:
    generator = np.random.default_rng(seed)
    source = generator.lognormal(3.5, 0.5, number) + 1
    return source.astype(int).tolist(), (source * generator.lognormal(0.1, 0.2, number) + 1).astype(int).tolist()


@pytest.mark.parametrize("lines", [1, -1, 3, -7])
@pytest.mark.parametrize("first", [0, 150, 1200])
def test_shifted_lines_are_found_with_their_first_line(lines: int, first: int) -> None:
    source, target = lengths(3000)
    moved = target[first:]
    moved = [20] * lines + moved[:-lines] if lines > 0 else moved[-lines:] + [20] * -lines
    shifts = find_shifts(source, target[:first] + moved)
    assert [shift.lines for shift in shifts] == [lines]
    assert abs(shifts[0].first - first) <= 10
    assert shifts[0].end == 3000


def test_a_shift_that_is_made_good_ends_there() -> None:
    source, target = lengths(3000)
    shifts = find_shifts(source, [*target[:1000], 5, *target[1000:1999], *target[2000:]])
    assert len(shifts) == 1
    assert abs(shifts[0].first - 1000) <= 5 and abs(shifts[0].end - 2000) <= 5


@pytest.mark.parametrize("seed", range(5))
def test_lines_in_place_are_not_shifted_also_when_sorted_or_random_or_few(seed: int) -> None:
    source, target = lengths(3000, seed)
    assert find_shifts(source, target) == []
    assert find_shifts(sorted(source), sorted(target)) == []
    assert find_shifts(source, lengths(3000, seed + 10)[1]) == []
    assert find_shifts(source[:150], target[:150]) == []
    assert find_shifts([7] * 500, [9] * 500) == []


def test_shifted_pairs_are_dropped_and_the_line_is_told() -> None:
    source, target = lengths(1000)
    texts = [("s" * a, "t" * b) for a, b in zip(source, [*target[:600], 9, *target[600:-1]], strict=True)]
    finding = check_rows([(f"{a} {i}", f"{b} {i}") for i, (a, b) in enumerate(texts)])["shifted"]
    assert finding.action == "dropped" and 395 <= finding.count <= 405
    assert "0.tsv from about line " in finding.note and "to 1,000, by 1 line" in finding.note


# The table of all checks, and the names that `--keep` accepts.


def test_unknown_checks_and_leaks_cannot_be_kept() -> None:
    with pytest.raises(OptionError, match="there is no check 'swaped'") as caught:
        check_names(("swaped",))
    assert caught.value.hint == "did you mean 'swapped'?"
    with pytest.raises(OptionError, match="cannot be kept"):
        check_names(("held-out",))


def test_every_check_has_a_name_of_its_own_and_says_what_it_finds() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names) < 32
    assert all(check.problem and check.action in ("dropped", "mended", "reported") for check in CHECKS)
