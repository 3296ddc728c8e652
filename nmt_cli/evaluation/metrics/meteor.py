"""METEOR (Banerjee and Lavie 2005), computed by NLTK. Must not know where the sentences come from."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.rouge import UnicodeTokenizer
from nmt_cli.evaluation.metrics.score import Hypotheses, References, Score, average_scores, check_pairing, read_version


class NoSynonyms:
    """Stands in for WordNet if its data is not installed: no word has a synonym."""

    def synsets(self, word: str) -> list[Any]:
        return []


class Stemmer:
    """Porter's stemmer for English, which remembers the stems."""

    def __init__(self) -> None:
        from nltk.stem.porter import PorterStemmer

        self.stem = lru_cache(maxsize=100_000)(PorterStemmer().stem)


def compute_meteor(hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT, /) -> Score:
    """Computes the mean of METEOR (alpha 0.9, beta 3, gamma 0.5) over the sentences; the best reference counts.

    Words match exactly, then by Porter's stem, then by WordNet if NLTK finds its data: the signature says so.
    """
    from nltk.translate.meteor_score import meteor_score  # half a second

    check_pairing(hypotheses, references)
    words, stemmer = UnicodeTokenizer(), Stemmer()
    wordnet = find_wordnet()
    values = [
        100
        * meteor_score(
            [words.tokenize(reference) for reference in alternatives],
            words.tokenize(hypothesis),
            stemmer=stemmer,
            wordnet=wordnet or NoSynonyms(),
        )
        for hypothesis, alternatives in zip(hypotheses, references, strict=True)
    ]
    match = "exact+porter+wordnet" if wordnet else "exact+porter"
    signature = (
        f"nrefs:{len(references[0])}|case:lc|tok:{words.name}|match:{match}|alpha:0.9|beta:3|gamma:0.5"
        f"|mean:sentences|nltk:{read_version('nltk')}"
    )
    return average_scores("METEOR", values, signature)


def find_wordnet() -> Any | None:
    """Returns NLTK's reader of WordNet if its data is on this machine; downloads nothing."""
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        return None
    return wordnet
