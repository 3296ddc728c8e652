"""A run that is resumed has the options of its checkpoint, but those that are typed or set in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nmt_cli.errors import OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.checkpoints import saved_options
from nmt_cli.training.checkpoints.saved_options import read_saved_options
from nmt_cli.training.config import TrainConfig

DIRECTORY = Path("model")


def save(monkeypatch: pytest.MonkeyPatch, network: ModelConfig, training: TrainConfig, *, updates: int = 5) -> None:
    """Makes a checkpoint of this run the one that is found."""
    identity = {"network": network.to_mapping(), "training": training.to_mapping()}
    facts = {"identity": identity, "updates": updates, "progress": {"rollbacks": 0}}
    monkeypatch.setattr(saved_options, "read_facts", lambda directory: facts)


def resume(**explicit: Any) -> tuple[ModelConfig, TrainConfig]:
    """Returns what is trained after --resume with these options."""
    saved = read_saved_options(DIRECTORY, explicit, explicit.keys())
    network, training = dict(saved[ModelConfig]), dict(saved[TrainConfig])
    for name, value in explicit.items():
        (training if name in TrainConfig.__dataclass_fields__ else network)[name] = value
    return ModelConfig.from_options(**network), TrainConfig(**training)


NETWORKS = [
    ModelConfig.from_options(units=64, embedding=32),
    ModelConfig.from_options(attention="scaled-dot", heads=2, encoder_units=128),
    ModelConfig.from_options(architecture="transformer", layers=2, feed_forward=64),
]


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.architecture)
def test_more_epochs_are_all_that_has_to_be_typed_whatever_the_network(
    monkeypatch: pytest.MonkeyPatch, network: ModelConfig
) -> None:
    training = TrainConfig(epochs=2, batch=32, ema=0.9, learning_rate=0.01)
    save(monkeypatch, network, training)
    assert resume() == (network, training)
    assert resume(epochs=20) == (network, TrainConfig(epochs=20, batch=32, ema=0.9, learning_rate=0.01))


def test_what_is_typed_and_cannot_change_is_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    save(monkeypatch, NETWORKS[0], TrainConfig(batch=32, clip=2.0))
    with pytest.raises(OptionError) as caught:
        resume(units=128, batch=16, embedding=32, tied=False)
    assert caught.value.message == "model/ was started with --tied, --units 64; now asked for: --no-tied, --units 128"
    assert caught.value.hint == "omit --tied, --units to continue, or start over with --force"
    with pytest.raises(OptionError, match="was started with --architecture rnn; now asked for: --architecture trans"):
        resume(architecture="transformer")
    with pytest.raises(OptionError, match=r"with --epochs 10; now asked for: --epochs 3$"):
        resume(epochs=3)


def test_options_that_may_change_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    save(monkeypatch, NETWORKS[0], TrainConfig(batch_tokens=4000, time="10m"))
    changed = {"batch": 16, "patience": 3, "average": 2, "devices": "all", "checkpoint_minutes": 1.0, "time": "1h"}
    assert resume(**changed) == (NETWORKS[0], TrainConfig(**changed))


def test_a_run_with_a_time_has_no_epochs_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    save(monkeypatch, NETWORKS[0], TrainConfig(time="10m"))
    with pytest.raises(OptionError, match="was started with --time 10m; --epochs cannot be set now"):
        resume(epochs=20)
    save(monkeypatch, NETWORKS[0], TrainConfig())
    with pytest.raises(OptionError, match=r"was started with no --time; now asked for: --time 5m"):
        resume(time="5m")


def test_an_option_that_this_version_does_not_have_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    save(monkeypatch, NETWORKS[0], TrainConfig())
    facts = saved_options.read_facts(DIRECTORY)
    assert facts is not None
    facts["identity"]["training"]["of_yore"] = 3
    assert resume() == (NETWORKS[0], TrainConfig())


def test_a_run_that_has_not_learned_anything_yet_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    save(monkeypatch, NETWORKS[0], TrainConfig(), updates=0)
    assert read_saved_options(DIRECTORY, {"units": 7}, {"units"}) == {}
