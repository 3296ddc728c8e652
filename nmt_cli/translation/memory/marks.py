"""Markup in translation memories: finds texts that differ only in their marks, and the words that marks enclose.

    a text        Run {1} in the folder, see the manual.              {1} is `setup --fast`, the link is set aside
    a source      Run `setup --fast` in the folder, see the [manual](https://example.org).
    its key       Run setup --fast in the folder, see the manual.     of both

People copy a text from a document, from its web page or from a report, and exchange files write tags as codes. Nothing
is guessed: a translation that lacks the text's code or marks is not used. A text and its translation show which words a
mark encloses on both sides (`pair_marked`), and so where the mark goes when the translation is used again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import unescape
from typing import NamedTuple

from nmt_cli.carrying.numbers import NUMBER
from nmt_cli.carrying.syntax import IN_WORD, TAGS, parts_words
from nmt_cli.text.aligned import MarkedText, find_usual_form
from nmt_cli.text.characters import DIRECTION_MARKS
from nmt_cli.text.normalise import normalise
from nmt_cli.translation.result import MarkedPair, WordPoint, WordSpan


def make_memory_key(text: str) -> str:
    """Returns the form in which texts are compared: normalised, and without direction marks."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()  # most texts, and a memory may have a million
    text = normalise(text)
    return text if text.isascii() else " ".join(re.sub(f"[{DIRECTION_MARKS}]", "", text).split())


# Compares texts without their marks, and puts the marks of one into the translation of another.


SIGNS_OF_MARKS = re.compile(r"[<>\[`*_~&]")
EMPHASIS_MARK = r"`+|\*{1,3}|~~|(?<!\w)_{1,2}(?=\w)|(?<=[^\s_])_{1,2}(?!\w)"
ANGLES = str.maketrans("", "", "<>")  # around an address


@cache
def compile_marks() -> re.Pattern[str]:
    """Returns the pattern of a mark in a text: a tag, either end of a link, or a sign for code or emphasis."""
    return re.compile(f"{TAGS.pattern.pattern}|{EMPHASIS_MARK}")


def list_marks(text: str) -> list[str]:
    """Returns the marks that are written in a text, in order."""
    return [match[0] for match in compile_marks().finditer(text)] if SIGNS_OF_MARKS.search(text) else []


def drop_mark(mark: str) -> str:
    """Returns what remains of a removed mark: a space if it separates words, else nothing."""
    return " " if mark[0] == "<" and parts_words(TAGS.make_span(0, mark)) else ""


def make_bare_key(text: str) -> str:
    """Returns the form in which texts are compared without their marks."""
    if SIGNS_OF_MARKS.search(text) is None:
        return make_memory_key(text)
    bare = compile_marks().sub(lambda match: drop_mark(match[0]), text)
    return make_memory_key(unescape(bare).translate(ANGLES))


def make_menu_key(text: str) -> str:
    """Returns the form in which texts are compared without their marks and the accelerator signs of menus."""
    return make_bare_key(text).translate(dict.fromkeys(map(ord, IN_WORD)))


def put_codes(text: str, codes: Mapping[str, str]) -> str:
    """Returns a text with the codes that names such as `{1}` stand for."""
    return re.sub("|".join(map(re.escape, codes)), lambda match: codes[match[0]], text) if codes else text


def name_codes(side: str, text: str, codes: Mapping[str, str]) -> str | None:
    """Returns a side of a pair with its codes replaced by the names that a text gives them; None if it lacks one.

    The side may have a code as its name, as its spelling, or without markup.
    """
    for name, spelled in codes.items():
        if name in text:
            forms = filter(None, (name, spelled, make_bare_key(spelled)))
            matches = (re.search(rf"(?<!\w){re.escape(form)}(?!\w)", side, re.ASCII) for form in forms)
            if (match := next(filter(None, matches), None)) is None:
                return None
            side = side[: match.start()] + name + side[match.end() :]
    return side


def fit_marks(source: str, target: str, text: str) -> str | None:
    """Returns the translation of `source` with the marks of a text that differs only in its marks, or None.

    If both have equally many marks, each is replaced by the text's, in source order; else marks that the text lacks are
    dropped.
    """
    text_marks, marks = list_marks(text), list_marks(source)
    are_alike = len(text_marks) == len(marks) and Counter(marks) == Counter(list_marks(target))
    left = list(zip(marks if are_alike else text_marks, text_marks, strict=True))

    def replace_mark(match: re.Match[str]) -> str:
        index = next((index for index, (mark, _) in enumerate(left) if mark == match[0]), None)
        return drop_mark(match[0]) if index is None else left.pop(index)[1]

    fitted = compile_marks().sub(replace_mark, target) if SIGNS_OF_MARKS.search(target) else target
    if unescape(text) == text and unescape(source) != source:
        fitted = unescape(fitted)
    return None if left else fitted


# Pairs the words between the same marks of a text and its translation.

Change = tuple[str, str]  # a text before and after


class MarkedSpan(NamedTuple):
    """The words that a mark encloses."""

    words: WordSpan
    kind: str  # how the mark is spelled
    name: str  # of a tag; empty for a run


def find_point(before: str) -> WordPoint:
    """Returns the point of a text that follows the part `before`."""
    words = before.split()
    return WordPoint(len(words) - 1, len(words[-1])) if before[-1:].strip() else WordPoint(len(words), 0)


def list_spelled_spans(text: str) -> Iterator[MarkedSpan]:
    """Yields the words between two marks of the same kind in a text: a link, the name of a tag, or a sign."""
    beginnings: dict[str, tuple[str, str]] = {}  # the text before each, and the mark
    bare, position = "", 0
    for match in compile_marks().finditer(text) if SIGNS_OF_MARKS.search(text) else ():
        before, position = bare + text[position : match.start()], match.end()
        bare = before + drop_mark(match[0])
        name = re.match(r"</?([\w:-]+)", match[0])
        kind = name[1] if name else "link" if match[0].strip("!")[:1] in "[]" else match[0]
        if kind not in beginnings:
            beginnings[kind] = before, match[0]
            continue
        start, mark = beginnings.pop(kind)
        if start.split() != before.split():
            yield MarkedSpan((find_point(start), find_point(before)), mark + match[0], kind)


def list_spans(text: MarkedText, usual: str) -> Iterator[MarkedSpan]:
    """Yields the words that the tags of a document enclose, and those of runs in an unusual form."""
    for start, end, kind, name in text.parts:
        inside = text[start:end]
        if inside.strip() and (name or kind != usual):
            start += len(inside) - len(inside.lstrip())
            yield MarkedSpan((find_point(text[:start]), find_point(text[:end].rstrip())), kind, name)


def pair_marked(source: str, target: str) -> tuple[MarkedPair, ...]:
    """Returns the words that the same marks enclose on both sides, and those that marks on only one side enclose."""
    if not (isinstance(source, MarkedText) and isinstance(target, MarkedText)):
        return pair_spans(list(list_spelled_spans(source)), list(list_spelled_spans(target)))
    usual = find_usual_form(source.parts)
    is_shared = any(part.kind == usual for part in target.parts)
    target_usual = usual if is_shared else find_usual_form(target.parts)
    return pair_spans(list(list_spans(source, usual)), list(list_spans(target, target_usual)))


def pair_spans(before: list[MarkedSpan], after: list[MarkedSpan]) -> tuple[MarkedPair, ...]:
    """Pairs marks that are spelled alike, then those with the same name, then the only one left on each side.

    Runs of the same form count as the same wherever they are; if one side has fewer, several share one.
    """
    pairs: list[MarkedPair] = []
    for depth in (1, 2, 3):
        for key in dict.fromkeys(span[depth:] for span in before):
            sources, targets = ([span for span in some if span[depth:] == key] for some in (before, after))
            are_runs = depth == 1 and not sources[0].name
            are_alike = len(sources) == len(targets) and (len(sources) == 1 or any(key))
            if targets and (are_runs or are_alike):
                for index in range(max(len(sources), len(targets))):
                    marked, same = (some[min(index, len(some) - 1)] for some in (sources, targets))
                    pairs.append(MarkedPair(marked.words, same.words))
                before = [span for span in before if span not in sources]
                after = [span for span in after if span not in targets]
    pairs += (MarkedPair(span.words, None) for span in before)
    return (*pairs, *(MarkedPair(None, span.words) for span in after))


def move_marks(pairs: Sequence[MarkedPair], source: Change, target: Change) -> tuple[MarkedPair, ...]:
    """Returns the marked pairs, moved to a source and a translation with other numbers."""
    return tuple(MarkedPair(move_span(pair.source, *source), move_span(pair.target, *target)) for pair in pairs)


def move_span(span: WordSpan | None, before: str, after: str) -> WordSpan | None:
    """Returns a range of words, moved to a text with other numbers; None if the text has too few words."""
    words = list(zip(before.split(), after.split(), strict=False))
    if span is None or max(point.word for point in span) >= len(words):
        return None
    start, end = (move_point(point, *words[point.word]) for point in span)
    return start, end


def move_point(point: WordPoint, before: str, after: str) -> WordPoint:
    """Returns a point in a word, moved to a word with other numbers."""
    numbers = zip(NUMBER.finditer(before), NUMBER.finditer(after), strict=False)
    longer = sum(len(new[0]) - len(old[0]) for old, new in numbers if old.end() <= point.offset)
    return point._replace(offset=min(point.offset + longer, len(after)))
