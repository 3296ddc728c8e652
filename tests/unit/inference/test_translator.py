from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.translator import Translator, batches
from support.models import export_untrained, prepare_toy

GREEDY = SearchConfig(beam_size=1, max_length=8)


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    directory = tmp_path_factory.mktemp("translator")
    return Translator.load(export_untrained(prepare_toy(directory), directory / "model"))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.text(max_size=30), max_size=6))
def test_a_line_in_is_a_line_out_whatever_is_in_it(translator: Translator, lines: list[str]) -> None:
    found = translator.translate(lines, GREEDY)
    assert [one.source for one in found] == lines
    for one in found:
        assert "\n" not in one.text
        assert bool(one.hypotheses) == bool(one.source_pieces)


def test_a_blank_line_has_no_hypothesis_and_an_empty_translation(translator: Translator) -> None:
    blank = translator.translate(["", "  \u00a0\t"], GREEDY)
    assert [(one.text, one.hypotheses) for one in blank] == [("", ()), ("", ())]


def test_order_is_kept_though_batches_go_by_length(translator: Translator) -> None:
    lines = [f"{'bade ' * (number * 7 % 5)}giko." for number in range(12)]
    together = [one.text for one in translator.translate(lines, GREEDY)]
    assert together == [translator.translate([line], GREEDY)[0].text for line in lines]


def test_shapes_belong_together(translator: Translator) -> None:
    one = translator.translate(["bade giko. lu"], SearchConfig(beam_size=3, n_best=3, max_length=6))[0]
    assert len(one.hypotheses) == 3
    for found in one.hypotheses:
        assert found.attention.shape == (len(found.pieces), len(one.source_pieces))
        assert len(found.token_log_probabilities) == len(found.pieces)
    assert one.source_pieces[-1] == "</s>"


def test_characters_never_seen_are_named(translator: Translator) -> None:
    assert translator.translate(["bade 字 giko."], GREEDY)[0].unseen == {"字"}
    assert translator.translate(["bade giko."], GREEDY)[0].unseen == frozenset()


def test_progress_counts_every_line_once(translator: Translator) -> None:
    seen: list[int] = []
    translator.translate(["bade.", "", "giko lu."], GREEDY, progress=seen.append)
    assert seen[-1] == 3
    assert seen == sorted(seen)


def test_batches_hold_every_line_with_text_once_and_bound_the_work() -> None:
    lengths = [5, 0, 3000, 7, 0, 100_000] + [12] * 700
    made = batches(lengths, SearchConfig(beam_size=5))
    assert sorted(index for batch in made for index in batch) == [i for i, length in enumerate(lengths) if length]
    assert all(len(batch) * 5 <= 512 for batch in made)
    assert all(len(batch) == 1 for batch in made if max(lengths[index] for index in batch) > 12_000)
