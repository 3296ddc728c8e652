"""Finds the pairs that a model replays beside its corrections, so that it forgets nothing, and a development set.

They are, first of all, of the model's own training corpus; else the sample of it that the model carries; else another
corpus, whose training sources the model translates itself.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.reversed import reverse_corpus
from nmt_cli.corpus.sides import TaggedPair
from nmt_cli.errors import NotFoundError
from nmt_cli.languages.codes import are_same_languages
from nmt_cli.runtime.model_directory import SAMPLE, ModelCard, ModelDirectory, report_damage
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.normalise import make_sentence_key
from nmt_cli.text.tags import TagSet, parse_tag_list
from nmt_cli.translation.by_tags import translate_tagged
from nmt_cli.translation.config import ModelRequest
from nmt_cli.translation.known_tags import ASKED_FOR, find_tag, is_only_language
from nmt_cli.translation.translator import Translator

MOST_DEV_PAIRS = 1_000  # of the development set
MOST_TRANSLATED = 4_000  # sentences that the model translates itself


class OldPairs(NamedTuple):
    """Pairs like those that a model was trained on, and a development set."""

    train: list[TaggedPair]
    dev: list[TaggedPair]

    @classmethod
    def read(cls, corpus: PreparedCorpus, card: ModelCard) -> OldPairs:
        """Returns those pairs of a corpus that are in the languages of a model, with the tags that it knows."""
        return cls(*(read_split(corpus, split, card) for split in ("train", "dev")))

    def sample(self, most: int, seed: int) -> OldPairs:
        """Returns at most `most` training pairs at random, and MOST_DEV_PAIRS of the development set."""
        generator = random.Random(seed)
        return OldPairs(draw(self.train, most, generator), draw(self.dev, MOST_DEV_PAIRS, generator))

    def exclude_corrected(self, corrections: Iterable[TaggedPair]) -> OldPairs:
        """Returns the pairs without training pairs whose source has been corrected."""
        corrected = {make_sentence_key(pair.source) for pair in corrections}
        return self._replace(train=[pair for pair in self.train if make_sentence_key(pair.source) not in corrected])


def read_split(corpus: PreparedCorpus, split: str, card: ModelCard) -> list[TaggedPair]:
    """Returns the pairs of a split for a model, as `OldPairs.read` does."""
    of_corpus = corpus.read_tags(split)
    of_model = {tags: fit_tags(tags, card) for tags in set(of_corpus)}
    rows = zip(corpus.read_pairs(split), map(of_model.get, of_corpus), strict=True)
    return [TaggedPair(*pair, tags) for pair, tags in rows if tags is not None]


def fit_tags(tags: TagSet, card: ModelCard) -> TagSet | None:
    """Returns those of the tags that a model knows; None if they name a language that it does not."""
    fitting = {tag: find_tag(tag, card) for tag in tags}
    if any(
        tag.kind in ASKED_FOR and not (of_model or is_only_language(tag, card)) for tag, of_model in fitting.items()
    ):
        return None
    return card.complete_tags(tuple(filter(None, fitting.values())))


def draw(pairs: list[TaggedPair], most: int, generator: random.Random) -> list[TaggedPair]:
    """Returns at most `most` of the pairs at random."""
    return generator.sample(pairs, min(most, len(pairs)))


def find_old_pairs(model: ModelDirectory, data: Path, seed: int) -> OldPairs:
    """Returns the pairs to replay with a model. Raises NotFoundError if there are none, and DamagedError."""
    corpora = list_corpora(data)
    trained_on = next((corpus for corpus in corpora if corpus.fingerprint == model.card.dataset_fingerprint), None)
    if trained_on is not None:
        return OldPairs.read(trained_on, model.card)
    if (model.directory / SAMPLE).is_file():
        return read_sample(model.directory / SAMPLE)
    languages = model.card.languages
    other = next((corpus for corpus in corpora if are_same_languages(corpus.languages, languages)), None)
    if other is None:
        raise NotFoundError(
            f"{data}/ has nothing that {model.directory}/ could replay, so that it forgets nothing",
            hint="name the corpus that it was trained on, or another of its languages, with --data",
        )
    some = OldPairs.read(other, model.card).sample(MOST_TRANSLATED, seed)
    return some._replace(train=translate_sources(model.directory, some.train))


def list_corpora(data: Path) -> list[PreparedCorpus]:
    """Returns the corpus of text in a prepared directory in both directions; none if there is no corpus."""
    try:
        corpus = PreparedCorpus.load(data)
    except NotFoundError:
        return []
    return [] if corpus.has_pictures else [corpus, reverse_corpus(corpus)]


def translate_sources(model: Path, pairs: list[TaggedPair]) -> list[TaggedPair]:
    """Returns the sources of the pairs with the translations of the model itself."""
    sources, tags = [pair.source for pair in pairs], [pair.tags for pair in pairs]
    translations = translate_tagged(Translator.load(ModelRequest(model)), sources, tags, SearchConfig())
    return [
        pair._replace(target=translation.text)
        for pair, translation in zip(pairs, translations, strict=True)
        if translation.text
    ]


def read_sample(path: Path) -> OldPairs:
    """Reads the sample of its corpus that a model carries. Raises DamagedError."""
    pairs = OldPairs([], [])
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                split, source, target, *tags = line.rstrip("\n").split("\t")
                pairs._asdict()[split].append(TaggedPair(source, target, parse_tag_list(" ".join(tags))))
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise report_damage(path, f"cannot be read ({error})") from error
    return pairs


def write_sample(path: Path, pairs: OldPairs) -> None:
    """Writes the sample of its corpus that a model carries; the same bytes for the same pairs."""
    rows = [
        (split, pair.source, pair.target, *([" ".join(map(str, pair.tags))] if pair.tags else []))
        for split, part in pairs._asdict().items()
        for pair in part
    ]
    path.write_bytes(gzip.compress("".join("\t".join(row) + "\n" for row in rows).encode(), mtime=0))
