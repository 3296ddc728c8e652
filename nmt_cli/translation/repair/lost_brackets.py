"""Brings back the brackets and strokes that a network lost: in pieces in which they are taken out and put back.

A network that hardly ever saw brackets drops them. Where a translation has other brackets than its source, the piece is
searched again without them, and they are put around the words that attend to what they enclosed, as tags are. A stroke
needs the words on both its sides beside each other; where one word was written for both, it stays lost. Knows no
network.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

from nmt_cli.carrying.spans import BRACKETS, Span, cover_spans
from nmt_cli.search.sampling import TextId
from nmt_cli.text.symbols import BLANK
from nmt_cli.translation.repair.lost_numbers import PieceSearch
from nmt_cli.translation.result import Repair, Translation
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.pieces import Piece

STROKE = re.compile(r"(?<=[^\W\d_])/(?=[^\W\d_])")
MARKS = re.compile(r"[()\[\]{}/]")


def restore_lost_brackets(
    pieces: dict[TextId, Piece], translations: dict[TextId, Translation], reader: LineReader, search: PieceSearch
) -> None:
    """Searches the pieces again whose brackets or strokes got lost; changes the pieces and translations of these."""
    changed: dict[TextId, Piece] = {}
    for text_id, translation in translations.items():
        spans = find_lost_brackets(pieces[text_id], translation.text)
        if spans:
            changed[text_id] = reader.protect_more(pieces[text_id], spans)
    texts: Mapping[TextId, str] = {text_id: piece.text for text_id, piece in changed.items() if piece.is_translated}
    for text_id, translation in search(texts).items():
        if not keeps_strokes(changed[text_id], translation):
            continue
        pieces[text_id] = changed[text_id]
        translations[text_id] = translation._replace(
            repairs=(*translations[text_id].repairs, *translation.repairs, Repair("brackets", "protected brackets"))
        )


def find_lost_brackets(piece: Piece, target: str) -> list[Span]:
    """Returns the brackets and strokes outside the spans of a piece, if `target` has not as many of each."""
    text = piece.text
    if not MARKS.search(text) or Counter(MARKS.findall(text)) == Counter(MARKS.findall(target)):
        return []
    covered = cover_spans(piece.segment.text, piece.segment.spans)
    strokes = (Span(*match.span(), "/", is_extracted=True, is_markup=True) for match in STROKE.finditer(covered))
    return sorted([*find_brackets(covered), *strokes])


def find_brackets(text: str) -> Iterator[Span]:
    """Yields the brackets of a text that have a partner, but not those within a word: brother(s)."""
    waiting: list[tuple[int, str]] = []
    for match in MARKS.finditer(text):
        mark = match[0]
        if mark in BRACKETS:
            waiting.append((match.start(), mark))
        elif waiting and BRACKETS[waiting[-1][1]] == mark:
            start, opening = waiting.pop()
            if start and text[start - 1].isalnum():
                continue
            yield Span(start, start + 1, opening, is_extracted=True, is_markup=True, closes=False)
            yield Span(match.start(), match.end(), mark, is_extracted=True, is_markup=True, closes=True)


def keeps_strokes(piece: Piece, translation: Translation) -> bool:
    """Whether for each stroke two neighbours in the translation attend to the words on its left and on its right.

    The word on its left may attend to an article before it.
    """
    offsets = [extracted.offset for extracted in piece.masked.extracted if extracted.span.is_stroke]
    if not offsets or not translation.hypotheses:
        return True
    best = translation.hypotheses[0]
    source_words = number_words(translation.source_pieces)
    words: dict[int, list[int]] = {}
    for token, word in enumerate(number_words(best.pieces)):
        words.setdefault(word, []).append(token)
    attended = [source_words[int(best.attention[tokens].mean(axis=0).argmax())] for tokens in words.values()]
    neighbours = set(pairwise(attended))
    lefts = (len(piece.text[:offset].split()) - 1 for offset in offsets)
    return all({(left, left + 1), (left - 1, left + 1)} & neighbours for left in lefts)


def number_words(pieces: Sequence[str]) -> list[int]:
    """Returns the number of the word to which each piece belongs; the first may or may not begin with a blank."""
    return list(accumulate(index > 0 and piece.startswith(BLANK) for index, piece in enumerate(pieces)))
