"""Chooses how large a network is that trains for a given time, unless the user sets its options.

A large network makes fewer updates in the same time, and after few updates it has learned less than a small one. On the
bundled corpus, in the time of 450 updates the default network reached a dev BLEU of 5.6, and the small one with 900
updates 8.5; in the time of 1,900 updates it was 22.7, against 23.6 with 3,400 updates
(benchmarks/log/0006-network-size-by-time.md; with a learning rate of 2e-3).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from nmt_cli.model.config import ModelConfig
from nmt_cli.training.config import TrainConfig

SMALL = ModelConfig.from_options(embedding=192, units=256)
UPDATES_FOR_DEFAULT = 6000  # if so many updates of SMALL fit into the time, the default network learns more in it


def is_size_open(explicit: Collection[str], config: TrainConfig) -> bool:
    """Whether the time decides the size: with --time, without --init-from, and with no `explicit` network option."""
    return config.time is not None and config.init_from is None and not explicit


def choose_first_size(facts: dict[str, Any] | None) -> ModelConfig:
    """Returns the network whose speed is measured first; when resuming, the network of the checkpoint with `facts`."""
    if facts is None:
        return SMALL
    return ModelConfig.from_mapping(facts["identity"]["network"], where="the checkpoint")
