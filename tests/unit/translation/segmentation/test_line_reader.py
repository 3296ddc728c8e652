"""A given translation is read piece by piece, as the search reads its source; else it is scored as a whole."""

import pytest

from nmt_cli.text.normalise import normalise
from nmt_cli.translation.config import LineConfig
from nmt_cli.translation.segmentation.line_reader import LineReader, match_pieces

READER = LineReader(LineConfig(), carries=True)


def match(source: str, target: str) -> list[tuple[str, str | None]] | None:
    """Returns the text of each piece that is translated with that of its target; None for a piece that is kept."""
    matched = match_pieces(READER.split_line(source), normalise(target), READER)
    if matched is None:
        return None
    return [(piece.text, target.masked.text if target is not None else None) for piece, target in matched]


def test_each_sentence_gets_its_own_translation() -> None:
    source, target = "We are late. Where is the bus? It rains.", "Wir sind spät. Wo ist der Bus? Es regnet."
    assert match(source, target) == [
        ("We are late.", "Wir sind spät."),
        ("Where is the bus?", "Wo ist der Bus?"),
        ("It rains.", "Es regnet."),
    ]


@pytest.mark.parametrize("target", ["Wir sind spät, denn es regnet.", "Wir sind spät. Es regnet. Ja.", ""])
def test_another_number_of_sentences_is_scored_as_a_whole(target: str) -> None:
    assert match("We are late. It rains.", target) is None


def test_what_translation_keeps_is_kept() -> None:
    assert match("- first of all", "- zuallererst") == [("", None), ("first of all", "zuallererst")]
    assert match("- first of all", "* zuallererst") is None


@pytest.mark.parametrize("line", ["🙂🙂", "12 / 30", "https://a.example/b"])
def test_a_line_without_words_is_its_own_translation(line: str) -> None:
    assert match(line, line) == [("", None)]
    assert match(line, f"{line} und mehr") is None


def test_spans_are_masked_as_the_source_has_them() -> None:
    assert match("Mail to a@b.example or c@d.example.", "Schreib an c@d.example oder a@b.example.") == [
        ("Mail to ⟦0⟧ or ⟦1⟧.", "Schreib an ⟦1⟧ oder ⟦0⟧.")
    ]
    assert match("Mail to a@b.example.", "Schreib uns.") is None


def test_characters_that_a_text_cannot_have_are_removed_from_both_sides() -> None:
    assert match("Did Tom \ufdd0swim?", "Ist Tom \ufdd0geschwommen?") == [("Did Tom swim?", "Ist Tom geschwommen?")]
