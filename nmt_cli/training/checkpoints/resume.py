"""Whether a checkpoint is one of the run that was asked for, and what changes if the run is now to be longer."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt_cli.errors import DataError, OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.settings import Settings, option_name
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.schedule import Handover, Schedule

PLACES = {"init_from", "replay"}  # which may be written with a slash behind them
# What may differ from the run that wrote the checkpoint: nothing learned so far depends on it.
FREE = {"patience", "checkpoint_minutes", "average", "devices"}


@dataclass(frozen=True)
class Identity:
    """What a run is a run of."""

    data: str  # fingerprint
    network: ModelConfig
    training: TrainConfig
    replay: str | None = None  # fingerprint of the old pairs

    def to_mapping(self) -> dict[str, Any]:
        settings = {"network": self.network.to_mapping(), "training": self.training.to_mapping()}
        return {"data": self.data, "replay": self.replay, **settings}


def is_unbegun(facts: dict[str, Any]) -> bool:
    """Whether the run with these `facts` was killed before it made or undid an update: it may as well begin anew."""
    return bool(facts["updates"] == 0 and facts["progress"]["rollbacks"] == 0)


def check_same(saved: dict[str, Any], now: Identity, directory: Path) -> None:
    """Raises DataError or OptionError that says what differs between the run of the checkpoint and this one."""
    for option, before, after in (("data", saved["data"], now.data), ("replay", saved.get("replay"), now.replay)):
        if before != after:
            raise DataError(
                f"{directory}/ was begun with other data: --{option} was {shorten(before)}, now it is {shorten(after)}",
                hint=f"give --{option} as it was, or begin anew with --force",
            )
    changed = [*list_changes(saved["network"], now.network), *list_changes(saved["training"], now.training)]
    if changed:
        before, after = (", ".join(texts) for texts in zip(*changed, strict=True))
        raise OptionError(
            f"{directory}/ was begun with {before}; asked for now: {after}",
            hint=f"go on with --resume and {before}, or begin anew with --force",
        )


def shorten(fingerprint: str | None) -> str:
    return "not given" if fingerprint is None else f"of fingerprint {fingerprint[:16]}"


def list_changes(saved: dict[str, Any], now: Settings, free: Collection[str] = FREE) -> Iterator[tuple[str, str]]:
    """The options that differ, as they were and as they are. A run may become longer, and not shorter."""
    for field in dataclasses.fields(now):
        before, after = saved.get(field.name, field.default), getattr(now, field.name)
        longer = field.name == "epochs" and after > before
        same = before == after or (field.name in PLACES and None not in (before, after) and Path(before) == Path(after))
        if not same and field.name not in free and not longer:
            yield describe_option(field, before), describe_option(field, after)


def describe_option(field: dataclasses.Field[Any], value: Any) -> str:
    """An option with its value, as one would type it."""
    name = option_name(field)
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    return (
        f"no --{name}" if value is None else f"--{name} {value:g}" if isinstance(value, float) else f"--{name} {value}"
    )


def handover_of(facts: dict[str, Any], config: TrainConfig, updates_per_epoch: int) -> Handover | None:
    """Where a longer run's schedule takes over from the checkpoint's; what the checkpoint had if it is as long."""
    before = facts["progress"]["handover"]
    handover = None if before is None else Handover(**before)
    epochs = facts["identity"]["training"]["epochs"]
    if epochs == config.epochs:
        return handover
    shorter = Schedule(dataclasses.replace(config, epochs=epochs), epochs * updates_per_epoch, handover)
    return Handover(step=facts["updates"], rate=float(shorter.plan_rate(facts["updates"])))
