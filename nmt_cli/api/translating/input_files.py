"""The input files of `nmt translate`: their formats, how they are opened, and where translations are written."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from nmt_cli.api.translating.console import Console
from nmt_cli.api.translating.input_folders import InputFile, read_head
from nmt_cli.api.translating.output_files import require_name
from nmt_cli.documents import UNMARKED, check_options, find_format, fit_options, open_document
from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit
from nmt_cli.errors import NotFoundError, OptionError
from nmt_cli.files import require_file
from nmt_cli.formats import TEXT, FileFormat, find_by_name
from nmt_cli.text.characters import FINAL_MARKS
from nmt_cli.text.line_parts import FileLines
from nmt_cli.text.sniffing import HEAD

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

STREAM = Path("-")  # standard input or output


def check_files(files: Sequence[Path], models: Sequence[Path]) -> list[Path]:
    """Returns the files and folders; empty for standard input.

    `models` are the typed ones. Raises NotFoundError, and OptionError for files beside standard input.
    """
    if STREAM in files and len(files) > 1:
        raise OptionError("- is standard input and cannot be combined with files", hint="give one or the other")
    return [] if STREAM in files else [require_input(path, models) for path in files]


def require_input(path: Path, models: Sequence[Path]) -> Path:
    """Returns the path of a file or folder. Raises NotFoundError, with a suggestion if it looks like a sentence."""
    try:
        return path if path.is_dir() else require_file(path)
    except NotFoundError as error:
        text = str(path)
        looks_like_text = " " in text.strip() or text.endswith(tuple(FINAL_MARKS)) or not (path.suffix or error.hint)
        if os.path.lexists(path) or not looks_like_text:
            raise
        import shlex  # which only this hint needs

        from nmt_cli.runtime.installed_models import name_model

        quoted = shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'
        typed = (part for model in models for part in ("--model", name_model(model)))
        command = shlex.join(["nmt", "translate", *typed])
        hint = f"to translate a sentence: echo {quoted} | {command}"
        raise NotFoundError(f"there is no file {text!r}", hint=hint) from error


class DocumentOpener:
    """Opens files and console input as documents; `template` holds their common properties.

    Tells the console about an input whose name does not imply its format.
    """

    def __init__(
        self,
        template: DocumentSource,
        write_line: Callable[[Translation], str],
        *,
        is_bare: bool,
        console: Console,
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
        documents = [self.open_as(*self.identify_file(file.path)) for file in files]
        forms = [document.format for document in documents if document.format is not TEXT]
        if forms and len(documents) > 1:
            raise OptionError(
                f"several files, one of them {forms[0].name}, cannot be joined into one",
                hint="write one for each: -o DIRECTORY/, or -o '{name}.{lang}{ext}'",
            )
        return documents

    def defer_file(self, file: InputFile) -> Document:
        """Returns a document that is opened when it is read; one of a folder ignores the options that it lacks."""
        format, source = self.identify_file(file.path)
        if file.is_found:
            source = source._replace(config=fit_options(format.name, source.config))
        self.require_bare(format)
        check_options(format.name, source)
        return DeferredDocument(source, format, self)

    def identify_file(self, path: Path) -> tuple[FileFormat, DocumentSource]:
        """Returns a file's format by its content and name; the first bytes of a pipe are inspected without loss."""
        if path.is_file():
            head = read_head(path)
            source = self.template._replace(lines=FileLines(path), name=str(path))
        else:
            stream = io.BufferedReader(io.FileIO(path), HEAD)
            head = stream.peek(HEAD)[:HEAD]
            source = self.template._replace(lines=stream, name=str(path))
        format = find_format(path, self.template.config.format, head)
        if self.template.config.format is None and format not in (find_by_name(path), TEXT):
            self.console.say(f"{path} is read as {format.title} ({format.name}), by its content")
        return format, source

    def open_standard_input(self, output: Path | None) -> Document:
        """Opens standard input, whose format is given by `--format`, the output's name, or its content."""
        stream = self.console.open_input()
        source = self.template._replace(lines=stream)
        requested = self.template.config.format
        if requested is not None:
            return self.open_as(find_format(None, requested), source)
        return ArrivingDocument(source, self, stream, output)

    def require_bare(self, format: FileFormat) -> None:
        """Raises OptionError if more than the translation is to be written, but the format has no room for it."""
        if format is not TEXT and not self.is_bare:
            raise OptionError(f"--format {format.name} has room for one translation and nothing beside it")

    def open_as(self, format: FileFormat, source: DocumentSource) -> Document:
        self.require_bare(format)
        if source.memory is not None and format.name not in UNMARKED:
            source.memory.links_words = True
        document = open_document(format.name, source, self.write_line)
        document.format = format
        return document


class DeferredDocument(Document):
    """A file that is opened when it is read, so that of many files one at a time is held in memory."""

    def __init__(self, source: DocumentSource, format: FileFormat, opener: DocumentOpener) -> None:
        super().__init__(source)
        self.format = format
        self.opener = opener

    def read_units(self) -> Iterator[TranslationUnit]:
        document = self.opener.open_as(self.format, self.source)
        document.report_to(self)
        yield from document.read_with_domain()


class ArrivingDocument(Document):
    """Standard input: a document whose format is known once its first bytes arrive, for which nothing else waits."""

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
        if format is not TEXT:
            self.opener.console.say(f"standard input is read as {format.title} ({format.name})")
        if self.output is not None:
            require_name(self.output, self.source, format)
        document = self.opener.open_as(format, self.source)
        document.report_to(self)
        yield from document.read_with_domain()
