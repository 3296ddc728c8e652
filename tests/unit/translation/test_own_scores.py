"""A text has one score, whether search found it or it was given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.step_model import Step
from nmt_cli.sources.source import TextSource
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.forced import force_translations
from nmt_cli.translation.placement.alignment import find_links
from nmt_cli.translation.translator import LineTranslator
from support.properties import examples
from support.tokenizers import toy_tokenizer

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
    hypotheses = [each for each in translation.hypotheses if not any(placed.dropped for placed in each.placed_spans)]
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
