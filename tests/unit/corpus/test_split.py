import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.split import (
    Sizes,
    Splits,
    connected_groups,
    leak_by_rows,
    sentence_numbers,
    share_known,
    split_by_groups,
    wanted_sizes,
)
from nmt_cli.errors import DataError

FEW_SENTENCES = st.text(alphabet="aAbßS", max_size=3)
PAIRS = st.lists(st.tuples(FEW_SENTENCES, FEW_SENTENCES), min_size=1, max_size=60)


def split(pairs: list[tuple[str, str]], sizes: Sizes, seed: int = 1) -> Splits:
    sources, targets = (sentence_numbers(side) for side in zip(*pairs, strict=True))
    return split_by_groups(connected_groups(sources, targets), sizes, seed=seed, where="toy.tsv")


@given(PAIRS, st.integers(1, 5), st.integers(1, 5), st.integers(0, 3))
def test_no_sentence_stands_in_two_splits_and_every_row_in_one(
    pairs: list[tuple[str, str]], dev: int, test: int, seed: int
) -> None:
    try:
        splits = split(pairs, Sizes(dev, test), seed)
    except DataError:
        return
    assert sorted(np.concatenate([rows for _, rows in splits.items()]).tolist()) == list(range(len(pairs)))
    for side in range(2):
        seen = [{pairs[row][side].casefold() for row in rows} for _, rows in splits.items()]
        assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]
    assert 0 < len(splits.dev) <= dev and 0 < len(splits.test) <= test


def test_sentences_equal_but_for_case_have_one_number() -> None:
    assert sentence_numbers(["Straße", "Tom", "STRASSE", "tom", "Tim"]).tolist() == [0, 1, 0, 1, 2]


def test_groups_connect_over_either_side_and_over_others() -> None:
    # Rows 0 and 2 share a source, 2 and 3 a target, 3 and 5 a source; 1 and 4 stand alone.
    sources = np.array([0, 1, 0, 2, 3, 2])
    targets = np.array([0, 1, 2, 2, 3, 4])
    assert connected_groups(sources, targets).tolist() == [0, 1, 0, 0, 4, 0]


def test_equal_text_on_different_sides_connects_nothing() -> None:
    assert connected_groups(sentence_numbers(["Tom", "No"]), sentence_numbers(["Nein", "Tom"])).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("pairs", "dev", "test", "sizes"),
    [
        (10, None, None, Sizes(1, 1)),
        (5_000, None, None, Sizes(500, 500)),
        (1_000_000, None, None, Sizes(1_000, 1_000)),
        (200, 10, None, Sizes(10, 20)),
        (40, 10, 10, Sizes(10, 10)),
    ],
)
def test_held_out_sizes_are_a_thousand_a_tenth_or_as_asked(
    pairs: int, dev: int | None, test: int | None, sizes: Sizes
) -> None:
    assert wanted_sizes(pairs, dev, test, where="toy.tsv") == sizes


@pytest.mark.parametrize(
    ("pairs", "dev", "test", "needed"), [(9, None, None, "10"), (0, None, None, "10"), (39, 10, 10, "40")]
)
def test_too_few_pairs_are_refused_with_the_number_needed(
    pairs: int, dev: int | None, test: int | None, needed: str
) -> None:
    with pytest.raises(DataError, match=rf"toy.tsv: .*at least {needed} are needed"):
        wanted_sizes(pairs, dev, test, where="toy.tsv")
    wanted_sizes(int(needed), dev, test, where="toy.tsv")


def test_sizes_are_met_exactly_where_groups_allow() -> None:
    pairs = [(f"s{number}", f"t{number // 3}") for number in range(90)] + [(f"x{n}", f"y{n}") for n in range(30)]
    splits = split(pairs, Sizes(10, 20))
    assert (len(splits.train), len(splits.dev), len(splits.test)) == (90, 10, 20)


def test_pairs_that_all_hang_together_cannot_be_split() -> None:
    with pytest.raises(DataError, match="one group"):
        split([("same", f"t{number}") for number in range(50)], Sizes(5, 5))


def test_the_split_depends_on_the_seed_and_on_nothing_else() -> None:
    pairs = [(f"s{number}", f"t{number}") for number in range(100)]
    one, again, other = (split(pairs, Sizes(10, 10), seed).test.tolist() for seed in (1, 1, 2))
    assert one == again != other


def test_rows_are_shuffled_so_that_the_first_of_a_split_stand_for_all() -> None:
    splits = split([(f"s{number}", f"t{number}") for number in range(1000)], Sizes(100, 100))
    assert 300 < splits.train[:100].mean() < 700


def test_leak_is_the_share_of_test_rows_known_from_train() -> None:
    numbers = np.array([0, 1, 0, 2, 3])
    assert share_known(numbers, np.array([0, 1]), np.array([2, 3, 4, 1])) == 0.5


def test_leak_of_a_corpus_without_repeats_is_none_and_of_one_sentence_all() -> None:
    unique, same = np.arange(100), np.zeros(100, dtype=np.int64)
    leak = leak_by_rows(unique, same, Sizes(10, 10), seed=1)
    assert (leak.sources, leak.targets) == (0.0, 1.0)
