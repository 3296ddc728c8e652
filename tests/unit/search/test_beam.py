"""Search against brute force: what a beam finds, and what its scores are made of."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.search.beam import BeamSearch, CoveragePenalty, LengthPenalty, Ranking
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import limit_lengths
from support.properties import examples
from support.tables import END, TableModel, every_ended_sequence, looked_at, outline, sources


@examples(40)
@given(seed=st.integers(0, 10_000), alpha=st.sampled_from([0.0, 0.6, 1.0, 2.0]), n_best=st.integers(1, 6))
def test_a_beam_that_holds_everything_finds_what_brute_force_finds(seed: int, alpha: float, n_best: int) -> None:
    model, longest = TableModel(vocabulary=3), 4
    config = SearchOptions(beam_size=81, length_penalty=alpha, n_best=n_best, max_length=longest)
    hypotheses = BeamSearch(model, sources(seed), config).run()[0]

    penalty = LengthPenalty(alpha)
    table = seed + 10
    scored = [
        (model.log_probability(table, tokens) / float(penalty(len(tokens))), tokens)
        for tokens in every_ended_sequence(model, longest)
    ]
    best = sorted(scored, reverse=True)[:n_best]
    assert [hypothesis.tokens for hypothesis in hypotheses] == [tokens for _, tokens in best]
    assert [hypothesis.score for hypothesis in hypotheses] == pytest.approx([score for score, _ in best])


@examples(40)
@given(seed=st.integers(0, 10_000), beam=st.integers(1, 7), alpha=st.sampled_from([0.0, 1.0]))
def test_the_parts_of_a_hypothesis_belong_together(seed: int, beam: int, alpha: float) -> None:
    model = TableModel(vocabulary=5)
    config = SearchOptions(beam_size=beam, n_best=beam, length_penalty=alpha, max_length=6)
    for hypothesis in BeamSearch(model, sources(seed), config).run()[0]:
        assert hypothesis.log_probability == pytest.approx(model.log_probability(seed + 10, hypothesis.tokens))
        assert sum(hypothesis.token_log_probabilities) == pytest.approx(hypothesis.log_probability)
        assert hypothesis.score == pytest.approx(
            hypothesis.log_probability / float(LengthPenalty(alpha)(len(hypothesis.tokens)))
        )
        assert hypothesis.finished == (hypothesis.tokens[-1] == END)
        prefix = 0
        for previous, row in zip((2, *hypothesis.tokens[:-1]), hypothesis.attention, strict=True):
            prefix = prefix * 100 + previous
            assert row[0] == pytest.approx(prefix % 97 / 1000)


@examples(30)
@given(seeds=st.lists(st.integers(0, 10_000), min_size=2, max_size=6, unique=True), beam=st.integers(1, 5))
def test_a_result_does_not_depend_on_the_other_sentences_of_its_batch(seeds: list[int], beam: int) -> None:
    model, config = TableModel(vocabulary=6), SearchOptions(beam_size=beam, n_best=min(2, beam), max_length=8)
    together = BeamSearch(model, sources(*seeds), config).run()
    for seed, hypotheses in zip(seeds, together, strict=True):
        assert outline(hypotheses) == outline(BeamSearch(model, sources(seed), config).run()[0])


@examples(40)
@given(seed=st.integers(0, 10_000))
def test_a_beam_of_one_takes_the_likeliest_token_at_every_step(seed: int) -> None:
    model = TableModel(vocabulary=6)
    hypotheses = BeamSearch(model, sources(seed), SearchOptions(beam_size=1, max_length=10)).run()[0]
    prefix, previous, expected = 0, 2, []
    while previous != END and len(expected) < 10:
        prefix = prefix * 100 + previous
        previous = int(model.tokens[model.distribution(seed + 10, prefix).argmax()])
        expected.append(previous)
    assert [hypothesis.tokens for hypothesis in hypotheses] == [tuple(expected)]


@examples(40)
@given(
    seed=st.integers(0, 10_000),
    ngram=st.integers(0, 2),
    coverage=st.sampled_from([0.0, 0.5]),
    length=st.integers(1, 10),
)
def test_greedy_search_without_scores_finds_the_same(seed: int, ngram: int, coverage: float, length: int) -> None:
    model = TableModel(vocabulary=4, attention=0.5)
    config = SearchOptions(beam_size=1, max_length=length, no_repeat_ngram=ngram, coverage_penalty=coverage)
    first, second = sources(seed, seed + 1), sources(seed, seed + 1)
    for with_scores, without in zip(
        BeamSearch(model, first, config).run(),
        BeamSearch(model, second, replace(config, scored=False)).run(),
        strict=True,
    ):
        assert [hypothesis.tokens for hypothesis in with_scores] == [hypothesis.tokens for hypothesis in without]
        assert [hypothesis.finished for hypothesis in with_scores] == [hypothesis.finished for hypothesis in without]
        np.testing.assert_array_equal(with_scores[0].attention, without[0].attention)
        values = [without[0].score, without[0].log_probability, *without[0].token_log_probabilities]
        assert len(values) == 2 + len(without[0].tokens) and np.isnan(values).all()


@examples(20)
@given(seed=st.integers(0, 10_000), beam=st.integers(2, 4))
def test_a_beam_has_scores_all_the_same(seed: int, beam: int) -> None:
    config = SearchOptions(beam_size=beam, max_length=8)
    model = TableModel(vocabulary=4)
    (with_scores,), (without_scores,) = (
        BeamSearch(model, sources(seed), replace(config, scored=scored)).run() for scored in (True, False)
    )
    assert outline(with_scores) == outline(without_scores)


@examples(30)
@given(seed=st.integers(0, 10_000))
def test_hypotheses_come_best_first_and_differ(seed: int) -> None:
    config = SearchOptions(beam_size=6, n_best=6, max_length=8)
    found = outline(BeamSearch(TableModel(vocabulary=6), sources(seed), config).run()[0])
    assert found == sorted(found, key=lambda result: result[1], reverse=True)
    assert len(found) == len({tokens for tokens, _ in found}) == 6


class NeverEnds(TableModel):
    def distribution(self, table: int, prefix: int) -> np.ndarray:
        return np.where(self.tokens == END, -1e9, super().distribution(table, prefix))


@pytest.mark.parametrize("beam", [1, 4])
def test_a_sentence_that_never_ends_is_cut_at_its_limit_and_says_so(beam: int) -> None:
    hypotheses = BeamSearch(NeverEnds(vocabulary=9), sources(1), SearchOptions(beam_size=beam, max_length=5)).run()[0]
    assert len(hypotheses[0].tokens) == 5
    assert not hypotheses[0].finished


def test_limits_follow_from_a_sentences_own_length() -> None:
    ids = np.array([[5, 6, 7, 3], [5, 3, 0, 0]])
    assert limit_lengths(ids, SearchOptions(max_length=200)).tolist() == [17, 11]  # 3 for each position, and 5
    assert limit_lengths(ids, SearchOptions(max_length=15)).tolist() == [15, 11]


def test_penalties_are_those_of_wu_et_al_or_an_average() -> None:
    # ((5 + 7) / 6)^0.6 = 2^0.6
    assert float(LengthPenalty(0.6, averages=False)(7)) == pytest.approx(1.515716566510398)
    assert float(LengthPenalty(0.0, averages=False)(7)) == 1.0
    assert (float(LengthPenalty(1.0)(7)), float(LengthPenalty(0.5)(16))) == (7.0, 4.0)
    # 0.2 * (log 0.5 + log 1 + log 0.25); the second got more than its share, the last is padding
    looked, true = np.array([[0.5, 1.7, 0.25, 0.0]]), np.array([[True, True, True, False]])
    assert CoveragePenalty(0.2)(looked, true) == pytest.approx([0.2 * (-0.6931471805599453 - 1.3862943611198906)])


def test_a_position_never_looked_at_costs_much_but_nothing_where_there_is_no_attention() -> None:
    both = np.array([[True, True]])
    cost = CoveragePenalty(1.0)(np.array([[1.0, 0.0]]), both)
    assert np.isfinite(cost) and cost < -10
    assert CoveragePenalty(1.0)(np.zeros((1, 2)), both) == 0


@examples(60)
@given(
    seed=st.integers(0, 10_000),
    alpha=st.sampled_from([0.0, 0.6, 1.0, 2.0]),
    form=st.sampled_from(["wu", "average"]),
    beta=st.sampled_from([0.0, 0.2, 1.0, 5.0]),
    n_best=st.integers(1, 5),
)
def test_stopping_early_loses_nothing_that_brute_force_finds(
    seed: int, alpha: float, form: str, beta: float, n_best: int
) -> None:
    model, longest = TableModel(vocabulary=3, attention=0.5), 4
    config = SearchOptions(
        beam_size=81,
        length_penalty=alpha,
        length_normalisation=form,  # type: ignore[arg-type]
        coverage_penalty=beta,
        n_best=n_best,
        max_length=longest,
    )
    hypotheses = BeamSearch(model, sources(seed), config).run()[0]

    def score(tokens: tuple[int, ...]) -> float:
        divisor = ((5 + len(tokens)) / 6) ** alpha if form == "wu" else len(tokens) ** alpha
        looked = looked_at(model, tokens)
        covered = np.log(np.clip(looked, 1e-6, 1)).sum() if looked.any() else 0.0
        return float(model.log_probability(seed + 10, tokens) / divisor + beta * covered)

    best = sorted((score(tokens) for tokens in every_ended_sequence(model, longest)), reverse=True)[:n_best]
    assert [hypothesis.score for hypothesis in hypotheses] == pytest.approx(best)
    assert [score(hypothesis.tokens) for hypothesis in hypotheses] == pytest.approx(best)


@examples(30)
@given(seeds=st.lists(st.integers(0, 10_000), min_size=2, max_size=6, unique=True), widths=st.integers(4, 20))
def test_with_coverage_neighbours_and_their_padding_change_no_digit(seeds: list[int], widths: int) -> None:
    model = TableModel(vocabulary=6, attention=0.3)
    config = SearchOptions(beam_size=3, n_best=2, max_length=8, coverage_penalty=0.4)
    alone = [BeamSearch(model, sources(seed), config).run()[0] for seed in seeds]
    together = BeamSearch(model, np.pad(sources(*seeds), ((0, 0), (0, widths))), config).run()
    assert [*map(outline, alone)] == [*map(outline, together)]


def test_coverage_prefers_the_hypothesis_that_looked_everywhere() -> None:
    # The likelier of two translations never looks at the second word.
    ranking = Ranking(LengthPenalty(0.0), CoveragePenalty(0.5))
    true = np.ones((2, 2), dtype=bool)
    looked = np.array([[2.0, 0.1], [1.0, 1.0]])
    scores = ranking.score(np.array([-1.0, -1.5]), 2, ranking.coverage(looked, true))
    assert scores.argmax() == 1


def test_a_hypothesis_cut_at_the_limit_is_ranked_in_the_same_way() -> None:
    model = NeverEnds(vocabulary=4, attention=0.5)
    config = SearchOptions(beam_size=4, n_best=4, max_length=3, coverage_penalty=2.0, length_penalty=0.0)
    hypotheses = BeamSearch(model, sources(1), config).run()[0]
    for hypothesis in hypotheses:
        covered = np.log(np.clip(looked_at(model, hypothesis.tokens), 1e-6, 1)).sum()
        assert hypothesis.score == pytest.approx(hypothesis.log_probability + 2.0 * covered)
    assert outline(hypotheses) == sorted(outline(hypotheses), key=lambda result: result[1], reverse=True)
