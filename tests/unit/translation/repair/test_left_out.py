"""Words without which a translation is no less likely are left out by it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import build_profile
from nmt_cli.text.symbols import BLANK
from nmt_cli.translation.batch import TranslationBatch
from nmt_cli.translation.repair.asks import LEFT_OUT, Asker, PieceCase, ask
from nmt_cli.translation.repair.evidence import TEXTS_PER_TRIED_WORD
from nmt_cli.translation.result import Hypothesis, Translation

MEANINGS = {"Brot": "bread", "Schinken": "ham", "kaufte": "bought", "Er": "he"}  # what each target word needs
TEXTS = [("We eat the bread.", "Wir essen das Brot.")] * TEXTS_PER_TRIED_WORD


@pytest.fixture(scope="module")
def profile() -> CorpusProfile:
    return CorpusProfile.parse(build_profile([*TEXTS, ("He bought ham.", "Er kaufte Schinken.")]).encode())


def find_left_out(sentences: list[Translation], search: MeaningSearch, profile: CorpusProfile) -> list[tuple[str, ...]]:
    """The words that each translation is found to leave out."""
    reader = SimpleNamespace(context=SimpleNamespace(languages=("eng", "deu")))
    tools = SimpleNamespace(network=search, profile=profile, reader=reader)
    asker = Asker(tools, TranslationBatch([], SearchOptions(), 1, None, None, []))  # type: ignore[arg-type]
    cases: Any = [PieceCase(TextId(line, 0), sentence, None) for line, sentence in enumerate(sentences)]  # type: ignore[arg-type]
    changed = {case.text_id.line: case.translation.left_out for case in ask(asker, cases, LEFT_OUT)}
    return [changed.get(line, ()) for line in range(len(sentences))]


class MeaningSearch:
    """Finds a translation less likely if the sentence lacks what one of its words means."""

    def __init__(self) -> None:
        self.read = list[str]()
        self.source = self

    def make_rows(self, texts: list[str], limit: None, tags: list[Any], contexts: list[None]) -> list[str]:
        self.read += texts
        return texts

    def find_as_likely(self, rows: list[str], targets: list[Any], least: list[Any]) -> list[bool]:
        return [all(MEANINGS[word] in row for word in target) for row, target in zip(rows, targets, strict=True)]


def write(text: str, log_probability: float = -1.0) -> Hypothesis:
    words = tuple(text.split())
    values = (log_probability / len(words),) * len(words)
    attention = np.full((len(words), 5), 0.1)
    pieces = tuple(BLANK + word for word in words)
    return Hypothesis(text, words, pieces, log_probability, log_probability, values, (attention,), True)  # type: ignore[arg-type]


def translate(source: str, *hypotheses: Hypothesis) -> Translation:
    return Translation(source, ("he", "bought", "bread", "ham", "</s>"), hypotheses, frozenset())


def test_only_a_rare_word_that_no_token_needs_is_left_out(profile: CorpusProfile) -> None:
    whole, partly = write("Er kaufte Brot Schinken"), write("Er kaufte Brot")
    search = MeaningSearch()
    sentences = [translate("he bought bread ham", hypothesis) for hypothesis in (whole, partly)]
    assert find_left_out(sentences, search, profile) == [(), ("ham",)]
    assert "he bought ham" not in search.read, "a frequent word is not tried"


@pytest.mark.parametrize("word", ["⟦0⟧", "Brot", "3rd", "--"])
def test_what_is_copied_or_no_word_is_not_tried(word: str, profile: CorpusProfile) -> None:
    search = MeaningSearch()
    find_left_out([translate(f"he bought bread {word}", write("Er kaufte Brot"))], search, profile)
    assert f"he {'bought bread'}" not in search.read


def test_a_word_to_which_a_token_clearly_attends_is_not_tried(profile: CorpusProfile) -> None:
    hypothesis = write("Er kaufte Brot")
    attention = np.array([[0.03, 0.03, 0.03, 0.9, 0.01], *[[0.1] * 5] * 2])
    search = MeaningSearch()
    find_left_out([translate("he bought bread ham", hypothesis._replace(attentions=(attention,)))], search, profile)
    assert "he bought bread" not in search.read


def test_a_word_that_training_never_had_is_left_out_where_a_common_one_stands_for_it(profile: CorpusProfile) -> None:
    attention = np.array([*[[0.1] * 5] * 2, [0.03, 0.03, 0.03, 0.9, 0.01]])
    hypothesis = write("Er kaufte Brot")._replace(attentions=(attention,), finished=False)
    sentences = [translate(f"he bought bread {word}", hypothesis) for word in ("cheese", "ham", "braed")]
    assert find_left_out(sentences, MeaningSearch(), profile) == [("cheese",), (), ()], "a slip is understood"


def test_nothing_is_tried_of_a_translation_in_which_the_network_does_not_believe(profile: CorpusProfile) -> None:
    search = MeaningSearch()
    find_left_out([translate("he bought bread ham", write("Er kaufte Brot", -3.0))], search, profile)
    assert "he bought bread" not in search.read
