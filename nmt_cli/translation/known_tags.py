"""Finds the requested tags and context among those that a model knows.

For a model whose card has the tags `>nl` and `>af`, `find_tags(["to:dut"], card, "model")` returns `>nl`, and "to:fr"
raises an OptionError that names both languages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from nmt_cli.errors import OptionError
from nmt_cli.languages.codes import find_code, find_codes, find_variety, is_same_language
from nmt_cli.runtime.model_directory import ModelCard
from nmt_cli.text.tags import Tag, TagPurpose, TagSet, merge_tags, parse_tag_name
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.lines import ContextScope

ASKED_FOR = {TagPurpose.TARGET: "translates to", TagPurpose.SOURCE: "translates from"}


def fit_to_model(options: TranslateOptions, card: ModelCard, model: Path | str) -> TranslateOptions:
    """Returns options in the form that a model understands: with its own tags, domains and context.

    Raises OptionError for tags or context that the model does not know.
    """
    return options._replace(
        search=replace(options.search, tags=find_tags(options.tags.names, card, model)),
        known_domains=card.domains,
        scope=find_scope(options.context, card, model),
    )


def find_tags(names: Iterable[str], card: ModelCard, model: Path | str) -> TagSet:
    """Returns the model's tags that these `names` mean. Raises OptionError for a name that it does not know.

    If the model has only one language, that language needs no tag.
    """
    tags = [parse_tag_name(text) for text in names]
    known_tags = [find_tag(tag, card) for tag in tags]
    for tag, known in zip(tags, known_tags, strict=True):
        if known is None and not is_only_language(tag, card):
            refuse_tag(tag, card, model)
    return merge_tags(filter(None, known_tags))


def find_scope(context: int | None, card: ModelCard, model: Path | str) -> ContextScope:
    """Returns what is read in context. Raises OptionError if context is requested from a model trained without it."""
    if context and not card.context:
        hint = "leave out --context, or train a model with context: see docs/context.md"
        raise OptionError(f"--context {context}: the model in {model}/ was trained without context", hint=hint)
    if context is None:
        return "documents" if card.context else "nothing"
    return "everything" if context else "nothing"


def find_tag(tag: Tag, card: ModelCard) -> Tag | None:
    """Returns the model's tag that `tag` means; it may name a language by any code, with or without its kind."""
    known = list(map(parse_tag_name, card.tags))
    if tag in known:
        return tag
    kinds = tuple(ASKED_FOR) if tag.kind is TagPurpose.DOMAIN else (tag.kind,)
    languages = [other for other in known if other.kind in kinds and other.kind in ASKED_FOR]
    same = [other for other in languages if means_same_language(tag, other.value)]
    return next(
        (other for other in same if find_variety(other.value) == find_variety(tag.value)), next(iter(same), None)
    )


def is_only_language(tag: Tag, card: ModelCard) -> bool:
    """Whether this is the only language that a model has on its side."""
    language = {TagPurpose.SOURCE: card.source_language, TagPurpose.TARGET: card.target_language}.get(tag.kind)
    others = [known for known in map(parse_tag_name, card.tags) if known.kind is tag.kind]
    return language is not None and not others and means_same_language(tag, language)


def means_same_language(tag: Tag, code: str) -> bool:
    """Whether a tag asks for the language of a code, by any of its codes or by its name: "Rarámuri" for `tar`."""
    return is_same_language(code, tag.value) or (len(tag.value) > 3 and find_code(code) in find_codes(tag.value))


def refuse_tag(tag: Tag, card: ModelCard, model: Path | str) -> None:
    """Raises OptionError, naming the tags that the model knows."""
    known = list(map(parse_tag_name, card.tags))
    if tag.kind in ASKED_FOR:
        only = card.target_language if tag.kind is TagPurpose.TARGET else card.source_language
        languages = [other.value for other in known if other.kind is tag.kind] or [only]
        problem = f"does not {ASKED_FOR[tag.kind].replace('s ', ' ', 1)} {tag.value}"
        raise OptionError(f"{model}/ {problem}", hint=f"the model {ASKED_FOR[tag.kind]} {', '.join(languages)}")
    hint = (
        f"the model knows {', '.join(map(str, known))}"
        if known
        else "the model was trained without tags: see docs/tags.md"
    )
    raise OptionError(f"{model}/ does not know the tag {tag}", hint=hint)
