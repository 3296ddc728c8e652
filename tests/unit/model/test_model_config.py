from __future__ import annotations

import pytest

from nmt_cli.errors import OptionError
from nmt_cli.model.config import FAMILIES, ModelConfig


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": 7}, "an even number is needed"),
        ({"heads": 2}, "only --attention scaled-dot has heads"),
        ({"heads": 3, "attention": "scaled-dot"}, "does not divide"),
        ({"input_feeding": True}, "--input-feeding does not go with --attention additive"),
        ({"input_feeding": True, "attention": "none"}, "--input-feeding does not go with --attention none"),
        ({"attend_embeddings": True, "attention": "dot"}, "--attend-embeddings does not go with --attention dot"),
        ({"attend_embeddings": True, "attention": "none"}, "--attend-embeddings does not go with --attention none"),
        (
            {"attend_embeddings": True, "attention": "scaled-dot", "heads": 8, "embedding": 100},
            "does not divide both --attention-units 256 and the width of what attention reads, 612",
        ),
        ({"attention": "bahdanau"}, "--attention cannot be 'bahdanau'"),
        ({"encoder_units": 7}, "--encoder-units is 7; an even number is needed"),
        ({"attention": "scaled-dot", "heads": 2, "encoder_units": 5, "bidirectional": False}, "does not divide"),
        ({"readout_units": 512}, "--readout-units is 512, but tied output weights are as wide as --embedding, 256"),
        ({"architecture": "cnn"}, "--architecture cannot be 'cnn'"),
        ({"architecture": "transformer", "cell": "lstm"}, "--cell does not go with --architecture transformer"),
        (
            {"architecture": "transformer", "bidirectional": False},
            "--no-bidirectional does not go with --architecture transformer",
        ),
        ({"positions": "learned"}, "--positions does not go with --architecture rnn"),
        ({"architecture": "transformer", "heads": 3}, "--heads is 3, which does not divide --embedding 256"),
        ({"architecture": "transformer", "embedding": 9, "heads": 3}, "sinusoidal positions need an even number"),
    ],
)
def test_settings_that_do_not_go_together_are_told(options: dict, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        ModelConfig(**options)
    assert message in caught.value.message


def test_dot_with_unequal_widths_names_general() -> None:
    with pytest.raises(OptionError, match="--encoder-units is 256 and --units 512") as caught:
        ModelConfig(attention="dot", encoder_units=256)
    assert "--attention general" in caught.value.hint
    assert ModelConfig(attention="general", encoder_units=256).encoder_width == 256


def test_untied_the_readout_may_have_any_width() -> None:
    assert ModelConfig(readout_units=512, tied=False).readout_width == 512
    assert ModelConfig(embedding=64, readout_units=64).readout_width == ModelConfig(embedding=64).readout_width


def test_one_direction_may_have_an_odd_width() -> None:
    assert ModelConfig(units=7, bidirectional=False).units == 7


def test_layers_and_heads_that_are_not_given_suit_the_architecture() -> None:
    recurrent, transformer = ModelConfig(), ModelConfig(architecture="transformer", heads=2)
    assert (recurrent.layers, recurrent.heads) == (1, 1)
    assert (transformer.layers, transformer.heads) == (3, 2)


def test_every_option_belongs_to_one_architecture_or_to_all() -> None:
    shared = {"architecture", "embedding", "layers", "heads", "dropout", "tied", "fixed_norm"}
    owned = [name for family in FAMILIES.values() for name in family.own]
    assert sorted([*owned, *shared]) == sorted(ModelConfig.__dataclass_fields__)


@pytest.mark.parametrize("architecture", FAMILIES)
def test_settings_are_told_without_the_options_of_other_architectures(architecture: str) -> None:
    config = ModelConfig(architecture=architecture, embedding=64)
    told = config.to_mapping()
    assert ModelConfig.from_mapping(told, where="card") == config
    assert told.keys().isdisjoint(config.foreign)
    assert set(FAMILIES[architecture].own) <= told.keys()
