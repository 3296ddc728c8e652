"""Checks of repetition: pairs that stand there twice, sources with several targets, test pairs in the training data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.checks.check import CorpusCheck, Found
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.pairs import BoolArray, Pairs

KeyArray = NDArray[np.uint64]


class HeldOut(CorpusCheck):
    name = "held-out"
    problem = "a sentence of the given dev or test data"
    can_be_kept = False
    looks_at_all = True

    def find(self, pairs: Pairs, among: BoolArray, config: PrepareConfig) -> Found:
        """Training pairs that touch given dev or test data; given dev pairs that touch given test data."""
        dev, test = (pairs.has_role(role) & among for role in ("dev", "test"))
        rows = np.zeros(len(pairs), dtype=np.bool_)
        if dev.any() or test.any():
            for keys in pairs.connecting_keys:
                in_test = np.isin(keys, keys[test])
                rows |= in_test & ~test
                rows |= np.isin(keys, keys[dev & ~in_test]) & pairs.has_role("train")
        return Found(rows & among)


class Duplicate(CorpusCheck):
    name = "duplicate"
    problem = "duplicates"

    def find(self, pairs: Pairs, among: BoolArray, config: PrepareConfig) -> Found:
        facts = pairs.facts
        return Found(find_repeated([facts.source_keys, facts.target_keys, facts.checksums], among))


class DuplicateForm(CorpusCheck):
    name = "duplicate-form"
    problem = "duplicates but for case, width or the shape of quotes"

    def find(self, pairs: Pairs, among: BoolArray, config: PrepareConfig) -> Found:
        keys = [pairs.facts.source_keys, pairs.facts.target_keys]
        rows = find_repeated(keys, among)
        if Duplicate.name in config.keep:
            rows &= ~find_repeated([*keys, pairs.facts.checksums], among)
        return Found(rows)


class ManyTargets(CorpusCheck):
    name = "many-targets"
    problem = "the source has other targets too"
    action = "reported"

    def find(self, pairs: Pairs, among: BoolArray, config: PrepareConfig) -> Found:
        keys = pairs.facts.source_keys[among]
        _, numbers, counts = np.unique(keys, return_inverse=True, return_counts=True)
        rows = np.zeros(len(pairs), dtype=np.bool_)
        rows[among] = counts[numbers] > 1
        return Found(rows, f"{int((counts > 1).sum()):,} sources, one of them with {int(counts.max(initial=0)):,}")


def find_repeated(keys: Sequence[NDArray[np.uint32] | KeyArray], among: BoolArray) -> BoolArray:
    """(N,) the pairs `among` whose keys are all equal to those of an earlier one of them."""
    rows = np.flatnonzero(among)
    order = np.lexsort([key[rows] for key in keys])  # stable, so that the first of equal ones is the earliest
    same = np.ones(max(len(rows) - 1, 0), dtype=np.bool_)
    for key in keys:
        ordered = key[rows][order]
        same &= ordered[1:] == ordered[:-1]
    is_repeated = np.zeros(len(among), dtype=np.bool_)
    is_repeated[rows[order[1:][same]]] = True
    return is_repeated
