"""Tests of `translation/placement/span_placement.py`.

Where spans go in a translation, with attention made by hand. Blanks around spans that are put into a translation,
with units made by hand."""

import sys

import numpy as np
import pytest

from nmt_cli.arrays.types import END, UNKNOWN, IntArray
from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.masking import mask
from nmt_cli.carrying.spans import Pair, Span, SpanKind
from nmt_cli.search.config import SearchOptions
from nmt_cli.sources.source import TextSource
from nmt_cli.text.symbols import TokenizerKind, TokenizerSettings
from nmt_cli.text.tokenizer import Tokenizer, TokenizerPair, train_tokenizer
from nmt_cli.translation.config import RepairOptions, TranslateOptions
from nmt_cli.translation.placement.marks import Mark, MarkNode, PlacedMark
from nmt_cli.translation.placement.span_placement import (
    PlacedItem,
    RestoredText,
    assemble_text,
    choose_slots,
    drop_replaced,
    find_placeholder_positions,
    is_apart,
    join_items,
    join_units,
    name_units,
    restore_spans,
    verify_spans,
)
from nmt_cli.translation.placement.traced_text import Position
from nmt_cli.translation.placement.units import SourceUnits, Spelling, Unit
from nmt_cli.translation.translator import LineTranslator
from support.adversary import Parrot, PlanState

TEXTS = [
    "i saw the red house yesterday",
    "ich habe gestern das rote haus gesehen",
    "go to now! geh jetzt (jetzt). zu ! jetzt",
]
WORD = TokenizerSettings(kind="word", lowercase=False)


@pytest.fixture(scope="module")
def tokenizers() -> TokenizerPair:
    words = Tokenizer(train_tokenizer(TEXTS * 3, WORD), WORD)
    return TokenizerPair(words, words)


def placed(tokenizers: TokenizerPair, source: str, target: str, attended: list[int | None]) -> RestoredText:
    """Restores the spans of `source` in `target`, the hypothesis; its word t attends to position attended[t]."""
    masked = mask(source, find_spans(source))
    ids = [*tokenizers.source.encode(masked.text), END]
    tokens = [*tokenizers.target.encode(target), END]
    attended = [*attended, len(ids) - 1]
    assert len(attended) == len(tokens)
    attention = np.zeros((len(tokens), len(ids)))
    for row, position in enumerate(attended):
        attention[row] = 1 / len(ids) if position is None else np.eye(len(ids))[position]
    spelling = Spelling(tokenizers.target.decode(tokens), tokens, tokenizers.target)
    units = SourceUnits.from_text(masked.text, tokenizers.source, len(ids))
    return restore_spans(masked, spelling, tokenizers.source.spell_pieces(ids), attention, units)


DROPPED = ("attention", True, False)  # how it was placed, whether the network lost it, and whether its place is a guess
CARRIED = ("network", False, False)


@pytest.mark.parametrize(
    ("source", "target", "attended", "text", "how"),
    [
        ("go to {x} now", "geh jetzt zu ⟦0⟧", [0, 3, 1, 2], "geh jetzt zu {x}", CARRIED),
        ("go to {x} now", "⟦0⟧ geh jetzt zu ⟦0⟧", [0, 0, 3, 1, 2], "geh jetzt zu {x}", CARRIED),  # which looks at it
        ("go to {x} now", "⟦0⟧ geh jetzt zu ⟦0⟧", [2, 0, 3, 1, 1], "{x} geh jetzt zu", CARRIED),
        ("go to {x} now", "geh zu ⟦7⟧ jetzt", [0, 1, 2, 3], "geh zu {x} jetzt", None),  # a wrong one that looks at it
        ("go to {x} now", "⟦7⟧ geh zu jetzt", [0, 0, 1, 3], "geh zu {x} jetzt", None),  # or does not
        ("go to {x} now", "geh zu jetzt", [0, 1, 3], "geh zu {x} jetzt", DROPPED),  # between both its neighbours
        ("go to {x} now", "geh zu haus", [0, 1, 0], "geh zu {x} haus", DROPPED),  # beside one
        ("go to {x} now", "geh jetzt", [0, 0], "geh jetzt {x}", ("attention", True, True)),  # beside neither: a guess
        ("go {a} to {b}", "⟦1⟧ zu ⟦0⟧", [3, 2, 1], "{b} zu {a}", CARRIED),  # exchanged
        ("go to <b>{x}</b> !", "geh zu !", [0, 1, 2], "geh zu <b>{x}</b> !", None),  # the mark looks at the lost span
        (
            "<p><a href='x'>the red house</a></p>",
            "das rote haus",
            [2, 1, 0],
            "<p><a href='x'>das rote haus</a></p>",
            None,
        ),
        (
            *("i saw <a>the <b>red</b> house</a> yesterday", "gestern rote das haus ich gesehen", [5, 3, 2, 4, 0, 1]),
            *("gestern <a><b>rote</b> das haus</a> ich gesehen", None),
        ),
        ("😀 go now! 🇩🇪", "jetzt geh !", [1, 0, 2], "😀 jetzt geh ! 🇩🇪", None),
        ("go to ({x} now).", "geh zu (⟦0⟧ now).", [0, 1, 2, 3, 4, 5, 6], "geh zu ({x} now).", CARRIED),
        ("go to {x}.", "geh zu.", [0, 1, 3], "geh zu {x}.", None),
        ("go to {x} <b>now</b>", "", [], "{x} <b></b>", None),
    ],
)
def test_spans_stand_where_attention_says(
    tokenizers: TokenizerPair,
    source: str,
    target: str,
    attended: list[int | None],
    text: str,
    how: tuple[str, bool, bool] | None,
) -> None:
    restored = placed(tokenizers, source, target, attended)
    assert restored.text == text
    assert how is None or {(span.placed_by, span.lost, span.doubtful) for span in restored.placed} == {how}


def test_a_pair_of_tags_stands_around_the_words_that_look_inside_it(tokenizers: TokenizerPair) -> None:
    source, target = "i <b>saw</b> the <i>red house</i> yesterday", "ich habe gestern das rote haus gesehen"
    restored = placed(tokenizers, source, target, [0, 1, 5, 2, 3, 4, 1])
    assert restored.text in (
        "ich <b>habe</b> gestern das <i>rote haus</i> gesehen",
        "ich habe gestern das <i>rote haus</i> <b>gesehen</b>",
    )


@pytest.mark.parametrize("source", ["i saw </b> the house", "i saw <b> the house", "i <i>saw <b> the</i> house"])
def test_half_a_pair_stands_alone(tokenizers: TokenizerPair, source: str) -> None:
    text = placed(tokenizers, source, "ich gesehen das haus", [0, 1, 2, 3]).text
    assert [span.text for span in find_spans(text)] == [span.text for span in find_spans(source)]


def test_without_attention_the_relative_position_decides(tokenizers: TokenizerPair) -> None:
    restored = placed(tokenizers, "go to <br/> the house", "geh zu das haus", [None] * 4)
    assert restored.placed[0].placed_by == "attention"  # END attends somewhere
    masked = mask("go to <br/> the house", find_spans("go to <br/> the house"))
    ids = [*tokenizers.source.encode(masked.text), END]
    tokens = [*tokenizers.target.encode("geh zu das haus"), END]
    spelling = Spelling(tokenizers.target.decode(tokens), tokens, tokenizers.target)
    flat = restore_spans(
        masked,
        spelling,
        tokenizers.source.spell_pieces(ids),
        np.full((5, len(ids)), 1 / len(ids)),
        SourceUnits.from_text(masked.text, tokenizers.source, len(ids)),
    )
    assert flat.text == "geh zu <br/> das haus"
    assert flat.placed[0].placed_by == "position" and flat.placed[0].doubtful


def test_tags_may_be_nested_deeper_than_python_may_call(tokenizers: TokenizerPair) -> None:
    depth = sys.getrecursionlimit() + 10
    text = placed(tokenizers, "<b>" * depth + "go" + "</b>" * depth, "geh", [0]).text
    assert text.count("<b>") == text.count("</b>") == depth


def test_what_is_not_there_after_all_is_appended_and_told() -> None:
    from nmt_cli.translation.result import Placed

    restored = verify_spans("geh", [Placed("{x}", "network", lost=False)])
    assert restored == ("geh {x}", [Placed("{x}", "position", lost=True)])
    assert verify_spans("15 € 5 €", [Placed(text, "network", False) for text in ("5 €", "15 €")])[0] == "15 € 5 €"


SEEN = ["i saw the red house yesterday at home", "go to now home red house"] * 3
GREEDY, REPLACING = SearchOptions(beam_size=1), RepairOptions(repair=False, replace_unknown=True)


def vocabulary(kind: TokenizerKind) -> Tokenizer:
    settings = TokenizerSettings(kind=kind, lowercase=False)
    return Tokenizer(train_tokenizer(SEEN, settings), settings)


@pytest.mark.parametrize("kind", ["word", "char"])
@pytest.mark.parametrize(
    "line",
    [
        "i saw Zyx the <b>red</b> house yesterday",
        "Zyx i saw the red 😀 house yesterday",
        "i saw Zyx the red house {x} yesterday",
    ],
)
def test_spans_stay_behind_an_unknown_word_that_was_replaced(kind: TokenizerKind, line: str) -> None:
    tokenizer = vocabulary(kind)
    translator = LineTranslator(Parrot(tokenizer.vocabulary_size), TextSource(tokenizer), tokenizer)
    (translation,) = translator.translate([line], TranslateOptions(GREEDY, repair=REPLACING))
    assert translation.text == line
    assert not any(span.lost for span in translation.placed)


class Distracted(Parrot):
    """Gives an unknown token for the first word, and attends to the third for it."""

    def encode(self, source_ids: IntArray) -> PlanState:
        state = super().encode(source_ids)
        plan, attention = state.plan.copy(), state.attention.copy()
        plan[:, 0] = UNKNOWN
        attention[:, 0] = np.eye(attention.shape[2])[2]
        return PlanState(plan, attention, 0)


def test_an_unknown_word_is_never_replaced_by_a_placeholder() -> None:
    tokenizer = vocabulary("word")
    translator = LineTranslator(Distracted(tokenizer.vocabulary_size), TextSource(tokenizer), tokenizer)
    (translation,) = translator.translate(["i saw {x} red house"], TranslateOptions(GREEDY, repair=REPLACING))
    assert translation.text.count("{x}") == 1 and translation.text.endswith("saw {x} red house")
    assert [(span.placed_by, span.lost) for span in translation.placed] == [("network", False)]


POINT = Mark("point", 1, 1)


def unit(text: str, *, blank: bool) -> Unit:
    return Unit(text, blank, np.eye(3)[0])


def item(text: str, *, before: bool, after: bool, markup: bool = True) -> PlacedItem:
    (span,) = find_spans(text)
    assert span.is_markup is markup
    return PlacedItem(span, POINT, before, after)


@pytest.mark.parametrize(
    ("before", "after", "text"), [(True, True, " ☺ "), (True, False, " ☺"), (False, True, "☺ "), (False, False, "☺ ")]
)
def test_blanks_are_those_of_the_source_and_words_never_meet(before: bool, after: bool, text: str) -> None:
    joined = join_items(unit("geh", blank=False), [item("☺", before=before, after=after)], unit("jetzt", blank=True))
    assert joined == text


def test_without_items_the_blank_of_the_next_unit_stays() -> None:
    assert join_items(unit("geh", blank=False), [], unit("jetzt", blank=True)) == " "
    assert join_items(unit("geh", blank=False), [], unit(".", blank=False)) == ""


def test_no_blank_comes_behind_an_opening_bracket() -> None:
    assert join_items(unit("(", blank=True), [item("☺", before=True, after=False)], unit(")", blank=False)) == "☺"


def test_two_spans_that_stand_for_words_are_always_apart() -> None:
    words = [item(text, before=False, after=False, markup=False) for text in ("{x}", "{y}")]
    assert is_apart(*words)
    assert not is_apart(item("<b>", before=True, after=False), item("☺", before=False, after=True))


def test_a_text_is_assembled_from_units_and_items_and_knows_their_words() -> None:
    units = [Unit("geh", False, np.eye(3)[0]), Unit("jetzt", True, np.eye(3)[1])]
    text, ranges = join_units(units)
    assert text == "geh jetzt"
    items, node = [item("☺", before=True, after=True)], MarkNode(0, 0, 1, 1)
    for position, written in ((3, "geh ☺ jetzt"), (4, "geh ☺ jetzt"), (6, "geh je☺tzt"), (9, "geh jetzt ☺")):
        spaced = items if written != "geh je☺tzt" else [item("☺", before=False, after=False)]
        restored = assemble_text(units, ranges, spaced, [PlacedMark(node, Position(position, position))])
        assert restored.text == written
        assert next(written.split()[word] for word in restored.words) == "geh"


def test_a_span_that_stands_for_a_word_is_not_divided() -> None:
    units = [
        Unit("am", False, np.eye(3)[0]),
        Unit("3.", True, np.eye(3)[1], masked_span=0),
        Unit("?", False, np.eye(3)[2]),
    ]
    node, spaced = MarkNode(0, 0, 1, 1), [item("☺", before=True, after=True)]
    restored = assemble_text(units, join_units(units)[1], spaced, [PlacedMark(node, Position(4, 4))])
    assert restored.text == "am 3. ☺?"


def test_a_word_is_apart_from_the_bracket_that_closes_before_it() -> None:
    bracket = PlacedItem(Span(0, 1, ")", SpanKind.BRACKET, True, Pair(")", closes=True)), POINT, False, False)
    opening = bracket._replace(span=bracket.span._replace(text="(", pair=Pair(")", closes=False)), blank_before=True)
    assert join_items(unit("geh", blank=False), [opening, bracket], unit("jetzt", blank=True)) == " () "
    assert join_items(unit("geh", blank=False), [opening, bracket], unit(".", blank=False)) == " ()"


# Which placeholder stands for which span, with attention made by hand.


def slot(text: str, position: int, weight: float = 1.0, *, blank: bool = True) -> Unit:
    """A slot that attends to one of four source positions with this weight, and evenly to the others."""
    attention = np.full(4, (1 - weight) / 3)
    attention[position] = weight
    return Unit(text, blank, attention)


@pytest.mark.parametrize(
    ("slots", "positions", "chosen"),
    [
        ([slot("geh", 0), slot("⟦0⟧", 2)], [2], {0: 1}),  # by its number
        ([slot("⟦0⟧", 0, 0.9), slot("⟦0⟧", 2, 0.9)], [2], {0: 1}),  # of two, which attends to the span
        ([slot("⟦5⟧", 2, 0.31)], [2], {0: 0}),  # a wrong one if it attends to the missing span
        ([slot("⟦5⟧", 2, 0.29)], [2], {}),
        ([slot("⟦1⟧", 1)], [1, 1], {1: 0}),  # one is never taken for two
    ],
)
def test_each_span_has_the_placeholder_that_stands_for_it(
    slots: list[Unit], positions: list[int], chosen: dict[int, int]
) -> None:
    assert choose_slots(slots, positions) == chosen


def test_a_placeholder_beyond_what_was_read_counts_as_at_the_end() -> None:
    masked = mask("a {x} b {y}", find_spans("a {x} b {y}"))
    assert find_placeholder_positions(masked, ["a", "⟦0⟧", "b", "</s>"]) == [1, 3]


def test_units_get_the_text_of_their_spans_and_lose_other_placeholders() -> None:
    masked = mask("go {x} now", find_spans("go {x} now"))
    units = [slot("geh", 0, blank=False), slot("⟦7⟧", 2), slot("⟦0⟧", 1), slot(".", 3, blank=False)]
    named = list(name_units(units, {0: 2}, masked, [1]))
    assert [named_unit.text for named_unit in named] == ["geh", "{x}", "."]
    assert [named_unit.masked_span for named_unit in named] == [None, 0, None]
    assert named[1].attention.tolist() == [0, 1, 0, 0]


def test_no_blank_of_the_network_alone_follows_a_bracket() -> None:
    units = [slot("geh", 0, blank=False), slot("(", 1), slot("jetzt", 1), slot(")", 2, blank=False)]
    named = [list(name_units(units, {}, mask(source, ()), ())) for source in ("go (now)", "go ( now )")]
    assert [[unit.blank_before for unit in some] for some in named] == [
        [False, True, False, False],
        [False, True, True, False],
    ]


def test_a_span_covers_the_word_behind_it_that_its_text_needs_no_more() -> None:
    masked = mask("at {x} now", [find_spans("at {x} now")[0]._replace(covers="Uhr")])
    units = [slot("um", 0), slot("{x}", 1)._replace(masked_span=0), slot("Uhr", 1), slot("jetzt", 2)]
    assert [unit.text for unit in drop_replaced(units, masked)] == ["um", "{x}", "jetzt"]


@pytest.mark.parametrize(
    ("source", "before", "blank"),
    [
        ("My {x} met.", "Mein", True),  # two words: one was glued to the other
        ("My{x} met.", "Mein", False),  # as in the source
        ("To {x} now.", "ל", False),  # a prefix
        ("Now l'{x}.", "'", False),
        ("我的 {x}", "我的", False),  # no blanks between words
    ],
)
def test_a_word_is_not_glued_to_a_span_that_stood_apart(source: str, before: str, blank: bool) -> None:
    masked = mask(source, find_spans(source))
    units = [slot(before, 0), slot("⟦0⟧", 1, blank=False)]
    assert [named.blank_before for named in name_units(units, {0: 1}, masked, [1])] == [True, blank]


@pytest.mark.parametrize(
    ("source", "behind", "blank"),
    [
        ("Over 200 flights", "lügen", True),  # a subword that begins no word: 200lügen
        ("Over {x} flights", "flüge", True),
        ("Over 200% flights", "flüge", False),  # as in the source
        ("In the 200 years", "er", False),  # a suffix
    ],
)
def test_a_span_is_not_glued_to_a_word_behind_it_that_stood_apart(source: str, behind: str, blank: bool) -> None:
    masked = mask(source, find_spans(source))
    units = [slot("⟦0⟧", 0), slot(behind, 1, blank=False)]
    assert [named.blank_before for named in name_units(units, {0: 0}, masked, [1])][1] == blank
