"""What teaches a network to carry placeholders over: words that stand on both sides become placeholders.

Few sentences hold addresses or amounts, but many hold names and numbers that are the same in both languages.
Knows text only.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from nmt_cli.text.symbols import PLACEHOLDERS

MOST = 3  # words of a sentence that are replaced at most
SHORTEST = 3  # letters of a word that counts as a name; shorter ones are mostly "in" and "an" of related languages
EDGE = 1 / 3  # share of sentences without such a word that get a placeholder at an end instead

MARKS = ".!?。！？"
WORD = re.compile(r"(?<![\w⟦])\w[\w'’]*(?:-\w+)*")


def with_placeholders(source: str, target: str, generator: np.random.Generator) -> tuple[str, str]:
    """The pair with up to three shared words replaced on both sides; of some pairs without any, one at an end.

    Which of the ten placeholders stand in is drawn, so that all are learnt alike.
    """
    free = [name for name in PLACEHOLDERS if name not in source and name not in target]
    shared = find_shared_words(source, target)
    if not free:
        return source, target
    if not shared:
        return at_an_end(source, target, free, generator) if generator.random() < EDGE else (source, target)
    number = min(len(shared), len(free), int(generator.integers(1, MOST + 1)))
    words = generator.choice(shared, number, replace=False).tolist()
    names = dict(zip(words, generator.permutation(free)[:number].tolist(), strict=True))
    return replace_words(source, names), replace_words(target, names)


def find_shared_words(source: str, target: str) -> list[str]:
    """Names and numbers that stand once on either side, in the order of the source."""
    on_source, on_target = Counter(WORD.findall(source)), Counter(WORD.findall(target))
    return [word for word, count in on_source.items() if count == on_target[word] == 1 and is_name(word)]


def is_name(word: str) -> bool:
    """Whether a word that both languages have is one because it names or counts."""
    return word[0].isdigit() or (len(word) >= SHORTEST and word[0].isupper())


def replace_words(text: str, names: dict[str, str]) -> str:
    return WORD.sub(lambda word: names.get(word[0], word[0]), text)


def at_an_end(source: str, target: str, free: list[str], generator: np.random.Generator) -> tuple[str, str]:
    """Both with the same placeholder before them, or behind them and before their last mark."""
    name = str(generator.choice(free))
    if generator.random() < 0.5:
        return f"{name} {source}", f"{name} {target}"
    return append_word(source, name), append_word(target, name)


def append_word(text: str, name: str) -> str:
    body = text.rstrip(MARKS) or text
    return f"{body} {name}{text[len(body) :]}"
