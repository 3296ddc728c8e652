"""The original options of a training with synthetic pairs, for `--resume` before its last stage has a checkpoint.

They record what the user set and what was left open, before anything was chosen by corpus size, since each stage has a
corpus of its own. Loads neither TensorFlow nor Keras.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from nmt_cli.model.config import ModelConfig
from nmt_cli.records import parse_json
from nmt_cli.runtime.model_directory import STAGES
from nmt_cli.training.checkpoints.saved_options import SavedOptions, read_started_facts
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.synthetic.stages import STATE


class StageOptions(NamedTuple):
    """All options of a training, and the names of those set by the user; None: no other may be chosen."""

    saved: SavedOptions
    explicit: frozenset[str] | None


def find_stage_options(directory: Path, *, several_runs: bool = False) -> StageOptions | None:
    """Returns the options of the stages in a model directory, if a resumed training takes its options from them.

    It takes them from the checkpoint of the last stage if there is one; but of several runs, the others have yet to
    begin with their first stage.
    """
    path = directory / STAGES / STATE
    if not path.is_file() or (read_started_facts(directory) is not None and not several_runs):
        return None
    try:
        options = parse_json(path.read_text(encoding="utf-8"))["options"]
        explicit = None if options["explicit"] is None else frozenset(options["explicit"])
        return StageOptions({ModelConfig: dict(options["network"]), TrainConfig: dict(options["training"])}, explicit)
    except (ValueError, KeyError, TypeError):  # training itself says what is damaged
        return None
