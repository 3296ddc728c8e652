"""Checks that a checkpoint belongs to the resumed run, and adapts its plans where these may change.

A run may become longer, get another time limit, and use other batches from its next epoch on.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt_cli.errors import DataError, OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.checkpoints.saved_options import list_changes
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.batches import EarlierBatches, TrainingBatches, choose_batch_size
from nmt_cli.training.deadline import parse_duration
from nmt_cli.training.schedule import Handover, Schedule, TimedSchedule


@dataclass(frozen=True)
class Identity:
    """The subject of a run: a checkpoint may only be resumed by a run with the same identity."""

    data: str  # fingerprint
    network: ModelConfig
    training: TrainConfig
    replay: str | None = None  # fingerprint of the old pairs

    def to_mapping(self) -> dict[str, Any]:
        """Returns the identity in the form of the checkpoint."""
        settings = {"network": self.network.to_mapping(), "training": self.training.to_mapping()}
        return {"data": self.data, "replay": self.replay, **settings}


def check_same_run(saved: dict[str, Any], now: Identity, directory: Path) -> None:
    """Raises DataError or OptionError, naming the differences, if the checkpoint belongs to another run."""
    for option, before, after in (("data", saved["data"], now.data), ("replay", saved.get("replay"), now.replay)):
        if before != after:
            raise DataError(
                f"{directory}/ was started with other data: --{option} was {shorten(before)}, and is {shorten(after)}",
                hint=f"use the same --{option} as before, or start over with --force",
            )
    changed = [*list_changes(saved["network"], now.network), *list_changes(saved["training"], now.training)]
    if changed:
        before, after = (", ".join(texts) for texts in zip(*changed, strict=True))
        raise OptionError(
            f"{directory}/ was started with {before}; now asked for: {after}",
            hint=f"continue with --resume and {before}, or start over with --force",
        )


def shorten(fingerprint: str | None) -> str:
    """Returns the beginning of a fingerprint, for a message; None means an unset option."""
    return "not set" if fingerprint is None else f"a corpus with fingerprint {fingerprint[:16]}"


def plan_batches(facts: dict[str, Any], config: TrainConfig) -> EarlierBatches | None:
    """Returns the batches with which the checkpoint's epoch continues, if `config` has others."""
    progress, training = facts["progress"], facts["identity"]["training"]
    saved = progress.get("earlier_batches")
    if saved is not None and saved["epoch"] >= progress["epoch"]:
        return EarlierBatches(**saved)
    size = {name: training.get(name) for name in ("batch", "batch_tokens")}
    is_changed = any(value != getattr(config, name) for name, value in size.items())
    return EarlierBatches(progress["epoch"], **size) if is_changed and progress["meter"]["steps"] else None


def plan_handover(facts: dict[str, Any], config: TrainConfig, batches: TrainingBatches) -> Handover | None:
    """Returns where the schedule of a run with other plans takes over from the checkpoint's.

    If the plans are unchanged, returns the checkpoint's own handover, if any.
    """
    saved = facts["progress"]["handover"]
    handover = None if saved is None else Handover(**saved)
    before = restore_plans(facts, config)
    if before == config:
        return handover
    if config.time is not None:
        return hand_over_time(facts, before, config, handover)
    # 1. Count the updates of the run as it was planned, and as it is planned now.
    before_updates = before.epochs * batches.count_updates_of(before)
    progress, done = facts["progress"], facts["updates"]
    left = batches.count_updates(progress["epoch"]) - progress["meter"]["steps"]
    after_updates = done + max(0, left) + max(0, config.epochs - progress["epoch"]) * batches.updates
    # 2. Continue from the rate that the former plan has now.
    former = Schedule(before, before_updates if handover is None else handover.steps or before_updates, handover)
    has_changed_batches = batches.size != choose_batch_size(before) or (handover is not None and handover.steps)
    steps = after_updates if has_changed_batches else None
    return Handover(step=done, rate=float(former.compute_rate(done)), steps=steps)


def restore_plans(facts: dict[str, Any], config: TrainConfig) -> TrainConfig:
    """Returns `config` with the checkpoint's length and batches of the run."""
    training = facts["identity"]["training"]
    names = [name for name in ("epochs", "time", "batch", "batch_tokens") if name in training]
    return dataclasses.replace(config, **{name: training[name] for name in names})


def hand_over_time(
    facts: dict[str, Any], before: TrainConfig, config: TrainConfig, handover: Handover | None
) -> Handover | None:
    """Returns the handover of a run with another --time; the existing handover if the time is the same."""
    if before.time == config.time:
        return handover
    former = TimedSchedule(before, handover)
    former.set_elapsed_share(facts["progress"]["share"])
    step = round(rescale_share(facts, config) * TimedSchedule.TICKS)
    return Handover(step=step, rate=float(former.compute_rate(0)))


def rescale_share(facts: dict[str, Any], config: TrainConfig) -> float:
    """Returns the share of a --time run that has passed, rescaled if its time limit changed."""
    share, before = float(facts["progress"]["share"]), facts["identity"]["training"].get("time")
    if config.time is None or before in (None, config.time):
        return share
    return min(1.0, share * parse_duration(before) / parse_duration(config.time))
