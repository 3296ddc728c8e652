"""The files of a training run: weights of the best epochs, the state to resume from, and the lock of its directory.

    model/checkpoints/epoch-0003.npz    the weights of the best epochs
    model/checkpoints/state.npz         weights, optimizer, progress and history of one moment, between two updates
    model/checkpoints/lock              which process trains

The state is a single file, so that all of it dates from the same moment. It names the best epochs: their weights are
written before the state, and obsolete weights are removed after it. A process killed at any moment thus leaves a state
and all the files that it names. Files are in NumPy's .npz format, without pickle, and are written completely or not at
all. Keras' HDF5 is not used, because its library (h5py 3.14) ends the process on a full disk; here, a full disk raises
OSError.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import threading
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shlex import quote
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from nmt_cli.errors import DamagedError, OutputError
from nmt_cli.files import acquire_system_lock, refuse_to_overwrite, stage_file, write_text
from nmt_cli.records import build, parse_json
from nmt_cli.runtime.installed_models import CHECKPOINTS, LOCK, is_being_trained, is_packaged
from nmt_cli.runtime.model_directory import CARD, HISTORY, STAGED, STAGES
from nmt_cli.training.options import FIRST_RUN, KeptMetric
from nmt_cli.training.watcher import EpochRecord, Validation

if TYPE_CHECKING:
    import keras

    from nmt_cli.model.seq2seq import Seq2Seq

NamedArrays = dict[str, np.ndarray[Any, Any]]


def write_arrays(path: Path, arrays: Iterable[tuple[str, Any]]) -> None:
    """Writes one array after another, so that only one need be in memory. The data is on disk on return."""
    with stage_file(path) as temporary:
        with temporary.open("wb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for name, array in arrays:
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())


def read_arrays(path: Path, names: Iterable[str] | None = None) -> NamedArrays:
    """Returns all arrays in the file, or those with these names. Raises DamagedError if the file cannot be read."""
    try:
        # An open file, since np.load does not close a file that it opens and cannot read.
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            require_stored(archive, path.stat().st_size)
            stream.seek(0)
            file = np.load(stream, allow_pickle=False)
            arrays = {name: file[name] for name in (file.files if names is None else names)}
    except (OSError, EOFError, ValueError, KeyError, AttributeError, MemoryError, zipfile.BadZipFile) as error:
        raise DamagedError(f"{path} cannot be read: {error}") from error
    damaged = next((name for name, array in arrays.items() if not is_finite(array)), None)
    if damaged is not None:
        raise DamagedError(f"{path} cannot be read: {damaged} has values that are not numbers")
    return arrays


def require_stored(archive: zipfile.ZipFile, size: int) -> None:
    """Raises ValueError if the entries of an archive unpack to more than its `size` in bytes."""
    if sum(entry.file_size for entry in archive.infolist()) > size:
        raise ValueError("the file is compressed, or declares a wrong size")


def is_finite(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array has neither NaN nor infinity."""
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


STATE = "state.npz"
FACTS = "facts"  # the only entry of the state that is JSON and no array of the run
FORMAT = 3  # 2 drew the numbers of data augmentation in another order
START_OVER = "start over with --force"
REPLACING = "replacing"  # marks the state of an earlier training, until one begun with --force writes its first


@dataclass(frozen=True)
class KeptEpoch:
    """An epoch whose weights are kept, and the validation that earned it its place."""

    epoch: int
    validation: Validation


@dataclass
class Checkpoints:
    """The weights of the `count` best epochs, the state and the history of a run, in a model directory.

    The best epoch is the one with the best `metric` on the development set; a tie goes to the lowest loss.
    """

    directory: Path
    metric: KeptMetric = "bleu"
    count: int = 1
    best_epochs: list[KeptEpoch] = field(default_factory=list)  # best first
    records: list[EpochRecord] = field(default_factory=list)

    @property
    def best(self) -> KeptEpoch | None:
        """The best epoch so far, or None."""
        return self.best_epochs[0] if self.best_epochs else None

    @property
    def state_path(self) -> Path:
        """The path of the state file."""
        return locate_state(self.directory)

    def locate_weights(self, epoch: int) -> Path:
        """Returns the path of the weights after an epoch."""
        return self.directory / CHECKPOINTS / f"epoch-{epoch:04}.npz"

    def is_better(self, validation: Validation) -> bool:
        """Whether a validation is better than that of the best epoch so far."""
        return self.best is None or self.rate(validation) > self.rate(self.best.validation)

    def rate(self, validation: Validation) -> tuple[float, float]:
        """Returns the sort key of an epoch: the metric, then the negative loss; higher is better."""
        return validation.rate(self.metric), -validation.loss

    def keep(self, network: Seq2Seq, epoch: int, validation: Validation) -> None:
        """Writes the network's weights if they are among the best.

        A run that is stopped within an epoch and resumed validates that epoch twice; the better weights are kept.
        """
        same = [kept for kept in self.best_epochs if kept.epoch == epoch]
        others = [kept for kept in self.best_epochs if kept.epoch != epoch]
        if any(self.rate(kept.validation) >= self.rate(validation) for kept in same):
            return
        entry = KeptEpoch(epoch, validation)
        ranked = sorted([*others, entry], key=lambda kept: self.rate(kept.validation), reverse=True)[: self.count]
        if entry in ranked:
            save_weights(network, self.locate_weights(epoch))
            self.best_epochs = ranked

    def restore_best(self, network: Seq2Seq) -> None:
        """Loads the weights of the best epoch, if there is one."""
        if self.best is not None:
            load_weights(network, self.locate_weights(self.best.epoch))

    def write_history(self) -> None:
        """Writes `history.jsonl`."""
        lines = [json.dumps(vars(record)) + "\n" for record in self.records]
        write_text(self.directory / HISTORY, "".join(lines))

    def save_state(self, variables: Sequence[keras.Variable], facts: Mapping[str, Any]) -> None:
        """Writes the state of the run: its variables, its `facts` (JSON), the best epochs and the history."""
        progress_facts = {
            "format": FORMAT,
            "kept": [asdict(entry) for entry in self.best_epochs],
            "records": [vars(record) for record in self.records],
        }
        entries = [
            (FACTS, json.dumps({**facts, **progress_facts})),
            *((f"{n:04}", variable.value) for n, variable in enumerate(variables)),
        ]
        write_arrays(self.state_path, entries)
        self.state_path.with_name(REPLACING).unlink(missing_ok=True)
        self.remove_unused()

    def load_state(self, variables: Sequence[keras.Variable]) -> dict[str, Any]:
        """Loads the variables, the best epochs and the history from the state; returns its facts.

        Raises DamagedError if the state cannot be read, or belongs to another network.
        """
        arrays = read_arrays(self.state_path)
        facts = parse_facts(self.state_path, arrays)
        assign_variables(variables, [array for name, array in sorted(arrays.items()) if name != FACTS], self.state_path)
        kept = [KeptEpoch(entry["epoch"], Validation(**entry["validation"])) for entry in facts["kept"]]
        self.best_epochs = kept[: self.count]
        self.records = [EpochRecord(**record) for record in facts["records"]]
        return facts

    def remove_unused(self) -> None:
        """Removes the weights that the state on disk does not name."""
        used = {self.locate_weights(kept.epoch) for kept in self.best_epochs}
        for path in (self.directory / CHECKPOINTS).glob("epoch-*.npz"):
            if path not in used:
                path.unlink(missing_ok=True)


def locate_state(directory: Path) -> Path:
    """Returns the path of the state file in a model directory."""
    return directory / CHECKPOINTS / STATE


def read_facts(directory: Path) -> dict[str, Any] | None:
    """Returns the facts of the state, without loading its arrays; None if there is no state. Raises DamagedError."""
    path = locate_state(directory)
    return parse_facts(path, read_arrays(path, [FACTS])) if path.is_file() else None


def list_interrupted(model: Path) -> list[Path]:
    """Returns the models in the folder of this one, and perhaps itself, whose training ended before its time.

    Raises DamagedError for a checkpoint of this model alone.
    """
    interrupted = []
    for other in sorted({state.parents[1] for state in model.parent.glob(f"*/{CHECKPOINTS}/{STATE}")}):
        with suppress(*() if other == model else (DamagedError,)):
            facts = None if is_being_trained(other) else read_facts(other)
            has_model = (other / CARD).is_file()  # which a checkpoint of an earlier version does not mention
            if facts is not None and facts["updates"] > 0 and not facts.get("complete", has_model):
                interrupted.append(other)
    return interrupted


def parse_facts(path: Path, arrays: NamedArrays) -> dict[str, Any]:
    """Returns the facts among the entries of the state.

    Raises DamagedError if they are missing or in another format.
    """
    try:
        facts: dict[str, Any] = build(dict, parse_json(str(arrays[FACTS])))
        written = build(int, facts.get("format"), "format")
    except (KeyError, ValueError) as error:
        raise DamagedError(f"{path} is not a checkpoint of a training run", hint=START_OVER) from error
    if written != FORMAT:
        raise DamagedError(f"{path} has format {facts['format']}; this nmt reads format {FORMAT}", hint=START_OVER)
    return facts


def assign_variables(variables: Sequence[keras.Variable], arrays: Sequence[Any], path: Path) -> None:
    """Assigns the arrays to the variables. Raises DamagedError, naming `path`, if their shapes differ."""
    if [tuple(variable.shape) for variable in variables] != [array.shape for array in arrays]:
        raise DamagedError(f"{path} does not contain the state of this network", hint=START_OVER)
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)


def save_weights(network: Seq2Seq, path: Path) -> None:
    """Writes the weights by name."""
    write_arrays(path, ((weight.path, weight.value) for weight in network.weights))


def load_weights(network: Seq2Seq, path: Path) -> None:
    """Loads the weights. Raises DamagedError unless the file contains exactly the weights of this network."""
    assign_weights(network, read_arrays(path), path)


def assign_weights(network: Seq2Seq, arrays: NamedArrays, path: Path) -> None:
    """Assigns weights by name. Raises DamagedError, naming `path`, unless they are exactly the network's."""
    expected = {weight.path: tuple(weight.shape) for weight in network.weights}
    if {name: np.shape(array) for name, array in arrays.items()} != expected:
        raise DamagedError(f"{path} does not hold the weights of this network")
    for weight in network.weights:
        weight.assign(arrays[weight.path])


HEARTBEAT = 15.0  # seconds between two heartbeats
STALE = 120.0  # seconds without a heartbeat after which a process counts as dead


@contextmanager
def lock_model(directory: Path, *, replace: bool, resume: bool = False) -> Iterator[None]:
    """Holds the lock of a model directory, after checking that the model may be written.

    What a killed training run left may be overwritten unless a checkpoint would be lost. Packaged models, and
    directories that contain anything other than a model, are never touched. Raises OutputError, leaving a refused model
    unchanged.
    """
    # 1. Refuse a directory of something else. The folder `checkpoints` alone does not make it a model's: other
    #    programs have one too.
    checkpoints = directory / CHECKPOINTS
    is_model = any(path.is_file() for path in (directory / CARD, checkpoints / LOCK, locate_state(directory)))
    if not is_model:
        refuse_foreign_directory(directory)
    elif is_packaged(directory):
        raise OutputError(
            f"{directory}/ is the model of a package, which nmt never changes",
            hint="name another directory with --model; to start from this model, add --init-from",
        )
    elif not (checkpoints / LOCK).exists():  # that of a finished model: do not begin one only to refuse
        refuse_to_replace(directory, replace=replace, resume=resume)
    # 2. Take the lock, so that no other training changes what is checked next.
    is_new = not directory.exists()
    checkpoints.mkdir(parents=True, exist_ok=True)
    with hold_lock(checkpoints / LOCK, directory):
        try:
            # 3. Refuse to lose a model or a checkpoint; remove what a killed process left half-written.
            if is_model:
                refuse_to_replace(directory, replace=replace, resume=resume)
                remove_partial_files(directory)
            # 4. Make sure that files can be written, and that --resume does not take an earlier state for this one's.
            require_writable(directory)
            if replace and locate_state(directory).is_file():
                (checkpoints / REPLACING).touch()
            yield
        except BaseException:
            remove_untrained(directory, is_new=is_new)
            raise


def refuse_foreign_directory(directory: Path) -> None:
    """Raises OutputError if a directory contains something other than a model; not even --force replaces it."""
    if directory.is_dir() and any(directory.iterdir()):
        raise OutputError(
            f"{directory}/ contains something other than a model", hint="name another directory with --model"
        )
    refuse_to_overwrite(directory, replace=False)


def refuse_to_replace(directory: Path, *, replace: bool, resume: bool) -> None:
    """Raises OutputError if a model or a checkpoint would be lost without --force or --resume."""
    facts = None if replace else read_facts(directory)
    has_stages = not replace and (directory / STAGES).is_dir()
    command = f"nmt train{'' if directory == Path('model') else f' --model {quote(str(directory))}'} --resume"
    if resume and (facts is not None or has_stages):
        refuse_earlier(directory, command)
        return
    has_runs, is_model = (directory / FIRST_RUN).is_dir(), (directory / CARD).exists()
    # Of an earlier version, a checkpoint does not say whether its training was complete, but its model does.
    if facts is not None and facts["updates"] > 0 and not has_runs and not (is_model and facts.get("complete", True)):
        raise OutputError(
            f"{directory}/ contains a training run that was interrupted in epoch {facts['progress']['epoch']}",
            hint=f"continue with `{command}`, or start over with --force",
        )
    if has_stages and not is_model:
        raise OutputError(
            f"{directory}/ contains a training run with synthetic pairs that was interrupted",
            hint=f"continue with `{command}`, or start over with --force",
        )
    if is_model and not replace:
        resumable = f"continue training it with `{command}`, " if facts is not None or has_stages else ""
        resumable = f"continue its runs with `{command} --runs N`, " if has_runs else resumable
        raise OutputError(
            f"{directory}/ already exists", hint=f"{resumable}replace it with --force, or name another directory"
        )


def refuse_earlier(directory: Path, command: str) -> None:
    """Raises OutputError, but only once, if the state is not from the training run that was last started here."""
    if is_of_earlier(directory):
        locate_state(directory).with_name(REPLACING).unlink()
        raise OutputError(
            f"the last training run in {directory}/ stopped before its first update, so nothing was saved",
            hint=f"start it again as before, with --force; to continue the previous run: {command}",
        )


def is_of_earlier(directory: Path) -> bool:
    """Whether the state in a directory is from a training run that a later one was meant to replace."""
    state = locate_state(directory)
    return state.is_file() and state.with_name(REPLACING).exists()


def remove_partial_files(directory: Path) -> None:
    """Removes files that a killed process left half-written: a state can be three times as large as the weights."""
    for path in (*directory.glob(".*.partial"), *(directory / CHECKPOINTS).glob(".*.partial")):
        path.unlink(missing_ok=True)
    for staged in directory.glob(f"{STAGED}*"):
        shutil.rmtree(staged, ignore_errors=True)


def remove_untrained(directory: Path, *, is_new: bool) -> None:
    """Removes the files of a training run that ended before its first update, and its directory if it is new."""
    with suppress(DamagedError, OSError):
        facts = read_facts(directory)
        if facts is None or not facts["updates"]:
            for name in (STATE, LOCK):
                (directory / CHECKPOINTS / name).unlink(missing_ok=True)
            (directory / CHECKPOINTS).rmdir()
            if is_new:
                directory.rmdir()


def require_writable(directory: Path) -> None:
    """Raises OSError if files cannot be written to the directory or its checkpoints."""
    for folder in (directory, directory / CHECKPOINTS):
        with tempfile.TemporaryFile(dir=folder):
            pass


@contextmanager
def hold_lock(path: Path, directory: Path) -> Iterator[None]:
    """Holds the lock file `path` for the model in `directory`. Raises OutputError if another process is using it.

    The operating system releases its lock when the process ends, for whatever reason. If a shared file system has no
    locks, or only locks within one machine, the holder's heartbeat decides: it renews the file's modification time
    every few seconds.
    """
    with path.open("a+", encoding="utf-8") as file:
        # 1. Ask the operating system for its lock, and the file for its holder.
        granted = acquire_system_lock(file.fileno())
        holder = read_holder(file)
        # 2. Refuse if either is taken; but if the lock is granted, a holder on this machine is dead.
        is_dead = granted and holder.get("host") == socket.gethostname()
        if granted is False or (has_live_holder(path, holder) and not is_dead):
            raise explain_refusal(directory, holder)
        # 3. Become the holder, and give a heartbeat until the block ends.
        write_holder(file, {"host": socket.gethostname(), "pid": os.getpid()})
        released = threading.Event()
        heartbeat = threading.Thread(target=renew_lock, args=(path, released), daemon=True)
        heartbeat.start()
        try:
            yield
        finally:
            released.set()
            heartbeat.join()
            write_holder(file, {})


def read_holder(file: IO[str]) -> dict[str, object]:
    """Returns `host` and `pid` of the process that holds the lock; empty if it is free."""
    file.seek(0)
    try:
        holder = parse_json(file.read() or "{}")
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) and {"host", "pid"} <= holder.keys() else {}


def write_holder(file: IO[str], holder: dict[str, object]) -> None:
    """Writes `host` and `pid` of the holder to the lock file; an empty mapping releases it."""
    try:
        file.seek(0)
        file.truncate()
        file.write(json.dumps(holder) if holder else "")
        file.flush()
    except OSError:  # the disk is full: the operating system's lock works without it
        return


def has_live_holder(path: Path, holder: dict[str, object]) -> bool:
    """Whether the holder of the lock file had a recent heartbeat, according to the file system's clock."""
    if not holder:
        return False
    with tempfile.NamedTemporaryFile(dir=path.parent) as probe:
        now = os.stat(probe.name).st_mtime
    return now - path.stat().st_mtime < STALE


def renew_lock(path: Path, released: threading.Event) -> None:
    """Renews the heartbeat every few seconds until the lock is released."""
    while not released.wait(HEARTBEAT):
        try:
            os.utime(path)
        except OSError:  # the file was removed or belongs to another: training itself reports what it cannot write
            return


def explain_refusal(directory: Path, holder: dict[str, object]) -> OutputError:
    """Returns the error for a lock held by another process."""
    process = f"process {holder['pid']} on {holder['host']}" if holder else "another process"
    return OutputError(
        f"{directory}/ is being written by another training run ({process})",
        hint="wait for it, or name another directory with --model; "
        f"the lock of a dead process expires after {STALE:.0f} seconds",
    )
