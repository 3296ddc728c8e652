from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import tensorflow as tf

from nmt_cli.errors import OptionError
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.devices import described, strategy_for


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [SimpleNamespace(name=f"/device:GPU:{number}") for number in range(2)]
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda kind: gpus if kind == "GPU" else [])
    monkeypatch.setattr(
        tf.distribute, "MirroredStrategy", lambda names: SimpleNamespace(num_replicas_in_sync=len(names))
    )


def test_one_device_is_used_unless_all_are_asked_for(two_gpus: None) -> None:
    assert described(strategy_for(TrainConfig())) == "1 GPU"
    assert described(strategy_for(TrainConfig(devices="all"))) == "2 GPUs"


def test_each_device_needs_a_sentence(two_gpus: None) -> None:
    with pytest.raises(OptionError, match="shared among 2 devices"):
        strategy_for(TrainConfig(devices="all", batch=1))


def test_without_a_gpu_there_is_nothing_to_share() -> None:
    assert strategy_for(TrainConfig(devices="all")).num_replicas_in_sync == 1


def test_several_machines_are_refused_and_a_cluster_of_one_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def cluster(*workers: str) -> str:
        return json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": 0}})

    monkeypatch.setenv("TF_CONFIG", cluster("one:1"))
    strategy_for(TrainConfig())
    monkeypatch.setenv("TF_CONFIG", cluster("one:1", "other:1"))
    with pytest.raises(OptionError, match="2 workers"):
        strategy_for(TrainConfig())
