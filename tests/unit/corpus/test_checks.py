"""Each check: what it finds, and what it must leave alone."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt_cli.corpus.checks import CHECKS, TEXT_CHECKS, checked_names
from nmt_cli.corpus.checks.lengths import usual_limit
from nmt_cli.corpus.checks.scripts import SCRIPTS, main_scripts
from nmt_cli.corpus.checks.shifted import find_shifts
from nmt_cli.corpus.checks.single import Damaged, Empty, Identical, IdenticalShort, Numbers
from nmt_cli.corpus.checks.texts import Control, Markup, Mojibake
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.manifest import Example, Finding
from nmt_cli.corpus.steps.run_checks import diagnose, refuse_findings
from nmt_cli.errors import DataError, OptionError
from support.corpora import examined, toy_pairs


def findings(rows: list[tuple[str, str]], config: PrepareConfig | None = None, **given: object) -> dict[str, Finding]:
    """What is found in pairs, by check."""
    config = config or PrepareConfig()
    pairs = examined(rows, keep=config.keep, **given)
    return {each.check: each for each in diagnose(pairs, config, lambda done: None)}


def lines_of(found: dict[str, Finding], check: str) -> list[int]:
    return [example.line for example in found[check].examples]


# --- texts


@pytest.mark.parametrize("text", ["für", "naïve – “ja”", "Привет", "日本語", "😀 café", "Ñandú", "l’été"])
def test_text_that_was_read_in_the_wrong_encoding_is_mended(text: str) -> None:
    misread = "".join(bytes([b]).decode("cp1252", "ignore") or chr(b) for b in text.encode())
    assert Mojibake().mend(misread) == text
    assert Mojibake().mend(text) == text


@pytest.mark.parametrize("text", ["„Ich vergaß“, sagte er.", "»SPÄ«", "là »", "«À»", "AÇÃO", "größer…", "Ä“", "100 Â"])
def test_good_text_that_looks_alike_is_left_alone(text: str) -> None:
    assert Mojibake().mend(text) == text


@settings(deadline=None)
@given(st.text(max_size=40))
def test_menders_take_any_text_and_leave_nothing_to_mend_twice(text: str) -> None:
    for check in TEXT_CHECKS:
        if not isinstance(check, Mojibake | Markup):  # what was escaped twice is mended twice
            assert check.mend(check.mend(text)) == check.mend(text)
        assert isinstance(check.mend(text), str)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("stone &amp; tile", "stone & tile"),
        ("caf&eacute; &#8364;5 &#x20AC;", "café €5 €"),
        ("<b>bold</b> and <A HREF='x'>link</a>", "bold and link"),
        ("one<br/>two", "one two"),
        ("a < b and c > d, I <3 you, <name>, AT&T; R&D", "a < b and c > d, I <3 you, <name>, AT&T; R&D"),
    ],
)
def test_entities_and_known_tags_become_text(text: str, mended: str) -> None:
    assert Markup().mend(text) == mended


def test_control_characters_go() -> None:
    assert Control().mend("a\0b\u200bc\x1b") == "abc"


# --- single pairs


def test_pairs_by_themselves() -> None:
    assert Empty().holds("", "x") and Empty().holds("x", "") and not Empty().holds("x", "y")
    assert Damaged().holds("caf\ufffd", "x") and not Damaged().holds("café", "?")
    assert Identical().holds("a b c d", "a b c d") and not Identical().holds("a b c", "a b c")
    assert IdenticalShort().holds("Taxi!", "Taxi!") and not IdenticalShort().holds("", "")


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
    assert Numbers().holds(source, target) is disagree


# --- pairs among others


def test_duplicates_are_exact_or_equal_in_form_and_the_first_stays() -> None:
    found = findings([("A b", "X y"), ("c", "z"), ("A b", "X y"), ("a B", "x Y"), ("A b", "other"), ("A b", "X y")])
    assert (found["duplicate"].count, lines_of(found, "duplicate")) == (2, [3, 6])
    assert (found["duplicate-form"].count, lines_of(found, "duplicate-form")) == (1, [4])
    assert found["many-targets"].action == "reported"
    assert lines_of(found, "many-targets") == [1, 5]


def test_exact_repeats_that_are_kept_are_no_duplicates_in_form() -> None:
    rows = [("A b", "X y"), ("c", "z"), ("A b", "X y"), ("a B", "x Y")]
    found = findings(rows, PrepareConfig(keep=("duplicate",)))
    assert (found["duplicate"].action, lines_of(found, "duplicate")) == ("kept", [3])
    assert lines_of(found, "duplicate-form") == [4]


def test_lengths_are_learnt_from_the_corpus_and_options_set_them() -> None:
    short, long = np.full(1000, 8), np.full(1000, 60)
    noise = np.random.default_rng(1).lognormal(0, 0.4, 1000)
    assert usual_limit((short * noise).astype(np.int32)) == 100
    assert 300 < usual_limit((long * noise).astype(np.int32)) < 700
    rows = [*toy_pairs(300), ("a " * 120 + "b", "c " * 119 + "d"), ("x" * 5000, "y " * 90 + "z")]
    assert findings(rows)["too-long"].count == 2
    assert findings(rows, PrepareConfig(max_length=300))["length-ratio"].count == 1
    assert findings(rows, PrepareConfig(max_length=6))["too-long"].count == 302


def test_ratios_are_learnt_from_the_corpus() -> None:
    """Chinese has a third of the characters of its English; that is usual there, and equal lengths are not."""
    generator = random.Random(1)
    lengths = [generator.randint(4, 12) for _ in range(1000)]
    rows = [("word " * n + str(i), "字" * (2 * n) + str(i)) for i, n in enumerate(lengths)]
    assert "length-ratio" not in findings(rows)
    rows[500] = (rows[500][0], "字" * 90)
    rows[700] = (rows[700][0] + " word" * 20, "字字")
    assert lines_of(findings(rows), "length-ratio") == [501, 701]


def test_a_fixed_ratio_is_of_words_and_spares_short_pairs() -> None:
    rows = [("a b c d e", "x"), ("a b c d e f", "x y"), ("a b c d e f", "x"), ("x", "a b c d e f")]
    assert lines_of(findings(rows, PrepareConfig(max_ratio=3)), "length-ratio") == [3, 4]


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Tom, 3!", "Latin"),
        ("Привет Tom", "Cyrillic"),
        ("ありがとう", "Kana"),
        ("漢字です", "none"),
        ("漢字字", "Han"),
        ("123 ?!", "none"),
        ("", "none"),
    ],
)
def test_the_script_of_a_text_is_that_of_most_of_its_letters(text: str, script: str) -> None:
    assert SCRIPTS[main_scripts(["before", text, "after"])[1]] == script


@settings(deadline=None)
@given(st.lists(st.text(max_size=10), max_size=8))
def test_scripts_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    one_by_one = [int(main_scripts([text])[0]) for text in texts]
    assert main_scripts(texts).tolist() == one_by_one


def test_letters_are_in_a_script_and_others_in_none() -> None:
    assert [SCRIPTS[number] for number in main_scripts(list("aßЖλعह日カ한 5.×"))] == [
        *("Latin", "Latin", "Cyrillic", "Greek", "Arabic", "Devanagari", "Han", "Kana", "Hangul"),
        *("none",) * 4,
    ]


def test_a_sentence_in_another_script_is_found_and_loan_words_are_not() -> None:
    rows = [*toy_pairs(300), ("Привет, Tom", "Hallo"), ("He said Привет", "Er sagte Привет"), ("!", "?")]
    found = findings(rows)["script"]
    assert (found.count, found.note) == (1, "source is Latin; target is Latin")


ENGLISH = "the of and to in that was his he it with is for as had you not be her on at by which have or from".split()
GERMAN = "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden".split()


def language_pairs(number: int) -> list[tuple[str, str]]:
    generator = random.Random(1)
    return [
        (" ".join(generator.choices(ENGLISH, k=8)) + f" {i}.", " ".join(generator.choices(GERMAN, k=8)) + f" {i}.")
        for i in range(number)
    ]


def test_swapped_sides_and_wrong_languages_are_found_by_what_the_corpus_teaches() -> None:
    rows = language_pairs(2500)
    rows[100:110] = [(target, source) for source, target in rows[100:110]]
    rows[200:205] = [(source, f"{rows[i][0]} too") for i, (source, _) in enumerate(rows[200:205])]
    found = findings(rows)
    assert (found["swapped"].count, lines_of(found, "swapped")) == (10, [101, 102, 103])
    assert (found["language"].count, lines_of(found, "language")) == (5, [201, 202, 203])


def test_swapped_sides_that_are_kept_are_not_dropped_for_their_languages() -> None:
    rows = language_pairs(2500)
    rows[100:110] = [(target, source) for source, target in rows[100:110]]
    found = findings(rows, PrepareConfig(keep=("swapped",)))
    assert (found["swapped"].count, found["swapped"].action) == (10, "kept")
    assert "language" not in found


def test_a_third_language_is_reported() -> None:
    rows = language_pairs(2500)
    rows[300] = ("les enfants jouaient dehors pendant que nous préparions", rows[300][1])
    found = findings(rows)["unlike"]
    assert (found.count, found.action, found.examples[0].line) == (1, "reported", 301)


def test_languages_that_cannot_be_told_apart_or_are_too_few_give_no_findings() -> None:
    same = [(source, " ".join(reversed(source.split()))) for source, _ in language_pairs(2500)]
    assert not {"swapped", "language"} & findings(same).keys()
    few = [*language_pairs(50), ("der die und in den von zu", "the of and to in that was")]
    assert not {"swapped", "language"} & findings(few).keys()


# --- shifted lines


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
    found = findings([(f"{a} {i}", f"{b} {i}") for i, (a, b) in enumerate(texts)])["shifted"]
    assert found.action == "dropped" and 395 <= found.count <= 405
    assert "0.tsv from about line " in found.note and "to 1,000, by 1 line" in found.note


# --- given dev and test data


def test_training_pairs_that_touch_given_test_data_are_dropped() -> None:
    rows = [("a", "1"), ("b", "2"), ("C!", "3"), ("d", "4"), ("c!", "x"), ("y", "2"), ("b", "z"), ("d", "w")]
    pairs = examined(rows, roles=["train", "test", "dev"], inputs=[0, 0, 0, 0, 1, 1, 2, 2])
    found = {each.check: each for each in diagnose(pairs, PrepareConfig(), lambda done: None)}
    assert found["held-out"].count == 3  # b and C! for test, d for dev
    assert pairs.alive.tolist() == [True, False, False, False, True, True, True, True]


def test_given_dev_pairs_that_touch_given_test_data_are_dropped_too() -> None:
    rows = [("a", "1"), ("b", "2"), ("b", "3")]
    pairs = examined(rows, roles=["train", "dev", "test"], inputs=[0, 1, 2])
    diagnose(pairs, PrepareConfig(), lambda done: None)
    assert pairs.alive.tolist() == [True, False, True]


def test_given_test_data_is_not_cleaned_but_for_empty_sides() -> None:
    rows = [("a", "1"), ("b b b b", "b b b b"), ("b b b b", "b b b b"), ("", "x")]
    pairs = examined(rows, roles=["train", "test"], inputs=[0, 1, 1, 1])
    diagnose(pairs, PrepareConfig(), lambda done: None)
    assert pairs.alive.tolist() == [True, True, True, False]


# --- all of them


def test_what_is_kept_is_still_reported_and_neither_dropped_nor_mended() -> None:
    rows = [("a &amp; b", "x"), ("c c c c", "c c c c")]
    config = PrepareConfig(keep=("markup", "identical"))
    pairs = examined(rows, keep=config.keep)
    found = {each.check: each.action for each in diagnose(pairs, config, lambda done: None)}
    assert found == {"markup": "kept", "identical": "kept"}
    assert pairs.alive.all() and pairs.source[0] == "a &amp; b"


def test_examples_of_mended_pairs_show_what_was_there() -> None:
    found = findings([("x", "y"), ("a &amp; b", "z")])["markup"]
    assert (found.examples[0].source, found.examples[0].line, found.count) == ("a &amp; b", 2, 1)


def test_unknown_checks_and_leaks_cannot_be_kept() -> None:
    with pytest.raises(OptionError, match="there is no check 'swaped'") as caught:
        checked_names(("swaped",))
    assert caught.value.hint == "did you mean 'swapped'?"
    with pytest.raises(OptionError, match="cannot be kept"):
        checked_names(("held-out",))


@pytest.mark.parametrize(("checks", "hint"), [(["held-out"], "report.html"), (["held-out", "empty"], "--keep empty")])
def test_what_strict_advises_to_keep_can_be_kept(checks: list[str], hint: str) -> None:
    place = Example(file="a.tsv", line=1, source="x", target="y")
    bad = [Finding(check=name, problem="", count=1, action="dropped", note="", examples=(place,)) for name in checks]
    with pytest.raises(DataError) as caught:
        refuse_findings(tuple(bad))
    assert caught.value.hint.endswith(hint)


def test_every_check_has_a_name_of_its_own_and_says_what_it_finds() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names) < 32
    assert all(check.problem and check.action in ("dropped", "mended", "reported") for check in CHECKS)


CELLS = st.one_of(st.text(alphabet="ab \u00a0\t&;<", max_size=20), st.text(max_size=8))


@settings(deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=40))
def test_any_pairs_are_kept_or_dropped_for_a_reason(rows: list[tuple[str, str]]) -> None:
    pairs = examined(rows)
    found = diagnose(pairs, PrepareConfig(max_length=4), lambda done: None)
    assert sum(each.count for each in found if each.action == "dropped") == int((~pairs.alive).sum())
    assert all(0 < len(each.examples) <= 3 and each.count >= len(each.examples) for each in found)
