"""Chooses the size of a network that trains for a given time, unless the user sets its options.

A large network makes fewer updates in the same time, and after few updates it has learned less than a small one. On the
bundled corpus, in the time of 450 updates the default network reached a dev BLEU of 5.6, and the small one with 900
updates 8.5; in the time of 1,900 updates it was 22.7, against 23.6 with 3,400 updates (benchmarks/log/minutes.md; with
a learning rate of 2e-3). With 160,000 pairs, a wider network is better if an hour allows more than ten epochs of it
(benchmarks/log/hour.md).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from nmt_cli.model.config import ModelConfig, RnnConfig
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.setup.defaults import SMALL_NETWORK, fit_heads

UPDATES_FOR_DEFAULT = 6000  # if so many updates of the small network fit into the time, the default one learns more
WIDE_NETWORK = {"embedding": 320, "units": 640, "dropout": 0.2}
# Of the small network, which makes about twice as many as the wide one: some 10 epochs of 160,000 pairs.
UPDATES_FOR_WIDE, PAIRS_FOR_WIDE = 28_000, 100_000


def is_size_open(explicit: Collection[str], config: TrainConfig) -> bool:
    """Whether the time decides the size: with --time, without --init-from, and with no `explicit` network option."""
    return config.time is not None and config.init_from is None and not explicit


def choose_first_size(network: ModelConfig, facts: dict[str, Any] | None) -> ModelConfig:
    """Returns the network whose speed is measured first; when resuming, the checkpoint's network."""
    if facts is None:
        return set_widths(network, SMALL_NETWORK)
    return ModelConfig.from_mapping(facts["identity"]["network"], where="the checkpoint")


def choose_larger_size(network: ModelConfig, small: ModelConfig, pairs: int, updates: float) -> ModelConfig:
    """Returns the network to train: `small`, with `updates` updates in the given time, `network`, or a wider one."""
    if updates < UPDATES_FOR_DEFAULT:
        return small
    is_long = updates >= UPDATES_FOR_WIDE and pairs >= PAIRS_FOR_WIDE
    return set_widths(network, WIDE_NETWORK) if is_long else network


def set_widths(network: ModelConfig, widths: dict[str, Any]) -> ModelConfig:
    """Returns the network with other widths, and no more heads than before."""
    if not isinstance(network, RnnConfig):
        return replace(network, **widths)
    return fit_heads(replace(network, heads=1, **widths), most=network.heads)
