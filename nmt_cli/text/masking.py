"""Text in which protected spans are masked by placeholders or taken out, and sentence pairs masked on both sides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nmt_cli.text.normalise import normalise, unspaced
from nmt_cli.text.spans import Span, find_spans
from nmt_cli.text.symbols import PLACEHOLDERS

MARK = "\ufdd0"  # stands for a lifted span while text is normalised; a code that is no character and never will be


class Lifted(NamedTuple):
    """A span that was taken out of a text."""

    span: Span
    offset: int  # in the text without it
    blank_before: bool  # in the text with it; so at its beginning and end
    blank_after: bool


class Masked(NamedTuple):
    """A normalised text in which `⟦0⟧`, `⟦1⟧` ... stand for the carried spans, and which is without the lifted ones."""

    text: str
    carried: tuple[Span, ...]
    lifted: tuple[Lifted, ...]
    numbers: tuple[int, ...] = ()  # of the placeholders of `carried`; without any, they count from 0

    @property
    def names(self) -> list[str]:
        """The placeholders of `carried`."""
        return [PLACEHOLDERS[number] for number in self.numbers or range(len(self.carried))]

    @property
    def words(self) -> str:
        """The text without the placeholders."""
        return PLACEHOLDER.sub("", self.text) if self.carried else self.text

    @property
    def has_words(self) -> bool:
        """Whether anything is left that could be translated."""
        return any(map(str.isalnum, self.words))

    @property
    def spans(self) -> tuple[Span, ...]:
        return (*self.carried, *(lifted.span for lifted in self.lifted))


PLACEHOLDER = re.compile("⟦[0-9]⟧")


def mask(text: str, spans: Sequence[Span], numbers: Sequence[int] | None = None) -> Masked:
    """`text` with `spans` (in order, at most ten carried) masked.

    `numbers` are those of the carried ones; without them, they count from 0.
    """
    if not spans:
        return Masked(normalise(text.replace(MARK, "")), (), ())
    carried = [span for span in spans if not span.lifted]
    numbers = tuple(range(len(carried)) if numbers is None else numbers)
    names = iter([PLACEHOLDERS[number] for number in numbers])
    parts, place = [], 0
    for span in spans:
        parts += [text[place : span.start].replace(MARK, ""), MARK if span.lifted else next(names)]
        place = span.end
    parts.append(text[place:].replace(MARK, ""))
    lifted = [span for span in spans if span.lifted]
    return lift(normalise("".join(parts)), lifted, carried)._replace(numbers=numbers)


def lift(marked: str, spans: Sequence[Span], carried: Sequence[Span]) -> Masked:
    """The text in which each of `spans` is a `MARK`, without the marks, and where they stood."""
    first, *rest = marked.split(MARK)
    text, place, lifted = first, len(first), []
    for span, part in zip(spans, rest, strict=True):
        before = place == 0 or marked[place - 1] == " "
        place += 1
        after = place == len(marked) or marked[place] == " "
        lifted.append(Lifted(span, len(text), before, after))
        place += len(part)
        text = joined(text, part, apart=span.divides)
    text = text.rstrip()
    clamped = tuple(one._replace(offset=min(one.offset, len(text))) for one in lifted)
    return Masked(text, tuple(carried), clamped)


def joined(left: str, right: str, *, apart: bool) -> str:
    """Both with one blank where either had one, or where they are to be `apart` and two words would meet."""
    if not left or left.endswith(" "):
        return left + right.lstrip()
    blank = apart and left[-1].isalnum() and right[:1].isalnum() and not unspaced(left[-1])
    return f"{left} {right}" if blank else left + right


class MaskedSide(NamedTuple):
    """One side of a sentence pair as a network learns it."""

    text: str  # as it was
    spans: tuple[Span, ...]  # those of it that are masked
    masked: Masked


def masked_pair(source: str, target: str) -> tuple[str, str]:
    """A sentence pair as a network learns it: what is protected and stands on both sides is masked on both.

    What stands on one side alone stays as it is, but for `⟦0⟧` itself, which must not pass for a placeholder.
    """
    sides = masked_sides(source, target)
    return sides[0].masked.text, sides[1].masked.text


def masked_sides(source: str, target: str) -> tuple[MaskedSide, MaskedSide]:
    """As `masked_pair`, with what is masked on each side."""
    of_source, of_target = find_spans(source), find_spans(target)
    if not of_source or not of_target:
        return (
            as_it_is(unlike_ours(source) if of_source else source),
            as_it_is(unlike_ours(target) if of_target else target),
        )
    shared = Counter(span.text for span in of_source) & Counter(span.text for span in of_target)
    of_source = limited(select_spans(of_source, shared))
    left = Counter(span.text for span in of_source)
    of_target = select_spans(of_target, left)
    numbers: dict[str, list[int]] = {}
    for number, span in enumerate(span for span in of_source if not span.lifted):
        numbers.setdefault(span.text, []).append(number)
    own = [numbers[span.text].pop(0) for span in of_target if not span.lifted]
    masks = mask(unlike_ours(source), of_source), mask(unlike_ours(target), of_target, own)
    if not all(one.text for one in masks):
        return as_it_is(unlike_ours(source)), as_it_is(unlike_ours(target))
    return MaskedSide(source, tuple(of_source), masks[0]), MaskedSide(target, tuple(of_target), masks[1])


def as_it_is(text: str) -> MaskedSide:
    return MaskedSide(text, (), Masked(text, (), ()))


def select_spans(spans: Iterable[Span], wanted: Counter[str]) -> list[Span]:
    """The first of `spans` with each text, as many as `wanted`."""
    rest, found = Counter(wanted), []
    for span in spans:
        if rest[span.text] > 0:
            rest[span.text] -= 1
            found.append(span)
    return found


def limited(spans: Iterable[Span]) -> list[Span]:
    """All lifted spans and as many carried ones as there are placeholders."""
    carried, found = 0, []
    for span in spans:
        carried += not span.lifted
        if span.lifted or carried <= len(PLACEHOLDERS):
            found.append(span)
    return found


def unlike_ours(text: str) -> str:
    """`text` in which nothing reads like a placeholder."""
    return PLACEHOLDER.sub(lambda found: f"[{found[0][1]}]", text)
