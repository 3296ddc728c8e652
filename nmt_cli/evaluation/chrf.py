"""chrF (Popović 2015), counted by sacreBLEU (Post 2018). Must not know where the sentences come from."""

from __future__ import annotations

from nmt_cli.evaluation.scores import Hypotheses, References, Score, check_pairing, streams


def chrf(hypotheses: Hypotheses, references: References) -> Score:
    """chrF2: F-score (beta 2) of character n-grams up to 6, sacreBLEU's defaults.

    Needs no tokenisation, so it also holds for scripts without spaces and for rich morphology.
    Raises DataError for sequences that do not belong together.
    """
    from sacrebleu.metrics.chrf import CHRF  # a tenth of a second that `nmt --help` must not pay

    check_pairing(hypotheses, references)
    metric = CHRF()
    result = metric.corpus_score(hypotheses, streams(references))
    signature = str(metric.get_signature())
    values = (
        metric.sentence_score(hypothesis, list(own)).score
        for hypothesis, own in zip(hypotheses, references, strict=True)
    )
    return Score(result.name, result.score, signature, tuple(values))
