import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nmt_cli.errors import OutputError
from nmt_cli.training import checkpoints as module
from nmt_cli.training.checkpoints import Checkpoints, lock_model

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


def leave_state(directory: Path, updates: int, epochs: int = 2) -> None:
    (directory / "checkpoints").mkdir(parents=True, exist_ok=True)
    facts = {"updates": updates, "progress": {"epoch": 3}, "identity": {"training": {"epochs": epochs}}}
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
    for replace in (False, True):
        with pytest.raises(OutputError, match="something other than a model") as problem:
            lock_once(tmp_path, replace=replace)
        assert "--force" not in problem.value.hint
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()] == [name]


def test_a_training_that_fails_before_its_first_update_leaves_nothing(tmp_path: Path) -> None:
    for updates in (None, 0, 1):
        with pytest.raises(KeyboardInterrupt), lock_model(tmp_path / "new", replace=False):
            if updates is not None:
                leave_state(tmp_path / "new", updates)
            raise KeyboardInterrupt
        assert (tmp_path / "new").exists() == bool(updates)
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
    leave_state(tmp_path / "m", updates=1, epochs=3)  # stopped: its model is there, and its last epoch is not
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
