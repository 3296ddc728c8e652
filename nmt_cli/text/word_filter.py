"""A set of words in ten bits each, which recognises all its words but also one in a hundred others.

Bloom (1970), "Space/time trade-offs in hash coding with allowable errors". A profile keeps the rare words of its text
this way; as lines, they would take ten times the space."""

from __future__ import annotations

from base64 import b85decode, b85encode
from collections.abc import Collection, Iterator
from hashlib import blake2b

HASHES = 4  # bits that stand for a word
BITS_PER_WORD = 10
SMALLEST, LARGEST = 3, 18  # powers of two of the bytes: beyond 200,000 words, more others are taken for its own


class WordFilter:
    """A set of words, stored only as bits."""

    def __init__(self, bits: bytearray) -> None:
        """The number of bytes must be a power of two."""
        self.bits = bits

    @classmethod
    def from_words(cls, words: Collection[str]) -> WordFilter:
        """Returns the set of these words."""
        power = max(SMALLEST, min(LARGEST, (len(words) * BITS_PER_WORD // 8).bit_length()))
        made = cls(bytearray(1 << power))
        for word in words:
            for bit in made.find_bits(word):
                made.bits[bit >> 3] |= 1 << (bit & 7)
        return made

    @classmethod
    def decode(cls, text: str) -> WordFilter:
        """Returns the set that `encode` wrote. Raises ValueError for anything else."""
        bits = bytearray(b85decode(text))
        if not bits or len(bits) & (len(bits) - 1):
            raise ValueError("not a set of words: its number of bytes is not a power of two")
        return cls(bits)

    def encode(self) -> str:
        """Returns the set as text."""
        return b85encode(self.bits).decode()

    def __contains__(self, word: str) -> bool:
        return all(self.bits[bit >> 3] >> (bit & 7) & 1 for bit in self.find_bits(word))

    def merge(self, other: WordFilter) -> WordFilter:
        """Returns the union of both sets; repeated to the larger size, the smaller one keeps its words."""
        size = max(len(self.bits), len(other.bits))
        first, second = (bits * (size // len(bits)) for bits in (self.bits, other.bits))
        return WordFilter(bytearray(map(int.__or__, first, second)))

    def find_bits(self, word: str) -> Iterator[int]:
        """Yields the positions of the bits that stand for a word."""
        digest = blake2b(word.encode(errors="surrogatepass"), digest_size=4 * HASHES).digest()
        last = 8 * len(self.bits) - 1
        for start in range(0, len(digest), 4):
            yield int.from_bytes(digest[start : start + 4], "little") & last
