"""Runs `nmt evaluate` and `nmt.evaluate`: turns a request into the scores of one or several systems."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Unpack, overload

from nmt_cli.api.log import log_warnings
from nmt_cli.api.options.command_lines import CommandLine, list_places
from nmt_cli.api.options.interface import check_call
from nmt_cli.api.options.options import PathLike, build_settings, find_path, list_paths, list_texts
from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.api.scoring import Evaluation, EvaluationOutcome, EvaluationRequest, find_known, read_rival
from nmt_cli.errors import OptionError
from nmt_cli.evaluation import report, texts
from nmt_cli.evaluation.analysis.warnings import warn_of_leak
from nmt_cli.evaluation.comparison import SystemComparison, compare_systems
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.registry import ALL, resolve_available_names, resolve_names
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.files import hash_file, write_json
from nmt_cli.records import Count, build, parse_json
from nmt_cli.runtime.installed_models import CARD, find_model, find_model_or_file, name_model
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.config import ContextOptions, TagOptions

if TYPE_CHECKING:
    from nmt_cli.api.options.keywords import EvaluateKeywords, EvaluationKeywords
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.evaluation.report import Report


# Scores several models and files of translations on the same sentences, for `nmt evaluate`.


class System(NamedTuple):
    """A model, or existing translations."""

    path: Path
    hypotheses: Sequence[str] | None  # None: the model translates
    rerank: Path | None = None  # the model of the other direction that ranks its hypotheses


def score_systems(evaluation: Evaluation) -> SystemComparison:
    """Scores every system and compares them, with all warnings."""
    request = evaluation.request
    require_distinct(request)
    corpus = request.load_corpus()
    text = load_sources(evaluation, corpus)
    note = evaluation.choose_tokenizer(corpus, None, text.references)
    models = () if request.hypotheses else request.models
    outputs = [None if path in models else read_rival(path, text) for path in request.systems]  # before translating
    rerankers = [request.rerank] + [None] * len(outputs)
    systems = list(map(System, request.systems, outputs, rerankers))
    outcomes = [score_system(evaluation, text, corpus, system) for system in systems]
    reports = [outcome.report for outcome in outcomes]
    evaluation.progress("comparing", 0, 0)
    comparison = compare_systems(request.names, reports, evaluation.config)
    if request.with_runs:
        comparison = dataclasses.replace(comparison, runs=tuple(score_runs(evaluation, text, corpus, systems)))
    seen = find_known(text.lines, corpus, [system.path for system in systems if system.hypotheses is None])
    leak = warn_of_leak(seen, f"{request.data}/")
    warnings = (*filter(None, [note]), *leak, *comparison.warnings, *merge_warnings(request.names, reports))
    unseen = not any(seen) and all(outcome.unseen for outcome in outcomes)
    return dataclasses.replace(comparison, warnings=warnings, unseen=unseen)


def score_runs(
    evaluation: Evaluation, text: texts.ParallelText, corpus: PreparedCorpus | None, systems: Sequence[System]
) -> Iterator[tuple[report.Report, ...]]:
    """Yields the reports of each system's runs. Raises OptionError for a system without any."""
    for system in systems:
        runs = [] if system.hypotheses is not None else list_runs(system.path)
        if not runs:
            raise OptionError(f"{system.path} has no runs to score", hint="train several runs: nmt train --runs 3")
        translators = (evaluation.load_translator(run, corpus, system.rerank) for run in runs)
        yield tuple(
            evaluation.translate(text, translator, run, f"translating with {run}")
            for run, translator in zip(runs, translators, strict=True)
        )


def list_runs(model: Path) -> list[Path]:
    """Returns the directories of a model's runs that hold a model, in order."""
    runs = [card.parent for card in model.glob(f"run-*/{CARD}") if card.parent.name[4:].isdecimal()]
    return sorted(runs, key=lambda run: int(run.name[4:]))


def require_distinct(request: EvaluationRequest) -> None:
    """Raises OptionError for a system given twice; its hint shows how to compare two settings of one model."""
    name, times = Counter(request.names).most_common(1)[0]
    if times < 2:
        return
    hint = "give each system once"
    if name in map(name_model, request.models):
        files = (("--source", request.source), *(("--reference", path) for path in request.references))
        typed = [(option, str(path)) for option, path in files if path is not None]
        command = CommandLine("evaluate", options=(*list_places(request.data, Path(name)), *typed))
        first = command.extend(("--beam-size", "1"), ("--sentences", "greedy.tsv"))
        then = command.extend(("--against", "greedy.tsv:hypothesis"))
        hint += f"; to compare two settings of a model, such as greedy and beam search, run `{first}`, then `{then}`"
    raise OptionError(f"{name} is given twice", hint=hint)


def load_sources(evaluation: Evaluation, corpus: PreparedCorpus | None) -> texts.ParallelText:
    """Returns the references on which all systems are scored, with their sources if these are known."""
    text = evaluation.request.load_text(corpus)
    sources = text.lines if evaluation.request.hypothesis is None else evaluation.request.read_material(text).sources
    return dataclasses.replace(text, lines=tuple(sources or ()))


def score_system(
    evaluation: Evaluation, text: texts.ParallelText, corpus: PreparedCorpus | None, system: System
) -> EvaluationOutcome:
    """Returns the report of one system, with doubts about its scores."""
    is_vouched = False
    if system.hypotheses is not None:
        evaluation.progress(f"scoring {system.path}", 0, 0)
        material = Material(system.hypotheses, text.references, text.lines or None)
        made = report.score_material(evaluation.names, material, evaluation.config)
    else:
        translator = evaluation.load_translator(system.path, corpus, system.rerank)
        made = evaluation.translate(text, translator, system.path, f"translating with {system.path}")
        card = translator.card
        other_languages = texts.list_language_warnings(text.languages, card.languages)
        made, is_vouched = evaluation.add_doubts(made, system.path, card, corpus)
        made = made.add_warnings(*other_languages)
    if evaluation.request.is_profiled:
        made = evaluation.add_profile(made, corpus, None)
    return EvaluationOutcome(made, evaluation.request.sentence_noun, is_vouched)


def merge_warnings(names: Sequence[str], reports: Sequence[report.Report]) -> list[str]:
    """Returns the warnings of all systems: shared ones once, the others with the name of their system."""
    counts = Counter(warning for made in reports for warning in dict.fromkeys(made.warnings))
    shared = [warning for warning, count in counts.items() if count == len(reports)]
    specific = [
        warning if warning.startswith(f"{name}/ ") else f"{name}: {warning}"
        for name, made in zip(names, reports, strict=True)
        for warning in made.warnings
        if warning not in shared
    ]
    return [*shared, *specific]


# The scores of the last evaluation on a test set, kept in its prepared corpus so that bare `nmt` can show them.
#
# Not in the model, which may be a package, or that of somebody else: an evaluation only reads it.


SCORES = ".scores.json"  # hidden, as no part of the corpus
SHOWN = 3  # scores that are kept


class KeptScores(NamedTuple):
    """The measured scores and the model that they belong to; `scores` are written as printed."""

    card: str  # SHA-256 of the model's card: of another one the scores say nothing
    sentences: Count
    decoding: str
    scores: tuple[str, ...]


def keep_scores(report: Report, request: EvaluationRequest) -> None:
    """Keeps the scores of a model on a corpus's test set in that corpus; does nothing if it cannot write there.

    A corpus named only by a variable or a configuration file stays unchanged, too.
    """
    from nmt_cli.runtime.model_directory import CARD

    is_test = request.hypothesis is None and request.source is None and request.split == "test"
    if not is_test or request.rerank or report.search is None or "data" in request.settings_from:
        return
    shown = list(report.scores.items())[:SHOWN]
    scores = tuple(f"{score.name} {score.value:.2f} {report.format_spread(name)}".rstrip() for name, score in shown)
    with suppress(OSError):
        entry = KeptScores(hash_file(request.model / CARD), report.sentences, report.search.summary, scores)
        write_json(request.data / SCORES, entry._asdict())


def read_scores(data: Path, model: Path) -> KeptScores | None:
    """Returns the scores of the last evaluation on a test set; None if there are none for this model."""
    from nmt_cli.runtime.model_directory import CARD

    try:
        entry: KeptScores = build(KeptScores, parse_json((data / SCORES).read_text(encoding="utf-8")))
        return entry if entry.card == hash_file(model / CARD) else None
    except (OSError, ValueError):
        return None


EXPLAINED = ("bleu4", "rougeL")  # unless other metrics are named


@overload
def evaluate(
    *,
    against: None = None,
    hypothesis: PathLike | None = None,
    model: PathLike = "model",
    **options: Unpack[EvaluationKeywords],
) -> Report: ...
@overload
def evaluate(
    *,
    against: PathLike | Iterable[PathLike],
    hypothesis: PathLike | Iterable[PathLike] | None = None,
    model: PathLike | Iterable[PathLike] = "model",
    **options: Unpack[EvaluationKeywords],
) -> SystemComparison: ...
@overload
def evaluate(
    *,
    against: PathLike | Iterable[PathLike] | None = None,
    hypothesis: PathLike | Iterable[PathLike] | None = None,
    model: PathLike | Iterable[PathLike] = "model",
    **options: Unpack[EvaluationKeywords],
) -> Report | SystemComparison: ...
@check_call(ScoreOptions, SearchOptions, TagOptions, ContextOptions)
def evaluate(
    *,
    metric: str | Iterable[str] = ALL,
    source: PathLike | None = None,
    reference: PathLike | Iterable[PathLike] | None = None,
    hypothesis: PathLike | Iterable[PathLike] | None = None,
    against: PathLike | Iterable[PathLike] | None = None,
    split: Literal["dev", "test"] | None = None,
    data: PathLike | None = None,
    model: PathLike | Iterable[PathLike] = "model",
    precision: Literal["float", "int8"] | None = None,
    rerank: PathLike | None = None,
    profile: bool = False,
    all_runs: bool = False,
    progress: StageReporter | None = None,
    **options: Unpack[EvaluateKeywords],
) -> Report | SystemComparison:
    """Scores the model on a split of the prepared corpus `data`, or on files with one sentence per line.

        nmt.evaluate(metric=["bleu", "chrf"]).scores["chrf"].value

    The report maps metrics to `scores` and to 95 % confidence `intervals`. With several models, several files of
    translations (`hypothesis`), or systems `against`, the result is a comparison with the `reports` of all.
    `nmt evaluate --help-all` explains the `options`. Raises NotFoundError, DataError or OptionError.
    """
    others = {"source": source, "reference": reference, "hypothesis": hypothesis, "rerank": rerank, "split": split}
    others["metric"] = list_texts(metric)
    kinds = ScoreOptions, SearchOptions, TagOptions, ContextOptions
    scores, search, tags, before = build_settings("evaluate", options, *kinds, others=others)
    request = EvaluationRequest(
        metrics=tuple(list_texts(metric)),
        scores=scores,
        search=search,
        tags=tags,
        before=before,
        data=Path("prepared" if data is None else data),
        is_data_named=data is not None,
        models=tuple(map(find_model, list_paths(model) or [Path("model")])),
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
    result = run_evaluation(request, progress or ignore_progress)
    done = result.report if isinstance(result, EvaluationOutcome) else result
    log_warnings(done.warnings)
    return done


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


def explain_scores(metrics: Iterable[str], pair: tuple[str, str], scores: ScoreOptions) -> list[str]:
    """Returns lines that show, step by step, how a candidate is scored against a reference."""
    from nmt_cli.evaluation.analysis.explain import explain_metrics
    from nmt_cli.visuals.labels import replace_controls

    return [
        replace_controls(line) for line in explain_metrics(resolve_names(list(metrics) or EXPLAINED), *pair, scores)
    ]
