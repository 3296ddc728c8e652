"""Step models that do to placeholders all that a network can do to them, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.search.step_model import Step
from nmt_cli.sources.source import TextSource
from nmt_cli.text.symbols import TokenizerKind
from nmt_cli.translation.translator import LineTranslator
from support.tokenizers import syllable_tokenizer

END = 3


@dataclass(frozen=True)
class PlanState:
    """What each row will say, what it will look at, and how far it is."""

    plan: IntArray  # (N, T)
    attention: FloatArray  # (N, T, S)
    place: int

    def select(self, rows: IntArray) -> PlanState:
        return PlanState(self.plan[rows], self.attention[rows], self.place)


class Adversary:
    """Says the source's tokens in another order, some not at all, some twice, others beside them.

    What it looks at is random, or with `flat` the same for every token, as of a network without attention.
    """

    def __init__(self, vocabulary: int, seed: int, *, flat: bool = False) -> None:
        self.vocabulary = vocabulary
        self.seed = seed
        self.flat = flat

    def encode(self, source_ids: IntArray) -> PlanState:
        width = source_ids.shape[1]
        length = 3 * width + 8
        plan = np.full((len(source_ids), length), END)
        attention = np.zeros((len(source_ids), length, width))
        for row, ids in enumerate(source_ids):
            own = ids[ids != 0]
            generator = np.random.default_rng([self.seed, *own.tolist()])
            said = generator.choice(own, generator.integers(0, 2 * len(own)))  # with END among them now and then
            said = np.concatenate([said, generator.integers(4, self.vocabulary, generator.integers(0, 4))])
            plan[row, : len(said)] = generator.permutation(said)
            looks = generator.random((length, len(own))) ** 4 if not self.flat else np.ones((length, len(own)))
            attention[row, :, : len(own)] = looks / looks.sum(axis=1, keepdims=True)
        return PlanState(plan, attention, 0)

    def step(self, tokens: IntArray, state: PlanState, candidates: int, *, scored: bool = True) -> Step[PlanState]:
        others = np.arange(4, 4 + candidates - 1)
        best = [[token, *others[others != token], END][:candidates] for token in state.plan[:, state.place].tolist()]
        log_probabilities = np.tile(np.log(0.1) * np.arange(1, candidates + 1), (len(best), 1))
        return Step(
            tokens=np.array([row + [4] * (candidates - len(row)) for row in best]),
            log_probabilities=log_probabilities,
            attention=state.attention[:, state.place],
            state=PlanState(state.plan, state.attention, state.place + 1),
        )


class Parrot(Adversary):
    """Says the source's tokens as they are, and looks at each as it says it."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__(vocabulary, seed=0)

    def encode(self, source_ids: IntArray) -> PlanState:
        rows, width = source_ids.shape
        plan = np.concatenate([source_ids, np.full((rows, 3 * width + 8), END)], axis=1)
        return PlanState(np.where(plan == 0, END, plan), np.tile(np.eye(plan.shape[1], width), (rows, 1, 1)), 0)


def adversarial_translator(
    kind: TokenizerKind = "unigram", seed: int = 1, *, flat: bool = False, **options: Any
) -> LineTranslator:
    """A translator of made-up words whose network is an `Adversary`; the options are those of `LineTranslator`."""
    subwords = syllable_tokenizer(kind)
    return LineTranslator(
        Adversary(subwords.vocabulary_size, seed, flat=flat), TextSource(subwords), subwords, **options
    )
