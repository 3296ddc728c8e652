from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.search.beam import BeamSearch, LengthPenalty
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import Guide, TargetPrefix
from nmt_cli.search.mixing import (
    CONTINUED,
    REACH,
    TEMPERATURE,
    Datastore,
    Ensemble,
    GuidedModel,
    StoredTokens,
    average_attention,
    mix,
    store_targets,
)
from nmt_cli.search.step_model import Step
from support.properties import examples
from support.tables import END, FedTable, TableModel, TableState, every_ended_sequence, sources

""""""


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
    config = SearchOptions(beam_size=81, n_best=3, max_length=4)
    hypotheses = BeamSearch(Ensemble(models, vocabulary=7), sources(seed), config).run()[0]
    penalty = LengthPenalty(1.0)
    scored = [
        (mean_log_probability(models, seed + 10, tokens) / float(penalty(len(tokens))), tokens)
        for tokens in every_ended_sequence(models[0], 4)
    ]
    best = sorted(scored, reverse=True)[:3]
    assert [hypothesis.tokens for hypothesis in hypotheses] == [tokens for _, tokens in best]
    assert [hypothesis.score for hypothesis in hypotheses] == pytest.approx([score for score, _ in best])


def test_a_model_with_itself_is_itself() -> None:
    model, config = WholeTable(vocabulary=3), SearchOptions(beam_size=3, n_best=3, max_length=6)
    alone = BeamSearch(TableModel(vocabulary=3), sources(1, 2), config).run()
    twice = BeamSearch(Ensemble([model, model], vocabulary=7), sources(1, 2), config).run()
    assert [[hypothesis.tokens for hypothesis in hypotheses] for hypotheses in twice] == [
        [hypothesis.tokens for hypothesis in hypotheses] for hypotheses in alone
    ]


class ListedTokens:
    """A step model with given probabilities (V,), of which it lists as many as are asked for."""

    def __init__(self, probabilities: FloatArray) -> None:
        self.probabilities = probabilities

    def encode(self, source: IntArray) -> TableState:
        return TableState(source[:, 0], source[:, 0], 1)

    def step(self, tokens, state, candidates, *, scored=True):  # type: ignore[no-untyped-def]
        best = np.argsort(-self.probabilities, kind="stable")[:candidates]
        values = np.log(self.probabilities[best])
        rows = (len(tokens), 1)
        return Step(np.tile(best, rows), np.tile(values, rows), np.ones(rows), state)


@examples(30)
@given(seed=st.integers(0, 10_000), models=st.integers(1, 4), candidates=st.integers(1, 400))
def test_the_mean_of_listed_tokens_is_that_of_all(seed: int, models: int, candidates: int) -> None:
    random = np.random.default_rng(seed)
    distributions = random.dirichlet(np.full(300, 0.05), size=models) + 1e-12
    ensemble = Ensemble([ListedTokens(row) for row in distributions], vocabulary=300)
    step = ensemble.step(np.zeros(2, int), ensemble.encode(sources(1, 2)), candidates)
    mean = distributions.mean(axis=0)
    assert np.exp(step.log_probabilities) == pytest.approx(mean[step.tokens], abs=1e-3)
    for row in step.tokens.tolist():
        assert len(row) == len(set(row)) == min(candidates, 300)
    assert np.exp(step.log_probabilities[:, 0]) == pytest.approx(mean.max(), abs=1e-3)


def test_a_model_without_attention_does_not_blur_that_of_the_others() -> None:
    attention: FloatArray = np.array([[0.2, 0.8]])
    assert average_attention([attention, np.zeros((1, 2))]).tolist() == [[0.2, 0.8]]
    assert average_attention([np.zeros((1, 2))]).tolist() == [[0.0, 0.0]]


# Translations of similar sources guide a search as their formulas say, and nobody else's search.


WIDTH = 64  # of vectors: those of two contexts are all but orthogonal
VOCABULARY = 6


class TableOfVectors(FedTable):
    """A table of probabilities, with a vector drawn for each context."""

    def step_with_vectors(
        self, tokens: IntArray, state: TableState, candidates: int, *, scored: bool = True
    ) -> tuple[Step[TableState], FloatArray]:
        step = self.step(tokens, state, candidates, scored=scored)
        contexts = zip(step.state.table.tolist(), step.state.prefix.tolist(), strict=True)
        vectors = np.stack([np.random.default_rng(context).normal(size=WIDTH) for context in contexts])
        return step, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


MODEL = TableOfVectors(VOCABULARY - 1)
targets = st.lists(st.integers(4, 3 + VOCABULARY - 1), min_size=1, max_size=4).map(lambda ids: [*ids, END])


def read_source(*seeds: int) -> IntArray:
    return np.array([[seed, 9, 9] for seed in seeds])


def store_words(source: IntArray, given_targets: Sequence[Sequence[int]]) -> list[StoredTokens]:
    """Each target is one word, and each of its tokens attends to what all sources have."""
    parts = store_targets(MODEL, source, given_targets, [[False] * len(target) for target in given_targets])
    return [part._replace(attended=np.ones_like(part.tokens)) for part in parts]


def store(seed: int, target: Sequence[int]) -> list[StoredTokens]:
    return store_words(read_source(seed), [target])


def make_datastore(*parts: StoredTokens) -> Datastore:
    datastore = Datastore.join(parts, parts[0].source)
    assert datastore is not None
    return datastore


def make_word(vectors: FloatArray, *tokens: int) -> StoredTokens:
    zeros = np.zeros(len(tokens), dtype=np.int64)
    return StoredTokens(vectors, np.array(tokens), zeros.astype(bool), zeros, np.array([9]))


@examples(20)
@given(target=targets, beam=st.integers(1, 3))
def test_the_translation_of_the_same_source_is_written_again(target: list[int], beam: int) -> None:
    guided = GuidedModel(MODEL, [store(5, target)], VOCABULARY)
    ((best, *_),) = BeamSearch(guided, read_source(5), SearchOptions(beam_size=beam)).run()
    assert list(best.tokens) == target
    assert best.log_probability == pytest.approx(0, abs=0.02)  # stored with 16 bits


@examples(20)
@given(target=targets, beam=st.integers(1, 3), seeds=st.lists(st.integers(10, 99), min_size=1, max_size=3))
def test_a_sentence_without_neighbours_gets_the_same_to_the_last_bit(
    target: list[int], beam: int, seeds: list[int]
) -> None:
    config = SearchOptions(beam_size=beam, max_length=6)
    parts = [store(5, target), *([] for _ in seeds)]
    _, *together = BeamSearch(GuidedModel(MODEL, parts, VOCABULARY), read_source(5, *seeds), config).run()
    for results, expected in zip(together, BeamSearch(MODEL, read_source(*seeds), config).run(), strict=True):
        assert [result.tokens for result in results] == [result.tokens for result in expected]
        assert [result.token_log_probabilities for result in results] == [
            result.token_log_probabilities for result in expected
        ]


@examples(20)
@given(target_prefix=targets, target=targets, beam=st.integers(1, 3))
def test_behind_a_lead_the_rest_of_the_same_translation_is_written(
    target_prefix: list[int], target: list[int], beam: int
) -> None:
    target_prefix = target_prefix[:-1]
    guide = Guide.from_config(
        SearchOptions(beam_size=beam), target_prefix=TargetPrefix.from_tokens([target_prefix], [1])
    )
    guided = GuidedModel(MODEL, [store(5, [*target_prefix, *target])], VOCABULARY)
    ((best, *_),) = BeamSearch(guided, read_source(5), SearchOptions(beam_size=beam), guide=guide).run()
    assert list(best.tokens) == target


def test_a_store_that_is_nowhere_near_changes_nothing() -> None:
    config = SearchOptions(beam_size=3, max_length=6)
    guided = BeamSearch(GuidedModel(MODEL, [store(5, [4, 6, END])], VOCABULARY), read_source(8), config).run()
    expected = BeamSearch(MODEL, read_source(8), config).run()
    assert [result.tokens for result in guided[0]] == [result.tokens for result in expected[0]]
    assert [result.score for result in guided[0]] == [result.score for result in expected[0]]


def test_two_neighbours_are_mixed_as_computed_by_hand() -> None:
    near, far = 0.2, 0.25  # squared distances of two stored vectors
    vectors = np.array(
        [[1 - far / 2, (1 - (1 - far / 2) ** 2) ** 0.5], [1 - near / 2, (1 - (1 - near / 2) ** 2) ** 0.5]]
    )
    datastore = make_datastore(make_word(vectors[:1], 7), make_word(vectors[1:], 4))
    shares, distribution = datastore.compute_distribution(np.array([[1.0, 0.0]]), np.array([5]))
    share = 1 - near / REACH
    of_far = np.exp(-(far - near) / TEMPERATURE)
    assert datastore.tokens.tolist() == [4, 7]
    assert shares == pytest.approx([share], abs=1e-5)
    assert distribution[0] == pytest.approx([1 / (1 + of_far), of_far / (1 + of_far)], abs=1e-4)
    # The network gives 0.6 to token 5 and 0.3 to token 4, and does not name token 7.
    tokens, values = mix(np.array([[5, 4]]), np.log([[0.6, 0.3]]), datastore.tokens, shares[:, None], distribution)
    expected = {4: (1 - share) * 0.3 + share / (1 + of_far), 5: (1 - share) * 0.6, 7: share * of_far / (1 + of_far)}
    best = sorted(expected, key=lambda token: -expected[token])[:2]
    assert tokens.tolist() == [best]
    assert np.exp(values[0]) == pytest.approx([expected[token] for token in best], abs=1e-4)


def test_a_token_is_nearer_behind_the_token_that_it_continues() -> None:
    vectors = np.array([[1.0, 0.0], [0.8, 0.6]])  # a squared distance of 0.4
    for begins, written, distance in ((False, 7, CONTINUED * 0.4), (True, 7, 0.4), (False, 4, 0.4), (False, 2, 0.4)):
        word = make_word(vectors, 7, 8)._replace(begins=np.array([True, begins]))
        both = make_datastore(word)
        only = both._replace(vectors=both.vectors[[1, 1]], continued=both.continued[[1, 1]])
        shares, _ = only.compute_distribution(vectors[:1], np.array([written]))
        assert shares == pytest.approx([1 - distance / REACH], abs=1e-5)
    datastore = make_datastore(make_word(vectors[:1], 4), make_word(vectors, 7, 8))
    assert datastore.continued.tolist() == [-1, -1, 7]  # a first token continues none, START neither


def test_only_tokens_for_what_a_source_has_guide_it() -> None:
    word = make_word(np.eye(3), 4, 5, 6)._replace(attended=np.array([0, 1, 0]), source=np.array([9, 8]))
    few, none = Datastore.join([word], np.array([7, 9])), Datastore.join([word], np.array([7]))
    assert few is not None and few.tokens.tolist() == [4, 6] and none is None


@examples(20)
@given(
    given_targets=st.lists(targets, min_size=1, max_size=4),
    network=st.permutations(range(3, 3 + VOCABULARY)),
    share=st.floats(0, 0.99),
)
def test_the_mixture_of_all_tokens_is_a_distribution(
    given_targets: list[list[int]], network: list[int], share: float
) -> None:
    datastore = make_datastore(*store_words(read_source(*range(5, 5 + len(given_targets))), given_targets))
    _, distribution = datastore.compute_distribution(np.eye(1, WIDTH), np.array([4]))
    weights = np.arange(VOCABULARY, 0, -1) / sum(range(VOCABULARY + 1))
    tokens, values = mix(
        np.array([network]), np.log(weights[None]), datastore.tokens, np.array([[share]]), distribution
    )
    assert sorted(tokens[0].tolist()) == sorted(network)
    assert np.exp(values).sum() == pytest.approx(1)
    assert (np.diff(values) <= 0).all()


@examples(20)
@given(given_targets=st.lists(targets, min_size=1, max_size=4))
def test_targets_are_stored_together_as_each_by_itself(given_targets: list[list[int]]) -> None:
    seeds = range(5, 5 + len(given_targets))
    together = store_words(read_source(*seeds), given_targets)
    for seed, target, part in zip(seeds, given_targets, together, strict=True):
        (alone,) = store(seed, target)
        assert part.tokens.tolist() == target
        assert np.array_equal(part.vectors, alone.vectors)
