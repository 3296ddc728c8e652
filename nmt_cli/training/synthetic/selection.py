"""Selects the synthetic pairs to learn. Knows text and its translations, no models. Letters: N pairs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.dataset import PreparedCorpus, SyntheticPair
from nmt_cli.corpus.pairs import Side, Texts
from nmt_cli.corpus.steps.held_out import find_near_held_out
from nmt_cli.jobs.job import Job
from nmt_cli.text.normalise import count_words, make_sentence_key
from nmt_cli.text.tags import TagSet
from nmt_cli.text.wrapping import format_count
from nmt_cli.training.synthetic.stages import TaggedText, Task
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.lines import lay_out_lines
from nmt_cli.translation.repair.faults import find_fault
from nmt_cli.translation.result import Translation
from nmt_cli.translation.translator import Translator

SPREADS = 4.0  # a ratio of lengths that is so many standard deviations from the mean is off
LENGTH_SLACK = 3  # words by which the lengths may always differ
LEAST_CONFIDENT = 0.01  # share of the development set that is less likely than what is still learned


@dataclass(frozen=True)
class WordRatio:
    """The length relation of real pairs: mean and spread of the logarithm of target by source words."""

    mean: float
    spread: float

    @classmethod
    def from_corpus(cls, corpus: PreparedCorpus) -> WordRatio:
        words = np.array([[count_words(pair.source), count_words(pair.target)] for pair in corpus.read_pairs("train")])
        ratios = np.log(words[:, 1] / words[:, 0])
        return cls(float(ratios.mean()), max(float(ratios.std()), 0.1))

    def is_off(self, source: str, target: str) -> bool:
        """Whether hardly any real pair has lengths that differ as much."""
        source_words, target_words = max(count_words(source), 1), max(count_words(target), 1)
        expected = source_words * np.exp(self.mean)
        ratio = np.log(target_words / expected)
        return bool(abs(ratio) > SPREADS * self.spread and abs(target_words - expected) > LENGTH_SLACK)


@dataclass(frozen=True)
class HeldOutSentences:
    """The keys and texts of the sentences of the development and test sets, by side."""

    keys: tuple[frozenset[str], frozenset[str]]
    texts: tuple[Texts, Texts]

    @classmethod
    def from_corpus(cls, corpus: PreparedCorpus) -> HeldOutSentences:
        pairs = [pair for split in ("dev", "test") for pair in corpus.read_pairs(split)]
        sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
        keys = frozenset(map(make_sentence_key, sources)), frozenset(map(make_sentence_key, targets))
        return cls(keys, (Texts.from_strings(sources), Texts.from_strings(targets)))

    def find(self, sentences: Sequence[str], side: int) -> NDArray[np.bool_]:
        """Returns (N,) which sentences equal or nearly equal a held-out sentence of side 0 (source) or 1 (target)."""
        is_equal = np.array([make_sentence_key(sentence) in self.keys[side] for sentence in sentences], dtype=np.bool_)
        texts, held_out = Texts.from_strings(sentences), self.texts[side]
        return is_equal | find_near_held_out(texts, np.arange(len(texts)), held_out, np.arange(len(held_out)))


@dataclass(frozen=True)
class Selection:
    """The synthetic pairs to learn, and how many were dropped, by reason."""

    pairs: list[SyntheticPair]
    dropped: Counter[str]

    @property
    def summary(self) -> str:
        """The counts in words for the user."""
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.dropped.most_common())
        return format_count(len(self.pairs), "synthetic pair") + (f"; dropped {reasons}" if reasons else "")


def select_pairs(
    pairs: Sequence[SyntheticPair],
    confidences: Sequence[float],
    held_out: HeldOutSentences,
    ratio: WordRatio,
    least: float,
    generated: Side,
    real: Collection[tuple[str, str]] = frozenset(),
) -> Selection:
    """Returns the pairs to learn. Both sides of each are checked against the development and test sets.

    One side of all pairs was `generated`. `confidences` (N,) are mean log-probabilities per token, NaN where unknown;
    pairs below `least` are dropped, as are pairs that are `real` already (Nguyen et al. 2020).
    """
    is_held_out = held_out.find([pair.source for pair in pairs], 0) | held_out.find([pair.target for pair in pairs], 1)
    kept: dict[SyntheticPair, None] = {}
    dropped: Counter[str] = Counter()
    for pair, confidence, leaks in zip(pairs, confidences, is_held_out.tolist(), strict=True):
        reason = "held out" if leaks else find_problem(pair, ratio, generated)
        if not reason and confidence < least:
            reason = "of low confidence"
        if not reason and (pair.source, pair.target) in real:
            reason = "as in the corpus"
        if not reason and pair in kept:
            reason = "duplicate"
        if reason:
            dropped[reason] += 1
        else:
            kept[pair] = None
    return Selection(list(kept), dropped)


def find_problem(pair: SyntheticPair, ratio: WordRatio, generated: Side) -> str:
    """Describes the problem of a pair; empty if it may be learned."""
    if not pair.source or not pair.target:
        return "empty"
    texts = (pair.target, pair.source) if generated == "source" else (pair.source, pair.target)
    fault = find_fault(*texts, finished=True)
    if fault is not None:
        return {"loop": "repeated", "copied": "copied"}.get(fault, fault)
    return "off in length" if ratio.is_off(pair.source, pair.target) else ""


def measure_confidence(translation: Translation) -> float:
    """Returns the mean log-probability per token of a translation, in nats; NaN without a translation."""
    if not translation.hypotheses or not translation.hypotheses[0].tokens:
        return math.nan
    hypothesis = translation.hypotheses[0]
    return hypothesis.log_probability / len(hypothesis.tokens)


# What a process needs to translate text for training with a helper model, block by block.


HelperResult = tuple[float, str]  # the confidence of a translation, and its text


class TaggedBlock(NamedTuple):
    """N sentences, the first of which has this number in the whole text."""

    first: int
    lines: list[str]
    tags: list[TagSet]  # (N,) as the helper model reads them

    def __str__(self) -> str:
        return f"sentences {self.first + 1:,} to {self.first + len(self.lines):,}"


class HelperWork(NamedTuple):
    """The job of a helper model, of which only confidences and texts are needed. Implements `workers.work.Work`."""

    job: Job

    def start(self, *, threads: int | None = None) -> Callable[[TaggedBlock], list[HelperResult]]:
        return partial(self.translate_block, self.job.open_translator(threads))

    def pack(self) -> HelperWork:
        return HelperWork(self.job.pack())

    def hold(self) -> HelperWork:
        return HelperWork(self.job.hold())

    def translate_block(self, translator: Translator, block: TaggedBlock) -> list[HelperResult]:
        """Translates the sentences of a block."""
        lines, options = lay_out_lines(block.lines, block.tags), TranslateOptions(self.job.search)
        translations = translator.translate(lines, options, first_line=block.first)
        return [
            (measure_confidence(translation), "" if translation.failure else translation.text)  # a copy is no pair
            for translation in translations
        ]


def cut_block(task: Task, texts: Sequence[TaggedText], start: int, size: int) -> TaggedBlock:
    """Returns the block of the texts of a task that begins with this one."""
    block = texts[start : start + size]
    return TaggedBlock(start, [text.text for text in block], [task.orient_tags(text.tags) for text in block])
