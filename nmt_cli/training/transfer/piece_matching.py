"""Finds for each piece of a vocabulary its equivalent in another one, or the pieces that spell it.

For a network that starts from one with other subwords. Knows no networks.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import Any, NamedTuple

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as proto

from nmt_cli.arrays.special_ids import UNKNOWN
from nmt_cli.text.symbols import BLANK, JOINER, SPECIALS
from nmt_cli.text.tokenizer import Tokenizer

PieceKey = tuple[bool, str]  # whether it is a byte, and the text


class PieceMatch(NamedTuple):
    """The ids for a piece in another vocabulary: its own there, those that spell it, or none."""

    ids: tuple[int, ...]
    is_shared: bool


NO_MATCH = PieceMatch((), is_shared=False)


class PieceMatcher:
    """The vocabulary in which pieces of others are found."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.model = proto.ModelProto.FromString(tokenizer.model)
        self.keys = list_keys(tokenizer)
        self.ids = {key: piece_id for piece_id, key in reversed(list(enumerate(self.keys)))}

    @cached_property
    def learned_ids(self) -> list[int]:
        """The ids of the pieces learned from text: no symbols, placeholders or bytes."""
        normal = proto.ModelProto.SentencePiece.NORMAL
        return [piece_id for piece_id, piece in enumerate(self.model.pieces) if piece.type == normal]

    def match_pieces(self, other: Tokenizer) -> list[PieceMatch]:
        """Returns the match of each piece of the vocabulary `other`; symbols such as the end of sentence match too."""
        symbols = [PieceMatch((piece_id,), is_shared=True) for piece_id in range(SPECIALS)]
        folds = other.settings.lowercase and not self.tokenizer.settings.lowercase
        return symbols + [self.match_piece(key, folds=folds) for key in list_keys(other)[SPECIALS:]]

    def match_piece(self, key: PieceKey, *, folds: bool) -> PieceMatch:
        """Returns the match of one piece; with `folds`, pieces of other case may also spell a lower-case piece."""
        # 1. A piece of both vocabularies.
        if key in self.ids:
            return PieceMatch((self.ids[key],), is_shared=True)
        is_byte, text = key
        if is_byte:
            return NO_MATCH
        # 2. A piece that differs in case alone.
        if self.tokenizer.settings.lowercase and (False, text.lower()) in self.ids:
            return PieceMatch((self.ids[False, text.lower()],), is_shared=False)
        if folds and text in self.cased_ids:
            return PieceMatch(tuple(self.cased_ids[text]), is_shared=False)
        # 3. The pieces that spell it.
        return PieceMatch(self.spell(text), is_shared=False)

    @cached_property
    def cased_ids(self) -> dict[str, list[int]]:
        """The ids of the learned pieces by their text in lower case."""
        ids: dict[str, list[int]] = defaultdict(list)
        for piece_id in self.learned_ids:
            ids[self.keys[piece_id][1].lower()].append(piece_id)
        return dict(ids)

    def spell(self, text: str) -> tuple[int, ...]:
        """Returns the ids of the pieces that spell `text`; empty if it requires bytes or unknown pieces."""
        if self.tokenizer.settings.kind == "word":
            return ()  # a vocabulary of words knows a word or does not
        surface = text.lower() if self.tokenizer.settings.lowercase else text
        ids = self.speller.encode(surface.replace(BLANK, " "), out_type=int)
        if any(piece_id == UNKNOWN or self.keys[piece_id][0] for piece_id in ids):
            return ()
        return tuple(piece_id for piece_id in ids if self.keys[piece_id][1] != BLANK)

    @cached_property
    def speller(self) -> Any:
        """SentencePiece with this vocabulary, which keeps blanks: a piece may begin within a word."""
        model = proto.ModelProto()
        model.CopyFrom(self.model)
        model.normalizer_spec.add_dummy_prefix = False
        model.normalizer_spec.remove_extra_whitespaces = False
        return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


def list_keys(tokenizer: Tokenizer) -> list[PieceKey]:
    """Returns the key of each piece, equal for pieces of the same meaning in vocabularies of any kind."""
    model = proto.ModelProto.FromString(tokenizer.model)
    is_word = tokenizer.settings.kind == "word"
    byte = proto.ModelProto.SentencePiece.BYTE
    return [(piece.type == byte, drop_joiner(piece.piece) if is_word else piece.piece) for piece in model.pieces]


def drop_joiner(word: str) -> str:
    """Converts a piece of a word vocabulary to one of subwords: without a blank if no space preceded it."""
    joined = BLANK + JOINER
    return word.removeprefix(joined) if len(word) > len(joined) else word
