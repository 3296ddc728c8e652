"""The order in which pieces are searched: in waves, each piece after the one that is its context.

Pieces without context are one wave. Context is what search found: repairs wait for the last wave, since in each they
would be few, and a translation with a fault is no context. Knows no network and no file format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

from nmt_cli.arrays.special_ids import END
from nmt_cli.search.sampling import TextId
from nmt_cli.text.context import LONGEST_CONTEXT, SentenceContext
from nmt_cli.text.normalise import count_words, normalise
from nmt_cli.translation.batch import TranslationBatch

if TYPE_CHECKING:
    from nmt_cli.translation.segmentation.pieces import Piece
    from nmt_cli.translation.sentence_search import SentenceSearch


def list_waves(batch: TranslationBatch, sentences: SentenceSearch) -> Iterator[TranslationBatch]:
    """Yields parts of a batch, whose translations are those of the batch once the next part is asked for."""
    target = sentences.batch_search.target
    if not batch.chains or target.separator_id is None:
        yield batch
        return
    chains = [list_chain(batch, chain) for chain in batch.chains]
    chained = {text_id for chain in chains for text_id in chain}
    others = [text_id for text_id in batch.pieces if text_id not in chained]
    previous = {after: text_id for chain in chains for text_id, after in pairwise(chain)}
    waves, done = list(zip_longest(*chains)) or [()], 0
    for number, wave in enumerate(waves):
        text_ids = [text_id for text_id in wave if text_id is not None] + (others if number == 0 else [])
        pieces = {text_id: batch.pieces[text_id] for text_id in text_ids}
        contexts = {
            text_id: context
            for text_id in text_ids
            if text_id in previous and (context := find_context(batch, previous[text_id], sentences)) is not None
        }
        part = replace(batch, pieces=pieces, translations={}, contexts=contexts, progress=None)
        yield part
        batch.translations |= part.translations
        done += len(text_ids)
        if batch.progress is not None:
            batch.progress(done * len(batch.lines) // len(batch.pieces))


def list_chain(batch: TranslationBatch, lines: Sequence[int]) -> list[TextId]:
    """Returns the pieces of lines that have a translation of their own, in order."""
    text_ids = [text_id for line in lines for text_id in batch.list_ids(line)]
    return [text_id for text_id in text_ids if has_translation(batch.pieces[text_id])]


def has_translation(piece: Piece) -> bool:
    """Whether a piece is translated, by the network or by a memory."""
    return piece.is_translated or piece.recalled is not None


def find_context(batch: TranslationBatch, text_id: TextId, sentences: SentenceSearch) -> SentenceContext | None:
    """Returns a piece and its translation as the context of the next; None if they are too long or faulty."""
    piece, translation, target = batch.pieces[text_id], batch.translations.get(text_id), sentences.batch_search.target
    if piece.recalled is not None:
        source, text = normalise(piece.segment.text), normalise(piece.recalled.text)
        tokens = tuple(target.encode(text))
    elif translation and translation.hypotheses and not sentences.repairer.find_fault(translation, batch.config):
        source, text = piece.text, translation.hypotheses[0].text
        tokens = tuple(token for token in translation.hypotheses[0].tokens if token != END)
    else:
        return None
    separator = target.separator_id
    if separator is None or not tokens or max(count_words(source), count_words(text)) > LONGEST_CONTEXT:
        return None
    return SentenceContext(source, (*tokens, separator))
