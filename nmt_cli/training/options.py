"""The settings of training, and the learning rate that follows from them.

    nmt train --epochs 5 --init-from eng-deu     TrainOptions(epochs=5, init_from="eng-deu"), whose rate is 0.0005

Standard library only: the command line builds options from them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, Self

from nmt_cli.settings import Settings, setting
from nmt_cli.training.deadline import parse_duration

# Peak rates for networks with initial weights, by architecture (benchmarks/log/bundled-corpus.md).
LEARNING_RATES = {"rnn": 5e-3, "transformer": 2e-3}
FINE_TUNING = 5e-4  # low, so that what was learned before is not undone

NO_START = "none"  # the value of --init-from that keeps a small corpus from starting from an installed model
FIRST_RUN = "run-1"  # of several training runs with different seeds, in the directory of their best

Kernels = Literal["auto", "written", "cudnn", "xla"]  # `step.choose_kernels` explains them
KeptMetric = Literal["bleu", "chrf", "accuracy", "loss"]  # names of fields of `watcher.Validation`


class TrainOptions(Settings, panel="Optimisation"):
    """How the network is trained."""

    epochs: int = setting(
        10, "Passes over the training pairs; the model is validated after each.  [default: by corpus size]", low=1
    )
    epoch_pairs: int | None = setting(
        None,
        "Maximum number of pairs per epoch, so that a large corpus is validated more often; a pass then takes several "
        "epochs.  [default: all]",
        low=1,
    )
    batch: int = setting(128, "Pairs per batch.  [default: by corpus size]", low=1)
    batch_tokens: int | None = setting(
        None,
        "Tokens per batch instead of sentence pairs: pairs times the length of the longest side, padding included.",
        low=1,
        instead_of="batch",
    )
    learning_rate: float | None = setting(
        None,
        "Peak learning rate of Adam, reached after warm-up.  [default: by corpus size, 1.4 times that with "
        "a parent that has different subwords; transformer: 0.002; fine-tuning: 0.0005]",
        low=0,
        also="lr",
    )
    warmup: float = setting(0.1, "Share of all steps over which the learning rate rises to its peak.", low=0, high=1)
    label_smoothing: float = setting(
        0.1, "Share of the target probability spread over the vocabulary.", low=0, high=0.9
    )
    careless: float = setting(
        0.3,
        "Share of source sentences that are lower-cased and lose their final punctuation in training, as in text "
        "typed in a hurry; 0 also turns off the typing errors of large corpora.",
        panel="Noise",
        low=0,
        high=1,
        flag="noise",
    )
    typing_errors: float = setting(
        0.0,
        "Share of source sentences that get typing errors, in one letter out of twenty.  [default: by corpus size]",
        panel="Noise",
        low=0,
        high=1,
    )
    tag_dropout: float = setting(
        0.1,
        "Share of tags that training leaves out, so that the model also translates without tags.",
        panel="Regularisation",
        low=0,
        high=1,
    )
    sampling_temperature: float = setting(
        3.0,
        "In a corpus of several languages, each is sampled in proportion to its number of pairs to the power of "
        "1 / NUMBER, so that small ones count for more; 1 keeps the original proportions.",
        low=1,
        high=100,
    )
    init_from: str | None = setting(
        None,
        "Model to start from: one for the same languages (fine-tuning), or for others (a parent for a small corpus); "
        "none: random weights.  [default: for a small corpus, an installed model that shares a language]",
        panel="Fine-tuning",
        harmless=True,
    )
    replay: str | None = setting(
        None,
        "Prepared corpus of old pairs to mix in, so that the model does not forget them.",
        panel="Fine-tuning",
        harmless=True,
    )
    replay_share: float = setting(
        0.2, "Share of old pairs per epoch with --replay.", panel="Fine-tuning", low=0.01, high=0.99
    )
    time: str | None = setting(
        None,
        "Training time instead of --epochs, such as 90s, 30m or 1h30m, including validation and export. If it is "
        "short, the network is smaller, unless you set an option of the network.",
        instead_of="epochs",
        harmless=True,
    )
    synthetic: Literal["auto", "none", "back", "diversify", "both", "distil"] = setting(
        "auto",
        "Synthetic pairs. back: back-translations of monolingual text; diversify: "
        "translations of the training pairs in both directions; both: these two; distil: a first "
        "model's translations of the training sources by beam search, so that greedy search finds "
        "them, too; auto: back if the corpus has monolingual target text, else none.",
        panel="Synthetic pairs",
    )
    synthetic_search: Literal["greedy", "beam", "sample"] = setting(
        "greedy",
        "How to translate synthetic pairs: by greedy search, beam search or sampling.",
        panel="Synthetic pairs",
    )
    placeholders: float = setting(
        0.3,
        "Share of sentence pairs in which words common to both sides, such as names, become placeholders, so that the "
        "network learns to copy them.",
        low=0,
        high=1,
    )
    clip: float = setting(1.0, "Maximum norm of the gradient; a larger one is scaled down.", low=1e-6)
    accumulate: int = setting(1, "Number of batches whose gradients are accumulated for one update.", low=1)
    metric: KeptMetric = setting("bleu", "Development metric that decides which epoch is best.")
    patience: int | None = setting(
        None,
        "Stop after this many epochs without a better --metric.  [default: never; the learning rate falls to 0]",
        low=1,
    )
    average: int = setting(
        1, "Average the weights of this many best epochs, and keep the average if it is better.", low=1
    )
    ema: float | None = setting(
        None,
        "Validate and export an exponential moving average of the weights, with this decay (0.999).  [default: none]",
        low=0,
        high=0.999999,
    )
    mixed_precision: bool | None = setting(
        None,
        "Compute in bfloat16, keep weights in float32.  [default: on processors with AMX, on AMD's with AVX512-BF16 "
        "and on GPUs with bfloat16]",
        harmless=True,
    )
    kernels: Kernels = setting(
        "auto",
        "How to compute an update: written (with written-out gradients), cudnn (with cuDNN's "
        "recurrences) or xla (compiled). auto: on one GPU, cudnn, or xla for the transformer; "
        "otherwise written.",
    )
    checkpoint_minutes: float = setting(
        5.0, "Minutes between checkpoints; one is also written after every epoch.", panel="Output", low=0
    )
    devices: Literal["one", "all"] = setting(
        "one",
        "Train on one GPU, or share every batch among all GPUs of this machine (always with TF_CONFIG).",
        panel="Output",
    )

    seed: int = setting(1, "Random seed of initial weights, dropout and the order of batches.", low=0, high=2**32 - 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.time is not None:
            parse_duration(self.time)

    @property
    def peak_rate(self) -> float:
        """`learning_rate`, or a recurrent network's default."""
        return self.rate_for("rnn")

    def rate_for(self, architecture: str) -> float:
        """Returns `learning_rate`, or the default of the architecture or of fine-tuning."""
        if self.learning_rate is not None:
            return self.learning_rate
        return FINE_TUNING if self.init_from else LEARNING_RATES[architecture]

    def fit_to(self, architecture: str) -> Self:
        """Returns these settings with the learning rate set for an architecture."""
        return replace(self, learning_rate=self.rate_for(architecture))
