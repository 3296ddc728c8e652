"""Writes the output of `nmt translate` to standard output or to files, with a summary of each file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

from nmt_cli.documents.document import Document, DocumentSource, Location, TornText, TranslationUnit
from nmt_cli.errors import DataError, NmtError, OptionError, OutputError, convert_os_error
from nmt_cli.files import hash_file, refuse_input, stage_file, write_text
from nmt_cli.formats import TEXT, FileFormat, may_be_named
from nmt_cli.languages.codes import find_language_tag
from nmt_cli.text.wrapping import format_count, protect_terminal

if TYPE_CHECKING:
    from nmt_cli.translation.result import CheckKind, Translation


# The summary of a translation file by file and chapter by chapter, in words and as JSON.


ROWS_SHOWN = 20  # of files and chapters
OF_LANGUAGES: tuple[CheckKind, ...] = ("language", "other language")  # checks of the language of the source
LEAST_FOREIGN = 4  # texts of a file, of which more than half are an error: one or two may be names or quotations
MOST_FAILED = 3  # files that are named in the error
NOWHERE = Location()


@dataclass
class PartSummary:
    """The counts of a file or of one of its chapters."""

    name: str
    is_chapter: bool = False
    texts: int = 0
    carried: int = 0  # words copied unchanged
    failed: int = 0  # texts that failed a check
    foreign: int = 0  # texts in another language than the source
    rated: int = 0  # texts with a confidence
    confidence_sum: float = 0.0
    error: NmtError | None = None  # because of which the file is not translated
    kept: list[TornText] = field(default_factory=list)  # as they were, in need of a look
    places: list[tuple[str, float | None]] = field(default_factory=list)  # of a chapter: verses, with their confidence

    def add(self, translation: Translation) -> None:
        """Counts one translation; a blank line does not count as a text."""
        self.texts += bool(translation.source.strip())
        self.carried += len(translation.carried)
        self.failed += bool(translation.checks)
        self.foreign += any(check.kind in OF_LANGUAGES for check in translation.checks)
        if translation.confidence is not None:
            self.rated += 1
            self.confidence_sum += translation.confidence

    @property
    def confidence(self) -> float | None:
        """The mean confidence; None if no text has one."""
        return self.confidence_sum / self.rated if self.rated else None

    def is_below(self, threshold: float | None) -> bool:
        return self.confidence is not None and threshold is not None and self.confidence < threshold

    def describe(self, thing: str, threshold: float | None) -> str:
        """Returns the line that describes the part."""
        if self.error is not None:
            return f"{self.name}: not translated: {self.error.message.removeprefix(f'{self.name}: ')}"
        facts = [format_count(self.texts, thing)]
        facts += [f"{format_count(self.carried, 'word')} copied"] if self.carried else []
        facts += [f"{self.failed:,} failed a check"] if self.failed else []
        if self.confidence is not None:
            facts.append(f"confidence {self.confidence:.2f}{' (low)' if self.is_below(threshold) else ''}")
        return f"{self.name}: {', '.join(facts)}"

    def map_counts(self, threshold: float | None) -> dict[str, Any]:
        """Returns the counts as the values of a JSON object."""
        values = {"name": self.name, "texts": self.texts, "carried": self.carried, "failed": self.failed}
        values |= {"confidence": self.confidence, "is_low": self.is_below(threshold)}
        if self.kept:
            values["kept"] = [
                {"text": text.number, "place": str(text.location), "source": text.source, "why": text.problem}
                for text in self.kept
            ]
        if self.places:
            values["places"] = [{"name": name, "confidence": confidence} for name, confidence in self.places]
        if self.error is not None:
            values["error"] = {"message": self.error.message, "hint": self.error.hint}
        return values


@dataclass
class FileSummaries:
    """The summaries of all files with their chapters, filled translation by translation, in the order of the input."""

    thing: str = "line"  # what a text is called
    threshold: float | None = None  # below which a mean confidence is low
    are_apart: bool = False  # whether each file has an output of its own
    files: list[PartSummary] = field(default_factory=list)
    parts: list[PartSummary] = field(default_factory=list)  # each file is followed by its chapters
    chapters: dict[str, PartSummary] = field(default_factory=dict)  # of the last file, by name
    location: Location = NOWHERE  # of the next translation
    number: int = 0  # of the last translation, blank lines included: in its file, if each has an output of its own

    def begin_file(self, name: str) -> PartSummary:
        """Begins a file, and returns its summary."""
        self.location, self.chapters = NOWHERE, {}
        self.number = 0 if self.are_apart else self.number
        self.parts.append(PartSummary(name))
        self.files.append(self.parts[-1])
        return self.parts[-1]

    def begin_location(self, location: Location) -> None:
        """Records the place of the next translations, which may begin a chapter."""
        self.location = location
        if location.chapter and location.chapter not in self.chapters:
            self.chapters[location.chapter] = PartSummary(location.chapter, is_chapter=True)
            self.parts.append(self.chapters[location.chapter])

    @property
    def has_parts(self) -> bool:
        """Whether there is anything to report besides the input as a whole."""
        return self.are_apart or len(self.parts) > 1

    @property
    def file(self) -> str:
        """The file of the next translation; empty unless each file has an output of its own."""
        return self.files[-1].name if self.are_apart else ""

    @property
    def where(self) -> str:
        """The place of the next translation in a report: its file if there are several; its verse, chapter or line."""
        return f"{self.file} {self.location}".strip()

    def add(self, translation: Translation) -> None:
        """Counts one translation for its file and its chapter."""
        self.number += 1
        if self.files:
            self.files[-1].add(translation)
        if self.location.chapter:
            chapter = self.chapters[self.location.chapter]
            chapter.add(translation)
            name = self.location.name
            if name and not (chapter.places and chapter.places[-1][0] == name):  # else a footnote of the same verse
                chapter.places.append((name, translation.confidence))

    def add_torn(self, name: str, torn: TornText) -> None:
        """Records a text of a file that is written as it is in the source."""
        part = next((part for part in self.files if part.name == name), None)
        if part is not None:
            part.failed += not torn.was_flagged
            part.kept.append(torn)

    def describe(self) -> Iterator[str]:
        """Yields a line per file and chapter; if there are many, only for those that most need review."""
        if not self.has_parts:
            return
        shown = self.parts
        if len(shown) > ROWS_SHOWN:
            first = sorted(self.parts, key=rate_urgency)[:ROWS_SHOWN]
            shown = [part for part in self.parts if part in first]
        for part in shown:
            yield f"{'    ' if part.is_chapter else '  '}{part.describe(self.thing, self.threshold)}"
        rest = len(self.parts) - len(shown)
        if rest:
            yield f"  and {rest:,} more, less urgent"

    def map_files(self) -> list[dict[str, Any]]:
        """Returns a JSON object per file, with its chapters."""
        files: list[dict[str, Any]] = []
        for part in self.parts:
            values = part.map_counts(self.threshold)
            if part.is_chapter:
                files[-1].setdefault("chapters", []).append(values)
            else:
                files.append(values)
        return files

    def write_json(self) -> bytes:
        """Returns one JSON object per file, each on a line of its own."""
        return "".join(json.dumps(values, ensure_ascii=False) + "\n" for values in self.map_files()).encode()

    def list_foreign(self) -> list[str]:
        """Returns the names of the files in which most texts, and enough to be sure, are in another language."""
        return [part.name for part in self.files if 2 * part.foreign > max(part.texts, LEAST_FOREIGN)]

    def require_complete(self) -> None:
        """Raises DataError if a file could not be translated."""
        failed = [(part.name, part.error) for part in self.files if part.error is not None]
        if not failed:
            return
        problems = [error.message if name in error.message else f"{name}: {error.message}" for name, error in failed]
        more = f"; and {len(failed) - MOST_FAILED:,} more" if len(failed) > MOST_FAILED else ""
        hints = list(dict.fromkeys(error.hint for _, error in failed if error.hint))[:MOST_FAILED]
        if not any("--" in hint for hint in hints):  # with another option, it would be another command
            hints.append("run the same command again to translate the rest")
        hint = "; ".join(["all others were translated", *hints])
        total = format_count(len(self.files), "file")
        raise DataError(
            f"{len(failed):,} of {total} not translated: {'; '.join(problems[:MOST_FAILED])}{more}", hint=hint
        )


def rate_urgency(part: PartSummary) -> tuple[bool, float]:
    """Returns a sort key that puts the parts in most need of review first: failed ones, then the least confident."""
    return part.error is None, 1.0 if part.confidence is None else part.confidence


# The output of `nmt translate`: standard output, one file, or a file for each input.


BatchUnits = Callable[[Iterator[TranslationUnit]], Iterator[list[TranslationUnit]]]

STREAM = "-"  # standard input or output
FIELDS = "{name}, {lang} and {ext}"


def is_for_several(output: str | None) -> bool:
    """Whether `-o` names a file for each input: a directory, or a pattern."""
    return output is not None and ("{" in output or output.endswith(("/", os.sep)) or Path(output).is_dir())


def name_outputs(
    output: str | None, paths: Sequence[Path], language: str, relatives: Sequence[Path] = ()
) -> list[Path]:
    """Returns the files to write: empty for standard output, one for all inputs, or one for each.

    `relatives` are the paths of the inputs below a directory, by default their names. Raises OptionError for an output
    that is also an input, or for two equal outputs.
    """
    if output is None or output == STREAM:
        return []
    if not is_for_several(output):
        targets = [Path(output)]
    elif not paths:
        raise OptionError(
            f"-o {output} names a file for each input, but standard input has no name", hint="name a file"
        )
    else:
        relatives = relatives or [Path(path.name) for path in paths]
        targets = [name_output(output, *names, language) for names in zip(paths, relatives, strict=True)]
    for target in targets:
        refuse_input(target, paths)
        if targets.count(target) > 1:
            raise OptionError(f"two inputs would be written to {target}", hint="change -o, or rename one")
    return targets


def name_output(output: str, path: Path, relative: Path, language: str) -> Path:
    """Returns the file for one input; if a pattern has no folder, the file goes beside the input."""
    if "{" not in output:
        return Path(output) / relative
    try:
        name = output.format_map(
            {"name": path.stem, "lang": find_language_tag(language) or language, "ext": path.suffix}
        )
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        hint = f"use any of {FIELDS}: '{{name}}.{{lang}}{{ext}}'"
        raise OptionError(f"{output} is not a valid file-name pattern", hint=hint) from error
    return Path(name) if Path(name).name != name else path.parent / name


# What nmt wrote to a folder, so that the next run knows what is up to date and what a person has edited since.


RECORD = ".nmt.written"  # in each folder of outputs, a line a file: {"a.txt": ["9f8...", "c01...", "../in/a.txt"]}
OutputState = Literal["unknown", "current", "outdated", "edited", "edited before its source"]


class WrittenFile(NamedTuple):
    """The hashes of an output and of its causes (options:source), and the path of its source relative to its folder."""

    content: str
    cause: str
    source: str
    memories: str = ""  # the paths of the files of its translation memory, likewise; one on each line


class WrittenFiles:
    """The records that nmt keeps in output folders. Damaged lines are ignored.

    A line is appended just before its file gets its final name. Until the run is complete, the older line about that
    file counts, too, because a run killed in between leaves the old file.
    """

    def __init__(self) -> None:
        self.folders: dict[Path, dict[str, list[WrittenFile]]] = {}
        self.recorded_in: dict[Path, Path] = {}  # the folder of the record, for a file elsewhere

    def locate(self, target: Path) -> tuple[Path, str]:
        """Returns the folder whose record lists a file, and the file's name in that record."""
        folder = self.recorded_in.get(target, target.parent)
        return folder, os.path.relpath(target, folder)

    def open_folder(self, folder: Path) -> dict[str, list[WrittenFile]]:
        """Returns what is known about the files of a folder, by name, the newest last."""
        if folder not in self.folders:
            files = self.folders[folder] = {}
            with suppress(OSError):
                for line in (folder / RECORD).read_bytes().split(b"\n"):
                    with suppress(ValueError, TypeError, AttributeError):
                        for name, fields in json.loads(line).items():
                            files.setdefault(name, []).append(WrittenFile(*map(str, fields)))
        return self.folders[folder]

    def find_state(self, target: Path, cause: str) -> OutputState:
        """Returns whether a file and its causes are unchanged since it was written."""
        folder, name = self.locate(target)
        known = self.open_folder(folder).get(name)
        if not known or not target.is_file():
            return "unknown"
        content = hash_file(target)
        written = next((written for written in reversed(known) if written.content == content), None)
        if written is None:
            return "edited" if known[-1].cause.split(":")[1:] == cause.split(":")[1:] else "edited before its source"
        return "current" if written.cause == cause else "outdated"

    def find_source(self, path: Path) -> Path | None:
        """Returns the source of a translated file; None if the file is not known to be a translation."""
        known = self.open_folder(path.parent).get(path.name)
        return path.parent / known[-1].source if known else None

    def list_lacking(self, target: Path, memories: Iterable[Path]) -> list[Path]:
        """Returns the files of the memory with which a file was written that are not among `memories`."""
        folder, name = self.locate(target)
        paths = self.open_folder(folder)[name][-1].memories.split("\n")
        known = {os.path.relpath(path, folder) for path in memories}
        return [Path(os.path.relpath(folder / path)) for path in filter(None, paths) if path not in known]

    def add(self, target: Path, content: Path, source: Path, cause: str, memories: Iterable[Path] = ()) -> None:
        """Records a file that is about to get its name; until then, its content has a temporary one."""
        folder, name = self.locate(target)
        paths = (os.path.relpath(path, folder) for path in (source, *memories))
        written = WrittenFile(hash_file(content), cause, next(paths), "\n".join(paths))
        self.open_folder(folder).setdefault(name, []).append(written)
        with (folder / RECORD).open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps({name: written})}")  # whatever a killed process left of its line

    def shorten(self) -> None:
        """Reduces the records to the newest line about each file, since all files are complete."""
        for folder, files in self.folders.items():
            if files:
                lines = (f"{json.dumps({name: known[-1]})}\n" for name, known in files.items())
                write_text(folder / RECORD, "".join(lines))


class OutputFiles(AbstractContextManager["OutputFiles"]):
    """Writes files one after the other, renaming each when complete; without files, writes to a stream.

    With `is_apart`, each input has a file of its own, and an input that fails affects only that file.
    """

    def __init__(self, targets: Sequence[Path], stream: IO[bytes], *, is_apart: bool = False) -> None:
        self.targets = targets
        self.stack = ExitStack()
        self.stream = stream
        self.is_apart = is_apart
        self.kept = set[Path]()  # targets that stay as they are, although their texts are translated
        self.record: Callable[[Path, Path], None] | None = None  # gets a target and its complete content, to be renamed
        self.has_written = False

    def __enter__(self) -> OutputFiles:
        if self.targets and not self.is_apart:
            self.start_file(self.targets[0])
        return self

    def __exit__(self, *error: Any) -> bool | None:
        return self.stack.__exit__(*error)

    @property
    def are_on_terminal(self) -> bool:
        return not self.targets and self.stream.isatty()

    def require_formats(self, documents: Sequence[Document], lines: FileFormat = TEXT) -> None:
        """Raises OptionError for a name that implies another format, and for a format that a terminal cannot show.

        `lines` is the output format of plain text: JSON Lines with `--json`.
        """
        for document, target in zip(documents, self.targets, strict=False):  # lines of several files go into one
            require_name(target, document.source, lines if document.format is TEXT else document.format)
        for document in [] if self.targets else documents:
            if document.format.is_binary and self.stream.isatty():
                name = Path(document.source.name)
                hint = f"name a file: -o {name_translation(name).name}"
                raise OptionError(f"{name} is {document.format.title}, which a terminal cannot show", hint=hint)

    def start_file(self, path: Path) -> None:
        """Completes the previous file and begins the next."""
        self.stack.close()
        with ExitStack() as stack:
            temporary = stack.enter_context(discard_file(path) if path in self.kept else stage_file(path))

            def record(error: type[BaseException] | None, *_: object) -> None:
                if error is None and self.record is not None:
                    self.record(path, temporary)

            stack.push(record)
            self.stream = protect_terminal(stack.enter_context(temporary.open("wb")))
            self.stack = stack.pop_all()

    def write(self, data: bytes) -> None:
        if data:  # else the file may be complete
            self.stream.write(data)
            self.stream.flush()
            self.has_written = True

    def end_file(self, error: BaseException | None) -> None:
        """Completes the file; after an error, leaves the old file as it was."""
        stack, self.stack = self.stack, ExitStack()
        if error is None:
            stack.close()
            return
        with suppress(type(error)):
            stack.__exit__(type(error), error, error.__traceback__)

    def batch_files(
        self, documents: Iterable[Document], batch: BatchUnits, summaries: FileSummaries
    ) -> Iterator[list[TranslationUnit]]:
        """Yields the batches of all documents; extra batches begin and complete the file of each."""
        for target, document in zip(self.targets, documents, strict=True):
            file = FileUnits(self, target, document, summaries)
            yield [TranslationUnit((), file.begin)]
            yield from batch(file.read_units())
            yield [TranslationUnit((), file.end)]


@contextmanager
def discard_file(path: Path) -> Iterator[Path]:
    """Yields a temporary path for the content of a file that stays as it is."""
    from tempfile import TemporaryDirectory  # which few runs need

    with TemporaryDirectory() as folder:
        yield Path(folder) / path.name


class FileUnits:
    """The units of a document with an output of its own: if one fails, the file is not written."""

    def __init__(self, outputs: OutputFiles, target: Path, document: Document, summaries: FileSummaries) -> None:
        self.outputs = outputs
        self.target = target
        self.document = document
        self.summaries = summaries
        self.error: NmtError | None = None

    def begin(self, _translations: Sequence[Translation]) -> str:
        self.summary = self.summaries.begin_file(self.document.source.name)
        self.outputs.start_file(self.target)
        return ""

    def end(self, _translations: Sequence[Translation]) -> str:
        self.summary.error = self.error
        self.outputs.end_file(self.error)
        return ""

    def read_units(self) -> Iterator[TranslationUnit]:
        """Yields the units until one cannot be read or written."""
        with self.note_error():
            for unit in track_locations(self.document, self.summaries):
                if self.error is not None:
                    return
                yield unit._replace(write=partial(self.write, unit))

    def write(self, unit: TranslationUnit, translations: Sequence[Translation]) -> str | bytes:
        """Writes a unit, or nothing once a unit has failed."""
        if self.error is None:
            with self.note_error():
                return unit.write(translations)
        return b""

    @contextmanager
    def note_error(self) -> Iterator[None]:
        """Records an error of the input instead of raising it."""
        try:
            yield
        except OutputError:
            raise
        except NmtError as error:
            self.error = self.error or error
        except OSError as error:
            self.error = self.error or convert_os_error(error)


def require_name(target: Path, source: DocumentSource, format: FileFormat) -> None:
    """Raises OptionError if the name of a translation implies another format.

    A name may end like the name of its source, or in the code of its language.
    """
    path = Path(source.name)
    endings = (path.suffix.lower(), f".{source.target_language}", f".{find_language_tag(source.target_language)}")
    if target.suffix.lower() in endings or may_be_named(format, target):
        return
    suffix, bare = path.suffix or "".join(format.extensions[:1]), target.with_suffix("")
    same = bare if suffix and bare.suffix == suffix else target.with_suffix(suffix)
    hint = f"use its extension: {name_translation(path) if same == path else same}"
    raise OptionError(f"{target}: nmt writes the translation in the format of {source.name}, {format.title}", hint=hint)


def name_translation(path: Path) -> Path:
    """Returns a name for the translation of a file, in the same folder."""
    return path.with_stem(f"{path.stem}-translated")


def track_locations(document: Document, summaries: FileSummaries) -> Iterator[TranslationUnit]:
    """Yields the units of a document, which record their places as they are written."""

    def write(unit: TranslationUnit, translations: Sequence[Translation]) -> str | bytes:
        summaries.begin_location(unit.location or NOWHERE)
        return unit.write(translations)

    has_places = False
    for unit in document.read_with_domain():
        has_places |= unit.location is not None
        yield unit._replace(write=partial(write, unit)) if has_places and unit.texts else unit
