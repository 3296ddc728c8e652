import json

import numpy as np

from nmt_cli.api.translating.line_layout import LayoutOptions
from nmt_cli.api.translating.translate import FinishedLines
from nmt_cli.translation.result import FailedCheck, Hypothesis, Placed, Repair, Translation

FIRST = Hypothesis(
    text="a b",
    tokens=(7, 8, 3),
    pieces=("▁a", "▁b", "</s>"),
    log_probability=-1.5,
    score=-1.25,
    token_log_probabilities=(-0.5, -0.5, -0.5),
    attentions=(np.eye(3)[[1, 0, 2]],),
    finished=True,
    spans=(Placed("b", "network", lost=False),),
)
SECOND = Hypothesis("a", (7,), ("▁a",), -2.5, -2.0, (-2.5,), (np.eye(3)[[1]],), False)
TRANSLATION = Translation(
    "x y",
    ("▁x", "▁y", "</s>"),
    (FIRST, SECOND),
    frozenset("y"),
    (Repair("loop", "repeats barred"),),
    checks=(FailedCheck("repeats", "twice in a row: a"),),
)
BLANK = Translation("", (), (), frozenset())


def test_columns_stand_in_one_order_and_blank_lines_have_them_too() -> None:
    layout = LayoutOptions(scores=True, alignments=True)
    assert layout.format_lines(TRANSLATION, 3) == "-1.2500\ta b\t1-0 0-1\n-2.0000\ta\t1-0\n0.0000\t\t\n"
    assert layout.format_lines(BLANK, 1) == "0.0000\t\t\n"
    assert LayoutOptions().format_lines(BLANK, 1) == "\n"
    assert LayoutOptions().format_lines(TRANSLATION, 1, indent="  ") == "  a b\n"


def test_json_is_one_line_with_all_of_it() -> None:
    line = LayoutOptions(json=True).format_lines(TRANSLATION, 2)
    assert line.count("\n") == 1
    told = json.loads(line)
    assert told["source"] == "x y" and told["translation"] == "a b"
    assert told["repairs"] == [{"fault": "loop", "remedy": "repeats barred"}]
    assert told["unseen"] == ["y"]
    assert told["checks"] == [{"kind": "repeats", "message": "twice in a row: a"}]
    assert told["hypotheses"][0] == {
        "text": "a b",
        "score": -1.25,
        "log_probability": -1.5,
        "finished": True,
        "pieces": ["▁a", "▁b", "</s>"],
        "token_log_probabilities": [-0.5, -0.5, -0.5],
        "alignment": [[1, 0], [0, 1]],
        "spans": [{"text": "b", "placed_by": "network", "lost": False}],
    }
    assert [one["finished"] for one in told["hypotheses"]] == [True, False]


def test_json_has_no_other_end_of_a_line_in_it() -> None:
    line = LayoutOptions(json=True).format_lines(TRANSLATION._replace(source="a\u2028b\u2029c\x85d\x1ce"), 1)
    assert len(line.splitlines()) == 1
    assert json.loads(line)["source"] == "a\u2028b\u2029c\x85d\x1ce"


def test_json_of_a_blank_line_has_no_hypothesis() -> None:
    told = json.loads(LayoutOptions(json=True).format_lines(BLANK, 1))
    assert (told["translation"], told["hypotheses"], told["repairs"]) == ("", [], [])


def test_a_network_that_looks_at_nothing_has_no_alignment() -> None:
    blind = Hypothesis("a", (7, 3), ("▁a", "</s>"), -1, -1, (-0.5, -0.5), (np.zeros((2, 3)),), True)
    assert LayoutOptions(alignments=True).format_lines(Translation("x", ("▁x",), (blind,), frozenset()), 1) == "a\t\n"


# The number that a bar shows while files are translated.


def test_lines_are_counted_while_a_block_is_searched_and_never_backwards() -> None:
    shown = list[int]()
    finished = FinishedLines(shown.append)
    for done in (100, 512, 1024):
        finished.search(0, done)
    finished.write(4096, 1024)  # subtitles: four lines each
    finished.search(1024, 512)
    finished.write(4096, 2048)
    assert shown == [100, 512, 1024, 4096, 4096 + 2048, 8192]
