"""The tables of metrics. A new metric is one function and one line here.

Read for `nmt --help`: what a metric imports beyond the standard library, it imports when called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nmt_cli.errors import OptionError, nearest
from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.bleu import bleu, bleu_of_order
from nmt_cli.evaluation.metrics.characters import character_error_rate, exact_match
from nmt_cli.evaluation.metrics.chrf import chrf, chrf_plus_plus
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.meteor import meteor
from nmt_cli.evaluation.metrics.neural import bertscore, comet, required
from nmt_cli.evaluation.metrics.perplexity import perplexity, token_accuracy
from nmt_cli.evaluation.metrics.rouge import rouge_of_kind
from nmt_cli.evaluation.metrics.score import Metric, Score
from nmt_cli.evaluation.metrics.ter import ter

METRICS: dict[str, Metric] = {
    "bleu": bleu,
    "bleu1": bleu_of_order(1),
    "bleu2": bleu_of_order(2),
    "bleu3": bleu_of_order(3),
    "bleu4": bleu_of_order(4),
    "chrf": chrf,
    "chrf++": chrf_plus_plus,
    "ter": ter,
    "rouge1": rouge_of_kind("rouge1"),
    "rouge2": rouge_of_kind("rouge2"),
    "rougeL": rouge_of_kind("rougeL"),
    "rougeLsum": rouge_of_kind("rougeLsum"),
    "meteor": meteor,
    "exact": exact_match,
    "cer": character_error_rate,
}


@dataclass(frozen=True)
class Given:
    """What there will be to count from, before anything is translated."""

    model: bool  # a model translates, and can be asked for its probabilities
    sources: bool


def need_model(config: ScoreConfig, given: Given) -> None:
    if not given.model:
        raise OptionError(
            "perplexity and accuracy need a model, and ready hypotheses have none",
            hint="leave --hypothesis out, so that the model translates",
        )


def need_comet(config: ScoreConfig, given: Given) -> None:
    required(config.comet_model, "comet", "--comet-model FILE")
    if not given.sources:
        raise OptionError("COMET needs the source sentences", hint="name them with --source")


def need_encoder(config: ScoreConfig, given: Given) -> None:
    required(config.bertscore_model, "bertscore", "--bertscore-model DIRECTORY")


@dataclass(frozen=True)
class Demanding:
    """A metric that needs more than the sentences; `check` raises what the user must be told where it is not there."""

    measure: Callable[[Material, ScoreConfig], Score]
    check: Callable[[ScoreConfig, Given], None]


DEMANDING: dict[str, Demanding] = {
    "perplexity": Demanding(perplexity, need_model),
    "accuracy": Demanding(token_accuracy, need_model),
    "comet": Demanding(comet, need_comet),
    "bertscore": Demanding(bertscore, need_encoder),
}
FORCED = frozenset({"perplexity", "accuracy"})  # counted from the references under the model
ALL = "all"
NAMES = (*METRICS, *DEMANDING, ALL)


def metric_names(wanted: Sequence[str] = (ALL,)) -> tuple[str, ...]:
    """The metrics that are meant, by their names in the tables, each once.

    `all` stands for every one of METRICS, in the table's order. Case and hyphens do not matter (ROUGE-L is rougeL),
    and commas separate. Raises OptionError for one that does not exist, naming the nearest.
    """
    known = {name.lower(): (name,) for name in (*METRICS, *DEMANDING)} | {ALL: tuple(METRICS)}
    found: dict[str, None] = {}
    for word in (part.strip() for entry in wanted for part in entry.split(",")):
        key = word.lower().replace("-", "")
        if key not in known:
            raise unknown_metric(word, nearest(key, known))
        found |= dict.fromkeys(known[key])
    return tuple(found)


def possible_names(wanted: Sequence[str], config: ScoreConfig, given: Given) -> tuple[str, ...]:
    """`metric_names`, checked against what is given; `all` includes the demanding metrics that can be counted.

    Raises OptionError, or NotFoundError, for one that was asked for and cannot.
    """
    names = metric_names(wanted)
    for name in names:
        if name in DEMANDING:
            DEMANDING[name].check(config, given)
    if ALL in (part.strip().lower() for entry in wanted for part in entry.split(",")):
        names += tuple(name for name in DEMANDING if name not in names and is_possible(name, config, given))
    return names


def is_possible(name: str, config: ScoreConfig, given: Given) -> bool:
    """Whether a demanding metric can be counted. A model that was named but is not there is an error all the same."""
    try:
        DEMANDING[name].check(config, given)
    except OptionError:
        return False
    return True


def unknown_metric(word: str, like: str | None) -> OptionError:
    everything = ", ".join(NAMES)
    return OptionError(
        f"there is no metric {word!r}",
        hint=f"did you mean {next((name for name in NAMES if name.lower() == like), like)}? There are {everything}"
        if like
        else f"the metrics are {everything}",
    )


def measure_all(names: Sequence[str], material: Material, config: ScoreConfig = DEFAULT) -> dict[str, Score]:
    """The scores of the metrics of these names (keys of METRICS or DEMANDING), in that order."""
    return {
        name: DEMANDING[name].measure(material, config)
        if name in DEMANDING
        else METRICS[name](material.hypotheses, material.references, config)
        for name in names
    }
