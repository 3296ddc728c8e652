"""Scores against numbers that others have published, with their sources."""

from __future__ import annotations

import pytest

from nmt_cli.evaluation.metrics import METRICS

# The example of sacreBLEU's README and of its test/test_bleu.py (`_hyps`, `_refs`), two references a sentence.
HYPOTHESES = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
REFERENCES = [
    ["The dog bit the man.", "The dog had bit the man."],
    ["It was not unexpected.", "No one was surprised."],
    ["The man bit him first.", "The man had bitten the dog."],
]
FOX = "The quick brown fox jumps over the lazy dog"
ANIMAL = "The quick brown animal jumped over the lazy black dog"


@pytest.mark.parametrize(
    ("metric", "published"),
    [
        ("bleu", 48.530827),  # sacreBLEU, test/test_bleu.py, test_corpus_bleu_cases
        ("bleu4", 48.530827),
        ("chrf", 59.73),  # sacreBLEU, README, "Using SacreBLEU from Python"
    ],
)
def test_sacrebleu_s_own_example_with_two_references(metric: str, published: float) -> None:
    digits = len(str(published).split(".")[1])
    assert round(METRICS[metric](HYPOTHESES, REFERENCES).value, digits) == published


@pytest.mark.parametrize(
    ("metric", "hypothesis", "reference", "f1"),
    [
        # Longest common subsequence "the quick brown over the lazy dog": 7 of 10 words produced, of 9 wanted.
        ("rougeL", ANIMAL, FOX, 2 * 0.7 * (7 / 9) / (0.7 + 7 / 9)),  # 0.7368
        ("rouge1", ANIMAL, FOX, 2 * 0.7 * (7 / 9) / (0.7 + 7 / 9)),
        ("rouge2", ANIMAL, FOX, 2 * (4 / 9) * (4 / 8) / (4 / 9 + 4 / 8)),  # 4 of 9 pairs of words, of 8 wanted
        # rouge-score's rouge_scorer_test.py: testRouge1, testRouge2, testRougeLNonConsecutive, testRougeEmpty
        ("rouge1", "testing", "testing one two", 1 / 2),
        ("rouge2", "testing one", "testing one two", 2 / 3),
        ("rougeL", "testing two", "testing one two", 4 / 5),
        ("rougeL", "", "testing one two", 0.0),
    ],
)
def test_rouge_of_examples_worked_by_hand_and_of_rouge_score_s_own(
    metric: str, hypothesis: str, reference: str, f1: float
) -> None:
    assert METRICS[metric]([hypothesis], [[reference]]).value == pytest.approx(100 * f1)


def test_a_repeated_word_counts_as_often_as_in_one_reference() -> None:
    """Papineni et al. 2002, section 2.1, example 2: 2/7 (there uncased)."""
    references = [["the cat is on the mat.", "there is a cat on the mat."]]
    assert METRICS["bleu1"](["the the the the the the the"], references).value == pytest.approx(100 * 2 / 7)
