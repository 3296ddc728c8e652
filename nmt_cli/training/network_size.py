"""How large a network a time allows, where none is asked for.

A large network makes fewer updates in the same time, and with few it has learned less: on the bundled corpus the time
for 450 updates of the default network gave a dev BLEU of 5.6, and 8.5 with the 900 updates of the small one; the time
for 1,900 gave 22.7, and 23.6 with 3,400 (benchmarks/log/0006-network-size-by-time.md; with a
learning rate of 2e-3).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from nmt_cli.model.config import ModelConfig
from nmt_cli.training.config import TrainConfig

SMALL = ModelConfig.from_options(embedding=192, units=256)
ENOUGH = 6000  # updates of SMALL, in the time of which the default network is taken to learn more than it


def is_open(asked: Collection[str], config: TrainConfig) -> bool:
    """Whether the time decides: with --time, if no option of the network is `asked` for, and no model to begin with."""
    return config.time is not None and config.init_from is None and not asked


def first_size(facts: dict[str, Any] | None) -> ModelConfig:
    """What to measure first; where a checkpoint with these facts is gone on with, the size that was chosen for it."""
    small = facts is None or facts["identity"]["network"] == SMALL.to_mapping()
    return SMALL if small else ModelConfig.from_options()
