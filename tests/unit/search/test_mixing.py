""""""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.types import FloatArray
from nmt_cli.search.beam import LengthPenalty, search
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.mixing import Ensemble, average_attention
from support.properties import examples
from support.tables import END, TableModel, every_ended_sequence, sources

TOKENS = [END, 4, 5, 6]


class WholeTable(TableModel):
    """The table over all ids from 0 on, as a network has them: those that are no tokens have no probability."""

    def step(self, tokens, state, candidates, *, scored=True):  # type: ignore[no-untyped-def]
        step = super().step(tokens, state, candidates)
        rows, nothing = len(tokens), [0, 1, 2]
        return type(step)(
            tokens=np.concatenate([step.tokens, np.tile(nothing, (rows, 1))], axis=1),
            log_probabilities=np.concatenate([step.log_probabilities, np.full((rows, 3), -np.inf)], axis=1),
            attention=step.attention,
            state=step.state,
        )


def mean_log_probability(models: list[TableModel], table: int, tokens: tuple[int, ...]) -> float:
    """By hand: of every token the mean probability of the models."""
    total, prefix = 0.0, 0
    for previous, token in zip((2, *tokens[:-1]), tokens, strict=True):
        prefix = prefix * 100 + previous
        column = TOKENS.index(token)
        total += float(np.log(np.mean([np.exp(model.distribution(table, prefix)[column]) for model in models])))
    return total


@examples(30)
@given(seed=st.integers(0, 10_000))
def test_an_ensemble_finds_the_best_under_the_mean_of_the_probabilities(seed: int) -> None:
    models: list[TableModel] = [WholeTable(vocabulary=3, sharpness=sharpness) for sharpness in (0.3, 1.0, 2.5)]
    config = SearchConfig(beam_size=81, n_best=3, max_length=4)
    hypotheses = search(Ensemble(models, vocabulary=7), sources(seed), config)[0]
    penalty = LengthPenalty(1.0)
    scored = [
        (mean_log_probability(models, seed + 10, tokens) / float(penalty(len(tokens))), tokens)
        for tokens in every_ended_sequence(models[0], 4)
    ]
    best = sorted(scored, reverse=True)[:3]
    assert [hypothesis.tokens for hypothesis in hypotheses] == [tokens for _, tokens in best]
    assert [hypothesis.score for hypothesis in hypotheses] == pytest.approx([score for score, _ in best])


def test_a_model_with_itself_is_itself() -> None:
    model, config = WholeTable(vocabulary=3), SearchConfig(beam_size=3, n_best=3, max_length=6)
    alone = search(TableModel(vocabulary=3), sources(1, 2), config)
    twice = search(Ensemble([model, model], vocabulary=7), sources(1, 2), config)
    assert [[hypothesis.tokens for hypothesis in hypotheses] for hypotheses in twice] == [
        [hypothesis.tokens for hypothesis in hypotheses] for hypotheses in alone
    ]


def test_a_model_without_attention_does_not_blur_that_of_the_others() -> None:
    attention: FloatArray = np.array([[0.2, 0.8]])
    assert average_attention([attention, np.zeros((1, 2))]).tolist() == [[0.2, 0.8]]
    assert average_attention([np.zeros((1, 2))]).tolist() == [[0.0, 0.0]]
