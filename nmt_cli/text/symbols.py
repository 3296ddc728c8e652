"""Symbols in the text of subword pieces, and settings of a subword model that its file does not hold.

Kept apart from the tokenizer, so that code that only reads pieces, such as `▁the`, starts at once.
"""

from __future__ import annotations

from typing import Literal

from nmt_cli.settings import Settings

BLANK = "▁"  # SentencePiece's mark for a space before a piece
JOINER = "￭"  # stands before a word of a `word` vocabulary that had no space before it, as in OpenNMT
SENTENCE_END = "</s>"
UNKNOWN_PIECE = "<unk>"  # in a source it may stand for several unknown words in a row
SPECIALS = 4  # ids at the beginning of every vocabulary: padding, unknown, start and end of sentence
# Pieces of every vocabulary. They stand for the masked spans, which a translation carries over unchanged.
PLACEHOLDERS = tuple(f"⟦{number}⟧" for number in range(10))
CONTEXT_END = "⟦|⟧"  # the control piece behind a sentence that is read as the context of the next


TokenizerKind = Literal["unigram", "bpe", "char", "word"]
# What becomes UNKNOWN_PIECE if a vocabulary of the kind lacks it; other kinds spell it in bytes.
UNKNOWN_UNITS: dict[TokenizerKind, str] = {"char": "characters", "word": "words"}


class TokenizerSettings(Settings):
    """How to use a SentencePiece file. Stored with every data set and model."""

    kind: TokenizerKind
    lowercase: bool
