"""Settings of a subword model that its file does not hold. A module of its own, for code that needs no more."""

from __future__ import annotations

from typing import Literal

from nmt_cli.settings import Settings

TokenizerKind = Literal["unigram", "bpe", "char", "word"]
SAMPLED_KINDS: tuple[TokenizerKind, ...] = ("unigram", "bpe")  # those of which subwords can be sampled


class TokenizerSettings(Settings):
    """How to use a SentencePiece file. Stored with every data set and model."""

    kind: TokenizerKind
    lowercase: bool
