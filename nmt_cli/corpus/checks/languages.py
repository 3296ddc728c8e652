"""Checks of language, by a small identifier that is trained on the corpus itself: no download, no list of languages.

Naive Bayes over groups of four bytes. It knows two languages, those of the two columns; most of the corpus being right
is all that it needs. Where it cannot tell the columns apart, as in paraphrases, these checks say nothing.
Letters: N pairs, G groups of bytes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.checks.check import CorpusCheck, Found
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.pairs import BoolArray, Pairs, Texts

ENOUGH = 2_000  # pairs to learn two languages from
SAMPLE = 200_000  # pairs that are learnt from at most
BUCKETS = 1 << 18
PIECE = 100_000  # texts at a time
SMOOTHING = 2.0  # so that what stands in one sentence only proves little

# Nats for the other language, in all and for each group of bytes. On 169,813 pairs of Tatoeba English-German, of which
# 1,000 were swapped and 2,000 had one side in the other's language, these found 99 % and 98 %, and none that was right
# (2 in the corpus as it is, "Tom has Windows 7." / "Tom hat Windows 7.");
# for one side alone, the lower two also took 10 of "Tom was clever." / "Tom war clever.".
DECISIVE_OF_BOTH, DECISIVE_OF_BOTH_EACH = 12.0, 0.5
DECISIVE_OF_ONE, DECISIVE_OF_ONE_EACH = 18.0, 1.0
DISTINCT = 0.9  # the share of sentences on their own side, without which the languages cannot be told apart
SHORTEST = 12  # bytes of text that can be told
LEAST_LIKELY = 8.0  # robust spreads below what is usual


@dataclass(frozen=True)
class Evidence:
    """About one side of N pairs."""

    against: NDArray[np.float32]  # (N,) nats for the language of the other side against that of its own
    likelihood: NDArray[np.float32]  # (N,) mean nats of a group of bytes under the language of its own side
    sizes: NDArray[np.int64]  # (N,) groups of bytes

    def is_foreign(self, decisive: float, decisive_each: float) -> BoolArray:
        """(N,) whether there are that many nats, in all and for each group, for the language of the other side."""
        enough = (self.against > decisive) & (self.against > decisive_each * self.sizes)
        return np.asarray(enough & (self.sizes >= SHORTEST))


def groups_of(texts: Texts, rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Piece by piece: (G,) the buckets of all groups of four bytes in the texts of `rows`, and (n + 1,) their offsets.

    Upper case counts as lower; a blank stands before and after each text.
    """
    for start in range(0, len(rows), PIECE):
        parts = [b" %b " % text.lower().encode() for text in texts.select(rows[start : start + PIECE])]
        data = np.frombuffer(b"".join(parts), np.uint8).astype(np.uint32)
        hashed = (data[:-3] | data[1:-2] << 8 | data[2:-1] << 16 | data[3:] << 24) * np.uint32(2654435761)
        buckets = (hashed >> np.uint32(32 - 18)).astype(np.int64)
        sizes = np.fromiter(map(len, parts), np.int64, count=len(parts))
        # The three groups that reach into the next text belong to no text, but are so few that they do no harm.
        yield buckets, np.minimum(np.concatenate([[0], np.cumsum(sizes)]), len(buckets))


def learn(texts: Texts, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """(BUCKETS,) natural logarithm of the probability of each group of bytes."""
    counts = np.full(BUCKETS, SMOOTHING)
    for buckets, _ in groups_of(texts, rows):
        counts += np.bincount(buckets, minlength=BUCKETS)
    return np.asarray(np.log(counts / counts.sum()), np.float32)


def gather(pairs: Pairs, among: BoolArray) -> tuple[Evidence, Evidence] | None:
    """The evidence about both sides of every pair; None with too little to learn from, or nothing to tell apart."""
    rows = np.flatnonzero(among)
    if len(rows) < ENOUGH:
        return None
    sample = rows[:: -(-len(rows) // SAMPLE)]
    source, target = learn(pairs.source, sample), learn(pairs.target, sample)
    evidence = weigh(pairs.source, target - source, source), weigh(pairs.target, source - target, target)
    if min(float((side.against[rows] < 0).mean()) for side in evidence) < DISTINCT:
        return None
    return evidence


def weigh(texts: Texts, odds: NDArray[np.float32], expected: NDArray[np.float32]) -> Evidence:
    """The evidence about each text, from what each group of bytes says."""
    against, likelihood, sizes = [], [], []
    for buckets, offsets in groups_of(texts, np.arange(len(texts))):
        count = np.maximum(np.diff(offsets), 1)
        padded = np.append(buckets, 0)
        against.append(np.add.reduceat(odds[padded], offsets[:-1]))
        likelihood.append((np.add.reduceat(expected[padded], offsets[:-1]) / count).astype(np.float32))
        sizes.append(count)
    return Evidence(np.concatenate(against), np.concatenate(likelihood), np.concatenate(sizes))


class LanguageCheck(CorpusCheck):
    """What the three have in common: the evidence, gathered once for the same pairs."""

    def read_evidence(self, pairs: Pairs, among: BoolArray) -> tuple[Evidence, Evidence] | None:
        if "languages" not in pairs.shared_results:
            pairs.shared_results["languages"] = gather(pairs, among)
        evidence: tuple[Evidence, Evidence] | None = pairs.shared_results["languages"]
        return evidence

    def find(self, pairs: Pairs, among: BoolArray, config: PrepareConfig) -> Found:
        evidence = self.read_evidence(pairs, among)
        if evidence is None:
            return Found(np.zeros(len(pairs), dtype=np.bool_))
        return Found(self.judge(*evidence, among) & among)

    @abstractmethod
    def judge(self, source: Evidence, target: Evidence, among: BoolArray) -> BoolArray:
        """The pairs with the problem."""


class Swapped(LanguageCheck):
    name = "swapped"
    problem = "each side is in the language of the other"

    def judge(self, source: Evidence, target: Evidence, among: BoolArray) -> BoolArray:
        nats = DECISIVE_OF_BOTH, DECISIVE_OF_BOTH_EACH
        return source.is_foreign(*nats) & target.is_foreign(*nats)


class Language(LanguageCheck):
    name = "language"
    problem = "both sides are in the same language"

    def judge(self, source: Evidence, target: Evidence, among: BoolArray) -> BoolArray:
        nats = DECISIVE_OF_ONE, DECISIVE_OF_ONE_EACH
        return source.is_foreign(*nats) ^ target.is_foreign(*nats)  # both: swapped, which may be kept


class Unlike(LanguageCheck):
    name = "unlike"
    problem = "one side is unlike all others, perhaps in a third language"
    action = "reported"

    def judge(self, source: Evidence, target: Evidence, among: BoolArray) -> BoolArray:
        return is_unlikely(source, among) | is_unlikely(target, among)


def is_unlikely(side: Evidence, among: BoolArray) -> BoolArray:
    """(N,) whether a text of some length is far less likely than is usual on its side."""
    long_enough = side.sizes >= 2 * SHORTEST
    usual = side.likelihood[among & long_enough]
    if len(usual) < ENOUGH // 2:
        return np.zeros(len(among), dtype=np.bool_)
    middle = np.median(usual)
    spread = 1.4826 * np.median(np.abs(usual - middle))
    return np.asarray(long_enough & (side.likelihood < middle - LEAST_LIKELY * spread))
