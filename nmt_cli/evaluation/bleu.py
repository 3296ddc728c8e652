"""BLEU (Papineni et al. 2002), counted by sacreBLEU (Post 2018). Must not know where the sentences come from."""

from __future__ import annotations

from functools import partial

from nmt_cli.evaluation.scores import Hypotheses, Metric, References, Score, check_pairing, percent, streams


def bleu(hypotheses: Hypotheses, references: References, *, order: int = 4, name: str = "BLEU") -> Score:
    """Corpus BLEU of n-grams up to `order`: detokenised, cased, sacreBLEU's defaults (13a tokens, exp smoothing).

    The sentence values use the effective order, as sacreBLEU advises: a sentence shorter than `order` is not 0 for it.
    The signature is sacreBLEU's own, which does not tell the order: the name does.
    Raises DataError for sequences that do not belong together.
    """
    from sacrebleu.metrics.bleu import BLEU  # a tenth of a second that `nmt --help` must not pay

    check_pairing(hypotheses, references)
    # force=True only silences a log line about tokenised text; evaluation/report.py says it in our words.
    corpus = BLEU(max_ngram_order=order, force=True)
    result = corpus.corpus_score(hypotheses, streams(references))
    sentence = BLEU(max_ngram_order=order, force=True, effective_order=True)
    values = (
        percent(sentence.sentence_score(hypothesis, list(own)).score)
        for hypothesis, own in zip(hypotheses, references, strict=True)
    )
    return Score(name, percent(result.score), str(corpus.get_signature()), tuple(values))


def bleu_of_order(order: int) -> Metric:
    """BLEU-`order` as a metric of the table."""
    return partial(bleu, order=order, name=f"BLEU-{order}")
