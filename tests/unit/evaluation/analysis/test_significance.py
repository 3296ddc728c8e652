from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.evaluation.analysis.significance import assign_letters, compare_pairs, correct_by_holm
from nmt_cli.evaluation.metrics.score import Score, average_scores


def make_score(values: list[float]) -> Score:
    return average_scores("toy", values, "toy")


def test_holm_multiplies_the_smallest_by_the_tests_and_never_falls() -> None:
    # By hand: 0.01 * 4, 0.02 * 3, max(0.06, 0.022 * 2), max(0.06, 0.4 * 1), as R's p.adjust(method = "holm").
    assert correct_by_holm([0.02, 0.4, 0.01, 0.022]) == pytest.approx([0.06, 0.4, 0.04, 0.06])
    assert correct_by_holm([0.9, 0.8]) == [1.0, 1.0]
    assert correct_by_holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_a_correction_keeps_the_order_and_only_raises(p_values: list[float]) -> None:
    corrected = correct_by_holm(p_values)
    assert all(p <= new <= 1 for p, new in zip(p_values, corrected, strict=True))
    for (p, new), (other, other_new) in combinations(zip(p_values, corrected, strict=True), 2):
        assert (p - other) * (new - other_new) >= 0


def test_a_system_between_two_groups_has_both_letters() -> None:
    # By hand: neighbours do not differ, all others do.
    assert assign_letters([0, 1, 2, 3], [(0, 2), (0, 3), (1, 3)]) == ("a", "ab", "bc", "c")
    assert assign_letters([1, 0, 2], [(0, 2), (1, 2)]) == ("a", "a", "b")
    assert assign_letters([2, 1, 0], []) == ("a", "a", "a")


@given(st.data())
def test_two_systems_share_a_letter_if_and_only_if_they_do_not_differ(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 6))
    pairs = list(combinations(range(size), 2))
    different = data.draw(st.sets(st.sampled_from(pairs)))
    order = data.draw(st.permutations(range(size)))
    letters = assign_letters(order, different)
    for first, second in pairs:
        assert bool(set(letters[first]) & set(letters[second])) == ((first, second) not in different)
    assert "a" in letters[order[0]]


def test_every_pair_is_tested_as_two_systems_alone_are() -> None:
    generator = np.random.default_rng(1)
    base = generator.uniform(0, 100, 50)
    scores = [make_score(list(base + shift + generator.normal(0, 5, 50))) for shift in (0, 0.2, 9)]
    tests = compare_pairs(scores, resamples=1000)
    assert [(test.first, test.second) for test in tests] == [(0, 1), (0, 2), (1, 2)]
    (alone,) = compare_pairs([scores[0], scores[2]], resamples=1000)
    assert tests[1].p == alone.p and tests[1].randomisation_p is None and alone.randomisation_p is not None
    assert [test.is_significant for test in tests] == [False, True, True]
    assert tests[1].difference == pytest.approx(scores[0].value - scores[2].value)


def test_so_many_samples_are_drawn_that_even_many_systems_can_differ() -> None:
    scores = [make_score([10.0 * place + noise for noise in range(5)]) for place in range(8)]  # 28 pairs
    assert all(test.is_significant for test in compare_pairs(scores, resamples=100))


def test_without_resamples_or_with_one_sentence_there_is_no_bootstrap() -> None:
    for values, resamples in (([1.0, 2.0], 0), ([1.0], 1000)):
        for test in compare_pairs([make_score(values), make_score([3.0, 4.0][: len(values)])] * 2, resamples):
            assert (test.p, test.corrected_p, test.p_values, test.is_significant) == (None, None, "", False)
        (alone,) = compare_pairs([make_score(values), make_score([3.0, 4.0][: len(values)])], resamples)
        assert alone.p is None and alone.p_values.endswith("(approximate randomisation)")
