"""The object that `nmt.load` returns: a model that translates strings, iterables of lines, and documents.

    with nmt.load("en-de", beam_size=1) as translator:
        translator.translate("Where is it?")                # "Wo ist es?", by greedy search
        translator.translate(["Here.", ""], beam_size=5)    # ["Hier.", ""]
        translator.translate_file("a.docx", "b.docx").flagged

Options of a call overrule those of `nmt.load`; both become `TranslateOptions`, built only once for equal options.
"""

from __future__ import annotations

import io
import json
import os
import reprlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from operator import itemgetter
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, Unpack, overload

from nmt_cli.api.log import describe_checks, log_checks, log_warnings
from nmt_cli.api.options.interface import check_call, explain_errors, respell
from nmt_cli.api.options.options import (
    GLOSSARY,
    MORE_OF_CALLS,
    MORE_OF_LOAD,
    OF_SEARCH,
    TM,
    PathLike,
    build_settings,
    check_count,
    check_texts,
    list_paths,
    list_tags,
    make_search_options,
)
from nmt_cli.api.options.refusals import ExplicitOptions, refuse_for_model
from nmt_cli.api.progress import StageReporter, count_stage, ignore_progress
from nmt_cli.api.translating.inputs import read_head
from nmt_cli.api.translating.line_layout import LayoutOptions
from nmt_cli.api.translating.outputs import is_for_several, name_output, require_name
from nmt_cli.api.translating.report import NO_TERM
from nmt_cli.documents import find_format, find_format_of_file, open_document, read_mark
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import DocumentSource, TornText, format_text
from nmt_cli.documents.reading_back import copy_torn
from nmt_cli.errors import FailedLineError, OptionError, OutputError
from nmt_cli.files import PAGE_OR_JSON, refuse_input, require_file, require_output, stage_file
from nmt_cli.formats.sniffing import HEAD
from nmt_cli.jobs.units import translate_units
from nmt_cli.text.streams import batch_blocks
from nmt_cli.text.tags import replace_languages
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.config import LineOptions, MemoryOptions, TranslateOptions
from nmt_cli.translation.lines import ContextScope, WindowCutter, lay_out_lines
from nmt_cli.translation.request import TranslateBlock, TranslationRequest, answer_blocks
from nmt_cli.translation.result import CheckError
from nmt_cli.workers.work import InProcess

if TYPE_CHECKING:
    from nmt_cli.api.options.keywords import FileKeywords, LoadKeywords, SearchKeywords
    from nmt_cli.carrying.glossary import Glossary
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.text.profile import CorpusProfile
    from nmt_cli.translation.config import CheckOptions
    from nmt_cli.translation.memory.lookup import TranslationMemory
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.translator import LineTranslator


# `nmt.load`: a model that translates strings, iterables of lines, and files.


MOST_OPTIONS = 16  # different ones whose settings are kept
READ_AHEAD = 512  # lines of a stream that are translated together
OF_MODEL = ("evaluate", "export", "info", "train", "visualize")  # functions that are looked for in a translator


class Translator:
    """A model loaded by `nmt.load`. Several threads may use it at once.

    Its methods take the options of `nmt translate` that concern search, such as `beam_size=1`; the options of
    `nmt.load` are their defaults.
    """

    def __new__(cls, *arguments: Any, **_: Any) -> Self:
        if len(arguments) < 3:  # which `nmt.load` gives
            model = next((str(value) for value in arguments if isinstance(value, str | os.PathLike)), "eng-deu")
            raise OptionError("a Translator cannot be created directly", hint=f"call nmt.load({json.dumps(model)})")
        return super().__new__(cls)

    def __init__(
        self,
        translator: LineTranslator,
        model: Path,
        options: Mapping[str, Any],
        *,
        companions: Mapping[str, Any] = MappingProxyType({}),
        memory: TranslationMemory | None = None,
        arguments: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """`companions` are the other models by option; `arguments` are those of `nmt.load`, for other processes."""
        self._opened: LineTranslator | None = translator
        self._companions = companions
        self._options = list_tags(options)
        self._reports: set[Path] = set()  # that may be replaced
        self._memory = memory
        self._arguments = arguments
        self._key = os.urandom(8).hex()
        self.model = model
        self._languages = self._find_languages(self._fit({}, 1))
        # Checking options takes a tenth of the time of a short text; of equal ones, the settings are made once.
        self._make_search = lru_cache(maxsize=MOST_OPTIONS, typed=True)(self._make_new_search)
        self._make_options({})  # what is wrong is said when it is given

    def __repr__(self) -> str:
        languages = f"{self.source_language} -> {self.target_language}" if self._opened is not None else "closed"
        return f"Translator({languages}, {str(self.model)!r})"

    if not TYPE_CHECKING:  # to which any name would then be a method

        def __getattr__(self, name: str) -> NoReturn:
            function = f"; call nmt.{name}(model=...)" if name in OF_MODEL else ""
            raise AttributeError(f"a Translator has no attribute {name!r}{function}", name=name, obj=self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the arguments: another process loads the model itself, once for all its tasks."""
        return load_pickled, (self._key, self._arguments)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the memory of the model. Later calls raise OptionError; closing again does nothing."""
        self._opened = None

    @property
    def _translator(self) -> LineTranslator:
        if self._opened is None:
            raise OptionError(f"the translator of {self.model} is closed", hint="call nmt.load again")
        return self._opened

    @property
    def card(self) -> ModelCard:
        """Everything that the model records about itself."""
        return self._translator.card

    @property
    def source_language(self) -> str:
        return self.card.source_language

    @property
    def target_language(self) -> str:
        return self.card.target_language

    @property
    def memory(self) -> TranslationMemory | None:
        """The translation memory, if given."""
        return self._memory

    @property
    def beam_size(self) -> int:
        """The default of `beam_size`."""
        return self._make_options({}).search.beam_size

    def _make_options(self, options: Mapping[str, Any], n_best: int = 1) -> TranslateOptions:
        """Returns the settings of a search; `options` overrule those given to `nmt.load`."""
        options = {name: value for name, value in list_tags(options).items() if name != GLOSSARY}
        is_hashable = all(isinstance(value, Hashable) for value in options.values())
        return (self._make_search if is_hashable else self._make_new_search)(n_best, **options)

    def _make_new_search(self, n_best: int, **options: Any) -> TranslateOptions:
        made = self._fit(options, n_best)
        refuse_for_model(ExplicitOptions.from_arguments(options), made.search, self.card)
        if made.checks is not None and made.checks.min_confidence is not None:
            self._require_confidence()
        if made.checks is not None and made.checks.report is not None:
            path = Path(made.checks.report)
            way_on = None if path in self._reports else "move it away"
            require_output(path, "--report", endings=PAGE_OR_JSON, way_on=way_on)
        # The memory of `nmt.load` has its languages: tags of a call may ask for another one.
        memory = self._memory if self._find_languages(made) == self._languages else None
        return made._replace(memory=memory and memory.choose_register(made.search.tags))

    def _require_confidence(self) -> None:
        """Raises OptionError if the model cannot rate its translations."""
        from nmt_cli.translation.checks.confidence import load_confidence  # which few calls need

        load_confidence(self.card)

    def _fit(self, options: Mapping[str, Any], n_best: int) -> TranslateOptions:
        """Returns search settings that suit the model. Raises OptionError for unknown tags and missing context."""
        from nmt_cli.translation.known_tags import fit_to_model  # SentencePiece, which `import nmt_cli` does not need

        tm = options.get(TM, self._memory)
        companions = {**self._companions, TM: tm or (() if "neighbours" in options else None)}
        options = {name: value for name, value in options.items() if name != TM}
        made = make_search_options(options, self._options, n_best=n_best, companions=companions)
        return fit_to_model(made, self.card, self.model)

    def _find_languages(self, made: TranslateOptions) -> tuple[str, str]:
        """Returns the source and the target language with these settings."""
        return replace_languages(self.card.languages, made.search.tags)

    @overload  # mypy: a string is an iterable of strings; the first signature that fits counts
    def translate(self, texts: str, **options: Unpack[SearchKeywords]) -> str: ...  # type: ignore[overload-overlap]

    @overload
    def translate(self, texts: Iterable[str], **options: Unpack[SearchKeywords]) -> list[str]: ...

    @check_call(*OF_SEARCH, more=MORE_OF_CALLS)
    def translate(self, texts: str | Iterable[str], **options: Unpack[SearchKeywords]) -> str | list[str]:
        """Returns the translation of a line, or a list for several lines, in order. Blanks around a line stay.

        `nmt translate --help-all` explains the `options`.
        """
        translations = [translation.text for translation in self._translate_all(texts, options)]
        return translations[0] if isinstance(texts, str) else translations

    __call__ = translate

    @check_call(*OF_SEARCH, more=MORE_OF_CALLS)
    def stream(
        self, lines: str | Iterable[str], *, batch: int = READ_AHEAD, **options: Unpack[SearchKeywords]
    ) -> Iterator[str]:
        """Yields the translation of each line, in order, holding at most `batch` lines at a time."""
        check_count("batch", batch)
        made, translator = self._make_options(options), replace_terms(self._translator, options)
        return self._stream(check_texts("lines", lines), batch, made, translator)

    def _stream(
        self, lines: Iterable[str], batch: int, made: TranslateOptions, translator: LineTranslator
    ) -> Iterator[str]:
        with explain_errors():  # which come when the lines are read
            failed: list[tuple[int, Translation]] = []
            first, cutter = 0, WindowCutter()
            for block in batch_blocks(lines, batch):
                windows = cutter.cut_lines(block) if made.scope == "everything" else ()
                done = translator.translate(lay_out_lines(block, windows=windows), made, first_line=first)
                for number, translation in enumerate(log_checks(done, first), start=first + 1):
                    failed += [(number, translation)] if translation.checks and len(failed) < MOST_FLAGGED else []
                    yield translation.text
                first += len(block)
            self._report_checks(failed, first, made.checks, "the lines")

    @check_call(*OF_SEARCH, more=MORE_OF_CALLS)
    def translations(
        self,
        texts: str | Iterable[str],
        *,
        n_best: int = 1,
        progress: StageReporter | None = None,
        **options: Unpack[SearchKeywords],
    ) -> list[Translation]:
        """Returns all details of each translation: hypotheses, scores, alignment, protected text and repairs.

        translator.translations("Hello.", n_best=3)[0].hypotheses[0].alignment

        `report` names an HTML page or a JSON file for the texts that failed a check; with `strict`, they raise
        CheckError.
        """
        return add_links(self._translate_all(texts, options, n_best, progress))

    def _translate_all(
        self,
        texts: str | Iterable[str],
        options: Mapping[str, Any],
        n_best: int = 1,
        progress: StageReporter | None = None,
    ) -> list[Translation]:
        """Translates lines together, and reports those that fail a check."""
        made, translator = self._make_options(options, n_best), replace_terms(self._translator, options)
        lines = list(check_texts("texts", texts))
        report = count_stage(progress, "translating", len(lines)) if progress is not None else None
        windows = WindowCutter().cut_lines(lines) if made.scope == "everything" else ()
        done = log_checks(translator.translate(lay_out_lines(lines, windows=windows), made, report))
        self._report_checks(list(enumerate(done, start=1)), len(done), made.checks, "the texts")
        return done

    def _report_checks(
        self, numbered: Sequence[tuple[int, Translation]], texts: int, checks: CheckOptions | None, what: str
    ) -> None:
        """Writes the requested report of numbered translations. Raises CheckError if `strict` is set and one failed."""
        if checks is None or not (checks.report or checks.strict):
            return
        from nmt_cli.api.translating.report import open_qa_report  # which few calls need

        failed = sum(bool(translation.checks) for _, translation in numbered)
        qa = open_qa_report(checks, what, self.card, "text", {})
        if qa is not None and checks.report is not None:
            for number, translation in numbered:
                qa.add(translation, number=number)
            qa.texts = texts
            qa.write(Path(checks.report))
            self._reports.add(Path(checks.report))
        if failed and checks.strict:
            raise CheckError(
                f"{failed:,} of {format_count(texts, 'text')} failed a check",
                hint='report="qa.html" shows them; error.translations has them',
                translations=add_links(translation for _, translation in numbered),
            )

    @check_call(DocumentOptions, *OF_SEARCH, more=MORE_OF_CALLS)
    def translate_file(
        self,
        source: PathLike,
        target: PathLike,
        *,
        tm: PathLike | Iterable[PathLike] | None = None,
        force: bool = False,
        progress: StageReporter | None = None,
        **options: Unpack[FileKeywords],
    ) -> FileReport:
        """Translates a document to a file of the same format, and returns a report with the texts to check.

        `target` is a file, a folder, or a pattern such as "{name}.{lang}{ext}". Replaces an existing file only with
        `force`. `tm` are translation memories, which replace those of `nmt.load`.
        `options` are the options of search and of documents, such as `column="text"`. Raises NotFoundError, DataError,
        OptionError or OutputError.
        """
        if force and "report" in options:
            self._reports.add(Path(str(options["report"])))
        kinds = DocumentOptions, *OF_SEARCH  # in case they cannot be combined
        config, *_ = build_settings("translate", options, *kinds, others=self._companions, earlier=self._options)
        of_search = {name: value for name, value in options.items() if not hasattr(config, name)}
        made = self._make_options(of_search | ({} if tm is None else {TM: True}))
        if config.needs_confidence:
            self._require_confidence()
        languages = self._find_languages(made)
        target = name_target(target, Path(source), languages[1])
        refuse_input(target, [Path(source)])
        if Path(source).is_dir():
            hint = f"give its files one by one, or run: nmt translate {quote(str(source))} -o {quote(str(target))}"
            raise OptionError(f"{source} is a folder, but translate_file takes a file", hint=hint)
        if target.is_file() and not force:
            raise OutputError(f"{target} already exists", hint="replace it with force=True, or name another file")
        if tm is not None:
            memory = open_memory(tm, languages, self._translator.profile)
            made = made._replace(memory=memory and memory.choose_register(made.search.tags))

        translator = replace_terms(self._translator, options)
        done = translate_file(
            answer_blocks(translator, made),
            Path(source),
            target,
            config,
            languages,
            split_sentences=self._translator.reader.config.split_sentences,
            memory=made.memory,
            scope=made.scope,
            terms=translator.reader.glossary,
            progress=progress or ignore_progress,
        )
        done.notes = Counter({respell(note, is_hint=True): count for note, count in done.notes.items()})
        log_warnings(f"{source}: {note} ({format_count(count, 'time')})" for note, count in done.notes.items())
        log_warnings(f"{source}, {describe_checks(text, number)}" for number, text in done.flagged)
        self._report_checks(done.flagged, done.texts, made.checks, str(source))
        return done


@check_call(LineOptions, *OF_SEARCH, more=MORE_OF_LOAD)
def load(
    model: PathLike = "model",
    *,
    ensemble: PathLike | Iterable[PathLike] = (),
    rerank: PathLike | None = None,
    precision: Literal["float", "int8"] | None = None,
    threads: int | None = None,
    tm: PathLike | Iterable[PathLike] = (),
    check_with: PathLike | None = None,
    **options: Unpack[LoadKeywords],
) -> Translator:
    """Loads a model: a directory, or the name of an installed model. Does not start TensorFlow.

        nmt.load("eng-deu", beam_size=1).translate(["Hello.", "Where is the station?"])

    `threads` is the number of cores it may use, all by default. `tm` are translation memories; `check_with` and
    `rerank` are models for the opposite direction. `nmt translate --help-all` explains the `options` for reading lines,
    such as `glossary="terms.tsv"` (or a dictionary of terms), and for the search, such as `beam_size=1`. Raises
    NotFoundError, DamagedError or OptionError.
    """
    from nmt_cli.api.open_model import open_translator
    from nmt_cli.runtime.installed_models import find_model
    from nmt_cli.translation.known_tags import fit_to_model  # SentencePiece, as above

    check_count("threads", threads)
    listed, pairs, members = list_tags(options), list_paths(tm), list_paths(ensemble)
    files = {"ensemble": members, "rerank": rerank, "check_with": check_with, TM: pairs}
    asked = {name: value for name, value in files.items() if value}
    values = {name: value for name, value in listed.items() if not isinstance(value, Mapping)}
    lines, *_ = build_settings("translate", values, LineOptions, *OF_SEARCH, others=asked)  # before the model is loaded
    others = {name: value for name, value in listed.items() if not hasattr(lines, name)}
    directory = find_model(Path(model))
    others_models = tuple(find_model(path) for path in members)
    reverse = None if check_with is None else find_model(Path(check_with))
    judge = None if rerank is None else find_model(Path(rerank))
    request = TranslationRequest(directory, others_models, lines, precision, threads, reverse, judge)
    translator = open_translator(request)
    translator = replace_terms(translator, listed) if isinstance(listed.get(GLOSSARY), Mapping) else translator
    companions = {"ensemble": others_models, "rerank": judge}
    made = fit_to_model(make_search_options({}, others, companions=companions), translator.card, directory)
    languages = replace_languages(translator.card.languages, made.search.tags)
    refuse_for_model(ExplicitOptions.from_arguments(asked | listed), made.search, translator.card)
    memory = open_memory(pairs, languages, translator.profile)
    arguments = {"precision": precision, "threads": threads, "tm": pairs, "check_with": reverse, **companions}
    arguments = listed | arguments | {"model": directory.absolute()}
    return Translator(translator, directory, others, companions=companions, memory=memory, arguments=arguments)


@overload
def translate(texts: str, model: PathLike = "model", **options: Unpack[SearchKeywords]) -> str: ...  # type: ignore[overload-overlap]
@overload
def translate(texts: Iterable[str], model: PathLike = "model", **options: Unpack[SearchKeywords]) -> list[str]: ...
@check_call(*OF_SEARCH, more=MORE_OF_CALLS)
def translate(
    texts: str | Iterable[str], model: PathLike = "model", **options: Unpack[SearchKeywords]
) -> str | list[str]:
    """Returns the translation of a line, or a list for several lines. The model stays loaded for later calls.

        nmt.translate("Where is the station?", model="eng-deu")

    `options` are the options of `Translator.translate`. Raises the same errors as `load`.
    """
    from nmt_cli.runtime.installed_models import CARD, find_model

    directory = find_model(Path(model)).resolve()
    card = directory / CARD
    return load_kept(directory, card.stat().st_mtime_ns if card.exists() else 0).translate(texts, **options)


def add_links(translations: Iterable[Translation]) -> list[Translation]:
    """Returns the translations, with an alignment added to each hypothesis."""
    from nmt_cli.translation.placement.alignment import find_links  # which few calls need

    return [translation.add_links(partial(find_links, translation)) for translation in translations]


@lru_cache(maxsize=2)
def load_kept(directory: Path, changed: int) -> Translator:
    """Loads a model once. A newly trained model has a different `changed`, and is loaded again."""
    return load(directory)


PICKLED: dict[str, Translator] = {}  # those of other processes, by key; the one used last is last
MOST_PICKLED = 2  # that stay loaded


def load_pickled(key: str, arguments: Mapping[str, Any]) -> Translator:
    """Returns the translator that another process pickled; loads it again only if it was closed or dropped."""
    translator = PICKLED.pop(key, None)
    if translator is None or translator._opened is None:
        translator = load(**arguments)
        translator._key = key
    PICKLED[key] = translator
    if len(PICKLED) > MOST_PICKLED:
        PICKLED.pop(next(iter(PICKLED)), None)
    return translator


def answer_with_memory(
    loaded: Translator,
    *,
    n_best: int = 1,
    terms: Glossary | None = None,
    memory: TranslationMemory | None = None,
    **options: Unpack[SearchKeywords],
) -> TranslateBlock:
    """Returns the function that translates the texts of a block, with context within its windows.

    `terms` are its glossary; `memory` replaces the memory of `nmt.load`.
    """
    translator = loaded._translator if terms is None else loaded._translator.with_glossary(terms)
    made = loaded._make_options(options, n_best)
    return answer_blocks(translator, made if memory is None else made._replace(memory=memory))


def replace_terms(translator: LineTranslator, options: Mapping[str, Any]) -> LineTranslator:
    """Returns the translator, with the glossary given in the options if there is one.

    Raises DataError, OptionError or NotFoundError.
    """
    from nmt_cli.carrying.glossary import Glossary
    from nmt_cli.translation.translator import load_glossary  # which few calls need

    terms = options.get(GLOSSARY)
    if terms is None:
        return translator
    if not isinstance(terms, Mapping):
        glossary = load_glossary(LineOptions(glossary=os.fspath(terms)), translator.profile, translator.languages)
    elif all(isinstance(text, str) for term in terms.items() for text in term):
        glossary = Glossary.from_rows(enumerate(terms.items(), start=1), "glossary") if terms else None
    else:
        raise OptionError(f"{GLOSSARY} cannot be {reprlib.repr(terms)}", hint='give texts: {"engine": "Motor"}')
    return translator.with_glossary(glossary)


def open_memory(
    tm: PathLike | Iterable[PathLike], languages: tuple[str, str], profile: CorpusProfile | None
) -> TranslationMemory | None:
    """Returns the pairs of translation memories; None without any."""
    paths = MemoryOptions(tm=tuple(map(str, list_paths(tm)))).tm
    if not paths:
        return None
    from nmt_cli.api.open_model import describe_foreign, load_memory  # readers of many formats

    memory = load_memory(paths, languages, profile=profile)
    log_warnings(describe_foreign(", ".join(paths), memory.targets.items(), languages, profile))
    return memory


# Documents in, translated documents out: files for Python, uploads for the server.


def name_target(target: PathLike, source: Path, language: str) -> Path:
    """Returns the output file for a translation: the named file, a file in a folder, or one named by a pattern."""
    output = os.fspath(target)
    return name_output(output, source, Path(source.name), language) if is_for_several(output) else Path(output)


UNITS = 256  # parts of a document that are translated together
MOST_FLAGGED = 10_000  # texts of a document, with all that is known of them: more would fill the memory


@dataclass
class FileReport:
    """The result of translating a file, with the texts that a person should check."""

    path: Path
    texts: int = 0  # translated
    notes: Counter[str] = field(default_factory=Counter)  # what could not be done well, and how often
    failures: Counter[str] = field(default_factory=Counter)  # texts that failed a check, by its kind
    flagged_count: int = 0  # those to look at
    flagged: list[tuple[int, Translation]] = field(default_factory=list)  # number from 1, of the first `MOST_FLAGGED`
    terms: Glossary | None = field(default=None, repr=False)  # until one of them occurs

    def add(self, translation: Translation) -> None:
        """Counts a translation, and keeps it if it failed a check and there is still room."""
        self.texts += 1
        if self.terms is not None and self.terms.occurs_in(translation.source):
            self.terms = None
        if getattr(translation, "checks", ()):
            self.failures.update(check.kind for check in translation.checks)
            self.flagged_count += 1
            if self.flagged_count <= MOST_FLAGGED:
                self.flagged.append((self.texts, translation))

    def add_torn(self, torn: Sequence[TornText]) -> None:
        """Counts the texts that are written as they are in the source because they could not be read back."""
        self.failures += Counter(text.check for text in torn)
        self.flagged_count += sum(not text.was_flagged for text in torn)
        self.flagged += [(text.number, copy_torn(text)) for text in torn][: max(0, MOST_FLAGGED - len(self.flagged))]
        self.flagged.sort(key=itemgetter(0))


def translate_file(
    translate: TranslateBlock,
    source: Path,
    target: Path,
    config: DocumentOptions,
    languages: tuple[str, str],
    *,
    split_sentences: bool = True,
    memory: TranslationMemory | None = None,
    scope: ContextScope = "nothing",
    terms: Glossary | None = None,
    progress: StageReporter = ignore_progress,
) -> FileReport:
    """Translates a file to another of the same format; the target appears only when complete.

    `scope` says whether its sentences are read together with those before them.
    """
    report = FileReport(target, terms=terms)
    with require_file(source).open("rb") as lines, stage_file(target) as temporary, temporary.open("wb") as output:
        document = DocumentSource(
            *(lines, str(source), config, languages[1], split_sentences, languages[0], memory),
            is_file=True,
            is_complete=True,
        )
        require_name(target, document, find_format_of_file(source, config.format, read_head(source)))
        for written in translate_document(translate, document, source, report, scope):
            output.write(written)
            progress("translating", report.texts, 0)
    return report


def translate_document(
    translate: TranslateBlock, source: DocumentSource, path: Path, report: FileReport, scope: ContextScope
) -> Iterator[bytes]:
    """Yields the parts of the translated document in order; detects its format unless one is named."""
    head = read_head(path)
    file_format = find_format_of_file(path, source.config.format, head)
    layout = partial(LayoutOptions(confidence=True).format_lines, n_best=1) if source.config.confidence else format_text
    document = open_document(file_format.name, read_mark(source, file_format, head), layout)
    batches = batch_blocks(document.read_with_domain(), UNITS)
    yield from translate_units(batches, InProcess(translate), report.add, scope)
    report.notes += document.notes + Counter([NO_TERM] * (report.terms is not None))
    report.add_torn(document.torn)


def read_first_texts(path: Path, options: DocumentOptions) -> list[str]:
    """Returns the texts of the first parts of a document, for detecting its language."""
    with path.open("rb") as lines:
        head = lines.read(HEAD)
        lines.seek(0)
        source = DocumentSource(lines, str(path), options, "")
        units = open_document(find_format(path, None, head).name, source).read_units()
        return [text for unit in islice(units, UNITS) for text in unit.texts]


def translate_fragment(
    translate: TranslateBlock, text: str, languages: tuple[str, str], kept_tags: frozenset[str] = frozenset()
) -> str:
    """Translates a piece of HTML, except elements named in `kept_tags`.

    Raises FailedLineError if nmt itself fails, since an untranslated copy would pass for a translation.
    """
    source = DocumentSource(
        io.BytesIO(text.encode("utf-8")),
        "the text",
        DocumentOptions(),
        target_language=languages[1],
        source_language=languages[0],
        kept_tags=kept_tags,
    )
    batches = batch_blocks(open_document("html", source).read_with_domain(), UNITS)
    return b"".join(translate_units(batches, InProcess(translate), refuse_failure)).decode("utf-8")


def refuse_failure(translation: Translation) -> None:
    if translation.failure is not None:
        raise FailedLineError(f"a text was not translated: {translation.failure}")
