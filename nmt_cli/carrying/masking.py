"""Masks the protected spans of texts and sentence pairs: replaces them by placeholders or takes them out.

    Open <b>{name}</b> now.     its spans: <b>, {name}, </b>
    Open ⟦0⟧ now.               what the network reads: {name} is masked, <b> is taken out at 5 and </b> at 8

`kinds` finds the spans; this module does not know how they return to a translation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.numbers import make_number_key
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN, Span
from nmt_cli.carrying.syntax import parts_words
from nmt_cli.text.normalise import find_unspaced, normalise
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.text.words import has_letters

# Stands for an extracted span while a text is normalised: a code point that is no character and never will be.
EXTRACTION_MARK = "\ufdd0"


class ExtractedSpan(NamedTuple):
    """A span taken out of a text."""

    span: Span
    offset: int  # in the text without the span
    blank_before: bool  # in the text with the span; the beginning and the end of a text count as blanks
    blank_after: bool


class MaskedText(NamedTuple):
    """A normalised text in which `⟦0⟧`, `⟦1⟧` ... replace the masked spans and the extracted ones are missing."""

    text: str
    masked: tuple[Span, ...]
    extracted: tuple[ExtractedSpan, ...]
    numbers: tuple[int, ...] = ()  # of the placeholders of `masked`; if empty, they count from 0

    @property
    def placeholders(self) -> list[str]:
        """The placeholders of `masked`."""
        return [PLACEHOLDERS[number] for number in self.numbers or range(len(self.masked))]

    @property
    def text_without_placeholders(self) -> str:
        return PLACEHOLDER_PATTERN.sub("", self.text) if self.masked else self.text

    @property
    def has_words(self) -> bool:
        """Whether a letter remains, and thus anything to translate."""
        return has_letters(self.text_without_placeholders)

    @property
    def spans(self) -> tuple[Span, ...]:
        """All spans, the masked ones first."""
        return (*self.masked, *(extracted.span for extracted in self.extracted))


class MaskedSide(NamedTuple):
    """One side of a sentence pair in the form that a network sees in training."""

    text: str  # before masking
    spans: tuple[Span, ...]  # of `text`, both masked and extracted
    masked: MaskedText


def mask(text: str, spans: Sequence[Span], numbers: Sequence[int] | None = None) -> MaskedText:
    """Masks or takes out the `spans` of `text`, which must be in order; at most ten may be masked.

    `numbers` are the placeholders' numbers, counted from 0 by default.
    """
    if not spans:
        return MaskedText(normalise(text.replace(EXTRACTION_MARK, "")), (), ())
    masked = [span for span in spans if not span.is_extracted]
    extracted = [span for span in spans if span.is_extracted]
    numbers = tuple(range(len(masked)) if numbers is None else numbers)
    # 1. Replace each span, by its placeholder or by the mark of an extracted span.
    placeholders = iter([PLACEHOLDERS[number] for number in numbers])
    parts, position = [], 0
    for span in spans:
        parts.append(text[position : span.start].replace(EXTRACTION_MARK, ""))
        parts.append(EXTRACTION_MARK if span.is_extracted else next(placeholders))
        position = span.end
    parts.append(text[position:].replace(EXTRACTION_MARK, ""))
    # 2. Normalise the text, in which the marks still keep the places of the extracted spans.
    # 3. Take the marks out.
    return extract_spans(normalise("".join(parts)), extracted, masked)._replace(numbers=numbers)


def extract_spans(marked: str, spans: Sequence[Span], masked: Sequence[Span]) -> MaskedText:
    """Removes the `EXTRACTION_MARK` of each of `spans` from a text and records its place."""
    first, *following = marked.split(EXTRACTION_MARK)
    text, position, extracted = first, len(first), []
    for span, part in zip(spans, following, strict=True):
        before = position == 0 or marked[position - 1] == " "
        position += 1
        after = position == len(marked) or marked[position] == " "
        extracted.append(ExtractedSpan(span, len(text), before, after))
        position += len(part)
        text = join_texts(text, part, apart=parts_words(span))
    text = text.rstrip()
    clamped = tuple(span._replace(offset=min(span.offset, len(text))) for span in extracted)
    return MaskedText(text, tuple(masked), clamped)


def join_texts(left: str, right: str, *, apart: bool) -> str:
    """Joins two texts, with a space if either had one there or if words meet that must stay `apart`."""
    if not left or left.endswith(" "):
        return left + right.lstrip()
    blank = apart and left[-1].isalnum() and right[:1].isalnum() and not find_unspaced(left[-1])
    return f"{left} {right}" if blank else left + right


def mask_pair(source: str, target: str) -> tuple[str, str]:
    """Masks the spans that both sides of a pair share, as a network sees them in training.

    A span on only one side is left alone; only text that looks like a placeholder is changed.
    """
    sides = mask_sides(source, target)
    return sides[0].masked.text, sides[1].masked.text


def mask_sides(source: str, target: str) -> tuple[MaskedSide, MaskedSide]:
    """Masks a sentence pair as `mask_pair` does, and reports what is masked on each side."""
    source_spans, target_spans = find_spans(source), find_spans(target)
    if not source_spans or not target_spans:
        return (
            leave_unmasked(escape_placeholders(source) if source_spans else source),
            leave_unmasked(escape_placeholders(target) if target_spans else target),
        )
    # 1. Keep the spans that both sides share, at most as many masked ones as there are placeholders.
    shared = Counter(map(make_span_key, source_spans)) & Counter(map(make_span_key, target_spans))
    source_spans = limit_spans(select_spans(source_spans, shared))
    target_spans = select_spans(target_spans, Counter(map(make_span_key, source_spans)))
    # 2. Mask both sides, unless one would then be empty.
    source_mask = mask(escape_placeholders(source), source_spans)
    target_numbers = number_spans(target_spans, source_mask)
    target_mask = mask(escape_placeholders(target), target_spans, target_numbers)
    if not source_mask.text or not target_mask.text:
        return leave_unmasked(escape_placeholders(source)), leave_unmasked(escape_placeholders(target))
    return MaskedSide(source, tuple(source_spans), source_mask), MaskedSide(target, tuple(target_spans), target_mask)


def number_spans(spans: Iterable[Span], source: MaskedText) -> list[int]:
    """Returns, for each masked span in order, the number of the placeholder of the equal source span."""
    numbers: dict[str, list[int]] = {}
    for number, span in zip(source.numbers or range(len(source.masked)), source.masked, strict=True):
        numbers.setdefault(make_span_key(span), []).append(number)
    return [numbers[make_span_key(span)].pop(0) for span in spans if not span.is_extracted]


def leave_unmasked(text: str) -> MaskedSide:
    return MaskedSide(text, (), MaskedText(text, (), ()))


def make_span_key(span: Span) -> str:
    """Returns a key that is the same on both sides, even for numbers, whose separators may differ."""
    return make_number_key(span.text) if span.is_number else span.text


def select_spans(spans: Iterable[Span], counts: Counter[str]) -> list[Span]:
    """Returns the first spans of each key, up to its number in `counts`."""
    remaining, selected = Counter(counts), []
    for span in spans:
        if remaining[key := make_span_key(span)] > 0:
            remaining[key] -= 1
            selected.append(span)
    return selected


def limit_spans(spans: Iterable[Span]) -> list[Span]:
    """Returns all extracted spans, and as many masked ones as there are placeholders."""
    masked, selected = 0, []
    for span in spans:
        masked += not span.is_extracted
        if span.is_extracted or masked <= len(PLACEHOLDERS):
            selected.append(span)
    return selected


def escape_placeholders(text: str) -> str:
    """Writes text that looks like a placeholder with ordinary brackets: `[0]` for `⟦0⟧`."""
    return PLACEHOLDER_PATTERN.sub(lambda match: f"[{match[0][1]}]", text)
