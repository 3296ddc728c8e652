import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.search.beam import BeamSearch, BeamTrace
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.translation.beam_tree import TracedBeam, trace_beam
from nmt_cli.visuals.beam import RIVALS, draw_beam, format_beam, select_nodes
from support.adversary import adversarial_translator
from support.properties import examples
from support.tables import END, TableModel

MODEL = TableModel(vocabulary=5)


def traced(seed: int, beam: int) -> tuple[BeamTrace, list]:
    trace = BeamTrace()
    (hypotheses,) = BeamSearch(
        MODEL, np.array([[seed + 10, 9, END]]), SearchOptions(beam_size=beam, max_length=6), trace
    ).run()
    return trace, hypotheses


def path_to(nodes: list, index: int) -> tuple[int, ...]:
    tokens: list[int] = []
    while index:
        tokens.append(nodes[index].token)
        index = nodes[index].parent
    return tuple(reversed(tokens))


@examples(30)
@given(seed=st.integers(0, 5000), beam=st.integers(1, 4))
def test_every_node_has_the_probability_of_its_path(seed: int, beam: int) -> None:
    trace, hypotheses = traced(seed, beam)
    nodes = trace.mark_best(hypotheses[0])
    for index in range(1, len(nodes)):
        path = path_to(nodes, index)
        assert nodes[index].log_probability == pytest.approx(MODEL.log_probability(seed + 10, path))
        assert nodes[index].depth == len(path)
    best = max((index for index, node in enumerate(nodes) if node.best), key=lambda index: nodes[index].depth)
    assert path_to(nodes, best) == hypotheses[0].tokens


@examples(20)
@given(seed=st.integers(0, 5000))
def test_watching_changes_nothing_and_each_step_keeps_at_most_the_beam(seed: int) -> None:
    trace, hypotheses = traced(seed, 3)
    alone = BeamSearch(MODEL, np.array([[seed + 10, 9, END]]), SearchOptions(beam_size=3, max_length=6)).run()[0]
    assert [hypothesis.tokens for hypothesis in alone] == [hypothesis.tokens for hypothesis in hypotheses]
    for depth in range(1, 7):
        assert sum(node.depth == depth and node.fate == "kept" for node in trace.nodes) <= 3


def test_a_batch_cannot_be_traced() -> None:
    with pytest.raises(ValueError, match="one sentence"):
        BeamSearch(MODEL, np.array([[11, END], [12, END]]), SearchOptions(beam_size=2), BeamTrace()).run()


@pytest.fixture
def beam() -> TracedBeam:
    trace, hypotheses = traced(4, 3)
    nodes = tuple(trace.mark_best(hypotheses[0]))
    return TracedBeam(nodes, tuple("</s>" if node.token == END else f"▁$w{node.token}" for node in nodes), "a text")


def test_the_closest_rivals_of_each_step_are_shown(beam: TracedBeam) -> None:
    indices = select_nodes(beam)
    for depth in range(1, 4):
        pruned = [node for node in beam.nodes if node.depth == depth and node.fate == "pruned"]
        visible = [beam.nodes[index] for index in indices if beam.nodes[index] in pruned]
        assert len(visible) <= RIVALS
        if visible:
            least = min(node.log_probability for node in visible)
            assert sum(node.log_probability > least for node in pruned) < RIVALS


def test_the_lines_lead_with_the_translation_and_mark_what_was_pruned(beam: TracedBeam) -> None:
    lines = format_beam(beam)
    assert lines[0].startswith("* ")
    assert any(line.lstrip().startswith("x ") for line in lines[:-1])
    first = next(node for node in beam.nodes if node.best and node.depth == 1)
    assert f"{100 * math.exp(first.log_probability):.0f} %" in lines[0]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_of_the_tree_is_written_and_formulas_are_text(beam: TracedBeam, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"beam.{suffix}"
    assert draw_beam(beam, path, title="$a$ <b>") == ""
    assert path.stat().st_size > 2000
    if suffix == "svg":
        assert "$a$ &lt;b&gt;" in path.read_text(encoding="utf-8")


def test_the_tree_is_of_what_search_is_given_and_shows_what_is_carried() -> None:
    translator = adversarial_translator()
    line, search_config = "bade 5 km lu.", SearchOptions(beam_size=3, max_length=8)
    tree = trace_beam(translator, line, search_config)
    (best,) = translator.network.search({TextId(0, 0): "bade ⟦0⟧ lu."}, search_config).values()
    assert [node.token for node in tree.nodes if node.best] == list(best.hypotheses[0].tokens)
    assert tree.text == best.text.replace("⟦0⟧", "5 km") and "⟦0⟧" not in tree.pieces
    assert trace_beam(translator, "bade lu. " * 60, search_config).left > 0
