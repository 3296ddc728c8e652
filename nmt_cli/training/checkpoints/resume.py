"""Checks that a checkpoint belongs to the resumed run, and adapts its plans where these may change.

A run may become longer, get another time limit, and use other batches from its next epoch on."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt_cli.errors import DataError, OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.settings import Settings, name_option
from nmt_cli.training.checkpoints.checkpoint import read_facts
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.batches import EarlierBatches, TrainingBatches, choose_batch_size
from nmt_cli.training.deadline import parse_duration
from nmt_cli.training.schedule import Handover, Schedule, TimedSchedule

# The options of a resumed run: typed ones, else those of a file, else the checkpoint's.
#
# Loads neither TensorFlow nor Keras, since the command line asks before it waits for them.


PATHS = {"init_from", "replay"}  # options that are paths: a slash at the end makes no difference
# Options that may differ from the run that wrote the checkpoint: nothing learned so far depends on them.
CHANGEABLE = {"patience", "checkpoint_minutes", "average", "devices", "batch", "batch_tokens"}

SavedOptions = Mapping[type[Settings], Mapping[str, Any]]


def read_started_facts(directory: Path) -> dict[str, Any] | None:
    """Returns the facts of the checkpoint in a model directory; None if training could not resume it.

    A run killed before its first update, and before any rollback, may as well start over.
    """
    facts = read_facts(directory)
    if facts is None or (facts["updates"] == 0 and facts["progress"]["rollbacks"] == 0):
        return None
    return facts


def read_saved_options(directory: Path, options: Mapping[str, Any], explicit: Collection[str]) -> SavedOptions:
    """Returns `select_saved` of the options of the checkpoint in `directory`; empty without a checkpoint."""
    facts = read_started_facts(directory)
    if facts is None:
        return {}
    identity = facts["identity"]
    saved = {ModelConfig: identity["network"], TrainConfig: identity["training"]}
    return select_saved(directory, saved, options, explicit)


def select_saved(
    directory: Path, saved: SavedOptions, options: Mapping[str, Any], explicit: Collection[str]
) -> SavedOptions:
    """Returns the saved options without the `explicit` ones; `options` holds all values.

    Raises OptionError, naming them, if explicit options differ that cannot change.
    """
    refuse_changes(directory, saved, {name: options[name] for name in explicit if name in options})
    return {kind: drop_replaced(kind, values, explicit) for kind, values in saved.items()}


def refuse_changes(directory: Path, saved: SavedOptions, explicit: Mapping[str, Any]) -> None:
    """Raises OptionError if explicit options differ from the saved ones, unless they may change."""
    if "epochs" in explicit and saved[TrainConfig].get("time") and "time" not in explicit:
        raise OptionError(
            f"{directory}/ was started with --time {saved[TrainConfig]['time']}; --epochs cannot be set now",
            hint="give it more with --time, or start over with --force",
        )
    changed = [
        (name_option(field), *texts)
        for kind, values in saved.items()
        for field in list_fields(kind)
        if field.name in explicit
        for texts in compare_option(field, values.get(field.name, field.default), explicit[field.name])
    ]
    if changed:
        names, before, after = (", ".join(texts) for texts in zip(*changed, strict=True))
        omitted = ", ".join(f"--{name}" for name in names.split(", "))
        raise OptionError(
            f"{directory}/ was started with {before}; now asked for: {after}",
            hint=f"omit {omitted} to continue, or start over with --force",
        )


def list_fields(kind: type[Settings]) -> list[dataclasses.Field[Any]]:
    """Returns the fields of settings, including those of every class that an option chooses, each once."""
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
    for field in dataclasses.fields(now):
        before = saved.get(field.name, field.default)
        yield from compare_option(field, before, getattr(now, field.name), free)


def compare_option(
    field: dataclasses.Field[Any], before: Any, after: Any, free: Collection[str] = CHANGEABLE
) -> Iterator[tuple[str, str]]:
    """Yields an option before and after if it differs. More epochs and another time do not count."""
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
