"""Paragraphs with inline marks: their representation, and how they are written with a translation.

A paragraph lists its items in file order: text, opening and closing tags, points (anything between two characters: an
image, a comment, a footnote), code (kept, and represented in the text as `{1}`), and breaks, which divide a paragraph
into segments. A segment is one text for the translator, however many sentences it has.

Everything written comes from the items, byte for byte, except the characters of the translation. A character aligned
with an equal source character is spelled like it (`&nbsp;`, or a line break for a space), so that a translation equal
to its source changes nothing.

Must not know any format. `translation.placement` decides where marks go."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter

from nmt_cli.carrying.syntax import PROGRAM_PLACEHOLDERS, compile_placeholders
from nmt_cli.documents.document import Content, DocumentSource, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.encodings import DecodedText
from nmt_cli.documents.marks import MAXIMUM_ITEMS, InlineItem, ParagraphSegment, TranslatedPart, Wrapper
from nmt_cli.text.characters import END_MARKS
from nmt_cli.translation.placement.alignment import locate_marked, trace_translation
from nmt_cli.translation.placement.marks import MarkNode, PlacedMark, place_marks
from nmt_cli.translation.placement.traced_text import UNALIGNED, TextRange, TracedText
from nmt_cli.translation.result import Translation

# Writes a paragraph with its translation and its marks, as placed by `translation.placement.marks`.
#
# In formats whose text consists of runs, each character takes the run of its source character. Each tag and point is
# written exactly once; runs can be repeated. Must not know any format.


Wrappers = tuple[Wrapper, ...]


class InlineOutput:
    """Collects the spelling of a paragraph; opens and closes the wrappers of its text."""

    def __init__(self, escape: Callable[[str], str]) -> None:
        self.escape = escape
        self.parts: list[str] = []
        self.open: list[tuple[Wrapper, int]] = []  # with the index of its `before` among the parts
        self.text = ""  # of the innermost wrapper: its first character, and what was written last
        self.last_character = ""
        self.wants_blank = False
        self.text_wrappers: Wrappers = ()  # of the last text

    def enter(self, wrappers: Wrappers) -> None:
        """Closes and opens wrappers until exactly these are open."""
        shared = 0
        while shared < min(len(self.open), len(wrappers)) and self.open[shared][0] is wrappers[shared]:
            shared += 1
        while len(self.open) > shared:
            self.close_wrapper()
        for wrapper in wrappers[shared:]:
            self.open.append((wrapper, len(self.parts)))
            self.parts.append(wrapper.before)
            self.text = ""

    def close_wrapper(self) -> None:
        wrapper, index = self.open.pop()
        edges = ((self.text[:1], wrapper.text[:1]), (self.text[-1:], wrapper.text[-1:]))
        is_spaced = any(new.isspace() and not old.isspace() for new, old in edges)
        if wrapper.spaced_before and is_spaced:
            self.parts[index] = wrapper.spaced_before
        self.parts.append(wrapper.after)
        self.text = ""

    def write_text(self, text: str, raw: str, wrappers: Wrappers) -> None:
        """Writes `text`, spelled as `raw`, after a space if one is wanted and missing."""
        if self.wants_blank and not text[0].isspace():
            text, raw = f" {text}", f" {raw}"
        self.enter(wrappers)
        self.parts.append(raw)
        self.text = self.text[:1] + text
        self.last_character, self.wants_blank, self.text_wrappers = text[-1], False, wrappers

    def write_raw(self, raw: str, wrappers: Wrappers) -> None:
        self.enter(wrappers)
        self.parts.append(raw)

    def add_blank(self) -> None:
        """Writes a space, unless the text ends with one or has not begun."""
        if self.last_character and not self.last_character.isspace():
            self.write_text(" ", " ", self.text_wrappers)

    def finish(self) -> str:
        self.enter(())
        return "".join(self.parts)


def write_segment(
    segment: ParagraphSegment,
    translation: Translation | None,
    rendered: Sequence[str],
    output: InlineOutput,
    needs_text: frozenset[str],
) -> Counter[str]:
    """Writes a segment with its translation, and returns the numbers of guessed mark positions and of lost marks.

    `rendered` holds the spellings of its items. Without a translation, the items are written unchanged.
    """
    output.last_character, output.wants_blank = "", False
    if translation is None:
        for item, raw in zip(segment.items, rendered, strict=True):
            output.write_raw(raw, item.wrappers)
        return Counter()
    traced = trace_literals(trace_segment(segment.text, translation), find_literals(segment.text))
    codes = {name: [segment.starts[index]] for index, name in segment.code_names.items()}
    traced, names = trace_literals(traced, codes), "|".join(map(re.escape, codes)) or "(?!)"
    unwritten = frozenset(index for match in re.finditer(names, traced.text) for index in range(*match.span()))
    writer = SegmentWriter(segment, traced, unwritten, rendered, output, needs_text)
    writer.write_marks(place_marks(segment.marks, traced), 0, len(traced.text))
    return Counter({GUESSED_MARKS: writer.guessed, LEFT_OUT_MARKS: traced.left_out})


def trace_segment(text: str, translation: Translation) -> TracedText:
    """Traces a translation to its source text, ignoring surrounding spaces."""
    lead, tail = len(text) - len(text.lstrip()), len(text.rstrip())
    traced = trace_translation(text.strip(), translation)
    sources = [index if index == UNALIGNED else index + lead for index in traced.sources]
    shifted = replace(
        traced,
        source=text,
        text=text[:lead] + traced.text + text[max(lead, tail) :],
        sources=[*range(lead), *sources, *range(max(lead, tail), len(text))],
        source_words=[TextRange(start + lead, end + lead) for start, end in traced.source_words],
        words=[TextRange(start + lead, end + lead) for start, end in traced.words],
    )
    marked = locate_marked(text, shifted.text, translation)
    return shifted.bind(marked) if marked else shifted


def find_literals(source: str) -> dict[str, list[int]]:
    """Returns where each placeholder of a text begins.

    Links connect whole words, so next to a quotation mark or a letter, a brace of `'{ $x }'` would have no source and
    be escaped.
    """
    literals: dict[str, list[int]] = {}
    if PROGRAM_PLACEHOLDERS.guard.search(source) is not None:
        for match in compile_placeholders().finditer(source):
            literals.setdefault(match[0], []).append(match.start())
    return literals


def trace_literals(traced: TracedText, literals: Mapping[str, list[int]]) -> TracedText:
    """Traces whole placeholders and names of code to the same in the source."""
    if not literals:
        return traced
    inside = {i for text, starts in literals.items() for start in starts for i in range(start, start + len(text))}
    sources = [UNALIGNED if source in inside else source for source in traced.sources]
    written = re.compile("|".join(map(re.escape, sorted(literals, key=len, reverse=True))))
    waiting = {text: deque(starts) for text, starts in literals.items()}
    for match in written.finditer(traced.text):
        if waiting[match[0]]:
            start = waiting[match[0]].popleft()
            sources[slice(*match.span())] = range(start, start + len(match[0]))
    return replace(traced, sources=sources)


@dataclass
class SegmentWriter:
    """Writes a translated segment."""

    segment: ParagraphSegment
    target: TracedText
    unwritten: frozenset[int]  # characters of names of code, for which marks stand: once, wherever these are placed
    rendered: Sequence[str]
    output: InlineOutput
    needs_text: frozenset[str]
    guessed: int = 0

    def write_marks(self, marks: Sequence[PlacedMark], low: int, high: int) -> None:
        """Writes the characters [low, high) with these marks among them."""
        for mark in marks:
            self.write_characters(low, mark.position.start)
            self.write_mark(mark)
            low = mark.position.end
        self.write_characters(low, high)

    def write_mark(self, mark: PlacedMark) -> None:
        self.guessed += mark.position.is_guess
        (start, end, _), node = mark.position, mark.node
        first, last = self.segment.marked[node.first], self.segment.marked[node.last]
        if first == last or node.start == node.end:
            self.write_point(node, first, last, is_exact=end > start)
            return
        source = self.target.source
        needs_text = self.segment.items[first].name in self.needs_text
        is_lost = start == end and needs_text and bool(source[node.start : node.end].strip())
        if is_lost and source[max(0, node.start - 1) : node.start].isspace():
            self.output.add_blank()
        self.write_items(first, first)
        if is_lost:
            self.guessed += not mark.position.is_guess
            self.write_items(first + 1, last - 1)
            self.output.last_character = source[node.end - 1]
            self.output.wants_blank = source[node.end : node.end + 1].isspace()
        else:
            self.write_marks(mark.inside, start, end)
        self.write_items(last, last)

    def write_point(self, node: MarkNode, first: int, last: int, *, is_exact: bool) -> None:
        """Writes a point, code or an empty pair, between spaces if it is between spaces in the source.

        Code whose name occurs in the translation (`is_exact`) keeps the translation's spaces.
        """
        source, is_code = self.target.source, node.end > node.start
        has_before = source[max(0, node.start - 1) : node.start].isspace()
        has_after = source[node.end : node.end + 1].isspace()
        if has_before and (has_after or is_code) and not is_exact:
            self.output.add_blank()
        self.write_items(first, last)
        if is_code:
            self.output.last_character = "}"
        self.output.wants_blank = has_after and (has_before or is_code) and not is_exact

    def write_items(self, first: int, last: int) -> None:
        """Writes the items from `first` to `last` unchanged."""
        for index in range(first, last + 1):
            self.output.write_raw(self.rendered[index], self.segment.items[index].wrappers)

    def write_characters(self, start: int, end: int) -> None:
        """Writes characters of the translation, each in the wrappers of its source character."""
        positions = list[int]()
        for index in range(start, end):
            is_second = positions and index > positions[-1] + 1 and self.target.text[positions[-1]].isspace()
            if index not in self.unwritten and not (is_second and self.target.text[index].isspace()):
                positions.append(index)
        for wrappers, group in groupby(positions, lambda index: self.wrappers[index]):
            indices = list(group)
            text = "".join(self.target.text[index] for index in indices)
            self.output.write_text(text, self.spell(indices, wrappers), wrappers)

    def spell(self, indices: Sequence[int], wrappers: Wrappers) -> str:
        """Spells each character like its source character if they are equal, and escapes all others."""
        escape = (wrappers[-1].escape if wrappers else None) or self.output.escape
        parts: list[str] = []
        for is_same, group in groupby(indices, self.is_same):
            if is_same:
                parts += [self.segment.spellings[self.target.sources[index]] for index in group]
            else:
                parts.append(escape("".join(self.target.text[index] for index in group)))
        return "".join(parts)

    def is_same(self, index: int) -> bool:
        source = self.target.sources[index]
        return source != UNALIGNED and self.target.source[source] == self.target.text[index]

    @cached_property
    def wrappers(self) -> list[Wrappers]:
        """The wrappers of each character of the translation; an unusual run stays together, like text between marks."""
        texts = [index for index, item in enumerate(self.segment.items) if item.text]
        if not any(self.segment.items[index].wrappers for index in texts):
            return [()] * len(self.target.text)
        starts = [self.segment.starts[index] for index in texts]
        numbers = [
            None if source == UNALIGNED else texts[max(0, bisect_right(starts, source) - 1)]
            for source in self.target.sources
        ]
        for start, end in self.segment.unusual_runs:
            low, high, is_guess = self.target.find_part(start, end) or self.target.guess_word(start)
            inside = {index for index in self.target.list_targets(start, end) if low <= index < high}
            if not inside:  # no word comes from the run, but it attends to one
                inside = {i for i in range(low, high) if (number := numbers[i]) is None or self.is_usual(number)}
                for index in inside:
                    numbers[index] = texts[bisect_right(starts, start) - 1]
            for index in self.target.list_targets(start, end):
                numbers[index] = numbers[index] if index in inside else None
            self.guessed += is_guess or not inside
        if self.target.has_marks:  # whatever a person has not marked is in no unusual run
            usual = next(filter(self.is_usual, texts), None)
            numbers = [usual if number is None else number for number in numbers]
        return [self.segment.items[number].wrappers for number in self.fill_numbers(numbers)]

    def is_usual(self, number: int) -> bool:
        """Whether an item has the same form as most of the text."""
        start, runs = self.segment.starts[number], self.segment.unusual_runs
        return bisect_right(runs, start, key=itemgetter(0)) == bisect_right(runs, start, key=itemgetter(1))

    def fill_numbers(self, numbers: Sequence[int | None]) -> list[int]:
        """Returns each character's item; without a source, it is a neighbour's: a usual one, or else the longer."""

        def rate(index: int) -> tuple[bool, int]:
            return self.is_usual(index), len(self.segment.items[index].text)

        aligned = [number for number in numbers if number is not None]
        previous = aligned[0] if aligned else next(i for i, item in enumerate(self.segment.items) if item.text)
        before: list[int] = []
        for number in numbers:
            previous = previous if number is None else number
            before.append(previous)
        following = before[-1] if before else previous
        result: list[int] = []
        for number, left in zip(reversed(numbers), reversed(before), strict=True):
            following = following if number is None else number
            result.append(max(left, following, key=rate) if number is None else number)
        return result[::-1]


JOINT = rf"[^\w\n{re.escape(END_MARKS)}]{{1,3}}"  # between two codes: <x/>-<y/>, <x/>, <y/>
LONGEST_KEY = 200  # characters before a paragraph that tell it from an equal one
LONGEST_KEPT = 1 << 16  # characters of text that is kept, which make a unit
OVERFULL = f"texts kept untranslated, each with more than {MAXIMUM_ITEMS:,} marks, runs or lines"
LEFT_OUT_MARKS = "marks (emphasis, links, code) left out, because only the translation in the memory has them"
GUESSED_MARKS = "marks (emphasis, links, code) whose positions are guesses"


@dataclass(frozen=True, eq=False)
class Paragraph:
    """The items of a paragraph. `escape` makes plain text safe for the format."""

    items: Sequence[InlineItem]
    escape: Callable[[str], str]
    needs_text: frozenset[str] = frozenset()  # names of tags that must not be empty: a link without words is lost
    domain: str = ""  # of its texts
    context: str = ""  # what tells it from equal paragraphs, such as its key; by default what stands before it

    @property
    def raw(self) -> str:
        """The paragraph as spelled in the source."""
        output = InlineOutput(self.escape)
        for item in self.items:
            output.write_raw(item.raw, item.wrappers)
        return output.finish()

    @property
    def text(self) -> str:
        """The plain text, without marks and code."""
        return "".join(item.text for item in self.items)

    @cached_property
    def segments(self) -> list[ParagraphSegment]:
        """The segments, with each break as a segment of its own."""
        groups = groupby(enumerate(join_points(self.items)), lambda pair: pair[0] if pair[1].kind == "break" else -1)
        return [ParagraphSegment([item for _, item in group]) for _, group in groups]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for segment in self.segments for text in segment.list_texts())

    @property
    def content(self) -> Content:
        """Its texts, the signs of its marks, and how its texts are written."""
        spelled = "".join(item.raw for item in self.items if item.kind == "text")
        parts = (part for item in self.items if item.kind not in ("text", "break", "cut") for part in item.template)
        return Content(self.texts, "".join(part for part in parts if isinstance(part, str)), spelled)

    def write(self, translations: Iterator[Translation], notes: Counter[str]) -> str:
        """Writes the paragraph, consuming one translation for each of its texts."""
        output = InlineOutput(self.escape)
        for segment in self.segments:
            translation = next(translations) if segment.is_translated else None
            rendered = [write_template(item.template, translations, notes) for item in segment.items]
            translation = None if segment.is_overfull else translation
            notes += write_segment(segment, translation, rendered, output, self.needs_text)
            notes += Counter({OVERFULL: int(segment.is_overfull)})
        return output.finish()

    def make_unit(
        self, notes: Counter[str], encode: Callable[[str], str | bytes] = str, content: Content | None = None
    ) -> TranslationUnit:
        """Returns the paragraph as a unit of a document; `encode` finishes its text or turns it into bytes."""

        def write_unit(translations: Sequence[Translation]) -> str | bytes:
            return encode(self.write(iter(translations), notes))

        return TranslationUnit(
            self.texts, write_unit, domain=self.domain, raw=encode(self.raw), content=content or self.content
        )


def join_points(items: Sequence[InlineItem]) -> Iterator[InlineItem]:
    """Yields the items, joining neighbouring points into one, since nothing can come between them."""
    for _, group in groupby(find_joints(items), lambda item: (item.kind, item.name, item.wrappers, item.keeps_order)):
        first, *others = group
        if first.kind != "point" or not others:
            yield from (first, *others)
            continue
        yield replace(first, template=tuple(chain(first.template, *(item.template for item in others))))


def find_joints(items: Sequence[InlineItem]) -> Iterator[InlineItem]:
    """Yields the items; spaces or punctuation between two points that no word touches become a point: `<x/>-<y/>`."""
    for index, item in enumerate(items):
        around, ahead = items[max(0, index - 1) : index + 2 : 2], items[index - 2].text if index > 1 else " "
        is_between = [other.kind for other in around] == ["point", "point"] and not item.wrappers
        is_joint = is_between and re.fullmatch(JOINT, item.text) and re.search(r"\W$", ahead)
        yield replace(around[0], template=item.template) if is_joint else item


def make_units(
    parts: Iterable[str | Paragraph], decoded: DecodedText, source: DocumentSource, notes: Counter[str]
) -> Iterator[TranslationUnit]:
    """Yields the parts of a document as units: the text between two paragraphs is one, or several if it is long.

    In a document that is read back, a paragraph without texts is a unit too: a translation may have no letters.
    """
    yield make_verbatim_unit(decoded.mark)
    verbatim: list[str] = []
    size = 0
    for part in parts:
        if isinstance(part, Paragraph) and (part.texts or source.reads_back):
            before = "".join(verbatim)
            yield make_verbatim_unit(decoded.encode(before))
            context = part.context or before.rstrip().rpartition("\n")[2].strip()[-LONGEST_KEY:]
            yield part.make_unit(notes, decoded.encode)._replace(context=context)
            verbatim, size = [], 0
            continue
        verbatim.append(part if isinstance(part, str) else part.raw)
        size += len(verbatim[-1])
        if size > LONGEST_KEPT:
            yield make_verbatim_unit(decoded.encode("".join(verbatim)))
            verbatim, size = [], 0
    yield make_verbatim_unit(decoded.encode("".join(verbatim)))


def write_template(
    template: Sequence[str | TranslatedPart], translations: Iterator[Translation], notes: Counter[str]
) -> str:
    """Writes a template, consuming one translation for each text of its paragraphs."""
    return "".join(part if isinstance(part, str) else part.write(translations, notes) for part in template)
