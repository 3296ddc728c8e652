"""A network that ends at once, or says only what leaves no text, is a fault of the line and never of nmt."""

from typing import Any

import numpy as np
import pytest

from nmt_cli.arrays.types import IntArray
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.step_model import Step
from nmt_cli.sources.source import TextSource
from nmt_cli.text.aligned import MarkedText
from nmt_cli.translation.config import CheckOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.forced import FORCING, JUDGING, force_translations
from nmt_cli.translation.placement.alignment import find_links
from nmt_cli.translation.stages import STAGES
from nmt_cli.translation.translator import LineTranslator
from support.adversary import END, Adversary, PlanState
from support.tokenizers import syllable_tokenizer

LINES = [
    "bade lu.",
    "bade <b>lu ma</b> bade.",
    'bade "lu ma" bade.',
    "bade (lu) 5 km a@b.com https://a.b/c.",
    "BADE LU",
    "bade lu. ma bade lu! bade?",
    "😀 **bade** {name} lu",
    "«bade» <i><b>lu</b></i>",
    "5",
    "",
    " ",
    "bade\tlu",
    "&lt;b&gt;bade&lt;/b&gt; lu",
    MarkedText("bade lu ma.", (range(5, 7),)),
    MarkedText("bade lu ma.", (range(11),)),
]


class Silent(Adversary):
    """Says the same tokens of every source, and then ends; more likely where its source is longer."""

    def __init__(self, vocabulary: int, said: tuple[int, ...] = ()) -> None:
        super().__init__(vocabulary, seed=0)
        self.said = said

    def encode(self, source_ids: IntArray) -> PlanState:
        rows, width = source_ids.shape
        plan = np.full((rows, 3 * width + 8), END)
        plan[:, : len(self.said)] = self.said
        read = (source_ids != 0) / (source_ids != 0).sum(axis=1, keepdims=True)
        return PlanState(plan, np.repeat(read[:, None], plan.shape[1], axis=1), 0)

    def step(self, tokens: IntArray, state: PlanState, candidates: int, *, scored: bool = True) -> Step[PlanState]:
        made = super().step(tokens, state, candidates, scored=scored)
        lengths = (state.attention[:, 0] > 0).sum(axis=1, keepdims=True)
        return made._replace(log_probabilities=made.log_probabilities - 30 / lengths)


def make_silent(*said: str) -> LineTranslator:
    subwords = syllable_tokenizer("unigram")
    tokens = tuple(subwords._processor.piece_to_id(piece) for piece in said)
    return LineTranslator(Silent(subwords.vocabulary_size, tokens), TextSource(subwords), subwords)


@pytest.fixture(autouse=True)
def not_isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has a line at fault end its batch, which would else be copied."""

    def run(tools: Any, batch: Any, stages: Any = STAGES) -> Any:
        for stage in stages:
            stage.run(tools, batch)
        return batch.result

    for module in ("translator", "forced"):
        monkeypatch.setattr(f"nmt_cli.translation.{module}.run_stages", run)


@pytest.mark.parametrize("said", [(), ("▁",), ("▁", "▁")])
@pytest.mark.parametrize(
    "config",
    [SearchOptions(beam_size=1), SearchOptions(beam_size=4, n_best=4), SearchOptions(beam_size=2, prefix="bade")],
)
def test_a_line_becomes_nothing_and_that_is_told(said: tuple[str, ...], config: SearchOptions) -> None:
    translator = make_silent(*said)
    for repair, checks in ((None, None), (RepairOptions(), CheckOptions()), (None, CheckOptions())):
        translations = translator.translate(LINES, TranslateOptions(config, repair=repair, checks=checks))
        assert len(translations) == len(LINES)
        for translation in translations:
            for hypothesis in translation.hypotheses:
                find_links(translation, hypothesis)
        if checks is not None and not config.prefix:
            assert "empty" in [check.kind for check in translations[0].checks]


@pytest.mark.parametrize("stages", [FORCING, JUDGING])
@pytest.mark.parametrize("target", ["", " ", "<b></b>", "5", "()"])
def test_an_empty_translation_can_be_scored(stages: Any, target: str) -> None:
    translator = make_silent()
    scored = force_translations(
        translator, LINES, [target] * len(LINES), stages=stages, checks=CheckOptions() if stages is JUDGING else None
    )
    assert len(scored) == len(LINES)
    assert all(check.kind != "failed" for translation in scored for check in translation.checks)
