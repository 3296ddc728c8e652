"""Where spans go, by attention worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from nmt_cli.arrays.special_ids import END, UNKNOWN
from nmt_cli.arrays.types import IntArray
from nmt_cli.search.config import SearchConfig
from nmt_cli.sources.source import TextSource
from nmt_cli.text.masking import mask
from nmt_cli.text.spans import find_spans
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerKind, TokenizerSettings
from nmt_cli.text.tokenizer_training import train_tokenizer
from nmt_cli.translation.config import RepairConfig
from nmt_cli.translation.placement.units import Spelling
from nmt_cli.translation.span_placement import Restored, Sides, restore, verify_spans
from nmt_cli.translation.translator import Translator
from support.adversary import Parrot, PlanState

TEXTS = [
    "i saw the red house yesterday",
    "ich habe gestern das rote haus gesehen",
    "go to now! geh jetzt (jetzt). zu ! jetzt",
]
WORD = TokenizerSettings(kind="word", lowercase=False)


@pytest.fixture(scope="module")
def sides() -> Sides:
    words = Tokenizer(train_tokenizer(TEXTS * 3, WORD), WORD)
    return Sides(words, words)


def placed(sides: Sides, source: str, target: str, looks: list[int | None]) -> Restored:
    """`source` with its spans masked; `target` is what the network says, word t looking at position looks[t]."""
    masked = mask(source, find_spans(source))
    ids = [*sides.source.encode(masked.text), END]
    tokens = [*sides.target.encode(target), END]
    looks = [*looks, len(ids) - 1]
    assert len(looks) == len(tokens)
    attention = np.zeros((len(tokens), len(ids)))
    for row, look in enumerate(looks):
        attention[row] = 1 / len(ids) if look is None else np.eye(len(ids))[look]
    said = Spelling(sides.target.decode(tokens), tokens, sides.target)
    return restore(masked, said, sides.source.spell_pieces(ids), attention, sides.source)


def test_a_placeholder_that_was_carried_is_the_span(sides: Sides) -> None:
    found = placed(sides, "go to {x} now", "geh jetzt zu ⟦0⟧", [0, 3, 1, 2])
    assert found.text == "geh jetzt zu {x}"
    assert [(one.how, one.dropped) for one in found.placed] == [("network", False)]


def test_of_two_the_one_that_looks_at_the_span_stays(sides: Sides) -> None:
    assert placed(sides, "go to {x} now", "⟦0⟧ geh jetzt zu ⟦0⟧", [0, 0, 3, 1, 2]).text == "geh jetzt zu {x}"
    assert placed(sides, "go to {x} now", "⟦0⟧ geh jetzt zu ⟦0⟧", [2, 0, 3, 1, 1]).text == "{x} geh jetzt zu"


def test_a_wrong_placeholder_that_looks_at_the_span_is_taken_for_it(sides: Sides) -> None:
    assert placed(sides, "go to {x} now", "geh zu ⟦7⟧ jetzt", [0, 1, 2, 3]).text == "geh zu {x} jetzt"
    assert placed(sides, "go to {x} now", "⟦7⟧ geh zu jetzt", [0, 0, 1, 3]).text == "geh zu {x} jetzt"


def test_a_span_that_was_dropped_stands_between_the_translations_of_its_neighbours(sides: Sides) -> None:
    found = placed(sides, "go to {x} now", "geh zu jetzt", [0, 1, 3])
    assert found.text == "geh zu {x} jetzt"
    assert [(one.how, one.dropped, one.doubtful) for one in found.placed] == [("attention", True, True)]


def test_exchanged_placeholders_are_believed(sides: Sides) -> None:
    assert placed(sides, "go {a} to {b}", "⟦1⟧ zu ⟦0⟧", [3, 2, 1]).text == "{b} zu {a}"


def test_a_pair_of_tags_stands_around_the_words_that_look_inside_it(sides: Sides) -> None:
    source, target = "i <b>saw</b> the <i>red house</i> yesterday", "ich habe gestern das rote haus gesehen"
    found = placed(sides, source, target, [0, 1, 5, 2, 3, 4, 1])
    assert found.text in (
        "ich <b>habe</b> gestern das <i>rote haus</i> gesehen",
        "ich habe gestern das <i>rote haus</i> <b>gesehen</b>",
    )


def test_tags_around_everything_stay_there_in_their_order(sides: Sides) -> None:
    source = '<p><a href="x">the red house</a></p>'
    assert placed(sides, source, "das rote haus", [2, 1, 0]).text == '<p><a href="x">das rote haus</a></p>'


def test_tags_inside_tags_stay_inside(sides: Sides) -> None:
    source = "i saw <a>the <b>red</b> house</a> yesterday"
    found = placed(sides, source, "gestern rote das haus ich gesehen", [5, 3, 2, 4, 0, 1])
    assert found.text == "gestern <a><b>rote</b> das haus</a> ich gesehen"


@pytest.mark.parametrize("source", ["i saw </b> the house", "i saw <b> the house", "i <i>saw <b> the</i> house"])
def test_half_a_pair_stands_alone(sides: Sides, source: str) -> None:
    text = placed(sides, source, "ich gesehen das haus", [0, 1, 2, 3]).text
    assert [span.text for span in find_spans(text)] == [span.text for span in find_spans(source)]


def test_emoji_at_the_ends_stay_there(sides: Sides) -> None:
    assert placed(sides, "😀 go now! 🇩🇪", "jetzt geh !", [1, 0, 2]).text.split() == ["😀", "jetzt", "geh", "!", "🇩🇪"]


def test_blanks_are_those_of_the_target(sides: Sides) -> None:
    assert placed(sides, "go to ({x}).", "geh zu (⟦0⟧).", [0, 1, 2, 3, 4, 5]).text == "geh zu ({x})."
    assert placed(sides, "go to {x}.", "geh zu.", [0, 1, 3]).text == "geh zu {x}."


def test_without_attention_the_relative_position_decides(sides: Sides) -> None:
    found = placed(sides, "go to <br/> the house", "geh zu das haus", [None] * 4)
    assert found.placed[0].how == "attention"  # END looks somewhere
    masked = mask("go to <br/> the house", find_spans("go to <br/> the house"))
    ids = [*sides.source.encode(masked.text), END]
    tokens = [*sides.target.encode("geh zu das haus"), END]
    said = Spelling(sides.target.decode(tokens), tokens, sides.target)
    flat = restore(masked, said, sides.source.spell_pieces(ids), np.full((5, len(ids)), 1 / len(ids)), sides.source)
    assert flat.text == "geh zu <br/> das haus"
    assert flat.placed[0].how == "position" and flat.placed[0].doubtful


def test_an_empty_translation_is_the_spans(sides: Sides) -> None:
    assert placed(sides, "go to {x} <b>now</b>", "", []).text == "{x} <b></b>"


def test_tags_may_be_nested_deeper_than_python_may_call(sides: Sides) -> None:
    text = placed(sides, "<b>" * 2000 + "go" + "</b>" * 2000, "geh", [0]).text
    assert text.count("<b>") == text.count("</b>") == 2000


def test_what_is_not_there_after_all_is_appended_and_told() -> None:
    from nmt_cli.translation.result import Placed

    found = verify_spans("geh", [Placed("{x}", "network", dropped=False)])
    assert found == Restored("geh {x}", (Placed("{x}", "position", dropped=True),))
    assert verify_spans("15 € 5 €", [Placed(text, "network", False) for text in ("5 €", "15 €")]).text == "15 € 5 €"


SEEN = ["i saw the red house yesterday at home", "go to now home red house"] * 3
GREEDY, REPLACING = SearchConfig(beam_size=1), RepairConfig(heal=False, replace_unknown=True)


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
    translator = Translator(Parrot(tokenizer.vocabulary_size), TextSource(tokenizer), tokenizer)
    (found,) = translator.translate([line], GREEDY, repair=REPLACING)
    assert found.text == line
    assert not any(one.dropped for one in found.placed)


class Peeping(Parrot):
    """Says something unknown for the first word, and looks at the third for it."""

    def encode(self, source_ids: IntArray) -> PlanState:
        state = super().encode(source_ids)
        plan, attention = state.plan.copy(), state.attention.copy()
        plan[:, 0] = UNKNOWN
        attention[:, 0] = np.eye(attention.shape[2])[2]
        return PlanState(plan, attention, 0)


def test_an_unknown_word_is_never_replaced_by_a_placeholder() -> None:
    tokenizer = vocabulary("word")
    translator = Translator(Peeping(tokenizer.vocabulary_size), TextSource(tokenizer), tokenizer)
    (found,) = translator.translate(["i saw {x} red house"], GREEDY, repair=REPLACING)
    assert found.text.count("{x}") == 1 and found.text.endswith("saw {x} red house")
    assert [(one.how, one.dropped) for one in found.placed] == [("network", False)]
