"""Settings of `nmt prepare`. Standard library only: the command line reads its options from here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from nmt_cli.settings import Settings, setting

TokenizerKind = Literal["unigram", "bpe", "char", "word"]

LANGUAGES_IN_NAME = re.compile(r"(?:^|[._])([a-z]{2,3}(?:_[A-Za-z]{2,4})?)-([a-z]{2,3}(?:_[A-Za-z]{2,4})?)(?:\.|$)")


@dataclass(frozen=True, kw_only=True)
class TokenizerSettings(Settings):
    """What must be known beside the SentencePiece file to use it. Stored with every data set and model."""

    kind: TokenizerKind
    lowercase: bool


@dataclass(frozen=True, kw_only=True)
class PrepareConfig(Settings):
    """How text becomes a prepared corpus: what is kept, how it is split, and into which subwords."""

    source_language: str | None = setting(
        None, "Language of the first column [from a file name like eng-deu.tsv].", panel="Data"
    )
    target_language: str | None = setting(
        None, "Language of the second column [from a file name like eng-deu.tsv].", panel="Data"
    )
    max_length: int = setting(
        100,
        "Longest sentence kept, in words (two Chinese, Japanese or Thai characters count as one).",
        panel="Data",
        low=1,
    )
    max_ratio: float = setting(
        3.0,
        "Words of one side at most for one word of the other; pairs of up to 5 words are kept whatever their ratio.",
        panel="Data",
        low=1,
    )
    dev_size: int | None = setting(None, "Pairs for the dev split [1,000, at most a tenth].", panel="Data", low=1)
    test_size: int | None = setting(None, "Pairs for the test split [1,000, at most a tenth].", panel="Data", low=1)
    seed: int = setting(1, "Seed of the split and of the subword sample.", panel="Data", low=0, high=2**32 - 1)
    tokenizer: Literal["unigram", "bpe", "char", "word"] = setting("unigram", "Kind of subwords.", panel="Subwords")
    vocab_size: int | None = setting(
        None, "Size of the vocabulary [by the size of the corpus: 1,000 to 32,000].", panel="Subwords", low=5
    )
    lowercase: bool = setting(False, "Lower-case all text before it is cut into subwords.", panel="Subwords")
    separate_vocabularies: bool = setting(
        False, "One vocabulary for each language instead of a joint one.", panel="Subwords"
    )

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        return TokenizerSettings(kind=self.tokenizer, lowercase=self.lowercase)


def languages_in(file_name: str) -> tuple[str, str]:
    """The two languages that a name like `eng-deu.tsv` or `corpus.en-de.tsv` gives, else "source" and "target"."""
    found = LANGUAGES_IN_NAME.search(file_name)
    return (found[1], found[2]) if found else ("source", "target")
