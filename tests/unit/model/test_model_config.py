from dataclasses import fields

import pytest

from nmt_cli.errors import OptionError
from nmt_cli.model.config import CONFIGS, ModelConfig, RnnConfig, TransformerConfig
from nmt_cli.settings import option_fields


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": 7}, "needs an even number"),
        ({"heads": 2, "attention": "additive"}, "only --attention scaled-dot has heads"),
        ({"heads": 3, "attention": "scaled-dot"}, "does not divide"),
        (
            {"input_feeding": True, "attention": "additive"},
            "--input-feeding cannot be combined with --attention additive",
        ),
        ({"input_feeding": True, "attention": "none"}, "--input-feeding cannot be combined with --attention none"),
        (
            {"attend_embeddings": True, "attention": "dot"},
            "--attend-embeddings cannot be combined with --attention dot",
        ),
        (
            {"attend_embeddings": True, "attention": "none"},
            "--attend-embeddings cannot be combined with --attention none",
        ),
        (
            {"attend_embeddings": True, "attention": "scaled-dot", "heads": 8, "embedding": 100},
            "does not divide both --attention-units 256 and the width of the attention's input, 612",
        ),
        ({"attention": "bahdanu"}, "--attention cannot be 'bahdanu'"),
        ({"encoder_units": 7}, "--encoder-units is 7, but a bidirectional encoder needs an even number"),
        ({"attention": "scaled-dot", "heads": 2, "encoder_units": 5, "bidirectional": False}, "does not divide"),
        ({"readout_units": 512}, "--readout-units is 512, but tied output weights are as wide as --embedding, 256"),
        ({"architecture": "cnn"}, "--architecture cannot be 'cnn'"),
        ({"architecture": "transformer", "cell": "lstm"}, "--cell cannot be combined with --architecture transformer"),
        (
            {"architecture": "transformer", "bidirectional": False},
            "--no-bidirectional cannot be combined with --architecture transformer",
        ),
        ({"positions": "learned"}, "--positions cannot be combined with --architecture rnn"),
        ({"architecture": "transformer", "heads": 3}, "--heads is 3, which does not divide --embedding 256"),
        ({"architecture": "transformer", "embedding": 9, "heads": 3}, "sinusoidal positions need an even number"),
    ],
)
def test_settings_that_do_not_go_together_are_told(options: dict, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        ModelConfig.from_options(**options)
    assert message in caught.value.message


def test_dot_with_unequal_widths_names_general() -> None:
    with pytest.raises(OptionError, match="--encoder-units is 256 and --units 512") as caught:
        ModelConfig.from_options(attention="dot", encoder_units=256)
    assert "--attention general" in caught.value.hint
    assert ModelConfig.from_options(attention="general", encoder_units=256).encoder_width == 256


def test_untied_the_readout_may_have_any_width() -> None:
    assert ModelConfig.from_options(readout_units=512, tied=False).readout_width == 512
    assert (
        ModelConfig.from_options(embedding=64, readout_units=64).readout_width
        == ModelConfig.from_options(embedding=64).readout_width
    )


def test_one_direction_may_have_an_odd_width() -> None:
    assert ModelConfig.from_options(units=7, bidirectional=False).units == 7


def test_layers_and_heads_that_are_not_given_suit_the_architecture() -> None:
    recurrent, transformer = ModelConfig.from_options(), ModelConfig.from_options(architecture="transformer", heads=2)
    assert (recurrent.layers, recurrent.heads) == (1, 1)
    assert (transformer.layers, transformer.heads) == (3, 2)


def test_every_option_belongs_to_one_architecture_or_to_all() -> None:
    shared = {"architecture", "embedding", "layers", "heads", "dropout", "tied", "fixed_norm"}
    assert shared == {field.name for field in fields(ModelConfig)}
    specific = [field.name for config_class in CONFIGS.values() for field in config_class.list_own_fields()]
    assert len(specific) == len(set(specific)) and shared.isdisjoint(specific)
    options = [field.name for field in option_fields(ModelConfig)]
    assert sorted(options) == sorted([*specific, *shared])


@pytest.mark.parametrize("architecture", CONFIGS)
def test_settings_are_told_without_the_options_of_other_architectures(architecture: str) -> None:
    config = ModelConfig.from_options(architecture=architecture, embedding=64)
    mapping = config.to_mapping()
    assert ModelConfig.from_mapping(mapping, where="card") == config
    assert type(config) is CONFIGS[architecture]
    assert mapping.keys() == {field.name for field in fields(config)}
    (other,) = (config_class for name, config_class in CONFIGS.items() if name != architecture)
    assert mapping.keys().isdisjoint(field.name for field in other.list_own_fields())


@pytest.mark.parametrize("architecture", CONFIGS)
def test_an_option_of_another_architecture_may_be_at_its_default(architecture: str) -> None:
    """As in the cards of models from before cards left them out, and as the command line passes them."""
    defaults = {field.name: field.default for field in option_fields(ModelConfig)} | {"architecture": architecture}
    assert ModelConfig.from_mapping(defaults, where="card") == CONFIGS[architecture]()


def test_a_key_that_no_architecture_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(OptionError, match="card: there is no option 'unit'") as caught:
        ModelConfig.from_mapping({"unit": 3}, where="card")
    assert "'units'" in caught.value.hint


def test_a_configuration_is_of_one_architecture() -> None:
    assert ModelConfig.from_options() == RnnConfig()
    assert ModelConfig.from_options(architecture="transformer") == TransformerConfig()
    with pytest.raises(TypeError):
        RnnConfig(architecture="transformer")
