"""The request for a training.

Loads neither TensorFlow nor Keras: the command line fills in a request before it waits for them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields
from pathlib import Path

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.model.config import ModelConfig
from nmt_cli.settings import option_fields
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.distributed.process import SINGLE_PROCESS, ProcessRole
from nmt_cli.training.watcher import Watcher


@dataclass(frozen=True)
class TrainingRequest:
    """The network, the corpus, the model's directory, and the starting point of a training.

    `directory` receives the model; the caller holds its lock (`checkpoints.lock.lock_model`). In a process that is not
    the chief it only receives checkpoints of its own, to roll back to.
    """

    corpus: PreparedCorpus
    directory: Path
    network: ModelConfig
    training: TrainConfig
    watcher: Watcher = field(default_factory=Watcher)
    role: ProcessRole = SINGLE_PROCESS
    resume: bool = False  # from the checkpoint in `directory`, if there is one
    deadline: Deadline | None = None  # None: one of `training.time`, if set, that starts now
    explicit: Collection[str] | None = None  # names of the options that the user set; None: no other may be chosen
    ray: str | None = None  # the address of a cluster that translates for synthetic pairs
    choice: str | None = None  # what `training.setup.defaults` chose for a corpus of this size

    @property
    def explicit_options(self) -> Collection[str]:
        """The names of the network's options set by the user; if unknown, those that differ from their defaults."""
        if self.explicit is None:
            return list_changed_options(self.network)
        return {option.name for option in option_fields(ModelConfig)} & set(self.explicit)


def list_changed_options(network: ModelConfig) -> set[str]:
    """Returns the names of the options that differ from their defaults."""
    defaults = ModelConfig.from_options().to_mapping()
    values = {option.name: (getattr(network, option.name), option.default) for option in fields(network)}
    return {name for name, (value, default) in values.items() if value != defaults.get(name, default)}
