"""Tokenizers of every kind, trained on toy corpora."""

from functools import cache

from nmt_cli.text.symbols import TokenizerKind, TokenizerSettings
from nmt_cli.text.tokenizer import Tokenizer, train_tokenizer
from support import models
from support.corpora import toy_pairs

KINDS: tuple[TokenizerKind, ...] = ("unigram", "bpe", "char", "word")
TEXTS = [sentence for pair in toy_pairs(300) for sentence in pair] + ["¿Qué?", "don't well-known ￭ a￭b", "3.14 नमस्ते"]


@cache
def toy_tokenizer(kind: TokenizerKind, lowercase: bool = False) -> Tokenizer:
    """Returns the tokenizer of this kind that `TEXTS` train."""
    settings = TokenizerSettings(kind=kind, lowercase=lowercase)
    return Tokenizer(train_tokenizer(TEXTS, settings), settings)


@cache
def syllable_tokenizer(kind: TokenizerKind = "unigram") -> Tokenizer:
    """Returns the tokenizer of this kind that made-up words of two syllables train."""
    settings = TokenizerSettings(kind=kind, lowercase=False)
    return Tokenizer(train_tokenizer([text for pair in models.toy_pairs(300) for text in pair], settings), settings)
