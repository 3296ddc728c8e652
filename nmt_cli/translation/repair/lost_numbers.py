"""Brings back the numbers that a network was to translate and lost: in pieces in which they are carried instead.

Small numbers are left to the network, since languages write them as words; what it loses is masked, and the piece is
searched again (`carry_lost_numbers`). Knows no network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from nmt_cli.carrying.masking import PLACEHOLDER_PATTERN
from nmt_cli.carrying.ordinals import find_ending
from nmt_cli.carrying.spans import DIGIT, Span, cover_spans
from nmt_cli.search.sampling import TextId
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.translation.checks.number_text import NUMBER
from nmt_cli.translation.checks.numbers import compare_numbers, list_uncertain
from nmt_cli.translation.result import Repair, Translation
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.pieces import Piece

PieceSearch = Callable[[Mapping[TextId, str]], Mapping[TextId, Translation]]


def carry_lost_numbers(
    pieces: dict[TextId, Piece],
    translations: dict[TextId, Translation],
    lost: LostNumbers,
    search: PieceSearch,
    *,
    carries: bool,
) -> None:
    """Carries the numbers that the network lost; changes the pieces and translations of these.

    `carries` says whether the network has learned to carry placeholders over.
    """
    doubtful = {text_id: pieces[text_id] for text_id in translations if pieces[text_id].has_digits}
    # 1. Correct wrong numbers, if the network cannot carry the right ones.
    corrected = {} if carries else lost.correct_all(doubtful, translations)
    translations |= {text_id: mark_repaired(new, "corrected number") for text_id, new in corrected.items()}
    # 2. Protect the numbers of pieces that lost one; a piece that then has no words is kept.
    protected = lost.protect_all(doubtful, translations)
    for text_id in [text_id for text_id, piece in protected.items() if not piece.is_translated]:
        pieces[text_id] = protected[text_id]
        del translations[text_id]
    # 3. Search the others again.
    texts = {text_id: piece.text for text_id, piece in protected.items() if piece.is_translated}
    for text_id, translation in search(texts).items():
        pieces[text_id] = protected[text_id]
        translations[text_id] = mark_repaired(translation, "protected number")


class LostNumbers(NamedTuple):
    """Finds lost numbers; the languages are codes by which number words are known."""

    source_language: str
    target_language: str
    reader: LineReader

    def protect_all(
        self, pieces: Mapping[TextId, Piece], translations: Mapping[TextId, Translation]
    ) -> dict[TextId, Piece]:
        """Returns the pieces whose translation lacks a number, with that number as a protected span."""
        lost = {text_id: self.find_lost(piece, translations[text_id].text) for text_id, piece in pieces.items()}
        return {
            text_id: self.reader.protect_more(pieces[text_id], numbers) for text_id, numbers in lost.items() if numbers
        }

    def correct_all(
        self, pieces: Mapping[TextId, Piece], translations: Mapping[TextId, Translation]
    ) -> dict[TextId, Translation]:
        """Returns the translations in which lost numbers take the place of wrong ones, as `correct_numbers` does."""
        corrected = ((text_id, self.correct_numbers(piece, translations[text_id])) for text_id, piece in pieces.items())
        return {text_id: translation for text_id, translation in corrected if translation is not None}

    def find_lost(self, piece: Piece, target: str) -> list[Span]:
        """Returns all numbers of a piece outside its spans if `target` surely or perhaps lacks one of them.

        All, since in another search another one may get lost. Lost ones come first if there is no room for all.
        """
        covered = cover_spans(piece.segment.text, piece.segment.spans)
        if not DIGIT.search(covered):
            return []
        target = PLACEHOLDER_PATTERN.sub(" ", target)
        lost = compare_numbers(covered, target, self.source_language, self.target_language).missing
        if not lost and self.reader.carries:
            lost = list_uncertain(covered, target, (self.source_language, self.target_language))
        if not lost:
            return []
        room = len(PLACEHOLDERS) - len(piece.masked.masked)
        numbers = sorted(NUMBER.finditer(covered), key=lambda match: match[0] not in lost)
        return [self.make_span(match) for match in numbers[:room]]

    def make_span(self, number: re.Match[str]) -> Span:
        """Returns a number as a protected span, as an ordinal or a decade if letters behind it say so."""
        languages = (self.source_language, self.target_language)
        end, ending = find_ending(number.string, number.end(), number[0], languages)
        return Span(number.start(), end, number[0] + ending, not self.reader.carries, is_number=True)

    def correct_numbers(self, piece: Piece, translation: Translation) -> Translation | None:
        """Returns the translation with the lost numbers in place of the wrong ones that the network wrote for them.

        For a network that cannot carry them over. None unless there are as many wrong numbers as lost ones.
        """
        if piece.segment.spans:
            return None
        difference = compare_numbers(piece.text, translation.text, self.source_language, self.target_language)
        if not difference.missing or len(difference.missing) != len(difference.invented):
            return None
        text, position = translation.text, 0
        for wrong, right in zip(difference.invented, difference.missing, strict=True):
            position = text.index(wrong, position)
            text = text[:position] + right + text[position + len(wrong) :]
            position += len(right)
        best, *others = translation.hypotheses
        return translation._replace(hypotheses=(best._replace(text=text), *others))


def mark_repaired(translation: Translation, remedy: str) -> Translation:
    """Returns a translation with the remedy that brought a lost number back."""
    return translation._replace(repairs=(*translation.repairs, Repair("numbers", remedy)))
