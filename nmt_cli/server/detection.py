"""Detects which of the served languages a text is written in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from nmt_cli.languages.codes import KnownLanguage, find_code
from nmt_cli.server.models import ModelPool

CERTAIN = 100.0
READ = 1_000  # characters that are looked at


class Detected(NamedTuple):
    """The language of a text, with a confidence of 0-100."""

    language: KnownLanguage
    confidence: float


class Detector:
    """Chooses among the source languages of the models; a single one is always the answer.

    The identifier, if installed, compares them with the target languages too: its confidence falls if a text is in none
    of the source languages.
    """

    def __init__(self, pool: ModelPool) -> None:
        self.pool = pool

    @cached_property
    def identifier(self) -> Any:
        """The language identifier, restricted to the served languages; None if it knows fewer than two."""
        try:
            from py3langid.langid import MODEL_FILE, LanguageIdentifier
        except ImportError:
            return None
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        codes = {find_code(side.code) for model in self.pool.models for side in (model.source, model.target)}
        codes &= {label for label, _ in identifier.rank("a")}
        if len(codes) < 2:
            return None
        identifier.set_languages(sorted(codes))
        return identifier

    async def detect_all(self, texts: Sequence[str]) -> list[Detected]:
        """Returns the most likely source language of each text.

        Runs in a thread, since loading the identifier takes long.
        """
        return await asyncio.to_thread(lambda: [self.detect(text) for text in texts])

    def detect(self, text: str) -> Detected:
        """Returns the most likely source language of a text."""
        sources = self.pool.sources
        if not any(character.isalpha() for character in text) or self.identifier is None:
            return Detected(sources[0], CERTAIN)
        ranking = {code: float(share) for code, share in self.identifier.rank(text[:READ])}
        best = max(sources, key=lambda language: ranking.get(find_code(language.code), 0.0))
        return Detected(best, round(100 * ranking.get(find_code(best.code), 1.0), 1))

    async def choose_source(self, texts: Sequence[str]) -> str:
        """Returns the source language code of texts in a single language, by the first with letters."""
        first = next((text for text in texts if any(character.isalpha() for character in text)), "")
        if len(self.pool.sources) == 1:
            return self.pool.sources[0].code
        (guess,) = await self.detect_all([first])
        return guess.language.code
