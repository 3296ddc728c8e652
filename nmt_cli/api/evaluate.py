"""`nmt.evaluate`: what `nmt evaluate` does, as a function."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.api.options.arguments import (
    PathLike,
    build_settings,
    explain_os_errors,
    find_path,
    list_paths,
    list_texts,
)
from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.search.config import SearchConfig

if TYPE_CHECKING:
    from nmt_cli.evaluation.report import Report


@explain_os_errors
def evaluate(
    *,
    metric: str | Iterable[str] = "all",
    source: PathLike | None = None,
    reference: PathLike | Iterable[PathLike] | None = None,
    hypothesis: PathLike | None = None,
    against: PathLike | None = None,
    split: str = "test",
    data: PathLike | None = None,
    model: PathLike = "model",
    precision: str | None = None,
    profile: bool = False,
    progress: StageReporter | None = None,
    **options: Any,
) -> Report:
    """Scores the model on a split of the prepared corpus `data`, or on files with one sentence per line.

    `metric` is one metric or several; the report's `scores` maps their names to scores, its `intervals` to 95 %
    intervals. `precision` is that of the weights, "float" or "int8"; None: as the model says. `options` are those of
    `nmt evaluate`, such as `beam_size=1` or `lowercase=True`. Raises NotFoundError, DataError or OptionError.
    """
    from nmt_cli.api.scoring import Evaluation, EvaluationInputs
    from nmt_cli.evaluation.metrics.registry import resolve_available_names
    from nmt_cli.runtime.installed_models import find_model, find_model_or_file

    others = {"source": source, "reference": reference, "hypothesis": hypothesis}
    others |= {} if split == "test" else {"split": split}
    scores, search = build_settings("evaluate", options, ScoreConfig, SearchConfig, others=others)
    inputs = EvaluationInputs(
        Path("prepared" if data is None else data),
        find_model(Path(model)),
        find_path(source),
        tuple(list_paths(reference)),
        find_path(hypothesis),
        None if against is None else find_model_or_file(Path(against)),
        split,
        data_named=data is not None,
        precision=precision,
    )
    names = resolve_available_names(list_texts(metric), scores, inputs.available)
    return Evaluation(names, inputs, search, scores, profile, progress or ignore_progress).run().report
