"""Tests of the ladder of remedies for faulty translations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

from nmt_cli.errors import OptionError
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.translation.batch import TranslationBatch
from nmt_cli.translation.config import RepairOptions, TranslateOptions
from nmt_cli.translation.repair.asks import (
    AT_ONCE,
    FAULTS,
    MOST_ASKED,
    Asker,
    PieceCase,
    ask,
    judge_hypothesis,
    replace_unknown,
)
from nmt_cli.translation.result import Fault, Hypothesis, Repair, Translation
from support.adversary import adversarial_translator
from support.scripted_translator import SUBWORDS

LOOP = "und so und so und so und so"


def hypothesis(text: str, source_length: int, *, finished: bool = True) -> Hypothesis:
    pieces = (*text.split(), "</s>") if finished else tuple(text.split())
    count = len(pieces)
    attention = np.full((count, source_length), 1 / source_length)
    return Hypothesis(text, tuple(range(count)), pieces, -1.0, -1.0, (-0.1,) * count, (attention,), finished)


def translation(source: str, *texts: str, finished: bool = True) -> Translation:
    pieces = (*source.split(), "</s>")
    hypotheses = tuple(hypothesis(text, len(pieces), finished=finished) for text in texts)
    return Translation(source, pieces, hypotheses, frozenset())


class StubSearch:
    """Stands for search: answers by its settings, and records what it was asked."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.target = SUBWORDS
        self.configs: list[SearchOptions] = []
        self.lines: list[str] = []
        self.sizes: list[int] = []

    def search(self, texts: Mapping[TextId, str], config: SearchOptions) -> dict[TextId, Translation]:
        self.configs.append(config)
        self.lines += texts.values()
        self.sizes.append(len(texts))
        return {text_id: translation(text, *self.answer(config).split("|")) for text_id, text in texts.items()}

    def _replace(self, judge: None) -> StubSearch:
        return self

    def answer(self, config: SearchOptions) -> str:
        return self.answers.get("wide" if config.coverage_penalty else "ban", LOOP)


class StubTools(NamedTuple):
    """The parts of a translator that are asked about faults."""

    network: StubSearch

    def judge(self, source: str, hypothesis: Hypothesis, config: SearchOptions) -> Fault | None:
        return judge_hypothesis(source, hypothesis, config)


def repair(
    search: StubSearch, translations: list[Translation], config: SearchOptions, ids: list[TextId] | None = None
) -> list[Translation]:
    """The translations after all ways to repair faults; by default, each is of a line by itself."""
    ids = ids or [TextId(line, 0) for line in range(len(translations))]
    batch = TranslationBatch([], config, 1, RepairOptions(), None, [])
    asker: Any = Asker(StubTools(search), batch)  # type: ignore[arg-type]
    cases: Any = [PieceCase(*pair, None) for pair in zip(ids, translations, strict=True)]  # type: ignore[arg-type]
    changed = {case.text_id: case.translation for case in ask(asker, cases, FAULTS)}
    return [changed.get(*pair) for pair in zip(ids, translations, strict=True)]  # type: ignore[misc]


FAULTY = translation("eins zwei, drei vier", LOOP)


@pytest.mark.parametrize(
    ("answers", "text", "remedy"),
    [
        ({"ban": "one two"}, "one two", "repeats barred"),
        ({"wide": "one two"}, "one two", "wider beam"),
        ({"wide": f"{LOOP}|{LOOP} so|one two"}, "one two", "wider beam"),
        ({"ban": "one two one two", "wide": "one two"}, "one two", "wider beam"),
        ({"ban": "one two one two"}, "one two one two", "repeats barred"),
        ({"wide": "one one|one two"}, "one two", "wider beam"),
        ({}, LOOP, None),
    ],
)
def test_the_ladder_is_climbed_until_something_helps(answers: dict[str, str], text: str, remedy: str | None) -> None:
    (repaired,) = repair(StubSearch(**answers), [FAULTY], SearchOptions())
    assert repaired.text == text
    assert repaired.repairs == (Repair("loop", remedy),)


def test_what_is_healthy_is_the_same_object_and_nothing_is_searched() -> None:
    faultless = [translation("eins zwei", "one two"), translation("", ""), translation("ha ha ha ha", "ha ha ha ha")]
    search = StubSearch()
    repaired = repair(search, faultless, SearchOptions())
    assert all(before is after for before, after in zip(faultless, repaired, strict=True))
    assert not search.configs


def test_only_the_ill_lines_are_searched_again() -> None:
    search = StubSearch(ban="one two")
    repair(search, [translation("gut so", "good"), FAULTY], SearchOptions())
    assert search.lines == [FAULTY.source]


def test_few_are_searched_together_since_all_hypotheses_are_in_memory() -> None:
    search = StubSearch(ban="one two")
    repaired = repair(search, [FAULTY] * (2 * AT_ONCE + 1), SearchOptions())
    assert search.sizes == [AT_ONCE, AT_ONCE, 1]
    assert [one.text for one in repaired] == ["one two"] * len(repaired)


def test_of_each_line_few_sentences_are_repaired_and_the_others_told() -> None:
    search = StubSearch(ban="one two")
    ids = [TextId(line, piece) for line in (5, 6) for piece in range(MOST_ASKED + line - 5)]
    repaired = repair(search, [FAULTY] * len(ids), SearchOptions(), ids)
    assert len(search.lines) == 2 * MOST_ASKED
    assert {one.repairs for one in repaired[:-1]} == {(Repair("loop", "repeats barred"),)}
    assert (repaired[-1].text, repaired[-1].repairs) == (LOOP, (Repair("loop", None),))


def test_an_empty_translation_is_not_sought_by_a_ban_on_repetition() -> None:
    search = StubSearch(wide="one two")
    (repaired,) = repair(search, [translation("eins zwei drei", "")], SearchOptions(beam_size=1))
    assert repaired.repairs == (Repair("empty", "wider beam"),)
    assert [(config.beam_size, config.coverage_penalty > 0) for config in search.configs] == [(10, True)]


def test_a_limit_that_the_user_set_is_no_fault() -> None:
    cut = translation("eins zwei drei", "one two", finished=False)
    assert judge_hypothesis(cut.source, cut.hypotheses[0], SearchOptions(max_length=2)) is None
    assert judge_hypothesis(cut.source, cut.hypotheses[0], SearchOptions(max_length=200)) == "runaway"


def test_no_more_hypotheses_come_back_than_were_wanted() -> None:
    (repaired,) = repair(StubSearch(ban="one two|two one|three"), [FAULTY], SearchOptions(n_best=2))
    assert [candidate.text for candidate in repaired.hypotheses] == ["one two", "two one"]


def test_a_users_own_stricter_ban_stays() -> None:
    search = StubSearch(ban="one two")
    repair(search, [FAULTY], SearchOptions(no_repeat_ngram=2))
    assert search.configs[0].no_repeat_ngram == 2


def test_the_widest_beam_is_healed_without_asking_for_an_impossible_one() -> None:
    (repaired,) = repair(StubSearch(), [FAULTY], SearchOptions(beam_size=1000))
    assert repaired.repairs == (Repair("loop", None),)


@pytest.mark.parametrize("invented", ["⟦3⟧ zwei", "⟦0⟧ ⟦0⟧ zwei", "eins ⟦0⟧ ⟦7⟧"])
def test_a_placeholder_of_nothing_is_searched_again_with_it_barred(invented: str) -> None:
    search = StubSearch(ban="⟦0⟧ two")
    (result,) = repair(search, [translation("⟦0⟧ zwei drei", invented)], SearchOptions())
    assert result.text == "⟦0⟧ two"
    assert result.repairs == (Repair("placeholder", "barred placeholder"),)
    assert [config.limit_placeholders for config in search.configs] == [True]


def test_a_placeholder_that_is_moved_is_no_fault() -> None:
    moved = translation("⟦0⟧ ⟦1⟧ drei", "⟦1⟧ ⟦0⟧ three")
    assert repair(StubSearch(), [moved], SearchOptions()) == [moved]


@pytest.mark.parametrize("lost", ["⟦1⟧ three", "three"])
def test_a_lost_placeholder_is_searched_for_among_more_hypotheses(lost: str) -> None:
    search = StubSearch(wide="three|⟦1⟧ ⟦0⟧|⟦0⟧ and I ⟦1⟧ and a three|⟦1⟧ ⟦0⟧ three")
    (result,) = repair(search, [translation("⟦0⟧ ⟦1⟧ drei", lost)], SearchOptions())
    assert (result.text, result.repairs) == ("⟦1⟧ ⟦0⟧ three", (Repair("spans", "wider beam"),))


def test_a_placeholder_that_stays_lost_is_left_to_attention() -> None:
    lost = translation("⟦0⟧ ⟦1⟧ drei vier", "⟦1⟧ three")
    search = StubSearch(wide="three", half="⟦0⟧ ⟦1⟧ three")  # halves are worse than a lost span
    assert repair(search, [lost], SearchOptions()) == [lost]


def test_words_between_two_placeholders_stay_between_them() -> None:
    search = StubSearch(wide="⟦0⟧ ⟦1⟧ came|⟦0⟧ or ⟦1⟧ went|⟦0⟧ or ⟦1⟧ came")
    (result,) = repair(search, [translation("⟦0⟧ oder ⟦1⟧ kam", "⟦0⟧, ⟦1⟧ came")], SearchOptions())
    assert (result.text, result.repairs) == ("⟦0⟧ or ⟦1⟧ came", (Repair("enclosed words", "wider beam"),))


def test_an_unknown_word_becomes_the_source_word_it_looked_at_most() -> None:
    words = adversarial_translator("word")
    line = "bade Xyzzy."
    (translation,) = words.translate([line], TranslateOptions(SearchOptions(max_length=3)))
    ids = words.target.encode(line)
    assert ids.count(1) == 1
    attention = np.zeros((len(ids), len(translation.source_pieces)))
    attention[:, 1], attention[:, -1] = 0.4, 0.6  # mostly at the end of the sentence, which is no word
    hypothesis = translation.hypotheses[0]._replace(
        tokens=tuple(ids), attentions=(attention,), text=words.target.decode(ids)
    )
    replaced = replace_unknown(translation._replace(hypotheses=(hypothesis,)), words.source, words.target)
    assert replaced.text == line
    with pytest.raises(OptionError, match="no subwords for all of 'Xyzzy'"):
        words.translate([line], TranslateOptions(SearchOptions(prefix="Xyzzy")))
