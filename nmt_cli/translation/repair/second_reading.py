"""Second readings: what the network lost is carried, words between marks are found, doubtful marks are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN, Attempt, Context, LostKind, Span, compile_guard, find_partners
from nmt_cli.languages.rules import find_rules
from nmt_cli.search.constraints import TextId
from nmt_cli.text.aligned import MarkedText
from nmt_cli.text.characters import DOUBLE_QUOTES
from nmt_cli.text.normalise import find_unspaced, normalise
from nmt_cli.text.symbols import BLANK, PLACEHOLDERS
from nmt_cli.text.words import choose_word_pattern, has_letters, has_word
from nmt_cli.translation.checks.marks import DOUBLE_QUOTE_SET
from nmt_cli.translation.checks.words import is_content_word, sum_attention
from nmt_cli.translation.placement.alignment import drop_silent, group_by_blanks
from nmt_cli.translation.placement.traced_text import TextRange
from nmt_cli.translation.repair.faults import PUNCTUATION
from nmt_cli.translation.repair.ladder import choose_repaired
from nmt_cli.translation.result import Hypothesis, Repair, Translation
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.pieces import Piece

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.text.profile import TextProfile
    from nmt_cli.text.tags import TagSet
    from nmt_cli.translation.batch import TranslationBatch
    from nmt_cli.translation.search import Network


# Searches sentences again in which the network lost something it should have written, now carrying that.
#
# Dates, small numbers, brackets and slashes are left to the network, which usually writes them in its language's way
# (`IF_LOST` of `carrying.kinds`). The translation with fewer faults is kept. Knows no network.


PieceSearch = Callable[[Mapping[TextId, str]], Mapping[TextId, Translation]]


Loss = Mapping[LostKind, Sequence[Span]]  # what a translation lost of each kind


def repair_losses(
    pieces: dict[TextId, Piece],
    translations: dict[TextId, Translation],
    reader: LineReader,
    search: PieceSearch,
    kinds: Sequence[LostKind],
) -> None:
    """Carries what the network lost; changes the pieces and translations that thereby have fewer faults."""
    # 1. Find what each translation lost.
    guard = compile_guard(kinds)
    losses = {
        text_id: find_loss(pieces[text_id], translation, reader.context, kinds)
        for text_id, translation in translations.items()
        if guard.search(pieces[text_id].segment.text)
    }
    losses = {text_id: losses[text_id] for text_id in choose_repaired(id for id, loss in losses.items() if loss)}
    faults = {text_id: len(loss) for text_id, loss in losses.items()}
    while losses := {text_id: loss for text_id, loss in losses.items() if loss}:
        # 2. Carry it, as far as there are placeholders; a piece that then has no words is kept.
        carried = {text_id: carry_more(pieces[text_id], loss, reader) for text_id, loss in losses.items()}
        for text_id in [text_id for text_id, piece in carried.items() if not piece.is_translated]:
            pieces[text_id] = carried.pop(text_id)
            del translations[text_id], losses[text_id]
        # 3. Search again, for all kinds together.
        searched = search({text_id: piece.text for text_id, piece in carried.items()}) if carried else {}
        # 4. Keep the translation with fewer faults, and all repairs; else try again without what stays lost.
        for text_id, piece in carried.items():
            before, after = losses[text_id], find_loss(piece, searched[text_id], reader.context, kinds)
            helped = {kind: spans for kind, spans in before.items() if kind not in after}
            losses[text_id] = helped if len(helped) < len(before) else {}
            if len(helped) == len(before) and len(after) < faults[text_id]:
                earlier = (*translations[text_id].repairs, *searched[text_id].repairs)
                repairs = dict.fromkeys(Repair(kind.fault, kind.remedy) for kind in before)
                pieces[text_id] = piece
                translations[text_id] = searched[text_id]._replace(repairs=(*earlier, *repairs))


def find_loss(piece: Piece, translation: Translation, context: Context, kinds: Sequence[LostKind]) -> Loss:
    """Returns what a translation lost of a piece; of overlapping spans, the first kind's."""
    loss: dict[LostKind, list[Span]] = {}
    attempt = make_attempt(piece, translation)
    for kind in kinds:
        lost = kind.find_lost(attempt, context) if kind.may_be_in(attempt.text, context) else []
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
    """Returns a piece that carries the lost spans, as far as there is room, instead of spans within them."""
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

    An article may precede the word attended to on the left.
    """
    left = len(text[:offset].split()) - 1
    either = {(left, left + 1), (left - 1, left + 1)}
    return not translation.hypotheses or not either.isdisjoint(pairwise(list_attended(translation)))


def list_attended(translation: Translation) -> list[int]:
    """Returns the source word that each word of the best hypothesis attends to most; the ends are no words."""
    best = translation.hypotheses[0]
    source_words = number_words(translation.source_pieces)
    words: dict[int, list[int]] = {}
    for token, word in enumerate(number_words(best.pieces[: -1 if best.finished else None])):
        words.setdefault(word, []).append(token)
    attention = best.attention[:, :-1]
    return [source_words[int(attention[tokens].mean(axis=0).argmax())] for tokens in words.values()]


def number_words(pieces: Sequence[str]) -> list[int]:
    """Returns the word number of each piece; the first may or may not begin with a blank."""
    return list(accumulate(index > 0 and piece.startswith(BLANK) for index, piece in enumerate(pieces)))


# Finds content words that a translation leaves out.
#
# The network is asked how likely it finds a translation of the sentence without the word. If no token of the
# translation becomes less likely, none of them stands for the word. Only words that received little attention are
# tried, since each takes a part of the time of a search. Knows no network.


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
    translations: Sequence[Translation], network: Network, profile: TextProfile, tags: TagSet = ()
) -> list[Translation]:
    """Returns the translations with the content words that they leave out of their sentences, which have these tags."""
    left_out = find_left_out(translations, network, profile, tags)
    return [
        old._replace(left_out=tuple(dict.fromkeys((*old.left_out, *words)))) if words else old
        for old, words in zip(translations, left_out, strict=True)
    ]


def find_left_out(
    translations: Sequence[Translation], network: Network, profile: TextProfile, tags: TagSet = ()
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
        rows = network.source.make_rows([word.rest for _, word in erased], None, [tags] * len(erased))
        likely = network.find_as_likely(rows, [hypothesis.tokens for hypothesis in best], least)
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


# Finds what stands for the words between two marks (tags, emphasis, brackets), where attention hardly shows it.
#
# The network is asked how likely it finds the translation without these words. What becomes much less likely stands for
# them; if nothing does, the translation leaves them out, and the marks would enclose other words. Knows no network.


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


# Reads sentences a second time, without marks that may mislead the network, and keeps the likelier translation.
#
# Words in brackets or quotes are rare in most training text. A network translates them by nonsense, or not at all,
# where no mark is lost that a check could see: `(now)` becomes `(kehr)`. Knows no network.


def read_again(
    pieces: dict[TextId, Piece],
    translations: dict[TextId, Translation],
    reader: LineReader,
    search: PieceSearch,
    score: TokenScorer,
) -> None:
    """Changes the pieces and translations of which another reading has a likelier translation, with no more lost."""
    # 1. Take the marks out.
    guard = compile_guard(reader.doubtful)
    others = {
        text_id: without_doubtful(pieces[text_id], translation, reader)
        for text_id, translation in translations.items()
        if reader.doubtful and guard.search(pieces[text_id].segment.text)
    }
    texts = {
        text_id: other.text
        for text_id, other in others.items()
        if other.text != pieces[text_id].text and other.is_translated
    }
    # 2. Search again, and keep the better translation.
    texts = {text_id: texts[text_id] for text_id in choose_repaired(texts)}
    for text_id, new in (search(texts) if texts else {}).items():
        piece, old = others[text_id], translations[text_id]
        if order(piece, new, reader, score) > order(pieces[text_id], old, reader, score):
            pieces[text_id] = piece
            translations[text_id] = new._replace(repairs=(*old.repairs, *new.repairs))


def without_doubtful(piece: Piece, translation: Translation, reader: LineReader) -> Piece:
    """Returns a piece without the marks that may mislead; the same if there are none."""
    attempt, spans = make_attempt(piece, translation), list[Span]()
    for kind in reader.doubtful:
        covered = attempt._replace(spans=[*piece.segment.spans, *spans])
        spans += kind.find_doubtful(covered) if kind.may_be_in(attempt.text, reader.context) else []
    return reader.with_spans(piece, [*piece.segment.spans, *spans]) if spans else piece


def order(piece: Piece, translation: Translation, reader: LineReader, score: TokenScorer) -> tuple[int, float]:
    """Returns a value that is higher for a better translation: one that lost less, or else a likelier one."""
    if not translation.hypotheses:
        return 0, -inf
    loss = find_loss(piece, translation, reader.context, reader.if_lost)
    (pairs,) = find_doubtful_pairs([MarkedPiece(piece, translation, list(list_enclosed(piece)))], score)
    return -len(loss) - sum(pair.is_lost for pair in pairs), translation.hypotheses[0].score
