"""Text to subword ids and back, and the training of the subword model, by SentencePiece.

Expects text that `clean.normalise` has seen. Knows nothing of prepared or model directories.
"""

from __future__ import annotations

import hashlib
import io
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import sentencepiece

from nmt_cli.corpus.clean import count_words, is_unspaced, normalise, split_unspaced
from nmt_cli.corpus.subword_sampling import Cut, Pieces, cut_by_merges, cut_by_probability, draw
from nmt_cli.corpus.tokenizer_settings import TokenizerKind
from nmt_cli.corpus.tokenizer_settings import TokenizerSettings as TokenizerSettings
from nmt_cli.errors import DamagedError, DataError, OptionError

BLANK = "▁"  # SentencePiece's mark of a blank before a piece
JOINER = "￭"  # before a word of kind `word` that had no blank before it, as OpenNMT writes it

# Of training. The machine's number would make the result depend on the machine. With a fixed two, SentencePiece took
# a quarter less time on two idle cores (6.5 s against 9 s for 340,000 sentences), but up to 33 s on shared ones.
THREADS = 1
LONGEST_LINE = 1 << 16  # bytes; SentencePiece leaves out longer ones
BYTES = 256  # byte pieces in a unigram or BPE vocabulary
SPECIALS = 4
MANY = 64  # sentences: for fewer, SentencePiece takes longer to start its threads than to do the work

# Pieces of their own in every vocabulary, for spans of text that translation is to carry over as they are.
PLACEHOLDERS = tuple(f"⟦{number}⟧" for number in range(10))

# (words of text from which, pieces). Measured on Tatoeba English-German, words of both sides together:
# 0.6 M words are far better served by 4,000 pieces than by 8,000, 2 M words by 8,000.
VOCABULARY_BY_WORDS = ((25_000_000, 32_000), (5_000_000, 16_000), (1_000_000, 8_000), (150_000, 4_000), (40_000, 2_000))
SMALLEST_VOCABULARY = 1_000
LARGEST_WORD_VOCABULARY = 32_000

# With more distinct characters than an alphabet has, the rarest 0.05 % of the text is left to byte pieces.
ALPHABET = 500
COVERAGE_OF_LARGE_ALPHABETS = 0.9995

CUTS: dict[TokenizerKind, Cut] = {"unigram": cut_by_probability, "bpe": cut_by_merges}


class Tokenizer:
    """A trained subword model. Ids 0-3 are padding, unknown, start and end of sentence."""

    PAD: ClassVar[int] = 0
    UNKNOWN: ClassVar[int] = 1
    START: ClassVar[int] = 2
    END: ClassVar[int] = 3

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
        found = [tokenizer._pieces.pad_id(), tokenizer._pieces.unk_id()]
        found += [tokenizer._pieces.bos_id(), tokenizer._pieces.eos_id()]
        if found != [cls.PAD, cls.UNKNOWN, cls.START, cls.END]:
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
        """Of those placeholders that are pieces of their own."""
        ids = (int(self._pieces.piece_to_id(name)) for name in PLACEHOLDERS)
        return tuple(one for one in ids if one != self.UNKNOWN)

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
        found: list[str] = self._pieces.id_to_piece(list(range(self.vocabulary_size)))
        return found

    def encode(self, text: str) -> list[int]:
        """Ids of a sentence, without start and end."""
        return self.encode_all([text])[0]

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """Ids of each sentence, without start and end; many are cut on all cores."""
        surfaces = [surface(text, self.settings) for text in texts]
        if len(surfaces) < MANY:
            return [self._pieces.encode(text, out_type=int) for text in surfaces]
        found: list[list[int]] = self._pieces.encode(surfaces, out_type=int)
        return found

    def sample_all(self, texts: Iterable[str], *, alpha: float, seed: int) -> list[list[int]]:
        """Ids of each sentence, without start and end, cut in one of the possible ways; the same for the same seed.

        For unigram a cut is drawn from all with its probability to the power of `alpha` (0 is even, 1 as the model has
        it); for BPE each merge is left out with the probability `alpha`. Placeholders are text like any other here.
        Raises KeyError for characters and words, which have one cut only.
        Source: Kudo (2018), "Subword Regularization"; Provilkov et al. (2020), "BPE-Dropout".
        """
        random, cut = Random(seed), CUTS[self.settings.kind]
        normalised: list[str] = self._pieces.normalize([surface(text, self.settings) for text in texts])
        return [draw(text, self._sampled, cut, alpha, random) for text in normalised]

    @cached_property
    def _sampled(self) -> Pieces:
        return Pieces.of(self._pieces, without=self.placeholder_ids)

    def decode(self, ids: Sequence[int]) -> str:
        """The sentence, a single line; padding, start and end are passed over.

        The inverse of `encode` for normalised (and, where so set, lower-cased) text of seen characters or words.
        """
        return self.decode_all([ids])[0]

    def decode_all(self, sentences: Iterable[Sequence[int]]) -> list[str]:
        """Each of `sentences` as by `decode`; many on all cores."""
        known = [[int(i) for i in ids if i == self.UNKNOWN or i >= SPECIALS] for ids in sentences]
        few = len(known) < MANY
        texts = [self._pieces.decode(ids) for ids in known] if few else self._pieces.decode(known)
        # Normalised because byte pieces can spell a line break, and a translation must stay on its line.
        return [normalise(unmark_words(text) if self.settings.kind == "word" else text) for text in texts]

    @property
    def has_unknown(self) -> bool:
        """Whether text can have pieces that are unknown: subwords spell what they do not know in bytes."""
        return self.settings.kind in ("word", "char")

    def surfaces(self, text: str) -> list[str]:
        """The piece behind each id of `encode`, which of an unknown one is the text that it stands for.

        SentencePiece makes one unknown piece of several characters or words that follow each other.
        """
        found: list[str] = self._pieces.encode(surface(text, self.settings), out_type=str)
        return found

    def decode_replaced(self, ids: Sequence[int], unknown: Sequence[str]) -> str:
        """As `decode`, with the pieces `unknown`, as `surfaces` gives them, for the unknown ones, in their order."""
        waiting = iter(unknown)
        known = [int(i) for i in ids if i == self.UNKNOWN or i >= SPECIALS]
        pieces = [next(waiting) if i == self.UNKNOWN else self._spelled[i] for i in known]
        text = "".join(pieces).replace(BLANK, " ")
        return normalise(unmark_words(text) if self.settings.kind == "word" else text)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each id as text, for showing: `▁` stands for a blank before, or `￭` for none where pieces are words."""
        found = [self._spelled[i] for i in ids]
        return [piece.removeprefix(BLANK) for piece in found] if self.settings.kind == "word" else found

    def unseen(self, text: str) -> set[str]:
        """The characters of `text` that are in no piece: they become byte pieces, or unknown."""
        lower = self.settings.lowercase
        if self.characters.issuperset(text.lower() if lower else text):
            return set()
        return {one for one in set(text) if not self.characters.issuperset(one.lower() if lower else one)}


def surface(text: str, settings: TokenizerSettings) -> str:
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
    return " ".join(found[0] if stands_alone(text, found) else JOINER + found[0] for found in tokens)


def stands_alone(text: str, found: re.Match[str]) -> bool:
    """Whether a word needs no joiner: a placeholder never has one, because it must stay the piece that it is."""
    return found.start() == 0 or text[found.start() - 1] == " " or found[0] in PLACEHOLDERS


def unmark_words(text: str) -> str:
    """The inverse of `mark_words`."""
    words = (word[1:] if len(word) > 1 and word[0] == JOINER else f" {word}" for word in text.split())
    return "".join(words).lstrip()


def word_pattern(text: str) -> re.Pattern[str]:
    r"""Finds the words of `text`: letters, digits and their marks, with apostrophes and hyphens inside; or any other
    single character.

    Python's \w knows no combining marks, without which most scripts of India fall to pieces.
    """
    return pattern_of_words(r"\w") if max(text, default="") < FIRST_MARK else word_with_marks()


def words_of(text: str) -> list[str]:
    """Words in lower case without punctuation; a character each in scripts without blanks."""
    lower = text.lower()
    words = [word for word in word_pattern(lower).findall(lower) if word[0].isalnum()]
    if not any(map(is_unspaced, set(text))):
        return words
    return [piece for word in words for piece in split_unspaced(word)]


@cache
def pattern_of_words(inner: str) -> re.Pattern[str]:
    return re.compile(rf"⟦\d⟧|\w{inner}*(?:['’-]\w{inner}*)*|\S")


FIRST_MARK = "\u0300"  # of all combining marks


@cache
def word_with_marks() -> re.Pattern[str]:
    """To look for the marks takes as long as to translate a sentence, and most text has none."""
    planes = (range(ord(FIRST_MARK), 0x20000), range(0xE0000, 0xE1000))  # no other has any
    marks = (chr(code) for plane in planes for code in plane if unicodedata.category(chr(code))[0] == "M")
    return pattern_of_words(rf"[\w\u200c\u200d{''.join(marks)}]")


def train_tokenizer(
    texts: Sequence[str],
    settings: TokenizerSettings,
    *,
    vocabulary_size: int | None = None,
    minimum_count: int | None = None,
) -> bytes:
    """The bytes of a SentencePiece model trained on these sentences; depends on nothing else.

    With a `minimum_count` a vocabulary of words has those that stand so often in `texts`, and no others.
    Without a `vocabulary_size` it is chosen from the amount of text, and lowered to what the text can fill.
    Raises OptionError for a size that the text cannot fill or that does not hold its characters, naming one
    that will do; DataError for text from which nothing can be learnt.
    """
    surfaces = [surface(text, settings) for text in texts]
    coverage, covered = alphabet(surfaces)
    if minimum_count is not None:
        size = size_of_frequent_words(surfaces, minimum_count)
    else:
        size = vocabulary_size or rule_size(surfaces, settings.kind, covered)
    model = run_trainer(surfaces, settings.kind, size, coverage)
    reached = Tokenizer(model, settings).vocabulary_size
    if vocabulary_size is not None and reached < vocabulary_size:
        raise OptionError(
            f"--vocab-size is {vocabulary_size:,}, but this text fills {reached:,} at most",
            hint=f"give --vocab-size {reached} or less, or leave it out",
        )
    return model


def alphabet(surfaces: Sequence[str]) -> tuple[float, int]:
    """The share of all characters that get pieces of their own, 0 to 1, and how many distinct ones these are."""
    counts = Counter[str]()
    for text in surfaces:
        counts.update(text)
    if len(counts) <= ALPHABET:
        return 1.0, len(counts)
    left_out = (1 - COVERAGE_OF_LARGE_ALPHABETS) * counts.total()
    covered = len(counts)
    for _, count in reversed(counts.most_common()):
        left_out -= count
        if left_out < 0:
            break
        covered -= 1
    return COVERAGE_OF_LARGE_ALPHABETS, covered


def rule_size(surfaces: Sequence[str], kind: TokenizerKind, covered: int) -> int:
    """The vocabulary for this text when none is asked for; at most this many pieces are then made."""
    if kind == "char":
        return covered + SPECIALS + len(PLACEHOLDERS) + 1  # the mark of a blank may be one more
    if kind == "word":
        repeated = size_of_frequent_words(surfaces, 2)
        return min(max(repeated, SMALLEST_VOCABULARY), LARGEST_WORD_VOCABULARY)
    words_of_text = sum(map(count_words, surfaces))
    by_words = next((size for words, size in VOCABULARY_BY_WORDS if words_of_text >= words), SMALLEST_VOCABULARY)
    return max(by_words, 2 * covered + BYTES + SPECIALS + len(PLACEHOLDERS))


def size_of_frequent_words(surfaces: Sequence[str], minimum_count: int) -> int:
    """The vocabulary of words that has room for those that stand `minimum_count` times or more."""
    words = Counter(word for text in surfaces for word in text.split())
    frequent = sum(count >= minimum_count for word, count in words.items() if word not in PLACEHOLDERS)
    return frequent + SPECIALS + 2 * len(PLACEHOLDERS)  # SentencePiece knows each with and without a blank before it


def run_trainer(surfaces: Sequence[str], kind: TokenizerKind, size: int, coverage: float) -> bytes:
    """SentencePiece's trainer with our settings. Its errors become OptionError or DataError."""
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
        "normalization_rule_name": "identity",
        "pad_id": Tokenizer.PAD,
        "unk_id": Tokenizer.UNKNOWN,
        "bos_id": Tokenizer.START,
        "eos_id": Tokenizer.END,
        "unk_surface": " ⁇ " if kind == "word" else "⁇",
        "max_sentence_length": LONGEST_LINE,
        "shuffle_input_sentence": False,
        "num_threads": THREADS,
        "minloglevel": 2,
    }
    try:
        run_interruptibly(lambda: sentencepiece.SentencePieceTrainer.train(**options))
    except RuntimeError as error:
        raise explained(error, size) from error
    return model.getvalue()


def run_interruptibly(work: Callable[[], object]) -> None:
    """Runs `work` so that Ctrl-C is answered at once, not when a call into compiled code returns (up to a minute)."""
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


def explained(error: RuntimeError, size: int) -> OptionError | DataError:
    """What SentencePiece's complaint means to the user."""
    needed = re.search(r"smaller than required_chars\. \d+ vs (\d+)", str(error))
    if needed:
        return OptionError(
            f"--vocab-size is {size:,}, but the characters of this text alone need {int(needed[1]):,}",
            hint=f"give --vocab-size {int(needed[1]) + 1} or more, or leave it out",
        )
    return DataError(f"no subwords can be learnt from this text: {str(error).strip() or 'no reason given'}")
