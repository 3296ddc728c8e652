"""Placeholders that wrap words as tags do: `{0}here{1}`, `[X1X]door[X2X]`, `{y:i}Where`.

A pair adjoins only the words between its two placeholders; a lone placeholder adjoins the word that begins a sentence.
Both are taken out of the text, so that no network can lose the words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from nmt_cli.carrying.kind import WordTest
from nmt_cli.carrying.spans import PROGRAM_TOKENS, Pair, Span, SpanKind
from nmt_cli.text.characters import END_MARKS

WRAPPED_WORD = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"


def take_wraps_out(spans: Sequence[Span], text: str, is_word: WordTest) -> list[Span]:
    """Takes spans that wrap words out of a text; `is_word` tells words from parts of codes."""
    result = list(spans)
    masked = [index for index, span in enumerate(spans) if not span.is_extracted]
    wrapping: set[int] = set()
    for first, second in pairwise(masked):
        if first not in wrapping and is_pair(spans[first], spans[second], text, is_word):
            wrapping |= {first, second}
            for index, closes in ((first, False), (second, True)):
                result[index] = take_out(spans[index], Pair(spans[first].text, closes))
    for index in masked:
        if index not in wrapping and begins_sentence(spans[index], text, is_word):
            result[index] = take_out(spans[index], None)
    return result


def take_out(span: Span, pair: Pair | None) -> Span:
    return span._replace(kind=SpanKind.WRAP, is_extracted=True, pair=pair)


def is_pair(first: Span, second: Span, text: str, is_word: WordTest) -> bool:
    """Whether two spans adjoin known words between them, and no letter or digit outside; `x` multiplies."""
    inside, before, after = text[first.end : second.start], text[: first.start][-1:], text[second.end :][:1]
    if not {first.kind, second.kind} <= PROGRAM_TOKENS or before.isalnum() or after.isalnum():
        return False
    words = re.findall(WRAPPED_WORD, inside)
    return inside[:1].isalpha() and inside[-1:].isalpha() and inside != "x" and all(map(is_word, words))


def begins_sentence(span: Span, text: str, is_word: WordTest) -> bool:
    """Whether a span that ends with a sign adjoins the known, capitalised word that begins a sentence."""
    if span.kind not in PROGRAM_TOKENS or span.text[-1].isalnum() or not text[span.end : span.end + 1].isupper():
        return False
    before, word = text[: span.start].rstrip(), re.compile(WRAPPED_WORD).match(text, span.end)
    return (not before or before[-1] in END_MARKS) and word is not None and is_word(word[0])
