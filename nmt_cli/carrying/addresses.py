"""Addresses of pages, mail and machines: `https://example.org`, `tom@example.org`."""

from __future__ import annotations

import re
from collections import Counter

from nmt_cli.carrying.kind import Kind
from nmt_cli.carrying.numbers.patterns import LETTER, UNSPACED_LETTERS
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.text.characters import FINAL_MARKS, PAUSES

ADDRESS = (
    rf"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%{{}}-]|(?![{UNSPACED_LETTERS}])[^\W_]|(?<=[/=?&#_-])[{UNSPACED_LETTERS}]+)"
)
DOMAINS = "com|org|net|edu|gov|io|dev|app|info|eu|de|fr|es|ch|uk|jp|cn"


class AddressKind(Kind):
    """Addresses; trailing punctuation may belong to the sentence."""

    def read_match(self, match: re.Match[str]) -> Span:
        return self.make_span(match.start(), trim_address(match[0]))


ADDRESSES = AddressKind(
    SpanKind.ADDRESS,
    patterns=(
        rf"(?<![{LETTER}])(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}://|www\.|mailto:){ADDRESS}+",
        rf"(?<![{LETTER}.+-])(?:(?![{UNSPACED_LETTERS}])[\w.+%-]){{1,64}}@(?:[^\W_]|-){{1,63}}(?:\.[A-Za-z0-9-]{{2,63}})+",
        rf"(?<![{LETTER}.-])(?:[A-Za-z0-9-]{{1,63}}\.){{1,5}}(?:{DOMAINS})(?![{LETTER}-])(?:[/?#]{ADDRESS}*)?",
    ),
    signs="@",
    cues=r"://|mailto:|www\.|\w\.[a-z]",
)


def trim_address(address: str) -> str:
    """Strips the sentence's trailing punctuation and an enclosing bracket from an address.

    >>> trim_address("https://en.wikipedia.org/wiki/Hund_(dog)).")
    'https://en.wikipedia.org/wiki/Hund_(dog)'
    """
    counts, end = Counter(address), len(address)
    while end:
        last = address[end - 1]
        opening = {")": "(", "]": "[", "}": "{"}.get(last)
        unbalanced = opening is not None and counts[opening] < counts[last]
        if not (unbalanced or last in f"{FINAL_MARKS}{PAUSES}'*_~"):
            break
        counts[last] -= 1
        end -= 1
    return address[:end]
