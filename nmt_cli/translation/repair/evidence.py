"""Finds evidence that a translation lost something: spans, words between marks, content words.

For "Open the file (now)." and "Öffne die Datei (kehr).", `list_unclear` yields the pair around "now" with the text
without it, "Open the file.". If "kehr" is no less likely without it, "now" has no translation, and `settle_translation`
notes it as left out. Else "kehr" is made to attend to "now", so that marks enclose the right words. `repair.asks` asks
the network.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from nmt_cli.arrays.types import UNKNOWN, FloatArray
from nmt_cli.carrying.codes import COMMON_SHARE
from nmt_cli.carrying.names import make_forms
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN, Attempt, Context, LostKind, Span, find_partners
from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.slips import Slips
from nmt_cli.sources.source import Source
from nmt_cli.text.aligned import MarkedText
from nmt_cli.text.characters import DOUBLE_QUOTES
from nmt_cli.text.normalise import find_unspaced, normalise
from nmt_cli.text.profile import CorpusProfile, TextProfile
from nmt_cli.text.symbols import BLANK, PLACEHOLDERS
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.words import choose_word_pattern, has_letters, has_word
from nmt_cli.translation.checks.marks import DOUBLE_QUOTE_SET
from nmt_cli.translation.checks.words import is_content_word
from nmt_cli.translation.placement.alignment import drop_silent, group_by_blanks
from nmt_cli.translation.placement.traced_text import TextRange
from nmt_cli.translation.repair.faults import PUNCTUATION
from nmt_cli.translation.result import Hypothesis, Translation
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.pieces import Piece

Loss = Mapping[LostKind, Sequence[Span]]  # what a translation lost of each kind


def find_loss(piece: Piece, translation: Translation, context: Context, kinds: Sequence[LostKind]) -> Loss:
    """Returns the spans of a piece that a translation lost."""
    attempt = make_attempt(piece, translation)
    may_be = (kind for kind in kinds if kind.may_be_in(attempt.text, context))
    return join_loss((kind, kind.list_carried(attempt, context)) for kind in may_be)


def join_loss(losses: Iterable[tuple[LostKind, Sequence[Span]]]) -> Loss:
    """Merges the losses of several kinds; where spans overlap, the first kind takes precedence."""
    loss: dict[LostKind, list[Span]] = {}
    for kind, lost in losses:
        others = [other for spans in loss.values() for other in spans]
        if new := [span for span in lost if not any(is_overlapping(span, other) for other in others)]:
            loss[kind] = new
    return loss


def make_attempt(piece: Piece, translation: Translation) -> Attempt:
    """Returns a piece with the network's translation of it."""

    def finds_place(span: Span) -> bool:
        offset = next(extracted.offset for extracted in piece.masked.extracted if extracted.span == span)
        return attends_to_neighbours(piece.text, offset, translation)

    return Attempt(piece.segment.text, piece.segment.spans, piece.text, translation.text, finds_place)


def carry_more(piece: Piece, loss: Loss, reader: LineReader) -> Piece:
    """Returns a piece that protects as many lost spans as there is room for, instead of spans within them."""
    lost = [span for spans in loss.values() for span in spans]
    kept = [span for span in piece.segment.spans if not any(is_overlapping(span, other) for other in lost)]
    room = len(PLACEHOLDERS) - sum(not span.is_extracted for span in kept)
    masked = [span for span in lost if not span.is_extracted][:room]
    return reader.with_spans(piece, [*kept, *(span for span in lost if span.is_extracted), *masked])


def is_overlapping(span: Span, other: Span) -> bool:
    """Whether two spans share characters."""
    return span.start < other.end and other.start < span.end


def attends_to_neighbours(text: str, offset: int, translation: Translation) -> bool:
    """Whether two adjacent words of a translation attend to the words left and right of an offset in a text.

    On the left, one word may be skipped, such as an article.
    """
    left = len(text[:offset].split()) - 1
    either = {(left, left + 1), (left - 1, left + 1)}
    return not translation.hypotheses or not either.isdisjoint(pairwise(list_attended(translation)))


def list_attended(translation: Translation) -> list[int]:
    """Returns the source word to which each word of the best hypothesis attends most, ignoring the sentence ends."""
    best = translation.hypotheses[0]
    source_words = number_words(translation.source_pieces)
    words: dict[int, list[int]] = {}
    for token, word in enumerate(number_words(best.pieces[: -1 if best.finished else None])):
        words.setdefault(word, []).append(token)
    attention = best.attention[:, :-1]
    return [source_words[int(attention[tokens].mean(axis=0).argmax())] for tokens in words.values()]


def number_words(pieces: Sequence[str]) -> list[int]:
    """Returns the word number of each piece; the first piece may or may not begin with a space."""
    return list(accumulate(index > 0 and piece.startswith(BLANK) for index, piece in enumerate(pieces)))


# Content words that no token clearly attends to may be left out; each is tried in a part of the time of a search.


# Chosen so that at most 1 % of references fail (benchmarks/log/left-out.md).
TEXTS_PER_TRIED_WORD = 1_000  # a word that occurs in more training texts than one of so many is not tried
UNCLEAR = 0.4  # attention of a token to a word, up to which the word may stand for nothing
MOST_DROP = 1.5  # nats by which a token of the translation becomes less likely without a word that is left out
COMMON_WORD_COUNT = 50  # occurrences of a word that cannot translate one that training never had: "König" for a kettle
LEAST_BELIEVED = -0.9  # mean log-probability of a token, below which the network does not know why it is there


class ErasedWord(NamedTuple):
    """A word of a sentence that may be left out, and the sentence without it."""

    word: str
    rest: str
    drop: float  # nats: the most by which a token may become less likely; infinite if it is lost in any case


def erase_words(
    translation: Translation, profile: CorpusProfile, is_new: Callable[[str], bool]
) -> Iterator[ErasedWord]:
    """Yields those content words of a sentence that are not copied and may lack a translation.

    `is_new` says whether training never had a word. If the network hardly believes in a translation, such as a person's
    free one, erasing words shows nothing.
    """
    words, source = translation.source.split(" "), profile.source
    if source is None or not translation.hypotheses or len(words) < 2:
        return
    best = translation.hypotheses[0]
    if sum(best.token_log_probabilities) <= LEAST_BELIEVED * len(best.token_log_probabilities):
        return
    rare = {index: bare for index, word in enumerate(words) if (bare := find_rare_word(word, best.text, source))}
    known = profile.lexicon.rate({bare.lower() for bare in rare.values()}, best.text)
    rare = {index: bare for index, bare in rare.items() if known.get(bare.lower(), 1)}
    attention = attend_to_words(translation, len(words)) if rare else None
    if attention is None:
        return
    for index, bare in rare.items():
        token = int(attention[:, index].argmax())
        is_unclear = attention[token, index] <= UNCLEAR
        if is_unclear or (
            is_new(bare) and profile.target.count_word(spell_around(best.pieces, token)) >= COMMON_WORD_COUNT
        ):
            rest = " ".join([*words[:index], *words[index + 1 :]])
            yield ErasedWord(bare, rest, MOST_DROP if is_unclear else math.inf)


def find_new_words(profile: TextProfile, language: str) -> Callable[[str], bool]:
    """Returns a test for new words: training had none of their forms or parts, nor a word that they may misspell."""
    forms, slips = make_forms(profile.words, language), Slips(profile)
    return lambda word: word.isalpha() and not forms.has_all(word, "") and slips.find_best(word.lower()) is None


def spell_around(pieces: Sequence[str], token: int) -> str:
    """Returns the word that contains a token, in lower case and without punctuation."""
    numbers = number_words(pieces)
    text = "".join(piece for piece, number in zip(pieces, numbers, strict=True) if number == numbers[token])
    return PUNCTUATION.sub("", text.replace(BLANK, "")).lower()


def find_rare_word(word: str, translation: str, profile: TextProfile) -> str:
    """Returns a word without punctuation if it is rare enough to be tried, and not copied; else an empty string."""
    bare = word if word.isalnum() else PUNCTUATION.sub("", word)
    is_tried = is_content_word(bare, translation, profile, TEXTS_PER_TRIED_WORD)
    return bare if is_tried and not PLACEHOLDER_PATTERN.search(word) else ""


def attend_to_words(translation: Translation, words: int) -> FloatArray | None:
    """Returns the attention (T, words) of each token; None without attention, or if spaces do not separate words."""
    best, pieces = translation.hypotheses[0], translation.source_pieces[:-1]
    groups = drop_silent(pieces, group_by_blanks(pieces))
    attention = best.attention[: -1 if best.finished else None, :-1]
    if len(groups) != words or not attention.any():
        return None
    return np.stack([attention[:, group].sum(axis=1) for group in groups], axis=1)


# Attention hardly shows which words stand for those between two marks (tags, emphasis, brackets).

CLEAR = 0.6  # share of a token's attention to some words from which it surely stands for one of them
HARDLY_CLEAR = 0.25  # share below which it hardly does
# Nats by which a token is less likely without the words that it translates, by the attention that it pays them. One
# that pays them less stands where something is missing: behind "pay the rent", "on" is less likely after "pay the".
EVIDENCE = 1.0
NO_EVIDENCE = 0.3
NEEDED = ((0.0, 2 * EVIDENCE), (0.1, EVIDENCE), (0.3, NO_EVIDENCE))
TEXTS_PER_MARKED_WORD = 100  # a word between marks that occurs in more training texts than one of so many may be lost
LEAST_ATTENTION = 1e-6  # attention that each allowed position has at least


class DoubtfulPair(NamedTuple):
    """Words between two marks, where it is unclear which tokens of a translation stand for them."""

    words: str
    rest: str  # the text without them
    positions: Sequence[int]  # theirs, in the source
    drops: Sequence[float] = ()  # nats by which each token that needs them is less likely without them; 0 for others

    def compare(self, translation: Translation, values: Sequence[float]) -> DoubtfulPair:
        """Returns the pair with its `drops`: by how much each token of a translation is less likely without the words.

        `values` are the log-probabilities of the tokens without those words.
        """
        best = translation.hypotheses[0]
        drops = np.subtract(best.token_log_probabilities, values)
        shares = best.attention[:, self.positions].sum(axis=1)
        is_needed = np.any([(shares >= share) & (drops > least) for share, least in NEEDED], axis=0)
        return self._replace(drops=np.where(is_needed, drops, 0.0).tolist())

    def leave_grammar(self, translation: Translation, source: TextProfile, target: TextProfile) -> DoubtfulPair:
        """Returns a pair around a word or label without extra function words at its edges: auf [Speichern] im."""
        words = [PUNCTUATION.sub("", word) for word in self.words.split()]
        if len(words) > 1 and any(word[:1].islower() for word in words):
            return self
        best, drops = translation.hypotheses[0], list(self.drops)
        pieces = best.pieces[: -1 if best.finished else None]
        in_need = [token for token in range(len(pieces)) if drops[token]]
        common = {
            token for token in in_need if target.count_word(spell_around(pieces, token)) >= COMMON_SHARE * target.texts
        }
        spare = len(common) - sum(source.count_word(word) >= COMMON_SHARE * source.texts for word in words)
        while spare > 0 and len(in_need) > 1 and (edges := common.intersection((in_need[0], in_need[-1]))):
            token = min(edges, key=drops.__getitem__)
            in_need.remove(token)
            drops[token], spare = 0.0, spare - 1
        return self._replace(drops=drops)

    @property
    def is_lost(self) -> bool:
        """Whether nothing in the translation stands for the words."""
        return not any(self.drops)


class MarkedPiece(NamedTuple):
    """A translated piece, and the characters of its text that its own or a document's marks enclose."""

    piece: Piece
    translation: Translation
    enclosed: Sequence[TextRange]


def list_unquoted(text: str, target: str) -> Iterator[TextRange]:
    """Yields the characters between the quotation marks of a text whose translation has none.

    It may be customary to drop quotation marks alone, but a network often drops what they enclose as well.
    """
    if not DOUBLE_QUOTE_SET.isdisjoint(text) and DOUBLE_QUOTE_SET.isdisjoint(target):
        for match in re.finditer(rf"[{DOUBLE_QUOTES}]([^{DOUBLE_QUOTES}]+)[{DOUBLE_QUOTES}]", text):
            yield TextRange(*match.span(1))


def list_enclosed(piece: Piece) -> Iterator[TextRange]:
    """Yields the characters between each pair of marks that was taken out of a piece."""
    extracted = piece.masked.extracted
    for first, last in find_partners([mark.span.pair for mark in extracted]).items():
        if first < last:
            yield TextRange(extracted[first].offset, extracted[last].offset)


def list_marked(line: str, pieces: Sequence[Piece]) -> list[list[TextRange]]:
    """Returns, for each piece of a line, the characters that a document's marks enclose.

    The pieces must together have all characters of the line except spaces; otherwise, nothing counts as enclosed.
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
    """Returns a text in its normal form, without spaces."""
    return normalise(text).replace(" ", "")


def list_unclear(marked: MarkedPiece) -> Iterator[DoubtfulPair]:
    """Yields the pairs of marks whose words have no token that clearly begins their translation.

    An empty translation, which is a fault in itself, yields nothing.
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
        if has_letters(rest) and not begins_clearly(attention[:, positions].sum(axis=1)):
            yield DoubtfulPair(text[start:end], rest, positions.tolist())


def begins_clearly(shares: FloatArray) -> bool:
    """Whether a token clearly attends to some words and the one before it hardly does, by their `shares`."""
    first = int(np.argmax(shares >= CLEAR - HARDLY_CLEAR / 2)) if len(shares) else 0
    return bool(shares[first : first + 1].max(initial=0) >= CLEAR and (not first or shares[first - 1] < HARDLY_CLEAR))


def find_whole_words(text: str, start: int, end: int) -> TextRange | None:
    """Returns the characters of the words wholly within [start, end), without punctuation; None if there are none."""
    words = (match.span() for match in choose_word_pattern(text).finditer(text) if has_word(match[0]))
    inside = [word for word in words if start <= word[0] and word[1] <= end]
    return TextRange(inside[0][0], inside[-1][1]) if inside else None


def settle_translation(
    translation: Translation, pairs: Sequence[DoubtfulPair], profile: TextProfile | None, language: str
) -> Translation:
    """Returns a translation whose best hypothesis attends to the words of the pairs, or notes them as left out."""
    best, *others = translation.hypotheses
    left_out, unplaced = list(translation.left_out), list(translation.unplaced)
    for pair in pairs:
        if not pair.is_lost:
            best = attend_to_pair(best, pair)
        elif words := profile is not None and list_telling_words(pair.words, best.text, profile, language):
            left_out += words
        else:
            unplaced.append(pair.words)
    return translation._replace(hypotheses=(best, *others), left_out=tuple(left_out), unplaced=tuple(unplaced))


def attend_to_pair(hypothesis: Hypothesis, pair: DoubtfulPair) -> Hypothesis:
    """Returns a hypothesis in which only words that need a pair attend to it, and words that surely do, to it alone.

    If the words that attend to it most have no evidence, the words with the most evidence count as needing it.
    """
    end = len(hypothesis.pieces) - hypothesis.finished
    words = list(range(end)) if find_unspaced(hypothesis.text) else number_words(hypothesis.pieces[:end])
    attention: FloatArray = hypothesis.attention.copy()
    is_inside = np.isin(np.arange(attention.shape[1]), pair.positions)
    drops, attends = np.full(max(words) + 1, -np.inf), np.zeros(max(words) + 1, dtype=bool)
    shares = np.zeros(max(words) + 1)
    np.maximum.at(drops, words, pair.drops[:end])
    np.maximum.at(shares, words, attention[:end, is_inside].sum(axis=1))
    np.logical_or.at(attends, words, is_inside[attention[:end].argmax(axis=1)])
    needs = drops >= drops.max() / 2
    is_right = drops.max(where=attends, initial=0) > min(EVIDENCE, drops.max() / 2)
    stands = attends & (drops > 0) if is_right else needs
    for word in range(len(stands) - 2, -1, -1):  # an article; words behind are unlikely after what was left out
        stands[word] |= needs[word] and stands[word + 1] and shares[word] >= HARDLY_CLEAR
    stands = stands[words]
    is_sure = (drops > EVIDENCE)[words]
    allowed = np.where(stands[:, None], is_inside | ~is_sure[:, None], ~is_inside)
    settled = np.where(allowed, attention[:end] + LEAST_ATTENTION, 0)
    attention[:end] = settled / settled.sum(axis=1, keepdims=True)
    return hypothesis._replace(attentions=(attention,))


def list_telling_words(text: str, target: str, profile: TextProfile, language: str) -> list[str]:
    """Returns the words of a text whose loss changes its meaning: content words and negations."""
    words = (PUNCTUATION.sub("", word) for word in text.split())
    negations = find_rules(language).negations or "(?!)"
    return [
        word
        for word in words
        if is_content_word(word, target, profile, TEXTS_PER_MARKED_WORD) or re.fullmatch(negations, word, re.IGNORECASE)
    ]


def without_doubtful(piece: Piece, translation: Translation, reader: LineReader) -> Piece:
    """Returns a piece without the marks that may mislead; unchanged if there are none."""
    attempt, spans = make_attempt(piece, translation), list[Span]()
    for kind in reader.doubtful:
        covered = attempt._replace(spans=[*piece.segment.spans, *spans])
        spans += kind.find_doubtful(covered) if kind.may_be_in(attempt.text, reader.context) else []
    return reader.with_spans(piece, [*piece.segment.spans, *spans]) if spans else piece


# A word for which the network has no token is copied from what it attended to.


def replace_unknown(translation: Translation, source: Source, target: Tokenizer) -> Translation:
    """Replaces each unknown token of a translation by the source word that it attended to most (Luong et al. 2015).

    Returns it unchanged if the source side has no unknown words.
    """
    if source.subwords is None or not source.subwords.has_unknown:
        return translation
    surfaces = source.subwords.list_surfaces(normalise(translation.source))[: len(translation.source_pieces) - 1]
    hypotheses = (replace_in_hypothesis(hypothesis, surfaces, target) for hypothesis in translation.hypotheses)
    return translation._replace(hypotheses=tuple(hypotheses))


def replace_in_hypothesis(hypothesis: Hypothesis, surfaces: list[str], target: Tokenizer) -> Hypothesis:
    """Replaces unknown tokens in one hypothesis; `surfaces` are the source words as written."""
    unknown = [index for index, token in enumerate(hypothesis.tokens) if token == UNKNOWN]
    # Leave out the end of the sentence, and placeholders: each stands for one span, which must not occur twice.
    words = [index for index, surface in enumerate(surfaces) if not PLACEHOLDER_PATTERN.search(surface)]
    if not (unknown and words):
        return hypothesis
    most_attended = hypothesis.attention[np.ix_(unknown, words)].argmax(axis=1)
    replacements = tuple(surfaces[words[column]] for column in most_attended.tolist())
    return hypothesis._replace(text=target.decode_with_unknown(hypothesis.tokens, replacements), unknown=replacements)
