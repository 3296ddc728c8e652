"""Runs the checks over all pairs: what is dropped and why, and what the report says of it.

Knows neither how pairs are read nor what becomes of those that are kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nmt_cli.corpus.checks import CHECKS, checked_names
from nmt_cli.corpus.checks.check import Check, CorpusCheck, Found
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.manifest import Action, Example, Finding
from nmt_cli.corpus.pairs import BoolArray, Pairs
from nmt_cli.corpus.steps.examine import BIT
from nmt_cli.errors import DataError

EXAMPLES = 3
LONGEST_EXAMPLE = 200  # characters of a side


def diagnose(
    pairs: Pairs, config: PrepareConfig, advance: Callable[[int], None], names: frozenset[str] | None = None
) -> tuple[Finding, ...]:
    """Looks with every check in turn, or with those of these `names`; sets `pairs.reasons`.

    Returns the findings of the checks that found something.

    Given dev and test pairs are only dropped when they are empty or touch each other: they are what others measure by.
    """
    keep = checked_names(config.keep)
    in_training = pairs.in_role("train")
    findings = []
    for number, check in enumerate(CHECKS):
        if names is not None and check.name not in names:
            continue
        among = pairs.alive if check.looks_at_all else pairs.alive & in_training
        found = look(check, pairs, among, config)
        drops = check.action == "dropped" and check.name not in keep
        if found.rows.any():
            action: Action = "kept" if check.name in keep else check.action
            findings.append(finding(check, found, pairs, action))
        if drops:
            pairs.reasons[found.rows] = number + 1
        advance(number + 1)
    return tuple(findings)


def look(check: Check, pairs: Pairs, among: BoolArray, config: PrepareConfig) -> Found:
    """What a check finds among those pairs."""
    if isinstance(check, CorpusCheck):
        return check.find(pairs, among, config) if among.any() else Found(among)
    return Found(((pairs.facts.flags & BIT[check.name]) != 0) & among)


def finding(check: Check, found: Found, pairs: Pairs, action: Action) -> Finding:
    """What the report says of the pairs that a check found."""
    rows = np.flatnonzero(found.rows)
    # Of those that were mended, rather the ones that are remembered as they were.
    remembered = [row for row in pairs.originals if found.rows[row]] if check.action == "mended" else []
    shown = sorted(remembered)[:EXAMPLES] or rows[:EXAMPLES].tolist()
    return Finding(
        check=check.name,
        problem=check.problem,
        count=len(rows),
        action=action,
        note=found.note,
        examples=tuple(example(pairs, row, as_it_was=check.action == "mended") for row in shown),
    )


def example(pairs: Pairs, row: int, *, as_it_was: bool) -> Example:
    """A pair with its place; as it was before it was mended, where that is asked for and known."""
    facts, texts = pairs.facts, (pairs.source[row], pairs.target[row])
    source, target = pairs.originals.get(row, texts) if as_it_was else texts
    name = pairs.names[int(facts.inputs[row])]
    return Example(file=name, line=int(facts.lines[row]), source=shortened(source), target=shortened(target))


def shortened(text: str) -> str:
    """A text that can be shown and written: not too long, and without halves of surrogate pairs."""
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]}…"


def refuse_findings(findings: tuple[Finding, ...]) -> None:
    """What `--strict` does: raises the DataError that names every finding but those that `--keep` accepts."""
    bad = [each for each in findings if each.action != "kept"]
    if bad:
        first = bad[0].examples[0]
        keepable = {check.name for check in CHECKS if check.can_be_kept}
        some = next((each.check for each in bad if each.check in keepable), None)
        told = ", ".join(f"{each.count:,} {each.check}" for each in bad)
        raise DataError(
            f"--strict: {told} (first: {first.file}, line {first.line:,})",
            hint="see them with --report report.html" + (f"; accept some with --keep {some}" if some else ""),
        )
