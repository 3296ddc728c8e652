"""What must be known of a subword model beside its file. Apart from the rest, for code that needs no more than this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nmt_cli.settings import Settings

TokenizerKind = Literal["unigram", "bpe", "char", "word"]


@dataclass(frozen=True, kw_only=True)
class TokenizerSettings(Settings):
    """What the use of a SentencePiece file requires beside the file. Stored with every data set and model."""

    kind: TokenizerKind
    lowercase: bool
