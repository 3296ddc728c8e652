"""Words that name several genders at once by an internal mark: `Lehrer*innen`, `Lehrer/-in`, `étudiant·e·s`.

Older training text has no such words, and a network reads the mark as the end of the word. Without it, they are known
words: the longer form in German (`Lehrerinnen`), the shorter in French (`étudiants`). The rules of the language
describe them. Knows only text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Self

from nmt_cli.carrying.spans import COVERS
from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext
from nmt_cli.text.aligned import AlignedText, Edit

INNER_MARKS = frozenset("*_:/(·•‧⋅")  # one of which such a word has


class GenderForms(Rewrite):
    """Reads words of several genders as one form: `Lehrer*innen` as `Lehrerinnen`."""

    def __init__(self, language: str) -> None:
        self.language = language

    @classmethod
    def from_model(cls, model: ModelText) -> Self:
        return cls(model.languages[0])

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, None] | None:
        marks = [] if INNER_MARKS.isdisjoint(text.text) else list(find_gender_marks(text.text, self.language))
        return (text.replace(marks), None) if marks else None

    def cover_forms(self, text: str) -> str:
        """Returns a text with such words, and anything attached to them, covered."""
        if INNER_MARKS.isdisjoint(text):
            return text
        characters = list(text)
        for mark in find_gender_marks(text, self.language):
            start, end = text.rfind(" ", 0, mark.start) + 1, text.find(" ", mark.end)
            end = len(text) if end < 0 else end
            characters[start:end] = COVERS[0] * (end - start)
        return "".join(characters)


def find_gender_marks(text: str, language: str) -> Iterator[Edit]:
    """Yields edits that delete the marks inside words of several genders, with the endings that the marks set off."""
    rules = find_rules(language)
    for match in re.finditer(rules.gender_forms, text) if rules.gender_forms else ():
        ending = re.search(rules.gender_marks, match[0])
        if ending is None:
            continue
        yield Edit(match.start() + ending.start(), match.end(), "")
        if ending[0] == "(":
            closing = text.index(")", match.end())
            yield Edit(closing, closing + 1, "")


def drop_gender_marks(text: str, language: str) -> str:
    """Reduces words of several genders to one form.

    >>> drop_gender_marks("Jede*r kennt Schüler/-innen.", "deu")
    'Jeder kennt Schülerinnen.'
    """
    marks = list(find_gender_marks(text, language))
    return AlignedText.from_text(text).replace(marks).text if marks else text
