from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.registry import measure_all
from nmt_cli.search.beam import search
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.forced import ForcedTarget, force
from nmt_cli.sources.source import TextSource
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerSettings
from nmt_cli.text.tokenizer_training import train_tokenizer
from nmt_cli.translation.config import LineConfig
from nmt_cli.translation.forced import force_translations
from nmt_cli.translation.translator import Translator
from nmt_cli.translation.word_alignment import find_links
from support.adversary import Adversary
from support.models import toy_pairs
from support.tables import END, TableModel

TARGET = st.lists(st.integers(4, 6), max_size=5).map(lambda body: [*body, END])


def sources(seeds: list[int]) -> np.ndarray:
    return np.array([[seed + 10, 9, END] for seed in seeds])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10_000), TARGET), min_size=1, max_size=5))
def test_a_forced_target_has_the_probability_that_the_model_gives_it(rows: list[tuple[int, list[int]]]) -> None:
    model = TableModel(vocabulary=3)
    forced = force(model, sources([seed for seed, _ in rows]), [target for _, target in rows], size=4)
    for (seed, target), one in zip(rows, forced, strict=True):
        assert one.tokens == tuple(target)
        assert one.log_probability == pytest.approx(model.log_probability(seed + 10, tuple(target)))
        assert one.attention.shape == (len(target), 3)


def test_what_greedy_search_finds_is_likeliest_at_every_place_with_the_same_attention() -> None:
    model = TableModel(vocabulary=3)
    found = search(model, sources([7]), SearchConfig(beam_size=1, max_length=30))[0][0]
    (forced,) = force(model, sources([7]), [list(found.tokens)], size=4)
    assert all(forced.likeliest)
    assert forced.log_probabilities == pytest.approx(found.token_log_probabilities)
    np.testing.assert_allclose(forced.attention, found.attention)


def test_perplexity_is_per_token_of_all_sentences_and_accuracy_the_share_of_first_choices() -> None:
    looks = np.ones((1, 1))
    half = ForcedTarget((5, 6, 3), (math.log(0.5),) * 3, (True, False, True), looks)
    eighth = ForcedTarget((3,), (math.log(0.125),), (False,), looks)
    material = Material(["", ""], [["a"], ["b"]], ["", ""], [half, eighth])
    scores = measure_all(["perplexity", "accuracy"], material)
    assert scores["perplexity"].value == pytest.approx(2 ** (6 / 4))
    assert scores["perplexity"].sentence_values == pytest.approx((2, 8))
    assert scores["accuracy"].value == pytest.approx(50)
    assert scores["perplexity"].statistics.score_sentences([1]) == pytest.approx(8)  # type: ignore[union-attr]


def test_a_forced_pair_is_masked_and_cut_as_a_translated_line_is() -> None:
    config = TokenizerSettings(kind="unigram", lowercase=False)
    own = Tokenizer(train_tokenizer([text for pair in toy_pairs(300) for text in pair], config), config)
    pair = (["bade a@b.com lu ma."], ["edab a@b.com ul am."])

    def forced(protect: bool, limit: int | None = None) -> tuple[str, str, int | None]:
        engine = Adversary(own.vocabulary_size, 1)
        translator = Translator(engine, TextSource(own), own, lines=LineConfig(protect=protect))
        (found,) = force_translations(translator, *pair, limit=limit)
        return "".join(found.source_pieces), "".join(found.hypotheses[0].pieces), found.source_cut_from

    assert all("▁a@b.com" in side for side in forced(True)[:2])
    assert not any("⟦" in side for side in forced(False)[:2])
    shortened, target, length = forced(True, limit=1)
    assert length is not None and forced(True)[0].startswith(shortened.removesuffix("</s>")) and "ma" not in shortened
    assert target == forced(True)[1]


def test_words_of_a_given_translation_are_those_of_the_texts() -> None:
    """Amounts are two words each and one placeholder; emoji and tags are none of the network's."""
    config = TokenizerSettings(kind="unigram", lowercase=False)
    own = Tokenizer(train_tokenizer([text for pair in toy_pairs(300) for text in pair], config), config)
    translator = Translator(Adversary(own.vocabulary_size, 1), TextSource(own), own)
    sources = ["bade 5 km lu 7 km ma.", "😀 bade lu.", "<b>bade</b> lu."]
    targets = ["7 km ul am 5 km.", "edab ul 😀", "<b>edab</b> ul."]
    first, second, third = force_translations(translator, sources, targets)
    assert [one.text for one in (first, second, third)] == targets
    found = {target: source for source, target in find_links(first, first.hypotheses[0])}
    assert (found[0], found[1], found[4], found[5]) == (4, 5, 1, 2) and set(found) == set(range(6))
    assert [target for _, target in find_links(second, second.hypotheses[0])] == [0, 1]
    assert [target for _, target in find_links(third, third.hypotheses[0])] == [0, 1]
    assert [placed.text for placed in first.placed] == ["7 km", "5 km"] and not third.unseen
    assert "7 km" in first.hypotheses[0].pieces and "5 km" in first.source_pieces


class Tied(TableModel):
    """Two tokens are equally likely, whatever came before."""

    def distribution(self, table: int, prefix: int) -> np.ndarray:
        return np.log([0.1, 0.45, 0.45])  # END, 4, 5


def test_none_of_two_equally_likely_tokens_is_likelier_than_the_other() -> None:
    found = [force(Tied(vocabulary=2), sources([1]), [[token, END]], size=3)[0] for token in (4, 5)]
    assert [one.likeliest for one in found] == [(True, False), (True, False)]
