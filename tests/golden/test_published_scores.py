"""Scores against numbers that others have published, with their sources."""

import pytest

from nmt_cli.evaluation.analysis.explain import explain_metrics
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.registry import METRICS

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


LIKES, ENJOYS = "She likes to read books on AI", "She enjoys reading books about AI"


def test_the_textbook_s_bleu_2_with_a_smoothed_precision() -> None:
    """p1 = 3/7; p2 = 0, smoothed to 0.01; no brevity penalty: BLEU-2 = sqrt(3/7 x 0.01) = 0.065."""
    score = METRICS["bleu2"]([LIKES], [[ENJOYS]], ScoreOptions(smooth="epsilon:0.01"))
    assert score.value / 100 == pytest.approx((3 / 7 * 0.01) ** 0.5)
    assert int(score.value * 10) / 1000 == 0.065
    assert "smooth:epsilon[0.01]" in score.signature


def test_the_textbook_s_rouge_l() -> None:
    score = METRICS["rougeL"]([ANIMAL], [[FOX]])
    assert score.parts["precision"] == pytest.approx(70)
    assert round(score.parts["recall"], 2) == 77.78
    assert round(score.value, 2) == 73.68


def test_the_textbook_s_derivations_are_shown_number_by_number() -> None:
    lines = "\n".join(explain_metrics(["bleu2", "rougeL"], LIKES, ENJOYS, ScoreOptions(smooth="epsilon:0.01")))
    assert "p1 = 3/7 = 0.4286" in lines and "p2 = 0/6 = 0.0000   smoothed (epsilon:0.01) to 0.0100" in lines
    assert "BP = 1.0000" in lines and "(0.4286 x 0.0100)^(1/2) = 0.0655" in lines
    lines = "\n".join(explain_metrics(["rougeL"], ANIMAL, FOX, ScoreOptions()))
    assert "LCS = 7: the quick brown over the lazy dog" in lines
    assert "7/10 = 0.7000" in lines and "7/9 = 0.7778" in lines and "= 0.7368" in lines


def test_meteor_of_a_published_example() -> None:
    """Wikipedia, "METEOR", section "Examples": F mean 1, six chunks of six matches, penalty 0.5."""
    score = METRICS["meteor"](["on the mat sat the cat"], [["the cat sat on the mat"]])
    assert score.value == pytest.approx(50)
    score = METRICS["meteor"](["the cat sat on the mat"], [["the cat sat on the mat"]])
    assert score.value == pytest.approx(99.77, abs=0.005)  # one chunk of six: 1 - 0.5 (1/6)^3
    assert "match:exact+porter|" in score.signature
