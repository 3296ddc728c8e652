"""Scores several models and files of translations on the same sentences, for `nmt evaluate`."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.api.evaluation_request import read_rival
from nmt_cli.api.scoring import Evaluation
from nmt_cli.api.scoring_doubts import list_doubts
from nmt_cli.errors import OptionError
from nmt_cli.evaluation import report, texts
from nmt_cli.evaluation.analysis.warnings import find_learned, find_seen, warn_of_leak
from nmt_cli.evaluation.comparison import SystemComparison, compare_systems
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.runtime.installed_models import CARD

if TYPE_CHECKING:
    from nmt_cli.corpus.dataset import PreparedCorpus


class System(NamedTuple):
    """A model, or translations that are there already."""

    path: Path
    hypotheses: Sequence[str] | None  # None: the model translates
    rerank: Path | None = None  # the model of the other direction that ranks its hypotheses


def score_systems(evaluation: Evaluation) -> SystemComparison:
    """Scores every system and compares them, with all warnings."""
    request = evaluation.request
    require_distinct(request.names)
    corpus = request.load_corpus()
    text = load_sources(evaluation, corpus)
    note = evaluation.choose_tokenizer(corpus, None, text.references)
    models = () if request.hypotheses else request.models
    outputs = [None if path in models else read_rival(path, text) for path in request.systems]  # before translating
    rerankers = [request.rerank] + [None] * len(outputs)
    systems = list(map(System, request.systems, outputs, rerankers))
    reports = [score_system(evaluation, text, corpus, system) for system in systems]
    evaluation.progress("comparing", 0, 0)
    comparison = compare_systems(request.names, reports, evaluation.config)
    if request.with_runs:
        comparison = dataclasses.replace(comparison, runs=tuple(score_runs(evaluation, text, corpus, systems)))
    pairs = corpus.read_pairs("train") if corpus is not None and text.lines else []
    seen = find_seen(text.lines, {pair.source for pair in pairs})
    for system in systems:
        if system.hypotheses is None:
            seen = list(map(or_, seen, find_learned(text.lines, system.path)))
    leak = warn_of_leak(seen, f"{request.data}/")
    warnings = (*filter(None, [note]), *leak, *comparison.warnings, *merge_warnings(request.names, reports))
    return dataclasses.replace(comparison, warnings=warnings)


def score_runs(
    evaluation: Evaluation, text: texts.ParallelText, corpus: PreparedCorpus | None, systems: Sequence[System]
) -> Iterator[tuple[report.Report, ...]]:
    """Yields the reports of each system's runs. Raises OptionError for a system without any."""
    for system in systems:
        runs = [] if system.hypotheses is not None else list_runs(system.path)
        if not runs:
            raise OptionError(f"{system.path} has no runs to score", hint="make some: nmt train --runs 3")
        translators = (evaluation.load_translator(run, corpus, system.rerank) for run in runs)
        yield tuple(
            evaluation.translate(text, translator, run, f"translating with {run}")
            for run, translator in zip(runs, translators, strict=True)
        )


def list_runs(model: Path) -> list[Path]:
    """Returns the directories of a model's runs that hold a model, in order."""
    runs = [card.parent for card in model.glob(f"run-*/{CARD}") if card.parent.name[4:].isdecimal()]
    return sorted(runs, key=lambda run: int(run.name[4:]))


def require_distinct(names: Sequence[str]) -> None:
    """Raises OptionError for a name that occurs twice."""
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise OptionError(f"{name} is given twice", hint="give each system once")


def load_sources(evaluation: Evaluation, corpus: PreparedCorpus | None) -> texts.ParallelText:
    """Returns the sources, none where they are unknown, and the references on which all systems are scored."""
    text = evaluation.request.load_text(corpus)
    sources = text.lines if evaluation.request.hypothesis is None else evaluation.request.read_material(text).sources
    return dataclasses.replace(text, lines=tuple(sources or ()))


def score_system(
    evaluation: Evaluation, text: texts.ParallelText, corpus: PreparedCorpus | None, system: System
) -> report.Report:
    """Returns the report of one system, with doubts about its scores."""
    if system.hypotheses is not None:
        evaluation.progress(f"scoring {system.path}", 0, 0)
        material = Material(system.hypotheses, text.references, text.lines or None)
        made = report.score_material(evaluation.names, material, evaluation.config)
    else:
        translator = evaluation.load_translator(system.path, corpus, system.rerank)
        made = evaluation.translate(text, translator, system.path, f"translating with {system.path}")
        card = translator.card
        other_languages = texts.list_language_warnings(text.languages, card.languages)
        made = made.add_warnings(*list_doubts(evaluation.request, system.path, card, corpus), *other_languages)
    if evaluation.request.is_profiled:
        pairs = corpus.read_pairs("train") if corpus is not None else []
        made = evaluation.add_profile(made, pairs, corpus, None)
    return made


def merge_warnings(names: Sequence[str], reports: Sequence[report.Report]) -> list[str]:
    """Returns the warnings of all systems: once if they are common to all, else with the name of the system."""
    counts = Counter(warning for made in reports for warning in dict.fromkeys(made.warnings))
    shared = [warning for warning, count in counts.items() if count == len(reports)]
    specific = [
        warning if warning.startswith(f"{name}/ ") else f"{name}: {warning}"
        for name, made in zip(names, reports, strict=True)
        for warning in made.warnings
        if warning not in shared
    ]
    return [*shared, *specific]
