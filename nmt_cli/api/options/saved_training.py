"""The options of a training continued by `--resume`, which need not be given again.

Loads neither TensorFlow nor Keras, since the command line asks before it waits for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.api.options.explicit import ExplicitOptions
from nmt_cli.model.config import ModelConfig
from nmt_cli.settings import Settings
from nmt_cli.training.config import FIRST_RUN, TrainConfig

if TYPE_CHECKING:
    from nmt_cli.training.synthetic.stages import StageOptions


def find_saved_options(
    values: Mapping[str, Any], explicit: ExplicitOptions
) -> Mapping[type[Settings], Mapping[str, Any]]:
    """Returns the options of the checkpoint that --resume continues from; empty without --resume or a checkpoint.

    `values` holds all options. Raises OptionError for an explicit option that differs but cannot change.
    """
    if not values["resume"] or values["force"]:
        return {}
    from nmt_cli.training.checkpoints.saved_options import read_saved_options, select_saved

    directory, names = locate_first_run(values["model"], values["runs"]), {*explicit.typed, *explicit.filed}
    stages = find_options_of_stages(values["model"], values["runs"])
    if stages is not None:
        return select_saved(directory, stages.saved, values, names)
    return read_saved_options(directory, values, names)


def select_explicit(
    explicit: ExplicitOptions, model: Path, *, resume: bool, force: bool, runs: int
) -> frozenset[str] | None:
    """Returns the names of the options set by the user; None if a checkpoint has all, leaving nothing to choose."""
    names = explicit.select_fields(ModelConfig) | explicit.select_fields(TrainConfig)
    stages = find_options_of_stages(model, runs) if resume and not force else None
    if stages is not None:
        return None if stages.explicit is None else stages.explicit | names
    saved = find_saved_options({"resume": resume, "force": force, "runs": runs, "model": model}, explicit)
    return None if saved else names


def find_options_of_stages(model: Path, runs: int) -> StageOptions | None:
    """Returns the original options of a training with synthetic pairs, if --resume takes its options from them."""
    from nmt_cli.training.synthetic.stages import find_stage_options

    return find_stage_options(locate_first_run(model, runs), several_runs=runs > 1)


def locate_first_run(model: Path, runs: int) -> Path:
    return model / FIRST_RUN if runs > 1 else model
