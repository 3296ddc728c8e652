"""Reads a translated document back, and undoes each unit that is unreadable or has lost a placeholder or mark.

A document is held back until its last unit is written. Then its own class reads what was written, and each unit is
compared with its source:

    source    a = Tom is here{ $x }.        unit 2, which holds { $x }
    written   a = Tom ist hier {"{"} $x }.  read back: `Tom ist hier { $x`, which holds nothing
    kept      a = Tom is here{ $x }.        reported as "text 1 kept as in the source"

When it is read back, each unit must begin and end where it was written, with the placeholders and marks of its source.
A unit that does not is replaced by its source; if a document cannot be read at all, the units at fault are found by
halving. Tables are compared row by row, as they arrive. Must not know any format.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from nmt_cli.carrying.syntax import has_same_placeholders
from nmt_cli.documents.document import Content, Document, Location, Reopen, TornText, TranslationUnit
from nmt_cli.errors import DataError
from nmt_cli.text.wrapping import shorten_text
from nmt_cli.translation.placement.traced_text import TextRange
from nmt_cli.translation.result import FailedCheck, Translation

LONGEST_QUOTED_TEXT = 60  # characters of a text that is named
UNREADABLE = "the translation could not be read back as one text"
LOST = "a placeholder or a tag was dropped, added or damaged"
ONE_BY_ONE = 16  # units that are told from those behind them, before all that follow are kept


class WrittenUnit(NamedTuple):
    """A unit as written: its piece of the document, how to undo it, and the marks that it must hold."""

    piece: int
    first: int  # the number of its first text
    texts: Sequence[str]
    content: Content
    undo: Callable[[], bytes]
    is_free: bool  # whether a person, or nobody, wrote its words: they may hold other placeholders
    was_flagged: bool
    location: Location


class FoundUnit(NamedTuple):
    """A unit as read back, and its position in the document."""

    range: TextRange
    content: Content


class ReadBack:
    """Holds the output until it has been read back. `reopen` reads the units of a document or of a part of it."""

    def __init__(self, document: Document, reopen: Reopen) -> None:
        self.document = document
        self.reopen = reopen
        self.pieces: list[bytes] = []
        self.written: list[WrittenUnit] = []
        self.is_text = True  # rather than bytes

    def watch(self, units: Iterator[TranslationUnit]) -> Iterator[TranslationUnit]:
        """Yields the units, which now write nothing, and a last unit that writes the document."""
        for unit in units:
            yield unit._replace(write=partial(self.write, unit))
        if self.document.holds_back:
            yield TranslationUnit((), lambda _: self.finish())

    def write(self, unit: TranslationUnit, translations: Sequence[Translation]) -> str | bytes:
        """Keeps what a unit writes; a row of a table is finished at once."""
        before = self.document.notes.copy()
        written = unit.write(translations)
        self.add_noted(unit, self.document.notes - before)
        self.is_text &= isinstance(written, str) or not written
        first = self.document.texts_written + 1
        self.document.texts_written += len(unit.texts)
        if unit.texts and unit.raw is not None and unit.content is not None:
            is_free = any(text.is_recalled or text.replacement is not None for text in translations)
            is_flagged = any(text.checks for text in translations)
            undo = partial(encode, unit.raw) if self.document.holds_back else partial(keep_source, unit)
            location = unit.location or Location()
            self.written.append(
                WrittenUnit(len(self.pieces), first, unit.texts, unit.content, undo, is_free, is_flagged, location)
            )
        self.pieces.append(encode(written))
        return "" if self.document.holds_back else self.finish()

    def add_noted(self, unit: TranslationUnit, notes: Iterable[str]) -> None:
        """Records where the output of a unit has shortcomings."""
        number, source = self.document.texts_written + 1, shorten_text(" ".join(unit.texts), LONGEST_QUOTED_TEXT)
        location = unit.location or Location()
        self.document.noted += (TornText(number, source, note, False, location) for note in notes)

    def finish(self) -> str | bytes:
        """Returns the document, with units that failed written as in the source."""
        pieces, written = self.pieces, self.written
        self.pieces, self.written = [], []
        if written:
            for unit, problem in self.undo_torn(pieces, written):
                number, source = unit.first, shorten_text(" ".join(unit.texts), LONGEST_QUOTED_TEXT)
                self.document.torn.append(TornText(number, source, problem, unit.was_flagged, unit.location))
        data = b"".join(pieces)
        return self.document.complete(data.decode("utf-8") if self.is_text else data)

    def undo_torn(self, pieces: list[bytes], written: list[WrittenUnit]) -> Iterator[tuple[WrittenUnit, str]]:
        """Replaces pieces that fail with their source, and yields their units, each with its fault."""
        parts = self.read(pieces)  # once, where nothing fails: that is most of what reading back costs
        if parts is None:
            for unit in self.halve(pieces, written):
                yield unit, UNREADABLE
            parts = self.read(pieces) or []
        settled: set[int] = set()
        located = self.locate(pieces, written, parts)
        while missing := self.list_missing(written, located, settled):
            for unit in missing if len(settled) > ONE_BY_ONE else missing[:1]:
                settled.add(unit.piece)
                before, pieces[unit.piece] = pieces[unit.piece], unit.undo()
                if pieces[unit.piece] != before:
                    yield unit, UNREADABLE
            located = self.locate(pieces, written, self.read(pieces) or [])
        for unit, inside in zip(written, located, strict=True):
            if inside and not holds_same(unit, inside, len(pieces[unit.piece])):
                if not self.document.is_marked(pieces[unit.piece]):
                    pieces[unit.piece] = unit.undo()
                yield unit, LOST

    def list_missing(
        self, written: list[WrittenUnit], located: Sequence[Sequence[FoundUnit] | None], settled: set[int]
    ) -> list[WrittenUnit]:
        """Returns the units that are not read back as separate units, except those already undone."""
        pairs = zip(written, located, strict=True)
        return [unit for unit, inside in pairs if inside is None and unit.piece not in settled]

    def halve(self, pieces: list[bytes], units: Sequence[WrittenUnit]) -> Iterator[WrittenUnit]:
        """Undoes the pieces that make the document unreadable, and yields their units."""
        before = {unit.piece: pieces[unit.piece] for unit in units}
        for unit in units:
            pieces[unit.piece] = unit.undo()
        if self.read(pieces) is None:  # nor can the source
            for number, piece in before.items():
                pieces[number] = piece
            return
        waiting = [units]
        while waiting:
            part = waiting.pop()
            for unit in part:
                pieces[unit.piece] = before[unit.piece]
            if self.read(pieces) is not None:
                continue
            for unit in part:
                pieces[unit.piece] = unit.undo()
            if len(part) == 1:
                yield part[0]
            else:
                waiting += [part[len(part) // 2 :], part[: len(part) // 2]]

    def read(self, pieces: Sequence[bytes]) -> list[FoundUnit] | None:
        """Returns the units with texts in the current document; None if it cannot be read.

        Returns an empty list if the units do not add up to the document, since their positions are then unknown.
        """
        parts: list[FoundUnit] = []
        position = 0
        try:
            for unit in self.reopen(b"".join(pieces)):
                raw = encode(unit.write(()) if unit.raw is None and not unit.texts else unit.raw or b"")
                if unit.content is not None:
                    parts.append(FoundUnit(TextRange(position, position + len(raw)), unit.content))
                position += len(raw)
        except DataError:
            return None
        return parts if position == sum(map(len, pieces)) else []

    def locate(
        self, pieces: Sequence[bytes], written: Sequence[WrittenUnit], parts: Sequence[FoundUnit]
    ) -> list[list[FoundUnit] | None]:
        """Returns the units read back within each written unit; None where they do not fit it."""
        if not parts:
            return [[] for _ in written]
        ends = [0]
        for piece in pieces:
            ends.append(ends[-1] + len(piece))
        starts, stops = [unit.range.start for unit in parts], [unit.range.end for unit in parts]
        located: list[list[FoundUnit] | None] = []
        for unit in written:
            start, end = ends[unit.piece], ends[unit.piece + 1]
            inside = parts[bisect_left(starts, start) : bisect_right(stops, end)]
            is_whole = bool(inside) and (inside[0].range.start, inside[-1].range.end) == (start, end)
            before, behind = bisect_left(starts, start), bisect_right(stops, end)
            is_apart = (not before or stops[before - 1] <= start) and (behind == len(starts) or starts[behind] >= end)
            fits = is_apart and bool(inside) and (is_whole or not self.document.is_exact)
            located.append(list(inside) if fits else None)
        return located


def watch_units(document: Document, reopen: Reopen, units: Iterator[TranslationUnit]) -> Iterator[TranslationUnit]:
    """Yields the units of a document or of a part, and reads back what they write."""
    return ReadBack(document, reopen).watch(units)


def holds_same(unit: WrittenUnit, inside: Sequence[FoundUnit], size: int) -> bool:
    """Whether a unit, as read back, holds the placeholders and marks of its source.

    A mark at either end may lie outside the text that is read, which then has fewer than `size` bytes.
    """
    is_whole = sum(part.range.end - part.range.start for part in inside) == size
    source, marks = unit.content, "".join(part.content.marks for part in inside)
    if marks != source.marks:
        added, missing = Counter(marks), Counter(source.marks)  # of signs: marks beside each other may be one
        if added - missing or (missing - added and is_whole):
            return False
    if unit.is_free:
        return True
    if not has_same_placeholders(source.spelled, "".join(part.content.spelled for part in inside)):
        return False
    texts = [text for part in inside for text in part.content.texts]
    are_pairs = len(inside) == 1 and len(texts) == len(source.texts)
    if are_pairs and all(map(has_same_placeholders, source.texts, texts)):
        return True
    return has_same_placeholders("\n".join(source.texts), "\n".join(texts))


def copy_torn(torn: TornText) -> Translation:
    """Returns a text with the translation that is kept (by default the text itself) and the check that it fails."""
    from nmt_cli.translation.stages import copy_line  # which few runs need

    kept = copy_line(torn.kept or torn.source, DataError(torn.problem))
    return kept._replace(source=torn.source, checks=(FailedCheck(torn.check, torn.problem),))


def keep_source(unit: TranslationUnit) -> bytes:
    """Returns a unit written with its own texts in place of translations."""
    from nmt_cli.translation.stages import copy_line  # which few runs need

    return encode(unit.write([copy_line(text, DataError(UNREADABLE)) for text in unit.texts]))


def encode(written: str | bytes) -> bytes:
    return written if isinstance(written, bytes) else written.encode("utf-8")
