"""Translation edit rate (Snover et al. 2006), computed by sacreBLEU. Must not know where the sentences come from."""

from __future__ import annotations

from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.sacrebleu_adapter import score_with_sacrebleu
from nmt_cli.evaluation.metrics.score import Hypotheses, References, Score


def compute_ter(hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT, /) -> Score:
    """Computes the edits (insert, delete, substitute, shift a block) per reference word, times 100; lower is better."""
    from sacrebleu.metrics.ter import TER  # a tenth of a second that `nmt --help` must not pay

    return score_with_sacrebleu(TER(), "TER", hypotheses, references, lower_is_better=True)
