"""Finds content words that a translation leaves out.

The network is asked how likely it finds a translation of the sentence without the word. If no token of the translation
becomes less likely, none of them stands for the word. Only words that received little attention are tried, since each
takes a part of the time of a search. Knows no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.translation.checks.coverage import is_content_word, sum_attention
from nmt_cli.translation.placement.word_alignment import drop_silent, group_by_blanks
from nmt_cli.translation.repair.faults import PUNCTUATION

if TYPE_CHECKING:
    from nmt_cli.text.profile import TextProfile
    from nmt_cli.text.tags import TagSet
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.sentence_search import SentenceSearch


class ErasureLimits(NamedTuple):
    """What shows that a word is left out, by how rare it is: the rarer, the less needs to be shown."""

    texts_per_word: int  # of words that occur in at most one of so many training texts
    attention: float  # at most, in target subwords
    drop: float  # nats: the most by which a token of the translation becomes less likely without the word


# Chosen so that at most 1 % of references fail (benchmarks/log/left-out.md). The first that a word is within counts.
ERASURE_LIMITS = (
    ErasureLimits(300, 0.25, 0.5),
    ErasureLimits(4_000, 1.5, 0.3),
    ErasureLimits(1_000, 1.0, 0.15),
    ErasureLimits(300, 0.5, 0.15),
)
COMMONEST = min(limits.texts_per_word for limits in ERASURE_LIMITS)


class ErasedWord(NamedTuple):
    """A word of a sentence that may be left out, and the sentence without it."""

    word: str
    rest: str
    drop: float  # nats, as in `ErasureLimits`


def read_left_out(
    translations: Sequence[Translation], search: SentenceSearch, profile: TextProfile, tags: TagSet = ()
) -> list[Translation]:
    """Returns the translations with the content words that they leave out of their sentences, which have these tags."""
    left_out = find_left_out(translations, search, profile, tags)
    return [
        old._replace(left_out=tuple(dict.fromkeys((*old.left_out, *words)))) if words else old
        for old, words in zip(translations, left_out, strict=True)
    ]


def find_left_out(
    translations: Sequence[Translation], search: SentenceSearch, profile: TextProfile, tags: TagSet = ()
) -> list[tuple[str, ...]]:
    """Returns the content words of each sentence that its best translation leaves out."""
    erased = [
        (index, erased)
        for index, translation in enumerate(translations)
        for erased in erase_words(translation, profile)
    ]
    left_out: list[list[str]] = [[] for _ in translations]
    if erased:
        best = [translations[index].hypotheses[0] for index, _ in erased]
        least = [
            [value - word.drop for value in hypothesis.token_log_probabilities]
            for (_, word), hypothesis in zip(erased, best, strict=True)
        ]
        rows = search.batch_search.source.make_rows([word.rest for _, word in erased], None, [tags] * len(erased))
        likely = search.batch_search.find_as_likely(rows, [hypothesis.tokens for hypothesis in best], least)
        for (index, word), is_needless in zip(erased, likely, strict=True):
            left_out[index] += [word.word] if is_needless else []
    return list(map(tuple, left_out))


def erase_words(translation: Translation, profile: TextProfile) -> Iterator[ErasedWord]:
    """Yields the content words of a sentence that received little attention, and are not copied."""
    words = translation.source.split(" ")
    if not translation.hypotheses or len(words) < 2:
        return
    best = translation.hypotheses[0]
    rare = {index: bare for index, word in enumerate(words) if (bare := find_rare_word(word, best.text, profile))}
    attention = sum_by_word(translation, len(words)) if rare else []
    if not attention:
        return
    for index, bare in rare.items():
        count = profile.count_word(bare.lower())
        for limits in ERASURE_LIMITS:
            if attention[index] < limits.attention and count * limits.texts_per_word <= profile.texts:
                yield ErasedWord(bare, " ".join([*words[:index], *words[index + 1 :]]), limits.drop)
                break


def find_rare_word(word: str, translation: str, profile: TextProfile) -> str:
    """Returns a word without punctuation if it is rare enough to be tried, and not copied; else nothing."""
    bare = word if word.isalnum() else PUNCTUATION.sub("", word)
    is_tried = is_content_word(bare, translation, profile, COMMONEST) and not PLACEHOLDER_PATTERN.search(word)
    return bare if is_tried else ""


def sum_by_word(translation: Translation, words: int) -> list[float]:
    """Returns the attention that each word received; nothing if there is none, or if blanks do not separate words."""
    best, pieces = translation.hypotheses[0], translation.source_pieces[:-1]
    groups = drop_silent(pieces, group_by_blanks(pieces))
    received = sum_attention(best.attention, finished=best.finished) if len(groups) == words else None
    if received is None:
        return []
    values = received.tolist()
    return [sum(values[group[0] : group[-1] + 1]) for group in groups]
