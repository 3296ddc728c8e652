"""Text with marks on some of its words (emphasis, links, code), and where the marks stand in its translation.

The text is translated without them; attention then says which target words come from the marked source words
(projection of markup by word alignment: Müller 2017, "Treatment of markup in statistical machine translation").
Knows no format: a mark carries what is written before and after its words. Words are what stands between blanks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nmt_cli.text.normalise import normalise
from nmt_cli.translation.word_alignment import find_links

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

Escape = Callable[[str], str]
OPENING = "([{«„“‘\"'¿¡"
CLOSING = ".,;:!?…)]}»”’\"'。，！？、"
MAX_DEPTH = 100  # marks inside each other; what is deeper counts as beside the last of these


@dataclass(frozen=True)
class Mark:
    """The characters [start, end) of a text and how they are written.

    With `fixed`, what is written is that instead of any translation of the characters. A mark is inside the last one
    before it whose `depth` is less.
    """

    start: int
    end: int
    before: str = ""
    after: str = ""
    fixed: str | None = None
    depth: int = 0

    @property
    def is_point(self) -> bool:
        """Whether it has no characters: it stands between two."""
        return self.start == self.end


@dataclass(frozen=True)
class MarkedText:
    text: str
    marks: tuple[Mark, ...] = ()  # in the order in which they begin


@dataclass(frozen=True)
class MarkedTranslation:
    """A translated text with its marks, and how many of them attention could not place."""

    text: str
    guessed: int


@dataclass(frozen=True)
class MarkNode:
    """A mark with those inside it, over the source words [first, last); `prefix` and `suffix` share these words.

    `closed` says that a point or comma at the end of the translated words does not belong to the mark.
    """

    mark: Mark
    first: int
    last: int
    prefix: str
    suffix: str
    source: str
    closed: bool
    inside: list[MarkNode] = field(default_factory=list)


def project_marks(marked: MarkedText, translation: Translation, escape: Escape) -> MarkedTranslation:
    """The best translation of `marked.text` with all its marks, each once; `escape` writes plain text in the format."""
    if not marked.marks:
        return MarkedTranslation(escape(translation.text), 0)
    words = translation.text.split(" ") if translation.text else []  # other blanks are inside of what is protected
    sources = link_words(translation, words, len(normalise(marked.text).split()))
    projection = Projection(words, sources, escape)
    return MarkedTranslation(projection.write_words(nest_marks(marked), 0, len(words)), projection.guessed)


def link_words(translation: Translation, words: Sequence[str], source_words: int) -> list[int]:
    """The source word of each target word: the one it looked at most, else the one at the same share of the text."""
    piece_numbers = [index for index, word in enumerate(words) for _ in word.split()]  # a protected word may be several
    source_of: dict[int, int] = {}
    if translation.hypotheses:
        for source, target in find_links(translation, translation.hypotheses[0]):
            if target < len(piece_numbers) and source < source_words:
                source_of.setdefault(piece_numbers[target], source)
    return [source_of.get(index, index * source_words // max(1, len(words))) for index in range(len(words))]


def nest_marks(marked: MarkedText) -> list[MarkNode]:
    """The marks as a forest, over words."""
    roots: list[MarkNode] = []
    open_nodes: list[MarkNode] = []
    for mark in marked.marks:
        while open_nodes and open_nodes[-1].mark.depth >= mark.depth:
            open_nodes.pop()
        node = make_node(mark, marked.text)
        (open_nodes[-1].inside if open_nodes else roots).append(node)
        if mark.fixed is None and len(open_nodes) < MAX_DEPTH:
            open_nodes.append(node)
    return roots


def make_node(mark: Mark, text: str) -> MarkNode:
    """The words that a mark touches, and what of these lies outside it."""
    prefix = text[: mark.start].rpartition(" ")[2] if mark.start < len(text) else ""
    suffix = text[mark.end :].partition(" ")[0]
    first = len(text[: mark.start - len(prefix)].split())
    if mark.is_point:
        glued = mark.start > 0 and text[mark.start - 1] != " "
        return MarkNode(mark, first, first, text[: mark.start].rpartition(" ")[2] if glued else "", suffix, "", False)
    last = first + len(text[mark.start - len(prefix) : mark.end].split())
    source = text[mark.start : mark.end]
    return MarkNode(mark, first, last, prefix, suffix, source, mark.end < len(text) and source[-1] not in CLOSING)


class MarkedLine:
    """Words as they are written one after the other, with a blank between two that are not glued."""

    def __init__(self) -> None:
        self.text = ""
        self.glued = True

    def add(self, text: str, *, glued_behind: bool = False, glued_ahead: bool = False) -> None:
        self.text += text if self.glued or glued_behind else " " + text
        self.glued = glued_ahead

    def add_words(self, words: Iterable[str]) -> None:
        for word in words:
            self.add(word)


class Projection:
    """Writes target words with marks. `guessed` counts marks that no target word looked at."""

    def __init__(self, words: Sequence[str], links: Sequence[int], escape: Escape) -> None:
        self.words = words
        self.links = links
        self.escape = escape
        self.guessed = 0

    def write_words(self, nodes: Sequence[MarkNode], low: int, high: int) -> str:
        """The target words [low, high) with these marks on them; a mark for which no word is left stands at the end."""
        line = MarkedLine()
        cursor = low
        ranges = [self.find_target_range(node, low, high) for node in nodes]
        for (start, end), node in sorted(zip(ranges, nodes, strict=True), key=lambda item: item[0]):
            start, end = max(start, cursor), max(end, cursor)
            line.add_words(map(self.escape, self.words[cursor:start]))
            if not node.mark.is_point:
                end = min(max(end, start + 1), high)
            behind = node.mark.is_point and bool(node.prefix)
            ahead = node.mark.is_point and bool(node.suffix) and not behind
            line.add(self.write_node(node, start, end), glued_behind=behind, glued_ahead=ahead)
            cursor = end
        line.add_words(map(self.escape, self.words[cursor:high]))
        return line.text

    def write_node(self, node: MarkNode, start: int, end: int) -> str:
        mark = node.mark
        last = self.words[end - 1] if end > start else ""
        closing = find_closing(last) if node.closed else ""
        opening = find_opening(self.words[start]) if node.prefix and end > start else ""
        if mark.fixed is not None:
            before = node.prefix if any(map(str.isalnum, node.prefix)) and not mark.is_point else opening
            after = node.suffix if any(map(str.isalnum, node.suffix)) and not mark.is_point else closing
            return f"{self.escape(before)}{mark.fixed}{self.escape(after)}"
        if start == end:  # no word is left for it: rather its own words than none
            self.guessed += 1
            return f"{mark.before}{self.write_untranslated(node)}{mark.after}"
        within = self.strip_punctuation(opening, closing, start, end)
        inner = within.write_words(node.inside, start, end)
        self.guessed += within.guessed if within is not self else 0
        return f"{self.escape(opening)}{mark.before}{inner}{mark.after}{self.escape(closing)}"

    def write_untranslated(self, node: MarkNode) -> str:
        """The source words of a mark, with the marks inside it."""
        if not node.inside:
            return self.escape(node.source)
        words = node.source.split()
        projection = Projection(words, [node.first + index for index in range(len(words))], self.escape)
        return projection.write_words(node.inside, 0, len(words))

    def strip_punctuation(self, opening: str, closing: str, start: int, end: int) -> Projection:
        """The same words, but the first of [start, end) without `opening` and the last without `closing`."""
        if not (opening or closing):
            return self
        words = list(self.words)
        words[start] = words[start].removeprefix(opening)
        words[end - 1] = words[end - 1].removesuffix(closing)
        return Projection(words, self.links, self.escape)

    def find_target_range(self, node: MarkNode, low: int, high: int) -> tuple[int, int]:
        """The target words [start, end) of a mark, of those in [low, high)."""
        if node.first == node.last:
            return self.find_target_gap(node, low, high)
        inside = [node.first <= link < node.last for link in self.links[low:high]]
        if all(inside):
            return low, high
        if not any(inside):
            self.guessed += 1
            index = low + next((i for i, link in enumerate(self.links[low:high]) if link >= node.last), high - low)
            return max(low, index - 1), index
        start, end = find_densest_run(inside)
        return low + start, low + end

    def find_target_gap(self, node: MarkNode, low: int, high: int) -> tuple[int, int]:
        """Where a mark without words goes: behind what comes from the word before it."""
        if node.first == 0 and not node.prefix:
            return low, low
        before = node.first if node.prefix else node.first - 1
        places = [index for index in range(low, high) if self.links[index] == before]
        index = (max(places) if places else high - 1) + 1
        return index, index


def find_densest_run(inside: Sequence[bool]) -> tuple[int, int]:
    """The run [start, end) with the most that are inside less those that are not; of equals the first and shortest."""
    best, best_range = 0, (0, 0)
    total, start = 0, 0
    for index, is_inside in enumerate(inside):
        if total <= 0:
            total, start = 0, index
        total += 1 if is_inside else -1
        if total > best:
            best, best_range = total, (start, index + 1)
    return best_range


def find_closing(word: str) -> str:
    return word[len(word.rstrip(CLOSING)) :] if word.strip(CLOSING) else ""


def find_opening(word: str) -> str:
    return word[: len(word) - len(word.lstrip(OPENING))] if word.strip(OPENING) else ""
