"""Symbols that stand in the text of pieces. Imports nothing, so that whoever only reads pieces starts at once."""

from __future__ import annotations

BLANK = "▁"  # SentencePiece's mark of a blank before a piece
JOINER = "￭"  # before a word of kind `word` that had no blank before it, as OpenNMT writes it
SPECIALS = 4
# Pieces of their own in every vocabulary, for spans of text that translation is to carry over as they are.
PLACEHOLDERS = tuple(f"⟦{number}⟧" for number in range(10))

SENTENCE_END = "</s>"
UNKNOWN_PIECE = "<unk>"  # one of a source may stand for several unknown words that follow each other
