"""The table of metrics. A new metric is one function and one line here.

Read for `nmt --help`: what a metric imports beyond the standard library, it imports when called.
"""

from __future__ import annotations

from collections.abc import Sequence

from nmt_cli.errors import OptionError, nearest
from nmt_cli.evaluation.bleu import bleu, bleu_of_order
from nmt_cli.evaluation.chrf import chrf
from nmt_cli.evaluation.rouge import rouge_of_kind
from nmt_cli.evaluation.scores import Hypotheses, Metric, References, Score

METRICS: dict[str, Metric] = {
    "bleu": bleu,
    "bleu1": bleu_of_order(1),
    "bleu2": bleu_of_order(2),
    "bleu3": bleu_of_order(3),
    "bleu4": bleu_of_order(4),
    "chrf": chrf,
    "rouge1": rouge_of_kind("rouge1"),
    "rouge2": rouge_of_kind("rouge2"),
    "rougeL": rouge_of_kind("rougeL"),
}
ALL = "all"


def metric_names(wanted: Sequence[str] = (ALL,)) -> tuple[str, ...]:
    """The metrics that are meant, as named in METRICS, each once; `all` stands for every one, in the table's order.

    Case and hyphens do not matter (ROUGE-L is rougeL), and commas separate.
    Raises OptionError for one that does not exist, naming the nearest.
    """
    known = {name.lower(): (name,) for name in METRICS} | {ALL: tuple(METRICS)}
    found: dict[str, None] = {}
    for word in (part.strip() for entry in wanted for part in entry.split(",")):
        key = word.lower().replace("-", "")
        if key not in known:
            raise unknown_metric(word, nearest(key, known))
        found |= dict.fromkeys(known[key])
    return tuple(found)


def unknown_metric(word: str, like: str | None) -> OptionError:
    everything = ", ".join((*METRICS, ALL))
    return OptionError(
        f"there is no metric {word!r}",
        hint=f"did you mean {next((name for name in METRICS if name.lower() == like), like)}? There are {everything}"
        if like
        else f"the metrics are {everything}",
    )


def measure(names: Sequence[str], hypotheses: Hypotheses, references: References) -> dict[str, Score]:
    """The scores of the metrics of these names (keys of METRICS), in that order."""
    return {name: METRICS[name](hypotheses, references) for name in names}
