"""What a target begins with is given, and changes nothing but what follows it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.search.beam import search
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.guide import Guide
from nmt_cli.search.lead import Lead
from nmt_cli.search.length_limits import limit_lengths
from nmt_cli.search.ranking import LengthPenalty
from support.properties import examples
from support.tables import FedTable, TableModel, every_ended_sequence, sources

LEADS = st.lists(st.lists(st.integers(4, 6), max_size=3), min_size=1, max_size=4)


def search_behind(model: TableModel, leads: list[list[int]], config: SearchConfig) -> list[list[tuple[int, ...]]]:
    """The tokens of the hypotheses of each sentence behind its lead; the seed of a sentence is its number."""
    lead = Lead.from_tokens(leads, [1] * len(leads))
    guide = Guide.from_config(config)._replace(lead=lead)
    found = search(model, sources(*range(len(leads))), config, guide=guide)
    return [[hypothesis.tokens for hypothesis in group] for group in found]


@examples(50)
@given(leads=LEADS, beam=st.integers(1, 4), n_best=st.integers(1, 3), ban=st.integers(0, 2))
def test_leads_fed_before_the_search_and_in_it_give_the_same(
    leads: list[list[int]], beam: int, n_best: int, ban: int
) -> None:
    config = SearchConfig(beam_size=beam, n_best=min(beam, n_best), max_length=5, no_repeat_ngram=ban)
    guide = Guide.from_config(config, lead=Lead.from_tokens(leads, [1] * len(leads)), barred=5)
    numbered = sources(*range(len(leads)))
    in_search, before = (search(model(vocabulary=3), numbered, config, guide=guide) for model in (TableModel, FedTable))
    for groups in zip(in_search, before, strict=True):
        for one, other in zip(*groups, strict=True):
            assert one.tokens == other.tokens and one.finished == other.finished
            assert one.score == pytest.approx(other.score)
            assert one.token_log_probabilities == pytest.approx(other.token_log_probabilities)
            assert one.attention == pytest.approx(other.attention)


@examples(30)
@given(lead=st.lists(st.integers(4, 6), min_size=1, max_size=2), n_best=st.integers(1, 4))
def test_the_best_ends_of_a_lead_are_found_and_it_counts_for_nothing(lead: list[int], n_best: int) -> None:
    model, longest = TableModel(vocabulary=3), 3
    config = SearchConfig(beam_size=27, n_best=n_best, max_length=longest)
    (found,) = search_behind(model, [lead], config)
    penalty, table = LengthPenalty(1.0), 10
    of_lead = model.log_probability(table, tuple(lead))
    scored = [
        ((model.log_probability(table, (*lead, *tokens)) - of_lead) / float(penalty(len(tokens))), tokens)
        for tokens in every_ended_sequence(model, longest)
    ]
    assert found == [tokens for _, tokens in sorted(scored, reverse=True)[:n_best]]


@examples(30)
@given(leads=LEADS, beam=st.integers(1, 4))
def test_a_result_does_not_depend_on_the_leads_beside_it(leads: list[list[int]], beam: int) -> None:
    model, config = TableModel(vocabulary=3), SearchConfig(beam_size=beam, max_length=5)
    together = search_behind(model, leads, config)
    for number, lead in enumerate(leads):
        others: list[list[int]] = [[] for _ in leads]
        others[number] = lead
        assert search_behind(model, others, config)[number] == together[number]


def test_probabilities_and_score_are_those_of_the_tokens_behind_the_lead() -> None:
    model, config = TableModel(vocabulary=3), SearchConfig(beam_size=2, max_length=5)
    guide = Guide.from_config(config)._replace(lead=Lead.from_tokens([[4, 5]], [1]))
    ((own,),) = search(model, sources(0), config, guide=guide)
    assert len(own.attention) == len(own.tokens)
    assert sum(own.token_log_probabilities) == pytest.approx(own.log_probability)
    assert own.score == pytest.approx(own.log_probability / float(LengthPenalty(1.0)(len(own.tokens))))


def test_limits_count_the_own_positions_of_a_source_and_add_its_lead() -> None:
    lead = Lead.from_tokens([[4, 5], []], [2, 0])
    assert limit_lengths(np.full((2, 6), 9), SearchConfig(), lead=lead).tolist() == [3 * 4 + 5 + 2, 3 * 6 + 5]
    assert Lead.from_tokens([[], []], [0, 0]) is None


def test_a_barred_token_is_never_written_but_stands_in_a_lead() -> None:
    model, config = TableModel(vocabulary=3), SearchConfig(beam_size=3, n_best=3, max_length=6)
    guide = Guide.from_config(config, barred=4, lead=Lead.from_tokens([[4]], [1]))
    (hypotheses,) = search(model, sources(5), config, guide=guide)
    free = Guide.from_config(config)._replace(lead=Lead.from_tokens([[4]], [1]))
    assert any(4 in hypothesis.tokens for hypothesis in search(model, sources(5), config, guide=free)[0])
    assert not any(4 in hypothesis.tokens for hypothesis in hypotheses)


def test_tokens_of_a_lead_are_no_repetition() -> None:
    model, config = TableModel(vocabulary=1), SearchConfig(beam_size=1, max_length=8, no_repeat_ngram=1)
    guide = Guide.from_config(config)._replace(lead=Lead.from_tokens([[4, 4]], [1]))
    ((best,),) = search(model, sources(3), config, guide=guide)
    assert best.tokens in ((4, 3), (3,))
