"""What must be known of subwords beside their file. Apart from `config.py`, of which translation needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nmt_cli.settings import Settings

TokenizerKind = Literal["unigram", "bpe", "char", "word"]


@dataclass(frozen=True, kw_only=True)
class TokenizerSettings(Settings):
    """What must be known beside the SentencePiece file to use it. Stored with every data set and model."""

    kind: TokenizerKind
    lowercase: bool
