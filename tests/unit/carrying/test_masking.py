"""Texts whose spans are masked or taken out, and sentence pairs masked on both sides."""

from hypothesis import given

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.masking import MaskedText, limit_spans, mask, mask_pair
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import PLACEHOLDERS
from support.spans import lines_with_spans


def unmask(masked: MaskedText) -> str:
    """Returns the text with every span back in its place, by offsets alone, and without blanks, which masking adds."""
    text, shift = masked.text, 0
    for extracted in masked.extracted:
        text = text[: extracted.offset + shift] + extracted.span.text + text[extracted.offset + shift :]
        shift += len(extracted.span.text)
    for number, span in enumerate(masked.masked):
        assert masked.text.count(PLACEHOLDERS[number]) == 1
        text = text.replace(PLACEHOLDERS[number], span.text, 1)
    return "".join(text.split())


@given(lines_with_spans())
def test_masking_loses_nothing_but_blanks(line: str) -> None:
    line = normalise(line)
    spans = limit_spans(find_spans(line))
    if not any("⟦" in span.text or "\ufdd0" in line for span in spans):
        assert unmask(mask(line, spans)) == "".join(line.replace("\ufdd0", "").split())


def test_markup_is_removed_and_words_stay_apart_only_where_it_parted_them() -> None:
    def masked_text(line: str) -> str:
        return mask(line, find_spans(line)).text

    assert masked_text("the <b>red</b> house") == "the red house"
    assert masked_text("H<sub>x</sub>O") == "HxO"
    assert masked_text("the &lt;b&gt;red&lt;/b&gt; house") == "the red house"
    assert masked_text("one<br>two") == "one two"
    assert masked_text("Hi 😀 you") == "Hi you"


def test_a_pair_is_masked_where_both_sides_agree() -> None:
    assert mask_pair("Pay 5 € at x.com, Tom.", "Zahl bei x.com 5 €, Tom.") == (
        "Pay ⟦0⟧ at ⟦1⟧, Tom.",
        "Zahl bei ⟦1⟧ ⟦0⟧, Tom.",
    )
    assert mask_pair("a <b>c</b>", "<b>d</b> e") == ("a c", "d e")
    assert mask_pair("5 kg and 6 kg", "7 kg") == ("5 kg and 6 kg", "7 kg")


def test_numbers_are_shared_whatever_marks_a_side_writes() -> None:
    assert mask_pair("In 1972, 12,500 came.", "1972 kamen 12.500.") == ("In ⟦0⟧, ⟦1⟧ came.", "⟦0⟧ kamen ⟦1⟧.")
    assert mask_pair("It is 2.5 kg at 11:45.", "Um 11.45 Uhr sind es 2,5 kg.") == (
        "It is ⟦0⟧ at ⟦1⟧.",
        "Um ⟦1⟧ Uhr sind es ⟦0⟧.",
    )
    assert mask_pair("at 2:30", "um halb drei") == ("at 2:30", "um halb drei")


def test_a_placeholder_in_the_text_of_one_side_is_none_of_ours() -> None:
    assert mask_pair("what is ⟦3⟧?", "nichts") == ("what is [3]?", "nichts")
    assert mask_pair("⟦5⟧ is 10 km", "es sind 10 km") == ("[5] is ⟦0⟧", "es sind ⟦0⟧")


def test_a_pair_of_nothing_but_markup_stays() -> None:
    assert mask_pair("<b></b>", "<b></b>") == ("<b></b>", "<b></b>")


def test_more_spans_than_placeholders_leave_the_rest_in_the_text() -> None:
    text = " ".join(f"{{{name}}}" for name in "abcdefghijkl")
    source, target = mask_pair(text, text)
    assert source == target == " ".join([*PLACEHOLDERS, "{k}", "{l}"])
