"""Projects marks (emphasis, links, code) from the words of a text to the words of its translation.

The text is translated without marks. Then, as in Müller 2017, "Treatment of markup in statistical machine translation":

1. `link_words` takes from attention the source word of each target word.
2. `nest_marks` makes a forest of the marks, over the source words.
3. `Projection` writes the target words. Each mark goes around the densest run of target words that come from its source
   words; marks inside it are placed in the same way, within that run.

Must not know any format: a mark carries the strings that are written before and after its words. Words are what is
between blanks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nmt_cli.arrays.runs import find_heaviest_run
from nmt_cli.text.characters import CLOSING, END_MARKS, OPENING, PAUSES
from nmt_cli.text.normalise import normalise
from nmt_cli.translation.placement.word_alignment import find_links

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

Escape = Callable[[str], str]
BEHIND_WORD = END_MARKS + PAUSES + CLOSING
PLACEHOLDER = re.compile(r"%\d+\$s")
MAX_DEPTH = 100  # nested marks; a deeper mark counts as a sibling of the last of these


@dataclass(frozen=True)
class Mark:
    """The characters [start, end) of a text, and how their translation is written.

    With `fixed`, that string is written instead of a translation. A mark is inside the last mark before it that has a
    smaller `depth`.
    """

    start: int
    end: int
    before: str = ""
    after: str = ""
    fixed: str | None = None
    depth: int = 0

    @property
    def is_point(self) -> bool:
        """Whether the mark has no characters: it stands between two."""
        return self.start == self.end


@dataclass(frozen=True)
class MarkedText:
    text: str
    marks: tuple[Mark, ...] = ()  # in the order in which they begin


@dataclass(frozen=True)
class MarkedTranslation:
    """A translation with its marks."""

    text: str
    guessed: int  # number of marks that attention could not place


@dataclass(frozen=True)
class MarkNode:
    """A mark over the source words [first, last), with the marks inside it."""

    mark: Mark
    first: int
    last: int
    prefix: str  # characters of the first word that are before the mark
    suffix: str  # characters of the last word that are after the mark
    source: str
    closed: bool  # whether punctuation at the end of the translated words does not belong to the mark
    inside: list[MarkNode] = field(default_factory=list)

    @property
    def tail(self) -> str:
        """The blanks at the end of its text, if no blank follows it."""
        return self.source[len(self.source.rstrip()) :] if self.suffix else ""


def project_marks(marked: MarkedText, translation: Translation, escape: Escape) -> MarkedTranslation:
    """Returns the best translation of `marked.text` with all its marks, each exactly once.

    `escape` makes plain text safe for the format.
    """
    if not marked.marks:
        return MarkedTranslation(escape(translation.text), 0)
    words = translation.text.split(" ") if translation.text else []  # other blanks are inside protected spans
    sources = link_words(translation, words, len(normalise(marked.text).split()))
    projection = Projection(words, sources, escape)
    return MarkedTranslation(projection.write_words(nest_marks(marked), 0, len(words)), projection.guessed)


def link_words(translation: Translation, words: Sequence[str], source_words: int) -> list[int]:
    """Returns the source word of each target word, by attention; else the word at the same relative position."""
    piece_numbers = [index for index, word in enumerate(words) for _ in word.split()]  # a protected span may be several
    source_of: dict[int, int] = {}
    if translation.hypotheses:
        for source, target in find_links(translation, translation.hypotheses[0]):
            if target < len(piece_numbers) and source < source_words:
                source_of.setdefault(piece_numbers[target], source)
    links = [source_of.get(index, index * source_words // max(1, len(words))) for index in range(len(words))]
    return link_placeholders(normalise(translation.source).split(), words, links)


def link_placeholders(source: Sequence[str], target: Sequence[str], links: list[int]) -> list[int]:
    """Returns the links, in which a placeholder (`%1$s`) that stands once in both texts is linked to itself."""
    names: dict[str, list[int]] = {}
    for index, word in enumerate(source):
        for name in PLACEHOLDER.findall(word):
            names.setdefault(name, []).append(index)
    for index, word in enumerate(target):
        for name in PLACEHOLDER.findall(word):
            if len(names.get(name, ())) == 1:
                links[index] = names[name][0]
    return links


def nest_marks(marked: MarkedText) -> list[MarkNode]:
    """Returns the marks as a forest over the words of the text."""
    roots: list[MarkNode] = []
    open_nodes: list[MarkNode] = []
    text = re.sub(r"\s", " ", marked.text)
    for mark in marked.marks:
        while open_nodes and open_nodes[-1].mark.depth >= mark.depth:
            open_nodes.pop()
        node = make_node(mark, text)
        (open_nodes[-1].inside if open_nodes else roots).append(node)
        if mark.fixed is None and len(open_nodes) < MAX_DEPTH:
            open_nodes.append(node)
    return roots


def make_node(mark: Mark, text: str) -> MarkNode:
    """Returns a mark with the words that it touches, and the characters of these words that are outside it."""
    prefix = text[: mark.start].rpartition(" ")[2] if mark.start < len(text) else ""
    suffix = text[mark.end :].partition(" ")[0]
    first = len(text[: mark.start - len(prefix)].split())
    if mark.is_point:
        glued = mark.start > 0 and text[mark.start - 1] != " "
        return MarkNode(mark, first, first, text[: mark.start].rpartition(" ")[2] if glued else "", suffix, "", False)
    last = first + len(text[mark.start - len(prefix) : mark.end].split())
    source = text[mark.start : mark.end]
    return MarkNode(mark, first, last, prefix, suffix, source, mark.end < len(text) and source[-1] not in BEHIND_WORD)


class MarkedLine:
    """Joins words, with a blank between two that are not glued to each other."""

    def __init__(self) -> None:
        self.text = ""
        self.glued = True

    def add(self, text: str, *, glued_behind: bool = False, glued_ahead: bool = False) -> None:
        self.text += text if self.glued or glued_behind else " " + text
        self.glued = glued_ahead

    def add_before(self, text: str, suffix: str) -> None:
        """Adds a text in the last word, before the `suffix` with which this ends."""
        self.text = f"{self.text[: -len(suffix)]}{text}{suffix}"

    def add_words(self, words: Iterable[str]) -> None:
        for word in words:
            self.add(word)


class Projection:
    """Writes target words with marks. `guessed` counts the marks whose source words no target word comes from."""

    def __init__(self, words: Sequence[str], links: Sequence[int], escape: Escape) -> None:
        self.words = words
        self.links = links
        self.escape = escape
        self.guessed = 0

    def write_words(self, nodes: Sequence[MarkNode], low: int, high: int) -> str:
        """Returns the target words [low, high) with these marks; a mark for which no word is left is at the end."""
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
            if behind and find_suffix(line.text, node.suffix) and start == end:
                line.add_before(self.write_node(node, start, end), node.suffix)
            else:
                ahead = ahead or (bool(node.tail) and end < high and self.words[end][0] in BEHIND_WORD)
                line.add(self.write_node(node, start, end), glued_behind=behind, glued_ahead=ahead)
            cursor = end
        line.add_words(map(self.escape, self.words[cursor:high]))
        return line.text

    def write_node(self, node: MarkNode, start: int, end: int) -> str:
        """Returns the target words [start, end) with this mark and those inside it."""
        mark = node.mark
        last = self.words[end - 1] if end > start else ""
        inside_word = self.write_inside_word(node, start, end)
        if inside_word is not None:
            return inside_word
        closing = find_closing(last) if node.closed else find_suffix(last, node.suffix)
        opening = find_opening(self.words[start]) if node.prefix and end > start else ""
        if mark.fixed is not None and end - start == 1 and PLACEHOLDER.fullmatch(node.source) and node.source in last:
            head, _, tail = last.partition(node.source)  # also of a compound: `%1$s-Achse`
            return f"{self.escape(head)}{mark.fixed}{self.escape(tail)}"
        if mark.fixed is not None:
            first = self.words[start] if end > start else ""
            keeps_prefix = any(map(str.isalnum, node.prefix)) or first.startswith(node.prefix)
            keeps_suffix = any(map(str.isalnum, node.suffix)) or last.endswith(node.suffix)
            before = node.prefix if keeps_prefix and not mark.is_point else opening
            after = node.suffix if keeps_suffix and not mark.is_point else closing
            return f"{self.escape(before)}{mark.fixed}{self.escape(after)}"
        if start == end:  # no target word is left: its source words are better than none
            self.guessed += 1
            return f"{mark.before}{self.write_untranslated(node)}{mark.after}"
        within = self.strip_punctuation(opening, closing, start, end)
        inner = within.write_words(node.inside, start, end)
        self.guessed += within.guessed if within is not self else 0
        return f"{self.escape(opening)}{mark.before}{inner}{node.tail}{mark.after}{self.escape(closing)}"

    def write_inside_word(self, node: MarkNode, start: int, end: int) -> str | None:
        """Returns a word that is kept, with a mark on a part of it (`H<sub>2</sub>O`); None for any other."""
        before, after = (any(map(str.isalnum, text)) for text in (node.prefix, node.suffix))
        is_kept = end - start == 1 and self.words[start] == f"{node.prefix}{node.source}{node.suffix}"
        if not (before or after) or not is_kept or node.inside or node.mark.is_point or node.mark.fixed is not None:
            return None
        prefix, source, suffix = map(self.escape, (node.prefix, node.source, node.suffix))
        return f"{prefix}{node.mark.before}{source}{node.mark.after}{suffix}"

    def write_untranslated(self, node: MarkNode) -> str:
        """Returns the source words of a mark, with the marks inside it."""
        if not node.inside:
            return self.escape(node.source)
        words = node.source.split()
        projection = Projection(words, [node.first + index for index in range(len(words))], self.escape)
        return projection.write_words(node.inside, 0, len(words))

    def strip_punctuation(self, opening: str, closing: str, start: int, end: int) -> Projection:
        """Returns a projection whose words [start, end) begin without `opening` and end without `closing`."""
        if not (opening or closing):
            return self
        words = list(self.words)
        words[start] = words[start].removeprefix(opening)
        words[end - 1] = words[end - 1].removesuffix(closing)
        return Projection(words, self.links, self.escape)

    def find_target_range(self, node: MarkNode, low: int, high: int) -> tuple[int, int]:
        """Returns the target words [start, end) of a mark, within [low, high)."""
        if node.first == node.last:
            return self.find_target_gap(node, low, high)
        inside = [node.first <= link < node.last for link in self.links[low:high]]
        if all(inside):
            return low, high
        if not any(inside):
            self.guessed += 1
            index = low + next((i for i, link in enumerate(self.links[low:high]) if link >= node.last), high - low)
            return max(low, index - 1), index
        start, end = find_heaviest_run(1 if is_inside else -1 for is_inside in inside)  # densest
        return low + start, low + end

    def find_target_gap(self, node: MarkNode, low: int, high: int) -> tuple[int, int]:
        """Returns the empty range for a mark without words: after the last target word of the word before it."""
        if node.first == 0 and not node.prefix:
            return low, low
        before = node.first if node.prefix else node.first - 1
        index = max((index for index in range(low, high) if self.links[index] == before), default=high - 1) + 1
        return index, index


def find_closing(word: str) -> str:
    """Returns the punctuation at the end of a word; nothing if the word is nothing else."""
    return word[len(word.rstrip(BEHIND_WORD)) :] if word.strip(BEHIND_WORD) else ""


def find_suffix(word: str, suffix: str) -> str:
    """Returns the punctuation that follows a mark in the source, if a word ends with it too."""
    is_closing = bool(suffix) and not suffix.strip(BEHIND_WORD)
    return suffix if is_closing and word.endswith(suffix) and len(word) > len(suffix) else ""


def find_opening(word: str) -> str:
    """Returns the punctuation at the start of a word; nothing if the word is nothing else."""
    return word[: len(word) - len(word.lstrip(OPENING))] if word.strip(OPENING) else ""
