import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.rows import BatchSize, PoolShape, Ragged, count_batches, find_batch_edges, pool_batches
from nmt_cli.text.tokenizer import Tokenizer, TokenizerSettings, train_tokenizer

RAGGED = Ragged.from_sequences([[[5, 6, 7], [8], [], [9, 4]]], vocabulary_size=10)


def make_batches(*lengths: np.ndarray, **options: object) -> list[np.ndarray]:
    pools = pool_batches(*lengths, shape=PoolShape(8, 8), **options)
    return [batch for pool in pools for group in pool for batch in group]


def lengths(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    source = 1 + generator.poisson(9, rows)
    return source, np.maximum(1, source + generator.integers(-3, 4, rows))


def measure_padding(batches: list[np.ndarray], *lengths: np.ndarray) -> float:
    """The share of padding, 0 to 1, among all cells: each side with lengths (N,) is padded batch by batch."""
    tokens = sum(int(side[batch].sum()) for batch in batches for side in lengths)
    cells = sum(len(batch) * int(side[batch].max(initial=0)) for batch in batches for side in lengths)
    return 1 - tokens / cells if cells else 0.0


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=70), st.integers(1, 9), st.integers(0, 3))
def test_batches_hold_every_row_once(pairs: list[tuple[int, int]], batch_size: int, epoch: int) -> None:
    source, target = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in range(2))
    batches = make_batches(source, target, size=BatchSize(rows=batch_size), seed=1, epoch=epoch)
    assert sorted(row for batch in batches for row in batch.tolist()) == list(range(len(pairs)))
    assert sum(len(batch) != batch_size for batch in batches) <= 1


def test_batches_depend_on_seed_and_epoch_and_nothing_else() -> None:
    def batches(seed: int, epoch: int) -> list[list[int]]:
        epoch_batches = make_batches(*lengths(1000), size=BatchSize(rows=32), seed=seed, epoch=epoch)
        return [batch.tolist() for batch in epoch_batches]

    assert batches(1, 1) == batches(1, 1)
    assert batches(1, 1) != batches(1, 2)
    assert batches(1, 1) != batches(2, 1)


def test_another_epoch_puts_other_rows_together() -> None:
    first, second = (make_batches(*lengths(20_000), size=BatchSize(rows=64), seed=1, epoch=epoch) for epoch in (1, 2))
    together = {frozenset(batch.tolist()) for batch in first} & {frozenset(batch.tolist()) for batch in second}
    assert len(together) < len(first) / 20


def test_groups_come_in_no_order_of_length() -> None:
    source, target = lengths(20_000)
    pools = pool_batches(source, target, size=BatchSize(rows=16), shape=PoolShape(4, 5), seed=1, epoch=1)
    assert {len(pool) for pool in pools[:-1]} == {5}
    groups = [group for pool in pools for group in pool]
    assert {len(group) for group in groups} <= {4, 1250 % 4}
    for group in groups:
        longest = [int(np.maximum(source, target)[batch].max()) for batch in group]
        assert longest == sorted(longest)
    means = [source[np.concatenate(group)].mean() for group in groups]
    rises = sum(a < b for a, b in pairwise(means))
    assert 0.4 < rises / len(means) < 0.6


def test_little_of_a_batch_is_padding() -> None:
    source, target = lengths(50_000)
    batches = make_batches(source, target, size=BatchSize(rows=128), seed=1, epoch=1)
    assert measure_padding(batches, source, target) < 0.05


def test_a_million_rows_are_batched_in_about_a_second() -> None:
    source, target = lengths(1_000_000)
    started = time.process_time()
    make_batches(source, target, size=BatchSize(rows=128), seed=1, epoch=1)
    assert time.process_time() - started < 3


def test_rows_of_rising_width_are_cut_by_hand() -> None:
    widths = np.array([2, 2, 3, 3, 5, 9])
    assert find_batch_edges(widths, BatchSize(cells=6)) == [0, 2, 4, 5, 6]  # 2x2 (3x3 is too much), 2x3, 1x5, 1x9
    assert find_batch_edges(widths, BatchSize(cells=9)) == [0, 3, 4, 5, 6]
    assert find_batch_edges(widths, BatchSize(rows=4)) == [0, 4, 6]
    assert find_batch_edges(widths, BatchSize(rows=4, cells=9)) == [0, 3, 4, 5, 6]
    assert find_batch_edges(widths, BatchSize(rows=2, cells=100)) == [0, 2, 4, 6]
    assert find_batch_edges(np.array([], dtype=int), BatchSize(cells=9)) == [0]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=70), st.integers(1, 200))
def test_no_batch_of_several_rows_has_more_cells_than_it_may(pairs: list[tuple[int, int]], cells: int) -> None:
    source, target = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in range(2))
    epochs = [make_batches(source, target, size=BatchSize(cells=cells), seed=1, epoch=epoch) for epoch in (1, 2)]
    assert len(epochs[0]) == len(epochs[1]) == count_batches(source, target, size=BatchSize(cells=cells))
    for batches in epochs:
        assert sorted(row for batch in batches for row in batch.tolist()) == list(range(len(pairs)))
        for batch in batches:
            assert len(batch) == 1 or len(batch) * (1 + max(source[batch].max(), target[batch].max())) <= cells


@pytest.mark.parametrize("size", [BatchSize(rows=128, cells=4096), BatchSize(cells=1500), BatchSize(cells=4096)])
def test_less_than_a_tenth_of_real_sentences_in_batches_is_padding(
    real_lengths: tuple[np.ndarray, np.ndarray], size: BatchSize
) -> None:
    batches = make_batches(*real_lengths, size=size, seed=1, epoch=1)
    ends = tuple(side + 1 for side in real_lengths)
    assert measure_padding(batches, *ends) < 0.10


@pytest.fixture(scope="module")
def real_lengths() -> tuple[np.ndarray, np.ndarray]:
    """Subwords of the bundled English-German sentences."""
    lines = (Path(__file__).parents[3] / "data" / "eng-deu.tsv").read_text(encoding="utf-8").splitlines()[::2]
    sides = [list(side) for side in zip(*(line.split("\t")[:2] for line in lines), strict=True)]
    kind = TokenizerSettings(kind="unigram", lowercase=False)
    model = train_tokenizer([*sides[0][::10], *sides[1][::10]], kind, vocabulary_size=2000)
    tokenizer = Tokenizer(model, kind)
    source, target = (np.array([len(ids) for ids in tokenizer.encode_all(side)]) for side in sides)
    return source, target


def test_lengths_of_different_corpora_are_refused() -> None:
    with pytest.raises(ValueError, match="3 source lengths, 2 target lengths"):
        make_batches(np.ones(3, dtype=int), np.ones(2, dtype=int), size=BatchSize(rows=2), seed=1, epoch=1)


def test_padding_share_by_hand() -> None:
    # Widths 3 and 2: six cells for four tokens, and two for two.
    batches = [np.array([0, 1]), np.array([3])]
    assert measure_padding(batches, RAGGED.lengths) == 1 - 6 / 8
    assert measure_padding([], RAGGED.lengths) == 0
