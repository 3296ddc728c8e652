"""Settings of training. Standard library only: the command line reads its options from here."""

from __future__ import annotations

from dataclasses import dataclass

from nmt_cli.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class TrainConfig(Settings):
    """How the network is fitted."""

    epochs: int = setting(10, "Passes over the training pairs.", panel="Optimisation", low=1)
    batch: int = setting(128, "Sentence pairs in a batch.", panel="Optimisation", low=1)
    learning_rate: float = setting(
        2e-3, "Peak learning rate of Adam, reached after the warm-up.", panel="Optimisation", low=0
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
    placeholders: float = setting(
        0.3,
        "Share of sentence pairs in which words of both sides, like names, become placeholders, so that the network "
        "learns to carry these over.",
        panel="Optimisation",
        low=0,
        high=1,
    )
    clip: float = setting(1.0, "Largest norm of the whole gradient.", panel="Optimisation", low=1e-6)
    patience: int | None = setting(
        None,
        "Stop after so many epochs without a better dev BLEU.  [default: never: the learning rate falls to 0]",
        panel="Optimisation",
        low=1,
    )
    mixed_precision: bool | None = setting(
        None,
        "Multiply in bfloat16, keep weights in float32.  [default: where the processor or GPU has bfloat16]",
        panel="Optimisation",
    )
    seed: int = setting(1, "Of initial weights, dropout and the order of batches.", panel="Optimisation", low=0)
