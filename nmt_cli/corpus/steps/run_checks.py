"""Runs the checks over all pairs: decides which pairs are dropped and why, and makes the findings of the report.

Knows neither how pairs are read nor what happens to kept ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from nmt_cli.arrays.scratch import count_numbers, find_first, judge_blocks
from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.corpus.checks import CHECKS, check_names
from nmt_cli.corpus.checks.check import Check, CheckResult, CorpusCheck
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.manifest import Action, Finding, FindingExample
from nmt_cli.corpus.pairs import Pairs
from nmt_cli.corpus.steps.reading import CHECK_BITS
from nmt_cli.errors import DataError
from nmt_cli.text.wrapping import shorten_text

MOST_NOTES = 2  # of a check that learned something else of each language
EXAMPLES = 3  # of each finding
LINES_LISTED = 500  # of each finding, for somebody who mends them one by one
LONGEST_EXAMPLE = 200  # characters of a side


def run_checks(
    pairs: Pairs, config: PrepareOptions, advance: Callable[[int], None], only_checks: frozenset[str] | None = None
) -> tuple[Finding, ...]:
    """Runs every check in turn, or only those with these names, and sets `pairs.reasons` of the dropped pairs.

    Returns the non-empty findings; `advance` receives the number of finished checks.

    Dev and test pairs from files are dropped only if they are empty or share a sentence with each other, since others
    measure with the same data.
    """
    keep = check_names(config.keep)
    in_training = pairs.has_role("train")
    findings = []
    for number, check in enumerate(CHECKS):
        if only_checks is not None and check.name not in only_checks:
            continue
        among = pairs.is_kept if check.covers_every_role else pairs.is_kept & in_training
        result = run_check(check, pairs, among, config)
        if np.count_nonzero(result.rows) >= max(1, check.least_share * np.count_nonzero(among)):
            action: Action = "kept" if check.name in keep else check.action
            findings.append(make_finding(check, result, pairs, action))
        if check.action == "dropped" and check.name not in keep:
            pairs.reasons[result.rows] = number + 1
        advance(number + 1)
    pairs.shared_results.clear()
    return tuple(findings)


def run_check(check: Check, pairs: Pairs, among: BoolArray, config: PrepareOptions) -> CheckResult:
    """Runs one check on the pairs that `among` (N,) selects."""
    if isinstance(check, CorpusCheck):
        groups = iter([among]) if check.crosses_languages else divide_by_language(pairs, among)
        rows, notes = np.zeros(len(pairs), np.bool_), []
        for group in groups:
            if group.any():
                result = check.find_problems(pairs, group, config)
                rows |= result.rows
                notes.append(result.note)
        distinct = list(dict.fromkeys(filter(None, notes)))
        return CheckResult(rows, "; ".join(distinct) if len(distinct) <= MOST_NOTES else "by the language")
    bit, flags = np.uint32(CHECK_BITS[check.name]), pairs.facts.flags
    return CheckResult(judge_blocks(len(pairs), lambda block: (flags[block] & bit != 0) & among[block]))


def divide_by_language(pairs: Pairs, among: BoolArray) -> Iterator[BoolArray]:
    """Yields the pairs that `among` (N,) selects, divided by the languages that their tags name."""
    if len(pairs.tag_sets) == 1:
        yield among
        return
    numbers = pairs.language_numbers
    for number in np.flatnonzero(count_numbers(numbers, int(numbers.max(initial=0)) + 1)):
        yield among & (numbers == number)


def make_finding(check: Check, result: CheckResult, pairs: Pairs, action: Action) -> Finding:
    """Returns the finding about the pairs that a check found."""
    # For a repaired text, prefer examples whose original is remembered.
    remembered = [row for row in pairs.originals if result.rows[row]] if check.action == "mended" else []
    example_rows = sorted(remembered)[:EXAMPLES] or find_first(result.rows, EXAMPLES)
    return Finding(
        check=check.name,
        problem=check.problem,
        count=int(np.count_nonzero(result.rows)),
        action=action,
        note=result.note,
        examples=tuple(make_example(pairs, row, as_it_was=check.action == "mended") for row in example_rows),
        lines=list_lines(pairs, find_first(result.rows, LINES_LISTED)),
    )


def list_lines(pairs: Pairs, rows: Iterable[int]) -> dict[str, list[int]]:
    """Returns the line numbers of these rows by file."""
    lines: dict[str, list[int]] = {}
    for row in rows:
        name = pairs.input_names[int(pairs.facts.input_numbers[row])]
        lines.setdefault(name, []).append(int(pairs.facts.line_numbers[row]))
    return lines


def make_example(pairs: Pairs, row: int, *, as_it_was: bool) -> FindingExample:
    """Returns a pair with its file and line; with `as_it_was`, the text before repair, where known."""
    facts, texts = pairs.facts, (pairs.source[row], pairs.target[row])
    source, target = pairs.originals.get(row, texts) if as_it_was else texts
    name = pairs.input_names[int(facts.input_numbers[row])]
    return FindingExample(
        file=name, line=int(facts.line_numbers[row]), source=clean_text(source), target=clean_text(target)
    )


def clean_text(text: str) -> str:
    """Shortens a text and drops unpaired surrogates, so that it can be shown and written."""
    text = text.encode("utf-8", "replace").decode()
    return shorten_text(text, LONGEST_EXAMPLE)


def refuse_findings(findings: tuple[Finding, ...]) -> None:
    """Raises the DataError of `--strict`, naming all findings that `--keep` does not accept, if there are any."""
    refused = [finding for finding in findings if finding.action != "kept"]
    if refused:
        first = refused[0].examples[0]
        keepable = {check.name for check in CHECKS if check.can_be_kept}
        name = next((finding.check for finding in refused if finding.check in keepable), None)
        counts = ", ".join(f"{finding.count:,} {finding.check}" for finding in refused)
        raise DataError(
            f"--strict: {counts} (first: {first.place})",
            hint="see them with --report report.html" + (f"; accept some with --keep {name}" if name else ""),
        )


def describe_rows(pairs: Pairs, rows: IntArray, *, check: str, problem: str, action: Action) -> tuple[Finding, ...]:
    """Returns a finding about these rows; empty without rows."""
    examples = tuple(make_example(pairs, row, as_it_was=False) for row in rows[:EXAMPLES].tolist())
    lines = list_lines(pairs, rows[:LINES_LISTED])
    finding = Finding(
        check=check, problem=problem, count=len(rows), action=action, note="", examples=examples, lines=lines
    )
    return (finding,) if len(rows) else ()
