"""Puts the protected spans of a piece back into its translation. Apart from `joining`, since few lines have spans."""

from __future__ import annotations

from collections.abc import Sequence

from nmt_cli.text.tokenizer import TokenizerPair
from nmt_cli.translation.placement.span_alignment import PieceLinks, map_words, restore_links
from nmt_cli.translation.placement.span_placement import restore_spans
from nmt_cli.translation.placement.units import Spelling
from nmt_cli.translation.result import Hypothesis, Translation, WordLinks
from nmt_cli.translation.segmentation.pieces import Piece


def restore_translation(piece: Piece, translation: Translation, tokenizers: TokenizerPair) -> Translation:
    """Returns the translation of a piece with its spans in all hypotheses, and instead of the names of placeholders."""
    source = map_words(piece, translation.source_pieces, tokenizers.source)
    hypotheses = (
        restore_hypothesis(hypothesis, piece, translation.source_pieces, tokenizers, source)
        for hypothesis in translation.hypotheses
    )
    labels = tuple(replace_placeholders(translation.source_pieces, piece))
    return translation._replace(source_pieces=labels, hypotheses=tuple(hypotheses))


def restore_hypothesis(
    hypothesis: Hypothesis, piece: Piece, labels: Sequence[str], tokenizers: TokenizerPair, source: PieceLinks
) -> Hypothesis:
    """Returns a hypothesis with the spans of its piece, and the links between the words of both texts."""
    spelling = Spelling(hypothesis.text, hypothesis.tokens, tokenizers.target, hypothesis.unknown)
    restored = restore_spans(piece.masked, spelling, labels, hypothesis.attention, tokenizers.source)
    words = WordLinks.from_texts(piece.source_text, restored.text, restore_links(restored, source))
    pieces = tuple(replace_placeholders(hypothesis.pieces, piece))
    return hypothesis._replace(text=restored.text, pieces=pieces, placed_spans=restored.placed, words=(words,))


def replace_placeholders(pieces: Sequence[str], piece: Piece) -> list[str]:
    """Returns `pieces` with the text of the masked spans instead of their placeholders."""
    texts = {name: span.text for name, span in zip(piece.masked.placeholders, piece.masked.masked, strict=True)}
    return [texts.get(name, name) for name in pieces]
