"""Settings of `nmt prepare`. Standard library only: the command line reads its options from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nmt_cli.settings import Settings, setting

TokenizerKind = Literal["unigram", "bpe", "char", "word"]
