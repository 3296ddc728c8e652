"""Abbreviations that training hardly had, spelled out: `approx. 10` is read as `about 10`, `z. B.` as `zum Beispiel`.

A network takes the full stop of one that it does not know for the end of the sentence, and leaves out the rest. The
rules of the language list what they stand for. Knows the profile of one side, no networks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Self

from nmt_cli.carrying.spans import COVERS
from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext
from nmt_cli.text.aligned import AlignedText, Edit
from nmt_cli.text.profile import TextProfile


class Abbreviations(Rewrite):
    """Reads rare abbreviations as their words: `approx.` as `about`."""

    def __init__(self, spelled_out: Mapping[str, str]) -> None:
        self.spelled_out = {join_form(short): words for short, words in spelled_out.items()}
        forms = sorted(self.spelled_out, key=len, reverse=True)
        self.pattern = "|".join(r"\.\s?".join(map(re.escape, form.split(".")[:-1])) for form in forms)

    @classmethod
    def from_model(cls, model: ModelText) -> Self | None:
        listed = find_rules(model.languages[0]).spelled_out
        usual = {short: words for short, words in listed.items() if is_usual(words, short, model.source)}
        return cls(usual) if usual else None

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, None] | None:
        """Returns a text with its abbreviations spelled out; a full stop at its end stays."""
        edits = list(self.spell_out(text.text))
        return (text.replace(edits), None) if edits else None

    def cover_forms(self, text: str) -> str:
        """Returns a text with its abbreviations covered, which are no names."""
        covered = list(text)
        for start, end, _ in self.spell_out(text):
            covered[start:end] = COVERS[0] * (end - start)
        return "".join(covered)

    def spell_out(self, text: str) -> Iterator[Edit]:
        """Yields the edits that spell out the abbreviations of a text; only its first may have a capital."""
        if "." not in text[:-1]:
            return
        for match in re.finditer(rf"(?<![\w.])(?i:{self.pattern})(?:\.(?=\W*\w)|(?=\.))", text):
            form = join_form(match[0].rstrip(".") + ".")
            words = self.spelled_out.get(form)
            if words is None and match.start() == 0 and (words := self.spelled_out.get(form[0].lower() + form[1:])):
                words = words[0].upper() + words[1:]
            if words:
                yield Edit(*match.span(), words)


def join_form(form: str) -> str:
    """Returns an abbreviation without blanks, as which all its spellings count: `z.B.`"""
    return re.sub(r"\s", "", form)


def is_usual(words: str, short: str, profile: TextProfile) -> bool:
    """Whether training had the words of a phrase, and more often than a part of its abbreviation."""
    rarest = min(map(profile.count_word, words.split()))
    return rarest > min(profile.count_word(part) for part in join_form(short).split(".")[:-1])
