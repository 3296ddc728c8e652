"""Tests of overlap: ."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.overlap import UnicodeTokenizer, compute_edit_distance
from nmt_cli.evaluation.metrics.registry import METRICS

tokenize = UnicodeTokenizer().tokenize


@given(st.text(alphabet=string.printable))
def test_on_ascii_text_the_words_are_those_of_rouge_score(text: str) -> None:
    from rouge_score.tokenize import tokenize as original

    assert tokenize(text) == original(text, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Привет, Мир!", ["привет", "мир"]),
        ("हिन्दी में", ["हिन्दी", "में"]),  # vowel signs belong to their word
        ("Ça n'a pas d’été", ["ça", "n", "a", "pas", "d", "été"]),
        ("e\u0301te\u0301", ["été"]),  # composed or not, a word is the same
        ("می\u200cروم", ["میروم"]),  # a zero-width non-joiner ends no word
        ("東京へ行くABC123", ["東", "京", "へ", "行", "く", "abc123"]),
        ("コーヒー", ["コ", "ー", "ヒ", "ー"]),
        ("กิน", ["กิ", "น"]),  # a vowel sign stays with its consonant
        ("한국어 단어", ["한국어", "단어"]),
        ("… !?", []),
    ],
)
def test_words_of_every_script_are_kept(text: str, words: list[str]) -> None:
    assert tokenize(text) == words


def test_of_several_references_the_best_counts_for_each_sentence() -> None:
    score = METRICS["rouge1"](["a b", "c d"], [["a b", "x y"], ["x y", "c z"]])
    assert score.sentence_values == pytest.approx((100, 50))
    assert score.value == pytest.approx(75)


def test_the_signature_says_how_it_was_counted() -> None:
    signature = METRICS["rougeL"](["a"], [["a"]]).signature
    for part in ("nrefs:1", "tok:unicode-words", "stem:no", "measure:F1", "rouge-score:"):
        assert part in signature


WORDS = st.text(alphabet="abcä", max_size=12)


def by_the_table(one: str, other: str) -> int:
    """Wagner and Fischer 1974, a row at a time."""
    row = list(range(len(other) + 1))
    for i, first in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, second in enumerate(other, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (first != second))
    return row[-1]


@given(WORDS, WORDS)
def test_the_distance_of_bits_is_that_of_the_table(one: str, other: str) -> None:
    assert compute_edit_distance(one, other) == by_the_table(one, other)


@pytest.mark.parametrize(("one", "other", "distance"), [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3)])
def test_distances_known_by_heart(one: str, other: str, distance: int) -> None:
    assert compute_edit_distance(one, other) == distance


def test_the_error_rate_is_edits_by_characters_of_the_nearest_reference() -> None:
    score = METRICS["cer"](["kitten", "ab"], [["sitting", "kittens"], ["ab", "xyz"]])
    assert score.sentence_values == pytest.approx((100 / 7, 0))
    assert score.value == pytest.approx(100 / 9)
    assert score.lower_is_better


def test_exact_match_forgives_blanks_and_composition_alone() -> None:
    score = METRICS["exact"](["e\u0301te\u0301  a", "Ja", "ja."], [["été a"], ["ja"], ["ja."]])
    assert score.sentence_values == (100, 0, 100)


def test_in_lower_case_the_signature_says_so() -> None:
    config = ScoreConfig(lowercase=True)
    exact, errors = (METRICS[name](["Das Haus"], [["das haus"]], config) for name in ("exact", "cer"))
    assert (exact.value, errors.value) == (100, 0)
    assert "case:lc" in exact.signature and "case:lc" in errors.signature
    assert METRICS["cer"](["Das Haus"], [["das haus"]]).value == 25
