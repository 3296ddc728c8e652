"""chrF (Popović 2015) and chrF++ (Popović 2017), computed by sacreBLEU. Must not know where the sentences come from."""

from __future__ import annotations

from functools import partial

from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.sacrebleu_adapter import score_with_sacrebleu
from nmt_cli.evaluation.metrics.score import Hypotheses, MetricFunction, References, Score


def compute_chrf(
    hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT, /, *, word_order: int = 0
) -> Score:
    """Computes chrF2, the F-score (beta 2) of character n-grams up to 6; with word n-grams up to 2, chrF2++.

    Needs no tokenisation, so it also suits scripts without spaces and languages of rich morphology.
    """
    from sacrebleu.metrics.chrf import CHRF  # a tenth of a second that `nmt --help` must not pay

    name = "chrF2" + "+" * word_order
    return score_with_sacrebleu(CHRF(word_order=word_order, lowercase=config.lowercase), name, hypotheses, references)


chrf_plus_plus: MetricFunction = partial(compute_chrf, word_order=2)
