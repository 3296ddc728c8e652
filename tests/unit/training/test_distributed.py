"""Devices and processes that train together: where each stands, and that they learn what one would."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import OptionError
from nmt_cli.runtime.model_directory import ModelDirectory
from nmt_cli.training import distributed as module
from nmt_cli.training.checkpoints import FACTS, locate_state
from nmt_cli.training.distributed import configure_threads, count_parts, describe_devices, make_strategy
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import SINGLE_PROCESS, ProcessRole
from support.corpora import prepare_pairs, toy_pairs
from support.models import prepare_toy


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


# Processes that train together: where each stands, and that they learn what one would.

TESTS = Path(__file__).parents[2]


def config(jobs: dict[str, Sequence[str]], job: str, index: int) -> str:
    return json.dumps({"cluster": jobs, "task": {"type": job, "index": index}})


def test_who_is_the_chief() -> None:
    assert ProcessRole.parse(None).is_chief and ProcessRole.parse("{}").processes == 1
    assert ProcessRole.parse(config({"worker": ["a:1"]}, "worker", 0)).processes == 1
    workers: dict[str, Sequence[str]] = {"worker": ["a:1", "b:1"]}
    assert [ProcessRole.parse(config(workers, "worker", index)).is_chief for index in (0, 1)] == [True, False]
    with_chief = {"chief": ["c:1"], **workers}
    roles = [ProcessRole.parse(config(with_chief, job, index)) for job, index in (("chief", 0), ("worker", 0))]
    assert [role.is_chief for role in roles] == [True, False]
    assert {role.processes for role in roles} == {3}
    assert str(roles[1]) == "worker 0 of 3 processes"


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"cluster": {"worker": 3}}',
        config({"worker": ["a:1", "b:1"]}, "worker", 2),
        config({"worker": ["a:1"], "ps": ["b:1"]}, "worker", 0),
        config({"worker": ["a:1"]}, "evaluator", 0),
    ],
)
def test_what_cannot_be_is_told(text: str) -> None:
    with pytest.raises(OptionError, match="TF_CONFIG"):
        ProcessRole.parse(text)


def trained(
    corpora: Sequence[Path], work: Path, *, resume: bool = False, steps: Sequence[int], kind: str = "epochs"
) -> list[tuple[int, str]]:
    """Trains in as many processes as there are `corpora`, in `work`/0 and so on; their exit codes and error output."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in corpora]
        for free in sockets:
            free.bind(("127.0.0.1", 0))
        addresses = [f"127.0.0.1:{free.getsockname()[1]}" for free in sockets]
    processes = []
    for index, corpus in enumerate(corpora):
        arguments = [str(corpus), str(work / str(index)), str(int(resume)), str(steps[index]), kind]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)]),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TF_CONFIG": config({"worker": addresses}, "worker", index) if len(corpora) > 1 else "",
        }
        command = [sys.executable, str(TESTS / "support" / "partner.py"), *arguments]
        processes.append(subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True))
    errors = [process.communicate(timeout=900)[1] for process in processes]
    return [(process.returncode, text) for process, text in zip(processes, errors, strict=True)]


def state(directory: Path) -> list[np.ndarray]:
    with np.load(locate_state(directory), allow_pickle=False) as arrays:
        return [arrays[name] for name in sorted(arrays.files) if name != FACTS]


def losses(directory: Path) -> list[tuple[float, float]]:
    lines = (directory / "history.jsonl").read_text(encoding="utf-8").splitlines()
    return [(record["loss"], record["dev_loss"]) for record in map(json.loads, lines)]


@pytest.mark.slow
def test_two_processes_learn_what_one_would_also_when_stopped_and_resumed(
    corpus: PreparedCorpus, tmp_path: Path
) -> None:
    directory = corpus.directory
    assert trained([directory], tmp_path / "one", steps=[0])[0][0] == 0
    # The second of them asks for an end in the first epoch; the chief's checkpoint is what both go on from.
    first = trained([directory, directory], tmp_path / "two", steps=[0, 3])
    assert [code for code, _ in first] == [0, 0], first
    again = trained([directory, directory], tmp_path / "two", resume=True, steps=[0, 0])
    assert [code for code, _ in again] == [0, 0], again
    chief, other = (state(tmp_path / "two" / name) for name in "01")
    assert all(np.array_equal(*pair) for pair in zip(chief, other, strict=True))
    together, alone = losses(tmp_path / "two" / "0")[-2:], losses(tmp_path / "one" / "0")
    np.testing.assert_allclose(together, alone, rtol=1e-5)  # sums in another order: 1e-7 apart
    ModelDirectory.load(tmp_path / "two" / "0")
    assert not (tmp_path / "two" / "1" / "model.json").exists()


@pytest.mark.slow
def test_two_processes_follow_the_clock_of_the_first(corpus: PreparedCorpus, tmp_path: Path) -> None:
    results = trained([corpus.directory] * 2, tmp_path, steps=[0, 0], kind="time")
    assert [code for code, _ in results] == [0, 0], results
    chief, other = (state(tmp_path / name) for name in "01")
    assert all(np.array_equal(*pair) for pair in zip(chief, other, strict=True))
    assert ModelDirectory.load(tmp_path / "0").card.epochs >= 1
    lines = (tmp_path / "0" / "history.jsonl").read_text(encoding="utf-8").splitlines()
    # The clock of the second process would have ended the training at the first update.
    assert 5 < json.loads(lines[-1])["steps"] < 5000 / 20


@pytest.mark.slow
def test_two_processes_learn_from_synthetic_pairs_what_one_would(tmp_path: Path) -> None:
    pairs, text = toy_pairs(360), tmp_path / "text.de"
    text.write_text("".join(f"{target}\n" for _, target in pairs[300:]), encoding="utf-8")
    corpus = prepare_pairs(tmp_path, pairs[:300], monolingual_target=(str(text),), dev="20", test="20")
    for name, count in (("one", 1), ("two", 2)):
        results = trained([corpus.directory] * count, tmp_path / name, steps=[0] * count, kind="synthetic")
        assert [code for code, _ in results] == [0] * count, results
    mixtures = [(tmp_path / name / "0/stages/mixture/train.target.ids.npy").read_bytes() for name in ("one", "two")]
    assert mixtures[0] == mixtures[1]
    np.testing.assert_allclose(losses(tmp_path / "two/0"), losses(tmp_path / "one/0"), rtol=1e-5)
    assert ModelDirectory.load(tmp_path / "two/0").card.synthetic["pairs"] > 0


@pytest.mark.slow
def test_processes_with_other_data_say_so(corpus: PreparedCorpus, tmp_path: Path) -> None:
    other = prepare_toy(tmp_path, count=400)
    results = trained([corpus.directory, other.directory], tmp_path / "models", steps=[0, 0])
    assert all(code == 1 and "different data" in text for code, text in results)
