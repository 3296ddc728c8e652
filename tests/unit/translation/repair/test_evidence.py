"""Marks enclose what the network needs their words for; words that it does not need are told as left out."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.aligned import MarkedText
from nmt_cli.text.profile import CorpusProfile, TextProfile
from nmt_cli.text.profile_building import build_profile
from nmt_cli.translation.config import LineOptions
from nmt_cli.translation.repair.evidence import (
    DoubtfulPair,
    MarkedPiece,
    list_enclosed,
    list_marked,
    list_unclear,
    list_unquoted,
    settle_translation,
)
from nmt_cli.translation.result import Hypothesis, Translation
from nmt_cli.translation.segmentation.line_reader import LineReader

SOURCE = ("▁open", "▁the", "▁file", "▁now", "</s>")
MEANINGS = {"▁öffne": "open", "▁die": "the", "▁Datei": "file", "▁jetzt": "now"}  # what each target word needs
NOW = MarkedText("open the file now, not later.", [range(14, 17)])  # as a document has it
READER = LineReader(LineOptions(), copies_placeholders=False)


@pytest.fixture(scope="module")
def hundred_texts() -> TextProfile:
    source = CorpusProfile.parse(build_profile([("We eat.", "Wir essen.")] * 100).encode()).source
    assert source is not None
    return source


def translate(target: str, attended: Sequence[int], share: float) -> Translation:
    """A translation each word of which attends to one source word by a share, and to all others by the rest."""
    words = (*(f"▁{word}" for word in target.split()), "</s>")
    attention = np.full((len(words), len(SOURCE)), (1 - share) / len(SOURCE))
    attention[range(len(words)), [*attended, len(SOURCE) - 1]] += share
    values = (-0.1,) * len(words)
    hypothesis = Hypothesis(target, tuple(range(len(words))), words, -1.0, -1.0, values, (attention,), True)
    return Translation("", SOURCE, (hypothesis,), frozenset())


def settle(
    line: str, translation: Translation, profile: TextProfile | None = None, drop: float = 9.0
) -> tuple[list[int], Translation]:
    """The source words that the target words attend to then, and the translation; scored by what each word needs."""
    pieces = READER.split(line)
    ((piece, of_document),) = (
        pair for pair in zip(pieces, list_marked(line, pieces), strict=True) if pair[0].is_translated
    )
    words = translation.hypotheses[0].pieces

    def rate(text: str) -> tuple[float, ...]:
        return tuple(-0.1 if MEANINGS.get(word, "") in text else -0.1 - drop for word in words)

    marked = MarkedPiece(piece, translation, [*list_enclosed(piece), *of_document])
    pairs = [pair.compare(translation, rate(pair.rest)) for pair in list_unclear(marked)]
    new = settle_translation(translation, pairs, profile, "eng") if pairs else translation
    return new.hypotheses[0].attention[:-1].argmax(axis=1).tolist(), new


@pytest.mark.parametrize("mark", ["<b>now</b>", "*now*", "<1>now</1>", '<g id="1">now</g>', '"<b>now"</b>'])
def test_the_word_that_needs_the_marked_one_attends_to_it_alone(mark: str) -> None:
    misled = translate("öffne die Datei jetzt", [0, 3, 2, 2], share=0.2)
    attended, new = settle(f"open the file {mark}, not later.", misled)
    assert (attended, new.left_out) == ([0, 0, 2, 3], ())


def test_the_marks_of_a_document_count_as_those_of_a_line() -> None:
    attended, new = settle(NOW, translate("öffne die Datei jetzt", [0, 3, 2, 2], share=0.2))
    assert (attended, new.left_out) == ([0, 0, 2, 3], ())


def test_a_word_without_evidence_does_not_attend_to_the_marked_one() -> None:
    attended, _ = settle("open the file <b>now</b>, not later.", translate("öffne die Datei jetzt", [0, 3, 2, 3], 0.2))
    assert attended == [0, 0, 2, 3]


def test_an_article_is_marked_with_its_word_and_no_word_before_it_that_needs_neither() -> None:
    attended, _ = settle("open <b>the file</b> now, not later.", translate("öffne Sie die Datei", [0, 2, 0, 2], 0.3))
    assert attended == [0, 0, 1, 2] or attended == [0, 0, 2, 2]


@pytest.mark.parametrize(
    ("words", "drops"),
    [
        ("Save", [0.0, 0.0, 7.0, 0.0]),
        ("Save As", [0.0, 0.0, 7.0, 5.0]),
        ("as", [0.0, 0.0, 7.0, 5.0]),
        ("save it", [0.0, 2.0, 7.0, 5.0]),
    ],
)
def test_a_pair_has_no_more_words_of_grammar_at_its_edges_than_its_source(words: str, drops: list[float]) -> None:
    profile = CorpusProfile.parse(build_profile([("Xx as in it", "Xx auf im es")] * 100).encode())
    assert profile.source is not None
    translation = translate("Klicken auf Speichern im", [0, 1, 1, 1], share=0.5)
    pair = DoubtfulPair(words, "", [1], [0.0, 2.0, 7.0, 5.0])
    assert list(pair.leave_grammar(translation, profile.source, profile.target).drops) == drops


@given(st.lists(st.sampled_from(["Öl", "wir,", "geht.", "Ab", "a-b"]), min_size=1), st.data())
def test_marks_of_a_document_are_around_the_same_words_in_the_pieces(words: list[str], data: st.DataObject) -> None:
    line, starts = "", []
    for word in words:
        line += data.draw(st.sampled_from([" ", "\u00a0", "  ", " \u200b"])) if line else ""
        starts.append(len(line))
        line += word
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    marked = MarkedText(line, [range(starts[first], starts[last] + len(words[last]))])
    pieces = READER.split(marked)
    ranges = zip(pieces, list_marked(marked, pieces), strict=True)
    found = [word for piece, parts in ranges for start, end in parts for word in piece.text[start:end].split()]
    assert found == words[first : last + 1]


def test_clear_attention_is_not_doubted() -> None:
    clear = translate("öffne die Datei jetzt", [0, 3, 2, 3], share=0.9)
    _, new = settle("open the file <b>now</b>, not later.", clear)
    assert new is clear


@pytest.mark.parametrize(
    ("word", "left_out", "unplaced"), [("now", ("now",), ()), ("not", ("not",), ()), ("we", (), ("we",))]
)
def test_marked_words_that_nothing_stands_for_are_left_out_if_they_tell_something(
    word: str, left_out: tuple[str, ...], unplaced: tuple[str, ...], hundred_texts: TextProfile
) -> None:
    lost = translate("öffne die Datei", [0, 1, 2], share=0.2)
    _, new = settle(f"open the file <b>{word}</b>, you two.", lost, hundred_texts)
    assert (new.left_out, new.unplaced) == (left_out, unplaced)


@pytest.mark.parametrize(
    ("attended", "share", "drop", "is_lost"),
    [(2, 0.9, 1.5, True), (2, 0.9, 2.5, False), (3, 0.2, 1.5, False), (3, 0.2, 0.9, False), (3, 0.2, 0.2, True)],
)
def test_a_word_that_hardly_attends_to_marked_ones_needs_them_only_if_it_is_far_less_likely(
    attended: int, share: float, drop: float, is_lost: bool, hundred_texts: TextProfile
) -> None:
    misled = translate("öffne die Datei jetzt", [0, 1, 2, attended], share)
    _, new = settle("open the file <b>now</b>, you two.", misled, hundred_texts, drop)
    assert new.left_out == ("now",) * is_lost


@pytest.mark.parametrize(
    ("target", "unquoted"), [("Öffne jetzt.", ["Open", "now"]), ("Öffne „jetzt“.", []), ("Öffne »jetzt«.", [])]
)
def test_words_are_asked_for_whose_quotation_marks_are_lost(target: str, unquoted: list[str]) -> None:
    text = 'Click “Open” "now".'
    assert [text[start:end] for start, end in list_unquoted(text, target)] == unquoted
