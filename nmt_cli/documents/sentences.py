"""Splits a marked text into sentences, so that each is translated on its own, and joins their translations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from nmt_cli.carrying.spans import find_spans
from nmt_cli.documents.markup import Mark, MarkedText
from nmt_cli.translation.segmentation import segments


def find_sentence_starts(text: str, *, by_sentence: bool) -> list[int]:
    """Returns the positions at which the sentences of `text` begin, from 0 on; only 0 unless `by_sentence`."""
    return segments.find_sentence_starts(text, find_spans(text)) if by_sentence else [0]


def split_marked(whole: MarkedText, *, by_sentence: bool) -> list[MarkedText]:
    """Returns the sentences of a text with their marks; the whole text unless `by_sentence`. No mark is split."""
    text = whole.text.rstrip()
    inside = [range(mark.start + 1, mark.end) for mark in whole.marks]
    starts = [
        start
        for start in find_sentence_starts(text, by_sentence=by_sentence)
        if not any(start in mark for mark in inside)
    ]
    ends = [*starts[1:], len(text) + 1]
    sentences = []
    for start, end in zip(starts, ends, strict=True):
        marks = [mark for mark in whole.marks if start <= min(mark.start, len(text)) < end]
        sentences.append(cut_marked(text[start:end].rstrip(), start, marks))
    return sentences


def join_sentences(texts: Iterable[str]) -> str:
    """Joins the translations of sentences to one text, with blanks between them if their script uses blanks."""
    whole = ""
    for text in filter(None, texts):
        whole += (" " if whole and segments.wants_blank(whole, text, True) else "") + text
    return whole


def cut_marked(text: str, start: int, marks: Sequence[Mark]) -> MarkedText:
    """Returns a sentence that begins at `start`, without blanks before it and with its marks counted from there."""
    blanks = len(text) - len(text.lstrip())

    def shift(position: int) -> int:
        return min(max(position - start - blanks, 0), len(text) - blanks)

    def move_mark(mark: Mark) -> Mark:
        fixed = mark.fixed
        if mark.is_point and fixed is not None:  # keep the blanks between it and the words, which are stripped
            fixed = " " * (mark.start > start + len(text)) + fixed + " " * (mark.start < start + blanks)
        return replace(mark, start=shift(mark.start), end=shift(mark.end), fixed=fixed)

    return MarkedText(text[blanks:], tuple(map(move_mark, marks)))
