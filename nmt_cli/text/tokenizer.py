"""Converts text to subword ids and back with SentencePiece, and trains subword models.

A `Tokenizer` of subwords may encode `Hello, Tom.` as the pieces `▁Hello , ▁Tom .`, each with an id of 4 or more, and
decodes them to the same text. It expects what `normalise` returns.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import sentencepiece

from nmt_cli.arrays.types import END, PAD, START, UNKNOWN
from nmt_cli.errors import DamagedError, DataError, OptionError
from nmt_cli.text.normalise import count_words, normalise
from nmt_cli.text.symbols import (
    BLANK,
    CONTEXT_END,
    JOINER,
    PLACEHOLDERS,
    SPECIALS,
    UNKNOWN_UNITS,
    TokenizerKind,
)
from nmt_cli.text.symbols import TokenizerSettings as TokenizerSettings
from nmt_cli.text.tags import Tag
from nmt_cli.text.words import choose_word_pattern

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
        """Reads a SentencePiece model from the content of a file. Raises DamagedError if it is not one made by nmt."""
        try:
            tokenizer = cls(content, settings)
        except RuntimeError as error:
            raise DamagedError(f"{path} is not a SentencePiece model") from error
        special_ids = [tokenizer._processor.pad_id(), tokenizer._processor.unk_id()]
        special_ids += [tokenizer._processor.bos_id(), tokenizer._processor.eos_id()]
        if special_ids != [PAD, UNKNOWN, START, END]:
            raise DamagedError(f"{path} is a SentencePiece model with unusual ids for padding, unknown, start and end")
        return tokenizer

    @property
    def vocabulary_size(self) -> int:
        return int(self._processor.get_piece_size())

    @property
    def fingerprint(self) -> str:
        """A short identifier: the kind, the size and the first digits of a checksum."""
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
        """The ids of the vocabulary's control pieces, by piece; no text is encoded as one of them."""
        ids = [i for i in range(SPECIALS, self.vocabulary_size) if self._processor.is_control(i)]
        return {str(self._processor.id_to_piece(i)): i for i in ids}

    @cached_property
    def tag_ids(self) -> dict[str, int]:
        """The ids of the vocabulary's tags, by piece."""
        return {piece: i for piece, i in self.control_ids.items() if piece != CONTEXT_END}

    @property
    def separator_id(self) -> int | None:
        """The id of the piece after a context; None in a vocabulary without it."""
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
        return self.settings.kind in UNKNOWN_UNITS

    def list_surfaces(self, text: str) -> list[str]:
        """Returns the piece of each id that `encode` returns; for an unknown piece, the text that it stands for.

        SentencePiece joins several consecutive unknown characters or words into one unknown piece.
        """
        pieces: list[str] = self._processor.encode(prepare_surface(text, self.settings), out_type=str)
        return pieces

    def list_unknown(self, text: str) -> tuple[str, ...]:
        """Returns the text that each unknown piece stands for, in order."""
        ids = self.encode(text) if self.has_unknown else []
        if UNKNOWN not in ids:
            return ()
        surfaces = zip(ids, self.list_surfaces(text), strict=True)
        return tuple(self._finish_text(surface.replace(BLANK, " ")) for i, surface in surfaces if i == UNKNOWN)

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
        """Returns the words of `text` outside a vocabulary of words, else the characters that no piece contains."""
        if self.settings.kind != "word":
            return self.find_unseen_characters(text)
        return {word for unknown in self.list_unknown(text) for word in mark_words(unknown).replace(JOINER, "").split()}

    def find_unseen_characters(self, text: str) -> set[str]:
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
    """Separates words and other single characters with spaces; `￭` marks each one that had no space before it.

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


# Threads of training. With as many as there are cores, the result would depend on the machine. With two, training took
# a quarter less time on two idle cores (6.5 s instead of 9 s for 340,000 sentences), but up to 33 s on busy ones.
THREADS = 1
LONGEST_LINE = 1 << 16  # bytes; SentencePiece skips longer ones
BYTE_PIECES = 256  # in a unigram or BPE vocabulary
# (smallest number of words, size of the vocabulary). Measured on Tatoeba English-German, counting the words of both
# sides: 4,000 pieces are far better than 8,000 for 0.6 M words, and 8,000 are better for 2 M words.
VOCABULARY_BY_WORDS = ((25_000_000, 32_000), (5_000_000, 16_000), (1_000_000, 8_000), (150_000, 4_000), (40_000, 2_000))
SMALLEST_VOCABULARY = 1_000
# Scripts with thousands of characters need more than that. With 1.5 pieces per character the pieces of 2,500 and 5,000
# Japanese sentences recur most (median 5 and 10 times; 4 and 6 with 2 pieces per character or with 1).
PIECES_PER_CHARACTER = 1.5
LARGEST_WORD_VOCABULARY = 32_000
# If a text has more distinct characters than this, byte pieces spell its rarest 0.05 %.
LARGEST_FULL_ALPHABET = 500
COVERAGE_OF_LARGE_ALPHABETS = 0.9995


def train_tokenizer(
    texts: Sequence[str],
    settings: TokenizerSettings,
    *,
    vocabulary_size: int | None = None,
    minimum_count: int | None = None,
    control: Sequence[str] = (),
) -> bytes:
    """Returns the bytes of a SentencePiece model trained on `texts`, determined by the arguments.

    Without a `vocabulary_size`, the size follows from the amount of text and shrinks to what the text can fill. With a
    `minimum_count`, a vocabulary of words contains exactly the words that occur at least that often. `control` pieces
    are part of the size. Raises OptionError for a size that the text cannot fill or that cannot hold its characters,
    naming a size that works; DataError for text too small to learn from.
    """
    surfaces = [prepare_surface(text, settings) for text in texts]
    coverage, covered = measure_alphabet(surfaces)
    if minimum_count is not None:
        size = compute_word_vocabulary_size(surfaces, minimum_count)
    else:
        size = vocabulary_size or choose_vocabulary_size(surfaces, settings.kind, covered)
    model = run_trainer(surfaces, settings.kind, size, coverage, control)
    reached = Tokenizer(model, settings).vocabulary_size
    if vocabulary_size is not None and reached < vocabulary_size:
        raise OptionError(
            f"--vocab-size is {vocabulary_size:,}, but this text yields at most {reached:,}",
            hint=f"give --vocab-size {reached} or less, or leave it out",
        )
    return model


def measure_alphabet(surfaces: Sequence[str]) -> tuple[float, int]:
    """Returns the share of the text, 0 to 1, whose characters become pieces, and the number of these pieces."""
    counts = Counter[str]()
    for text in surfaces:
        counts.update(text)
    if len(counts) <= LARGEST_FULL_ALPHABET:
        return 1.0, len(counts)
    left_out = (1 - COVERAGE_OF_LARGE_ALPHABETS) * counts.total()
    covered = len(counts)
    for _, count in reversed(counts.most_common()):
        left_out -= count
        if left_out < 0:
            break
        covered -= 1
    return COVERAGE_OF_LARGE_ALPHABETS, covered


def choose_vocabulary_size(surfaces: Sequence[str], kind: TokenizerKind, covered: int) -> int:
    """Returns the default vocabulary size for a text; training may use less."""
    if kind == "char":
        return covered + SPECIALS + len(PLACEHOLDERS) + 1  # the mark of a space may be one more
    if kind == "word":
        repeated = compute_word_vocabulary_size(surfaces, 2)
        return min(max(repeated, SMALLEST_VOCABULARY), LARGEST_WORD_VOCABULARY)
    words_of_text = sum(map(count_words, surfaces))
    by_words = next((size for words, size in VOCABULARY_BY_WORDS if words_of_text >= words), SMALLEST_VOCABULARY)
    return max(by_words, math.ceil(PIECES_PER_CHARACTER * covered) + BYTE_PIECES + SPECIALS + len(PLACEHOLDERS))


def compute_word_vocabulary_size(surfaces: Sequence[str], minimum_count: int) -> int:
    """Returns the size of a vocabulary for all words that occur at least `minimum_count` times."""
    words = Counter(word for text in surfaces for word in text.split())
    frequent = sum(count >= minimum_count for word, count in words.items() if word not in PLACEHOLDERS)
    return frequent + SPECIALS + 2 * len(PLACEHOLDERS)  # SentencePiece counts each with and without a space before it


def run_trainer(
    surfaces: Sequence[str], kind: TokenizerKind, size: int, coverage: float, control: Sequence[str] = ()
) -> bytes:
    """Runs SentencePiece's trainer with our settings. Turns its errors into OptionError or DataError."""
    model = io.BytesIO()
    options: dict[str, Any] = {
        "sentence_iterator": iter(surfaces),
        "model_writer": model,
        "model_type": kind,
        "vocab_size": size,
        "hard_vocab_limit": False,
        "character_coverage": coverage,
        "byte_fallback": kind in ("unigram", "bpe"),
        "user_defined_symbols": list(PLACEHOLDERS),
        "control_symbols": list(control),
        "normalization_rule_name": "identity",
        "pad_id": PAD,
        "unk_id": UNKNOWN,
        "bos_id": START,
        "eos_id": END,
        "unk_surface": " ⁇ " if kind == "word" else "⁇",
        "max_sentence_length": LONGEST_LINE,
        "shuffle_input_sentence": False,
        "num_threads": THREADS,
        "minloglevel": 2,
    }
    try:
        run_interruptibly(lambda: sentencepiece.SentencePieceTrainer.train(**options))
    except RuntimeError as error:
        raise explain_failure(error, size) from error
    return model.getvalue()


def add_control_pieces(model: bytes, pieces: Sequence[str], position: int | None = None) -> bytes:
    """Returns a SentencePiece model with any missing `pieces` added; no text is encoded as one of them.

    They are appended, or inserted before the piece with the id `position`.
    """
    from sentencepiece import sentencepiece_model_pb2 as proto  # protobuf, which only training needs

    changed = proto.ModelProto.FromString(model)
    known = {piece.piece for piece in changed.pieces}
    kind = proto.ModelProto.SentencePiece
    missing = [kind(piece=piece, score=0.0, type=kind.CONTROL) for piece in pieces if piece not in known]
    if not missing:
        return model
    position = len(changed.pieces) if position is None else position
    order = [*changed.pieces[:position], *missing, *changed.pieces[position:]]
    del changed.pieces[:]
    changed.pieces.extend(order)
    changed.trainer_spec.vocab_size = len(changed.pieces)
    return bytes(changed.SerializeToString(deterministic=True))


def add_separator(models: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns subword models with the separator added if missing; in a joint model, to the target's part.

    `models` maps roles to the models of `--tokenizer-from`, the target's last.
    """
    from sentencepiece import sentencepiece_model_pb2 as proto  # as above

    target = proto.ModelProto.FromString(list(models.values())[-1])
    position = len(target.pieces) if "joint" in models else None
    return {role: add_control_pieces(model, [CONTEXT_END], position) for role, model in models.items()}


def run_interruptibly(work: Callable[[], object]) -> None:
    """Runs `work` so that Ctrl-C takes effect at once, not when compiled code returns (up to a minute later)."""
    problems: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
    if problems:
        raise problems[0]


def explain_failure(error: RuntimeError, size: int) -> OptionError | DataError:
    """Translates SentencePiece's complaint into an error that the user understands."""
    needed = re.search(r"smaller than required_chars\. \d+ vs (\d+)", str(error))
    if needed:
        return OptionError(
            f"--vocab-size is {size:,}, but the characters of this text alone need {int(needed[1]):,}",
            hint=f"give --vocab-size {int(needed[1]) + 1} or more, or leave it out",
        )
    reason = str(error).strip() or "no reason given"
    return DataError(f"no subwords can be learned from this text: {reason}", hint="try --tokenizer char, or more text")
