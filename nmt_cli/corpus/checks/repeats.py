"""Checks of repetition: duplicate pairs, sources with several targets, test sentences in the training data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.checks.check import CheckResult, CorpusCheck
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.pairs import BoolArray, Pairs
from nmt_cli.text.wrapping import format_count

KeyArray = NDArray[np.uint64]


class HeldOut(CorpusCheck):
    name = "held-out"
    problem = "a sentence of the given dev or test data"
    can_be_kept = False
    covers_every_role = True
    crosses_languages = True

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        """Finds training pairs that share a sentence with dev or test data from files, and dev pairs with test data."""
        dev, test = (pairs.has_role(role) & candidates for role in ("dev", "test"))
        rows = np.zeros(len(pairs), dtype=np.bool_)
        if dev.any() or test.any():
            for keys in pairs.connecting_keys:
                in_test = np.isin(keys, keys[test])
                rows |= in_test & ~test
                rows |= np.isin(keys, keys[dev & ~in_test]) & pairs.has_role("train")
        return CheckResult(rows & candidates)


class Duplicate(CorpusCheck):
    name = "duplicate"
    problem = "duplicates"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        facts = pairs.facts
        return CheckResult(find_repeated([facts.source_keys, facts.target_keys, facts.checksums], candidates))


class DuplicateForm(CorpusCheck):
    name = "duplicate-form"
    problem = "duplicates except for case, width or the shape of quotes"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        keys = [pairs.facts.source_keys, pairs.facts.target_keys]
        rows = find_repeated(keys, candidates)
        if Duplicate.name in config.keep:
            rows &= ~find_repeated([*keys, pairs.facts.checksums], candidates)
        return CheckResult(rows)


class ManyTargets(CorpusCheck):
    name = "many-targets"
    problem = "the same source with several targets"
    action = "reported"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        keys = pairs.facts.source_keys[candidates]
        _, numbers, counts = np.unique(keys, return_inverse=True, return_counts=True)
        rows = np.zeros(len(pairs), dtype=np.bool_)
        rows[candidates] = counts[numbers] > 1
        sources, most = int((counts > 1).sum()), int(counts.max(initial=0))
        return CheckResult(rows, f"{format_count(sources, 'source')}, with up to {most:,} targets")


def find_repeated(keys: Sequence[NDArray[np.uint32] | KeyArray], candidates: BoolArray) -> BoolArray:
    """Returns (N,) the `candidates` whose keys all equal those of an earlier candidate."""
    rows = np.flatnonzero(candidates)
    order = np.lexsort([key[rows] for key in keys])  # stable, so that the earliest of equal rows comes first
    same = np.ones(max(len(rows) - 1, 0), dtype=np.bool_)
    for key in keys:
        ordered = key[rows][order]
        same &= ordered[1:] == ordered[:-1]
    is_repeated = np.zeros(len(candidates), dtype=np.bool_)
    is_repeated[rows[order[1:][same]]] = True
    return is_repeated
