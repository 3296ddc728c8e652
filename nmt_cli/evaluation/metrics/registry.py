"""The tables of metrics. To add one, write a function, and add a line here or an entry point in another package.

`nmt --help` imports this module, so a metric imports everything beyond the standard library only when called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from nmt_cli.errors import OptionError, find_nearest
from nmt_cli.evaluation.config import DEFAULT, ScoreOptions
from nmt_cli.evaluation.metrics.models import (
    compute_bertscore,
    compute_comet,
    compute_perplexity,
    compute_token_accuracy,
    require_model_path,
)
from nmt_cli.evaluation.metrics.overlap import (
    compute_character_error_rate,
    compute_exact_match,
    compute_meteor,
    make_rouge,
)
from nmt_cli.evaluation.metrics.sacrebleu_metrics import (
    chrf_plus_plus,
    compute_bleu,
    compute_chrf,
    compute_ter,
    make_bleu,
)
from nmt_cli.evaluation.metrics.score import Material, MetricFunction, Score
from nmt_cli.plugins import list_plugins, load_plugin

METRICS: dict[str, MetricFunction] = {
    "bleu": compute_bleu,
    "bleu1": make_bleu(1),
    "bleu2": make_bleu(2),
    "bleu3": make_bleu(3),
    "bleu4": make_bleu(4),
    "chrf": compute_chrf,
    "chrf++": chrf_plus_plus,
    "ter": compute_ter,
    "rouge1": make_rouge("rouge1"),
    "rouge2": make_rouge("rouge2"),
    "rougeL": make_rouge("rougeL"),
    "rougeLsum": make_rouge("rougeLsum"),
    "meteor": compute_meteor,
    "exact": compute_exact_match,
    "cer": compute_character_error_rate,
}


@dataclass(frozen=True)
class Available:
    """The resources available to metrics; known before anything is translated."""

    model: bool  # whether a model translates, which can also score the references
    sources: bool


def check_model(config: ScoreOptions, available: Available) -> None:
    if not available.model:
        raise OptionError(
            "perplexity and accuracy need a model, which --hypothesis does not use",
            hint="leave --hypothesis out, so that the model translates",
        )


def check_comet(config: ScoreOptions, available: Available) -> None:
    require_model_path(config.comet_model, "comet", "--comet-model FILE")
    if not available.sources:
        raise OptionError("COMET needs the source sentences", hint="give them with --source")


def check_bertscore(config: ScoreOptions, available: Available) -> None:
    require_model_path(config.bertscore_model, "bertscore", "--bertscore-model DIRECTORY")


@dataclass(frozen=True)
class ResourceMetric:
    """A metric that needs more than the sentences; `check` raises OptionError or NotFoundError if that is missing."""

    measure: Callable[[Material, ScoreOptions], Score]
    check: Callable[[ScoreOptions, Available], None]


RESOURCE_METRICS: dict[str, ResourceMetric] = {
    "perplexity": ResourceMetric(compute_perplexity, check_model),
    "accuracy": ResourceMetric(compute_token_accuracy, check_model),
    "comet": ResourceMetric(compute_comet, check_comet),
    "bertscore": ResourceMetric(compute_bertscore, check_bertscore),
}
FORCED = frozenset({"perplexity", "accuracy"})  # need the references scored by the model
ALL = "all"
ADDED = "nmt_cli.metrics"  # the entry points of metrics that other packages add
NAMES = (*METRICS, *RESOURCE_METRICS, ALL)


def resolve_names(requested: Sequence[str] = (ALL,)) -> tuple[str, ...]:
    """Returns the names of the requested metrics as in the tables, each once.

    `all` stands for all of METRICS, in order. Case, hyphens and underscores do not matter (ROUGE-L and rouge_l
    are rougeL); commas separate names. Raises OptionError for an unknown metric, naming the nearest.
    """
    names_by_key = {name.lower(): (name,) for name in (*METRICS, *RESOURCE_METRICS)} | {ALL: tuple(METRICS)}
    names: dict[str, None] = {}
    for word in (part.strip() for entry in requested for part in entry.split(",")):
        key = simplify_name(word)
        if key not in names_by_key:
            names_by_key |= {simplify_name(plugin.name): (plugin.name,) for plugin in list_plugins(ADDED)}
        if key not in names_by_key:
            raise describe_unknown_metric(word, find_nearest(key, names_by_key))
        names |= dict.fromkeys(names_by_key[key])
    return tuple(names)


def simplify_name(name: str) -> str:
    """Returns a metric's name in lower case, without hyphens and underscores."""
    return name.lower().replace("-", "").replace("_", "")


def find_metric(name: str) -> MetricFunction:
    """Returns a metric that needs only the sentences: one of METRICS, or one from another package.

    Raises MissingExtraError if that cannot be loaded.
    """
    if name in METRICS:
        return METRICS[name]
    plugin = next(plugin for plugin in list_plugins(ADDED) if plugin.name == name)
    return cast("MetricFunction", load_plugin(plugin))


def resolve_available_names(requested: Sequence[str], config: ScoreOptions, available: Available) -> tuple[str, ...]:
    """Resolves the names as `resolve_names` does; `all` includes the metrics of RESOURCE_METRICS that are available.

    Raises OptionError or NotFoundError for a metric that is requested by name but not available.
    """
    names = resolve_names(requested)
    for name in names:
        if name in RESOURCE_METRICS:
            RESOURCE_METRICS[name].check(config, available)
        else:
            find_metric(name)  # one that cannot be loaded is told before anything is translated
    if ALL in (part.strip().lower() for entry in requested for part in entry.split(",")):
        names += tuple(name for name in RESOURCE_METRICS if name not in names and is_available(name, config, available))
    return names


def is_available(name: str, config: ScoreOptions, available: Available) -> bool:
    """Whether a metric of RESOURCE_METRICS can be computed. Raises NotFoundError for a model that does not exist."""
    try:
        RESOURCE_METRICS[name].check(config, available)
    except OptionError:
        return False
    return True


def describe_unknown_metric(word: str, nearest: str | None) -> OptionError:
    """Returns the error for an unknown metric; `nearest` is the most similar lower-case name, if any."""
    known = (*NAMES, *(plugin.name for plugin in list_plugins(ADDED)))
    hint = f"the metrics are {', '.join(known)}"
    if nearest:
        name = next((name for name in known if simplify_name(name) == nearest), nearest)
        hint = f"did you mean {name}? {hint[0].upper()}{hint[1:]}"
    return OptionError(f"there is no metric {word!r}", hint=hint)


def measure_all(names: Sequence[str], material: Material, config: ScoreOptions = DEFAULT) -> dict[str, Score]:
    """Returns the score of each metric in `names` (from `resolve_names`), in that order."""
    return {
        name: RESOURCE_METRICS[name].measure(material, config)
        if name in RESOURCE_METRICS
        else find_metric(name)(material.hypotheses, material.references, config)
        for name in names
    }
