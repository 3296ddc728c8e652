"""Settings of the metrics. Standard library only: the command line reads its options from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, setting

BleuTokenizer = Literal["13a", "none", "intl", "zh", "char"]

SMOOTHINGS = {"exp": None, "none": None, "floor": 0.1, "add-k": 1.0, "epsilon": 0.01}  # with their default values


@dataclass(frozen=True)
class Smoothing:
    """What becomes of an n-gram precision of 0. `epsilon` puts the value in its place; the others are sacreBLEU's."""

    method: str
    value: float | None

    @classmethod
    def parse(cls, text: str) -> Smoothing:
        """From `METHOD` or `METHOD:VALUE`. Raises OptionError for what is neither."""
        method, separator, number = text.partition(":")
        default = SMOOTHINGS.get(method)
        try:
            value = float(number) if separator else default
        except ValueError:
            value = -1.0
        known = method in SMOOTHINGS and not (separator and default is None)
        if not known or (value is not None and not 0 < value <= 1):
            raise OptionError(
                f"--smooth cannot be {text!r}",
                hint="it takes exp, none, floor, add-k or epsilon; the last three with a value up to 1: epsilon:0.01",
            )
        return cls(method, value)


@dataclass(frozen=True, kw_only=True)
class ScoreConfig(Settings):
    """How the scores are counted."""

    smooth: str = setting(
        "exp",
        "BLEU's smoothing of a precision of 0: exp, none, floor:0.1, add-k:1 as in sacreBLEU, or epsilon:0.01.",
        panel="Scores",
    )
    lowercase: bool = setting(
        False, "Compare in lower case, as published scores of lower-cased corpora do.", panel="Scores"
    )
    bleu_tokenizer: BleuTokenizer = setting(
        "13a",
        "What BLEU counts as words, by sacreBLEU: 13a for detokenised text, none for text whose tokens stand between "
        "blanks, intl, zh for Chinese, char.",
        panel="Scores",
    )
    beta: float = setting(
        1.0, "Weight of recall against precision in ROUGE's F-score.", panel="Scores", low=0.01, high=100
    )
    resamples: int = setting(
        1000, "Resamples of the bootstrap for 95 % intervals; 0 for none.", panel="Scores", low=0, high=100_000
    )
    comet_model: str | None = setting(None, "File or directory of a COMET model, for --metric comet.", panel="Scores")
    bertscore_model: str | None = setting(
        None, "Directory of an encoder (Hugging Face's format), for --metric bertscore.", panel="Scores"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        Smoothing.parse(self.smooth)

    @property
    def smoothing(self) -> Smoothing:
        return Smoothing.parse(self.smooth)


DEFAULT = ScoreConfig()
