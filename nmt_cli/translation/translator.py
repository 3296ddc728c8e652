"""Translates lines in batches with equal tags, through the stages. Does not depend on networks or file formats.

`translator.translate(["Where is it?", Line("Open", tags=(ui,)), "Here."], options)` runs `STAGES` on two batches (lines
0 and 2, and line 1), and returns three translations in the order of the lines. If the tags name a language, the reader
of the batch follows its rules (`read_languages`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.carrying.glossary import Glossary
from nmt_cli.carrying.numbers import NumberNotation
from nmt_cli.errors import DataError
from nmt_cli.files import require_file
from nmt_cli.rewriting.protocol import ModelText
from nmt_cli.rewriting.rewrite import Rewriter
from nmt_cli.runtime.model_directory import ModelCard
from nmt_cli.search.mixing import Ensemble
from nmt_cli.search.step_model import StepModel
from nmt_cli.sources.source import Source
from nmt_cli.text.normalise import drop_controls
from nmt_cli.text.tags import TagSet, replace_languages
from nmt_cli.text.tokenizer import Tokenizer, TokenizerPair
from nmt_cli.translation.batch import TranslationBatch
from nmt_cli.translation.config import LineOptions, TranslateOptions, widen_for_distinct
from nmt_cli.translation.lines import Line, group_by_tags, list_windows
from nmt_cli.translation.result import Translation
from nmt_cli.translation.search import CountReporter, HypothesisJudge, Network
from nmt_cli.translation.segmentation.line_reader import LineReader, PictureLines
from nmt_cli.translation.stages import run_stages

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.search.config import SearchOptions
    from nmt_cli.sources.source import PictureReader
    from nmt_cli.text.profile import CorpusProfile
    from nmt_cli.translation.checks.confidence import ConfidenceModel
    from nmt_cli.translation.checks.words import CheckContext
    from nmt_cli.translation.memory.lookup import StoredEntries, TranslationMemory
    from nmt_cli.translation.repair.faults import WordFault
    from nmt_cli.translation.result import Fault, Hypothesis
    from nmt_cli.translation.segmentation.line_reader import PieceMemory


class LineTranslator:
    """A step model with its source side and target tokenizer, and a `card` if loaded from a model directory."""

    def __init__(
        self,
        engine: StepModel[Any],
        source: Source,
        target: Tokenizer,
        card: ModelCard | None = None,
        *,
        lines: LineOptions | None = None,
        copies_placeholders: bool = True,
        threads: int = 1,
        rewriter: Rewriter | None = None,
        profile: CorpusProfile | None = None,
        languages: tuple[str, str] | None = None,
    ) -> None:
        """`languages` are the codes of source and target, by default those of the card.

        `copies_placeholders` says whether the network has learned to copy placeholders; checks use `profile`.

        Raises NotFoundError and DataError for a glossary that cannot be read.
        """
        self._card = card
        self.network = Network(engine, source, target, threads)
        self.profile = profile
        self.read_back: Callable[[Sequence[Translation]], Sequence[Translation]] = lambda translations: translations
        self.copies_placeholders = copies_placeholders and all(
            side is not None and side.has_placeholders for side in (source.subwords, target)
        )
        lines = lines or LineOptions()
        self._make_reader = partial(
            LineReader if self.reads_text else PictureLines,
            lines,
            copies_placeholders=self.copies_placeholders,
            glossary=load_glossary(lines, profile, languages or (card.languages if card else ("", ""))),
            rewriter=rewriter,
        )
        self.set_languages(languages or (card.languages if card else ("", "")))

    def set_languages(self, languages: tuple[str, str]) -> None:
        """Sets the languages to read and write; their rules apply to everything that is not left to the network."""
        self.languages = languages
        notation = NumberNotation.from_profile(self.profile, languages)
        self.reader: LineReader = self._make_reader(notation=notation, languages=languages)
        self.in_other_languages: dict[tuple[str, str], LineTranslator] = {}  # a reader takes milliseconds to make
        for name in ("check_context", "stored_entries"):  # which follow from the reader
            self.__dict__.pop(name, None)

    @property
    def engine(self) -> StepModel[Any]:
        return self.network.engine

    @property
    def source(self) -> Source:
        return self.network.source

    @property
    def target(self) -> Tokenizer:
        return self.network.target

    def judge(self, source: str, hypothesis: Hypothesis, config: SearchOptions) -> Fault | None:
        """Returns the fault of a hypothesis, if it has one for which its sentence is searched again."""
        from nmt_cli.translation.repair.asks import judge_hypothesis  # training needs none

        same_language = self.languages[0] == self.languages[1] != ""
        find_word_fault = self.find_word_fault
        return judge_hypothesis(
            source, hypothesis, config, same_language=same_language, find_word_fault=find_word_fault
        )

    @property
    def card(self) -> ModelCard:
        if self._card is None:
            raise ValueError("this translator was not loaded from a model directory")
        return self._card

    @property
    def reads_text(self) -> bool:
        """Whether a line is the text to translate, not the name of a picture."""
        return self.source.subwords is not None

    @property
    def tokenizers(self) -> TokenizerPair | None:
        """The tokenizers of both sides; None if the source consists of pictures."""
        subwords = self.source.subwords
        return TokenizerPair(subwords, self.target) if subwords is not None else None

    def with_stored_pictures(self, stored: Mapping[str, FloatArray]) -> LineTranslator:
        """Returns a translator that finds the grids of these pictures by name instead of reading files."""
        return self.with_source(self.source.with_stored_pictures(stored))

    def with_picture_reader(self, reader: Callable[[], PictureReader]) -> LineTranslator:
        """Returns a translator with a picture reader, which is loaded when the first picture is read."""
        return self.with_source(self.source.with_picture_reader(reader))

    def with_judge(self, judge: HypothesisJudge) -> LineTranslator:
        """Returns a translator whose hypotheses `judge` ranks."""
        return self.with_network(self.network._replace(judge=judge))

    def with_glossary(self, glossary: Glossary | None) -> LineTranslator:
        """Returns a translator with these terms instead of its own, or without any."""
        other = copy(self)
        other._make_reader = partial(self._make_reader, glossary=glossary)
        other.set_languages(self.languages)
        return other

    def with_source(self, source: Source) -> LineTranslator:
        """Returns a translator with another source side of the same kind."""
        return self.with_network(self.network._replace(source=source))

    def with_network(self, network: Network) -> LineTranslator:
        """Returns a translator with another `Network`."""
        other = copy(self)
        other.network, other.in_other_languages = network, {}
        return other

    def complete_tags(self, tags: TagSet) -> TagSet:
        """Returns the tags, plus that of the model's first target language if it has one and they name no language."""
        return tags if self._card is None or not self._card.tags else self._card.complete_tags(tags)

    def read_languages(self, languages: tuple[str, str]) -> LineTranslator:
        """Returns the translator for these languages: this one, if they are its own."""
        if languages == self.languages:
            return self
        if languages not in self.in_other_languages:
            other = copy(self)
            other.set_languages(languages)
            self.in_other_languages[languages] = other
        return self.in_other_languages[languages]

    def translate(
        self,
        lines: Sequence[str | Line],
        options: TranslateOptions,
        progress: CountReporter | None = None,
        *,
        first_line: int = 0,
    ) -> list[Translation]:
        """Returns one translation per line, in order, except of those that are only context.

        `progress` receives the number of finished lines. `first_line` is the number of the first of `lines`, on which
        the random numbers of samples depend. A line on which nmt itself fails is copied.
        """
        # A line that is only context is translated once more, by its own window, so that no window waits for another.
        asked_rows = [row for row, line in enumerate(lines) if not (isinstance(line, Line) and line.only_context)]
        done: dict[int, Translation] = {}
        for tags, rows in group_by_tags(lines, options.search.tags).items():
            batch, before = self.make_batch(lines, rows, first_line, options, tags), len(done)
            if progress is not None:
                batch.progress = partial(report_finished, progress, before, len(asked_rows))
            tools = self.read_languages(replace_languages(self.languages, batch.config.tags))
            if batch.memory is not None:
                tools = batch.memory.with_neighbours(tools, batch.config.neighbours)
            done |= zip(rows, run_stages(tools, batch), strict=True)
        return [done[row]._replace(source=read_text(lines[row])) for row in asked_rows]

    def make_batch(
        self, lines: Sequence[str | Line], rows: Sequence[int], first_line: int, options: TranslateOptions, tags: TagSet
    ) -> TranslationBatch:
        """Returns the batch of those `rows` of lines that have these tags."""
        positions = {row: position for position, row in enumerate(rows)}
        search = widen_for_distinct(options.search)
        return TranslationBatch(
            lines=[drop_controls(read_text(lines[row])) for row in rows],
            # Checks rate by the probabilities of tokens, which greedy search computes only if they are asked for.
            config=replace(search, scored=search.scored or options.checks is not None, tags=self.complete_tags(tags)),
            n_best=options.search.n_best,
            repair=options.repair,
            checks=options.checks,
            numbers=[first_line + row for row in rows],
            memory=make_recalling(options.memory),
            windows=[[positions[row] for row in window] for window in list_windows(lines) if window[0] in positions],
        )

    def check_translations(self, translations: Sequence[Translation], *, repaired: bool = False) -> list[Translation]:
        """Returns the translations with the checks they fail; `repaired` says that faults were already searched for."""
        from nmt_cli.translation.checks.table import check_translation  # training needs none

        context, read = self.check_context, self.read_back(translations)
        return [check_translation(translation, context, repaired=repaired) for translation in read]

    def find_word_fault(self, source: str, target: str) -> WordFault | None:
        """Returns the fault in a translation's words that makes repair search again, if any."""
        from nmt_cli.translation.checks.table import find_word_fault  # training needs none

        return find_word_fault(source, target, self.check_context)

    @cached_property
    def confidence(self) -> ConfidenceModel | None:
        """The model that rates translations; None if there is none, and for an ensemble, for which none is fitted."""
        if self._card is None or isinstance(self.engine, Ensemble):
            return None
        from nmt_cli.translation.checks.confidence import find_confidence  # training needs none

        return find_confidence(self._card)

    @cached_property
    def stored_entries(self) -> StoredEntries | None:
        """The cached states of memory entries that guide the network; None for an ensemble."""
        from nmt_cli.runtime.onnx_engine import OnnxEngine
        from nmt_cli.translation.memory.lookup import StoredEntries  # which few runs need

        return StoredEntries(self.engine) if isinstance(self.engine, OnnxEngine) else None

    @cached_property
    def check_context(self) -> CheckContext:
        """The facts that checks use besides the texts."""
        from nmt_cli.translation.checks.words import CheckContext

        return CheckContext(
            *self.languages,
            self.reads_text,
            self.profile,
            glossary=self.reader.glossary,
            is_rated=self.confidence is not None,
        )


def read_text(line: str | Line) -> str:
    return line.text if isinstance(line, Line) else line


def make_rewriter(card: ModelCard, profile: CorpusProfile) -> Rewriter | None:
    """Returns the rewriter of a model's input; None for a model of pictures."""
    if profile.source is None:
        return None
    lowercase = bool(card.tokenizer.get("lowercase", False))
    return Rewriter.from_model(ModelText(profile.source, profile.target, card.languages, lowercase))


def report_finished(progress: CountReporter, before: int, most: int, more: int) -> None:
    """Reports the number of finished lines, not counting those that are only context."""
    progress(min(before + more, most))


def make_recalling(memory: TranslationMemory | None) -> PieceMemory | None:
    if memory is None:
        return None
    from nmt_cli.translation.memory.recall import RecallingMemory  # which few runs need

    return RecallingMemory(memory)


def load_glossary(config: LineOptions, profile: CorpusProfile | None, languages: tuple[str, str]) -> Glossary | None:
    """Returns the glossary named by `config`, if any. Raises NotFoundError, or DataError if invalid or reversed."""
    if config.glossary is None:
        return None
    glossary = Glossary.load(require_file(Path(config.glossary)), languages)
    if profile is not None and profile.are_turned(glossary.terms.items()):
        message = f"the lines of {config.glossary} begin with the target language"
        raise DataError(message, hint="write the term of the source language first, then a tab and its translation")
    return glossary
