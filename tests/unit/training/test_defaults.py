"""What is left open is chosen by the size of the corpus; what is set stays as it is."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.errors import OptionError
from nmt_cli.model.config import ATTENTIONS, ModelConfig, RnnConfig
from nmt_cli.training import defaults
from nmt_cli.training.defaults import RULES, WIDE_NETWORK, choose_larger_size, find_rule, fit_to_corpus
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest


def fit(pairs: int, *, unit: str = "sentence", **options: Any) -> TrainRequest:
    """Returns the request of `nmt train` with these options for a corpus of so many pairs."""
    encoded = SimpleNamespace(source=range(pairs))
    manifest = SimpleNamespace(source=SimpleNamespace(unit=unit))
    corpus: Any = SimpleNamespace(load_encoded=lambda split: encoded, manifest=manifest)
    network = ModelConfig.from_options(**{name: options[name] for name in options if name in NETWORK})
    training = TrainOptions(**{name: options[name] for name in options if name not in NETWORK})
    directory: Any = None
    return fit_to_corpus(TrainRequest(corpus, directory, network, training, explicit=set(options)))


NETWORK = {"architecture", "attention", "heads", "units", "embedding", "dropout", "fixed_norm", "cell"}


def test_a_small_corpus_gets_a_small_network_and_many_small_batches() -> None:
    small, large = fit(2_500), fit(40_000)
    assert isinstance(small.network, RnnConfig) and isinstance(large.network, RnnConfig)
    assert small.network.units < large.network.units
    assert small.network.dropout > large.network.dropout
    assert (small.training.batch, small.training.epochs) == (32, 34)  # 1,700 / 50
    assert (large.training.batch, large.training.epochs) == (128, 10)


def test_the_choice_is_a_line_for_a_person() -> None:
    assert fit(5_000).choice == "5,000 pairs: medium network, 1,896 updates, dropout 0.3"  # 79 batches of 64, 24 times
    assert fit(5_000, epochs=5, batch=128).choice == "5,000 pairs: medium network, dropout 0.3"
    assert fit(5_000, epochs=5, units=64, dropout=0.1).choice is None
    assert fit(5_000, time="1h").choice == "5,000 pairs: dropout 0.3"  # the time chooses the network


@given(st.integers(1_000, 25_000))
def test_more_pairs_are_seen_by_the_root_of_their_number(pairs: int) -> None:
    once, four_times = fit(pairs).training.epochs, fit(4 * pairs).training.epochs
    assert four_times == pytest.approx(max(10, once / 2), abs=0.76)
    halves = fit(pairs, epoch_pairs=pairs // 2).training.epochs
    assert halves == pytest.approx(min(80, 2 * 1_700 / pairs**0.5), rel=0.03)


def test_the_textbook_setting_means_what_it_says() -> None:
    request = fit(40_000, epochs=5, batch=128)
    assert (request.training.epochs, request.training.batch, request.training.learning_rate) == (5, 128, 5e-3)


@given(st.integers(1, 200_000), st.sampled_from([32, 64, 128, 512]))
def test_the_learning_rate_follows_the_root_of_the_batch(pairs: int, batch: int) -> None:
    rule = find_rule(pairs)
    rate = fit(pairs, batch=batch).training.learning_rate
    assert rate == pytest.approx(min(5e-3, rule.learning_rate * (batch / rule.batch) ** 0.5), abs=1e-5)


@given(
    st.integers(1, 200_000),
    st.fixed_dictionaries(
        {},
        optional={
            "units": st.integers(1, 300).map(lambda half: 2 * half),
            "embedding": st.integers(1, 600),
            "dropout": st.sampled_from([0.0, 0.4]),
            "fixed_norm": st.booleans(),
            "cell": st.sampled_from(["gru", "lstm"]),
            "attention": st.sampled_from(list(ATTENTIONS)),
            "epochs": st.integers(1, 99),
            "batch": st.integers(1, 999),
            "learning_rate": st.sampled_from([1e-4, 1e-2]),
        },
    ),
)
def test_what_is_set_stays_as_it_is_and_every_combination_makes_a_network(pairs: int, options: dict[str, Any]) -> None:
    request = fit(pairs, **options)
    for name, value in options.items():
        assert getattr(request.network if name in NETWORK else request.training, name) == value


def test_a_named_attention_is_that_of_the_textbooks() -> None:
    for attention in ATTENTIONS:
        network = fit(40_000, attention=attention).network
        assert isinstance(network, RnnConfig)
        assert (network.heads, network.attend_embeddings, network.fixed_norm) == (1, False, False)
    default = fit(40_000).network
    assert isinstance(default, RnnConfig)
    assert (default.attention, default.heads, default.attend_embeddings, default.fixed_norm) == (
        "scaled-dot",
        8,
        True,
        True,
    )


def test_pictures_get_the_attention_that_finds_a_region() -> None:
    request = fit(5_000, unit="picture")
    assert request.network == ModelConfig.from_options(attention="additive")
    assert request.training == TrainOptions()
    assert fit(5_000, unit="picture", attention="dot").network == ModelConfig.from_options(attention="dot")


def test_heads_divide_the_widths() -> None:
    # 256 units of attention, and 300 + 256 = 556 = 4 * 139 features of memory.
    assert fit(40_000, units=300).network.heads == 4
    with pytest.raises(OptionError, match="--heads is 8"):
        fit(40_000, units=300, heads=8)


def test_a_transformer_keeps_its_widths_and_its_rate() -> None:
    request = fit(5_000, architecture="transformer")
    assert request.network == ModelConfig.from_options(architecture="transformer", dropout=0.3)
    assert (request.training.batch, request.training.learning_rate) == (64, None)


def test_batches_in_tokens_and_a_time_are_kept() -> None:
    assert fit(5_000, batch_tokens=2_000).training.batch == TrainOptions().batch
    assert fit(5_000, time="5m").training.epochs == TrainOptions().epochs


@pytest.fixture
def has_same_subwords(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Gives every request with --init-from a parent whose subwords are the same, or others."""
    monkeypatch.setattr(defaults, "load_initial_model", lambda config: config.init_from)
    monkeypatch.setattr(defaults, "has_same_subwords", lambda corpus, model: request.param)


@pytest.mark.parametrize("has_same_subwords", [True], indirect=True)
def test_fine_tuning_and_programs_choose_for_themselves(has_same_subwords: None) -> None:
    tuned = fit(5_000, init_from="model")
    assert tuned.training == TrainOptions(init_from="model")
    request = replace(tuned, training=TrainOptions(), explicit=None)
    assert fit_to_corpus(request) == request


@pytest.mark.parametrize("has_same_subwords", [False], indirect=True)
def test_a_child_of_another_language_is_trained_as_its_corpus_needs_it(has_same_subwords: None) -> None:
    child, scratch = fit(5_000, init_from="model"), fit(5_000)
    same = {"init_from": "model", "learning_rate": 0.0042}  # 1.4 times 0.003
    assert child.training == replace(scratch.training, **same)
    assert child.choice == "5,000 pairs: 1,896 updates, dropout 0.3"
    assert child.network == ModelConfig.from_options(dropout=0.3)  # of which only what is explicit counts
    assert child.explicit_options == {"dropout"}
    assert fit(5_000, init_from="model", dropout=0.1, learning_rate=1e-4).network.dropout == 0.1
    assert fit(5_000, init_from="model", learning_rate=1e-4).training.learning_rate == 1e-4


def test_a_large_corpus_that_learns_casual_spelling_learns_typing_errors() -> None:
    assert fit(40_000).training.typing_errors == fit(200_000).training.typing_errors == 0.1
    assert fit(30_000).training.typing_errors == fit(40_000, careless=0.0).training.typing_errors == 0
    assert fit(40_000, typing_errors=0.3).training.typing_errors == 0.3


def test_many_updates_want_a_lower_rate() -> None:
    assert fit(100_000).training.learning_rate > fit(100_001).training.learning_rate == 3e-3


def test_the_rules_cover_every_size() -> None:
    limits = [rule.most_pairs for rule in RULES]
    assert limits == sorted(limits)
    assert find_rule(10**9) is RULES[-1]
    assert find_rule(1) is RULES[0]


def test_a_long_time_gets_a_wide_network_where_the_corpus_is_large() -> None:
    default, small = fit(165_000, time="3h").network, fit(2_500).network
    assert choose_larger_size(default, small, 165_000, 5_999) == small
    assert choose_larger_size(default, small, 165_000, 6_000) == default
    assert choose_larger_size(default, small, 50_000, 99_999) == default
    wide = choose_larger_size(default, small, 165_000, 99_999)
    assert wide == replace(default, **WIDE_NETWORK)
