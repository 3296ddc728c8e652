"""The service behind all interfaces: translates, detects languages, stores corrections, and counts requests."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.errors import FailedLineError, NmtError
from nmt_cli.languages.codes import (
    Identified,
    KnownLanguage,
    find_code,
    find_other_language,
    has_identifier,
    rank_languages,
)
from nmt_cli.server.admission import DEFAULT_LIMITS, INTERNAL_ERROR, Admission, Limits, RequestError, explain_error
from nmt_cli.server.batching import USUAL, Batcher, ReadingThreads, RequestOptions
from nmt_cli.server.models import ModelPool, ServedModel, is_any
from nmt_cli.server.stores import DocumentStore, GlossaryStore, ResultStore, SuggestionFile
from nmt_cli.text.tags import FORMAL, INFORMAL
from nmt_cli.text.words import has_letters
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.lines import WINDOW, WindowCutter
from nmt_cli.translation.request import Block, TranslateBlock
from nmt_cli.translation.result import Translation

if TYPE_CHECKING:
    from nmt_cli.api.translator import FileReport
    from nmt_cli.carrying.glossary import Glossary


BLOCK = 4 * WINDOW  # lines of a text that are read in context at a time: an abandoned request ends behind them


def translate_text(lines: Sequence[str], translate: TranslateBlock) -> list[Translation]:
    """Returns the translations of lines, made one after the other; runs in the thread of a document."""
    cutter, translations = WindowCutter(), list[Translation]()
    for first in range(0, len(lines), BLOCK):
        block = lines[first : first + BLOCK]
        translations += translate(Block(first, block, windows=cutter.cut_lines(block)))
    return translations


# Splits a request's text into lines and joins them: line ends, blank lines, margins and letterless text are kept.


LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


class TextLine(NamedTuple):
    """A line of a text: the part to translate, and its margins."""

    before: str
    core: str
    after: str  # with the line end
    is_translated: bool

    def write(self, translation: str) -> str:
        return self.before + translation + self.after


def count_lines(texts: Sequence[str]) -> int:
    """Returns the number of lines of texts, blank ones included, without splitting them."""
    return sum(1 + text.count("\n") + text.count("\r") - text.count("\r\n") for text in texts)


def split_margins(line: str) -> TextLine:
    """Separates a line from the white space around it; a line without letters is not translated at all."""
    core = line.strip()
    start = line.index(core) if core else len(line)
    return TextLine(line[:start], core, line[start + len(core) :], has_letters(core))


TranslatedLines = Sequence[Translation | None]  # of a text; None for a line that is not translated


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

    def match(self, translations: Sequence[Translation]) -> list[TranslatedLines]:
        """Returns the translation of each line of each text."""
        remaining = iter(translations)
        return [[next(remaining) if line.is_translated else None for line in text] for text in self.texts]

    def join(self, translated: Sequence[TranslatedLines]) -> list[str]:
        """Returns the texts with their lines translated."""
        return [
            "".join(line.write(done.text if done else line.core) for line, done in zip(text, lines, strict=True))
            for text, lines in zip(self.texts, translated, strict=True)
        ]

    def join_alternatives(
        self, translated: Sequence[TranslatedLines], number: int, find_near: Callable[[str], list[str]]
    ) -> list[list[str]]:
        """Returns other translations of each single-line text, without repeats.

        Translations of similar texts, which people wrote, come first; then those of the model, best first.
        """
        alternatives = []
        for text, lines in zip(self.texts, translated, strict=True):
            only = lines[0] if len(lines) == 1 else None
            texts = [hypothesis.text for hypothesis in only.hypotheses] if only is not None else []
            near = find_near(text[0].core) if texts else []
            others = [other for other in dict.fromkeys([*near, *texts]) if other != texts[0]]
            alternatives.append([text[0].write(other) for other in others[:number]])
        return alternatives


# Detects which language a text is written in.
#
# Of English and German, "Où est la gare ?" is English with a confidence of 0, and surely French.


CERTAIN = 100.0
TAG = re.compile(r"<[^<>]*>")


class Detected(NamedTuple):
    """The most probable language of a text, with a confidence of 0 to 100; 0 if it is surely in an `other` language."""

    language: KnownLanguage
    confidence: float
    other: Identified | None = None

    @property
    def overall(self) -> Detected:
        """The most probable of all languages that the identifier knows."""
        return self if self.other is None else Detected(self.other.language, round(100 * self.other.share, 1))

    def is_target(self, model: ServedModel) -> bool:
        """Whether the text is surely in the target language of a model, and not in its source language."""
        return self.other is not None and find_code(self.other.language.code) == find_code(model.target.code)


def detect_language(text: str, languages: Sequence[KnownLanguage]) -> Detected:
    """Returns the likeliest of these languages for a text, even if it is too short to be sure.

    Every text counts as in the first of them if the identifier is not installed or does not know them. A text without
    letters has a confidence of 0.
    """
    if not has_letters(text) or not has_identifier():
        return Detected(languages[0], CERTAIN if has_letters(text) else 0.0)
    ranked = rank_languages(text)
    codes = [find_code(language.code) for language in languages]
    shares = [ranked.get(code, 0.0) for code in codes]
    best = languages[shares.index(max(shares))]
    if (other := find_other_language(text, codes)) is not None:
        return Detected(best, 0.0, other)
    # The likeliest of all other languages counts too: "merci beaucoup" is surely not English, though rather that than
    # German.
    rest = max((share for code, share in ranked.items() if code not in codes), default=0.0)
    share = max(shares) / (sum(shares) + rest or 1.0)
    return Detected(best, round(100 * share, 1) if share else CERTAIN)


def choose_source(texts: Sequence[str], guesses: Sequence[Detected]) -> str | None:
    """Returns the code of the likeliest language of texts in a single language; None for texts without letters."""
    totals = Counter[str]()
    for text, guess in zip(texts, guesses, strict=True):
        if has_letters(text):
            totals[guess.language.code] += guess.confidence  # type: ignore[assignment]  # a number of percents
    return max(totals, key=totals.__getitem__, default=None)


# Counts the requests that were answered, and how long they took.


BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)  # seconds


class RequestCounts:
    """The requests that were answered, by path and status, and how long they took; used in one event loop."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()
        self.durations = [0] * (len(BOUNDS) + 1)  # of those up to each bound, and of the rest
        self.seconds = 0.0

    def add(self, path: str, status: int, seconds: float) -> None:
        self.answers[path, status] += 1
        self.durations[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def write_histogram(self) -> Iterator[tuple[str, float]]:
        """Yields the number of requests that took up to each bound, their total seconds, and their total number."""
        totals = list(accumulate(self.durations))
        for bound, total in zip((*map(str, BOUNDS), "+Inf"), totals, strict=True):
            yield f'_bucket{{le="{bound}"}}', total
        yield "_sum", round(self.seconds, 6)
        yield "_count", totals[-1]


# Shared by all shapes: texts translated, documents translated, languages detected, corrections kept.


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
    """Returns the tag of a DeepL formality. Raises RequestError if it is unknown, or if the model lacks it."""
    if formality not in FORMALITIES:
        raise RequestError(400, f"Value for 'formality' not supported: {formality}")
    tag = FORMALITIES[formality]
    if tag is None or tag in model.card.tags:
        return () if tag is None else (tag,)
    if formality.startswith(PREFERRED):
        return ()
    raise RequestError(400, "'formality' is not supported for given 'target_lang'")


class Wishes(NamedTuple):
    """The options with which a request wants its texts translated."""

    formality: str = DEFAULT  # one of FORMALITIES
    domain: str = ""  # a tag of the model
    glossary: Glossary | None = None  # instead of the server's
    columns: tuple[str, ...] = ()  # of a table, to translate

    def fit_to(self, model: ServedModel) -> RequestOptions:
        """Returns the options of a search. Raises RequestError for options that the model lacks."""
        if self.domain and self.domain not in model.card.domains:
            domains = ", ".join(sorted(model.card.domains)) or "none"
            raise RequestError(400, f"Value for 'tag' not supported: {self.domain}; the model knows {domains}")
        return RequestOptions((*filter(None, [self.domain]), *choose_register(model, self.formality)), self.glossary)


USUAL_WISHES = Wishes()


class TranslatedTexts(NamedTuple):
    """The translations of the texts of a request."""

    model: ServedModel
    texts: list[str]
    alternatives: list[list[str]]  # of each text, if they were asked for
    guesses: Sequence[Detected] = ()  # the language of each text, if it was detected
    lines: Sequence[TranslatedLines] = ()  # of each text that is no markup

    @property
    def warning(self) -> str:
        return describe_other(self.guesses, self.model)

    def name_source(self, index: int) -> str:
        """Returns the code of the language that a text has, whether or not it can be translated."""
        return self.guesses[index].overall.language.code if self.guesses else self.model.source.code


class TranslatedDocument(NamedTuple):
    """A translated document, kept for a while."""

    name: str  # under which it can be fetched
    report: FileReport
    warning: str  # about its language


def describe_other(guesses: Sequence[Detected], model: ServedModel, thing: str = "text") -> str:
    """Returns a warning about the first text that is in none of the source languages; empty if there is none."""
    for number, guess in enumerate(guesses, start=1):
        if guess.other is not None:
            name = f"the {thing}" if len(guesses) == 1 else f"{thing} {number:,}"
            return f"{name} looks like {guess.other.language.name}, but is translated as {model.source.name}"
    return ""


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

    def check_lines(self, texts: Sequence[str]) -> None:
        """Raises RequestError if the texts of a request have too many lines."""
        if (number := count_lines(texts)) > self.limits.lines:
            raise RequestError(
                413, f"{format_count(number, 'line')}; this server takes at most {self.limits.lines:,} in one request"
            )

    def split_texts(self, texts: Sequence[str]) -> SplitTexts:
        """Returns the lines of texts. Raises RequestError if there are too many, blank ones included."""
        self.check_lines(texts)
        return SplitTexts.from_texts(texts)

    async def detect_languages(
        self, texts: Sequence[str], languages: Sequence[KnownLanguage] | None = None
    ) -> list[Detected]:
        """Returns the likeliest language of each text, by default among all languages of the models.

        Runs in a thread, since loading the identifier takes long. Raises RequestError if there are too many lines.
        """
        self.check_lines(texts)
        among = languages or self.pool.languages
        return await asyncio.to_thread(lambda: [detect_language(text, among) for text in texts])

    async def find_model(
        self, texts: Sequence[str], source: str | None, target: str | None
    ) -> tuple[ServedModel, list[Detected]]:
        """Returns the model of a direction, and the language of each text if no source language was named."""
        guesses: list[Detected] = []
        if is_any(source):
            guesses = await self.detect_languages(texts, self.pool.list_sources(target))
            source = choose_source(texts, guesses)
        return self.pool.find(source, target), guesses

    async def translate_texts(
        self,
        texts: Sequence[str],
        source: str | None,
        target: str | None,
        alternatives: int = 0,
        *,
        are_markup: bool = False,
        kept_tags: frozenset[str] = frozenset(),
        wishes: Wishes = USUAL_WISHES,
    ) -> TranslatedTexts:
        """Translates texts in one language; "auto" detects it, and keeps texts that are already in the target language.

        In markup, elements named in `kept_tags` are kept.
        """
        read = [TAG.sub(" ", text) for text in texts] if are_markup else texts  # the names of tags look English
        model, guesses = await self.find_model(read, source, target)
        kept = {index: guess.overall for index, guess in enumerate(guesses) if guess.is_target(model)}
        likeliest = await self.detect_languages(read) if guesses else []  # among the target languages, too
        pairs = enumerate(zip(guesses, likeliest, strict=True))
        guesses = [kept.get(index, guess if guess.other is not None else best) for index, (guess, best) in pairs]
        asked = ["" if index in kept else text for index, text in enumerate(texts)]
        options = wishes.fit_to(model)
        others, lines = list[list[str]](), list[TranslatedLines]()
        if are_markup:
            translated = await self.translate_markup(model, asked, kept_tags, options)
        else:
            split, options = self.split_texts(asked), options._replace(n_best=1 + alternatives)
            lines = split.match(await self.translate_lines(model, split.lines, options))
            translated = split.join(lines)
            if alternatives:
                find_near = partial(model.find_near, most=alternatives, tags=options.tags)
                others = await asyncio.to_thread(split.join_alternatives, lines, alternatives, find_near)
        results = [text if index in kept else translated[index] for index, text in enumerate(texts)]
        return TranslatedTexts(model, results, others, guesses, lines)

    async def translate_markup(
        self, model: ServedModel, texts: Sequence[str], kept_tags: frozenset[str], options: RequestOptions = USUAL
    ) -> list[str]:
        """Translates pieces of HTML, keeping tags and entities."""
        from nmt_cli.api.translator import translate_fragment

        self.check_lines(texts)
        read = partial(translate_fragment, languages=model.card.languages, kept_tags=kept_tags)
        reads = [partial(read, text=text) for text in texts]
        try:
            return await self.threads.read_fragments(model, reads, options)
        except FailedLineError as error:
            raise RequestError(500, f"a text was not translated: {INTERNAL_ERROR}", detail=error.message) from error
        except NmtError as error:
            raise RequestError(400, error.message) from error

    async def translate_lines(
        self, model: ServedModel, lines: Sequence[str], options: RequestOptions = USUAL, *, are_text: bool = False
    ) -> list[Translation]:
        """Returns the translation of each line; in a text, with the previous line as context if the model reads it.

        Raises RequestError if too many lines are waiting.
        """
        if not lines:
            return []
        try:
            if are_text and model.card.context:
                translations = await self.threads.read_document(model, partial(translate_text, lines), options)
            else:
                translations = await self.batcher.translate(model, lines, options)
        except NmtError as error:  # a model that was damaged since the server started
            raise RequestError(500, INTERNAL_ERROR, detail=error.message) from error
        for number, failure in enumerate((translation.failure for translation in translations), start=1):
            if failure is not None:  # a copy would pass for a translation
                problem = f"line {number} was not translated"
                raise RequestError(500, f"{problem}: {INTERNAL_ERROR}", detail=f"{problem}: {failure}")
        return translations

    async def translate_document(
        self,
        upload: Path,
        name: str,
        source: str | None,
        target: str | None,
        progress: StageReporter = ignore_progress,
        wishes: Wishes = USUAL_WISHES,
    ) -> TranslatedDocument:
        """Translates an uploaded document; if the source is "auto", detects it from the first texts."""
        from nmt_cli.api.translator import read_first_texts, translate_file
        from nmt_cli.documents.config import DocumentOptions
        from nmt_cli.translation.known_tags import find_scope

        kind = DocumentOptions(column=wishes.columns)
        try:
            texts = await asyncio.to_thread(read_first_texts, upload, kind) if is_any(source) else []
            model, guesses = await self.find_model([" ".join(" ".join(texts).split())], source, target)
            options, scope = wishes.fit_to(model), find_scope(None, model.card, model.directory)
            file = Path(name)
            result = self.results.make_name(f"{file.stem}.{model.target.code}{file.suffix}")
            path = self.results.find_path(result)
            report = await self.threads.read_document(
                model,
                lambda translate: translate_file(
                    *(translate, upload, path, kind, model.card.languages),
                    memory=model.find_memory(options.tags),
                    scope=scope,
                    progress=progress,
                ),
                options,
            )
        except NmtError as error:
            raise RequestError(400, explain_error(error).replace(str(upload), name)) from error
        for number, translation in report.flagged:
            if translation.failure is not None:
                self.report(f"text {number} of a document was not translated: {translation.failure}")
        return TranslatedDocument(result, report, describe_other(guesses, model, "document"))

    def close(self) -> None:
        """Stops the workers, and deletes everything kept for clients."""
        self.documents.close()
        self.threads.close()
        self.batcher.close()
        self.results.close()
