"""The ways in which `quality.py` scores translations, beside cased and detokenised: as others publish BLEU."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from nmt_cli.evaluation.analysis.profile import split_words
from nmt_cli.evaluation.analysis.significance import bootstrap_interval
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.registry import METRICS

SHORT = 12  # words of a short source at most


class Translated(NamedTuple):
    """A sentence of the test split."""

    source: str
    reference: str
    hypothesis: str


def read_translated(path: Path) -> list[Translated]:
    """Reads what `nmt evaluate --sentences` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Translated(row["source"], row["reference"], row["hypothesis"]) for row in rows]


class View(NamedTuple):
    """A way to score: of which sources, how both sides are changed, and the settings of the metrics."""

    includes: Callable[[str], bool] = lambda source: True
    change: Callable[[str], str] = str
    config: ScoreOptions = ScoreOptions(lowercase=True)

    def score(self, translated: Sequence[Translated]) -> dict[str, Any]:
        """Returns BLEU with its 95 % interval, and chrF; None where there are too few sentences."""
        chosen = [sentence for sentence in translated if self.includes(sentence.source)]
        scores: dict[str, Any] = {"sentences": len(chosen), "bleu": None, "interval95": None, "chrf": None}
        if not chosen:
            return scores
        hypotheses = [self.change(sentence.hypothesis) for sentence in chosen]
        references = [[self.change(sentence.reference)] for sentence in chosen]
        bleu, chrf = (METRICS[name](hypotheses, references, self.config) for name in ("bleu", "chrf"))
        scores |= {"bleu": round(bleu.value, 2), "chrf": round(chrf.value, 2), "signature": bleu.signature}
        if len(chosen) > 1:
            interval = bootstrap_interval(bleu.statistics, self.config.resamples)
            scores["interval95"] = [round(interval.low, 2), round(interval.high, 2)]
        return scores


def is_short(source: str) -> bool:
    return len(split_words(source)) <= SHORT


def drop_punctuation(text: str) -> str:
    return "".join(character for character in text if not unicodedata.category(character).startswith("P"))


def tokenise(text: str) -> str:
    """Returns the tokens of Moses, for German."""
    from sacremoses import MosesTokenizer

    return str(MosesTokenizer(lang="de").tokenize(text, return_str=True, escape=False))


VIEWS = {
    "lower-cased": View(),
    "lower-cased, no punctuation": View(change=drop_punctuation),
    f"to {SHORT} words": View(includes=is_short, config=ScoreOptions()),
    f"over {SHORT} words": View(includes=lambda source: not is_short(source), config=ScoreOptions()),
}
if find_spec("sacremoses"):
    VIEWS["lower-cased, tokenised"] = View(change=tokenise, config=ScoreOptions(lowercase=True, bleu_tokenizer="none"))
