"""The options of a search, as the Python interface takes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from nmt_cli.api.options.arguments import build_settings, check_count, list_texts, select_options
from nmt_cli.jobs.job import SearchOptions
from nmt_cli.search.config import SamplingConfig, SearchConfig
from nmt_cli.text.normalise import normalise
from nmt_cli.translation.config import CheckConfig, ContextConfig, RepairConfig, TagConfig
from nmt_cli.translation.passages import ContextScope

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.text.tags import TagSet

OF_SEARCH = (SearchConfig, SamplingConfig, RepairConfig, CheckConfig, TagConfig, ContextConfig)
TAG = "tag"  # an option that may be given as one text or several
PREFIX = "prefix"  # an option of the command that is no field with a help text


def make_search_options(
    options: Mapping[str, Any],
    earlier: Mapping[str, Any],
    *,
    n_best: int = 1,
    companions: Mapping[str, Any] = MappingProxyType({}),
) -> SearchOptions:
    """Returns the settings of a search; `options` overrule those given `earlier`.

    Raises OptionError for an unknown option, one out of range, and combinations that contradict each other.
    """
    check_count("n_best", n_best)
    prefix = normalise(str({**earlier, **options}.get(PREFIX, "")))
    options, earlier = (
        {name: value for name, value in group.items() if name != PREFIX} for group in (options, earlier)
    )
    others = {"n_best": n_best, **companions}
    settings = build_settings("translate", options, *OF_SEARCH, others=others, earlier=earlier)
    search, sampling, repair, checks, *_ = settings
    return SearchOptions(dataclasses.replace(search, n_best=n_best, prefix=prefix, sampling=sampling), repair, checks)


def list_tags(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns options in which a single tag is a list of one."""
    return {name: tuple(list_texts(value)) if name == TAG else value for name, value in options.items()}


def choose_tags(options: Mapping[str, Any], card: ModelCard, model: Path) -> TagSet:
    """Returns the tags of a model that options ask for. Raises OptionError for one that it does not know."""
    from nmt_cli.translation.known_tags import find_tags  # SentencePiece, which `import nmt_cli` does not need

    return find_tags(TagConfig.from_options(**select_options(options, TagConfig)).names, card, model)


def choose_scope(options: Mapping[str, Any], card: ModelCard, model: Path) -> ContextScope:
    """Returns what is read with the sentence before. Raises OptionError for a model that knows no context."""
    from nmt_cli.translation.known_tags import find_scope  # SentencePiece, which `import nmt_cli` does not need

    stands_alone = bool(options.get(PREFIX) or options.get("sample"))
    return find_scope(0 if stands_alone else options.get("context"), card, model)
