"""What `nmt evaluate` asks of a model on sentences of files, and on a split."""

from dataclasses import replace
from pathlib import Path

import pytest

import nmt_cli as nmt
from nmt_cli.api.scoring import EvaluationRequest
from nmt_cli.errors import OptionError
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.texts import ParallelText
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.tags import parse_tag_list
from nmt_cli.translation.config import ContextOptions, TagOptions
from support.fakes import make_card

CARD = make_card(tags={">deu": 5, ">nld": 5, "ui": 2}, context=1)
MODEL = Path("model")
LINES = ParallelText(("one", "two", "three"), (("eins",), ("zwei",), ("drei",)))
OF_SPLIT = replace(LINES, tags=tuple(map(parse_tag_list, ("to:deu", "to:nld", "to:deu"))), text_sizes=(2, 1))
SPLIT = EvaluationRequest(scores=ScoreOptions(), search=SearchOptions(), data=Path("prepared"), models=(MODEL,))
FILES = replace(SPLIT, source=Path("lines.en"), references=(Path("lines.nl"),))


def test_lines_of_files_have_the_tags_that_are_asked_for() -> None:
    asked = replace(FILES, tags=TagOptions(to="nl", tag=("ui",)))
    assert asked.ask_of(MODEL, CARD, LINES).tags == (parse_tag_list("to:nld ui"),) * 3
    assert asked.input_values["tags"] == "to:nl ui"
    assert FILES.ask_of(MODEL, CARD, LINES) == LINES
    assert SPLIT.ask_of(MODEL, CARD, OF_SPLIT) == OF_SPLIT
    with pytest.raises(OptionError, match="does not translate to fra"):
        replace(FILES, tags=TagOptions(to="fra")).ask_of(MODEL, CARD, LINES)


def test_lines_of_files_are_one_text_and_a_split_has_its_own() -> None:
    with_context, without = (ContextOptions(context=number) for number in (1, 0))
    assert replace(FILES, before=with_context).ask_of(MODEL, CARD, LINES).text_sizes == (3,)
    assert replace(FILES, before=without).ask_of(MODEL, CARD, LINES).text_sizes == ()
    assert replace(SPLIT, before=with_context).ask_of(MODEL, CARD, OF_SPLIT).text_sizes == (2, 1)
    assert replace(SPLIT, before=without).ask_of(MODEL, CARD, OF_SPLIT).text_sizes == ()
    with pytest.raises(OptionError, match="not in document order"):
        replace(SPLIT, before=with_context).ask_of(MODEL, CARD, LINES)
    with pytest.raises(OptionError, match="was trained without context"):
        replace(FILES, before=with_context).ask_of(MODEL, CARD._replace(context=0), LINES)


GERMAN = (
    "Wo ist denn hier der nächste Bahnhof?",
    "Ich habe gestern keine Zeit gehabt.",
    "Das Wetter ist heute sehr schön.",
)
ENGLISH = ("Where is the nearest station?", "I had no time yesterday.", "The weather is very nice today.")


def test_sentences_of_the_other_direction_are_reported(tmp_path: Path) -> None:
    files = {}
    for name, lines in (("deu", GERMAN), ("eng", ENGLISH)):
        files[name] = tmp_path / name
        files[name].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    warned = [
        nmt.evaluate(model="eng-deu", source=files[one], reference=files[other], metric="chrf", beam_size=1).warnings
        for one, other in (("deu", "eng"), ("eng", "deu"))
    ]
    turned = (
        "the text runs in the opposite direction: its references are in the source language of eng-deu (eng -> deu)"
    )
    assert [[warning for warning in each if "direction" in warning or "looks like" in warning] for each in warned] == [
        [turned],
        [],
    ]
