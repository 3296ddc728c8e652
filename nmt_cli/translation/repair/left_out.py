"""Finds content words that a translation leaves out, and searches these sentences again.

The network is asked how likely it finds a translation of the sentence without the word. If no token of the translation
becomes less likely, none of them stands for the word. Only words that received little attention are tried, since each
takes a part of the time of a search. Knows no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.translation.checks.coverage import is_content_word, measure_source_words, sum_attention
from nmt_cli.translation.repair.faults import PUNCTUATION, strip_words
from nmt_cli.translation.repair.ladder import widen_beam
from nmt_cli.translation.result import Repair

if TYPE_CHECKING:
    from nmt_cli.search.config import SearchConfig
    from nmt_cli.text.profile import TextProfile
    from nmt_cli.text.tags import TagSet
    from nmt_cli.translation.result import Hypothesis, Translation
    from nmt_cli.translation.sentence_search import PieceTranslations, SentenceSearch


class ErasureLimits(NamedTuple):
    """What shows that a word is left out, by how rare it is: the rarer, the less needs to be shown."""

    texts_per_word: int  # of words that occur in at most one of so many training texts
    attention: float  # at most, in target subwords
    drop: float  # nats: the most by which a token of the translation becomes less likely without the word


# Chosen so that at most 1 % of references fail (benchmarks/log/left-out.md).
ERASURE_LIMITS = (ErasureLimits(4_000, 1.5, 0.3), ErasureLimits(1_000, 1.0, 0.15), ErasureLimits(300, 0.5, 0.15))
CLEAR_DROP = 2.0  # nats: a token that translates a word becomes less likely by more, which one of another word may not
LENGTH_SHARE = 0.5  # of the tokens that a source allows: longer hypotheses are slow nonsense
LOSS_PER_WORD = 3.0  # nats: a translation may be less likely by this for each word that it does not leave out


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
    return [old._replace(left_out=words) if words else old for old, words in zip(translations, left_out, strict=True)]


def search_left_out(
    translations: PieceTranslations, search: SentenceSearch, profile: TextProfile, config: SearchConfig
) -> None:
    """Searches sentences again of which words are left out, and keeps the translations that leave out fewer."""
    # 1. Search in a wider beam, in which a hypothesis that skips words ranks lower.
    faulty = {text_id: old for text_id, old in translations.items() if old.left_out}
    if not faulty:
        return
    wide = replace(widen_beam(config, search.repairer.ngram_size), limit_placeholders=True)
    wide = replace(wide, n_best=wide.beam_size, length_share=LENGTH_SHARE)
    searched = search.search({text_id: old.source for text_id, old in faulty.items()}, wide)
    # 2. Find what the hypotheses that are otherwise as good leave out.
    candidates = [
        (text_id, put_first(hypothesis, old))
        for text_id, old in faulty.items()
        for hypothesis in searched[text_id].hypotheses
        if is_as_good(hypothesis, old, search, config)
    ]
    left_out = find_left_out([new for _, new in candidates], search, profile, config.tags)
    # 3. Keep the first of those that leave out least.
    for (text_id, new), words in zip(candidates, left_out, strict=True):
        gained = len(faulty[text_id].left_out) - len(words)
        is_likely = measure_loss(new.hypotheses[0], faulty[text_id]) <= LOSS_PER_WORD * gained
        if is_likely and len(words) < len(translations[text_id].left_out):
            translations[text_id] = new._replace(left_out=words)


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
    """Yields the content words of a sentence that received little attention, and are not copied.

    Words that another translation left out are among them, whatever attention they received; that this one has them
    must be clearer.
    """
    words = translation.source.split(" ")
    if not translation.hypotheses or len(words) < 2:
        return
    best = translation.hypotheses[0]
    received = sum_attention(best.attention, finished=best.finished)
    measured = [] if received is None else measure_source_words(translation.source_pieces[:-1], received)
    if len(measured) != len(words):
        return  # words that blanks do not separate
    for index, (word, (_, attention)) in enumerate(zip(words, measured, strict=True)):
        bare = PUNCTUATION.sub("", word)
        if PLACEHOLDER_PATTERN.search(word):
            continue
        for limits in ERASURE_LIMITS:
            was_left_out = bare in translation.left_out
            is_suspect = was_left_out or attention < limits.attention
            if is_suspect and is_content_word(bare, best.text, profile, limits.texts_per_word):
                rest = " ".join([*words[:index], *words[index + 1 :]])
                yield ErasedWord(bare, rest, CLEAR_DROP if was_left_out else limits.drop)
                break


def put_first(hypothesis: Hypothesis, old: Translation) -> Translation:
    """Returns a translation with another best hypothesis, which leaves out fewer words."""
    others = old.hypotheses[: len(old.hypotheses) - 1]
    repairs = (*old.repairs, Repair("untranslated", "wider beam"))
    return old._replace(hypotheses=(hypothesis, *others), repairs=repairs)


def is_as_good(hypothesis: Hypothesis, old: Translation, search: SentenceSearch, config: SearchConfig) -> bool:
    """Whether a hypothesis is likely enough to be kept, has no fault, and repeats no more words than before."""
    loses_much = measure_loss(hypothesis, old) > LOSS_PER_WORD * len(old.left_out)
    if loses_much or count_repeated(hypothesis) > count_repeated(old.hypotheses[0]):
        return False
    return search.repairer.judge_hypothesis(old.source, hypothesis, config) is None


def measure_loss(hypothesis: Hypothesis, old: Translation) -> float:
    """Returns by how many nats a hypothesis is less likely than the old translation."""
    return old.hypotheses[0].log_probability - hypothesis.log_probability


def count_repeated(hypothesis: Hypothesis) -> int:
    """Returns how many words of a hypothesis it had before, function words included."""
    words = strip_words(hypothesis.text)
    return len(words) - len(set(words))
