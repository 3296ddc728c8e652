"""Finds what stands for the words between two marks (tags, emphasis, brackets), where attention hardly shows it.

The network is asked how likely it finds the translation without these words. What becomes much less likely stands for
them; if nothing does, the translation leaves them out, and the marks would enclose other words. Knows no network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nmt_cli.carrying.spans import find_partners
from nmt_cli.languages.rules import find_rules
from nmt_cli.search.sampling import TextId
from nmt_cli.text.characters import DOUBLE_QUOTES
from nmt_cli.text.marked import MarkedText
from nmt_cli.text.normalise import find_unspaced, normalise
from nmt_cli.text.words import choose_word_pattern, has_letters, has_word
from nmt_cli.translation.checks.coverage import is_content_word
from nmt_cli.translation.checks.marks import DOUBLE_QUOTE_SET
from nmt_cli.translation.placement.traced_text import TextRange
from nmt_cli.translation.repair.carry_lost import number_words
from nmt_cli.translation.repair.faults import PUNCTUATION
from nmt_cli.translation.result import Hypothesis, Translation
from nmt_cli.translation.segmentation.pieces import Piece

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.text.profile import TextProfile
    from nmt_cli.translation.batch import TranslationBatch

TokenScorer = Callable[
    [Sequence[str], Sequence[Sequence[int]]], list[tuple[float, ...]]
]  # of tokens, given source texts

CLEAR = 0.5  # share of a token's attention to some words from which it surely stands for one of them
EVIDENCE = 1.0  # nats by which a token is less likely without the words that it translates
NO_EVIDENCE = 0.3  # nats
TEXTS_PER_MARKED_WORD = 100  # a word between marks that occurs in more training texts than one of so many may be lost
LEAST_ATTENTION = 1e-6  # attention that each allowed position has at least


class DoubtfulPair(NamedTuple):
    """Words between two marks to which no token of a translation clearly attends."""

    words: str
    rest: str  # the text without them
    positions: Sequence[int]  # theirs, in the source
    drops: Sequence[float] = ()  # nats by which each token is less likely without them

    @property
    def is_lost(self) -> bool:
        """Whether nothing stands for them."""
        return max(self.drops) <= EVIDENCE


class MarkedPiece(NamedTuple):
    """A translated piece, and the characters of its text that marks enclose: its own, or those of a document."""

    piece: Piece
    translation: Translation
    enclosed: Sequence[TextRange]


def find_doubtful_pairs(pieces: Sequence[MarkedPiece], score: TokenScorer) -> list[list[DoubtfulPair]]:
    """Returns the doubtful pairs of the best translation of each piece."""
    doubtful = [list(list_unclear(marked)) for marked in pieces]
    asked = [(pair, pieces[index].translation.hypotheses[0]) for index, pairs in enumerate(doubtful) for pair in pairs]
    scores = score([pair.rest for pair, _ in asked], [best.tokens for _, best in asked]) if asked else []
    drops = (
        [with_words - without for with_words, without in zip(best.token_log_probabilities, values, strict=True)]
        for (_, best), values in zip(asked, scores, strict=True)
    )
    return [[pair._replace(drops=next(drops)) for pair in pairs] for pairs in doubtful]


def collect_marked(batch: TranslationBatch) -> dict[TextId, MarkedPiece]:
    """Returns the translated pieces of a batch that have marks."""
    marked: dict[TextId, MarkedPiece] = {}
    for index, line in enumerate(batch.lines):
        ids = batch.list_ids(index)
        pieces = [batch.pieces[text_id] for text_id in ids]
        for text_id, piece, of_document in zip(ids, pieces, list_marked(line, pieces), strict=True):
            translation = batch.translations.get(text_id)
            enclosed = [*list_enclosed(piece), *of_document]
            if translation is not None and (enclosed := [*enclosed, *list_unquoted(piece.text, translation.text)]):
                marked[text_id] = MarkedPiece(piece, translation, enclosed)
    return marked


def list_unquoted(text: str, target: str) -> Iterator[TextRange]:
    """Yields the characters between the quotation marks of a text whose translation has none.

    Quotation marks alone may be lost by custom, but a network often loses what they enclose with them.
    """
    if not DOUBLE_QUOTE_SET.isdisjoint(text) and DOUBLE_QUOTE_SET.isdisjoint(target):
        for match in re.finditer(rf"[{DOUBLE_QUOTES}]([^{DOUBLE_QUOTES}]+)[{DOUBLE_QUOTES}]", text):
            yield TextRange(*match.span(1))


def list_enclosed(piece: Piece) -> Iterator[TextRange]:
    """Yields the characters between each two marks that were taken out of a piece."""
    extracted = piece.masked.extracted
    for first, last in find_partners([mark.span.pair for mark in extracted]).items():
        if first < last:
            yield TextRange(extracted[first].offset, extracted[last].offset)


def list_marked(line: str, pieces: Sequence[Piece]) -> list[list[TextRange]]:
    """Returns, for each piece of a line, the characters that it reads of those between the marks of a document.

    Pieces have the characters of their line, in order, but not its blanks; those of other lines have no marks.
    """
    enclosed: list[list[TextRange]] = [[] for _ in pieces]
    if not isinstance(line, MarkedText):
        return enclosed
    texts = (piece.layout.text if piece.is_translated else piece.source_text for piece in pieces)
    inked = [(index, at) for index, text in enumerate(texts) for at, sign in enumerate(text) if sign != " "]
    if len(inked) != len(remove_blanks(line)):
        return enclosed
    for part in line.enclosed:
        between = slice(*(len(remove_blanks(line[:end])) for end in (part.start, part.stop)))
        for index, group in groupby(inked[between], itemgetter(0)):
            positions = [at for _, at in group]
            if pieces[index].is_translated:
                read = pieces[index].layout.read.find_target(positions[0], positions[-1] + 1)
                enclosed[index].append(TextRange(read.start, read.stop))
    return enclosed


def remove_blanks(text: str) -> str:
    """Returns a text in its normal form, without blanks."""
    return normalise(text).replace(" ", "")


def list_unclear(marked: MarkedPiece) -> Iterator[DoubtfulPair]:
    """Yields the pairs of marks to whose words no token clearly attends, before any is asked for.

    Of an empty translation, which is a fault by itself, nothing is asked.
    """
    text, translation = marked.piece.text, marked.translation
    enclosed = dict.fromkeys(words for part in marked.enclosed if (words := find_whole_words(text, *part)))
    if not enclosed or not translation.hypotheses or not translation.hypotheses[0].text:
        return
    best = translation.hypotheses[0]
    attention = best.attention[: -1 if best.finished else None, :-1]
    numbers = np.array(number_words(translation.source_pieces[:-1]))
    for start, end in enclosed:
        before, last = len(text[: start + 1].split()) - 1, len(text[:end].split())
        positions = np.flatnonzero((before <= numbers) & (numbers < last))
        rest = normalise(text[:start].rstrip() + text[end:]) if len(positions) else ""
        if has_letters(rest) and attention[:, positions].sum(axis=1).max(initial=0) < CLEAR:
            yield DoubtfulPair(text[start:end], rest, positions.tolist())


def find_whole_words(text: str, start: int, end: int) -> TextRange | None:
    """Returns the characters of the words that are wholly within [start, end), without marks; None without any."""
    words = (match.span() for match in choose_word_pattern(text).finditer(text) if has_word(match[0]))
    inside = [word for word in words if start <= word[0] and word[1] <= end]
    return TextRange(inside[0][0], inside[-1][1]) if inside else None


def settle_pairs(
    pieces: Mapping[TextId, MarkedPiece], score: TokenScorer, profile: TextProfile | None, language: str
) -> dict[TextId, Translation]:
    """Returns the translations of which a pair is doubtful, with attention to its words from what stands for them.

    If nothing does, the content words among them are left out; `profile` and `language` are the source's.
    """
    doubtful = find_doubtful_pairs(list(pieces.values()), score)
    return {
        text_id: settle_translation(marked.translation, pairs, profile, language)
        for (text_id, marked), pairs in zip(pieces.items(), doubtful, strict=True)
        if pairs
    }


def settle_translation(
    translation: Translation, pairs: Sequence[DoubtfulPair], profile: TextProfile | None, language: str
) -> Translation:
    """Returns a translation whose best hypothesis attends to the words of its doubtful pairs, or tells their loss."""
    best, *others = translation.hypotheses
    left_out = list(translation.left_out)
    for pair in pairs:
        if not pair.is_lost:
            best = attend_to_pair(best, pair)
        elif profile is not None:
            left_out += list_telling_words(pair.words, best.text, profile, language)
    return translation._replace(hypotheses=(best, *others), left_out=tuple(left_out))


def attend_to_pair(hypothesis: Hypothesis, pair: DoubtfulPair) -> Hypothesis:
    """Returns a hypothesis of which no word attends to a pair without need of it, and those surely in need to it alone.

    If those that attend to it most have no evidence, it is the words with the most evidence that need it.
    """
    end = len(hypothesis.pieces) - hypothesis.finished
    words = list(range(end)) if find_unspaced(hypothesis.text) else number_words(hypothesis.pieces[:end])
    attention: FloatArray = hypothesis.attention.copy()
    is_inside = np.isin(np.arange(attention.shape[1]), pair.positions)
    drops, attends = np.full(max(words) + 1, -np.inf), np.zeros(max(words) + 1, dtype=bool)
    np.maximum.at(drops, words, pair.drops[:end])
    np.logical_or.at(attends, words, is_inside[attention[:end].argmax(axis=1)])
    is_right = drops.max(where=attends, initial=0) > EVIDENCE
    stands = (attends & (drops > NO_EVIDENCE) if is_right else drops >= max(EVIDENCE, drops.max() / 2))[words]
    is_sure = (drops > EVIDENCE)[words]
    allowed = np.where(stands[:, None], is_inside | ~is_sure[:, None], ~is_inside)
    settled = np.where(allowed, attention[:end] + LEAST_ATTENTION, 0)
    attention[:end] = settled / settled.sum(axis=1, keepdims=True)
    return hypothesis._replace(attentions=(attention,))


def list_telling_words(text: str, target: str, profile: TextProfile, language: str) -> list[str]:
    """Returns the words of a text whose loss changes what is said: content words and negations."""
    words = (PUNCTUATION.sub("", word) for word in text.split())
    negations = find_rules(language).negations or "(?!)"
    return [
        word
        for word in words
        if is_content_word(word, target, profile, TEXTS_PER_MARKED_WORD) or re.fullmatch(negations, word, re.IGNORECASE)
    ]
