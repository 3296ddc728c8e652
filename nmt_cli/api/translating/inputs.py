"""Reads the input of `nmt translate`: files, folders and streams, in their formats."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from nmt_cli.api.translating.outputs import FileSummaries, WrittenFiles, require_name
from nmt_cli.documents import (
    MISMATCH,
    TABLES,
    UNMARKED,
    check_options,
    find_format,
    find_format_of_file,
    fit_options,
    open_document,
    read_mark,
)
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit, is_wrapped
from nmt_cli.errors import DataError, NotFoundError, OptionError
from nmt_cli.files import require_file
from nmt_cli.formats import BY_NAME, TEXT, FileFormat, find_by_name, select_format
from nmt_cli.formats.sniffing import HEAD, decode_head, recognise_format
from nmt_cli.text.characters import FINAL_MARKS
from nmt_cli.text.streams import FileLines
from nmt_cli.text.wrapping import format_count, join_first

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.translation.result import Translation


# Folders as input of `nmt translate`: every file below one that can be translated, and why the others are not.


SKIPPED_SHOWN = 5
OUTSIDE = "a link to a file outside the folder"
# Why a file is left out that would be translated if it was sound, or with an option; and what to do about it.
UNREAD = {
    MISMATCH: "if it is plain text, end its name with .txt",
    "a table without the column that --column names": "name the column of a table: --column English",
}
_, NO_COLUMN = UNREAD


class InputFile(NamedTuple):
    """A file to translate, and its path below the folder on the command line or, without a folder, its name."""

    path: Path
    relative: Path
    beside: frozenset[str] = frozenset()  # the formats of all files, whose options it may lack


class FolderContent(NamedTuple):
    """The files that nmt translates in folders, and those that it skips, each with a reason if there is one."""

    files: list[InputFile]
    skipped: list[tuple[Path, str]]  # which are nothing to translate
    unread: list[tuple[Path, str]]  # which a person must look at

    def describe_skipped(self) -> str:
        """Returns the line that names the first files that are not translated; empty without any."""
        if not self.skipped:
            return ""
        skipped = (f"{path} ({reason})" if reason else str(path) for path, reason in self.skipped)
        total = format_count(len(self.files) + len(self.skipped) + len(self.unread), "file")
        return f"{len(self.skipped):,} of {total} neither translated nor copied: {join_first(skipped, SKIPPED_SHOWN)}"

    def summarise(self, summaries: FileSummaries) -> FileSummaries:
        """Returns the summaries, after adding the files that were not read."""
        for path, reason in self.unread:
            summaries.begin_file(str(path)).error = DataError(f"{path}: {reason}", hint=UNREAD[reason])
        return summaries


def list_files(
    inputs: Sequence[Path], output: str | None, config: DocumentOptions, others: Iterable[Path] = ()
) -> FolderContent:
    """Returns the named files, and the files below the named folders.

    Hidden files, links to files elsewhere, `others` that the command uses, the folder `output`, and translations of
    files in the same folder are left out. Raises NotFoundError for a folder without a file to translate.
    """
    content, used, written = FolderContent([], [], []), {path.resolve() for path in others}, WrittenFiles()
    by_name = frozenset(format.name for format in map(find_by_name, inputs) if format is not None)
    beside = frozenset(BY_NAME) if any(path.is_dir() for path in inputs) else by_name
    for path in inputs:
        if not path.is_dir():
            content.files.append(InputFile(path, Path(path.name), beside))
            continue
        before = len(content.files)
        for file in walk_folder(path, None if output is None else Path(output)):
            source = written.find_source(file)
            if leads_outside(file, path):
                reason: str | None = OUTSIDE
            elif file.resolve() in used:
                reason = "used by another option"
            elif source is not None and source.exists() and source.resolve().is_relative_to(path.resolve()):
                reason = f"the translation of {source.name}"
            else:
                reason = find_reason_to_skip(file, config)
            if reason is None:
                content.files.append(InputFile(file, file.relative_to(path), beside))
            else:
                (content.unread if reason in UNREAD else content.skipped).append((file, reason))
        if len(content.files) == before:
            what = FolderContent([], [*content.skipped, *content.unread], []).describe_skipped()
            raise NotFoundError(
                f"{path}/ has no file to translate" + (what and f"; {what}"), hint="docs/formats.md lists the formats"
            )
    return content


def walk_folder(folder: Path, output: Path | None) -> Iterator[Path]:
    """Yields the files below a folder in order of their names, except hidden ones and those below `output`."""
    for name in sorted(os.listdir(folder)):
        path = folder / name
        if name.startswith("."):
            continue
        if path.is_file():
            yield path
        elif path.is_dir() and not path.is_symlink() and not (output and output.exists() and path.samefile(output)):
            yield from walk_folder(path, output)


def leads_outside(path: Path, folder: Path) -> bool:
    """Whether a file links outside the folder: whoever sends the folder may not mean to share that file."""
    return path.is_symlink() and not path.resolve().is_relative_to(folder.resolve())


def find_reason_to_skip(path: Path, config: DocumentOptions) -> str | None:
    """Returns why a file is not translated: its kind, or an empty string if unknown; None for a file to translate."""
    format = recognise_format(path, read_head(path))
    if config.format is not None:
        requested = select_format(config.format, "translate")
        is_readable = format is requested or not (format.is_binary or requested.is_binary)
        return None if is_readable else format.title
    by_name = find_by_name(path)
    if format is TEXT and by_name is not TEXT:
        return "" if by_name is None else MISMATCH if "translate" in by_name.uses else by_name.title
    if "translate" not in format.uses:
        return format.title
    return NO_COLUMN if format.name in TABLES and not config.column else None


def read_head(path: Path) -> bytes:
    """Returns the first bytes of a file; empty if it cannot be read, an error that translating it reports."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(HEAD)
    return b""


def require_folder_for_output(inputs: Iterable[Path], output: str | None) -> str | None:
    """Returns the output, as a directory name if a folder is translated. Raises OptionError if a folder has none."""
    folder = next((path for path in inputs if path.is_dir()), None)
    if folder is None or (output is not None and "{" in output):
        return output
    if output in (None, "-"):
        raise OptionError(f"{folder} is a folder, so its translation cannot go to standard output", hint="add -o out/")
    is_file_name = find_by_name(Path(str(output))) is not None and not str(output).endswith(("/", os.sep))
    if Path(str(output)).is_file() or (is_file_name and not Path(str(output)).is_dir()):
        raise OptionError(f"-o {output} is a file, but {folder} is a folder", hint="name a folder: -o out/")
    return f"{output}/" if not str(output).endswith(("/", os.sep)) else output


# The caller's side of a translation: streams for lines without a file, and a recipient for messages.


class Console(NamedTuple):
    """Reads and writes lines that are not in files, and shows messages to the user."""

    can_prompt: bool  # whether a person types the lines and reads their translations one by one
    output: IO[bytes]  # accepts output that goes to no file
    open_input: Callable[[], IO[bytes]]  # opens a reader of input that comes from no file
    # Takes the card, the function that formats a translation, and how invalid UTF-8 is handled ("strict" or "replace").
    ask_for_lines: Callable[[ModelCard, Callable[[Translation], str], str], Iterator[list[TranslationUnit]]]
    # Shows how many lines of these files, or texts of files without, are translated: the context gets it.
    show_progress: Callable[[Sequence[Path], bool], AbstractContextManager[Callable[[int], None]]]
    say: Callable[[str], None]
    say_detail: Callable[[str], None]


# The input files of `nmt translate`: their formats, how they are opened, and where translations are written.


STREAM = Path("-")  # standard input or output


def check_files(files: Sequence[Path], model: Path, models: Sequence[Path]) -> list[Path]:
    """Returns the files and folders; empty for standard input.

    `models` are the typed ones; if there are none, `model` translates. Raises NotFoundError, with a command to type if
    the names look like a sentence, and OptionError for files together with standard input.
    """
    if STREAM in files and len(files) > 1:
        raise OptionError("standard input (-) cannot be combined with files", hint="give one or the other")
    if STREAM in files:
        return []
    try:
        return [path if path.is_dir() else require_file(path) for path in files]
    except NotFoundError as error:
        *others, last = files
        if others and all(map(os.path.lexists, others)):
            raise NotFoundError(error.message, hint=f"{error.hint}; for an output: -o {last}") from error
        if any(map(os.path.lexists, files)) or not is_sentence(files, "did you mean" in error.hint):
            raise
        import shlex  # which only this hint needs

        from nmt_cli.runtime.installed_models import list_models

        text = " ".join(map(str, files))
        if text in list_models():
            raise NotFoundError(
                error.message, hint=f"to choose a model, use --model: nmt translate --model {text}"
            ) from error
        quoted = shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'
        names = name_models(text, model, models)
        command = shlex.join(["nmt", "translate", *(part for name in names for part in ("--model", name))])
        hint = f"to translate a sentence: echo {quoted} | {command}"
        raise NotFoundError(f"there is no file {text!r}", hint=hint) from error


def is_sentence(files: Sequence[Path], is_near: bool) -> bool:
    """Whether the names of missing files are really a sentence or its words; `is_near`: a file has a similar name."""
    text = str(files[0])
    if len(files) > 1:
        return not any(find_by_name(path) or path.name != str(path) for path in files)
    return " " in text.strip() or text.endswith(tuple(FINAL_MARKS)) or not (files[0].suffix or is_near)


def name_models(text: str, model: Path, models: Sequence[Path]) -> list[str]:
    """Returns the models to name in a command: the typed ones, none if `model` exists, or an installed one."""
    from nmt_cli.runtime.installed_models import CARD, name_model  # which only this hint needs
    from nmt_cli.runtime.model_directory import find_model_for

    if models or (model / CARD).exists():
        return list(map(name_model, models))
    name = find_model_for(text)
    return [] if name is None else [name]


class DocumentOpener:
    """Opens files and console input as documents; `template` holds their common properties.

    It tells the console about inputs whose format does not follow from their name.
    """

    def __init__(
        self, template: DocumentSource, write_line: Callable[[Translation], str], *, is_bare: bool, console: Console
    ) -> None:
        self.template = template
        self.write_line = write_line
        self.is_bare = is_bare
        self.console = console

    def open_files(self, files: Sequence[InputFile], targets: Sequence[Path], *, is_apart: bool) -> list[Document]:
        """Opens the documents in the files, or in standard input, whose format may be implied by the output's name.

        With `is_apart`, each file is opened when it is read. Raises DataError for formats that are not translated, and
        OptionError for options that a format lacks.
        """
        if not files:
            return [self.open_standard_input(targets[0] if targets else None)]
        if is_apart:
            return [self.defer_file(file) for file in files]
        documents = [self.open_as(*self.identify_file(file.path, is_alone=len(files) == 1)) for file in files]
        forms = [document.format for document in documents if document.format is not TEXT]
        if forms and len(documents) > 1:
            raise OptionError(
                f"several files, one of them {forms[0].name}, cannot be joined into one",
                hint="write a file for each: -o DIRECTORY/, or -o '{name}.{lang}{ext}'",
            )
        return documents

    def defer_file(self, file: InputFile) -> Document:
        """Returns a document that is opened when it is read, without options that only other formats have."""
        format, source = self.identify_file(file.path)
        source = source._replace(config=fit_options(format.name, source.config, file.beside), is_among_others=True)
        self.accept_format(format)
        check_options(format.name, source)
        return DeferredDocument(source, format, self)

    def identify_file(self, path: Path, *, is_alone: bool = True) -> tuple[FileFormat, DocumentSource]:
        """Returns a file's format by its content and name; the first bytes of a pipe are inspected without loss."""
        if path.is_file():
            head = read_head(path)
            lines = FileLines(path)
            source = self.template._replace(lines=lines, name=str(path), is_file=True, is_complete=is_alone)
        else:
            stream = io.BufferedReader(io.FileIO(path), HEAD)
            head = stream.peek(HEAD)[:HEAD]
            source = self.template._replace(lines=stream, name=str(path))
        config = self.template.config
        format = find_format_of_file(path, config.format, head)
        is_open = format is TEXT and config.format is None and self.is_bare and is_alone and not config.confidence
        if is_open and path.is_file() and is_wrapped(decode_head(head) or ""):
            format = BY_NAME["wrapped"]
        if config.format is None and format not in (find_by_name(path), TEXT):
            self.console.say(f"{path} is read as {format.title} ({format.name}), judging by its content")
        return format, read_mark(source, format, head)

    def open_standard_input(self, output: Path | None) -> Document:
        """Opens standard input, whose format is given by `--format`, the output's name, or its content."""
        stream = self.console.open_input()
        source = self.template._replace(lines=stream)
        requested = self.template.config.format
        if requested is not None:
            return self.open_as(find_format(None, requested), source)
        return ArrivingDocument(source, self, stream, output)

    def accept_format(self, format: FileFormat) -> None:
        """Lets the translation memory link words for a format with markup, before a worker receives it.

        Raises OptionError if more than the translation is to be written, but the format has no room for it.
        """
        if self.template.memory is not None and format.name not in UNMARKED:
            self.template.memory.links_words = True
        if format is not TEXT and not self.is_bare:
            hint = "leave out --n-best, --scores, --alignments and --json"
            raise OptionError(f"{format.title} can store only the translation", hint=hint)

    def open_as(self, format: FileFormat, source: DocumentSource) -> Document:
        self.accept_format(format)
        document = open_document(format.name, source, self.write_line)
        document.format = format
        return document


class DeferredDocument(Document):
    """A file that is opened when it is read, so that only one of many files is in memory at a time."""

    def __init__(self, source: DocumentSource, format: FileFormat, opener: DocumentOpener) -> None:
        super().__init__(source)
        self.format = format
        self.opener = opener

    def read_units(self) -> Iterator[TranslationUnit]:
        document = self.opener.open_as(self.format, self.source)
        document.report_to(self)
        yield from document.read_with_domain()


class ArrivingDocument(Document):
    """Standard input as a document, whose format is known once its first bytes arrive."""

    format = TEXT

    def __init__(self, source: DocumentSource, opener: DocumentOpener, stream: IO[bytes], output: Path | None) -> None:
        super().__init__(source)
        self.opener = opener
        self.stream = stream
        self.output = output

    def read_units(self) -> Iterator[TranslationUnit]:
        head = self.stream.peek(HEAD)[:HEAD] if isinstance(self.stream, io.BufferedReader) else b""
        format = find_format(None, None, head)
        if format is TEXT and self.output is not None:
            format = find_format(self.output, None, head)  # `-o out.po < catalogue`
        self.format = format
        if format is not TEXT:
            self.opener.console.say(f"standard input is read as {format.title} ({format.name})")
        if self.output is not None:
            require_name(self.output, self.source, format)
        document = self.opener.open_as(format, read_mark(self.source, format, head))
        document.report_to(self)
        yield from document.read_with_domain()
