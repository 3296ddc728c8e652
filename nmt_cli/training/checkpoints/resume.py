"""Checks that a checkpoint belongs to the run that is resumed, and extends the schedule if the run becomes longer."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt_cli.errors import DataError, OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.settings import Settings, name_option
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.schedule import Handover, Schedule

PATHS = {"init_from", "replay"}  # options that are paths: a slash at the end makes no difference
# Options that may differ from the run that wrote the checkpoint: nothing learned so far depends on them.
CHANGEABLE = {"patience", "checkpoint_minutes", "average", "devices"}


@dataclass(frozen=True)
class Identity:
    """What a run trains, and on what: a checkpoint may only be resumed by a run with the same identity."""

    data: str  # fingerprint
    network: ModelConfig
    training: TrainConfig
    replay: str | None = None  # fingerprint of the old pairs

    def to_mapping(self) -> dict[str, Any]:
        """Returns the identity in the form of the checkpoint."""
        settings = {"network": self.network.to_mapping(), "training": self.training.to_mapping()}
        return {"data": self.data, "replay": self.replay, **settings}


def has_no_updates(facts: dict[str, Any]) -> bool:
    """Whether a run was killed before its first update, and before any rollback: it may as well start over."""
    return bool(facts["updates"] == 0 and facts["progress"]["rollbacks"] == 0)


def check_same_run(saved: dict[str, Any], now: Identity, directory: Path) -> None:
    """Raises DataError or OptionError, which names the differences, if the checkpoint belongs to another run."""
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
    """Returns the beginning of a fingerprint, for a message; None stands for an option that is not set."""
    return "not set" if fingerprint is None else f"a corpus with fingerprint {fingerprint[:16]}"


def list_changes(saved: dict[str, Any], now: Settings, free: Collection[str] = CHANGEABLE) -> Iterator[tuple[str, str]]:
    """Yields the options that differ, as they were and as they are. More epochs are no difference, but fewer are."""
    for field in dataclasses.fields(now):
        before, after = saved.get(field.name, field.default), getattr(now, field.name)
        longer = field.name == "epochs" and after > before
        same = before == after or (field.name in PATHS and None not in (before, after) and Path(before) == Path(after))
        if not same and field.name not in free and not longer:
            yield describe_option(field, before), describe_option(field, after)


def describe_option(field: dataclasses.Field[Any], value: Any) -> str:
    """Returns an option with its value, as it is typed."""
    name = name_option(field)
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    return (
        f"no --{name}" if value is None else f"--{name} {value:g}" if isinstance(value, float) else f"--{name} {value}"
    )


def plan_handover(facts: dict[str, Any], config: TrainConfig, updates_per_epoch: int) -> Handover | None:
    """Returns where the schedule of a longer run takes over from that of the checkpoint with these `facts`.

    If the run is no longer than before, this is the handover of the checkpoint, if it has one.
    """
    saved = facts["progress"]["handover"]
    handover = None if saved is None else Handover(**saved)
    epochs = facts["identity"]["training"]["epochs"]
    if epochs == config.epochs:
        return handover
    shorter = Schedule(dataclasses.replace(config, epochs=epochs), epochs * updates_per_epoch, handover)
    return Handover(step=facts["updates"], rate=float(shorter.compute_rate(facts["updates"])))
