"""`nmt evaluate` and `nmt.evaluate`: one call, from the request to the scores of one or several systems."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack, overload

from nmt_cli.api.compare_systems import score_systems
from nmt_cli.api.evaluation_request import EvaluationRequest
from nmt_cli.api.kept_scores import keep_scores
from nmt_cli.api.log import log_warnings
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
from nmt_cli.evaluation.metrics.registry import ALL, resolve_available_names, resolve_names
from nmt_cli.runtime.installed_models import find_model, find_model_or_file
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.config import ContextConfig, TagConfig

if TYPE_CHECKING:
    from nmt_cli.api.options.keywords import EvaluateArguments, EvaluateKeywords
    from nmt_cli.evaluation.report import Report

EXPLAINED = ("bleu4", "rougeL")  # unless other metrics are named


@overload
@explain_os_errors
def evaluate(*, against: None = None, **options: Unpack[EvaluateArguments]) -> Report: ...
@overload
@explain_os_errors
def evaluate(*, against: PathLike | Iterable[PathLike], **options: Unpack[EvaluateArguments]) -> SystemComparison: ...
@explain_os_errors
def evaluate(
    *,
    metric: str | Iterable[str] = ALL,
    source: PathLike | None = None,
    reference: PathLike | Iterable[PathLike] | None = None,
    hypothesis: PathLike | None = None,
    against: PathLike | Iterable[PathLike] | None = None,
    split: Literal["dev", "test"] | None = None,
    data: PathLike | None = None,
    model: PathLike = "model",
    precision: Literal["float", "int8"] | None = None,
    rerank: PathLike | None = None,
    profile: bool = False,
    all_runs: bool = False,
    progress: StageReporter | None = None,
    **options: Unpack[EvaluateKeywords],
) -> Report | SystemComparison:
    """Scores the model on a split of the prepared corpus `data`, or on files with one sentence per line.

    The report maps metrics to `scores` and 95 % `intervals`; with models or translations `against`, a comparison has
    the `reports` of all. `options` are those of `nmt evaluate`. Raises NotFoundError, DataError or OptionError.
    """
    others = {"source": source, "reference": reference, "hypothesis": hypothesis, "rerank": rerank, "split": split}
    kinds = ScoreConfig, SearchConfig, TagConfig, ContextConfig
    scores, search, tags, before = build_settings("evaluate", options, *kinds, others=others)
    request = EvaluationRequest(
        metrics=tuple(list_texts(metric)),
        scores=scores,
        search=search,
        tags=tags,
        before=before,
        data=Path("prepared" if data is None else data),
        is_data_named=data is not None,
        models=(find_model(Path(model)),),
        hypotheses=tuple(list_paths(hypothesis)),
        against=tuple(map(find_model_or_file, list_paths(against))),
        source=find_path(source),
        references=tuple(list_paths(reference)),
        split=split or "test",
        precision=precision,
        rerank=None if rerank is None else find_model(Path(rerank)),
        is_profiled=profile,
        with_runs=all_runs,
    )
    done = select_report(run_evaluation(request, progress or ignore_progress))
    log_warnings(done.warnings)
    return done


def select_report(result: EvaluationOutcome | SystemComparison) -> Report | SystemComparison:
    return result.report if isinstance(result, EvaluationOutcome) else result


def run_evaluation(request: EvaluationRequest, progress: StageReporter) -> EvaluationOutcome | SystemComparison:
    """Runs the requested evaluation, and keeps the scores of a model in the corpus."""
    names = resolve_available_names(list(request.metrics) or [ALL], request.scores, request.available)
    evaluation = Evaluation(names, request, request.scores, progress)
    if len(request.systems) > 1 or request.with_runs:
        comparison = score_systems(evaluation)
        keep_scores(comparison.reports[0], request)
        return comparison
    outcome = evaluation.run()
    keep_scores(outcome.report, request)
    return outcome


def explain_scores(metrics: Iterable[str], pair: tuple[str, str], scores: ScoreConfig) -> list[str]:
    """Returns lines that derive the scores of a candidate and a reference step by step."""
    from nmt_cli.evaluation.analysis.explain import explain_metrics
    from nmt_cli.visuals.labels import replace_controls

    return [
        replace_controls(line) for line in explain_metrics(resolve_names(list(metrics) or EXPLAINED), *pair, scores)
    ]
