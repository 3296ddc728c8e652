"""Forced decoding: what a model thinks of a translation that is given to it. Knows no network and no files.

Works through the step-model protocol alone: a step is asked for as many candidates as there are tokens, which gives
the probability of every one. Letters: B sentences, S source positions, T target tokens (the last is END), V tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nmt_cli.corpus.clean import normalise
from nmt_cli.corpus.source import Row, SourceArray
from nmt_cli.corpus.spans import MaskedSide, as_it_is, masked_sides
from nmt_cli.corpus.tokenizer import Tokenizer
from nmt_cli.inference.alignment import UNKNOWN_PIECE, Words
from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.joining import with_spans
from nmt_cli.inference.lines import Piece
from nmt_cli.inference.linking import given_links, words_of_piece
from nmt_cli.inference.placing import Placed, Sides
from nmt_cli.inference.protocol import FloatArray, IntArray, StateT, StepModel
from nmt_cli.inference.search import Found
from nmt_cli.inference.segments import Segment
from nmt_cli.inference.translation import Translation
from nmt_cli.inference.translator import CELLS, ROWS, Translator, batches, padded

Pair = tuple[MaskedSide, MaskedSide]  # source and target


@dataclass(frozen=True)
class Forced:
    """A given target under a model."""

    tokens: tuple[int, ...]  # T, END included
    log_probabilities: tuple[float, ...]  # T, natural
    likeliest: tuple[bool, ...]  # T: whether no other token was more likely at its place
    attention: FloatArray  # (T, S)

    @property
    def log_probability(self) -> float:
        return sum(self.log_probabilities)


def force(model: StepModel[StateT], source: SourceArray, targets: Sequence[Sequence[int]], size: int) -> list[Forced]:
    """Scores `targets` (ids ending with END), one of each row of `source` (B, S, ...); `size` is V."""
    rows = np.arange(len(targets))
    wanted = padded(targets, rows.tolist())  # (B, longest T)
    lengths = np.array([len(target) for target in targets])
    state = model.encode(source)
    previous: IntArray = np.full(len(targets), Tokenizer.START)
    found: list[list[float]] = [[] for _ in targets]
    best: list[list[bool]] = [[] for _ in targets]
    attention: list[list[FloatArray]] = [[] for _ in targets]
    for place in range(wanted.shape[1]):
        going = np.flatnonzero(lengths[rows] > place)  # rows of this step that have not ended
        if len(going) < len(rows):
            rows, state, previous = rows[going], state.select(going), previous[going]
        step = model.step(previous, state, size)
        previous = wanted[rows, place]
        column = (step.tokens == previous[:, None]).argmax(axis=1)
        chosen = step.log_probabilities[np.arange(len(rows)), column]
        hits = chosen >= step.log_probabilities[:, 0]
        for index, row in enumerate(rows.tolist()):
            found[row].append(float(chosen[index]))
            best[row].append(bool(hits[index]))
            attention[row].append(step.attention[index])
        state = step.state
    return [
        Forced(tuple(target), tuple(values), tuple(hits), np.stack(looks))
        for target, values, hits, looks in zip(targets, found, best, attention, strict=True)
    ]


def force_lines(
    translator: Translator,
    sources: Sequence[str],
    targets: Sequence[str],
    progress: Callable[[int], None] | None = None,
    *,
    limit: int | None = None,
) -> list[Forced]:
    """Each of `targets` under the model, as a translation of its line of `sources`; `progress` hears how many are done.

    Attention is cut to the length of each source. An unknown token counts as the model's unknown token. Of a source
    `limit` tokens are read at most, or as many as in training.
    """
    return force_rows(translator, *read(translator, as_learnt(translator, sources, targets), limit), progress)


def read(translator: Translator, pairs: Sequence[Pair], limit: int | None) -> tuple[list[Row], list[list[int]]]:
    """The sources as the network is given them, and the targets in ids."""
    rows = translator.source.rows([source.masked.text for source, _ in pairs], limit)
    ids = translator.target.encode_all([target.masked.text for _, target in pairs])
    return rows, [[*own, Tokenizer.END] for own in ids]


def force_rows(
    translator: Translator,
    rows: Sequence[Row],
    targets: Sequence[Sequence[int]],
    progress: Callable[[int], None] | None = None,
) -> list[Forced]:
    size = translator.target.vocabulary_size
    result: list[Forced | None] = [None] * len(rows)
    done = 0
    lengths = [max(len(row), len(ids)) for row, ids in zip(rows, targets, strict=True)]
    for batch in batches(lengths, SearchConfig(beam_size=1), max(1, min(ROWS, CELLS // size))):
        own = [targets[index] for index in batch]
        source = translator.source.batch([rows[index] for index in batch])
        for index, one in zip(batch, force(translator.engine, source, own, size), strict=True):
            length = len(rows[index])
            result[index] = Forced(one.tokens, one.log_probabilities, one.likeliest, one.attention[:, :length])
        done += len(batch)
        if progress is not None:
            progress(done)
    return [one for one in result if one is not None]


def as_learnt(translator: Translator, sources: Sequence[str], targets: Sequence[str]) -> list[Pair]:
    """The pairs as training saw them: with placeholders for what is protected and stands on both sides.

    As they are, if nothing is to be protected.
    """
    normal = [normalise(target) for target in targets]
    if not (translator.carries and translator.reader.config.protect):
        read = map(normalise, sources) if translator.reads_text else sources
        return [(as_it_is(source), as_it_is(target)) for source, target in zip(read, normal, strict=True)]
    return [masked_sides(*pair) for pair in zip(map(normalise, sources), normal, strict=True)]


def forced_translations(
    translator: Translator, sources: Sequence[str], targets: Sequence[str], *, limit: int | None = None
) -> list[Translation]:
    """The given targets in the form in which the model's own translations come, with probabilities and attention."""
    pairs = as_learnt(translator, sources, targets)
    rows, ids = read(translator, pairs, limit)
    found = translator.translations(sources, rows, [[as_found(one)] for one in force_rows(translator, rows, ids)])
    if translator.subwords is None:
        return found
    sides = Sides(translator.subwords, translator.target)
    return [
        unmasked(one, pair, sides) if pair[0].spans or (has_unknown(one) and pair[1].masked.text) else one
        for one, pair in zip(found, pairs, strict=True)
    ]


def has_unknown(translation: Translation) -> bool:
    """Whether a piece may be of several words."""
    return any(UNKNOWN_PIECE in one for one in (translation.source_pieces, *(h.pieces for h in translation.hypotheses)))


def unmasked(translation: Translation, pair: Pair, sides: Sides) -> Translation:
    """The translation with what its placeholders stand for, and the links of the words of both sides as they were."""
    source, target = (
        Piece(Segment(one.text, one.spans, blank_before=False, ends_sentence=True), one.masked) for one in pair
    )
    (best,) = translation.hypotheses
    of_source = words_of_piece(source, translation.source_pieces, sides.source)
    of_target = words_of_piece(target, best.pieces, sides.target)
    links = given_links(source, target, (of_source, of_target), best.attention)
    hypothesis = best._replace(
        text=target.source_text,
        pieces=tuple(with_spans(best.pieces, target)),
        placed=tuple(Placed(span.text, "unchanged", dropped=False) for span in target.masked.spans),
        words=(Words.of(source.source_text, target.source_text, links),),
    )
    return translation._replace(
        source_pieces=tuple(with_spans(translation.source_pieces, source)),
        hypotheses=(hypothesis,),
        unseen=frozenset(sides.source.unseen(source.masked.words)),
    )


def as_found(forced: Forced) -> Found:
    return Found(
        tokens=forced.tokens,
        log_probability=forced.log_probability,
        score=forced.log_probability,
        token_log_probabilities=forced.log_probabilities,
        attention=forced.attention,
        finished=True,
    )
