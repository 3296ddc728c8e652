"""The stages of a translation stand in an order in which each has what it needs, and touches nothing else."""

import ast
import inspect
from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.normalise import drop_controls
from nmt_cli.text.symbols import TokenizerKind
from nmt_cli.translation import stages
from nmt_cli.translation.batch import TranslationBatch
from nmt_cli.translation.config import CheckOptions, LineOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.lines import WINDOW, ContextWindow, WindowCutter, cut_texts
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.stages import STAGES, Stage
from nmt_cli.translation.translator import LineTranslator
from support.adversary import adversarial_translator
from support.models import WORDS, toy_pairs
from support.properties import examples
from support.spans import lines_with_spans, sentences_with_spans

FIELDS = {field.name for field in fields(TranslationBatch)}
FILLED = set().union(*(stage.gives for stage in STAGES)) | {"lines"}  # by stages; the others are what was asked for


def list_used(stage: Stage) -> tuple[set[str], set[str]]:
    """The fields of the batch that the code of a stage reads, and those that it assigns, fills or hands on."""
    nodes = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(stage.run)))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "batch"
    ]
    helpers = {"list_ids": {"segments"}}
    read = set().union(*(helpers.get(node.attr, {node.attr}) for node in nodes if isinstance(node.ctx, ast.Load)))
    written = {node.attr for node in nodes if isinstance(node.ctx, ast.Store)}
    return read & FILLED, written


def test_every_stage_has_what_it_needs() -> None:
    filled = {"lines"}
    for stage in STAGES:
        assert stage.needs <= filled, f"{stage.run.__name__} needs {stage.needs - filled}"
        filled |= stage.gives
    assert "result" in filled


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.run.__name__)
def test_a_stage_says_what_it_reads_and_writes(stage: Stage) -> None:
    read, written = list_used(stage)
    assert read <= stage.needs | stage.gives
    assert written <= stage.gives
    assert stage.needs | stage.gives <= FIELDS
    assert stage.run.__doc__


def test_the_order_is_that_of_the_module() -> None:
    lines = [inspect.getsourcelines(stage.run)[1] for stage in STAGES]
    assert lines == sorted(lines)
    assert inspect.getmodule(STAGES[0].run) is stages


# Texts are cut into windows, which depend neither on blocks nor on what else is translated.

LINES = st.lists(st.sampled_from(["a", "b", "", " "]), max_size=3 * WINDOW).map(
    lambda lines: [line and f"{line}{number}" for number, line in enumerate(lines)]
)


def list_contexts(lines: list[str], sizes: list[int]) -> dict[str, tuple[str, ...]]:
    """The lines before each line in its window, nearest last, where blocks have these sizes in turn."""
    cutter, contexts, start = WindowCutter(), dict[str, tuple[str, ...]](), 0
    while start < len(lines):
        block = lines[start : start + sizes[0]]
        sizes = [*sizes[1:], sizes[0]]
        for before, rows in cutter.cut_lines(block):
            chain = [*before, *(block[row] for row in rows)]
            contexts |= {line: tuple(chain[:place]) for place, line in enumerate(chain) if place >= len(before)}
        start += len(block)
    return contexts


@given(lines=LINES, sizes=st.lists(st.integers(1, 20), min_size=1, max_size=4))
def test_the_window_of_a_line_does_not_depend_on_blocks(lines: list[str], sizes: list[int]) -> None:
    assert list_contexts(lines, sizes) == list_contexts(lines, [len(lines) + 1])


@given(lines=LINES)
def test_every_line_but_the_first_has_the_written_line_before(lines: list[str]) -> None:
    contexts = list_contexts(lines, [1000])
    written = [line for line in lines if line.strip()]
    assert list(contexts) == written
    for line, context in contexts.items():
        number = written.index(line)
        assert context == tuple(written[number - len(context) : number])
        assert len(context) <= WINDOW and (context or number == 0)


def test_texts_and_kinds_are_apart() -> None:
    lines = ["a", "b", "c", "d", "e"]
    assert cut_texts([2, 3], lines) == (ContextWindow((), (0, 1)), ContextWindow((), (2, 3, 4)))
    assert cut_texts([5], lines, "xyxyx") == (ContextWindow((), (0, 2, 4)), ContextWindow((), (1, 3)))


def test_a_window_begins_with_the_line_before_it() -> None:
    lines = [str(number) for number in range(2 * WINDOW + 1)]
    windows = cut_texts([len(lines)], lines)
    assert [window.before for window in windows] == [(), (str(WINDOW - 1),), (str(2 * WINDOW - 1),)]
    assert [row for window in windows for row in window.rows] == list(range(len(lines)))


# What a process remembers of the lines before changes nothing about a line.

AWKWARD = [
    *("e.g.", "e.g. dog", "The dog, e.g.", "Chidren", "I want Chidren", "Chidren want the dog.", "NO DOGS", "No."),
    *("No. 5 dogs", "US", "Tell us: US dogs.", "5", "5 p.m.", "Frobnia", "Frobnia and the dog", "the dogg and frobnia"),
]


def load() -> LineTranslator:
    return TranslationRequest(find_model(Path("eng-deu")), lines=LineOptions(slips=True), threads=1).load()


def translate(translator: LineTranslator, line: str) -> tuple[object, ...]:
    search = SearchOptions(beam_size=1)
    (translation,) = translator.translate(
        [line], TranslateOptions(search, repair=RepairOptions(), checks=CheckOptions())
    )
    return translation.text, translation.checks, translation.repairs


@pytest.fixture(scope="module")
def alone() -> dict[str, tuple[object, ...]]:
    """What becomes of each line in a process of its own."""
    return {line: translate(load(), line) for line in AWKWARD}


@pytest.fixture(scope="module")
def seasoned_translator() -> LineTranslator:
    return load()


@examples(10)
@given(lines=st.lists(st.sampled_from(AWKWARD), min_size=2, max_size=12))
def test_a_line_becomes_the_same_after_any_others(
    seasoned_translator: LineTranslator, alone: dict[str, tuple[object, ...]], lines: list[str]
) -> None:
    assert [translate(seasoned_translator, line) for line in lines] == [alone[line] for line in lines]


# Spans survive whatever a network does with their placeholders.

GREEDY = SearchOptions(beam_size=1)


def lost(spans: list[str], text: str) -> list[str]:
    """The spans that do not stand in `text` as often as they must; a span may stand inside another."""
    needed = Counter({span: sum(other.count(span) for other in spans) for span in set(spans)})
    return [span for span, count in needed.items() if text.count(span) < count]


@pytest.mark.parametrize("number", [200, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["unigram", "bpe", "char", "word"])
@pytest.mark.parametrize("copies_placeholders", [True, False])
@pytest.mark.parametrize("flat", [True, False])
def test_spans_survive_a_network_that_loses_and_shuffles_them(
    kind: TokenizerKind, copies_placeholders: bool, flat: bool, number: int
) -> None:
    lines = sentences_with_spans(WORDS, number)
    translations = adversarial_translator(kind, copies_placeholders=copies_placeholders, flat=flat).translate(
        [line for line, _ in lines], TranslateOptions(GREEDY)
    )
    assert sum(len(spans) for _, spans in lines) == number
    assert [
        (line, missing)
        for (line, spans), translation in zip(lines, translations, strict=True)
        if (missing := lost(spans, translation.text))
    ] == []


@pytest.mark.parametrize("kind", ["unigram", "word"])
def test_a_placeholder_that_the_network_makes_of_nothing_is_taken_out(kind: TokenizerKind) -> None:
    lines = [source for source, _ in toy_pairs(200)]
    model = adversarial_translator(kind, seed=3)
    translations = model.translate(lines, TranslateOptions(GREEDY))
    placeholder_ids = model.target.placeholder_ids
    assert any(token in placeholder_ids for translation in translations for token in translation.hypotheses[0].tokens)
    assert not [translation.text for translation in translations if PLACEHOLDER_PATTERN.search(translation.text)]


@pytest.mark.parametrize(
    "line",
    [
        "We \x1b[1mgo\x1b[0m.",
        "We \x9b31mgo\x9b0m.",
        "We \x1b]8;;https://example.com\x07go\x1b]8;;\x1b\\.",
        "\x1b(BWe go.\x1b[m",
        "We \x1b]go.",
    ],
)
def test_no_part_of_an_order_to_a_terminal_stays(line: str) -> None:
    assert drop_controls(line).replace("]", "") == "We go."


@examples(150)
@given(
    line=lines_with_spans(), seed=st.integers(0, 1000), copies_placeholders=st.booleans(), beam=st.sampled_from([1, 3])
)
def test_spans_of_any_line_survive_in_every_hypothesis(
    line: str, seed: int, copies_placeholders: bool, beam: int
) -> None:
    config = SearchOptions(beam_size=beam, n_best=beam)
    model = adversarial_translator(seed=seed, copies_placeholders=copies_placeholders)
    translation = model.translate([line], TranslateOptions(config))[0]
    # A network without placeholders reads plain numbers, but where a line has no word.
    spans = [span.text for piece in model.reader.split_line(drop_controls(line)) for span in piece.spans]
    for hypothesis in translation.hypotheses:
        assert lost(spans, hypothesis.text) == []
        assert Counter(placed.text for placed in hypothesis.spans) == Counter(spans)
        assert "\n" not in hypothesis.text or "\n" in line
    assert translation.hypotheses or not spans


def test_what_the_network_lost_is_told() -> None:
    lines = [line for line, _ in sentences_with_spans(WORDS, 200)]
    placed = [
        placed for one in adversarial_translator().translate(lines, TranslateOptions(GREEDY)) for placed in one.placed
    ]
    assert any(one.lost and one.placed_by == "attention" for one in placed)
    assert any(one.placed_by == "network" and not one.doubtful for one in placed)
    flat = [
        placed
        for one in adversarial_translator(flat=True).translate(lines, TranslateOptions(GREEDY))
        for placed in one.placed
    ]
    assert {one.placed_by for one in flat} == {"network", "position", "unchanged"}  # at the ends of a line
    assert all(one.doubtful for one in flat if one.placed_by == "position")


@pytest.mark.parametrize(
    "line", ["https://example.com/a", "<p>😀</p>", "{a} - {b}", "5 €!", "⟦3⟧", "<b></b>", "%s: %d"]
)
def test_a_line_without_words_stays_as_it_is(line: str) -> None:
    for copies_placeholders in (True, False):
        assert (
            adversarial_translator(copies_placeholders=copies_placeholders)
            .translate([line], TranslateOptions(GREEDY))[0]
            .text
            == line
        )


def test_a_literal_placeholder_survives_beside_real_ones() -> None:
    text = adversarial_translator().translate(["bade ⟦1⟧ {x} ⟦0⟧ giko."], TranslateOptions(GREEDY))[0].text
    assert all(text.count(span) == 1 for span in ("⟦0⟧", "⟦1⟧", "{x}"))


def test_without_protection_the_network_gets_the_text_itself() -> None:
    free = adversarial_translator(lines=LineOptions(protect=False))
    assert free.translate(["bade {x}."], TranslateOptions(GREEDY))[0].placed == ()


def test_pieces_show_the_spans_themselves() -> None:
    translation = adversarial_translator().translate(["bade {x} giko."], TranslateOptions(GREEDY))[0]
    assert "{x}" in translation.source_pieces and not any("⟦" in piece for piece in translation.source_pieces)


@examples(25)
@given(words=st.lists(st.sampled_from([*WORDS[:20], "{x}", "bade.", "giko,", "字。", "ba" * 300]), max_size=300))
def test_a_line_of_any_length_is_one_line_and_keeps_its_spans(words: list[str]) -> None:
    short = adversarial_translator(lines=LineOptions(max_words=7))
    translation = short.translate([" ".join(words)], TranslateOptions(GREEDY))[0]
    assert lost(["{x}"] * words.count("{x}"), translation.text) == []
    for hypothesis in translation.hypotheses:
        assert hypothesis.attention.shape == (len(hypothesis.pieces), len(translation.source_pieces))
        assert len(hypothesis.token_log_probabilities) == len(hypothesis.pieces)
