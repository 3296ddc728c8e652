"""A list of the best hypotheses holds no text twice, and is as long as the beam allows."""

from types import SimpleNamespace
from typing import Any

import pytest

from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.translation.config import widen_for_distinct
from nmt_cli.translation.placement.joining import select_distinct
from nmt_cli.translation.result import Translation


def make_translation(*texts: str) -> Translation:
    hypotheses: Any = tuple(SimpleNamespace(text=text, score=-rank) for rank, text in enumerate(texts))
    return Translation(source="s", source_pieces=(), hypotheses=hypotheses, unseen=frozenset())


@pytest.mark.parametrize(
    ("texts", "most", "expected"),
    [("abcab", 3, [0, 1, 2]), ("aabbc", 2, [0, 2]), ("aaa", 3, [0]), ("a", 1, [0]), ("", 2, [])],
)
def test_the_best_of_each_text_is_kept(texts: str, most: int, expected: list[int]) -> None:
    hypotheses = select_distinct(make_translation(*texts), most).hypotheses
    assert [-hypothesis.score for hypothesis in hypotheses] == expected


def test_more_hypotheses_are_searched_than_asked_for_if_the_beam_has_them() -> None:
    assert widen_for_distinct(SearchOptions(n_best=3, beam_size=10)).n_best == 6
    assert widen_for_distinct(SearchOptions(n_best=3, beam_size=4)).n_best == 4
    for config in (SearchOptions(n_best=1), SearchOptions(n_best=3, sampling=SamplingOptions(sample=True))):
        assert widen_for_distinct(config) == config
