import pytest

from nmt_cli.errors import DataError
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.score import check_pairing, transpose_references


@pytest.mark.parametrize("metric", METRICS)
def test_unequal_counts_of_hypotheses_and_references_are_refused_with_both(metric: str) -> None:
    with pytest.raises(DataError, match=r"2 hypotheses .* 3 sentences"):
        METRICS[metric](["a", "b"], [["a"], ["b"], ["c"]])


@pytest.mark.parametrize("metric", METRICS)
def test_nothing_to_score_is_refused(metric: str) -> None:
    with pytest.raises(DataError, match="no sentence"):
        METRICS[metric]([], [])


def test_sentences_need_as_many_references_as_the_first_and_at_least_one() -> None:
    with pytest.raises(DataError, match="sentence 2 has 1 reference, but those before it have 2"):
        check_pairing(["a", "b"], [["a", "b"], ["c"]])
    with pytest.raises(DataError, match="sentence 1 has no reference"):
        check_pairing(["a"], [[]])


def test_streams_hold_all_first_references_then_all_second_ones() -> None:
    assert transpose_references([["a", "b"], ["c", "d"], ["e", "f"]]) == [["a", "c", "e"], ["b", "d", "f"]]


@pytest.mark.parametrize("metric", METRICS)
def test_a_score_lies_in_its_range_and_has_a_value_for_each_sentence(metric: str) -> None:
    score = METRICS[metric](["so ist es eben .", "", "nein"], [["so ist es eben ."], ["doch"], ["nein nein nein"]])
    assert 0 <= score.value <= 100
    assert len(score.sentence_values) == 3
    assert all(0 <= value <= 100 for value in score.sentence_values)
    assert score.sentence_values[1] == (100 if score.lower_is_better else 0)


@pytest.mark.parametrize("metric", METRICS)
def test_a_translation_equal_to_any_of_its_references_scores_100(metric: str) -> None:
    lines = ["Das ist ein Haus mit Garten.", "Wo ist hier der Bahnhof?"]
    references = [[lines[0], "etwas ganz anderes"], ["etwas ganz anderes", lines[1]]]
    score = METRICS[metric](lines, references)
    perfect = 0 if score.lower_is_better else 100
    loose = {"meteor": 1.0}.get(metric, 1e-9)  # METEOR's penalty for one chunk: 0.5 (1 / words)^3
    assert score.value == pytest.approx(perfect, abs=loose)
    assert score.sentence_values == pytest.approx((perfect, perfect), abs=loose)
    assert "nrefs:2" in score.signature


@pytest.mark.parametrize("metric", METRICS)
def test_the_counts_of_all_sentences_give_the_score_itself(metric: str) -> None:
    score = METRICS[metric](["so ist es eben.", "ja", "nein"], [["so ist das eben."], ["doch"], ["nein nein nein"]])
    assert score.statistics is not None
    assert score.statistics.score_sentences([0, 1, 2]) == pytest.approx(score.value)
