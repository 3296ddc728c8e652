"""The subwords of a prepared corpus: learnt or taken over, text encoded with them, and how well they fit it.

Knows which files of the prepared directory are written; nothing of how pairs are read or split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.ragged import IntArray, Ragged
from nmt_cli.arrays.special_ids import UNKNOWN
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.manifest import Subwords
from nmt_cli.corpus.pairs import Pairs, Side, Texts
from nmt_cli.corpus.steps.reading import Progress
from nmt_cli.corpus.steps.reused_tokenizer import borrow
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.corpus.steps.target_vocabulary import parted
from nmt_cli.text.masking import masked_pair
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerSettings
from nmt_cli.text.tokenizer_training import train_tokenizer

CHUNK = 20_000  # sentences that are encoded at a time
SAMPLE = 200_000  # sentences of a side that subwords are learnt from; more take longer and change little


@dataclass(frozen=True)
class Vocabularies:
    """The subword models and their files; both the same when the target needs most of a joint vocabulary."""

    source: Tokenizer
    target: Tokenizer
    source_file: str
    target_file: str

    @property
    def settings(self) -> TokenizerSettings:
        return self.source.settings

    def tokenizer(self, side: Side) -> Tokenizer:
        return self.source if side == "source" else self.target

    def file(self, side: Side) -> str:
        return self.source_file if side == "source" else self.target_file


def obtain_subwords(pairs: Pairs, train: IntArray, directory: Path, config: PrepareConfig) -> Vocabularies:
    """Writes the subword model or models: those of `--tokenizer-from`, else trained on sentences of train only."""
    settings = config.tokenizer_settings
    if config.tokenizer_from is not None:
        borrowed = borrow(Path(config.tokenizer_from), settings)
        settings, models = (
            borrowed.settings,
            {role: path.read_bytes() for role, path in borrowed.files_of(config.sides).items()},
        )
    else:
        models = learn(pairs, train, config)
    for role, model in models.items():
        (directory / f"{role}.spm").write_bytes(model)
    first, last = next(iter(models)), list(models)[-1]
    source = Tokenizer(models[first], settings)
    target = source if first == last else Tokenizer(models[last], settings)
    return Vocabularies(source, target, f"{first}.spm", f"{last}.spm")


def learn(pairs: Pairs, train: IntArray, config: PrepareConfig) -> dict[str, bytes]:
    """From a sample of train the models by role: "joint", to which "target" may be added, or "source" and "target"."""
    generator = np.random.default_rng([config.seed, 2])
    rows = np.sort(generator.permutation(train)[:SAMPLE])
    masked = masked_rows(pairs, rows, config)
    roles: dict[str, list[str]] = {
        side: list(replacing(pairs.side(side).of(rows), masked.get(side, {}))) for side in config.sides
    }
    settings, size, least = config.tokenizer_settings, config.vocab_size, config.min_count
    if len(roles) == 2 and not config.separate_vocabularies:
        both = roles["source"] + roles["target"]
        joint = train_tokenizer(both, settings, vocabulary_size=size, minimum_count=least)
        joint, target = parted(joint, settings, roles["target"])
        return {"joint": joint} if target == joint else {"joint": joint, "target": target}
    return {
        role: train_tokenizer(sentences, settings, vocabulary_size=size, minimum_count=least)
        for role, sentences in roles.items()
    }


def encode_splits(
    pairs: Pairs, splits: Splits, vocabularies: Vocabularies, directory: Path, progress: Progress, config: PrepareConfig
) -> IntArray:
    """Writes the ids of each side of each split, with placeholders for protected spans that stand on both sides.

    Returns the rows whose source was cut at `max_source_length`.
    """
    limit = config.max_source_length
    done, total = 0, len(config.sides) * sum(len(rows) for _, rows in splits.items())
    masked = {split: masked_rows(pairs, rows, config) for split, rows in splits.items()}
    cut: list[IntArray] = []
    for side in config.sides:
        tokenizer = vocabularies.tokenizer(side)
        for split, rows in splits.items():
            sentences = replacing(pairs.side(side).of(rows), masked[split].get(side, {}))
            chunks = counted(encoded(sentences, tokenizer), done, total, progress)
            ragged = Ragged.from_sequences(chunks, vocabulary_size=tokenizer.vocabulary_size)
            if side == "source" and limit is not None:
                cut.append(rows[ragged.lengths > limit])
                ragged = ragged.first(limit)
            ragged.save(directory / f"{split}.{side}")
            done += len(rows)
    return np.unique(np.concatenate(cut)) if cut else np.zeros(0, np.int64)


def masked_rows(pairs: Pairs, rows: IntArray, config: PrepareConfig) -> dict[Side, dict[int, str]]:
    """For each side the sentences that masking changes, by their place in `rows`; none where one side is no text."""
    if len(config.sides) < 2:
        return {}
    changed: dict[Side, dict[int, str]] = {side: {} for side in config.sides}
    for place, pair in enumerate(zip(pairs.source.of(rows), pairs.target.of(rows), strict=True)):
        for side, before, after in zip(config.sides, pair, masked_pair(*pair), strict=True):
            if before != after:
                changed[side][place] = after
    return changed


def replacing(sentences: Iterable[str], changed: Mapping[int, str]) -> Iterator[str]:
    return (changed.get(place, sentence) for place, sentence in enumerate(sentences))


def encoded(sentences: Iterator[str], tokenizer: Tokenizer) -> Iterator[list[list[int]]]:
    """The ids of the sentences, a chunk at a time."""
    while chunk := list(islice(sentences, CHUNK)):
        yield tokenizer.encode_all(chunk)


def counted(chunks: Iterable[list[list[int]]], done: int, total: int, progress: Progress) -> Iterator[list[list[int]]]:
    """The chunks themselves; tells the callback how many sentences have gone by, after `done` earlier ones."""
    for chunk in chunks:
        yield chunk
        done += len(chunk)
        progress("encoding", done, total)


def measure_subwords(side: Side, pairs: Pairs, splits: Splits, vocabularies: Vocabularies, directory: Path) -> Subwords:
    """Size and fit of the vocabulary of one side, from the ids that were written."""
    tokenizer = vocabularies.tokenizer(side)
    words = pairs.facts.source_words if side == "source" else pairs.facts.target_words
    train = Ragged.load(directory / f"train.{side}")
    held_out = np.concatenate([Ragged.load(directory / f"{split}.{side}").ids for split in ("dev", "test")])
    return Subwords(
        file=vocabularies.file(side),
        vocabulary=tokenizer.vocabulary_size,
        pieces_per_word=round(len(train.ids) / max(int(words[splits.train].sum()), 1), 3),
        unknown_share=round(float(np.mean(held_out == UNKNOWN)), 6) if len(held_out) else 0.0,
        coverage=round(coverage(pairs.side(side), splits, tokenizer), 6),
        longest=int(train.lengths.max(initial=0)),
        longest_of_99_percent=quantile(train.lengths),
    )


def quantile(lengths: NDArray[np.int64]) -> int:
    return int(np.quantile(lengths, 0.99, method="lower")) if len(lengths) else 0


def coverage(texts: Texts, splits: Splits, tokenizer: Tokenizer) -> float:
    """Share, 0 to 1, of the characters of dev and test that are in pieces of the vocabulary."""
    counts = Counter[str]()
    for text in texts.of(np.concatenate([splits.dev, splits.test])):
        counts.update(text)
    unseen = tokenizer.unseen("".join(counts))
    return 1 - sum(counts[character] for character in unseen) / max(counts.total(), 1)
