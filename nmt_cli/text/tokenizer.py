"""Text to subword ids and back, and the training of the subword model, by SentencePiece.

Expects text that `clean.normalise` has seen. Knows nothing of prepared or model directories.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import sentencepiece

from nmt_cli.arrays.special_ids import END, PAD, START, UNKNOWN
from nmt_cli.errors import DamagedError
from nmt_cli.text.normalise import normalise
from nmt_cli.text.subword_sampling import Cut, Pieces, cut_by_merges, cut_by_probability, draw
from nmt_cli.text.symbols import BLANK, JOINER, PLACEHOLDERS, SPECIALS
from nmt_cli.text.tokenizer_settings import TokenizerKind
from nmt_cli.text.tokenizer_settings import TokenizerSettings as TokenizerSettings
from nmt_cli.text.words import word_pattern

MANY = 64  # sentences: for fewer, SentencePiece takes longer to start its threads than to do the work


CUTS: dict[TokenizerKind, Cut] = {"unigram": cut_by_probability, "bpe": cut_by_merges}


class Tokenizer:
    """A trained subword model. Ids 0-3 are padding, unknown, start and end of sentence."""

    def __init__(self, model: bytes, settings: TokenizerSettings) -> None:
        self.settings = settings
        self.model = model  # the bytes of its file
        self._pieces: Any = sentencepiece.SentencePieceProcessor(model_proto=model)

    @classmethod
    def load(cls, path: Path, settings: TokenizerSettings) -> Tokenizer:
        """Raises DamagedError if `path` is missing or no subword model of ours."""
        try:
            tokenizer = cls(path.read_bytes(), settings)
        except FileNotFoundError as error:
            raise DamagedError(f"{path} is missing") from error
        except RuntimeError as error:
            raise DamagedError(f"{path} is not a SentencePiece model") from error
        special_ids = [tokenizer._pieces.pad_id(), tokenizer._pieces.unk_id()]
        special_ids += [tokenizer._pieces.bos_id(), tokenizer._pieces.eos_id()]
        if special_ids != [PAD, UNKNOWN, START, END]:
            raise DamagedError(f"{path} is a SentencePiece model with other ids for padding, unknown, start and end")
        return tokenizer

    @property
    def vocabulary_size(self) -> int:
        return int(self._pieces.get_piece_size())

    @property
    def fingerprint(self) -> str:
        """What tells it from another: kind, size and the beginning of a checksum."""
        checksum = hashlib.sha256(self.model).hexdigest()[:8]
        return f"{self.settings.kind}-{self.vocabulary_size}-{checksum}"

    @cached_property
    def placeholder_ids(self) -> tuple[int, ...]:
        """The ids of the placeholders that are pieces of their own."""
        ids = (int(self._pieces.piece_to_id(name)) for name in PLACEHOLDERS)
        return tuple(piece_id for piece_id in ids if piece_id != UNKNOWN)

    @cached_property
    def has_placeholders(self) -> bool:
        """Whether every placeholder is a piece of its own, as in all vocabularies that `train_tokenizer` made."""
        return len(self.placeholder_ids) == len(PLACEHOLDERS)

    @cached_property
    def characters(self) -> frozenset[str]:
        """The characters that occur in pieces of the vocabulary."""
        are_bytes = self._pieces.is_byte(list(range(self.vocabulary_size)))
        known = list(zip(self._spelled, are_bytes, strict=True))[SPECIALS:]
        texts = (text for text, is_byte in known if not is_byte and text not in PLACEHOLDERS)
        return frozenset("".join(texts)) - {BLANK} | {" "}

    @cached_property
    def _spelled(self) -> list[str]:
        """Every piece of the vocabulary; asked of SentencePiece at once, since asking takes longer than the answer."""
        pieces: list[str] = self._pieces.id_to_piece(list(range(self.vocabulary_size)))
        return pieces

    def encode(self, text: str) -> list[int]:
        """Ids of a sentence, without start and end."""
        return self.encode_all([text])[0]

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """Ids of each sentence, without start and end; many are cut on all cores."""
        surfaces = [prepare_surface(text, self.settings) for text in texts]
        if len(surfaces) < MANY:
            return [self._pieces.encode(text, out_type=int) for text in surfaces]
        ids: list[list[int]] = self._pieces.encode(surfaces, out_type=int)
        return ids

    def sample_all(self, texts: Iterable[str], *, alpha: float, seed: int) -> list[list[int]]:
        """Ids of each sentence, without start and end, cut in one of the possible ways; the same for the same seed.

        For unigram a cut is drawn from all with its probability to the power of `alpha` (0 is even, 1 as the model has
        it); for BPE each merge is left out with the probability `alpha`. Placeholders are text like any other here.
        Raises KeyError for characters and words, which have one cut only.
        Source: Kudo (2018), "Subword Regularization"; Provilkov et al. (2020), "BPE-Dropout".
        """
        random, cut = Random(seed), CUTS[self.settings.kind]
        normalised: list[str] = self._pieces.normalize([prepare_surface(text, self.settings) for text in texts])
        return [draw(text, self._sampled, cut, alpha, random) for text in normalised]

    @cached_property
    def _sampled(self) -> Pieces:
        return Pieces.from_model(self._pieces, without=self.placeholder_ids)

    def decode(self, ids: Sequence[int]) -> str:
        """The sentence, a single line; padding, start and end are passed over.

        The inverse of `encode` for normalised (and, where so set, lower-cased) text of seen characters or words.
        """
        return self.decode_all([ids])[0]

    def decode_all(self, sentences: Iterable[Sequence[int]]) -> list[str]:
        """Each of `sentences` as by `decode`; many on all cores."""
        known = [[int(i) for i in ids if i == UNKNOWN or i >= SPECIALS] for ids in sentences]
        few = len(known) < MANY
        texts = [self._pieces.decode(ids) for ids in known] if few else self._pieces.decode(known)
        # Normalised because byte pieces can spell a line break, and a translation must stay on its line.
        return [normalise(unmark_words(text) if self.settings.kind == "word" else text) for text in texts]

    @property
    def has_unknown(self) -> bool:
        """Whether text can have pieces that are unknown: subwords spell what they do not know in bytes."""
        return self.settings.kind in ("word", "char")

    def read_surfaces(self, text: str) -> list[str]:
        """The piece behind each id of `encode`, which of an unknown one is the text that it stands for.

        SentencePiece makes one unknown piece of several characters or words that follow each other.
        """
        pieces: list[str] = self._pieces.encode(prepare_surface(text, self.settings), out_type=str)
        return pieces

    def decode_replaced(self, ids: Sequence[int], unknown: Sequence[str]) -> str:
        """As `decode`, with the pieces `unknown`, as `surfaces` gives them, for the unknown ones, in their order."""
        waiting = iter(unknown)
        known = [int(i) for i in ids if i == UNKNOWN or i >= SPECIALS]
        pieces = [next(waiting) if i == UNKNOWN else self._spelled[i] for i in known]
        text = "".join(pieces).replace(BLANK, " ")
        return normalise(unmark_words(text) if self.settings.kind == "word" else text)

    def spell_pieces(self, ids: Sequence[int]) -> list[str]:
        """Each id as text, for showing: `▁` stands for a blank before, or `￭` for none where pieces are words."""
        pieces = [self._spelled[i] for i in ids]
        return [piece.removeprefix(BLANK) for piece in pieces] if self.settings.kind == "word" else pieces

    def find_unseen(self, text: str) -> set[str]:
        """The characters of `text` that are in no piece: they become byte pieces, or unknown."""
        lower = self.settings.lowercase
        if self.characters.issuperset(text.lower() if lower else text):
            return set()
        return {
            character
            for character in set(text)
            if not self.characters.issuperset(character.lower() if lower else character)
        }


def prepare_surface(text: str, settings: TokenizerSettings) -> str:
    """What SentencePiece is given for a sentence."""
    if settings.lowercase:
        text = text.lower()
    return mark_words(text) if settings.kind == "word" else text


def mark_words(text: str) -> str:
    """Words and other single characters apart, with `￭` before each that had no blank before it.

    >>> mark_words("Don't go, Tom!")
    "Don't go ￭, Tom ￭!"
    """
    # A joiner in the text itself needs no escape: alone it stands for itself, and a mark stands before something.
    tokens = word_pattern(text).finditer(text)
    return " ".join(match[0] if stands_alone(text, match) else JOINER + match[0] for match in tokens)


def stands_alone(text: str, match: re.Match[str]) -> bool:
    """Whether a word needs no joiner: a placeholder never has one, because it must stay the piece that it is."""
    return match.start() == 0 or text[match.start() - 1] == " " or match[0] in PLACEHOLDERS


def unmark_words(text: str) -> str:
    """The inverse of `mark_words`."""
    words = (word[1:] if len(word) > 1 and word[0] == JOINER else f" {word}" for word in text.split())
    return "".join(words).lstrip()
