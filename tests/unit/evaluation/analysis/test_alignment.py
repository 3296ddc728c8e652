from pathlib import Path

import numpy as np
import pytest

from nmt_cli.errors import DataError
from nmt_cli.evaluation.analysis.alignment import (
    GoldAlignment,
    check_links,
    compute_diagonal_share,
    compute_entropy,
    compute_error_rate,
    read_links,
)


def test_entropy_is_in_bits_and_a_mean_over_the_words() -> None:
    assert compute_entropy(np.array([[1.0, 0, 0, 0], [0.25] * 4])) == pytest.approx(1)


def test_the_diagonal_is_as_wide_as_a_word_at_least() -> None:
    assert compute_diagonal_share(np.eye(5)) == pytest.approx(1)
    assert compute_diagonal_share(np.eye(5)[::-1]) == pytest.approx(1 / 5)
    assert compute_diagonal_share(np.full((4, 8), 1 / 8)) < 0.5
    assert compute_diagonal_share(np.ones((1, 1))) == 1


def test_the_error_rate_is_that_of_och_and_ney() -> None:
    """|A| = 3, |S| = 2, |A and S| = 1, |A and P| = 2: 1 - 3/5."""
    gold = GoldAlignment(sure=frozenset({(0, 0), (1, 1)}), possible=frozenset({(0, 0), (1, 1), (2, 2)}))
    assert compute_error_rate([frozenset({(0, 0), (2, 2), (3, 3)})], [gold]) == pytest.approx(0.4)
    assert compute_error_rate([frozenset(gold.sure)], [gold]) == 0


def test_pharaoh_lines_have_sure_and_possible_links(tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("0-0 1p2 3?4\n\n")
    first, second = read_links(tmp_path / "links.txt", 2)
    assert first.sure == {(0, 0)} and first.possible == {(0, 0), (1, 2), (3, 4)}
    assert not second.possible


@pytest.mark.parametrize(("text", "said"), [("0-0\n0_1\n", "line 2: '0_1' is not a link"), ("0-0\n", "1 line for 2")])
def test_files_of_another_form_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "links.txt").write_text(text)
    with pytest.raises(DataError, match=said):
        read_links(tmp_path / "links.txt", 2)


def test_links_beyond_the_sentence_are_refused() -> None:
    gold = GoldAlignment(frozenset({(2, 0)}), frozenset({(2, 0)}))
    with pytest.raises(DataError, match="2-0 is beyond 2 source and 3 target words"):
        check_links([gold], [(2, 3)], Path("x"))
