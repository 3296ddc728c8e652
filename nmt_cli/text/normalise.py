"""The normal form of a sentence, its length, and the key by which sentences are compared.

Does not depend on files, checks or vocabularies. Corpora and input to translation pass through the same `normalise`.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import cache

from nmt_cli.text.characters import BREAK_HINTS, DASHES, DOUBLE_QUOTES, HYPHENS, SINGLE_QUOTES

# The patterns are strings, which Python compiles and caches on first use: compiling a large set of characters takes as
# long as translating a sentence, and most sentences need none.

# Control characters that are not spaces, halves of surrogate pairs (they cannot be written as UTF-8), and invisible
# characters that only say where a line may break: soft hyphen, zero-width space, word joiner, byte order mark.
DROPPED = f"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f{BREAK_HINTS}\ud800-\udfff]"

# What a terminal reads as an order (ECMA-48), such as a colour, a link or a set of characters, and other control
# characters, but not those between lines and cells: no translation has them.
CONTROL_CHARACTERS = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*+(?:\x07|\x1b\\|\x9c)|\x1b[()][0-9A-Z]"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]"
)

# Scripts written without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han.
UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\uff66-\uff9f\U0001b000-\U0001b16f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)

FOLDED = str.maketrans(
    {
        **dict.fromkeys(f"{SINGLE_QUOTES}`´ʼ", "'"),
        **dict.fromkeys(DOUBLE_QUOTES, '"'),
        **dict.fromkeys(f"{HYPHENS}{DASHES}−", "-"),
    }
)


def normalise(text: str) -> str:
    """Returns `text` in NFC, trimmed, with single spaces between words and without control characters.

    Accepts any `str`; idempotent. U+2581, SentencePiece's own space, becomes "_".
    """
    text = " ".join(drop_invisible(text).split())
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.replace("\u2581", "_"))
    return text


def drop_invisible(text: str) -> str:
    """Returns `text` without control and other invisible characters."""
    return text if text.isprintable() else re.sub(DROPPED, "", text)


def drop_controls(text: str) -> str:
    """Returns `text` without control characters except line ends and tabs; those that are whitespace become spaces.

    >>> drop_controls("I am \x1b[1mhere\x1b[0m.")
    'I am here.'
    """
    if text.isprintable():
        return text
    return re.sub(CONTROL_CHARACTERS, lambda match: " " if match[0].isspace() else "", text)


def find_unspaced(text: str) -> list[str]:
    """Returns the characters of `text` whose scripts put no spaces between words."""
    return [] if text.isascii() else re.findall(UNSPACED, text)


def is_solid(character: str) -> bool:
    """Whether no space goes between two such characters: those of unspaced scripts, and East Asian punctuation."""
    is_mark = unicodedata.category(character)[0] == "P"
    return bool(find_unspaced(character)) or (is_mark and unicodedata.east_asian_width(character) in ("W", "F", "H"))


@cache
def is_unspaced(character: str) -> bool:
    """Whether a character's script puts no spaces between words; Tibetan puts them between clauses only."""
    return bool(find_unspaced(character)) or "\u0f00" <= character <= "\u0fff"


def split_unspaced(word: str) -> list[str]:
    """Splits a word around each character of an unspaced script; a combining mark stays with the one before it."""
    pieces: list[str] = []
    for character in word:
        joins = pieces and (
            unicodedata.category(character)[0] == "M" or not (is_unspaced(character) or is_unspaced(pieces[-1][0]))
        )
        if joins:
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def count_words(text: str) -> int:
    """Counts the words of a normalised sentence; two characters of an unspaced script count as one word."""
    words = text.count(" ") + 1 if text else 0
    return words + len(find_unspaced(text)) // 2


def make_sentence_key(text: str) -> str:
    """Returns the key of a normalised sentence: case, width and the shapes of quotes and dashes do not matter."""
    if text.isascii():
        return text.lower().replace("`", "'")
    text = text.translate(FOLDED)  # before NFKC too, which turns `´` into a space and a mark
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.translate(FOLDED).split())


def hash_text(text: str) -> bytes:
    """Returns an 8-byte hash of a text. Among 4 million texts, a collision has probability 4e-7."""
    return hashlib.blake2b(text.encode(), digest_size=8).digest()
