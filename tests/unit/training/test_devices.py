from __future__ import annotations

from types import SimpleNamespace

import pytest
import tensorflow as tf

from nmt_cli.errors import OptionError
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.devices import described, strategy_for
from nmt_cli.training.place import ALONE


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [SimpleNamespace(name=f"/device:GPU:{number}") for number in range(2)]
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda kind: gpus if kind == "GPU" else [])
    monkeypatch.setattr(
        tf.distribute, "MirroredStrategy", lambda names: SimpleNamespace(num_replicas_in_sync=len(names))
    )


def test_one_device_is_used_unless_all_are_asked_for(two_gpus: None) -> None:
    assert described(strategy_for(TrainConfig(), ALONE), ALONE) == "1 GPU"
    assert described(strategy_for(TrainConfig(devices="all"), ALONE), ALONE) == "2 GPUs"


def test_each_device_needs_a_sentence(two_gpus: None) -> None:
    with pytest.raises(OptionError, match="shared among 2 devices"):
        strategy_for(TrainConfig(devices="all", batch=1), ALONE)


def test_without_a_gpu_there_is_nothing_to_share() -> None:
    assert strategy_for(TrainConfig(devices="all"), ALONE).num_replicas_in_sync == 1
