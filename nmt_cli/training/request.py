"""The request for a training: one object that the command, Python and the training itself share.

    corpus = PreparedCorpus.load(Path("prepared"))
    request = TrainRequest(corpus, Path("model"), ModelConfig.from_options(units=64), TrainOptions(epochs=5))
    report = train(request)

`api.train.open_request` makes it of all options. What is decided later replaces a field: the settings that the size of
the corpus leaves open, the seed and the directory of each of several runs, the corpus and the direction of a helper
model. `TF_CONFIG` says which process this one is among those that train together. Loads neither TensorFlow nor Keras:
the command line makes a request before it waits for them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Self

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.records import Range, RecordError, build, parse_json
from nmt_cli.settings import option_fields
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
class ClusterConfig:
    """The entries of TF_CONFIG used here."""

    cluster: dict[str, list[str]] = field(default_factory=dict)  # the addresses of each job
    task: ClusterTask = ClusterTask()


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
            known = {name: values[name] for name in ("cluster", "task") if name in values}
            config: ClusterConfig = build(ClusterConfig, known)
        except RecordError as error:
            raise OptionError(f"TF_CONFIG is malformed: {error}", hint=EXAMPLE) from error
        sizes = {job: len(addresses) for job, addresses in config.cluster.items()}
        role = cls(config.task.type, config.task.index, sizes.get(CHIEF, 0), sizes.get(WORKER, 0))
        if not sizes:
            return cls()
        if set(sizes) - {CHIEF, WORKER} or role.index >= sizes.get(role.job, 0):
            raise OptionError(
                f"TF_CONFIG names {role.job} {role.index} of {sizes}",
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
    """A training: its corpus in the direction that is trained, the directory of the model, and all options.

    The caller holds the lock of `directory` (`checkpoints.lock_model`). In a process that is not the chief, it only
    receives checkpoints of its own, to roll back to.
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
    keep_stages: bool = False  # of a training with synthetic pairs, once the model is complete
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
        """Returns what a checkpoint may only be resumed with; `replay` is the fingerprint of the old pairs."""
        settings = {"network": self.network.to_mapping(), "training": self.training.to_mapping()}
        return {"data": self.corpus.fingerprint, "replay": replay, **settings}
