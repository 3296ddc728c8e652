import errno
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from nmt_cli.errors import DamagedError, OutputError
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.runtime.installed_models import explain_missing_model
from nmt_cli.training import checkpoints as module
from nmt_cli.training.checkpoints import (
    Checkpoints,
    load_weights,
    lock_model,
    read_arrays,
    read_facts,
    save_weights,
    write_arrays,
)
from nmt_cli.training.options import KeptMetric
from nmt_cli.training.watcher import EpochRecord, Validation

SOURCE = np.array([[5, 6, 7, 3], [8, 3, 0, 0]])
PREVIOUS = np.array([[2, 9, 10, 11], [2, 12, 0, 0]])


def network(seed: int = 3, **options: object) -> Seq2Seq:
    keras.utils.set_random_seed(seed)
    config = ModelConfig.from_options(embedding=6, units=8, attention_units=4, **options)
    return Seq2Seq(config, Vocabularies(source=14, target=14, joint=True))


def validation(bleu: float, loss: float = 1.0) -> Validation:
    return Validation(loss, 50.0, bleu, bleu, "signature", "signature", "a source", "a hypothesis")


def record(epoch: int) -> EpochRecord:
    return EpochRecord(epoch, 10, 2.0, 2.1, 8.2, 40.0, 5.0, 20.0, 1e-3, 900.0, 12.0, True, True)


@pytest.mark.parametrize("options", [{}, {"layers": 2, "tied": False}], ids=["default", "stacked untied"])
def test_saved_and_loaded_weights_give_the_same_output(options: dict, tmp_path: Path) -> None:
    model, other = network(**options), network(seed=99, **options)
    expected = np.asarray(model(SOURCE, PREVIOUS))
    assert not np.allclose(np.asarray(other(SOURCE, PREVIOUS)), expected)
    save_weights(model, tmp_path / "a.npz")
    load_weights(other, tmp_path / "a.npz")
    np.testing.assert_array_equal(np.asarray(other(SOURCE, PREVIOUS)), expected)


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    save_weights(network(), tmp_path / "a.npz")
    with pytest.raises(DamagedError, match="does not hold the weights"):
        load_weights(network(layers=2), tmp_path / "a.npz")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip", b"\x93NUMPY", b"root:x:0:0:root"])
def test_a_damaged_file_of_weights_or_state_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "checkpoints" / "state.npz"
    path.parent.mkdir()
    path.write_bytes(content)
    for read in (lambda: load_weights(network(), path), lambda: read_facts(tmp_path)):
        with pytest.raises(DamagedError, match=r"state\.npz cannot be read: File is not a zip file\n"):
            read()


def write_header(path: Path, shape: tuple[int, ...], *, data: bytes = b"", compression: int = 0) -> None:
    """A file of one array that claims to have this shape."""
    header = io.BytesIO()
    np.lib.format.write_array_header_2_0(header, {"descr": "<f4", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("facts.npy", header.getvalue() + data)


@pytest.mark.parametrize("read", [read_arrays, lambda path: read_facts(path.parent.parent)])
def test_arrays_that_claim_too_much_or_are_no_numbers_are_damaged(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    path = tmp_path / "checkpoints" / "state.npz"
    path.parent.mkdir()
    write_header(path, (1 << 40,))
    with pytest.raises(DamagedError, match=r"state\.npz"):
        read(path)
    write_header(path, (1 << 22,), data=bytes(1 << 24), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(DamagedError, match=r"state\.npz cannot be read: the file is compressed"):
        read(path)
    for value in (np.nan, np.inf):
        write_arrays(path, [("facts", np.array([0, value], np.float32))])
        with pytest.raises(DamagedError, match=r"state\.npz cannot be read: facts has values that are not numbers"):
            read(path)


def test_a_full_disk_leaves_the_weights_that_were_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npz"
    save_weights(network(), path)
    before = path.read_bytes()

    def refuse(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError) as caught:
        save_weights(network(seed=9), path)
    assert (caught.value.filename, path.read_bytes()) == (str(path), before)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.npz"]


def test_the_best_weights_have_the_best_bleu_then_the_least_loss(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    first, second = network(seed=1), network(seed=2)
    assert checkpoints.is_better(validation(0.0))
    checkpoints.keep(first, 1, validation(10.0, loss=2.0))
    assert checkpoints.is_better(validation(10.1, loss=9.0))
    assert checkpoints.is_better(validation(10.0, loss=1.9))
    assert not checkpoints.is_better(validation(10.0, loss=2.0))
    assert not checkpoints.is_better(validation(9.9, loss=0.1))
    checkpoints.keep(second, 2, validation(9.9))
    assert checkpoints.best is not None and checkpoints.best.epoch == 1
    checkpoints.restore_best(second)
    np.testing.assert_array_equal(np.asarray(second(SOURCE, PREVIOUS)), np.asarray(first(SOURCE, PREVIOUS)))


@pytest.mark.parametrize(("metric", "best"), [("bleu", 2), ("chrf", 2), ("loss", 1), ("accuracy", 3)])
def test_another_metric_may_say_what_is_best(metric: KeptMetric, best: int, tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, metric)
    scores = [(1.0, 40.0, 1.0), (1.5, 41.0, 3.0), (2.0, 42.0, 2.0)]  # loss, accuracy, BLEU and chrF
    for epoch, (loss, accuracy, bleu) in enumerate(scores, start=1):
        checkpoints.keep(network(), epoch, replace(validation(bleu, loss), accuracy=accuracy))
    assert checkpoints.best is not None and checkpoints.best.epoch == best


def test_as_many_epochs_are_kept_as_asked_for_and_older_ones_leave(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, count=2)
    for epoch, bleu in enumerate([3.0, 1.0, 2.0, 2.0], start=1):
        checkpoints.keep(network(), epoch, validation(bleu))
        checkpoints.save_state([], {})
    assert [kept.epoch for kept in checkpoints.best_epochs] == [1, 3]
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == ["epoch-0001.npz", "epoch-0003.npz", "state.npz"]


@pytest.mark.parametrize(("again", "kept"), [(2.0, 3.0), (3.0, 3.0), (4.0, 4.0)])
def test_of_an_epoch_that_is_validated_twice_the_better_weights_are_kept(
    tmp_path: Path, again: float, kept: float
) -> None:
    """A run that was stopped within its last epoch may go on in it."""
    checkpoints, networks = Checkpoints(tmp_path, count=2), {3.0: network(seed=1), again: network(seed=2)}
    checkpoints.keep(network(), 1, validation(1.0))
    checkpoints.keep(networks[3.0], 2, validation(3.0))
    checkpoints.keep(networks[again], 2, validation(again))
    assert [(entry.epoch, entry.validation.bleu) for entry in checkpoints.best_epochs] == [(2, kept), (1, 1.0)]
    if again != kept:
        restored = network(seed=3)
        checkpoints.restore_best(restored)
        np.testing.assert_array_equal(
            np.asarray(restored(SOURCE, PREVIOUS)), np.asarray(networks[kept](SOURCE, PREVIOUS))
        )


def test_a_state_gives_back_variables_facts_and_history(tmp_path: Path) -> None:
    checkpoints, model = Checkpoints(tmp_path), network(dropout=0.5)
    checkpoints.keep(model, 1, validation(4.0))
    checkpoints.records.append(record(1))
    checkpoints.save_state(model.variables, {"updates": 7})
    other, again = network(seed=9, dropout=0.5), Checkpoints(tmp_path)
    assert again.load_state(other.variables)["updates"] == 7
    for variable, expected in zip(other.variables, model.variables, strict=True):
        np.testing.assert_array_equal(variable.numpy(), expected.numpy())
    assert (again.best_epochs, again.records) == (checkpoints.best_epochs, checkpoints.records)


def test_a_state_of_another_network_is_refused(tmp_path: Path) -> None:
    Checkpoints(tmp_path).save_state(network().variables, {})
    with pytest.raises(DamagedError, match="does not contain the state"):
        Checkpoints(tmp_path).load_state(network(layers=2).variables)


HOLDER = """
import sys, time
from pathlib import Path
from nmt_cli.training.checkpoints import lock_model
with lock_model(Path(sys.argv[1]), replace=False):
    print("locked", flush=True)
    time.sleep(600)
"""


def lock_once(directory: Path, *, replace: bool = False, resume: bool = False) -> None:
    with lock_model(directory, replace=replace, resume=resume):
        pass


def leave_state(directory: Path, updates: int, *, complete: bool | None = True) -> None:
    (directory / "checkpoints").mkdir(parents=True, exist_ok=True)
    facts = {"updates": updates, "progress": {"epoch": 3}} | ({} if complete is None else {"complete": complete})
    Checkpoints(directory).save_state([], facts)


def test_a_directory_is_locked_only_if_nothing_in_it_is_lost(tmp_path: Path) -> None:
    lock_once(tmp_path / "new")
    lock_once(tmp_path / "new")  # a training killed before its first checkpoint
    (tmp_path / "new" / "model.json").touch()
    with pytest.raises(OutputError):
        lock_once(tmp_path / "new")
    with pytest.raises(OutputError):
        lock_once(tmp_path / "new", resume=True)  # there is nothing to go on from
    lock_once(tmp_path / "new", replace=True)


@pytest.mark.parametrize("name", ["dear.txt", "checkpoints/vit.npz"])
def test_a_directory_of_something_else_is_left_as_it_is_whatever_is_asked(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    for is_forced in (False, True):
        with pytest.raises(OutputError, match="something other than a model") as problem:
            lock_once(tmp_path, replace=is_forced)
        assert "--force" not in problem.value.hint
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()] == [name]


def test_a_training_that_fails_before_its_first_update_leaves_nothing(tmp_path: Path) -> None:
    for updates in (None, 0, 1):
        with pytest.raises(KeyboardInterrupt), lock_model(tmp_path / "new", replace=False):
            missing = explain_missing_model(tmp_path / "new")
            assert missing.message == f"{tmp_path / 'new'}/ is being trained, and contains no model yet"
            if updates is not None:
                leave_state(tmp_path / "new", updates)
            raise KeyboardInterrupt
        assert (tmp_path / "new").exists() == bool(updates)
        assert "there is no model" in explain_missing_model(tmp_path / "new").message
    with pytest.raises(OutputError), lock_model(tmp_path / "new", replace=False):
        pass
    assert (tmp_path / "new" / "checkpoints" / "state.npz").is_file()


def test_a_model_without_checkpoints_can_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "model.json").touch()
    with pytest.raises(OutputError):
        lock_once(tmp_path)
    lock_once(tmp_path, replace=True)


@pytest.mark.parametrize("resume", [False, True])
def test_a_model_that_is_refused_is_left_as_it_is(tmp_path: Path, resume: bool) -> None:
    (tmp_path / "model.json").touch()
    before = tmp_path.stat().st_mtime_ns
    with pytest.raises(OutputError, match="already exists"):
        lock_once(tmp_path, resume=resume)
    assert list(tmp_path.iterdir()) == [tmp_path / "model.json"] and tmp_path.stat().st_mtime_ns == before


@pytest.mark.parametrize("way", ["path", "link", "entry point"])
@pytest.mark.parametrize("replace", [False, True])
def test_a_package_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, replace: bool) -> None:
    model = tmp_path / ("any" if way == "entry point" else "nmt_model_eng_deu") / "model"
    model.mkdir(parents=True)
    (model / "model.json").touch()
    (tmp_path / "linked").symlink_to(model)
    installed = {"eng-deu": model} if way == "entry point" else {}
    monkeypatch.setattr("nmt_cli.runtime.installed_models.list_models", lambda: installed)
    with pytest.raises(OutputError, match="package") as raised:
        lock_once(tmp_path / "linked" if way == "link" else model, replace=replace)
    assert "--init-from" in raised.value.hint
    assert list(model.iterdir()) == [model / "model.json"]


def test_what_a_killed_process_was_writing_is_removed(tmp_path: Path) -> None:
    leave_state(tmp_path, updates=1)
    for name in ("checkpoints/.state.npz.77.partial", ".history.jsonl.77.partial", ".publishing.ab/weights.npz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    lock_once(tmp_path, resume=True)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["checkpoints", "lock", "state.npz"]


def test_a_checkpoint_is_lost_only_if_that_was_asked_for(tmp_path: Path) -> None:
    leave_state(tmp_path / "m", updates=0)
    lock_once(tmp_path / "m")  # the state before the first update is no loss
    leave_state(tmp_path / "m", updates=1)
    with pytest.raises(OutputError, match="interrupted in epoch 3") as caught:
        lock_once(tmp_path / "m")
    assert "--resume" in caught.value.hint
    lock_once(tmp_path / "m", resume=True)
    lock_once(tmp_path / "m", replace=True)
    (tmp_path / "m" / "model.json").touch()
    with pytest.raises(OutputError, match="already exists") as caught:
        lock_once(tmp_path / "m")
    assert "--resume" in caught.value.hint
    leave_state(tmp_path / "m", updates=1, complete=None)  # of an earlier version: it has a model, and so ended
    with pytest.raises(OutputError, match="already exists"):
        lock_once(tmp_path / "m")
    leave_state(tmp_path / "m", updates=1, complete=False)  # stopped: its model is there, and its last epoch is not
    with pytest.raises(OutputError, match="interrupted in epoch 3"):
        lock_once(tmp_path / "m")
    lock_once(tmp_path / "m", resume=True)


def test_stages_that_replace_a_model_resume_and_are_not_lost_by_accident(tmp_path: Path) -> None:
    lock_once(tmp_path)
    (tmp_path / "model.json").write_text("{}", encoding="utf-8")
    (tmp_path / "stages").mkdir()
    lock_once(tmp_path, resume=True)
    with pytest.raises(OutputError) as error:
        lock_once(tmp_path)
    assert f"continue training it with `nmt train --model {tmp_path} --resume`" in str(error.value.hint)
    lock_once(tmp_path, replace=True)


def test_two_trainings_do_not_write_one_directory(tmp_path: Path) -> None:
    with lock_model(tmp_path / "m", replace=False):
        with pytest.raises(OutputError, match=f"process {os.getpid()} on {socket.gethostname()}"):
            lock_once(tmp_path / "m")
    lock_once(tmp_path / "m")


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "m")], stdout=subprocess.PIPE, text=True)
    with holder:
        assert holder.stdout is not None and holder.stdout.readline() == "locked\n"
        with pytest.raises(OutputError, match=f"process {holder.pid} on"):
            lock_once(tmp_path / "m")
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        lock_once(tmp_path / "m")


def leave_lock(directory: Path, host: str, age: float) -> None:
    (directory / "checkpoints").mkdir(parents=True)
    lock = directory / "checkpoints" / "lock"
    lock.write_text(json.dumps({"host": host, "pid": 1}), encoding="utf-8")
    os.utime(lock, (time.time() - age, time.time() - age))


def test_the_lock_of_another_machine_holds_while_it_gives_signs_of_life(tmp_path: Path) -> None:
    leave_lock(tmp_path / "m", "elsewhere", age=20)
    with pytest.raises(OutputError, match="process 1 on elsewhere"):
        lock_once(tmp_path / "m")
    os.utime(tmp_path / "m" / "checkpoints" / "lock", (time.time() - 200, time.time() - 200))
    lock_once(tmp_path / "m")


def test_without_locks_of_the_system_signs_of_life_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "acquire_system_lock", lambda file: None)
    leave_lock(tmp_path / "fresh", socket.gethostname(), age=20)
    with pytest.raises(OutputError, match="process 1"):
        lock_once(tmp_path / "fresh")
    leave_lock(tmp_path / "old", socket.gethostname(), age=200)
    lock_once(tmp_path / "old")


def test_a_held_lock_gives_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEARTBEAT", 0.01)
    with lock_model(tmp_path / "m", replace=False):
        lock = tmp_path / "m" / "checkpoints" / "lock"
        os.utime(lock, (0, 0))
        deadline = time.monotonic() + 10
        while lock.stat().st_mtime < 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert lock.stat().st_mtime > 1
