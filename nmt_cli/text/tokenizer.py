"""Text to subword ids and back, by SentencePiece.

Expects text returned by `normalise.normalise`. Knows no prepared or model directories, nor how subword models are
trained (`tokenizer_training`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import sentencepiece

from nmt_cli.arrays.special_ids import END, PAD, START, UNKNOWN
from nmt_cli.errors import DamagedError
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import BLANK, CONTEXT_END, JOINER, PLACEHOLDERS, SPECIALS
from nmt_cli.text.tokenizer_settings import TokenizerSettings as TokenizerSettings
from nmt_cli.text.words import choose_word_pattern

if TYPE_CHECKING:
    from nmt_cli.arrays.ragged import Ragged
    from nmt_cli.arrays.types import IntArray
    from nmt_cli.text.subword_sampling import PieceTable, SubwordSampler, WordsOfIds
    from nmt_cli.text.tags import Tag

FEWEST_FOR_THREADS = 64  # sentences; with fewer, SentencePiece takes longer to start its threads than to work


class Tokenizer:
    """A trained subword model. Its ids 0-3 are padding, unknown, start and end of sentence."""

    def __init__(self, model: bytes, settings: TokenizerSettings) -> None:
        self.settings = settings
        self.model = model  # the bytes of its file
        self._processor: Any = sentencepiece.SentencePieceProcessor(model_proto=model)
        self._piece_texts = PieceTexts(self._processor)
        self._found: set[str] = {" "}  # characters that `find_unseen` was asked for, and that the vocabulary has

    @classmethod
    def load(cls, path: Path, settings: TokenizerSettings) -> Tokenizer:
        """Reads a SentencePiece model. Raises DamagedError if `path` is missing or not a subword model made by nmt."""
        try:
            content = path.read_bytes()
        except FileNotFoundError as error:
            raise DamagedError(f"{path} is missing") from error
        return cls.parse(content, settings, path)

    @classmethod
    def parse(cls, content: bytes, settings: TokenizerSettings, path: Path) -> Tokenizer:
        """Reads the SentencePiece model that a file has. Raises DamagedError if it is not one made by nmt."""
        try:
            tokenizer = cls(content, settings)
        except RuntimeError as error:
            raise DamagedError(f"{path} is not a SentencePiece model") from error
        special_ids = [tokenizer._processor.pad_id(), tokenizer._processor.unk_id()]
        special_ids += [tokenizer._processor.bos_id(), tokenizer._processor.eos_id()]
        if special_ids != [PAD, UNKNOWN, START, END]:
            raise DamagedError(f"{path} is a SentencePiece model with other ids for padding, unknown, start and end")
        return tokenizer

    @property
    def vocabulary_size(self) -> int:
        return int(self._processor.get_piece_size())

    @property
    def fingerprint(self) -> str:
        """A short identity: the kind, the size and the first digits of a checksum."""
        checksum = hashlib.sha256(self.model).hexdigest()[:8]
        return f"{self.settings.kind}-{self.vocabulary_size}-{checksum}"

    @cached_property
    def placeholder_ids(self) -> tuple[int, ...]:
        """The ids of the placeholders in the vocabulary; if pieces are words, each is preceded by a space."""
        before = BLANK if self.settings.kind == "word" else ""
        ids = (int(self._processor.piece_to_id(before + name)) for name in PLACEHOLDERS)
        return tuple(piece_id for piece_id in ids if piece_id != UNKNOWN)

    @cached_property
    def has_placeholders(self) -> bool:
        """Whether every placeholder is a piece, as in all vocabularies made by `train_tokenizer`."""
        return len(self.placeholder_ids) == len(PLACEHOLDERS)

    @cached_property
    def control_ids(self) -> dict[str, int]:
        """The ids of the control pieces in the vocabulary by their pieces, which no text is encoded as."""
        ids = [i for i in range(SPECIALS, self.vocabulary_size) if self._processor.is_control(i)]
        return {str(self._processor.id_to_piece(i)): i for i in ids}

    @cached_property
    def tag_ids(self) -> dict[str, int]:
        """The ids of the tags in the vocabulary by their pieces."""
        return {piece: i for piece, i in self.control_ids.items() if piece != CONTEXT_END}

    @property
    def separator_id(self) -> int | None:
        """The id of the piece behind a context; None in a vocabulary without it."""
        return self.control_ids.get(CONTEXT_END)

    def list_tag_ids(self, tags: Iterable[Tag]) -> list[int]:
        """Returns the ids of tags. Raises KeyError for one that the vocabulary lacks."""
        return [self.tag_ids[tag.piece] for tag in tags]

    @cached_property
    def characters(self) -> frozenset[str]:
        """The characters that occur in pieces of the vocabulary."""
        are_bytes = self._processor.is_byte(list(range(self.vocabulary_size)))
        pieces = self._processor.id_to_piece(list(range(self.vocabulary_size)))
        known = list(zip(pieces, are_bytes, strict=True))[SPECIALS:]
        texts = (text for text, is_byte in known if not (is_byte or text in PLACEHOLDERS or text in self.control_ids))
        return frozenset("".join(texts)) - {BLANK} | {" "}

    def encode(self, text: str) -> list[int]:
        """Returns the ids of a sentence, without start and end."""
        return self.encode_all([text])[0]

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """Returns the ids of each sentence, without start and end; encodes many on all cores."""
        surfaces = [prepare_surface(text, self.settings) for text in texts]
        if len(surfaces) < FEWEST_FOR_THREADS:
            return [self._processor.encode(text, out_type=int) for text in surfaces]
        ids: list[list[int]] = self._processor.encode(surfaces, out_type=int)
        return ids

    def sample_all(self, texts: Iterable[str], *, alpha: float, seed: int) -> list[list[int]]:
        """Returns the ids of each sentence in a sampled segmentation determined by `seed`, without start and end.

        For unigram, a segmentation has its probability to the power of `alpha` (0: uniform; 1: as in the model); for
        BPE, each merge is dropped with probability `alpha`. Placeholders are ordinary text here. Raises KeyError for
        vocabularies of characters or words, which have only one segmentation. Source: Kudo (2018), "Subword
        Regularization"; Provilkov et al. (2020), "BPE-Dropout".
        """
        return [row.tolist() for row in self.sample_words(self.split_all(texts), alpha=alpha, seed=seed)]

    def sample_words(self, sentences: Sequence[Sequence[str]], *, alpha: float, seed: int) -> Ragged:
        """Samples as `sample_all` does, given the words of each sentence."""
        sampler = self._samplers.get(alpha) or self._samplers.setdefault(alpha, self._make_sampler(alpha))
        return sampler.sample(sentences, seed)

    def split_all(self, texts: Iterable[str]) -> list[list[str]]:
        """Returns the words of each sentence, which no piece extends across, as SentencePiece spells them."""
        from nmt_cli.text.subword_sampling import WORD_PATTERN  # numpy, which few need

        surfaces = self._processor.normalize([prepare_surface(text, self.settings) for text in texts])
        return [WORD_PATTERN.findall(surface) for surface in surfaces]

    def split_ids(self, ids: IntArray) -> list[list[str] | None]:
        """Returns the words of each row of `ids` (C, S); None for one with placeholders, bytes or unknown tokens."""
        return self._words_of_ids.split(ids)

    @cached_property
    def _words_of_ids(self) -> WordsOfIds:
        from nmt_cli.text.subword_sampling import WordsOfIds

        return WordsOfIds(self._piece_table, list(self.tag_ids.values()), self.vocabulary_size)

    @cached_property
    def _samplers(self) -> dict[float, SubwordSampler]:
        """By `alpha`, each with its memory."""
        return {}

    def _make_sampler(self, alpha: float) -> SubwordSampler:
        # Translation does not need them.
        from nmt_cli.text.subword_sampling import MergeSampler
        from nmt_cli.text.unigram_sampling import UnigramSampler

        samplers: dict[str, Callable[[PieceTable, float], SubwordSampler]]
        samplers = {"unigram": UnigramSampler, "bpe": MergeSampler}
        return samplers[self.settings.kind](self._piece_table, alpha)

    @cached_property
    def _piece_table(self) -> PieceTable:
        from nmt_cli.text.subword_sampling import PieceTable

        return PieceTable.from_model(self._processor, excluded_ids=self.placeholder_ids)

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the sentence on a single line, without padding, start and end.

        The inverse of `encode` for normalised (and, if so configured, lower-cased) text of known characters or words.
        """
        return self.decode_all([ids])[0]

    def decode_all(self, sentences: Iterable[Sequence[int]]) -> list[str]:
        """Decodes each of `sentences`; many on all cores."""
        rows = [drop_special_ids(ids) for ids in sentences]
        is_small = len(rows) < FEWEST_FOR_THREADS
        texts = [self._processor.decode(ids) for ids in rows] if is_small else self._processor.decode(rows)
        return [self._finish_text(text) for text in texts]

    @property
    def has_unknown(self) -> bool:
        """Whether a text can have unknown pieces; subwords spell unknown characters in bytes instead."""
        return self.settings.kind in ("word", "char")

    def list_surfaces(self, text: str) -> list[str]:
        """Returns the piece of each id that `encode` returns; for an unknown piece, the text behind it.

        SentencePiece joins several consecutive unknown characters or words into one unknown piece.
        """
        pieces: list[str] = self._processor.encode(prepare_surface(text, self.settings), out_type=str)
        return pieces

    def decode_with_unknown(self, ids: Sequence[int], unknown: Sequence[str]) -> str:
        """Decodes as `decode` does, writing the texts `unknown`, from `list_surfaces`, for unknown ids."""
        replacements, silent = iter(unknown), self.control_ids.values()
        shown = [i for i in drop_special_ids(ids) if i not in silent]
        pieces = [next(replacements) if i == UNKNOWN else self._piece_texts[i] for i in shown]
        return self._finish_text("".join(pieces).replace(BLANK, " "))

    def _finish_text(self, text: str) -> str:
        """Returns joined pieces as one normalised line, since byte pieces can spell a line break."""
        return normalise(unmark_words(text) if self.settings.kind == "word" else text)

    def spell_pieces(self, ids: Sequence[int]) -> list[str]:
        """Returns each id as printable text: `▁` marks a preceding space or, if pieces are words, `￭` its absence."""
        pieces = [self._piece_texts[i] for i in ids]
        return [piece.removeprefix(BLANK) for piece in pieces] if self.settings.kind == "word" else pieces

    def list_beginnings(self, ids: Sequence[int]) -> list[bool]:
        """Returns whether each id begins a word."""
        return [self._piece_texts[i].startswith(BLANK) for i in ids]

    def find_unseen(self, text: str) -> set[str]:
        """Returns the characters of `text` that no piece contains; they become bytes, or unknown."""
        lower, unseen = self.settings.lowercase, set()
        for character in set(text) - self._found:
            if all(map(self._has_character, character.lower() if lower else character)):
                self._found.add(character)
            else:
                unseen.add(character)
        return unseen

    def _has_character(self, character: str) -> bool:
        """Whether a piece contains a character. Most characters are pieces themselves, which is checked first."""
        is_piece = character != BLANK and self._processor.piece_to_id(character) >= SPECIALS
        return is_piece or character in self.characters


class TokenizerPair(NamedTuple):
    """The tokenizers of both sides."""

    source: Tokenizer
    target: Tokenizer


class PieceTexts(dict[int, str]):
    """The text of each piece by id, read from SentencePiece on first use."""

    def __init__(self, processor: Any) -> None:
        super().__init__()
        self.processor = processor

    def __missing__(self, piece_id: int) -> str:
        text = self[piece_id] = str(self.processor.id_to_piece(piece_id))
        return text


def drop_special_ids(ids: Sequence[int]) -> list[int]:
    """Drops padding, start and end of sentence from `ids`."""
    if type(ids) is list and ids and min(ids) >= SPECIALS:  # most lists have none
        return ids
    return [int(i) for i in ids if i == UNKNOWN or i >= SPECIALS]


def prepare_surface(text: str, settings: TokenizerSettings) -> str:
    """Returns a sentence in the form that SentencePiece encodes."""
    if settings.lowercase:
        text = text.lower()
    return mark_words(text) if settings.kind == "word" else text


def mark_words(text: str) -> str:
    """Separates words and other single characters by spaces; `￭` marks each that had no space before it.

    >>> mark_words("Don't go, Tom!")
    "Don't go ￭, Tom ￭!"
    """
    # A joiner in the text itself needs no escape: alone it is itself, and as a mark it stands before something.
    tokens = choose_word_pattern(text).finditer(text)
    return " ".join(JOINER + match[0] if needs_joiner(text, match) else match[0] for match in tokens)


def needs_joiner(text: str, match: re.Match[str]) -> bool:
    """Whether no space precedes a word; never for a placeholder, which must remain a piece."""
    return match.start() > 0 and text[match.start() - 1] != " " and match[0] not in PLACEHOLDERS


def unmark_words(text: str) -> str:
    """Joins marked words: the inverse of `mark_words`."""
    words = (word[1:] if len(word) > 1 and word[0] == JOINER else f" {word}" for word in text.split())
    return "".join(words).lstrip()
