"""Chooses the settings that the user left open, by the size of the corpus or, with --time, by what the time allows.

    5,000 pairs     256 / 384 units, dropout 0.3, batches of 64, rate 0.003, 24 epochs: 1,896 updates
    50,000 pairs    256 / 512 units, dropout 0.1, batches of 128, rate 0.005, 10 epochs: 3,910 updates

A small corpus needs a small network, strong dropout, small batches and many passes. What matters is the number of
updates, not of passes: 10 epochs of 5,000 pairs in batches of 128 are 400 updates, after which a network has learned
next to nothing (benchmarks/log/small-corpora.md). Settings that the user typed, or set in a file, are never changed.

A large network makes fewer updates in the same time, and after few updates it has learned less than a small one. On the
bundled corpus, the default network reached a dev BLEU of 5.6 after 450 updates; in the same time, the small one made
900 updates and reached 8.5. After 1,900 updates, the default network reached 22.7; in the same time, the small one made
3,400 updates and reached 23.6 (benchmarks/log/minutes.md; with a learning rate of 2e-3). With 160,000 pairs, a wider
network is better if an hour allows more than ten epochs of it (benchmarks/log/hour.md).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from nmt_cli.corpus.manifest import PictureStatistics, SubwordStatistics
from nmt_cli.model.config import ModelConfig, RnnConfig
from nmt_cli.runtime.model_directory import ModelDirectory
from nmt_cli.text.wrapping import format_count
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest
from nmt_cli.training.transfer import has_same_subwords, load_initial_model

# What goes with scaled-dot attention, where the attention itself is open: a person who names an attention gets that one
# as the textbooks have it.
EXTRAS: Mapping[str, Any] = {"attend_embeddings": True, "fixed_norm": True}
MOST_HEADS = 8
FEWEST_EPOCHS, MOST_EPOCHS = 10, 80
EPOCHS_TIMES_ROOT = 1_700  # of the pairs: 24 epochs of 5,000
LARGEST_RATE = 5e-3
RATE_OF_CHILDREN = 1.4  # times that of a network without a parent (benchmarks/log/small-corpora.md)


class SizeRule(NamedTuple):
    """The best settings for corpora up to a certain size. The learning rate is for the rule's own batch size."""

    name: str  # of the network
    most_pairs: float
    network: Mapping[str, Any]  # of all architectures that have the option
    batch: int  # pairs
    learning_rate: float  # of recurrent networks
    typing_errors: float = 0.0  # where the source has casual spelling at all

    def fit_rate(self, batch: int) -> float:
        """Returns the learning rate for another batch size: gradient noise falls with the root of the size."""
        return min(LARGEST_RATE, round(self.learning_rate * math.sqrt(batch / self.batch), 5))


SMALL_NETWORK, MEDIUM_NETWORK = {"embedding": 192, "units": 256}, {"embedding": 256, "units": 384}
LARGE_NETWORK = {"embedding": 256, "units": 512, "dropout": 0.1}
TYPING_ERRORS = 0.1  # of the sources; costs nothing on clean text (benchmarks/log/faithful-input.md)
RULES = (
    SizeRule("small", 3_500, {**SMALL_NETWORK, "dropout": 0.3}, 32, 2e-3),
    SizeRule("medium", 15_000, {**MEDIUM_NETWORK, "dropout": 0.3}, 64, 3e-3),
    SizeRule("medium", 35_000, {**MEDIUM_NETWORK, "dropout": 0.2}, 64, 4e-3),
    SizeRule("large", 100_000, LARGE_NETWORK, 128, 5e-3, TYPING_ERRORS),
    SizeRule("large", math.inf, LARGE_NETWORK, 128, 3e-3, TYPING_ERRORS),  # many updates want a lower rate
)


def count_epochs(pairs: int, epoch_pairs: int | None = None, *, fewest: int = FEWEST_EPOCHS) -> int:
    """Returns the number of epochs, of `epoch_pairs` or all pairs; the pairs seen grow with the root of `pairs`."""
    seen = EPOCHS_TIMES_ROOT * math.sqrt(max(pairs, 1))
    return max(fewest, min(MOST_EPOCHS, round(seen / max(min(pairs, epoch_pairs or pairs), 1))))


def count_usual_updates(pairs: int) -> int:
    """Returns how many updates a training run on this many pairs makes by default: about 1,900 for 5,000 pairs."""
    return count_epochs(pairs) * math.ceil(pairs / find_rule(pairs).batch)


def find_rule(pairs: int) -> SizeRule:
    """Returns the rule for a corpus of `pairs` training pairs."""
    return next(rule for rule in RULES if pairs <= rule.most_pairs)


def fit_to_corpus(request: TrainRequest) -> TrainRequest:
    """Chooses the open settings of a request according to the number of its training pairs.

    Changes nothing if the request does not say which settings are open, or if it is for fine-tuning: training from a
    model with the same subwords.
    """
    parent = None if request.explicit is None else load_initial_model(request.training)
    if request.explicit is None or (parent is not None and has_same_subwords(request.corpus, parent)):
        return request
    return FITS[request.corpus.manifest.source.unit](request, request.explicit, parent)


def fit_to_sentences(request: TrainRequest, explicit: Collection[str], parent: ModelDirectory | None) -> TrainRequest:
    """Chooses the settings by the rule for this number of pairs."""
    pairs = len(request.corpus.load_encoded("train").source)
    rule = find_rule(pairs)
    if parent is not None:
        return fit_child(rule, request, pairs)
    network = fit_network(rule, request.network, explicit)
    training = fit_training(rule, request.training, explicit, pairs)
    if not isinstance(network, RnnConfig):  # the rates of the rules are those of recurrent networks
        training = replace(training, learning_rate=request.training.learning_rate)
    choice = describe_choice(rule, explicit, pairs, training)
    return replace(request, network=network, training=training, choice=choice)


def fit_to_pictures(request: TrainRequest, explicit: Collection[str], parent: ModelDirectory | None) -> TrainRequest:
    """Chooses additive attention if open: it finds the region that a word is about, and the rules are for text."""
    if isinstance(request.network, RnnConfig) and "attention" not in explicit:
        return replace(request, network=replace(request.network, attention="additive"))
    return request


FITS = {SubwordStatistics.unit: fit_to_sentences, PictureStatistics.unit: fit_to_pictures}


def fit_child(rule: SizeRule, request: TrainRequest, pairs: int) -> TrainRequest:
    """Returns the request for a model that starts from a parent with other subwords, adopting its network."""
    explicit = set(request.explicit or ())
    training = fit_training(rule, request.training, explicit, pairs)
    if "learning_rate" not in explicit:  # high enough for the rows that the parent does not have
        rate = round(rule.fit_rate(training.batch) * RATE_OF_CHILDREN, 5)
        training = replace(training, learning_rate=rate)
    network = replace(request.network, dropout=rule.network["dropout"])
    choice = describe_choice(rule, {*explicit, "units"}, pairs, training)
    if "dropout" in explicit:
        return replace(request, training=training, choice=choice)
    return replace(request, network=network, training=training, explicit={*explicit, "dropout"}, choice=choice)


def fit_network(rule: SizeRule, network: ModelConfig, explicit: Collection[str]) -> ModelConfig:
    """Chooses the open settings of the network: its widths, dropout, and what goes with the default attention."""
    is_recurrent = isinstance(network, RnnConfig)
    chosen = {name: value for name, value in rule.network.items() if is_recurrent or name == "dropout"}
    if is_recurrent and "attention" not in explicit:
        chosen |= EXTRAS
    fitted = replace(network, **{name: value for name, value in chosen.items() if name not in explicit})
    if not isinstance(fitted, RnnConfig) or {"attention", "heads"} & set(explicit):
        return fitted
    return fit_heads(fitted, MOST_HEADS)


def fit_heads(network: RnnConfig, most: int) -> RnnConfig:
    """Sets the highest number of heads, at most `most`, that divides the widths of an attention with heads."""
    if not network.attention_kind.has_heads:
        return network
    shared = math.gcd(network.attention_units, network.memory_width)
    return replace(network, heads=max(heads for heads in range(1, most + 1) if shared % heads == 0))


def fit_training(rule: SizeRule, training: TrainOptions, explicit: Collection[str], pairs: int) -> TrainOptions:
    """Chooses the open settings of training: its batches, epochs, learning rate and typing errors."""
    names = ("batch", "epochs", "learning_rate", "typing_errors")
    is_open = {name: name not in explicit for name in names}
    if training.batch_tokens is not None:
        is_open["batch"] = False
    fitted = replace(training, batch=rule.batch) if is_open["batch"] else training
    chosen: dict[str, Any] = {"typing_errors": rule.typing_errors if training.careless else 0.0}
    if training.batch_tokens is None:
        chosen["learning_rate"] = rule.fit_rate(fitted.batch)
    if training.time is None:
        chosen["epochs"] = count_epochs(pairs, training.epoch_pairs)
    return replace(fitted, **{name: value for name, value in chosen.items() if is_open[name]})


def describe_choice(rule: SizeRule, explicit: Collection[str], pairs: int, training: TrainOptions) -> str | None:
    """Describes for the user what was chosen and why; None if nothing was left open."""
    updates = math.ceil(min(pairs, training.epoch_pairs or pairs) / training.batch) * training.epochs
    parts = {
        f"{rule.name} network": not {"embedding", "units", "architecture"} & set(explicit)
        and training.time is None,  # which chooses the size once the speed is known
        f"{format_count(updates, 'update')}": "epochs" not in explicit
        and not training.time
        and not training.batch_tokens,
        f"dropout {rule.network['dropout']:g}": "dropout" not in explicit,
    }
    chosen = [part for part, is_chosen in parts.items() if is_chosen]
    return f"{format_count(pairs, 'pair')}: {', '.join(chosen)}" if chosen else None


UPDATES_FOR_DEFAULT = 6000  # if so many updates of the small network fit into the time, the default one learns more
WIDE_NETWORK = {"embedding": 320, "units": 640, "dropout": 0.2}
# Of the small network, which makes about twice as many as the wide one: some 10 epochs of 160,000 pairs.
UPDATES_FOR_WIDE, PAIRS_FOR_WIDE = 28_000, 100_000


def is_size_open(explicit: Collection[str], config: TrainOptions) -> bool:
    """Whether the time decides the size: with --time, without --init-from, and with no `explicit` network option."""
    return config.time is not None and config.init_from is None and not explicit


def choose_first_size(network: ModelConfig, facts: dict[str, Any] | None) -> ModelConfig:
    """Returns the network whose speed is measured first; when resuming, the checkpoint's network."""
    if facts is None:
        return set_widths(network, SMALL_NETWORK)
    return ModelConfig.from_mapping(facts["identity"]["network"], where="the checkpoint")


def choose_larger_size(network: ModelConfig, small: ModelConfig, pairs: int, updates: float) -> ModelConfig:
    """Returns the network to train: `small`, which can make `updates` updates in time, `network`, or a wider one."""
    if updates < UPDATES_FOR_DEFAULT:
        return small
    is_long = updates >= UPDATES_FOR_WIDE and pairs >= PAIRS_FOR_WIDE
    return set_widths(network, WIDE_NETWORK) if is_long else network


def set_widths(network: ModelConfig, widths: dict[str, Any]) -> ModelConfig:
    """Returns the network with other widths, and no more heads than before."""
    if not isinstance(network, RnnConfig):
        return replace(network, **widths)
    return fit_heads(replace(network, heads=1, **widths), most=network.heads)
