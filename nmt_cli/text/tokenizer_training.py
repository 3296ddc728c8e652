"""Trains a subword model with SentencePiece, from sentences to the bytes of the model. Knows no files."""

from __future__ import annotations

import io
import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as proto

from nmt_cli.arrays.special_ids import END, PAD, START, UNKNOWN
from nmt_cli.errors import DataError, OptionError
from nmt_cli.text.normalise import count_words
from nmt_cli.text.symbols import CONTEXT_END, PLACEHOLDERS, SPECIALS
from nmt_cli.text.tokenizer import Tokenizer, prepare_surface
from nmt_cli.text.tokenizer_settings import TokenizerKind
from nmt_cli.text.tokenizer_settings import TokenizerSettings as TokenizerSettings

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
            f"--vocab-size is {vocabulary_size:,}, but this text fills {reached:,} at most",
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
    """Returns a SentencePiece model with those of the `pieces` that it lacks; no text is encoded as them.

    They are appended, or put before the piece that has the id `position`.
    """
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
    """Returns subword models with the separator, where they lack it: in the part of a joint one that is the target's.

    `models` are those of `--tokenizer-from` by role, the target's last.
    """
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
    return DataError(f"no subwords can be learned from this text: {str(error).strip() or 'no reason given'}")
