"""Runs `nmt translate`, from the request to the report of failed checks.

`echo "Where is it?" | nmt translate` runs `run_translation(command, console)`, which reads the line from the console,
writes "Wo ist es?" to it, and returns an empty report. Lines are translated as they arrive, files in large batches;
each batch is written as soon as it is ready. Must stay light: `nmt --help` imports it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.api.options.refusals import refuse_for_model
from nmt_cli.api.startup import silence_ray
from nmt_cli.api.translating.inputs import (
    ArrivingDocument,
    Console,
    DocumentOpener,
    FolderContent,
    InputFile,
    check_files,
    list_files,
    require_folder_for_output,
)
from nmt_cli.api.translating.line_layout import LayoutOptions
from nmt_cli.api.translating.outputs import BatchUnits, FileSummaries, OutputFiles, name_outputs, track_locations
from nmt_cli.api.translating.report import TranslationReport, open_qa_report
from nmt_cli.api.translating.request import LineWriter, TranslateCommand
from nmt_cli.api.translating.resume import ResumableJob
from nmt_cli.documents import UNMARKED
from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit, format_text
from nmt_cli.files import PAGE_OR_JSON, require_output
from nmt_cli.formats import BY_NAME, TEXT
from nmt_cli.formats.inputs import list_typed_files
from nmt_cli.jobs.units import translate_units
from nmt_cli.text.streams import FIRST_BLOCK, PartTexts, batch_arriving, batch_blocks
from nmt_cli.text.tags import replace_languages
from nmt_cli.text.wrapping import format_count, join_first
from nmt_cli.translation.request import TranslationRequest, split_pair
from nmt_cli.translation.result import SourceCuts

if TYPE_CHECKING:
    from nmt_cli.carrying.glossary import Glossary
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.text.tags import TagSet
    from nmt_cli.translation.config import CheckOptions
    from nmt_cli.translation.memory.lookup import TranslationMemory

READ_AHEAD = 1024  # lines translated together: enough for batches of similar length, few enough to wait for


def run_translation(command: TranslateCommand, console: Console) -> TranslationReport:
    """Translates files or console input, to files or to the console."""
    # 1. Refuse what cannot work, before anything slow is loaded.
    content = find_inputs(command)
    card, request = fit_request(command)
    outputs = name_files(command, content.files, card, console)
    require_abilities(command, card)
    resumable = ResumableJob(command, content.files, outputs)
    inputs, paths = resumable.inputs, [file.path for file in resumable.inputs]
    # 2. Open earlier translations, even if nothing needs them, since they may be wrong; and documents, or a prompt.
    is_prompt = console.can_prompt and not (content.files or outputs.targets)
    writer = command.make_writer(is_prompt=is_prompt)
    glossary = load_terms(command, card, console)
    memory = open_memory(command, card, request.options.search.tags, writer, console, glossary)
    if resumable.is_done(console):
        return TranslationReport(
            skipped=content.describe_skipped(), files=content.summarise(FileSummaries(are_apart=True))
        )
    # Lines of files are read where they are translated, which may be another process; a pipe can be read only here.
    are_files = bool(paths) and all(path.is_file() for path in paths)
    part_size = READ_AHEAD if are_files and not request.score else 0
    opener = open_documents(command, card, writer, memory, console, part_size)
    documents = opener.open_files(inputs, outputs.targets, is_apart=outputs.is_apart)
    known = [document for document in documents if not isinstance(document, ArrivingDocument)]
    outputs.require_formats(known, BY_NAME["jsonl"] if writer.layout.json else TEXT)
    report = open_report(command, documents, card, content, resumable, memory, glossary)
    if is_prompt:
        batches = console.ask_for_lines(card, writer.write, command.document.errors)
    else:
        batch = partial(batch_units, are_files=are_files, are_pairs=request.score)
        batches = batch_documents(documents, batch, outputs, report.files)
    # 3. Translate batch by batch; write each as soon as it is there.
    is_plain = bool(inputs) and all(document.format.name in UNMARKED for document in documents)
    # Attention is most of what a worker would send back: only what places marks or writes alignments keeps it.
    links_words = not is_plain or command.layout.alignments or command.layout.json or bool(command.memories.tm)
    options = request.options._replace(memory=memory)
    has_lines = not any(document.format.is_binary for document in known)
    progress = console.show_progress([] if outputs.are_on_terminal else paths, has_lines)
    with resumable.keep_blocks(console), progress as advance, outputs:
        finished = FinishedLines(advance)
        request = replace(request, options=options, keeps_network=links_words)
        with resumable.open_executor(request, silence_ray(command.processes), finished.search) as executor:
            for written in translate_units(batches, executor, report.add, options.scope):
                outputs.write(written)
                finished.write(written.count(b"\n") // writer.rows if has_lines else None, report.origins.total())
    # 4. Collect what a person should look at.
    report.add_notes(documents, executor)
    report.write_qa()
    resumable.record_report()
    if command.has_json_summary:
        console.output.write(report.files.write_json())
    return report


class FinishedLines:
    """Reports the written lines, and the progress within a block.

    A text of a block counts as many lines as earlier texts took on average: about four in subtitles.
    """

    def __init__(self, advance: Callable[[int], None]) -> None:
        self.advance = advance
        self.lines = self.texts = 0  # that are written
        self.ahead: dict[int, int] = {}  # translated texts of blocks that are not yet written, by their first

    def write(self, lines: int | None, texts: int) -> None:
        """Counts further lines (None: one per new text); `texts` is the number of texts written so far."""
        self.lines, self.texts = self.lines + (texts - self.texts if lines is None else lines), texts
        self.search(texts, 0)

    def search(self, first: int, done: int) -> None:
        """Reports that `done` texts are translated in the block that begins with text `first`."""
        ahead = {begin: count for begin, count in self.ahead.items() if begin >= self.texts}
        self.ahead = {**ahead, first: done}  # another one: several threads call this
        ratio = self.lines / self.texts if self.texts else 1.0
        self.advance(self.lines + round(ratio * sum(self.ahead.values())))


def fit_request(command: TranslateCommand) -> tuple[ModelCard, TranslationRequest]:
    """Returns the model's card for the requested languages, and the request adapted to that model.

    Raises OptionError for several models, and for tags and context that the model does not know.
    """
    from nmt_cli.runtime.model_directory import read_card  # SentencePiece, which `nmt --help` does not need
    from nmt_cli.translation.known_tags import fit_to_model

    command.require_single_model()
    request = command.request
    card = read_card(request.model)
    options = fit_to_model(request.options, card, request.model)
    languages = replace_languages(card.languages, options.search.tags)
    return card.with_languages(languages), replace(request, options=options)


def find_inputs(command: TranslateCommand) -> FolderContent:
    """Returns the files to translate, also those in folders, and the files skipped there; empty for standard input.

    Raises NotFoundError or OptionError, including for a report in an unknown format.
    """
    if command.checks.report is not None:  # now, since hours may pass before it is written
        others = [*command.files, *([Path(command.output)] if command.output else [])]
        require_output(Path(command.checks.report), "--report", endings=PAGE_OR_JSON, inputs=others)
    inputs = check_files(command.files, command.request.model, command.models if command.are_models_named else ())
    require_folder_for_output(inputs, command.output)
    values = command.option_values
    others = [Path(str(path)) for path in (values["report"], values["glossary"]) if path]
    others += list_typed_files(values["tm"])
    return list_files(inputs, command.output, command.document, others)


def name_files(
    command: TranslateCommand, inputs: Sequence[InputFile], card: ModelCard, console: Console
) -> OutputFiles:
    """Returns the output files, one for each input if there are several. Raises OptionError or OutputError."""
    output = require_folder_for_output(command.files, command.output)
    paths, relatives = [file.path for file in inputs], [file.relative for file in inputs]
    targets = name_outputs(output, paths, card.target_language, relatives)
    return OutputFiles(targets, console.output, is_apart=command.has_folder or len(targets) > 1)


def require_abilities(command: TranslateCommand, card: ModelCard) -> None:
    """Raises OptionError for options that the model cannot use or fulfil."""
    refuse_for_model(command.explicit, command.request.options.search, card)
    if command.checks.min_confidence is not None or command.document.needs_confidence:
        from nmt_cli.translation.checks.confidence import load_confidence  # numpy, which `nmt --help` does not need

        load_confidence(card)


def load_terms(command: TranslateCommand, card: ModelCard, console: Console) -> Glossary | None:
    """Returns the named glossary, and reports terms with several translations. Raises NotFoundError and DataError."""
    lines = command.request.lines
    if lines.glossary is None:
        return None
    from nmt_cli.runtime.model_directory import ModelDirectory
    from nmt_cli.translation.translator import load_glossary  # which few runs need

    profile = ModelDirectory.open(command.request.model).load_profile()
    glossary = load_glossary(lines, profile, card.languages)
    if glossary is not None and glossary.ambiguous:
        several = format_count(len(glossary.ambiguous), "term", "terms with several translations")
        console.say(
            f"  ! {lines.glossary} has {several}; the first translation of each is used: "
            f"{join_first(glossary.ambiguous)}"
        )
    return glossary


def open_memory(
    command: TranslateCommand,
    card: ModelCard,
    tags: TagSet,
    writer: LineWriter,
    console: Console,
    glossary: Glossary | None,
) -> TranslationMemory | None:
    """Returns the named translation memory, in the register of these tags; None if none is named.

    Reports its size, and warns of a memory or a glossary that looks like another language.
    """
    names = command.memories.tm
    if not (names or glossary):
        return None
    from nmt_cli.api.open_model import describe_foreign, load_memory  # readers of many formats, which few runs need
    from nmt_cli.runtime.model_directory import ModelDirectory

    profile = ModelDirectory.open(command.request.model).load_profile()
    links_words = writer.layout != LayoutOptions()
    memory = load_memory(names, card.languages, links_words=links_words, profile=profile).choose_register(tags)
    terms = {} if glossary is None else glossary.terms
    for name, pairs in ((", ".join(names), memory.targets), (str(command.request.lines.glossary), terms)):
        for warning in describe_foreign(name, pairs.items(), card.languages, profile):
            console.say(f"  ! {warning}")
    if not names:
        return None
    console.say_detail(f"{', '.join(names)}: {format_count(len(memory), 'text')} with a translation")
    return memory


def open_documents(
    command: TranslateCommand,
    card: ModelCard,
    writer: LineWriter,
    memory: TranslationMemory | None,
    console: Console,
    part_size: int,
) -> DocumentOpener:
    """Returns an opener of files and standard input as documents, which differ only in their lines and names."""
    template = DocumentSource(
        lines=(),
        name="standard input",
        config=command.complete_document,
        target_language=card.target_language,
        split_sentences=command.request.lines.split_sentences,
        source_language=card.source_language,
        memory=memory,
        part_size=part_size,
    )
    is_plain = writer.is_bare and not (writer.indent or writer.layout.confidence)
    write = format_text if is_plain else writer.write
    return DocumentOpener(template, write, is_bare=writer.is_bare, console=console)


def open_report(
    command: TranslateCommand,
    documents: Sequence[Document],
    card: ModelCard,
    content: FolderContent,
    job: ResumableJob,
    memory: TranslationMemory | None,
    glossary: Glossary | None,
) -> TranslationReport:
    """Returns an empty report, which counts lines if all documents are plain text, else texts."""
    thing = "line" if all(document.format is TEXT for document in documents) else "text"
    what = ", ".join(f"{path}/" if Path(path).is_dir() else str(path) for path in command.files) or "standard input"
    qa = open_qa_report(command.checks, what, card, thing, command.explicit.settings_from)
    length = command.request.options.search.max_length
    cuts, path = SourceCuts(thing), command.checks.report
    files = content.summarise(FileSummaries(thing, find_threshold(command.checks, card), job.outputs.is_apart))
    return TranslationReport(
        skipped=content.describe_skipped(),
        source_cuts=cuts,
        qa=qa,
        path=path,
        max_length=length,
        memory=memory,
        terms=glossary,
        leaves_out=bool(job.current),
        keeps_edited=bool(job.edited),
        bleu=card.development_bleu,
        gain=card.development_gain,
        unrated=str(card.confidence.get("refused", "")) if path else "",  # else it would be said in every run
        languages=card.languages,
        files=files,
    )


def find_threshold(checks: CheckOptions, card: ModelCard) -> float | None:
    """Returns the confidence below which a file or chapter needs review; None for a model without confidence."""
    if checks.min_confidence is not None:
        return checks.min_confidence
    from nmt_cli.translation.checks.confidence import find_confidence  # numpy, which `nmt --help` does not need

    model = find_confidence(card)
    return None if model is None else model.threshold


def batch_documents(
    documents: Sequence[Document], batch: BatchUnits, outputs: OutputFiles, summaries: FileSummaries
) -> Iterator[list[TranslationUnit]]:
    """Yields the batches of all documents: separately if each has an output file, otherwise together."""
    if outputs.is_apart:
        return outputs.batch_files(documents, batch, summaries)
    summaries.begin_file(", ".join(document.source.name for document in documents))
    return batch(itertools.chain.from_iterable(track_locations(document, summaries) for document in documents))


def batch_units(
    units: Iterator[TranslationUnit], *, are_files: bool, are_pairs: bool
) -> Iterator[list[TranslationUnit]]:
    """Yields the units to translate together: full batches from files, whatever has arrived from a stream."""
    units = check_pairs(units) if are_pairs else units
    if not are_files:
        return batch_arriving(units, READ_AHEAD)
    return batch_blocks(units, READ_AHEAD, count_lines, first=FIRST_BLOCK)


def count_lines(unit: TranslationUnit) -> int:
    """Returns the number of lines in a part of a file; in a document, each unit counts as one."""
    return len(unit.texts) if isinstance(unit.texts, PartTexts) else 1


def check_pairs(lines: Iterator[TranslationUnit]) -> Iterator[TranslationUnit]:
    """Yields the lines unchanged. Raises DataError at the first that is not a pair, after yielding those before it."""
    for number, line in enumerate(lines, start=1):
        split_pair(line.texts[0], number)
        yield line
