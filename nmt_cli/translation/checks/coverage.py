"""Looks for content words and labels that nothing in a translation stands for. Knows attention, but no network.

The evidence is that the translation does not need a word (`repair.left_out`) or, if it was read back by a model of the
other direction, the little attention that the word received and the probability that this model gives to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.carrying.names.copied import find_missing_names
from nmt_cli.text.symbols import SENTENCE_END
from nmt_cli.text.words import has_letters
from nmt_cli.translation.checks.context import CheckContext, join_named
from nmt_cli.translation.result import FailedCheck

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.text.profile import TextProfile
    from nmt_cli.translation.result import Translation

# Chosen on 1,000 development pairs of each direction, so that at most 1 % of the references fail
# (benchmarks/log/left-out.md). Attention is measured in target subwords.
READ_BACK = ((0.3, -5.0), (1.0, -14.0))  # attention and log-probability below which a word has no translation
TEXTS_PER_WORD = 150  # a word that occurs in more training texts than one of so many is a function word
FEWEST_LETTERS = 3  # of a content word


class SourceWord(NamedTuple):
    """A word as the network read it, and the attention that it received, in target subwords."""

    text: str
    attention: float


def check_coverage(translation: Translation, context: CheckContext) -> FailedCheck | None:
    """Looks for content words that nothing translates."""
    profile = context.profile
    if profile is None or profile.source is None or translation.is_recalled:
        return None
    neglected = find_neglected(translation) if translation.read_back is not None else ()
    lost = [word.text for word in neglected if lacks_translation(word, translation, profile.source)]
    lost += [word for word in translation.left_out if word.lower() not in translation.text.lower()]
    lost += [
        name[0] for name in find_missing_names(translation.source, translation.text, profile.source, profile.target)
    ]
    return FailedCheck("untranslated", f"nothing translates {join_named(lost)}") if lost else None


def check_labels(translation: Translation, context: CheckContext) -> FailedCheck | None:
    """Looks for labels that were kept, since the network knows no likely translation."""
    return FailedCheck("labels", f"not translated: {join_named(translation.kept)}") if translation.kept else None


def lacks_translation(word: SourceWord, translation: Translation, profile: TextProfile) -> bool:
    """Whether a word that received little attention is a content word that is unlikely to be read back."""
    key = word.text.lower()
    if not is_content_word(key, translation.text, profile, TEXTS_PER_WORD):
        return False
    likelihood = (translation.read_back or {}).get(key, 0.0)
    return any(word.attention < attention and likelihood < least for attention, least in READ_BACK)


def is_content_word(word: str, translation: str, profile: TextProfile, texts_per_word: int) -> bool:
    """Whether a word is not copied to its translation, and occurs at most once in so many training texts."""
    key = word.lower()
    if len(key) < FEWEST_LETTERS or profile.count_word(key) * texts_per_word > profile.texts:
        return False
    return has_letters(key) and not any(map(str.isdigit, key)) and key not in translation.lower()


def find_neglected(translation: Translation) -> Iterator[SourceWord]:
    """Yields the words of a source that received little attention from the best hypothesis, piece by piece."""
    most = max(attention for attention, _ in READ_BACK)
    best, row, column = translation.hypotheses[0], 0, 0
    for attention in best.attentions:
        rows, columns = attention.shape
        source = translation.source_pieces[column : column + columns]
        target = best.pieces[row : row + rows]
        row, column = row + rows, column + columns
        if source[-1:] != (SENTENCE_END,):
            continue  # a picture
        received = sum_attention(attention, finished=target[-1:] == (SENTENCE_END,))
        if received is not None and received.min(initial=most) < most:
            yield from (word for word in measure_source_words(source[:-1], received) if word.attention < most)


def sum_attention(attention: FloatArray, *, finished: bool) -> FloatArray | None:
    """Returns the attention (S - 1) that each source subword received from all target subwords (T, S).

    That of each target subword sums to 1 without the ends of the sentences; None for a network without attention.
    """
    inner = attention[: -1 if finished else None, :-1]
    sums = inner.sum(axis=1, keepdims=True)
    if not inner.size or not sums.all():
        return None
    received: FloatArray = (inner / sums).sum(axis=0)
    return received


def measure_source_words(pieces: Sequence[str], received: FloatArray) -> list[SourceWord]:
    """Returns the words that subwords spell, each with the attention of its subwords and of the marks around it."""
    from nmt_cli.translation.placement.word_alignment import drop_silent, group_by_blanks, spell_word  # rarely needed

    groups = drop_silent(pieces, group_by_blanks(pieces))
    return [SourceWord(spell_word(pieces, group), float(received[group].sum())) for group in groups]
