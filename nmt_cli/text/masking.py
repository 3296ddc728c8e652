"""Text in which protected spans are masked by placeholders or taken out, and sentence pairs masked on both sides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nmt_cli.text.normalise import find_unspaced, normalise
from nmt_cli.text.spans import Span, find_spans
from nmt_cli.text.symbols import PLACEHOLDERS

MARK = "\ufdd0"  # stands for a lifted span while text is normalised; a code that is no character and never will be


class ExtractedSpan(NamedTuple):
    """A span that was taken out of a text."""

    span: Span
    offset: int  # in the text without it
    blank_before: bool  # in the text with it; so at its beginning and end
    blank_after: bool


class MaskedText(NamedTuple):
    """A normalised text in which `⟦0⟧`, `⟦1⟧` ... stand for the carried spans, and which is without the lifted ones."""

    text: str
    masked: tuple[Span, ...]
    extracted: tuple[ExtractedSpan, ...]
    numbers: tuple[int, ...] = ()  # of the placeholders of `carried`; without any, they count from 0

    @property
    def names(self) -> list[str]:
        """The placeholders of `carried`."""
        return [PLACEHOLDERS[number] for number in self.numbers or range(len(self.masked))]

    @property
    def words(self) -> str:
        """The text without the placeholders."""
        return PLACEHOLDER.sub("", self.text) if self.masked else self.text

    @property
    def has_words(self) -> bool:
        """Whether anything is left that could be translated."""
        return any(map(str.isalnum, self.words))

    @property
    def spans(self) -> tuple[Span, ...]:
        return (*self.masked, *(lifted.span for lifted in self.extracted))


PLACEHOLDER = re.compile("⟦[0-9]⟧")


def mask(text: str, spans: Sequence[Span], numbers: Sequence[int] | None = None) -> MaskedText:
    """`text` with `spans` (in order, at most ten carried) masked.

    `numbers` are those of the carried ones; without them, they count from 0.
    """
    if not spans:
        return MaskedText(normalise(text.replace(MARK, "")), (), ())
    masked = [span for span in spans if not span.is_extracted]
    numbers = tuple(range(len(masked)) if numbers is None else numbers)
    names = iter([PLACEHOLDERS[number] for number in numbers])
    parts, position = [], 0
    for span in spans:
        parts += [text[position : span.start].replace(MARK, ""), MARK if span.is_extracted else next(names)]
        position = span.end
    parts.append(text[position:].replace(MARK, ""))
    extracted = [span for span in spans if span.is_extracted]
    return extract_spans(normalise("".join(parts)), extracted, masked)._replace(numbers=numbers)


def extract_spans(marked: str, spans: Sequence[Span], masked: Sequence[Span]) -> MaskedText:
    """Returns a text without the `MARK` that stands for each of `spans`, and where these stood."""
    first, *rest = marked.split(MARK)
    text, position, extracted = first, len(first), []
    for span, part in zip(spans, rest, strict=True):
        before = position == 0 or marked[position - 1] == " "
        position += 1
        after = position == len(marked) or marked[position] == " "
        extracted.append(ExtractedSpan(span, len(text), before, after))
        position += len(part)
        text = join_texts(text, part, apart=span.divides)
    text = text.rstrip()
    clamped = tuple(span._replace(offset=min(span.offset, len(text))) for span in extracted)
    return MaskedText(text, tuple(masked), clamped)


def join_texts(left: str, right: str, *, apart: bool) -> str:
    """Both with one blank where either had one, or where they are to be `apart` and two words would meet."""
    if not left or left.endswith(" "):
        return left + right.lstrip()
    blank = apart and left[-1].isalnum() and right[:1].isalnum() and not find_unspaced(left[-1])
    return f"{left} {right}" if blank else left + right


class MaskedSide(NamedTuple):
    """One side of a sentence pair as a network learns it."""

    text: str  # as it was
    spans: tuple[Span, ...]  # those of it that are masked
    masked: MaskedText


def mask_pair(source: str, target: str) -> tuple[str, str]:
    """A sentence pair as a network learns it: what is protected and stands on both sides is masked on both.

    What stands on one side alone stays as it is, but for `⟦0⟧` itself, which must not pass for a placeholder.
    """
    sides = mask_sides(source, target)
    return sides[0].masked.text, sides[1].masked.text


def mask_sides(source: str, target: str) -> tuple[MaskedSide, MaskedSide]:
    """As `masked_pair`, with what is masked on each side."""
    of_source, of_target = find_spans(source), find_spans(target)
    if not of_source or not of_target:
        return (
            leave_unmasked(escape_placeholders(source) if of_source else source),
            leave_unmasked(escape_placeholders(target) if of_target else target),
        )
    shared = Counter(span.text for span in of_source) & Counter(span.text for span in of_target)
    of_source = limit_spans(select_spans(of_source, shared))
    left = Counter(span.text for span in of_source)
    of_target = select_spans(of_target, left)
    numbers: dict[str, list[int]] = {}
    for number, span in enumerate(span for span in of_source if not span.is_extracted):
        numbers.setdefault(span.text, []).append(number)
    target_numbers = [numbers[span.text].pop(0) for span in of_target if not span.is_extracted]
    masks = mask(escape_placeholders(source), of_source), mask(escape_placeholders(target), of_target, target_numbers)
    if not all(side.text for side in masks):
        return leave_unmasked(escape_placeholders(source)), leave_unmasked(escape_placeholders(target))
    return MaskedSide(source, tuple(of_source), masks[0]), MaskedSide(target, tuple(of_target), masks[1])


def leave_unmasked(text: str) -> MaskedSide:
    return MaskedSide(text, (), MaskedText(text, (), ()))


def select_spans(spans: Iterable[Span], counts: Counter[str]) -> list[Span]:
    """The first of `spans` with each text, as many as `wanted`."""
    rest, selected = Counter(counts), []
    for span in spans:
        if rest[span.text] > 0:
            rest[span.text] -= 1
            selected.append(span)
    return selected


def limit_spans(spans: Iterable[Span]) -> list[Span]:
    """All lifted spans and as many carried ones as there are placeholders."""
    carried, kept = 0, []
    for span in spans:
        carried += not span.is_extracted
        if span.is_extracted or carried <= len(PLACEHOLDERS):
            kept.append(span)
    return kept


def escape_placeholders(text: str) -> str:
    """`text` in which nothing reads like a placeholder."""
    return PLACEHOLDER.sub(lambda match: f"[{match[0][1]}]", text)
