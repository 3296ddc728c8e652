"""Scores several models and files of translations on the same sentences, for `nmt evaluate`."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.api.evaluation_request import read_rival
from nmt_cli.api.progress import count_stage
from nmt_cli.api.scoring import Evaluation
from nmt_cli.api.scoring_doubts import list_doubts
from nmt_cli.errors import OptionError
from nmt_cli.evaluation import report, texts
from nmt_cli.evaluation.analysis.warnings import find_seen, warn_of_leak
from nmt_cli.evaluation.comparison import SystemComparison, compare_systems
from nmt_cli.evaluation.metrics.material import Material

if TYPE_CHECKING:
    from nmt_cli.corpus.dataset import PreparedCorpus


def score_systems(evaluation: Evaluation, paths: Sequence[Path], models: Collection[Path]) -> SystemComparison:
    """Scores every system and compares them, with all warnings.

    The paths are directories of models, or files of translations; those in `models` are known to be models.
    """
    names = name_systems(paths)
    corpus = evaluation.request.load_corpus()
    text = load_sources(evaluation, corpus)
    note = evaluation.choose_tokenizer(corpus, None, text.references)
    outputs = [None if path in models else read_rival(path, text) for path in paths]  # before anything is translated
    reports = [score_system(evaluation, text, corpus, path, made) for path, made in zip(paths, outputs, strict=True)]
    evaluation.progress("comparing", 0, 0)
    comparison = compare_systems(names, reports, evaluation.config)
    pairs = corpus.read_pairs("train") if corpus is not None and text.lines else []
    seen = find_seen(text.lines, {pair.source for pair in pairs})
    leak = warn_of_leak(seen, f"{evaluation.request.data}/")
    warnings = (*filter(None, [note]), *leak, *comparison.warnings, *merge_warnings(names, reports))
    return dataclasses.replace(comparison, warnings=warnings)


def name_systems(paths: Sequence[Path]) -> list[str]:
    """Returns the paths as typed. Raises OptionError for a repeated one."""
    name, times = Counter(map(str, paths)).most_common(1)[0]
    if times > 1:
        raise OptionError(f"{name} is given twice", hint="give each system once")
    return list(map(str, paths))


def load_sources(evaluation: Evaluation, corpus: PreparedCorpus | None) -> texts.ParallelText:
    """Returns the sources, none where they are unknown, and the references on which all systems are scored."""
    text = evaluation.request.load_text(corpus)
    sources = text.lines if evaluation.request.hypothesis is None else evaluation.request.read_material(text).sources
    return texts.ParallelText(tuple(sources or ()), text.references)


def score_system(
    evaluation: Evaluation,
    text: texts.ParallelText,
    corpus: PreparedCorpus | None,
    path: Path,
    hypotheses: Sequence[str] | None,
) -> report.Report:
    """Returns the report of one system, with doubts about its scores; a model (no `hypotheses`) translates first."""
    if hypotheses is not None:
        evaluation.progress(f"scoring {path}", 0, 0)
        material = Material(hypotheses, text.references, text.lines or None)
        made = report.score_material(evaluation.names, material, evaluation.config)
    else:
        translator = evaluation.load_translator(path, corpus)
        progress = count_stage(evaluation.progress, f"translating with {path}", len(text.lines))
        made = report.score_translations(
            evaluation.names, text, translator, evaluation.request.search, progress, evaluation.config
        )
        made = made.add_warnings(*list_doubts(evaluation.request, path, translator.card, corpus))
    made = dataclasses.replace(made, system=str(path))
    if evaluation.request.is_profiled:
        pairs = corpus.read_pairs("train") if corpus is not None else []
        made = evaluation.add_profile(made, [pair.source for pair in pairs], corpus, None)
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
