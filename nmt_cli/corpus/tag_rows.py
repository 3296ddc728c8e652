"""The tags and the context of encoded sentences: ids in front of those of the text. Knows no files.

Letters: N rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nmt_cli.arrays.ragged import Ragged
from nmt_cli.arrays.types import IntArray
from nmt_cli.text.symbols import CONTEXT_END
from nmt_cli.text.tags import TagPurpose, TagSet, find_tag_value, parse_tag_name
from nmt_cli.text.tokenizer import Tokenizer


def read_tag_sets(rows: Ragged, tokenizer: Tokenizer) -> list[TagSet]:
    """Returns the tags of each of N rows."""
    tags = {piece_id: parse_tag_name(piece) for piece, piece_id in tokenizer.tag_ids.items()}
    read = rows.keep(np.isin(rows.ids, list(tags)))
    return [tuple(tags[piece_id] for piece_id in row.tolist()) for row in read]


def drop_tag_ids(rows: Ragged, tokenizer: Tokenizer) -> Ragged:
    """Returns the rows without their tags."""
    return rows.keep(~np.isin(rows.ids, list(tokenizer.tag_ids.values()))) if tokenizer.tag_ids else rows


def drop_contexts(rows: Ragged, tokenizer: Tokenizer) -> Ragged:
    """Returns the rows from behind their last separator, without the sentence that is their context."""
    separators = np.flatnonzero(rows.ids == tokenizer.separator_id)
    if not len(separators):
        return rows
    starts = rows.offsets[:-1].copy()
    starts[np.searchsorted(rows.offsets, separators, side="right") - 1] = separators + 1
    return rows.keep(np.arange(len(rows.ids)) >= np.repeat(starts, rows.lengths))


def prepend_contexts(rows: Ragged, contexts: Sequence[str | None], tokenizer: Tokenizer) -> Ragged:
    """Returns N sentences, each behind the one that is its context, if any, and the separator."""
    texts = [text for text in contexts if text is not None]
    if not texts:
        return rows
    encoded, separator = iter(tokenizer.encode_all(texts)), tokenizer.control_ids[CONTEXT_END]
    prefixes = [[] if text is None else [*next(encoded), separator] for text in contexts]
    return rows.insert_before(Ragged.from_sequences([prefixes], vocabulary_size=tokenizer.vocabulary_size))


def prepend_tag_sets(rows: Ragged, tag_sets: Sequence[TagSet], tokenizer: Tokenizer) -> Ragged:
    """Returns N rows without tags, each preceded by the ids of its tags."""
    if not any(tag_sets):
        return rows
    ids = {tags: tokenizer.list_tag_ids(tags) for tags in set(tag_sets)}
    prefixes = [[ids[tags] for tags in tag_sets]]
    return rows.insert_before(Ragged.from_sequences(prefixes, vocabulary_size=tokenizer.vocabulary_size))


def number_languages(tag_sets: Sequence[TagSet]) -> IntArray:
    """Returns (N,) numbers, counted from 0, that are equal for rows whose tags name the same languages."""
    kinds = TagPurpose.TARGET, TagPurpose.SOURCE
    languages_of = {tags: tuple(find_tag_value(tags, kind) or "" for kind in kinds) for tags in set(tag_sets)}
    numbers = {languages: number for number, languages in enumerate(sorted(set(languages_of.values())))}
    return np.array([numbers[languages_of[tags]] for tags in tag_sets], np.int64)
