"""Placeholder augmentation: words shared by both sides become placeholders, so that the network learns to copy these.

Few sentences have addresses or amounts, but many have names and numbers that are identical in both languages. Knows
only text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from nmt_cli.corpus.sides import SentencePair
from nmt_cli.text.characters import END_MARKS
from nmt_cli.text.symbols import PLACEHOLDERS

MOST_WORDS = 3  # the largest number of words of a sentence that are replaced
SHORTEST_NAME = 3  # letters of a name; shorter words are mostly an "in" or "an" of related languages
EDGE_SHARE = 1 / 3  # share of the pairs without a shared word that get a placeholder at one end

WORD = re.compile(r"(?<![\w⟦])\w[\w'’]*(?:-\w+)*")


def insert_placeholders(source: str, target: str, generator: np.random.Generator) -> SentencePair:
    """Replaces up to three shared words on both sides; a third of the pairs without any get one placeholder at an end.

    The placeholders are drawn from all ten, so that the network learns all equally well. A pair that already has all
    ten is unchanged.
    """
    free = [name for name in PLACEHOLDERS if name not in source and name not in target]
    shared = find_shared_words(source, target)
    if not free:
        return SentencePair(source, target)
    if not shared:
        if generator.random() < EDGE_SHARE:
            return insert_at_edge(source, target, free, generator)
        return SentencePair(source, target)
    count = min(len(shared), len(free), int(generator.integers(1, MOST_WORDS + 1)))
    names = dict(zip(draw_some(shared, count, generator), draw_some(free, count, generator), strict=True))
    return SentencePair(replace_words(source, names), replace_words(target, names))


def draw_some(items: Sequence[str], count: int, generator: np.random.Generator) -> list[str]:
    """Returns `count` different items, in random order; for so few, a tenth of the time of `generator.choice`."""
    drawn = list(items)
    for index, draw in enumerate(generator.random(count).tolist()):
        other = index + int(draw * (len(drawn) - index))
        drawn[index], drawn[other] = drawn[other], drawn[index]
    return drawn[:count]


def find_shared_words(source: str, target: str) -> list[str]:
    """Returns the names and numbers that occur exactly once on each side, in source order."""
    source_counts, target_counts = Counter(WORD.findall(source)), Counter(WORD.findall(target))
    return [word for word, count in source_counts.items() if count == target_counts[word] == 1 and is_name(word)]


def is_name(word: str) -> bool:
    """Whether a word shared by both languages looks like a name or a number."""
    return word[0].isdigit() or (len(word) >= SHORTEST_NAME and word[0].isupper())


def replace_words(text: str, names: Mapping[str, str]) -> str:
    """Replaces each word of `text` that is a key of `names` by its value."""
    return WORD.sub(lambda word: names.get(word[0], word[0]), text)


def insert_at_edge(source: str, target: str, free: Sequence[str], generator: np.random.Generator) -> SentencePair:
    """Puts one of the `free` placeholders before both texts, or after both and before their final marks."""
    (name,) = draw_some(free, 1, generator)
    if generator.random() < 0.5:
        return SentencePair(f"{name} {source}", f"{name} {target}")
    return SentencePair(append_word(source, name), append_word(target, name))


def append_word(text: str, word: str) -> str:
    """Inserts a word after the last one of `text`, before the final marks."""
    body = text.rstrip(END_MARKS) or text
    return f"{body} {word}{text[len(body) :]}"
