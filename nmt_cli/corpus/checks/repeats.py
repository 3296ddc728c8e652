"""Checks of repetition: duplicate pairs, sources with several targets, test sentences in the training data."""

from __future__ import annotations

import numpy as np

from nmt_cli.arrays.equal_rows import AnyKeys, find_equal_rows, mark_repeated
from nmt_cli.arrays.scratch import find_members
from nmt_cli.arrays.types import BoolArray
from nmt_cli.corpus.checks.check import CheckResult, CorpusCheck
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.pairs import Pairs
from nmt_cli.text.wrapping import format_count


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
            in_training = pairs.has_role("train")
            for keys in pairs.connecting_keys:
                in_test = find_members(keys, keys[test])
                rows |= in_test & ~test
                rows |= find_members(keys, keys[dev & ~in_test]) & in_training
        return CheckResult(rows & candidates)


def list_form_keys(pairs: Pairs) -> list[AnyKeys]:
    """Returns the keys (N,) that are equal for pairs of the same form and tags: a label may be in a manual, too."""
    facts = pairs.facts
    return [facts.source_keys, facts.target_keys, *([facts.tags] if len(pairs.tag_sets) > 1 else [])]


class Duplicate(CorpusCheck):
    name = "duplicate"
    problem = "duplicates"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        keys = [*list_form_keys(pairs), pairs.facts.checksums]
        return CheckResult(mark_repeated(keys, candidates, pairs.scratch))


class DuplicateForm(CorpusCheck):
    name = "duplicate-form"
    problem = "duplicates except for case, width or the shape of quotes"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        keys = list_form_keys(pairs)
        rows = mark_repeated(keys, candidates, pairs.scratch)
        if Duplicate.name in config.keep:
            rows &= ~mark_repeated([*keys, pairs.facts.checksums], candidates, pairs.scratch)
        return CheckResult(rows)


class ManyTargets(CorpusCheck):
    name = "many-targets"
    problem = "the same source with several targets"
    action = "reported"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        rows, sources, most = np.zeros(len(pairs), dtype=np.bool_), 0, 0
        for part in find_equal_rows([pairs.facts.source_keys], candidates, pairs.scratch):
            rows[part.rows] = True
            sources += len(part.starts)
            most = max(most, int(np.diff(part.starts, append=len(part.rows)).max(initial=0)))
        return CheckResult(rows, f"{format_count(sources, 'source')}, with up to {most:,} targets")
