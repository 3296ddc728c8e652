"""Puts the protected spans of a piece back into its translation.

Separate from `joining`, since few lines have spans.
"""

from __future__ import annotations

from collections.abc import Sequence

from nmt_cli.arrays.types import FloatArray
from nmt_cli.text.tokenizer import TokenizerPair
from nmt_cli.text.words import Link
from nmt_cli.translation.placement.source_units import SourceUnits, find_line_words, link_units, link_words_of_units
from nmt_cli.translation.placement.span_placement import restore_spans
from nmt_cli.translation.placement.units import Spelling, Unit
from nmt_cli.translation.result import Hypothesis, Translation, WordLinks
from nmt_cli.translation.segmentation.pieces import Piece


def restore_translation(piece: Piece, translation: Translation, tokenizers: TokenizerPair) -> Translation:
    """Returns the translation of a piece with its spans in all hypotheses and in the source pieces."""
    labels = translation.source_pieces
    source = SourceUnits.from_text(piece.masked.text, tokenizers.source, len(labels))
    words = find_line_words(piece, source)

    def restore(hypothesis: Hypothesis) -> Hypothesis:
        spelling = Spelling(hypothesis.text, hypothesis.tokens, tokenizers.target, hypothesis.unknown)
        restored = restore_spans(piece.masked, spelling, labels, hypothesis.attention, source)
        links = link_words_of_units(restored.units, restored.words, words)
        return hypothesis._replace(
            text=restored.text,
            pieces=tuple(replace_placeholders(hypothesis.pieces, piece)),
            placed_spans=restored.placed,
            words=(WordLinks.from_texts(piece.source_text, restored.text, links),),
        )

    return translation._replace(
        source_pieces=tuple(replace_placeholders(labels, piece)), hypotheses=tuple(map(restore, translation.hypotheses))
    )


def replace_placeholders(pieces: Sequence[str], piece: Piece) -> list[str]:
    """Replaces the placeholders in `pieces` by the text of the masked spans."""
    texts = {name: span.text for name, span in zip(piece.masked.placeholders, piece.masked.masked, strict=True)}
    return [texts.get(name, name) for name in pieces]


def link_sides(source: Piece, target: Piece, tokenizers: TokenizerPair, attention: FloatArray) -> tuple[Link, ...]:
    """Returns the links between the words of a source and a given target; `attention` is (T, S).

    The words of a masked span link to those of the same span.
    """
    length, width = attention.shape
    source_units = SourceUnits.from_text(source.masked.text, tokenizers.source, width)
    target_units = SourceUnits.from_text(target.masked.text, tokenizers.target, length)
    numbers = {name: number for number, name in enumerate(source.masked.placeholders)}
    spans = dict(zip(target.masked.placeholders, target.masked.masked, strict=True))
    units = [
        Unit(spans[text].text if text in spans else text, True, attention[list(rows)].mean(axis=0), numbers.get(text))
        for text, rows in zip(target_units.texts, target_units.positions, strict=True)
    ]
    linked = link_units(units, source.masked, source_units, flat=False).units
    firsts = [words[0] for words in find_line_words(target, target_units)]
    return link_words_of_units(linked, firsts, find_line_words(source, source_units))
