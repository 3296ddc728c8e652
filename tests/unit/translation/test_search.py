from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.search.step_model import Step
from nmt_cli.sources.source import TextSource
from nmt_cli.translation.config import TranslateOptions, widen_for_distinct
from nmt_cli.translation.forced import force_translations
from nmt_cli.translation.placement.alignment import find_links
from nmt_cli.translation.placement.joining import select_distinct
from nmt_cli.translation.result import Translation
from nmt_cli.translation.search import MAXIMUM_ROWS, OVERHEAD, batch_by_length
from nmt_cli.translation.translator import LineTranslator
from support.properties import examples
from support.tokenizers import toy_tokenizer


def test_batches_hold_every_line_with_text_once_and_bound_the_work() -> None:
    lengths = [5, 0, 3000, 7, 0, 100_000] + [12] * 700
    batches = batch_by_length(lengths, SearchOptions(beam_size=5), MAXIMUM_ROWS)
    assert sorted(index for batch in batches for index in batch) == [i for i, length in enumerate(lengths) if length]
    assert all(len(batch) * 5 <= 512 for batch in batches)
    assert all(len(batch) == 1 for batch in batches if max(lengths[index] for index in batch) > 12_000)


@given(st.lists(st.integers(1, 200), max_size=600), st.sampled_from([1, 5]))
def test_a_batch_is_padded_less_than_another_would_cost(lengths: list[int], beam: int) -> None:
    for batch in batch_by_length(lengths, SearchOptions(beam_size=beam), MAXIMUM_ROWS):
        batch_lengths = [lengths[index] for index in batch]
        assert sum(batch_lengths[0] - length for length in batch_lengths[:-1]) * beam <= OVERHEAD * batch_lengths[-1]


# A list of the best hypotheses holds no text twice, and is as long as the beam allows.


def make_translation(*texts: str) -> Translation:
    hypotheses: Any = tuple(SimpleNamespace(text=text, score=-rank) for rank, text in enumerate(texts))
    return Translation(source="s", source_pieces=(), hypotheses=hypotheses, unseen=frozenset())


@pytest.mark.parametrize(
    ("texts", "most", "expected"),
    [("abcab", 3, [0, 1, 2]), ("aabbc", 2, [0, 2]), ("aaa", 3, [0]), ("a", 1, [0]), ("", 2, [])],
)
def test_the_best_of_each_text_is_kept(texts: str, most: int, expected: list[int]) -> None:
    hypotheses = select_distinct(make_translation(*texts), most).hypotheses
    assert [-hypothesis.score for hypothesis in hypotheses] == expected


def test_more_hypotheses_are_searched_than_asked_for_if_the_beam_has_them() -> None:
    assert widen_for_distinct(SearchOptions(n_best=3, beam_size=10)).n_best == 6
    assert widen_for_distinct(SearchOptions(n_best=3, beam_size=4)).n_best == 4
    for config in (SearchOptions(n_best=1), SearchOptions(n_best=3, sampling=SamplingOptions(sample=True))):
        assert widen_for_distinct(config) == config


# A text has one score, whether search found it or it was given.

END = 3
WORD_TOKENIZER = toy_tokenizer("word")
PLACEHOLDER_IDS = WORD_TOKENIZER.placeholder_ids
WORD_IDS = [WORD_TOKENIZER.encode(word)[0] for word in ("dog", "cat", "sees", "takes")]


@dataclass(frozen=True)
class CarrierState:
    """What each row has read, and written so far."""

    sources: IntArray  # (N, S)
    written: tuple[tuple[int, ...], ...]  # N

    def select(self, rows: IntArray) -> CarrierState:
        return CarrierState(self.sources[rows], tuple(self.written[row] for row in rows))


class Carrier:
    """Draws log P(token | source, tokens before) from a seed; writes each placeholder of the source once, then ends."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.size = WORD_TOKENIZER.vocabulary_size

    def encode(self, source_ids: IntArray) -> CarrierState:
        return CarrierState(source_ids, ((),) * len(source_ids))

    def step(
        self, tokens: IntArray, state: CarrierState, candidates: int, *, scored: bool = True
    ) -> Step[CarrierState]:
        written = tuple((*before, int(token)) for before, token in zip(state.written, tokens, strict=True))
        rows = [self.distribution(source, own) for source, own in zip(state.sources, written, strict=True)]
        values = np.stack(rows)
        order = np.argsort(-values, axis=1)[:, :candidates]
        return Step(
            tokens=order,
            log_probabilities=np.take_along_axis(values, order, axis=1),
            attention=np.full(state.sources.shape, 1 / state.sources.shape[1]),
            state=CarrierState(state.sources, written),
        )

    def distribution(self, source: IntArray, written: tuple[int, ...]) -> FloatArray:
        """Returns (V,): the log-probabilities of the next token."""
        waiting = [token for token in PLACEHOLDER_IDS if token in source and token not in written]
        generator = np.random.default_rng([self.seed, *source[source != 0].tolist(), *written])
        logits = np.full(self.size, -30.0)
        logits[[*WORD_IDS, *waiting, END]] = generator.normal(size=len(WORD_IDS) + len(waiting) + 1) * 2
        logits[waiting] += 2
        logits[END] += -20 if waiting else len(written)
        return np.asarray(logits - np.log(np.exp(logits).sum()))


SPANS = st.sampled_from(["€30", "5 km", "a@b.example"])


@examples(60)
@given(
    seed=st.integers(0, 1_000),
    spans=st.lists(SPANS, min_size=2, max_size=4, unique=True),
    beam=st.sampled_from([1, 2, 5]),
)
def test_the_score_of_an_own_translation_is_that_of_the_search(seed: int, spans: list[str], beam: int) -> None:
    translator = LineTranslator(Carrier(seed), TextSource(WORD_TOKENIZER), WORD_TOKENIZER)
    source = "the dog " + " sees ".join(spans) + " at one"
    (translation,) = translator.translate(
        [source], TranslateOptions(SearchOptions(beam_size=beam, n_best=beam, max_length=40))
    )
    hypotheses = [each for each in translation.hypotheses if not any(placed.lost for placed in each.spans)]
    assert hypotheses
    given_again = force_translations(translator, [source] * len(hypotheses), [each.text for each in hypotheses])
    for hypothesis, forced in zip(hypotheses, given_again, strict=True):
        assert forced.text == hypothesis.text
        assert forced.hypotheses[0].log_probability == pytest.approx(hypothesis.log_probability)
        assert forced.hypotheses[0].tokens == hypothesis.tokens
    scores = [hypothesis.score for hypothesis in translation.hypotheses]
    assert scores == sorted(scores, reverse=True)


def test_equal_spans_are_given_in_the_order_of_the_source() -> None:
    translator = LineTranslator(Carrier(7), TextSource(WORD_TOKENIZER), WORD_TOKENIZER)
    source, target = "one €30 dog 5 km sees €30 cat €30", "€30 dog €30 cat 5 km sees €30"
    (forced,) = force_translations(translator, [source], [target])
    first, other, second, third = PLACEHOLDER_IDS[:4]
    dog, cat, sees = (WORD_TOKENIZER.encode(word)[0] for word in ("dog", "cat", "sees"))
    assert forced.hypotheses[0].tokens == (first, dog, second, cat, other, sees, third, END)
    assert [placed.text for placed in forced.placed] == ["€30", "€30", "5 km", "€30"]
    links = {(source.split()[s], target.split()[t]) for s, t in find_links(forced, forced.hypotheses[0])}
    assert {("€30", "€30"), ("5", "5"), ("km", "km")} <= links
