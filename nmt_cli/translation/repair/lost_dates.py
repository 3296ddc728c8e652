"""Brings back the dates that a network lost: they are written as the target language does, and carried.

Months are rare words in most training text, and a network writes another one, or none. Where a translation lacks the
month or a number of a date, the piece is searched again with the whole date as a protected span. Knows no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nmt_cli.carrying.dates import Date, find_dates, load_calendar, write_date
from nmt_cli.carrying.masking import PLACEHOLDER_PATTERN
from nmt_cli.carrying.spans import Span, cover_spans
from nmt_cli.search.sampling import TextId
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.translation.checks.number_text import NUMBER
from nmt_cli.translation.checks.numbers import compare_numbers
from nmt_cli.translation.repair.lost_numbers import PieceSearch
from nmt_cli.translation.result import Repair, Translation
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.pieces import Piece


def carry_lost_dates(
    pieces: dict[TextId, Piece],
    translations: dict[TextId, Translation],
    languages: tuple[str, str],
    reader: LineReader,
    search: PieceSearch,
) -> None:
    """Carries the dates that the network lost; changes the pieces and translations of these."""
    changed: dict[TextId, Piece] = {}
    for text_id, translation in translations.items():
        piece = pieces[text_id]
        lost = list(find_lost_dates(piece, translation.text, languages)) if piece.has_digits else []
        if lost and len(piece.masked.masked) + len(lost) <= len(PLACEHOLDERS):
            changed[text_id] = protect_dates(piece, lost, languages, reader)
    # A piece that then has no words is kept, the others are searched again.
    for text_id in [text_id for text_id, piece in changed.items() if not piece.is_translated]:
        pieces[text_id] = changed[text_id]
        del translations[text_id]
    texts: Mapping[TextId, str] = {text_id: piece.text for text_id, piece in changed.items() if piece.is_translated}
    for text_id, translation in search(texts).items():
        pieces[text_id] = changed[text_id]
        repairs = (*translation.repairs, Repair("dates", "protected date"))
        translations[text_id] = translation._replace(repairs=repairs)


def find_lost_dates(piece: Piece, target: str, languages: tuple[str, str]) -> Iterator[Date]:
    """Yields the dates of a piece if `target` lacks the month or a number of one of them."""
    calendar = load_calendar(languages[1])
    text, spans = piece.segment.text, piece.segment.spans
    dates = list(
        find_dates(cover_spans(text, [span for span in spans if not (span.is_number or span.is_name)]), languages[0])
    )
    if calendar is None or not dates:
        return
    target = PLACEHOLDER_PATTERN.sub(" ", target)
    covered = cover_spans(text, spans)
    numbers = compare_numbers(covered, target, *languages).missing
    for date in dates:
        in_date = NUMBER.findall(covered, date.start, date.end)
        if not calendar.has_month(target, date.month) or not set(numbers).isdisjoint(in_date):
            yield from dates
            return


def protect_dates(piece: Piece, dates: list[Date], languages: tuple[str, str], reader: LineReader) -> Piece:
    """Returns a piece with dates, written for the target language, as spans in the place of their numbers."""
    text = piece.segment.text
    written = []
    for date in dates:
        start, form = write_date(text, date, *languages)
        written.append(Span(start, date.end, form, is_extracted=not reader.carries))
    kept = (
        span
        for span in piece.segment.spans
        if not any(span.start < date.end and date.start < span.end for date in written)
    )
    return reader.protect_more(replace(piece, segment=piece.segment._replace(spans=tuple(kept))), written)
