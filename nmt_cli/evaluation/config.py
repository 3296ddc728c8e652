"""The settings of the metrics. Uses only the standard library: they become options of the command line."""

from __future__ import annotations

from typing import Literal, NamedTuple

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, setting

BleuTokenizer = Literal["auto", "13a", "none", "intl", "zh", "char", "ja-mecab", "ko-mecab", "flores200", "spm"]
SUBWORD_TOKENIZERS = ("flores200", "spm")  # cut into the pieces of a SentencePiece model

SMOOTHINGS = {"exp": None, "none": None, "floor": 0.1, "add-k": 1.0, "epsilon": 0.01}  # with their default values


class Smoothing(NamedTuple):
    """How BLEU smooths an n-gram precision of 0. `epsilon` replaces it with the value; the others are sacreBLEU's."""

    method: str
    value: float | None

    @classmethod
    def parse(cls, text: str) -> Smoothing:
        """Parses `METHOD` or `METHOD:VALUE`. Raises OptionError for anything else."""
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
                hint=(
                    "use exp, none, floor, add-k or epsilon; the last three take a value up to 1, for example "
                    "epsilon:0.01"
                ),
            )
        return cls(method, value)


class ScoreOptions(Settings, panel="Scores"):
    """How scores are computed."""

    smooth: str = setting(
        "exp",
        "Smoothing of BLEU precisions of 0: exp, none, floor:0.1 or add-k:1, as in sacreBLEU; or epsilon:0.01.",
        harmless=True,
    )
    lowercase: bool = setting(
        False, "Compare in lower case, as published scores for lower-cased corpora do.", harmless=True
    )
    bleu_tokenizer: BleuTokenizer = setting(
        "auto",
        "Tokenizer of sacreBLEU for BLEU: 13a for detokenised text, none for text that is already tokenised, intl, zh, "
        "ja-mecab, ko-mecab, char; flores200 and spm with --bleu-spm; auto follows the language: zh, ja-mecab or "
        "ko-mecab (where their packages are missing, char and 13a), else 13a.",
    )
    bleu_spm: str | None = setting(
        None, "SentencePiece model of --bleu-tokenizer flores200 or spm, as a file.", harmless=True
    )
    beta: float = setting(1.0, "Weight of recall against precision in ROUGE's F-score.", low=0.01, high=100)
    resamples: int = setting(1000, "Bootstrap resamples for confidence intervals (95 %); 0: none.", low=0, high=100_000)
    comet_model: str | None = setting(None, "File or directory of a COMET model, for --metric comet.")
    bertscore_model: str | None = setting(
        None, "Directory of an encoder in Hugging Face's format, for --metric bertscore."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        Smoothing.parse(self.smooth)

    @property
    def tokenizer(self) -> str:
        """The name of BLEU's tokenizer; 13a if the language is unknown."""
        return "13a" if self.bleu_tokenizer == "auto" else self.bleu_tokenizer

    @property
    def smoothing(self) -> Smoothing:
        return Smoothing.parse(self.smooth)


DEFAULT = ScoreOptions()
