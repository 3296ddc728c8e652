"""Parallel files whose lines are shifted against each other."""

import numpy as np
import pytest

from nmt_cli.corpus.checks.shifted import find_shifts
from support.corpora import check_rows


def lengths(number: int, seed: int = 1) -> tuple[list[int], list[int]]:
    generator = np.random.default_rng(seed)
    source = generator.lognormal(3.5, 0.5, number) + 1
    return source.astype(int).tolist(), (source * generator.lognormal(0.1, 0.2, number) + 1).astype(int).tolist()


@pytest.mark.parametrize("lines", [1, -1, 3, -7])
@pytest.mark.parametrize("first", [0, 150, 1200])
def test_shifted_lines_are_found_with_their_first_line(lines: int, first: int) -> None:
    source, target = lengths(3000)
    moved = target[first:]
    moved = [20] * lines + moved[:-lines] if lines > 0 else moved[-lines:] + [20] * -lines
    shifts = find_shifts(source, target[:first] + moved)
    assert [shift.lines for shift in shifts] == [lines]
    assert abs(shifts[0].first - first) <= 10
    assert shifts[0].end == 3000


def test_a_shift_that_is_made_good_ends_there() -> None:
    source, target = lengths(3000)
    shifts = find_shifts(source, [*target[:1000], 5, *target[1000:1999], *target[2000:]])
    assert len(shifts) == 1
    assert abs(shifts[0].first - 1000) <= 5 and abs(shifts[0].end - 2000) <= 5


@pytest.mark.parametrize("seed", range(5))
def test_lines_in_place_are_not_shifted_also_when_sorted_or_random_or_few(seed: int) -> None:
    source, target = lengths(3000, seed)
    assert find_shifts(source, target) == []
    assert find_shifts(sorted(source), sorted(target)) == []
    assert find_shifts(source, lengths(3000, seed + 10)[1]) == []
    assert find_shifts(source[:150], target[:150]) == []
    assert find_shifts([7] * 500, [9] * 500) == []


def test_shifted_pairs_are_dropped_and_the_line_is_told() -> None:
    source, target = lengths(1000)
    texts = [("s" * a, "t" * b) for a, b in zip(source, [*target[:600], 9, *target[600:-1]], strict=True)]
    finding = check_rows([(f"{a} {i}", f"{b} {i}") for i, (a, b) in enumerate(texts)])["shifted"]
    assert finding.action == "dropped" and 395 <= finding.count <= 405
    assert "0.tsv from about line " in finding.note and "to 1,000, by 1 line" in finding.note
