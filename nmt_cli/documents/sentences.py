"""The sentences of a text of several, so that each is translated by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from nmt_cli.documents.markup import Mark, MarkedText
from nmt_cli.text.spans import find_spans
from nmt_cli.translation import segments


def find_sentence_starts(text: str, *, apart: bool) -> list[int]:
    """The places at which the sentences of `text` begin, if they are wanted `apart`; the first is 0."""
    return segments.find_sentence_starts(text, find_spans(text)) if apart else [0]


def has_letters(text: str) -> bool:
    """Whether there is anything to translate."""
    return any(map(str.isalpha, text))


def split_marked(whole: MarkedText, *, apart: bool) -> list[MarkedText]:
    """The sentences of a text with their marks, none of which ends inside a mark; one, if not wanted `apart`."""
    text = whole.text.rstrip()
    inside = [range(mark.start + 1, mark.end) for mark in whole.marks]
    starts = [start for start in find_sentence_starts(text, apart=apart) if not any(start in mark for mark in inside)]
    ends = [*starts[1:], len(text) + 1]
    sentences = []
    for start, end in zip(starts, ends, strict=True):
        marks = [mark for mark in whole.marks if start <= min(mark.start, len(text)) < end]
        sentences.append(cut_marked(text[start:end].rstrip(), start, marks))
    return sentences


def join_sentences(texts: Iterable[str]) -> str:
    """The translations of sentences as one text, with blanks where their script has any."""
    whole = ""
    for text in filter(None, texts):
        whole += (" " if whole and segments.wants_blank(whole, text, True) else "") + text
    return whole


def cut_marked(text: str, start: int, marks: Sequence[Mark]) -> MarkedText:
    """A sentence that began at `start`, with its marks counted from there and without blanks before it."""
    blanks = len(text) - len(text.lstrip())

    def place(position: int) -> int:
        return min(max(position - start - blanks, 0), len(text) - blanks)

    def move_mark(mark: Mark) -> Mark:
        fixed = mark.fixed
        if mark.is_point and fixed is not None:  # the blanks between it and the words were cut off
            fixed = " " * (mark.start > start + len(text)) + fixed + " " * (mark.start < start + blanks)
        return replace(mark, start=place(mark.start), end=place(mark.end), fixed=fixed)

    return MarkedText(text[blanks:], tuple(map(move_mark, marks)))
