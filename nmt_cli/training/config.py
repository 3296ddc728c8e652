"""Settings of training. Standard library only: the command line reads its options from here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, setting
from nmt_cli.training.deadline import parse_duration

# By architecture, peaks for networks that know nothing (benchmarks/log/0010-textbook-setting.md).
LEARNING_RATES = {"rnn": 5e-3, "transformer": 2e-3}
FINE_TUNING = 5e-4  # what was learned before must not be undone

KeptMetric = Literal["bleu", "chrf", "accuracy", "loss"]  # names of fields of `training.watch.Validation`


@dataclass(frozen=True, kw_only=True)
class TrainConfig(Settings):
    """How the network is fitted."""

    epochs: int = setting(
        10, "Passes over the training pairs; after each the model is measured.", panel="Optimisation", low=1
    )
    epoch_pairs: int | None = setting(
        None,
        "New pairs of an epoch at most: a large corpus is measured more often, and passed through in several epochs.  "
        "[default: all]",
        panel="Optimisation",
        low=1,
    )
    batch: int = setting(128, "Sentence pairs in a batch.", panel="Optimisation", low=1)
    batch_tokens: int | None = setting(
        None,
        "Tokens in a batch instead of sentences: sentences times the longest of either side, padding counted.",
        panel="Optimisation",
        low=1,
        instead_of="batch",
    )
    learning_rate: float | None = setting(
        None,
        "Peak learning rate of Adam, reached after the warm-up.  [default: 0.005; transformer: 0.002; with "
        "--init-from: 0.0005]",
        panel="Optimisation",
        low=0,
    )
    warmup: float = setting(
        0.1, "Share of all steps in which the learning rate rises to its peak.", panel="Optimisation", low=0, high=1
    )
    label_smoothing: float = setting(
        0.1, "Share of the target probability spread over the vocabulary.", panel="Optimisation", low=0, high=0.9
    )
    careless: float = setting(
        0.3,
        "Share of source sentences that are learned in lower case and without their final mark, as people type.",
        panel="Optimisation",
        low=0,
        high=1,
    )
    subword_sampling: float | None = setting(
        None,
        "Cut source words into other subwords each time: unigram with probabilities to this power, BPE with this share "
        "of merges left out; 0.2 (BPE: 0.1) is usual.  [default: always the best cut]",
        panel="Regularisation",
        low=0,
        high=1,
    )
    sample_target: bool = setting(False, "Do so with target words too.", panel="Regularisation")
    word_dropout: float = setting(
        0.0,
        "Share of source and of previous target tokens that are replaced by the unknown token.",
        panel="Regularisation",
        low=0,
        high=0.9,
    )
    swap_words: float = setting(
        0.0,
        "Share of sentence pairs in which a rarer word stands in for another, with its translation in the target.",
        panel="Regularisation",
        low=0,
        high=1,
    )
    scheduled_sampling: float = setting(
        0.0,
        "Share of previous target tokens that are the network's own in the end; from 0 it rises over the run.",
        panel="Regularisation",
        low=0,
        high=1,
    )
    init_from: str | None = setting(
        None, "Model directory whose weights to begin with, for fine-tuning.", panel="Fine-tuning"
    )
    replay: str | None = setting(
        None, "Prepared directory of old pairs to mix in, lest they be forgotten.", panel="Fine-tuning"
    )
    replay_share: float = setting(
        0.2, "Share of old pairs in an epoch with --replay.", panel="Fine-tuning", low=0.01, high=0.99
    )
    time: str | None = setting(
        None,
        "Train so long instead of --epochs, such as 90s, 30m or 1h30m; validation and export count. Where no option of "
        "the network is given, a short time has a smaller one.",
        panel="Optimisation",
        instead_of="epochs",
    )
    placeholders: float = setting(
        0.3,
        "Share of sentence pairs in which words of both sides, like names, become placeholders, so that the network "
        "learns to carry these over.",
        panel="Optimisation",
        low=0,
        high=1,
    )
    clip: float = setting(1.0, "Largest norm of the whole gradient.", panel="Optimisation", low=1e-6)
    accumulate: int = setting(
        1, "Batches whose gradients make one update: a batch so many times as large.", panel="Optimisation", low=1
    )
    metric: KeptMetric = setting("bleu", "What of the development set says which epoch is best.", panel="Optimisation")
    patience: int | None = setting(
        None,
        "Stop after so many epochs without a better --metric.  [default: never: the learning rate falls to 0]",
        panel="Optimisation",
        low=1,
    )
    average: int = setting(
        1,
        "Try the mean of the weights of so many best epochs, and keep it if it is better.",
        panel="Optimisation",
        low=1,
    )
    ema: float | None = setting(
        None,
        "Validate and export a moving average of the weights that forgets so slowly, such as 0.999.  [default: none]",
        panel="Optimisation",
        low=0,
        high=0.999999,
    )
    mixed_precision: bool | None = setting(
        None,
        "Multiply in bfloat16, keep weights in float32.  [default: where the processor has AMX, or the GPU bfloat16]",
        panel="Optimisation",
    )
    checkpoint_minutes: float = setting(
        5.0, "Minutes between checkpoints; one is written after every epoch too.", panel="Output", low=0
    )
    devices: Literal["one", "all"] = setting(
        "one",
        "Train on one GPU, or share every batch among all of this machine; with TF_CONFIG always among all.",
        panel="Output",
    )

    seed: int = setting(
        1, "Of initial weights, dropout and the order of batches.", panel="Optimisation", low=0, high=2**32 - 1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.time is not None:
            parse_duration(self.time)
        if self.sample_target and self.subword_sampling is None:
            raise OptionError("--sample-target is about --subword-sampling", hint="add --subword-sampling 0.2")

    @property
    def peak_rate(self) -> float:
        """`learning_rate`, and where it is left open that of a recurrent network."""
        return self.rate_for("rnn")

    def rate_for(self, architecture: str) -> float:
        """`learning_rate`, and where it is left open one that suits the architecture, or fine-tuning."""
        if self.learning_rate is not None:
            return self.learning_rate
        return FINE_TUNING if self.init_from else LEARNING_RATES[architecture]

    def fit_to(self, architecture: str) -> Self:
        return replace(self, learning_rate=self.rate_for(architecture))
