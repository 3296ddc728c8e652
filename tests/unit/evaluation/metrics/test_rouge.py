from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.rouge import UnicodeTokenizer

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
