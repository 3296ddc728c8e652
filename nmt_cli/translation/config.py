"""Settings of a translation: what a user can request besides search settings, and the options that result.

`nmt translate --no-fold --to nl` is `LineOptions(fold=False)`, which the reader of lines gets, and
`TagOptions(to="nl")`, which asks for the tag `to:nl`. `TranslateOptions` holds what a model makes of them: its search
options have the model's own tag.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from nmt_cli.search.config import SearchOptions
from nmt_cli.settings import Settings, setting
from nmt_cli.text.tags import Tag, TagPurpose, TagSet, merge_tags
from nmt_cli.translation.lines import ContextScope

if TYPE_CHECKING:
    from nmt_cli.translation.memory.lookup import TranslationMemory

LowConfidence = Literal["blank", "source", "mark"]


class RepairOptions(Settings, panel="Repair"):
    """How faulty translations are repaired."""

    repair: bool = setting(
        True,
        "Translate again in other ways if a translation loops, is empty, does not end or copies its source.",
        harmless=True,
    )
    replace_unknown: bool = setting(
        False, "Replace unknown words with the source words they attended to most.", harmless=True
    )


class CheckOptions(Settings, panel="Checks"):
    """How translations are checked, and what happens if one fails."""

    check: bool = setting(
        True,
        "Check every translation against its source: numbers, protected spans, terms, punctuation, sentences, length, "
        "copies, repeats.",
        harmless=True,
    )
    report: str | None = setting(None, "Report of the texts that fail a check: .html (a single page) or .json.")
    min_confidence: float | None = setting(
        None,
        "Apply --on-low-confidence to translations with a confidence (0 to 1) below this. By default,"
        " a confidence below the threshold of the model only fails a check.",
        low=0,
        high=1,
    )
    on_low_confidence: LowConfidence = setting(
        "mark", "Output below --min-confidence: blank (nothing), source (the source), mark ([?] and the translation)."
    )
    strict: bool = setting(False, "Exit with code 3 if a translation fails a check.", harmless=True)


class LineOptions(Settings, panel="Text"):
    """How a line is split into pieces, and which of its spans are protected."""

    protect: bool = setting(
        True, "Keep addresses, amounts, placeholders, markup and emoji unchanged, byte for byte.", harmless=True
    )
    glossary: str | None = setting(
        None, "File of terms with their required translations: source, tab, target.", harmless=True
    )
    fold: bool = setting(
        True,
        "Read characters and case unseen in training as their nearest known equivalents, and put the case back.",
        harmless=True,
    )
    slips: bool = setting(
        False, "Read mistyped words as the known words that were probably intended: liek as like.", harmless=True
    )
    split_sentences: bool = setting(True, "Translate the sentences of a line one by one.", harmless=True)
    max_words: int = setting(
        50, "Maximum number of words translated at once; longer sentences are split after clauses or words.", low=1
    )


class TagOptions(Settings, panel="Text"):
    """The tags that a model reads besides the text."""

    to: str | None = setting(
        None, "Language to translate to, if the model has several [the first language of its corpus].", harmless=True
    )
    tag: tuple[str, ...] = setting((), "Tag that the model knows, such as ui; can be repeated.", harmless=True)
    formality: Literal["formal", "informal"] | None = setting(
        None, "How to address people: formal (Sie, vous, usted) or informal (du, tu), if the model knows both."
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The tags as they are typed."""
        # A name may have blanks and apostrophes, which a tag has not: Tok Pisin, K'iche'.
        to = () if self.to is None else ("to:" + re.sub(r"[^\w-]+", "_", self.to.strip()),)
        return (*to, *self.tag, *filter(None, (self.formality,)))


class ContextOptions(Settings, panel="Text"):
    """The context that a model reads before a sentence, if it was trained with context."""

    context: int | None = setting(
        None,
        "Number of previous sentences, with translations, that a model with context reads: 0 or 1 [1 for documents, "
        "0 for lines].",
        low=0,
        high=1,
    )


class MemoryOptions(Settings, panel="Text"):
    """How earlier translations are used."""

    tm: tuple[str, ...] = setting(
        (),
        (
            "Translation memory (tmx, xliff, po, tsv, csv ...): known texts get their translations from "
            "it; can be repeated."
        ),
        harmless=True,
    )


class TranslateOptions(NamedTuple):
    """How lines are translated: the request, and its form for a model (see `known_tags.fit_to_model`)."""

    search: SearchOptions  # with the tags of the model
    repair: RepairOptions | None = None  # None: translations stay as search found them
    checks: CheckOptions | None = None  # None: none is checked
    memory: TranslationMemory | None = None  # of earlier translations
    known_domains: frozenset[str] = frozenset()  # to the model
    scope: ContextScope = "nothing"  # that is read in context
    tags: TagOptions = TagOptions()  # that are asked for, whatever the model knows
    context: int | None = None  # sentences before that are asked for

    def add_domain(self, domain: str) -> TagSet:
        """Returns the search tags, with this domain added if the model knows it and the tags name none."""
        tags = (Tag(TagPurpose.DOMAIN, domain),) if domain in self.known_domains else ()
        return merge_tags(tags, self.search.tags)


SPARE_HYPOTHESES = 3  # searched beside those that are asked for, since different tokens may spell one text


def widen_for_distinct(config: SearchOptions) -> SearchOptions:
    """Widens a search so that it finds enough hypotheses with distinct texts, if several are requested."""
    if config.n_best < 2 or config.sampling.sample:
        return config
    return replace(config, n_best=min(config.n_best + SPARE_HYPOTHESES, config.beam_size))
