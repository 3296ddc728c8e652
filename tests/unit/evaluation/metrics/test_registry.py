import pytest

from nmt_cli.errors import OptionError
from nmt_cli.evaluation.metrics.registry import METRICS, measure_all, resolve_names
from nmt_cli.evaluation.metrics.score import Material


def test_all_is_every_metric_and_the_default() -> None:
    assert resolve_names() == resolve_names(["all"]) == tuple(METRICS)


def test_several_metrics_keep_their_order_and_come_once() -> None:
    assert resolve_names(["chrf", "bleu4", "chrf"]) == ("chrf", "bleu4")
    assert resolve_names(["rougeL,bleu", "chrf"]) == ("rougeL", "bleu", "chrf")
    assert resolve_names(["chrf", "all"])[0] == "chrf" and len(resolve_names(["chrf", "all"])) == len(METRICS)


@pytest.mark.parametrize(("typed", "meant"), [("BLEU", "bleu"), ("BLEU-4", "bleu4"), ("ROUGE-L", "rougeL")])
def test_names_as_they_are_written_in_papers_are_understood(typed: str, meant: str) -> None:
    assert resolve_names([typed]) == (meant,)


@pytest.mark.parametrize(("typed", "nearest"), [("blue4", "bleu4"), ("rougl", "rougeL"), ("chrf2", "chrf")])
def test_an_unknown_metric_names_the_nearest(typed: str, nearest: str) -> None:
    with pytest.raises(OptionError) as caught:
        resolve_names([typed])
    assert typed in caught.value.message
    assert f"did you mean {nearest}?" in caught.value.hint


def test_a_metric_like_no_other_lists_all() -> None:
    with pytest.raises(OptionError) as caught:
        resolve_names(["ter2024x"])
    assert all(name in caught.value.hint for name in (*METRICS, "all"))


def test_measuring_gives_a_score_for_each_name_in_order() -> None:
    scores = measure_all(("chrf", "bleu"), Material(["a"], [["a"]]))
    assert [score.name for score in scores.values()] == ["chrF2", "BLEU"]
