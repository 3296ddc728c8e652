"""Measures the lengths and frequencies in a prepared corpus. Must not know how they are plotted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.pairs import drop_contexts, drop_tag_ids
from nmt_cli.text.tags import Tag, replace_languages
from nmt_cli.text.words import split_words


@dataclass(frozen=True)
class LanguageStatistics:
    """The words and subwords of one language in the training split, and its new words in the test split."""

    language: str
    words: NDArray[np.integer]  # (N,) words per sentence
    pieces: NDArray[np.integer]  # (N,) subwords per sentence
    frequencies: NDArray[np.integer]  # of each distinct word, in descending order
    commonest: tuple[tuple[str, int], ...]  # words with their frequencies
    unseen_share: float  # of the words of the test split, 0 to 1: those that no training sentence has

    @property
    def once_share(self) -> float:
        """The share, 0 to 1, of distinct words that occur only once."""
        return float((self.frequencies == 1).mean()) if self.frequencies.size else 0.0


@dataclass(frozen=True)
class CorpusStatistics:
    """The sizes of the splits, and the statistics of both languages."""

    splits: dict[str, int]  # sentence pairs
    source: LanguageStatistics
    target: LanguageStatistics


def measure_corpus(corpus: PreparedCorpus, tag: Tag | None = None) -> CorpusStatistics:
    """Measures a corpus, or its pairs with a tag. Raises OptionError if the sources are pictures."""
    corpus.require_text(
        "which cannot be compared with texts",
        hint="`nmt prepare -v` shows the number of pictures and the lengths of their captions",
    )
    selected = {
        split: np.array([tag is None or tag in tags for tags in corpus.read_tags(split)], bool)
        for split in ("train", "dev", "test")
    }
    train, test = (list(compress(corpus.read_pairs(split), selected[split])) for split in ("train", "test"))
    encoded = corpus.load_encoded("train")
    sides = (
        (encoded.source.require_sentences("pictures have no words"), corpus.source_tokenizer),
        (encoded.target, corpus.target_tokenizer),
    )
    lengths = [drop_contexts(drop_tag_ids(rows, tokenizer), tokenizer).lengths for rows, tokenizer in sides]
    source, target = (
        measure_language(
            language, [pair[side] for pair in train], [pair[side] for pair in test], length[selected["train"]]
        )
        for side, (language, length) in enumerate(
            zip(replace_languages(corpus.languages, [tag] if tag else []), lengths, strict=True)
        )
    )
    return CorpusStatistics({split: int(rows.sum()) for split, rows in selected.items()}, source, target)


def measure_language(
    language: str, train: Sequence[str], test: Sequence[str], pieces: NDArray[np.integer]
) -> LanguageStatistics:
    """Measures the training sentences of one language; `pieces` (N,) are their lengths in subwords.

    The test sentences only serve to find words missing from the training sentences.
    """
    counts: Counter[str] = Counter()
    lengths = []
    for sentence in train:
        words = split_words(sentence)
        counts.update(words)
        lengths.append(len(words))
    test_words = [word for sentence in test for word in split_words(sentence)]
    unseen = sum(word not in counts for word in test_words)
    return LanguageStatistics(
        language=language,
        words=np.array(lengths),
        pieces=np.asarray(pieces),
        frequencies=np.array(sorted(counts.values(), reverse=True)),
        commonest=tuple(counts.most_common(12)),
        unseen_share=unseen / max(1, len(test_words)),
    )
