import pytest

from nmt_cli.evaluation.analysis.warnings import check_references, find_seen, list_warnings, warn_of_leak
from nmt_cli.evaluation.config import ScoreConfig


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Das ist , glaube ich , so .", "look tokenised"),
        ("Das ist unglaub@@ lich.", "look tokenised"),
        ("Das ist, glaube ich, so.", ""),
        ("Um 3:30 Uhr ... vielleicht", ""),
        ("Comment ça va ? Très bien !", ""),
        ("这是一个房子。", ""),
    ],
)
def test_references_that_a_program_changed_are_told(line: str, said: str) -> None:
    found = check_references([line] * 100)
    assert (said in found[0]) if said else found == []


def test_a_few_odd_references_are_no_habit() -> None:
    assert check_references(["Das ist so ."] * 5 + ["Das ist so."] * 95) == []


def test_good_sentences_raise_no_doubt() -> None:
    assert list_warnings(["bleu", "chrf"], ["Das ist so."] * 100, [["Das war so."]] * 100) == []


def test_lower_case_on_one_side_is_told() -> None:
    lower, references = ["das ist so."] * 100, [["Das war so."]] * 100
    (told,) = list_warnings(["bleu"], lower, references)
    assert "--lowercase" in told
    (told,) = list_warnings(["bleu"], ["Das war so."] * 100, [["das ist so."]] * 100)
    assert "the references are all in lower case" in told
    assert list_warnings(["bleu"], lower, [["das war so."]] * 100) == []
    assert list_warnings(["bleu"], lower, references, ScoreConfig(lowercase=True)) == []


def test_blanks_before_marks_are_right_where_tokens_are_counted() -> None:
    assert (
        list_warnings(["bleu"], ["Das ist so ."] * 100, [["Das war so ."]] * 100, ScoreConfig(bleu_tokenizer="none"))
        == []
    )


def test_sources_are_compared_in_their_normal_form() -> None:
    assert find_seen(["Wo  ist er?", "wo ist er?"], {"Wo ist er?"}) == [True, False]


def test_a_leak_is_told_with_its_share() -> None:
    assert warn_of_leak([False, False], "prepared/") == []
    assert "1 of 4 test sources (25.0%)" in warn_of_leak([True, False, False, False], "prepared/")[0]


def test_translations_that_are_their_sources_are_told_with_their_lines() -> None:
    sources = ["Good day.", "Tom!", "", *(f"Line {number}." for number in range(97))]
    references = [["Guten Tag."], ["Tom!"], [""], *([f"Zeile {number}."] for number in range(97))]
    hypotheses = ["Good day.", "Tom!", "", *(f"Zeile {number}." for number in range(97))]
    told = list_warnings(["chrf"], hypotheses, references, sources=sources)
    assert "1 hypothesis is its source, untranslated: line 1" in told
    assert not any("untranslated" in line for line in list_warnings(["chrf"], hypotheses, references))
