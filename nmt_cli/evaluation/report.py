"""Evaluates a model, from sentences to scores with intervals and warnings. Prints nothing.

1. `translate_text` translates the sources and, if a metric needs it, scores the references with the model.
2. `score_material` computes the metrics and their confidence intervals.
3. `format_report`, `make_report_json` and `tabulate_sentences` render the report.

The model comes as a translator; must not know the paths of models or sentences.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nmt_cli.evaluation.analysis.warnings import list_warnings, warn_of_brevity
from nmt_cli.evaluation.config import DEFAULT, ScoreOptions
from nmt_cli.evaluation.metrics.registry import FORCED, RESOURCE_METRICS, find_metric, measure_all
from nmt_cli.evaluation.metrics.sacrebleu_metrics import choose_for_text, compute_chrf
from nmt_cli.evaluation.metrics.score import Material, Score
from nmt_cli.evaluation.texts import ParallelText
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.tags import Tag, TagPurpose
from nmt_cli.text.wrapping import format_count, join_first, render_rows
from nmt_cli.translation.config import CheckOptions, TranslateOptions
from nmt_cli.translation.lines import cut_texts, lay_out_lines
from nmt_cli.translation.result import SourceCuts, describe_limits

if TYPE_CHECKING:
    from nmt_cli.evaluation.analysis.profile import Profile
    from nmt_cli.evaluation.analysis.reliability import Reliability
    from nmt_cli.evaluation.analysis.significance import Interval
    from nmt_cli.search.forced import ForcedTarget
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.translator import LineTranslator

FEWEST_MEASURED = 30  # texts of one sentence that tell how good the confidence is
TranslationReporter = Callable[[int], None]

MOST_PLACES = 5  # numbers of lines in a message


@dataclass(frozen=True)
class Report:
    """The scores of a set of sentences, and how they were computed."""

    scores: Mapping[str, Score]  # by the metric's name in METRICS or RESOURCE_METRICS
    sentences: int
    references_per_sentence: int
    search: SearchOptions | None  # None if the hypotheses were given
    warnings: tuple[str, ...]  # why the scores may mislead
    material: Material
    intervals: Mapping[str, Interval] = field(default_factory=dict)  # 95 %, by the metric's name
    profile: Profile | None = None
    reliability: Reliability | None = None  # of the confidence in each translation; None for a model that has none
    by_tag: TagScores | None = None  # None if no line has a tag

    def __repr__(self) -> str:
        scores = (f"{score.name} {score.value:.2f}" for score in self.scores.values())
        return f"Report({', '.join([*scores, format_count(self.sentences, 'sentence')])})"

    def _repr_html_(self) -> str:
        rows = [(s.name, f"{s.value:.2f}", self.format_spread(name), s.signature) for name, s in self.scores.items()]
        return render_rows([*rows, *(("", warning) for warning in self.warnings)])

    def format_spread(self, name: str) -> str:
        """Returns half the width of the interval of a score; empty without one."""
        interval = self.intervals.get(name)
        return f"± {interval.half_width:.2f}" if interval else ""

    def add_warnings(self, *lines: str) -> Report:
        """Returns the report with these warnings before its own."""
        return dataclasses.replace(self, warnings=(*lines, *self.warnings))


@dataclass(frozen=True)
class TranslatedText:
    """A model's translations of some lines."""

    material: Material
    search: SearchOptions
    truncated: int  # number of translations that reached the length limit
    truncated_sources: str  # a message about the lines whose end was not read; empty if there are none
    failures: str = ""  # likewise about the lines on which nmt itself failed
    confidences: tuple[float, ...] = ()  # of each translation; none for a model that cannot tell
    plain_confidences: tuple[float, ...] = ()  # the mean log-probabilities of their tokens
    measured: tuple[int, ...] = ()  # the translations whose confidence is compared with their scores

    @property
    def warnings(self) -> list[str]:
        """The reasons why the scores of these translations may mislead."""
        number = format_count(self.truncated, "translation was", "translations were")
        limit = f"{number} truncated at {describe_limits(self.search.max_length)}"
        return [*filter(None, (self.failures, self.truncated_sources, limit if self.truncated else ""))]


def translate_text(
    names: Sequence[str],
    text: ParallelText,
    translator: LineTranslator,
    search: SearchOptions,
    progress: TranslationReporter | None = None,
) -> TranslatedText:
    """Translates the lines of `text`, each by itself, or in context if `text` has an order and the model knows context.

    Also scores the first references with the model, if one of the metrics `names` needs it. `progress` receives the
    number of translated lines.
    """
    one_best = dataclasses.replace(search, n_best=1)
    is_rated = translator.confidence is not None and not search.sampling.sample
    checks = CheckOptions() if is_rated else None
    reads_context = text.text_sizes and translator.card.context and not search.sampling.sample
    windows = cut_texts(text.text_sizes, text.lines, text.tags or None) if reads_context else ()
    lines = lay_out_lines(text.lines, text.tags, windows)
    translations = translator.translate(lines, TranslateOptions(one_best, checks=checks), progress)
    forced = None
    if FORCED & set(names):
        forced = force_references(text, translator, search.max_source_length)
    hypotheses = [translation.text for translation in translations]
    subwords = translator.target.fingerprint if forced else ""
    material = Material(hypotheses, text.references, text.lines, forced, subwords, text.tags)
    return TranslatedText(
        material,
        one_best,
        sum(translation.cut for translation in translations),
        SourceCuts.count_cuts(translations).summary,
        describe_failures(translations, forced or ()),
        *((*list_confidences(translations), list_measured(translations)) if is_rated else ()),
    )


def force_references(text: ParallelText, translator: LineTranslator, limit: int | None) -> list[ForcedTarget]:
    """Scores the first references with the model; a reference on which nmt itself fails gets no tokens."""
    import numpy as np  # which `nmt --help` does not need

    from nmt_cli.search.forced import ForcedTarget
    from nmt_cli.translation.forced import force_lines
    from nmt_cli.translation.stages import isolate

    done: dict[int, ForcedTarget] = {}
    for trial in isolate([[row] for row in range(len(text.lines))]):
        with trial:
            lines, first = [text.lines[row] for row in trial.rows], [text.references[row][0] for row in trial.rows]
            tags = [text.tags[row] for row in trial.rows] if text.tags else ()
            done |= zip(trial.rows, force_lines(translator, lines, first, limit=limit, tags=tags), strict=True)
        if trial.failure is not None:
            done[trial.rows[0]] = ForcedTarget((), (), (), np.zeros((0, 0)))
    return [done[row] for row in range(len(text.lines))]


def describe_failures(translations: Sequence[Translation], forced: Sequence[ForcedTarget] = ()) -> str:
    """Returns a message about the lines on which nmt itself failed; empty if there are none."""
    failures = {number: text.failure for number, text in enumerate(translations, start=1) if text.failure}
    numbers = sorted({*failures, *(number for number, target in enumerate(forced, start=1) if not target.tokens)})
    if not numbers:
        return ""
    places = join_first((f"{number:,}" for number in numbers), MOST_PLACES)
    reason = next(iter(failures.values()), "nmt failed on a reference")
    return f"{reason}: {format_count(len(numbers), 'line')} scored as a copy or not at all ({places})"


def list_confidences(translations: Sequence[Translation]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns the confidence in each translation, and the mean log-probability of its tokens."""
    probabilities = [text.hypotheses[0].token_log_probabilities if text.hypotheses else (0.0,) for text in translations]
    plain = tuple(sum(values) / max(1, len(values)) for values in probabilities)
    return tuple(1.0 if text.confidence is None else text.confidence for text in translations), plain


def list_measured(translations: Sequence[Translation]) -> tuple[int, ...]:
    """Returns the rows whose confidence a score can judge: those of one sentence, or all if these are few.

    The confidence of several sentences is that of the worst, about which the score of the whole text says little.
    """
    single = tuple(row for row, translation in enumerate(translations) if translation.least_sure is None)
    return single if len(single) >= FEWEST_MEASURED else tuple(range(len(translations)))


def score_translations(
    names: Sequence[str],
    text: ParallelText,
    translator: LineTranslator,
    search: SearchOptions,
    progress: TranslationReporter | None = None,
    config: ScoreOptions = DEFAULT,
) -> Report:
    """Translates the lines of `text` and scores the best hypothesis of each.

    `names` are keys of METRICS or RESOURCE_METRICS; `progress` receives the number of translated lines.
    """
    translated = translate_text(names, text, translator, search, progress)
    report = score_material(names, translated.material, config)
    report = dataclasses.replace(report, search=translated.search).add_warnings(*translated.warnings)
    report = dataclasses.replace(report, by_tag=score_by_tag(names, translated.material, config))
    return add_reliability(report, translated, config) if translated.confidences else report


def add_reliability(report: Report, translated: TranslatedText, config: ScoreOptions) -> Report:
    """Returns the report with the reliability of the confidence in its translations."""
    from nmt_cli.evaluation.analysis.reliability import measure_reliability  # numpy, which `nmt --help` does not need
    from nmt_cli.translation.checks.confidence import GOOD_CHRF

    material = translated.material
    chrf = report.scores.get("chrf") or compute_chrf(material.hypotheses, material.references, config)
    columns = (translated.confidences, translated.plain_confidences, chrf.sentence_values)
    sure, plain, values = ([column[row] for row in translated.measured] for column in columns)
    return dataclasses.replace(report, reliability=measure_reliability(sure, plain, values, GOOD_CHRF))


def score_material(names: Sequence[str], material: Material, config: ScoreOptions = DEFAULT) -> Report:
    """Scores the hypotheses of `material`, with intervals; `names` are keys of METRICS or RESOURCE_METRICS."""
    from nmt_cli.evaluation.analysis.significance import bootstrap_interval  # numpy, which `nmt --help` does not need

    scores = measure_all(names, material, config)
    doubts = list_warnings(names, material.hypotheses, material.references, config, material.sources or ())
    measured = {name: score.statistics for name, score in scores.items() if score.statistics}
    intervals = {name: bootstrap_interval(statistics, config.resamples) for name, statistics in measured.items()}
    return Report(
        scores=scores,
        sentences=len(material.hypotheses),
        references_per_sentence=len(material.references[0]),
        search=None,
        warnings=(*doubts, *warn_of_brevity(scores)),
        material=material,
        intervals={name: interval for name, interval in intervals.items() if interval is not None},
    )


def make_report_json(report: Report, scored: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the report as a JSON object; `scored` describes the sentences and the model that translated them."""
    return {
        "scored": dict(scored),
        "sentences": report.sentences,
        "references_per_sentence": report.references_per_sentence,
        "beam_size": report.search.beam_size if report.search else None,
        "length_penalty": report.search.length_penalty if report.search else None,
        "decoding": report.search.summary if report.search else None,
        "scores": {name: make_score_json(report, name) for name in report.scores},
        **({"confidence": report.reliability.to_mapping()} if report.reliability else {}),
        **({"profile": dataclasses.asdict(report.profile)} if report.profile else {}),
        **({"tags": report.by_tag.to_mapping()} if report.by_tag else {}),
        "warnings": list(report.warnings),
    }


def make_score_json(report: Report, name: str) -> dict[str, Any]:
    score, interval = report.scores[name], report.intervals.get(name)
    return {
        "name": score.name,
        "value": score.value,
        **score.parts,
        **score.details,
        "lower_is_better": score.lower_is_better,
        "interval95": [interval.low, interval.high] if interval else None,
        "signature": score.signature,
    }


def format_report(report: Report, columns: int | None = None) -> list[str]:
    """Returns an aligned line per score: name, value ± half the width of the 95 % confidence interval, signature.

    Unless all lines fit into this many columns, each signature has a line of its own. BLEU is followed by its
    precisions, for the greatest order only.
    """
    width = max((len(score.name) for score in report.scores.values()), default=0)
    indent = " " * (width + 2)
    rows: list[tuple[str, ...]] = []
    details = list_details(report.scores)
    for name, score in report.scores.items():
        spread = f" {report.format_spread(name)}".rstrip()
        parts = "".join(f"  {part[0].upper()} {value:.2f}" for part, value in score.parts.items())
        lower = "  lower is better" if score.lower_is_better else ""
        rows.append((f"{score.name:<{width}}  {score.value:6.2f}{spread}{parts}{lower}", score.signature))
        if name in details:
            rows.append((indent + details[name],))
    is_wide = columns is not None and any(len("  ".join(row)) > columns for row in rows)
    lines = [line for row in rows for line in (f"\n{indent}" if is_wide else "  ").join(row).split("\n")]
    if report.reliability is not None:
        lines += report.reliability.format_lines()
    return lines if report.by_tag is None else [*lines, *report.by_tag.format_lines()]


def list_details(scores: Mapping[str, Score]) -> dict[str, str]:
    """Returns the details of the scores that have any; BLEU-2's are omitted beside BLEU-4's."""
    details: dict[str, str] = {}
    for name, score in scores.items():
        precisions = score.detail_text.split(" ")[0]
        if score.detail_text and not any(other.startswith(precisions) for other in details.values()):
            details[name] = score.detail_text
    return details


def tabulate_sentences(reports: Mapping[str, Report], metrics: Sequence[str]) -> list[list[str]]:
    """Returns a header and a row per sentence, for a .tsv file: its texts, and each system's hypothesis and scores.

    The names of a system's columns end with its own name; a single system may have an empty name.
    """
    first = next(iter(reports.values())).material
    count = len(first.references[0])
    header = ["number", *(["source"] if first.sources else [])]
    header += [f"reference{index + 1}" if count > 1 else "reference" for index in range(count)]
    header += [f"{kind}:{name}".rstrip(":") for name in reports for kind in ("hypothesis", *metrics)]
    rows = [header]
    for row, references in enumerate(first.references):
        texts = [*([first.sources[row]] if first.sources else []), *references]
        for report in reports.values():
            texts.append(report.material.hypotheses[row])
            texts += [f"{report.scores[metric].sentence_values[row]:.4f}" for metric in metrics]
        rows.append([str(row + 1), *(" ".join(text.split()) for text in texts)])
    return rows


# Scores of the sentences of each tag, and their mean. Must not know how the sentences were translated.

SHOWN = ("bleu", "chrf", "ter")  # of the metrics that are asked for; else the first of them


@dataclass(frozen=True)
class TagRow:
    """The scores of the sentences with a tag; if it has no number of sentences, the mean over several tags."""

    name: str
    scores: Mapping[str, float]  # by the name of the metric as it is printed
    sentences: int | None = None


@dataclass(frozen=True)
class TagScores:
    """The rows of all tags by kind; a kind with several tags also has a row for their mean."""

    rows: tuple[TagRow, ...]

    def to_mapping(self) -> dict[str, Any]:
        """Returns the rows by name, in the form of `--json`."""
        return {row.name: asdict(row) for row in self.rows}

    def make_table(self) -> list[list[str]]:
        """Returns a table's column headings, and its rows: name, scores and number of sentences."""
        rows = []
        for row in self.rows:
            values = [f"{value:.2f}" for value in row.scores.values()]
            rows.append([row.name, *values, "" if row.sentences is None else f"{row.sentences:,}"])
        return [["", *self.rows[0].scores, "sentences"], *rows]

    def format_lines(self) -> list[str]:
        """Returns a line per row: its name, its scores and its number of sentences."""
        width = max(len(row.name) for row in self.rows)
        lines = []
        for row in self.rows:
            values = "   ".join(f"{name} {value:6.2f}" for name, value in row.scores.items())
            count = "" if row.sentences is None else f"   ({format_count(row.sentences, 'sentence')})"
            lines.append(f"{row.name:<{width}}  {values}{count}")
        return lines


def score_by_tag(names: Sequence[str], material: Material, config: ScoreOptions) -> TagScores | None:
    """Returns the scores of each tag; None if no sentence has one, or no requested metric needs only the sentences."""
    tags = sorted(
        {tag for tags in material.tags for tag in tags}, key=lambda tag: (list(TagPurpose).index(tag.kind), tag)
    )
    measured = [name for name in names if name in SHOWN] or [name for name in names if name not in RESOURCE_METRICS][:1]
    if not tags or not measured:
        return None
    rows: list[TagRow] = []
    for kind in dict.fromkeys(tag.kind for tag in tags):
        of_kind = [score_tag(tag, measured, material, config) for tag in tags if tag.kind is kind]
        rows += [*of_kind, *average_rows(of_kind, kind)]
    return TagScores(tuple(rows))


def score_tag(tag: Tag, names: Sequence[str], material: Material, config: ScoreOptions) -> TagRow:
    """Returns the scores of the sentences with one tag, tokenised for its language if it names one."""
    chosen = [row for row, tags in enumerate(material.tags) if tag in tags]
    hypotheses = [material.hypotheses[row] for row in chosen]
    references = [material.references[row] for row in chosen]
    if tag.kind is TagPurpose.TARGET:
        config, _ = choose_for_text(replace(config, bleu_tokenizer="auto"), tag.value, references)
    scores = [find_metric(name)(hypotheses, references, config) for name in names]
    return TagRow(str(tag), {score.name: score.value for score in scores}, len(chosen))


def average_rows(rows: Sequence[TagRow], kind: TagPurpose) -> Iterator[TagRow]:
    """Yields the mean of several rows."""
    if len(rows) > 1:
        names = rows[0].scores
        yield TagRow(f"mean {kind}", {name: sum(row.scores[name] for row in rows) / len(rows) for name in names})
