"""Normal form of a sentence, and the reasons for which a pair is dropped.

Knows nothing of files or vocabularies. Translation normalises its input with the same `normalise`.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from enum import StrEnum

from nmt_cli.corpus.config import PrepareConfig

# Control characters that are no blanks, halves of surrogate pairs (they cannot be written as UTF-8), and what is
# invisible and only says where a line may break: soft hyphen, zero-width space, word joiner, byte order mark.
DROPPED = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u2060\ufeff\ud800-\udfff]")

# Scripts written without blanks between words: Thai, Lao, Myanmar, Khmer, kana, Han.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)

SHORT_PAIR = 5  # words up to which a ratio says nothing: "Feierabend." is "Let's call it a day."
CHARACTERS_PER_WORD = 20  # a sentence of more per allowed word is no sentence: a URL, a table, base64


def normalise(text: str) -> str:
    """`text` in NFC, every run of blanks of any kind one space, none at the ends, without control characters.

    Total on any `str`, and idempotent. U+2581, which SentencePiece uses as its own blank, becomes "_".
    """
    if not text.isprintable():
        text = DROPPED.sub("", text)
    text = " ".join(text.split())
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.replace("\u2581", "_"))
    return text


def count_words(text: str) -> int:
    """Length of a normalised sentence in words; two characters of a script without blanks count as one more."""
    words = text.count(" ") + 1 if text else 0
    return words if text.isascii() else words + len(UNSPACED.findall(text)) // 2


class Reason(StrEnum):
    """Why a pair was dropped. A pair is counted under the first that holds, in this order."""

    EMPTY = "empty"
    TOO_LONG = "too long"
    RATIO = "length ratio"
    DUPLICATE = "duplicate"


class Cleaner:
    """Decides pair by pair what is kept; remembers 16 bytes of each kept pair to know duplicates."""

    def __init__(self, config: PrepareConfig) -> None:
        self.max_length = config.max_length
        self.max_ratio = config.max_ratio
        self.seen: set[bytes] = set()

    def reason(self, source: str, target: str) -> Reason | None:
        """Why the pair of normalised sentences is dropped, or None when it is kept."""
        if not source or not target:
            return Reason.EMPTY
        shorter, longer = sorted((count_words(source), count_words(target)))
        if longer > self.max_length or max(len(source), len(target)) > self.max_length * CHARACTERS_PER_WORD:
            return Reason.TOO_LONG
        if longer > SHORT_PAIR and longer > self.max_ratio * shorter:
            return Reason.RATIO
        return Reason.DUPLICATE if self.is_repeated(source, target) else None

    def is_repeated(self, source: str, target: str) -> bool:
        """Whether this exact pair was given before. Keeps a digest, not the text, for the sake of memory."""
        digest = hashlib.blake2b(f"{source}\t{target}".encode(), digest_size=16).digest()
        known = len(self.seen)
        self.seen.add(digest)
        return len(self.seen) == known
