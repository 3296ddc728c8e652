from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.repair import Repairer, split_in_half
from nmt_cli.translation.result import Hypothesis, Repair, Translation

LOOP = "und so und so und so und so"


def hypothesis(text: str, source_length: int, *, finished: bool = True) -> Hypothesis:
    pieces = (*text.split(), "</s>") if finished else tuple(text.split())
    count = len(pieces)
    attention = np.full((count, source_length), 1 / source_length)
    return Hypothesis(text, tuple(range(count)), pieces, -1.0, -1.0, (-0.1,) * count, (attention,), finished)


def translation(source: str, *texts: str, finished: bool = True) -> Translation:
    pieces = (*source.split(), "</s>")
    found = tuple(hypothesis(text, len(pieces), finished=finished) for text in texts)
    return Translation(source, pieces, found, frozenset())


class Asked:
    """Stands for search: answers by what it was asked, and remembers it."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.configs: list[SearchConfig] = []
        self.lines: list[str] = []

    def __call__(self, lines: Sequence[str], config: SearchConfig) -> list[Translation]:
        self.configs.append(config)
        self.lines += lines
        return [translation(line, *self.answer(line, config).split("|")) for line in lines]

    def answer(self, line: str, config: SearchConfig) -> str:
        if " " not in line or len(line.split()) < 3:
            return self.answers.get("half", LOOP)
        if config.beam_size > 5:
            return self.answers.get("wide", LOOP)
        return self.answers.get("coverage" if config.coverage_penalty else "ban", LOOP)


ILL = translation("eins zwei, drei vier", LOOP)


@pytest.mark.parametrize(
    ("answers", "text", "remedy"),
    [
        ({"ban": "one two"}, "one two", "n-gram ban"),
        ({"coverage": "one two"}, "one two", "coverage"),
        ({"wide": "one two"}, "one two", "wider beam"),
        ({"wide": f"{LOOP}|{LOOP} so|one two"}, "one two", "wider beam"),
        ({"half": "one"}, "one one", "split"),
        ({"ban": "one two one two", "wide": "one two"}, "one two", "wider beam"),
        ({"ban": "one two one two"}, "one two one two", "n-gram ban"),
        ({"wide": "one one|one two"}, "one two", "wider beam"),
        ({}, LOOP, None),
    ],
)
def test_the_ladder_is_climbed_until_something_helps(answers: dict[str, str], text: str, remedy: str | None) -> None:
    (healed,) = Repairer(Asked(**answers), ban=3).repair([ILL], SearchConfig())
    assert healed.text == text
    assert healed.repairs == (Repair("loop", remedy),)


def test_what_is_healthy_is_the_same_object_and_nothing_is_searched() -> None:
    healthy = [translation("eins zwei", "one two"), translation("", ""), translation("ha ha ha ha", "ha ha ha ha")]
    asked = Asked()
    healed = Repairer(asked, ban=3).repair(healthy, SearchConfig())
    assert all(one is other for one, other in zip(healthy, healed, strict=True))
    assert not asked.configs


def test_only_the_ill_lines_are_searched_again() -> None:
    asked = Asked(ban="one two")
    Repairer(asked, ban=3).repair([translation("gut so", "good"), ILL], SearchConfig())
    assert asked.lines == [ILL.source]


def test_an_empty_translation_is_not_sought_by_a_ban_on_repetition() -> None:
    asked = Asked(coverage="one two")
    (healed,) = Repairer(asked, ban=3).repair([translation("eins zwei drei", "")], SearchConfig(beam_size=1))
    assert healed.repairs == (Repair("empty", "coverage"),)
    assert [(config.beam_size, config.coverage_penalty > 0) for config in asked.configs] == [(5, True)]


def test_a_limit_that_the_user_set_is_no_fault() -> None:
    cut = translation("eins zwei drei", "one two", finished=False)
    assert Repairer(Asked(), ban=3).find_fault(cut, SearchConfig(max_length=2)) is None
    assert Repairer(Asked(), ban=3).find_fault(cut, SearchConfig(max_length=200)) == "runaway"


def test_no_more_hypotheses_come_back_than_were_wanted() -> None:
    (healed,) = Repairer(Asked(ban="one two|two one|three"), ban=3).repair([ILL], SearchConfig(n_best=2))
    assert [one.text for one in healed.hypotheses] == ["one two", "two one"]


def test_a_users_own_stricter_ban_stays() -> None:
    asked = Asked(ban="one two")
    Repairer(asked, ban=3).repair([ILL], SearchConfig(no_repeat_ngram=2))
    assert asked.configs[0].no_repeat_ngram == 2


def test_the_widest_beam_is_healed_without_asking_for_an_impossible_one() -> None:
    (healed,) = Repairer(Asked(), ban=3).repair([ILL], SearchConfig(beam_size=1000))
    assert healed.repairs == (Repair("loop", None),)


def test_what_is_put_together_from_halves_belongs_together() -> None:
    (healed,) = Repairer(Asked(half="one two"), ban=3).repair([ILL], SearchConfig())
    (joined,) = healed.hypotheses
    assert joined.pieces == ("one", "two", "one", "two", "</s>")
    assert len(joined.tokens) == len(joined.token_log_probabilities) == len(joined.attention) == 5
    assert joined.attention.shape[1] == len(healed.source_pieces)
    # The first half looks at the first two words and the end, the second at what follows them.
    assert joined.attention[:2, 2:4].sum() == 0 and joined.attention[2:, :2].sum() == 0
    assert joined.attention.sum(axis=1) == pytest.approx(1)


def test_halves_are_together_no_longer_than_was_asked_for() -> None:
    (healed,) = Repairer(Asked(half="one two"), ban=3).repair([ILL], SearchConfig(max_length=4))
    assert healed.repairs == (Repair("loop", None),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eins zwei, drei vier fünf sechs", ("eins zwei,", "drei vier fünf sechs")),
        ("eins zwei drei vier", ("eins zwei", "drei vier")),
        ("wort", None),
        (" wort ", None),
    ],
)
def test_a_line_is_parted_after_a_clause_or_near_its_middle(text: str, expected: tuple[str, str] | None) -> None:
    assert split_in_half(text) == expected
