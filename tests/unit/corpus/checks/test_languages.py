"""Tests of `corpus/checks/languages.py`.

Swapped sides and wrong languages, found by what the corpus itself teaches. Scripts: which one a text is written in,
and sentences in an unexpected one.
"""

import random
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.checks.languages import SCRIPTS, find_main_scripts, measure_script_shares
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.prepare import prepare
from support.corpora import check_rows, example_lines, toy_pairs, write_tsv

ENGLISH = "the of and to in that was his he it with is for as had you not be her on at by which have or from".split()
GERMAN = "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden".split()


def language_pairs(number: int) -> list[tuple[str, str]]:
    generator = random.Random(1)
    return [
        (" ".join(generator.choices(ENGLISH, k=8)) + f" {i}.", " ".join(generator.choices(GERMAN, k=8)) + f" {i}.")
        for i in range(number)
    ]


def test_the_corpus_teaches_to_find_swapped_sides_and_wrong_languages() -> None:
    rows = language_pairs(2500)
    rows[100:110] = [(target, source) for source, target in rows[100:110]]
    rows[200:205] = [(source, f"{rows[i][0]} too") for i, (source, _) in enumerate(rows[200:205])]
    findings = check_rows(rows)
    assert (findings["swapped"].count, example_lines(findings, "swapped")) == (10, [101, 102, 103])
    assert (findings["language"].count, example_lines(findings, "language")) == (5, [201, 202, 203])


@pytest.mark.skipif(find_spec("py3langid") is None, reason="an extra")
@pytest.mark.parametrize(
    ("languages", "check", "rows"),
    [
        (("en", "tar"), "swapped", [5, 6]),  # far fewer pairs than teach two languages
        (("tar", "xx"), None, []),
        (("tar", "en"), "other-file", [1, 2, 3]),
    ],
)
def test_a_language_that_is_known_shows_what_is_turned_in_a_small_corpus(
    languages: tuple[str, str], check: str | None, rows: list[int], tmp_path: Path
) -> None:
    generator = random.Random(1)
    parts = "kwa mi ti nu ka pa xe tlo rĩ sha".split()
    pairs = [
        (f"The old man went to the river with {name} number {row}.", " ".join(generator.choices(parts, k=12)))
        for row, name in enumerate(["his dog", "the children", "her brother"] * 100)
    ]
    pairs[4:6] = [(target, source) for source, target in pairs[4:6]]
    options = PrepareOptions(source_language=languages[0], target_language=languages[1])
    findings = prepare(write_tsv(tmp_path / "a.tsv", pairs), tmp_path / "data", options).manifest.findings
    assert [finding.check for finding in findings if finding.check != "numbers"] == [check] * (check is not None)
    assert [example.line for finding in findings for example in finding.examples if finding.check == check] == rows
    turned = "use --source-language en --target-language tar --reverse"
    assert any(turned in finding.problem for finding in findings) == (check == "other-file")


def test_swapped_sides_that_are_kept_are_not_dropped_for_their_languages() -> None:
    rows = language_pairs(2500)
    rows[100:110] = [(target, source) for source, target in rows[100:110]]
    findings = check_rows(rows, PrepareOptions(keep=("swapped",)))
    assert (findings["swapped"].count, findings["swapped"].action) == (10, "kept")
    assert "language" not in findings


def test_a_third_language_is_reported() -> None:
    rows = language_pairs(2500)
    rows[300] = ("les enfants jouaient dehors pendant que nous préparions", rows[300][1])
    finding = check_rows(rows)["unlike"]
    assert (finding.count, finding.action, finding.examples[0].line) == (1, "reported", 301)


def test_languages_that_are_alike_or_too_few_give_no_findings() -> None:
    same = [(source, " ".join(reversed(source.split()))) for source, _ in language_pairs(2500)]
    assert not {"swapped", "language"} & check_rows(same).keys()
    few = [*language_pairs(50), ("der die und in den von zu", "the of and to in that was")]
    assert not {"swapped", "language"} & check_rows(few).keys()


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
    assert SCRIPTS[find_main_scripts(["before", text, "after"])[1]] == script


@given(st.lists(st.text(max_size=10), max_size=8))
def test_scripts_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    one_by_one = [int(find_main_scripts([text])[0]) for text in texts]
    assert find_main_scripts(texts).tolist() == one_by_one


def test_letters_are_in_a_script_and_others_in_none() -> None:
    assert [SCRIPTS[number] for number in find_main_scripts(list("aßЖλعह日カ한 5.×"))] == [
        *("Latin", "Latin", "Cyrillic", "Greek", "Arabic", "Devanagari", "Han", "Kana", "Hangul"),
        *("none",) * 4,
    ]


def test_a_sentence_in_another_script_is_found_and_loan_words_are_not() -> None:
    rows = [*toy_pairs(300), ("Привет, Tom", "Hallo"), ("He said Привет", "Er sagte Привет"), ("!", "?")]
    finding = check_rows(rows)["script"]
    assert (finding.count, finding.note) == (1, "source is Latin; target is Latin")


def test_shares_count_letters_alone() -> None:
    shares = measure_script_shares(["東京の", "Tom 3!", ""])
    assert {SCRIPTS[i]: share for i, share in enumerate(shares.tolist()) if share} == {
        "Han": pytest.approx(2 / 6),
        "Kana": pytest.approx(1 / 6),
        "Latin": pytest.approx(3 / 6),
    }
    assert not measure_script_shares(["1 2", "?"]).any()
