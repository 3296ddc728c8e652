"""Splits a request's text into lines and joins them: line ends, blank lines, margins and letterless text are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from nmt_cli.translation.result import Translation

LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


class TextLine(NamedTuple):
    """A line of a text: the part to translate, and its margins."""

    before: str
    core: str
    after: str  # with the line end
    is_translated: bool

    def write(self, translation: str) -> str:
        return self.before + (translation if self.is_translated else self.core) + self.after


def count_lines(texts: Sequence[str]) -> int:
    """Returns the number of lines of texts, blank ones included, without splitting them."""
    return sum(1 + text.count("\n") + text.count("\r") - text.count("\r\n") for text in texts)


def split_margins(line: str) -> TextLine:
    """Separates a line from its surrounding blanks; a line without letters is not translated at all."""
    core = line.strip()
    start = line.index(core) if core else len(line)
    has_letters = any(character.isalpha() for character in core)
    return TextLine(line[:start], core, line[start + len(core) :], has_letters)


class SplitTexts(NamedTuple):
    """The texts of a request as lines."""

    texts: tuple[tuple[TextLine, ...], ...]

    @classmethod
    def from_texts(cls, texts: Sequence[str]) -> SplitTexts:
        return cls(tuple(tuple(map(split_margins, LINE.findall(text))) for text in texts))

    @property
    def lines(self) -> list[str]:
        """The lines to translate, in order."""
        return [line.core for text in self.texts for line in text if line.is_translated]

    def join(self, translations: Sequence[Translation]) -> list[str]:
        """Returns the texts with the translations of their lines."""
        remaining = iter(translations)
        return [
            "".join(line.write(next(remaining).text if line.is_translated else "") for line in text)
            for text in self.texts
        ]

    def join_alternatives(
        self, translations: Sequence[Translation], number: int, find_near: Callable[[str], list[str]]
    ) -> list[list[str]]:
        """Returns other translations of each single-line text, without repeats.

        Those of near texts, which people wrote, come first; then those of the model, best first.
        """
        remaining = iter(translations)
        alternatives = []
        for text in self.texts:
            parts = [next(remaining) if line.is_translated else None for line in text]
            only = parts[0] if len(parts) == 1 else None
            texts = [hypothesis.text for hypothesis in only.hypotheses] if only is not None else []
            near = find_near(text[0].core) if texts else []
            others = [other for other in dict.fromkeys([*near, *texts]) if other != texts[0]]
            alternatives.append([text[0].write(other) for other in others[:number]])
        return alternatives
