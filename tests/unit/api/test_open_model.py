from __future__ import annotations

from pathlib import Path

import pytest

from nmt_cli.api.open_model import open_translator
from nmt_cli.errors import OptionError
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.config import ModelRequest

THERE, BACK = find_model(Path("eng-deu")), find_model(Path("deu-eng"))
LINES = ["Where is the station?", "", "Tom saw {name} at 5:30. I don't have <b>time</b> for that."]


def test_a_reranked_list_holds_what_a_wider_search_finds() -> None:
    config = SearchConfig(beam_size=12, n_best=12)
    plain = open_translator(ModelRequest(THERE)).translate(LINES, config)
    reranked = open_translator(ModelRequest(THERE, rerank=BACK)).translate(LINES, config)
    assert reranked[0].hypotheses[0].score < plain[0].hypotheses[0].score  # which has no share of the judge
    for one, other in zip(plain[:2], reranked[:2], strict=True):  # of a line in parts, other ones are combined
        assert {hypothesis.text for hypothesis in one.hypotheses} == {
            hypothesis.text for hypothesis in other.hypotheses
        }
    assert all(span in reranked[2].text for span in ("{name}", "<b>", "</b>"))


def test_only_a_model_of_the_other_direction_reranks() -> None:
    with pytest.raises(OptionError, match=r"--rerank .* does not translate text from deu to eng"):
        open_translator(ModelRequest(THERE, rerank=THERE))
