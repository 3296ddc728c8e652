import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.errors import OptionError
from nmt_cli.evaluation.analysis.explain import (
    explain_metrics,
    find_common_subsequence,
    list_precisions,
    mark_common,
    match_ngrams,
    multiply_precisions,
    tokenize_for_bleu,
)
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_brevity_penalty, make_bleu
from support.properties import examples

SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "D", "."]), min_size=1, max_size=9).map(" ".join)
SMOOTHING = st.sampled_from(["exp", "none", "floor:0.1", "add-k:1", "add-k:0.5", "epsilon:0.01"])


@examples(150)
@given(SENTENCE, SENTENCE, st.integers(1, 4), SMOOTHING)
def test_the_derivation_ends_at_the_score_itself(candidate: str, reference: str, order: int, smooth: str) -> None:
    config = ScoreConfig(smooth=smooth)
    tokens, other = tokenize_for_bleu(candidate, config), tokenize_for_bleu(reference, config)
    score = make_bleu(order)([candidate], [[reference]], config)
    precisions = list_precisions(score, config)
    derived = multiply_precisions(precisions, compute_brevity_penalty(len(tokens), len(other)))
    assert 100 * derived == pytest.approx(score.value, abs=1e-9)
    for n, precision in enumerate(precisions, start=1):
        matched = match_ngrams(n, tokens, other)
        if smooth in ("exp", "none") and matched.matches:
            assert precision == pytest.approx(matched.matches / matched.total)


def test_a_repeated_ngram_counts_as_often_as_in_the_reference() -> None:
    (ngram,) = match_ngrams(1, ["the"] * 7, ["the", "cat", "the"]).ngrams
    assert (ngram.candidate, ngram.reference, ngram.clipped) == (7, 2, 2)


def test_the_common_subsequence_is_marked_where_it_stands() -> None:
    common = find_common_subsequence("a b c b d a b".split(), "b d c a b a".split())
    assert len(common) == 4  # Cormen et al., figure 15.8
    assert mark_common(["x", "a", "y"], ["a"]) == "x [a] y"


def test_only_a_precision_that_was_changed_is_called_smoothed() -> None:
    by_hand = {"exp": [False, False, True], "add-k:1": [False, True, True], "none": [False, False, False]}
    for smooth, changed in by_hand.items():  # 3/4, 1/3, 0/2; add-k leaves the first order alone
        lines = explain_metrics(["bleu3"], "a b c d", "a b x d", ScoreConfig(smooth=smooth))
        assert ["smoothed" in line for line in lines if line.startswith("  p") and "=" in line[:6]] == changed
    assert "smoothed" not in "".join(explain_metrics(["bleu"], "a b c d", "w x y z", ScoreConfig()))


@pytest.mark.parametrize("pair", [("", "a"), ("a", ""), ("", "")])
def test_nothing_is_explained_without_a_crash(pair: tuple[str, str]) -> None:
    assert "LCS = 0" in "\n".join(explain_metrics(["bleu", "rougeL"], *pair, ScoreConfig()))


def test_what_has_no_derivation_is_refused() -> None:
    with pytest.raises(OptionError, match="not chrf"):
        explain_metrics(["chrf"], "a", "b", ScoreConfig())
