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
from nmt_cli.corpus.sides import SentencePair
from nmt_cli.errors import NotFoundError
from nmt_cli.languages.codes import are_same_languages
from nmt_cli.runtime.model_directory import SAMPLE, ModelDirectory, report_damage
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.normalise import make_sentence_key
from nmt_cli.translation.config import ModelRequest
from nmt_cli.translation.translator import Translator

MOST_DEV_PAIRS = 1_000  # of the development set
MOST_TRANSLATED = 4_000  # sentences that the model translates itself


class OldPairs(NamedTuple):
    """Pairs like those that a model was trained on, and a development set."""

    train: list[SentencePair]
    dev: list[SentencePair]

    def sample(self, most: int, seed: int) -> OldPairs:
        """Returns at most `most` training pairs at random, and MOST_DEV_PAIRS of the development set."""
        generator = random.Random(seed)
        return OldPairs(draw(self.train, most, generator), draw(self.dev, MOST_DEV_PAIRS, generator))

    def exclude_corrected(self, corrections: Iterable[SentencePair]) -> OldPairs:
        """Returns the pairs without training pairs whose source has been corrected."""
        corrected = {make_sentence_key(pair.source) for pair in corrections}
        return self._replace(train=[pair for pair in self.train if make_sentence_key(pair.source) not in corrected])


def draw(pairs: list[SentencePair], most: int, generator: random.Random) -> list[SentencePair]:
    """Returns at most `most` of the pairs at random."""
    return generator.sample(pairs, min(most, len(pairs)))


def find_old_pairs(model: ModelDirectory, data: Path, seed: int) -> OldPairs:
    """Returns the pairs to replay with a model. Raises NotFoundError if there are none, and DamagedError."""
    corpora = list_corpora(data)
    trained_on = next((corpus for corpus in corpora if corpus.fingerprint == model.card.dataset_fingerprint), None)
    if trained_on is not None:
        return OldPairs(trained_on.read_pairs("train"), trained_on.read_pairs("dev"))
    if (model.directory / SAMPLE).is_file():
        return read_sample(model.directory / SAMPLE)
    languages = model.card.languages
    other = next((corpus for corpus in corpora if are_same_languages(corpus.languages, languages)), None)
    if other is None:
        raise NotFoundError(
            f"{data}/ has nothing that {model.directory}/ could replay, so that it forgets nothing",
            hint="name the corpus that it was trained on, or another of its languages, with --data",
        )
    some = OldPairs(other.read_pairs("train"), other.read_pairs("dev")).sample(MOST_TRANSLATED, seed)
    return some._replace(train=translate_sources(model.directory, some.train))


def list_corpora(data: Path) -> list[PreparedCorpus]:
    """Returns the corpus of text in a prepared directory in both directions; none if there is no corpus."""
    try:
        corpus = PreparedCorpus.load(data)
    except NotFoundError:
        return []
    return [] if corpus.has_pictures else [corpus, reverse_corpus(corpus)]


def translate_sources(model: Path, pairs: list[SentencePair]) -> list[SentencePair]:
    """Returns the sources of the pairs with the translations of the model itself."""
    translations = Translator.load(ModelRequest(model)).translate([pair.source for pair in pairs], SearchConfig())
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
                split, source, target = line.rstrip("\n").split("\t")
                pairs._asdict()[split].append(SentencePair(source, target))
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise report_damage(path, f"cannot be read ({error})") from error
    return pairs


def write_sample(path: Path, pairs: OldPairs) -> None:
    """Writes the sample of its corpus that a model carries; the same bytes for the same pairs."""
    lines = [f"{split}\t{pair.source}\t{pair.target}\n" for split, part in pairs._asdict().items() for pair in part]
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
