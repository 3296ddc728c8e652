"""From checked pairs to splits: weights, near-duplicates and counts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.steps.build import DROP_REASONS, count_pairs
from nmt_cli.corpus.steps.held_out import drop_near_held_out, split_pairs
from nmt_cli.corpus.steps.run_checks import run_checks
from nmt_cli.errors import DataError
from nmt_cli.text.normalise import make_sentence_key
from support.corpora import examine_rows

CELLS = st.one_of(st.text(alphabet="ab \u00a0\t&;<", max_size=4), st.text(max_size=8))
ROWS = st.lists(
    st.tuples(CELLS, CELLS, st.integers(0, 3), st.sampled_from(["", "a", "b", "c", "d"])), min_size=1, max_size=60
)


def silent(stage: str, done: int, total: int) -> None:
    """A progress callback that tells nobody."""


@given(ROWS, st.booleans(), st.sampled_from([(1.0, 1.0), (2.0, 0.5), (1.5, 1.0)]))
def test_counts_add_up_and_nothing_leaks_for_any_input(
    rows: list[tuple[str, str, int, str]], near: bool, weights: tuple[float, float]
) -> None:
    """Inputs 0 and 1 are the corpus; 2 is given dev data, 3 given test data."""
    pairs = examine_rows(
        [row[:2] for row in rows],
        roles=["train", "train", "dev", "test"],
        weights=[*weights, 1.0, 1.0],
        inputs=[row[2] for row in rows],
        groups=[row[3] for row in rows],
    )
    config = PrepareOptions(dev="dev.tsv", test="test.tsv", near_duplicates=near)
    run_checks(pairs, config, lambda done: None)
    drop_near_held_out(pairs, config)
    try:
        division = split_pairs(pairs, config, silent)
    except DataError:
        return
    counts = count_pairs(pairs, division)
    assert counts.read == len(rows) == counts.kept + sum(counts.dropped.values())
    assert counts.kept + counts.repeated == sum(counts.splits.values())
    assert list(counts.dropped) == list(DROP_REASONS)
    for side in (pairs.source, pairs.target):
        seen = [
            {make_sentence_key(side[row]) for row in rows_of.tolist()} for rows_of in division.splits.by_name.values()
        ]
        assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]
    places = [(pairs.facts.input_numbers[row], pairs.facts.line_numbers[row]) for row in range(len(pairs))]
    values = [
        {rows[places[row][1] - 1][3] for row in split.tolist()} - {""} for split in division.splits.by_name.values()
    ]
    assert not values[0] & values[1] and not values[0] & values[2] and not values[1] & values[2]


def test_a_value_of_the_group_column_stays_whole_in_one_split() -> None:
    """Every tenth row repeats a source that occurs in all pages, which would connect them all."""
    rows = [(f"s{n}" if n % 10 else "See also", f"t{n}") for n in range(600)]
    pages = [f"page {n // 20}" if n < 400 else "" for n in range(600)]
    pairs = examine_rows(rows, groups=pages)
    division = split_pairs(pairs, PrepareOptions(dev="80", test="80", group_column=("page",)), silent)
    split_of = {row: name for name, rows_of in division.splits.by_name.items() for row in rows_of.tolist()}
    for number in range(20):
        names = {split_of.get(row) for row in range(20 * number, 20 * number + 20)} - {None}
        assert len(names) == 1, number
    assert len({split_of[row] for row in split_of if row % 10 == 0}) == 1, "a sentence in two splits"
    assert len(division.splits.test) == 80 and len(division.splits.dev) >= 72
    counts = count_pairs(pairs, division)
    assert counts.kept == len(split_of) and counts.dropped["held-out"] == len(rows) - len(split_of)


def test_weights_repeat_pairs_in_train_or_leave_them_out() -> None:
    rows = [(f"s{n}", f"t{n}") for n in range(400)]
    pairs = examine_rows(rows, roles=["train"] * 3, weights=[3.0, 0.25, 1.5], inputs=[n % 4 % 3 for n in range(400)])
    division = split_pairs(pairs, PrepareOptions(dev="20", test="20"), silent)
    counts = np.bincount(pairs.facts.input_numbers[division.splits.train], minlength=3)
    times = np.bincount(division.splits.train)
    assert set(times[pairs.facts.input_numbers[: len(times)] == 0].tolist()) <= {0, 3}
    assert (len(division.splits.dev), len(division.splits.test)) == (20, 20)
    assert count_pairs(pairs, division).dropped["weight"] == 75
    assert counts[0] > 400 and counts[1] <= 25 and 90 < counts[2] < 180
    assert len(set(division.splits.dev.tolist())) == 20


def test_of_equal_pairs_the_first_of_the_highest_weight_is_kept() -> None:
    rows = [("a", "b"), ("a", "b"), ("A", "b"), ("a", "b"), ("c", "d"), ("c", "d")]
    pairs = examine_rows(rows, roles=["train"] * 3, weights=[1.0, 0.5, 3.0], inputs=[0, 1, 2, 2, 0, 1])
    run_checks(pairs, PrepareOptions(), lambda done: None)
    kept = [(pairs.source[row], int(pairs.facts.input_numbers[row])) for row in np.flatnonzero(pairs.is_kept)]
    assert kept == [("c", 0), ("A", 2)]


def test_near_duplicates_do_not_straddle() -> None:
    rows = [(f"Sentence number {n} is here{end}", f"t{n}{end}") for n in range(100) for end in ".!"]
    pairs = examine_rows(rows)
    division = split_pairs(pairs, PrepareOptions(dev="20", test="20", near_duplicates=True), silent)
    for members in division.splits.by_name.values():
        assert {row ^ 1 for row in members.tolist()} == set(members.tolist())


def test_training_pairs_that_are_nearly_held_out_are_dropped_and_told() -> None:
    random = np.random.default_rng(1)
    unlike = [random.bytes(20).hex() for _ in range(100)]
    rows = [(f"{text}{end}", f"{text[::-1]}{end}") for text in unlike for end in ".!"]
    pairs = examine_rows([*rows, rows[6]], roles=["train", "test"], inputs=[*[0] * len(rows), 1])
    config = PrepareOptions(test="test.tsv", near_duplicates=True)
    run_checks(pairs, config, lambda done: None)
    (finding,) = drop_near_held_out(pairs, config)
    assert (finding.check, finding.count, finding.action, finding.examples[0].line) == ("held-out", 1, "dropped", 8)
    assert count_pairs(pairs, split_pairs(pairs, config, silent)).dropped["held-out"] == 2
    assert drop_near_held_out(pairs, PrepareOptions(test="test.tsv")) == ()
