"""Continues a sentence: the first word behind a span, or behind another part of it, gets no capital.

A network learned that its first word has a capital. Knows profiles, no networks.
"""

from __future__ import annotations

import re
from typing import Self

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext, Written
from nmt_cli.rewriting.recasing import lower_text
from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.characters import PAUSES
from nmt_cli.text.profile import TextProfile

CONTINUING_WORD = r"[^\W\d_]+"
BEHIND_SPAN = rf"[\s{re.escape(PAUSES)}]*"


class Continued(Rewrite):
    """Gives no capital to a word behind a span that begins a sentence."""

    def __init__(self, target: TextProfile, language: str) -> None:
        """`language` is the target's."""
        self.target, self.language = target, language

    @classmethod
    def from_model(cls, model: ModelText) -> Self | None:
        return None if model.lowercase else cls(model.target, model.languages[1])

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, bool] | None:
        """Returns the unchanged text, and whether it begins a sentence; None if its first word does."""
        first = PLACEHOLDER_PATTERN.match(text.text)
        if first is None and context.begins_sentence:
            return None
        word = re.compile(BEHIND_SPAN + CONTINUING_WORD).match(text.text, first.end() if first else 0)
        return (text, context.begins_sentence) if word is not None and word[0].islower() else None

    def write(self, translation: str, memo: bool, written: Written) -> str:
        """Returns a translation whose first word, behind a span in one that begins a sentence, has no rare capital."""
        spans = "|".join(re.escape(span) for span in sorted(written.spans, key=len, reverse=True) if span)
        lead = rf"(?:(?:{spans}){BEHIND_SPAN})+" if spans else "(?!)"
        match = re.match(rf"(?:{lead}){'' if memo else '?'}(?P<word>{CONTINUING_WORD})", translation)
        if match is None:
            return translation
        word, small = match["word"], lower_text(match["word"], self.language)
        if not word[1:].islower() or self.target.find_usual_case(word) != small:
            return translation
        return translation[: match.start("word")] + small + translation[match.end() :]
