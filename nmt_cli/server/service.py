"""Shared by all shapes: texts translated, documents translated, languages detected, corrections kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.errors import FailedLineError, NmtError
from nmt_cli.server.admission import Admission
from nmt_cli.server.batching import USUAL, Batcher, RequestOptions
from nmt_cli.server.detection import Detected, Detector
from nmt_cli.server.errors import INTERNAL_ERROR, RequestError
from nmt_cli.server.glossaries import GlossaryStore
from nmt_cli.server.limits import DEFAULT_LIMITS, Limits
from nmt_cli.server.models import ModelPool, ServedModel
from nmt_cli.server.request_counts import RequestCounts
from nmt_cli.server.results import DocumentStore, ResultStore
from nmt_cli.server.suggestions import SuggestionFile
from nmt_cli.server.texts import SplitTexts, count_lines
from nmt_cli.server.threads import ReadingThreads
from nmt_cli.text.tags import FORMAL, INFORMAL
from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from nmt_cli.api.documents import FileReport
    from nmt_cli.carrying.glossary import Glossary
    from nmt_cli.translation.result import Translation

Log = Callable[[str], None]
DEFAULT, PREFERRED = "default", "prefer_"
FORMALITIES = {  # of DeepL, with their tags
    DEFAULT: None,
    "more": FORMAL,
    "less": INFORMAL,
    "prefer_more": FORMAL,
    "prefer_less": INFORMAL,
}


def ignore_line(line: str) -> None:
    """Logs nothing."""


def choose_register(model: ServedModel, formality: str) -> tuple[str, ...]:
    """Returns the tag of a DeepL formality. Raises RequestError for none of these, and for one that a model lacks."""
    if formality not in FORMALITIES:
        raise RequestError(400, f"Value for 'formality' not supported: {formality}")
    tag = FORMALITIES[formality]
    if tag is None or tag in model.card.tags:
        return () if tag is None else (tag,)
    if formality.startswith(PREFERRED):
        return ()
    raise RequestError(400, "'formality' is not supported for given 'target_lang'")


def choose_domain(model: ServedModel, domain: str) -> tuple[str, ...]:
    """Returns the tag of a domain, if one is asked for. Raises RequestError for one that a model lacks."""
    if domain and domain not in model.card.domains:
        domains = ", ".join(sorted(model.card.domains)) or "none"
        raise RequestError(400, f"Value for 'tag' not supported: {domain}; the model knows {domains}")
    return (domain,) if domain else ()


class TranslatedTexts(NamedTuple):
    """The translations of the texts of a request."""

    model: ServedModel
    texts: list[str]
    alternatives: list[list[str]]  # of each text, if they were asked for


class TranslatedDocument(NamedTuple):
    """A translated document, kept for a while."""

    name: str  # under which it can be fetched
    report: FileReport


@dataclass
class Service:
    """The models and the rules of this server."""

    pool: ModelPool
    limits: Limits = DEFAULT_LIMITS
    admission: Admission = field(default_factory=Admission)
    suggestions: SuggestionFile | None = None
    log: Log = ignore_line  # a line for each request
    report: Log = ignore_line  # a line for each failure of the server
    results: ResultStore = field(default_factory=ResultStore)
    glossaries: GlossaryStore = field(default_factory=GlossaryStore)
    documents: DocumentStore = field(default_factory=DocumentStore)
    counts: RequestCounts = field(default_factory=RequestCounts)
    progress: dict[str, int] = field(default_factory=dict)  # texts done of each document that the page waits for

    def __post_init__(self) -> None:
        self.batcher = Batcher(self.pool, self.limits)
        self.threads = ReadingThreads(self.batcher)
        self.detector = Detector(self.pool)

    def check_lines(self, texts: Sequence[str]) -> None:
        """Raises RequestError if the texts of a request have too many lines."""
        if (number := count_lines(texts)) > self.limits.lines:
            raise RequestError(
                413, f"{format_count(number, 'line')}; this server takes {self.limits.lines:,} in one request"
            )

    def split_texts(self, texts: Sequence[str]) -> SplitTexts:
        """Returns the lines of texts. Raises RequestError if there are too many, blank ones included."""
        self.check_lines(texts)
        return SplitTexts.from_texts(texts)

    async def detect_languages(self, texts: Sequence[str]) -> list[Detected]:
        """Returns the language of each text. Raises RequestError if there are too many lines."""
        self.check_lines(texts)
        return await self.detector.detect_all(texts)

    async def translate_texts(
        self,
        texts: Sequence[str],
        source: str | None,
        target: str | None,
        alternatives: int = 0,
        *,
        are_markup: bool = False,
        kept_tags: frozenset[str] = frozenset(),
        formality: str = DEFAULT,
        domain: str = "",
        glossary: Glossary | None = None,
    ) -> TranslatedTexts:
        """Translates texts of one language; "auto" detects it from the first text with letters.

        In markup, elements named in `kept_tags` are kept. `formality` is one of FORMALITIES, `domain` a tag of the
        model. `glossary` replaces the server's.
        """
        if source in (None, "", "auto"):
            source = await self.detector.choose_source(texts)
        model = self.pool.find(source, target)
        register = choose_register(model, formality)
        options = RequestOptions((*choose_domain(model, domain), *register), glossary)
        if are_markup:
            return TranslatedTexts(model, await self.translate_markup(model, texts, kept_tags, options), [])
        split = self.split_texts(texts)
        translations = await self.translate_lines(model, split.lines, 1 + alternatives, options)
        others = []
        if alternatives:
            find_near = partial(model.find_near, most=alternatives, tags=register)
            others = await asyncio.to_thread(split.join_alternatives, translations, alternatives, find_near)
        return TranslatedTexts(model, split.join(translations), others)

    async def translate_markup(
        self, model: ServedModel, texts: Sequence[str], kept_tags: frozenset[str], options: RequestOptions = USUAL
    ) -> list[str]:
        """Translates pieces of HTML, keeping tags and entities."""
        from nmt_cli.api.documents import translate_fragment

        self.check_lines(texts)
        read = partial(translate_fragment, languages=model.card.languages, kept_tags=kept_tags)
        reads = [partial(read, text=text) for text in texts]
        try:
            return await self.threads.read_fragments(model, reads, options)
        except FailedLineError as error:
            raise RequestError(500, f"a text is not translated: {INTERNAL_ERROR}", detail=error.message) from error
        except NmtError as error:
            raise RequestError(400, error.message) from error

    async def translate_lines(
        self, model: ServedModel, lines: Sequence[str], n_best: int = 1, options: RequestOptions = USUAL
    ) -> list[Translation]:
        """Returns the translation of each line. Raises RequestError if too many wait."""
        if not lines:
            return []
        try:
            translations = await self.batcher.translate(model, lines, n_best, options)
        except NmtError as error:  # a model that was damaged since the server started
            raise RequestError(500, INTERNAL_ERROR, detail=error.message) from error
        for number, failure in enumerate((translation.failure for translation in translations), start=1):
            if failure is not None:  # a copy would pass for a translation
                problem = f"line {number} is not translated"
                raise RequestError(500, f"{problem}: {INTERNAL_ERROR}", detail=f"{problem}: {failure}")
        return translations

    async def translate_document(
        self,
        upload: Path,
        name: str,
        source: str | None,
        target: str | None,
        progress: StageReporter = ignore_progress,
        glossary: Glossary | None = None,
        formality: str = DEFAULT,
        domain: str = "",
    ) -> TranslatedDocument:
        """Translates an uploaded document; its language is detected from its first texts if it is "auto"."""
        from nmt_cli.api.documents import read_first_texts, translate_file
        from nmt_cli.documents.config import DocumentConfig
        from nmt_cli.translation.known_tags import find_scope

        result = self.results.make_name(name)
        path = self.results.find_path(result)
        try:
            if source in (None, "", "auto") and len(self.pool.sources) > 1:
                texts = await asyncio.to_thread(read_first_texts, upload)
                source = await self.detector.choose_source([" ".join(texts)])
            model = self.pool.find(source, target)
            register = choose_register(model, formality)
            memory, scope = model.find_memory(register), find_scope(None, model.card, model.directory)
            report = await self.threads.read_document(
                model,
                lambda translate: translate_file(
                    *(translate, upload, path, DocumentConfig(), model.card.languages),
                    memory=memory,
                    scope=scope,
                    progress=progress,
                ),
                RequestOptions((*choose_domain(model, domain), *register), glossary),
            )
        except NmtError as error:
            raise RequestError(400, error.message.replace(str(upload), name)) from error
        for number, translation in report.flagged:
            if translation.failure is not None:
                self.report(f"text {number} of a document is not translated: {translation.failure}")
        return TranslatedDocument(result, report)

    def close(self) -> None:
        """Stops the workers, and deletes everything kept for clients."""
        self.documents.close()
        self.threads.close()
        self.batcher.close()
        self.results.close()
