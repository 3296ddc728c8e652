from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nmt_cli.jobs.job import Block, Job
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.symbols import UNKNOWN_PIECE
from nmt_cli.translation.config import CheckConfig, ModelRequest, RepairConfig
from support.adversary import adversarial_translator
from support.scripted_translator import ScriptedTranslator


def test_a_scored_translation_has_the_text_that_was_given_on_a_single_line() -> None:
    translator = adversarial_translator("word")
    job = Job(ModelRequest(Path()), SearchConfig(), score=True, opener=lambda request: translator)
    (scored,) = job.start()(Block(0, ("bade lu.\t  x\u3000y\tz ",)))
    assert scored.text == "x y z"
    assert UNKNOWN_PIECE in scored.hypotheses[0].pieces


def test_an_answer_without_the_network_differs_in_nothing_else() -> None:
    translator = ScriptedTranslator(str.upper)
    job = Job(ModelRequest(Path()), SearchConfig(), RepairConfig(), CheckConfig(), opener=lambda request: translator)
    block = Block(0, ("we have 3 cats.", "", "they came."))
    whole, short = (replace(job, keeps_network=keeps).start()(block) for keeps in (True, False))
    assert short != whole and short == [each.drop_network() for each in whole]
    assert [each.text for each in short] == ["WE HAVE 3 CATS.", "", "THEY CAME."]
    assert all(not hypothesis.attentions for each in short for hypothesis in each.hypotheses)
