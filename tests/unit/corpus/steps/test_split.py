"""Splits: their groups, their sizes, and that no sentence appears in two of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.scratch import Keys, Scratch, connect_rows, store_equal_rows
from nmt_cli.arrays.types import IntArray
from nmt_cli.corpus.config import is_size
from nmt_cli.corpus.pairs import Texts
from nmt_cli.corpus.steps.held_out import find_band_edges, label_near_equal
from nmt_cli.corpus.steps.split import (
    Sizes,
    Splits,
    choose_sizes,
    measure_known_share,
    measure_leak,
    number_groups,
    split_by_groups,
)
from nmt_cli.errors import DataError, OptionError
from nmt_cli.text.normalise import hash_text, make_sentence_key, normalise

FEW_SENTENCES = st.text(alphabet="aAbßS’'", max_size=3)


ANY_SENTENCES = st.one_of(FEW_SENTENCES, st.text(max_size=5)).map(normalise)


PAIRS = st.lists(st.tuples(ANY_SENTENCES, ANY_SENTENCES), min_size=1, max_size=60)


def key_sentences(sentences: list[str]) -> Keys:
    return np.frombuffer(b"".join(hash_text(make_sentence_key(text)) for text in sentences), np.uint64)


def connect(*kinds: Keys) -> IntArray:
    """Returns the smallest row of the group of each row."""
    everywhere = np.ones(len(kinds[0]), np.bool_)
    parts = [part for kind in kinds for part in store_equal_rows(kind, everywhere, Scratch())]
    return connect_rows(len(everywhere), parts, Scratch())


def split(pairs: list[tuple[str, str]], sizes: Sizes, seed: int = 1) -> Splits:
    sources, targets = (key_sentences(list(side)) for side in zip(*pairs, strict=True))
    lengths = np.array([len(source) for source, _ in pairs])
    groups = number_groups(connect(sources, targets), np.zeros(len(pairs), np.uint64), Scratch())
    return split_by_groups(groups, lengths, sizes, seed=seed, where="toy.tsv")


@given(PAIRS, st.integers(1, 5), st.integers(1, 5), st.integers(0, 3))
def test_no_normalised_sentence_stands_in_two_splits_and_every_row_in_one(
    pairs: list[tuple[str, str]], dev: int, test: int, seed: int
) -> None:
    try:
        splits = split(pairs, Sizes(dev, test), seed)
    except DataError:
        return
    assert sorted(np.concatenate(list(splits.by_name.values())).tolist()) == list(range(len(pairs)))
    for side in range(2):
        seen = [{make_sentence_key(pairs[row][side]) for row in rows} for rows in splits.by_name.values()]
        assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]
    assert 0 < len(splits.dev) <= dev and 0 < len(splits.test) <= test


def test_sentences_equal_but_for_case_have_one_key() -> None:
    keys = key_sentences(["Straße", "Tom", "STRASSE", "tom", "Tim"]).tolist()
    assert (keys[0] == keys[2], keys[1] == keys[3], len(set(keys))) == (True, True, 3)


def test_equal_text_on_different_sides_connects_nothing() -> None:
    assert connect(key_sentences(["Tom", "No"]), key_sentences(["Nein", "Tom"])).tolist() == [0, 1]


def test_groups_with_values_follow_the_others_in_the_order_of_these() -> None:
    labels, values = np.array([0, 1, 0, 3, 1, 5]), np.array([0, 9, 0, 4, 9, 0], np.uint64)
    groups = number_groups(labels, values, Scratch())
    assert groups.numbers.tolist() == [0, 3, 0, 2, 3, 1]
    assert groups.first_rows.tolist() == [0, 5, 3, 1] and groups.sizes.tolist() == [2, 1, 1, 2]


@pytest.mark.parametrize(
    ("pairs", "dev", "test", "sizes"),
    [
        (10, None, None, Sizes(1, 1)),
        (5_000, None, None, Sizes(500, 500)),
        (1_000_000, None, None, Sizes(1_000, 1_000)),
        (200, "10", None, Sizes(10, 20)),
        (40, "10", "10", Sizes(10, 10)),
        (5_000, "1,000", "100", Sizes(1_000, 100)),
        (1000, "5%", "0.02", Sizes(50, 20)),
    ],
)
def test_held_out_sizes_are_a_thousand_a_tenth_or_as_asked(
    pairs: int, dev: str | None, test: str | None, sizes: Sizes
) -> None:
    assert choose_sizes(pairs, dev, test, where="toy.tsv") == sizes


def test_what_is_given_as_a_file_is_not_drawn() -> None:
    assert choose_sizes(100, "a.tsv", None, where="toy.tsv", from_files=frozenset({"dev"})) == Sizes(0, 10)
    assert [is_size(wish) for wish in ("1,000", "5%", "0.05", ".5", "a.tsv", "./1000", "", ".", "1,00")] == [
        *(True,) * 4,
        *(False,) * 5,
    ]


@pytest.mark.parametrize("wish", ["0", "0.0", "100%", "1.5"])
def test_sizes_that_cannot_be_are_refused(wish: str) -> None:
    with pytest.raises(OptionError, match=f"--dev is {wish}"):
        choose_sizes(100, wish, None, where="toy.tsv")


def test_where_more_pairs_would_not_help_their_number_is_not_told() -> None:
    for dev, test in (("40%", "40%"), ("0.6", None)):
        with pytest.raises(DataError, match=r"of them would be held out, more than half") as problem:
            choose_sizes(100, dev, test, where="toy.tsv")
        assert "at least" not in problem.value.message


@pytest.mark.parametrize(
    ("pairs", "dev", "test", "needed"), [(9, None, None, "10"), (0, None, None, "10"), (39, "10", "10", "40")]
)
def test_too_few_pairs_are_refused_with_the_number_needed(
    pairs: int, dev: str | None, test: str | None, needed: str
) -> None:
    with pytest.raises(DataError, match=rf"toy.tsv: .*the splits need at least {needed}"):
        choose_sizes(pairs, dev, test, where="toy.tsv")
    choose_sizes(int(needed), dev, test, where="toy.tsv")


def test_pairs_for_training_only_remain_for_training_and_are_never_drawn() -> None:
    assert choose_sizes(12, "5", "5", where="toy.tsv", training_only=8) == Sizes(5, 5)
    assert choose_sizes(0, "a", "b", where="toy.tsv", from_files=frozenset({"dev", "test"}), training_only=1) == Sizes(
        0, 0
    )
    for pairs, dev, needed in ((0, None, "10"), (9, None, "10"), (9, "5", "10"), (11, "10", "14")):
        with pytest.raises(
            DataError,
            match=rf"^toy.tsv: {pairs} pairs .* at least {needed}; 8 pairs are for training only",
        ):
            choose_sizes(pairs, dev, None if dev != "10" else "1", where="toy.tsv", training_only=8)


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


def test_short_and_long_sentences_have_their_share_of_each_split() -> None:
    generator = np.random.default_rng(1)
    lengths = generator.lognormal(5, 0.5, 2000).astype(int).tolist()
    pairs = [("x" * length + str(number), str(number)) for number, length in enumerate(lengths)]
    splits = split(pairs, Sizes(100, 100))
    tenths = np.quantile([len(source) for source, _ in pairs], np.linspace(0, 1, 11)[1:-1])
    for rows in (splits.dev, splits.test):
        counts = np.bincount(np.searchsorted(tenths, [len(pairs[row][0]) for row in rows]), minlength=10)
        assert counts.min() >= 8 and counts.max() <= 12


def test_leak_is_the_share_of_test_rows_known_from_train() -> None:
    keys = np.array([1, 2, 1, 3, 4], np.uint64)
    assert measure_known_share(keys, np.arange(5), np.array([0, 1]), np.array([2, 3, 4, 1])) == 0.5


def test_leak_of_a_corpus_without_repeats_is_none_and_of_one_sentence_all() -> None:
    keys = np.arange(1, 101, dtype=np.uint64), np.ones(100, np.uint64)
    leak = measure_leak(keys, np.arange(100), Sizes(10, 10), Scratch(), seed=1)
    assert leak == (0.0, 1.0)


# Near-duplicates: sentences that differ in little.


def near(sentences: list[str]) -> list[int]:
    texts = Texts()
    for text in sentences:
        texts.extend(text.encode(), np.array([len(text.encode())]))
    keys = np.frombuffer(b"".join(hash_text(make_sentence_key(text)) for text in sentences), np.uint64)
    return label_near_equal(texts, keys, np.ones(len(keys), np.bool_), Scratch()).tolist()


def test_sentences_that_differ_in_little_are_near_and_others_are_not() -> None:
    sentences = [
        "Tom likes tea.",
        "Tom likes tea!",
        "“Tom likes tea”",
        "Mary has seen the film that I told you about yesterday.",
        "Mary has seen the film that I told you about yesterdays",
        "He went home early in the morning.",
        "No.",
        "Go.",
        "",
    ]
    numbers = near(sentences)
    assert numbers[0] == numbers[1] == numbers[2]
    assert numbers[3] == numbers[4]
    assert len({numbers[n] for n in (0, 3, 5, 6, 7, 8)}) == 6


def test_sentences_are_compared_across_unlike_ones_of_equal_hashes() -> None:
    """Five whose hashes are equal in the first band; in all the others only those of the first and the last."""
    signatures = np.arange(5 * 32, dtype=np.uint32).reshape(5, 32)
    signatures[:, :4] = 7
    signatures[4] = signatures[0]
    assert find_band_edges(signatures, slice(4), Scratch()).tolist() == [[0, 4]]


@given(st.lists(ANY_SENTENCES, min_size=1, max_size=20))
def test_equal_sentences_are_always_near(sentences: list[str]) -> None:
    numbers = near(sentences + sentences)
    assert numbers[: len(sentences)] == numbers[len(sentences) :]
