"""Maps each character of a translation to the character of the source that it stands for.

Attention links words; a document's marks begin and end at characters, also inside words (`H<sub>2</sub>O`). So:

1. Each word of the translation is linked to a source word: by attention, or because the same word stands once in both.
2. In a linked pair, a word that stands unchanged in the other is mapped character by character; of two different words,
   punctuation is mapped to punctuation, and the rest to the middle of the source word.
3. The blanks between two words are mapped to those between their source words, if these are neighbours too.

A translation that equals its source is therefore mapped to it exactly. Knows no marks and no formats.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.text.normalise import drop_invisible
from nmt_cli.translation.placement.word_alignment import find_links

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

UNALIGNED = -1
WORD = re.compile(r"\S+")
EDGES = re.compile(r"(?P<opening>[^\w\s]*)(?P<core>.*?)(?P<closing>[^\w\s]*)", re.DOTALL)


class WordRange(NamedTuple):
    """The characters [start, end) of a word."""

    start: int
    end: int


class CharacterMap(NamedTuple):
    """Where the characters of a translation come from."""

    sources: list[int]  # of each character of the translation, the index in the source; UNALIGNED if it has none
    words: list[WordRange]  # of the translation
    is_linked: list[bool]  # of each word, whether it has a source word


def map_characters(source: str, translation: Translation) -> CharacterMap:
    """Returns the map from the best translation of `source` to `source`."""
    target = translation.text
    source_words = [word for word in find_words(source) if drop_invisible(source[word.start : word.end])]
    target_words = find_words(target)
    links = link_equal_words(
        source, source_words, target, target_words, find_word_links(translation, len(source_words))
    )
    sources = [UNALIGNED] * len(target)
    for word, link in zip(target_words, links, strict=True):
        if link is not None:
            map_word(source, source_words[link], target, word, sources)
    map_blanks(source_words, target_words, links, sources)
    return CharacterMap(sources, target_words, [link is not None for link in links])


def find_words(text: str) -> list[WordRange]:
    return [WordRange(*match.span()) for match in WORD.finditer(text)]


def find_word_links(translation: Translation, count: int) -> list[int | None]:
    """Returns the source word of each target word by attention; without any, that at the same relative position."""
    words = len(translation.text.split())
    links: list[int | None] = [None] * words
    if translation.hypotheses:
        for source, target in find_links(translation, translation.hypotheses[0]):
            if target < words and source < count and links[target] is None:
                links[target] = source
    if count and not any(link is not None for link in links):
        return [index * count // words for index in range(words)]
    return links


def link_equal_words(
    source: str,
    source_words: Sequence[WordRange],
    target: str,
    target_words: Sequence[WordRange],
    links: list[int | None],
) -> list[int | None]:
    """Returns the links, in which a word that stands exactly once in both texts is linked to itself alone."""
    source_texts = [source[word.start : word.end] for word in source_words]
    target_texts = [target[word.start : word.end] for word in target_words]
    source_counts, target_counts = Counter(source_texts), Counter(target_texts)
    indices = {
        text: index
        for index, text in enumerate(source_texts)
        if source_counts[text] == 1 == target_counts[text] and any(map(str.isalnum, text))
    }
    claimed = frozenset(indices.values())
    return [
        indices.get(text, None if link in claimed else link) for text, link in zip(target_texts, links, strict=True)
    ]


def map_word(source: str, source_word: WordRange, target: str, target_word: WordRange, sources: list[int]) -> None:
    """Maps the characters of a target word to those of its source word, in `sources`."""
    before, after = source[source_word.start : source_word.end], target[target_word.start : target_word.end]
    following = min(source_word.end, len(source) - 1)
    offset = find_unchanged(before, after)
    if offset is not None:
        end = offset + len(before)
        indices = [source_word.start] * offset + list(range(source_word.start, source_word.end))
        indices += [following] * (len(after) - end)
    else:
        indices = [following if index is None else source_word.start + index for index in map_changed(before, after)]
    sources[target_word.start : target_word.end] = indices


def find_unchanged(before: str, after: str) -> int | None:
    """Returns where `before` stands in `after`, in any case of letters; None if it does not."""
    offset = after.find(before)
    if offset < 0 and len(before) == len(after) and before.casefold() == after.casefold():
        return 0
    return offset if offset >= 0 else None


def map_changed(before: str, after: str) -> Iterator[int | None]:
    """Yields the index in `before` of each character of `after`; None for punctuation that follows the word."""
    old, new = EDGES.fullmatch(before), EDGES.fullmatch(after)
    if old is None or new is None:
        return
    first = min(old.start("core"), len(before) - 1)
    middle = (old.start("core") + old.end("core")) // 2 if old["core"] else 0
    surplus = len(new["opening"]) - len(old["opening"])
    yield from (first if index < surplus else index - surplus for index in range(len(new["opening"])))
    yield from [middle] * len(new["core"])
    for index in range(len(new["closing"])):
        yield old.start("closing") + index if index < len(old["closing"]) else None


def map_blanks(
    source_words: Sequence[WordRange],
    target_words: Sequence[WordRange],
    links: Sequence[int | None],
    sources: list[int],
) -> None:
    """Maps the blanks between two target words to those between their source words, if these are neighbours."""
    for index in range(len(target_words) - 1):
        left, right = links[index], links[index + 1]
        if left is None or right != left + 1:
            continue
        start, end = target_words[index].end, target_words[index + 1].start
        first, last = source_words[left].end, source_words[left + 1].start
        if first == last:
            continue
        exact = end - start == last - first
        sources[start:end] = range(first, last) if exact else [last - 1] * (end - start)
