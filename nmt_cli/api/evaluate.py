"""`nmt evaluate` and `nmt.evaluate`: one call, from the request to the scores of one or several systems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from nmt_cli.api.compare_systems import score_systems
from nmt_cli.api.evaluation_inputs import EvaluationInputs
from nmt_cli.api.kept_scores import keep_scores
from nmt_cli.api.options.arguments import (
    PathLike,
    build_settings,
    explain_os_errors,
    find_path,
    list_paths,
    list_texts,
)
from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.api.scoring import Evaluation, EvaluationOutcome
from nmt_cli.evaluation.comparison import SystemComparison
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.registry import ALL, Available, resolve_available_names, resolve_names
from nmt_cli.runtime.installed_models import find_model, find_model_or_file
from nmt_cli.search.config import SearchConfig

if TYPE_CHECKING:
    from nmt_cli.evaluation.report import Report

EXPLAINED = ("bleu4", "rougeL")  # unless other metrics are named


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """The systems to score, the sentences to score them on, and how."""

    metrics: tuple[str, ...]  # none: all
    scores: ScoreConfig
    search: SearchConfig
    data: Path
    is_data_named: bool = False  # explicitly, so that it must exist
    models: tuple[Path, ...] = ()
    hypotheses: tuple[Path, ...] = ()  # translations, in place of the models
    against: tuple[Path, ...] = ()  # further translations or models
    source: Path | None = None
    references: tuple[Path, ...] = ()
    split: str = "test"
    precision: str | None = None
    rerank: Path | None = None  # the model of the other direction that ranks hypotheses
    is_profiled: bool = False

    @property
    def systems(self) -> tuple[Path, ...]:
        """The systems; those compared with come last."""
        return (*(self.hypotheses or self.models), *self.against)

    @property
    def is_single(self) -> bool:
        """Whether one system is scored, possibly beside one other, rather than several in a table."""
        return len(self.hypotheses or self.models) == 1 and len(self.against) <= 1

    @property
    def inputs(self) -> EvaluationInputs:
        """The sentences, and the first system. Raises OptionError for inputs that do not go together."""
        return EvaluationInputs(
            self.data,
            self.models[0],
            self.source,
            self.references,
            self.hypotheses[0] if self.hypotheses else None,
            self.against[0] if self.against else None,
            self.split,
            data_named=self.is_data_named,
            precision=self.precision,
            rerank=self.rerank,
        )

    @property
    def available(self) -> Available:
        """The resources available to metrics for every system."""
        if self.is_single:
            return self.inputs.available
        are_models = not self.hypotheses and all(path.is_dir() for path in self.against)
        return Available(model=are_models, sources=self.inputs.available.sources)

    @property
    def paths(self) -> list[Path]:
        """All files read, except the prepared corpus."""
        return [path for path in (self.source, *self.references, *self.systems) if path is not None]


@explain_os_errors
def evaluate(
    *,
    metric: str | Iterable[str] = ALL,
    source: PathLike | None = None,
    reference: PathLike | Iterable[PathLike] | None = None,
    hypothesis: PathLike | None = None,
    against: PathLike | None = None,
    split: str = "test",
    data: PathLike | None = None,
    model: PathLike = "model",
    precision: str | None = None,
    rerank: PathLike | None = None,
    profile: bool = False,
    progress: StageReporter | None = None,
    **options: Any,
) -> Report:
    """Scores the model on a split of the prepared corpus `data`, or on files with one sentence per line.

    `metric` is one metric or several; the report's `scores` maps their names to scores, its `intervals` to 95 %
    intervals. `precision` is that of the weights, "float" or "int8"; None: the model's default. `rerank` is a
    model of the other direction, which ranks the hypotheses. `options` are those of
    `nmt evaluate`, such as `beam_size=1` or `lowercase=True`. Raises NotFoundError, DataError or OptionError.
    """
    others = {"source": source, "reference": reference, "hypothesis": hypothesis, "rerank": rerank}
    others["split"] = None if split == "test" else split
    scores, search = build_settings("evaluate", options, ScoreConfig, SearchConfig, others=others)
    request = EvaluationRequest(
        metrics=tuple(list_texts(metric)),
        scores=scores,
        search=search,
        data=Path("prepared" if data is None else data),
        is_data_named=data is not None,
        models=(find_model(Path(model)),),
        hypotheses=tuple(list_paths(hypothesis)),
        against=tuple(map(find_model_or_file, list_paths(against))),
        source=find_path(source),
        references=tuple(list_paths(reference)),
        split=split,
        precision=precision,
        rerank=None if rerank is None else find_model(Path(rerank)),
        is_profiled=profile,
    )
    return cast(EvaluationOutcome, run_evaluation(request, progress or ignore_progress)).report  # of one system


def run_evaluation(request: EvaluationRequest, progress: StageReporter) -> EvaluationOutcome | SystemComparison:
    """Runs the requested evaluation, and keeps the scores of a model beside its card."""
    inputs = request.inputs
    names = resolve_available_names(list(request.metrics) or [ALL], request.scores, request.available)
    evaluation = Evaluation(names, inputs, request.search, request.scores, request.is_profiled, progress)
    if not request.is_single:
        return score_systems(evaluation, request.systems, () if request.hypotheses else request.models)
    outcome = evaluation.run()
    keep_scores(outcome.report, inputs)
    return outcome


def explain_scores(metrics: Iterable[str], pair: tuple[str, str], scores: ScoreConfig) -> list[str]:
    """Returns lines that derive the scores of a candidate and a reference step by step."""
    from nmt_cli.evaluation.analysis.explain import explain_metrics
    from nmt_cli.visuals.labels import replace_controls

    return [
        replace_controls(line) for line in explain_metrics(resolve_names(list(metrics) or EXPLAINED), *pair, scores)
    ]
