"""The request for a training run: one object shared by the command line, the Python API and the run itself.

    corpus = PreparedCorpus.load(Path("prepared"))
    request = TrainRequest(corpus, Path("model"), ModelConfig.from_options(units=64), TrainOptions(epochs=5))
    report = train(request)

`api.train.open_request` makes it from all options. Later decisions replace some of its fields. They choose open
settings by the size of the corpus, the seed and directory of each of several runs, and the corpus and direction of a
helper model. `TF_CONFIG` says which of the processes that train together this one is. Loads neither TensorFlow nor
Keras: the command line makes a request before it waits for them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Self

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import DataError, OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.records import Range, RecordError, build, parse_json
from nmt_cli.settings import Settings, name_option, option_fields
from nmt_cli.training.checkpoints import read_facts
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.watcher import Watcher

CHIEF, WORKER = "chief", "worker"
EXAMPLE = '{"cluster": {"worker": ["host0:port", "host1:port"]}, "task": {"type": "worker", "index": 0}}'


@dataclass(frozen=True)
class ClusterTask:
    """The position of this process among the others."""

    type: str = WORKER
    index: Annotated[int, Range(0, 10**6)] = 0


@dataclass(frozen=True)
class ProcessRole:
    """A process among those that train one network together."""

    job: str = WORKER
    index: int = 0
    chiefs: int = 0  # processes with this job; if there are none, the first worker is the chief
    workers: int = 1

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Parses TensorFlow's TF_CONFIG; without it, the process is alone. Raises OptionError if it is invalid."""
        if not text or not text.strip():
            return cls()
        try:
            values = build(dict, parse_json(text))
            cluster = build(dict[str, list[str]], values.get("cluster", {}), "cluster")  # the addresses of each job
            task = build(ClusterTask, values.get("task", {}), "task")
        except RecordError as error:
            raise OptionError(f"TF_CONFIG is malformed: {error}", hint=EXAMPLE) from error
        sizes = {job: len(addresses) for job, addresses in cluster.items()}
        role = cls(task.type, task.index, sizes.get(CHIEF, 0), sizes.get(WORKER, 0))
        if not sizes:
            return cls()
        if set(sizes) - {CHIEF, WORKER} or role.index >= sizes.get(role.job, 0):
            raise OptionError(
                f"TF_CONFIG gives this process the role {role.job} {role.index}, but its cluster has {sizes}",
                hint="its cluster may have one chief and any number of workers, and its task must be one of them",
            )
        return role

    @property
    def processes(self) -> int:
        """Number of processes that train together."""
        return self.chiefs + self.workers

    @property
    def is_chief(self) -> bool:
        """Whether this process validates and writes the model."""
        return self.index == 0 and (self.job == CHIEF or not self.chiefs)

    def __str__(self) -> str:
        return f"{self.job} {self.index} of {self.processes} processes"


SINGLE_PROCESS = ProcessRole()


@dataclass(frozen=True)
class TrainRequest:
    """A training run: its corpus in the direction that is trained, the directory of the model, and all options.

    The caller holds the lock of `directory` (`checkpoints.lock_model`). In a process that is not the chief, the
    directory receives only that process's own checkpoints, to roll back to.
    """

    corpus: PreparedCorpus
    directory: Path
    network: ModelConfig
    training: TrainOptions
    watcher: Watcher = field(default_factory=Watcher)
    role: ProcessRole = SINGLE_PROCESS
    resume: bool = False  # from the checkpoint in `directory`, if there is one
    deadline: Deadline | None = None  # None: one of `training.time`, if set, that starts now
    explicit: Collection[str] | None = None  # names of the options that the user set; None: no other may be chosen
    ray: str | None = None  # the address of a cluster that translates for synthetic pairs
    choice: str | None = None  # what `training.defaults` chose for a corpus of this size
    typed: Sequence[tuple[str, ...]] = ()  # the options of network and training as typed, to train anew with them
    force: bool = False  # replaces an existing model
    reverse: bool = False  # `corpus` is turned round
    keep_stages: bool = False  # of a training run with synthetic pairs, once the model is complete
    runs: int = 1  # with different seeds
    tensorboard: Path | None = None

    @property
    def explicit_options(self) -> Collection[str]:
        """The names of the network's options set by the user; if unknown, those that differ from their defaults."""
        if self.explicit is not None:
            return {option.name for option in option_fields(ModelConfig)} & set(self.explicit)
        defaults = ModelConfig.from_options().to_mapping()
        values = {option.name: (getattr(self.network, option.name), option.default) for option in fields(self.network)}
        return {name for name, (value, default) in values.items() if value != defaults.get(name, default)}

    def identify(self, replay: str | None = None) -> dict[str, Any]:
        """Returns the values that must not change on resuming; `replay` is the fingerprint of the old pairs."""
        settings = {"network": self.network.to_mapping(), "training": self.training.to_mapping()}
        return {"data": self.corpus.fingerprint, "replay": replay, **settings}


# Decides whether a checkpoint may be resumed, and with which options: typed, from a file, or its own.
#
#     nmt train --units 256 --epochs 10      # interrupted
#     nmt train --resume --epochs 20         # 256 units, and ten epochs more
#     nmt train --resume --units 512         # refused: model/ was started with --units 256
#
# Loads neither TensorFlow nor Keras, since the command line asks before it waits for them.

PATHS = {"init_from", "replay"}  # options that are paths: a slash at the end makes no difference
# Options that may differ from the run that wrote the checkpoint: nothing learned so far depends on them.
CHANGEABLE = {"patience", "checkpoint_minutes", "average", "devices", "batch", "batch_tokens"}

SavedOptions = Mapping[type[Settings], Mapping[str, Any]]


def read_started_facts(directory: Path) -> dict[str, Any] | None:
    """Returns the facts of the checkpoint in a model directory; None if there is none to resume from.

    A run killed before its first update, and before any rollback, may as well start over.
    """
    facts = read_facts(directory)
    if facts is None or (facts["updates"] == 0 and facts["progress"]["rollbacks"] == 0):
        return None
    return facts


def read_saved_options(directory: Path, options: Mapping[str, Any], explicit: Collection[str]) -> SavedOptions:
    """Returns what `select_saved` selects from the checkpoint in `directory`; empty without a checkpoint."""
    facts = read_started_facts(directory)
    if facts is None:
        return {}
    identity = facts["identity"]
    saved = {ModelConfig: identity["network"], TrainOptions: identity["training"]}
    return select_saved(directory, saved, options, explicit)


def select_saved(
    directory: Path, saved: SavedOptions, options: Mapping[str, Any], explicit: Collection[str]
) -> SavedOptions:
    """Returns the saved options without the `explicit` ones; `options` holds all values.

    Raises OptionError if explicit options that cannot change differ, and names them.
    """
    refuse_changes(directory, saved, {name: options[name] for name in explicit if name in options})
    return {kind: drop_replaced(kind, values, explicit) for kind, values in saved.items()}


def refuse_changes(directory: Path, saved: SavedOptions, explicit: Mapping[str, Any]) -> None:
    """Raises OptionError if explicit options differ from the saved ones, unless they may change."""
    if "epochs" in explicit and saved[TrainOptions].get("time") and "time" not in explicit:
        raise OptionError(
            f"training in {directory}/ was started with --time {saved[TrainOptions]['time']}; "
            "--epochs cannot be set now",
            hint="set a longer --time, or start over with --force",
        )
    changed = [
        texts
        for kind, values in saved.items()
        for field in list_fields(kind)
        if field.name in explicit
        for texts in compare_option(field, values.get(field.name, field.default), explicit[field.name])
    ]
    refuse_options(directory, changed, "omit {after} to continue")


def refuse_options(directory: Path, changed: Sequence[tuple[str, str]], hint: str) -> None:
    """Raises OptionError if options changed, naming each before and after; `hint` can refer to {before} and {after}."""
    if changed:
        before, after = (", ".join(texts) for texts in zip(*changed, strict=True))
        raise OptionError(
            f"training in {directory}/ was started with {before}, but you now set {after}",
            hint=f"{hint.format(before=before, after=after)}, or start over with --force",
        )


def list_fields(kind: type[Settings]) -> list[dataclasses.Field[Any]]:
    """Returns the fields of settings, each once, including those of every class that an option can choose."""
    fields = {field.name: field for part in kind.list_option_classes() for field in dataclasses.fields(part)}
    return list(fields.values())


def drop_replaced(kind: type[Settings], saved: Mapping[str, Any], explicit: Collection[str]) -> dict[str, Any]:
    """Returns the saved options of these settings, without explicit ones and those replaced by them.

    Options unknown to this version are dropped too.
    """
    fields = {field.name: field for field in list_fields(kind)}
    pairs = [
        (name, field.metadata["setting"].instead_of) for name, field in fields.items() if "setting" in field.metadata
    ]
    replaced = {name for name, other in pairs if other in explicit} | {
        other for name, other in pairs if name in explicit
    }
    return {
        name: value for name, value in saved.items() if name in fields and name not in explicit and name not in replaced
    }


def list_changes(
    saved: Mapping[str, Any], now: Settings, free: Collection[str] = CHANGEABLE
) -> Iterator[tuple[str, str]]:
    """Yields the options that differ, before and after, except those `free` to differ."""
    for option in dataclasses.fields(now):
        before = saved.get(option.name, option.default)
        yield from compare_option(option, before, getattr(now, option.name), free)


def compare_option(
    field: dataclasses.Field[Any], before: Any, after: Any, free: Collection[str] = CHANGEABLE
) -> Iterator[tuple[str, str]]:
    """Yields an option before and after the change if it differs. More epochs, or another time, do not count."""
    may_change = (
        field.name in free
        or (field.name == "epochs" and after > before)
        or (field.name == "time" and None not in (before, after))
    )
    is_same = before == after or (field.name in PATHS and None not in (before, after) and Path(before) == Path(after))
    if not is_same and not may_change:
        yield describe_option(field, before), describe_option(field, after)


def describe_option(field: dataclasses.Field[Any], value: Any) -> str:
    """Returns an option with its value, as typed."""
    name = name_option(field)
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    if value is None:
        return f"no --{name}"
    return f"--{name} {value:g}" if isinstance(value, float) else f"--{name} {value}"


def check_same_run(saved: Mapping[str, Any], request: TrainRequest, replay: str | None = None) -> None:
    """Raises DataError or OptionError, naming the differences, if a checkpoint's identity is that of another run."""
    directory = request.directory
    fingerprints = (("data", saved["data"], request.corpus.fingerprint), ("replay", saved.get("replay"), replay))
    for option, before, after in fingerprints:
        if before != after:
            raise DataError(
                f"training in {directory}/ was started with different data: "
                f"--{option} was {shorten(before)}, now {shorten(after)}",
                hint=f"use the same --{option} as before, or start over with --force",
            )
    changed = [*list_changes(saved["network"], request.network), *list_changes(saved["training"], request.training)]
    refuse_options(directory, changed, "continue with --resume and {before}")


def shorten(fingerprint: str | None) -> str:
    """Returns the beginning of a fingerprint, for a message; None means an unset option."""
    return "not set" if fingerprint is None else f"a corpus with fingerprint {fingerprint[:16]}"
