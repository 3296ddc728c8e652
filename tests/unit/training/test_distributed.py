""""""

from types import SimpleNamespace

import pytest
import tensorflow as tf

from nmt_cli.errors import OptionError
from nmt_cli.training import distributed as module
from nmt_cli.training.distributed import configure_threads, count_parts, describe_devices, make_strategy
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import SINGLE_PROCESS


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [SimpleNamespace(name=f"/device:GPU:{number}") for number in range(2)]
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda kind: gpus if kind == "GPU" else [])
    monkeypatch.setattr(
        tf.distribute, "MirroredStrategy", lambda names: SimpleNamespace(num_replicas_in_sync=len(names))
    )


def test_one_device_is_used_unless_all_are_asked_for(two_gpus: None) -> None:
    assert describe_devices(make_strategy(TrainOptions(), SINGLE_PROCESS), SINGLE_PROCESS) == "1 GPU"
    assert describe_devices(make_strategy(TrainOptions(devices="all"), SINGLE_PROCESS), SINGLE_PROCESS) == "2 GPUs"


def test_each_device_needs_a_sentence(two_gpus: None) -> None:
    with pytest.raises(OptionError, match="shared among 2 devices"):
        make_strategy(TrainOptions(devices="all", batch=1), SINGLE_PROCESS)


def test_without_a_gpu_there_is_nothing_to_share() -> None:
    assert make_strategy(TrainOptions(devices="all"), SINGLE_PROCESS).num_replicas_in_sync == 1


@pytest.mark.parametrize(
    ("options", "replicas", "parts"),
    [
        ({"batch": 128}, 1, 4),
        ({"batch": 1024}, 1, 8),
        ({"batch": 63}, 1, 1),
        ({"batch": 128}, 2, 2),
        ({"batch": 1024, "batch_tokens": 1100}, 1, 2),
    ],
)
def test_each_core_has_a_part_of_the_batch_if_it_is_large_enough(
    options: dict[str, int], replicas: int, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "count_cores", lambda: 8)
    assert count_parts(TrainOptions(**options), replicas) == parts


def test_a_gpu_learns_from_a_batch_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: ["one"])
    assert count_parts(TrainOptions(), 1) == 1


@pytest.mark.parametrize(("parts", "threads"), [(1, []), (2, [6]), (8, [1])])
def test_products_are_shared_among_the_cores_that_are_left(
    parts: int, threads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    thread_counts: list[int] = []
    monkeypatch.setattr(module, "count_cores", lambda: 8)
    monkeypatch.setattr(tf.config.threading, "set_intra_op_parallelism_threads", thread_counts.append)
    configure_threads(parts)
    assert thread_counts == threads
