"""`nmt translate --resume`: what identifies a job, where its journal is, and when nmt refuses to continue.

`nmt translate book.txt -o buch.txt` keeps its finished blocks in `.buch.txt.journal`. After an interruption, it names
the command that continues. With another `--beam-size`, nmt refuses this command ("was started with a different
--beam-size"). Lines of standard input have no journal, because they cannot be read again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli import __version__
from nmt_cli.api.translating.inputs import Console, InputFile, read_head
from nmt_cli.api.translating.outputs import OutputFiles, WrittenFiles
from nmt_cli.api.translating.request import TranslateCommand, list_options
from nmt_cli.documents import fit_options
from nmt_cli.errors import DataError, OptionError, OutputError
from nmt_cli.files import REPLACE, has_content, hash_file, hold_file
from nmt_cli.formats.inputs import list_typed_files
from nmt_cli.formats.sniffing import recognise_format
from nmt_cli.jobs.units import TranslationExecutor
from nmt_cli.runtime.installed_models import CARD, name_model
from nmt_cli.text.streams import FIRST_BLOCK
from nmt_cli.text.wrapping import format_count, join_first
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.workers.choice import ExecutorOptions, open_executor
from nmt_cli.workers.work import DoneReporter

if TYPE_CHECKING:
    from nmt_cli.api.options.command_lines import CommandLine
    from nmt_cli.jobs.journal import BlockJournal

JOURNAL = ".{name}.journal"
OF_FOLDER = "nmt"  # stands for the name in that of a folder's journal
EDITED_SHOWN = 5
REPORT = "report"  # the cause of one
CLOSE = 1.0  # seconds from the last block of a journal to the last file that it completes
NOTHING_DONE = "stopped before the first texts were finished: nothing was {}"
TOGETHER = f" (the first {FIRST_BLOCK} are saved together)"
FREE = frozenset({"report", "strict"})  # settings that change no translation


class ResumableJob:
    """A translation of files to files, which keeps finished blocks in a journal until it is complete."""

    def __init__(self, command: TranslateCommand, inputs: Sequence[InputFile], outputs: OutputFiles) -> None:
        """Raises OptionError for `--resume` without files, DataError if the interrupted run was a different job.

        Removes from `inputs` and `outputs` the files that stay as they are.
        """
        self.command = command
        self.inputs, self.outputs = list(inputs), outputs
        self.current, self.edited = 0, list[str]()  # outputs that stay: how many are up to date; the edited ones
        self.written, self.causes = WrittenFiles(), dict[Path, str]()
        self.report = None if command.checks.report is None else Path(command.checks.report)
        self.same = set[Path]()  # outputs that are written again as they are, since a report needs their texts
        self.replaced = list[str]()  # outputs that nmt may not have written
        self.memories = list_typed_files(command.memories.tm)
        self.lacking = dict[Path, None]()  # files of a memory with which outputs were written that change now
        self.path = locate_journal(command.output, inputs, outputs)
        self.journal: BlockJournal | None = None
        self.resumes = self.is_begun = False
        if self.path is None:
            self.require_free()
            if command.resume:
                raise OptionError(
                    "--resume needs files to read and to write", hint="name them: nmt translate FILE -o FILE --resume"
                )
            return
        from nmt_cli.jobs.journal import BlockJournal  # which lines that arrive on standard input do not need

        begun, job = BlockJournal(self.path, {}).read_identity(), describe_job(command, inputs)
        begun_job, begun_targets = job, outputs.targets
        if outputs.is_apart:
            kept = (begun or {}).get("kept")
            kept = kept if isinstance(kept, list) else None
            begun_job = leave_out(job, kept or [])
            begun_targets = [
                target
                for file, target in zip(inputs, outputs.targets, strict=True)
                if str(file.path) in begun_job["input"]
            ]
            job = leave_out(job, self.keep_files(job, kept if command.resume else None))
            outputs.record = self.record_file
            if self.report is not None:
                self.written.recorded_in[self.report] = self.path.parent
        self.journal = BlockJournal(self.path, job)
        self.is_begun = begun == BlockJournal(self.path, begun_job).identity
        self.resumes = command.resume and begun is not None
        if self.resumes and not self.is_begun:
            raise DataError(
                f"{command.output} was started with {name_difference(begun or {}, self.journal.identity)}",
                hint=f"continue with the same options, or start over: {describe_command(command)} --force",
            )
        if self.is_begun and not (self.resumes or command.force):
            for target in filter(has_content, begun_targets):
                hint = f"the translation was interrupted; continue with: {describe_command(command)} --resume"
                raise OutputError(f"{target} already exists", hint=hint)
        self.require_free()

    @property
    def targets(self) -> Sequence[Path]:
        return self.outputs.targets

    def keep_files(self, job: dict[str, Any], kept: list[Any] | None) -> list[str]:
        """Removes files from the job, and returns them: those that an interrupted job has `kept`.

        Otherwise, those whose translation is up to date (unless a report needs all texts) or has been edited by a
        person. If a file was edited after an interruption, its texts remain part of the resumed job, but the file is
        kept.
        """
        needs_all = self.command.checks.report is not None or self.command.checks.strict or self.command.layout.json
        settings, document = {**job, "input": None}, self.command.document
        inputs, targets, left_out = [], [], []
        for file, target in zip(self.inputs, self.targets, strict=True):
            format = recognise_format(file.path, read_head(file.path))
            options = job["options"] | dict(list_options(fit_options(format.name, document, file.beside)))
            cause = f"{hash_value(settings | {'options': options})}:{hash_value(job['input'][str(file.path)])}"
            state = self.written.find_state(target, cause)
            if state == "unknown" and has_content(target):
                state = "edited" if kept is not None and self.is_newer(target) else state
                self.replaced += [str(target)] * (state == "unknown" and self.command.force)
            if state == "outdated":
                self.lacking |= dict.fromkeys(self.written.list_lacking(target, self.memories))
            is_edited = state in ("edited", "edited before its source")
            is_kept = is_edited or (state == "current" and not needs_all)
            note = "" if state == "edited" else " (its source has changed since)"
            self.edited += [f"{target}{note}"] * is_edited
            if is_kept if kept is None else str(file.path) in kept:
                left_out.append(str(file.path))
                self.current += state == "current"
            else:
                inputs.append(file)
                targets.append(target)
                self.causes[target] = cause
                self.same |= {target} if state == "current" else set()
                self.outputs.kept |= {target} if is_edited else set()
        self.inputs, self.outputs.targets = inputs, targets
        return left_out

    def is_done(self, console: Console) -> bool:
        """Whether all files stay as they are; reports which do."""
        if self.current:
            console.say(f"{format_count(self.current, 'file is', 'files are')} up to date")
        if self.edited:
            edited = format_count(len(self.edited), "edited file is kept", "edited files are kept")
            way_on = (
                "to translate one again, move it away and reuse it with --tm: a .po, an .xlf or a table with both "
                "languages alone, any other file preceded by its source (--tm old.docx,edited.docx)"
            )
            console.say(f"{edited}: {join_first(self.edited, EDITED_SHOWN)}; {way_on}")
        if self.lacking:
            console.say(self.describe_lacking())
        if self.replaced:
            files = format_count(len(self.replaced), "file")
            console.say(
                f"--force replaces {files} that nmt has no record of: {join_first(self.replaced, EDITED_SHOWN)}"
            )
        return bool(self.current or self.edited) and not self.inputs

    def describe_lacking(self) -> str:
        names = join_first(map(str, self.lacking), EDITED_SHOWN)
        return f"the last translations used a translation memory that this command lacks (--tm): {names}"

    def record_file(self, target: Path, content: Path) -> None:
        """Records a complete file, so that a person's changes are noticed even after an interruption."""
        source = self.inputs[self.targets.index(target)].path
        self.written.add(target, content, source, self.causes[target], self.memories)

    def record_report(self) -> None:
        """Records the report of a folder, which the same command replaces unless a person has edited it."""
        if self.report is not None and self.report in self.written.recorded_in:
            self.written.add(self.report, self.report, self.report, REPORT)

    def is_newer(self, target: Path) -> bool:
        """Whether a file is newer than the journal, and so was not written by the interrupted run."""
        return self.path is not None and target.stat().st_mtime > self.path.stat().st_mtime + CLOSE

    def require_free(self) -> None:
        """Raises OutputError for a file that the job would change but did not write itself.

        An interrupted job wrote those of its files that are older than its journal; newer ones have been edited.
        """
        if self.command.force:
            return
        report = self.report
        if report is not None and has_content(report) and self.written.find_state(report, REPORT) != "current":
            hint = f"{REPLACE}, or name another file with --report"
            raise OutputError(f"{report} already exists", hint=hint)
        for target in filter(has_content, self.targets):
            if target in self.same or target in self.outputs.kept:
                continue
            if not self.resumes:
                again = f"to replace the files that you did not edit: {describe_command(self.command)} --force"
                hint = f"{again if self.outputs.is_apart else 'replace it with --force'}, or choose another -o"
                hint += f"; {self.describe_lacking()}" if self.lacking else ""
                raise OutputError(f"{target} already exists", hint=hint)
            if self.is_newer(target):
                hint = "move this file away, or replace it with --force instead of --resume"
                raise OutputError(f"{target} has changed since the interruption", hint=hint)

    @property
    def greeting(self) -> str:
        """The message at the start; empty for a new job."""
        if self.resumes:
            return "continues where it was interrupted"
        if self.command.resume:
            return "there is nothing to resume: nmt starts from the beginning"
        if self.path is not None and self.is_begun:
            return f"starts over; to continue the interrupted run instead: {describe_command(self.command)} --resume"
        return ""

    @property
    def farewell(self) -> str:
        """The message after an interruption: how much is finished, and the command that continues; may be empty."""
        if self.journal is None:
            return NOTHING_DONE.format("written") if self.command.files and not self.outputs.has_written else ""
        if not self.journal.blocks:
            return NOTHING_DONE.format("saved") + TOGETHER
        done = format_count(self.journal.results, "text is", "texts are")
        return f"{done} translated; continue with: {describe_command(self.command)} --resume"

    @contextmanager
    def open_executor(
        self, request: TranslationRequest, processes: ExecutorOptions, report: DoneReporter
    ) -> Iterator[TranslationExecutor]:
        """Yields the executor; keeps finished blocks in the journal. Raises the errors of `choice.open_executor`."""
        if self.journal is None:
            with open_executor(request, processes, report) as executor:
                yield executor
            return
        from nmt_cli.jobs.journal import JournalledExecutor, JournalledJob  # as above

        with open_executor(JournalledJob(request), processes, report) as workers:
            yield JournalledExecutor(workers, self.journal, self.resumes)

    @contextmanager
    def keep_blocks(self, console: Console) -> Iterator[None]:
        """Removes the journal when the block ends, or when the input is at fault; otherwise says how to continue.

        Raises OutputError while another process translates to the same files.
        """
        with self.hold_lock():
            if self.greeting:
                console.say(self.greeting)
            if self.command.resume:
                self.remove_partial_files()
            with self.keep_journal(console):
                yield
            self.written.shorten()

    @contextmanager
    def hold_lock(self) -> Iterator[None]:
        """Holds the lock beside the journal. Raises OutputError if another process holds it."""
        if self.path is None:
            yield
            return
        path = self.path.with_name(f"{self.path.name}.lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            try:
                stack.enter_context(hold_file(path))
            except BlockingIOError as error:
                raise OutputError(
                    f"{self.command.output} is being written by another process",
                    hint="wait for it, or name another file with --output",
                ) from error
            except OSError as error:
                error.filename = str(self.command.output)  # nobody typed the name of the lock
                raise
            yield

    @contextmanager
    def keep_journal(self, console: Console) -> Iterator[None]:
        try:
            yield
        except (DataError, OptionError):
            self.remove_journal()
            raise
        except BaseException:
            if self.journal is not None:
                self.journal.close()
            if self.farewell:
                console.say(self.farewell)
            raise
        self.remove_journal()

    def remove_partial_files(self) -> None:
        """Removes the temporary files of killed runs."""
        from glob import escape  # as above

        for target in self.targets:
            for path in target.parent.glob(f".{escape(target.name)}.*.partial"):
                path.unlink(missing_ok=True)

    def remove_journal(self) -> None:
        if self.journal is not None and self.journal.blocks:
            self.journal.remove()


def hash_value(value: Any) -> str:
    """Returns the SHA-256 of a JSON value in hexadecimal digits."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def locate_journal(output: str | None, inputs: Sequence[InputFile], outputs: OutputFiles) -> Path | None:
    """Returns the path of the journal, beside the output or in its folder; None unless inputs and outputs are files."""
    are_files = bool(inputs) and all(file.path.is_file() for file in inputs)
    if not (are_files and outputs.targets and all(path.is_file() or not path.exists() for path in outputs.targets)):
        return None
    if outputs.is_apart and "{" not in str(output):
        return Path(str(output)) / JOURNAL.format(name=OF_FOLDER)
    first = outputs.targets[0]
    return first.with_name(JOURNAL.format(name=first.name))


def describe_job(command: TranslateCommand, inputs: Sequence[InputFile]) -> dict[str, Any]:
    """Returns everything that determines the translations: the model, the texts, and the settings with their files."""
    values, request = command.option_values, command.request
    free = FREE if command.layout.json and not command.has_json_summary else {*FREE, "json"}
    options = {name: value for name, value in list_options(*command.settings, command.before) if name not in free}
    options |= {name: values[name] for name in ("precision", "n_best", "prefix", "score")}
    files = {"glossary": [Path(values["glossary"])] if values["glossary"] else [], "tm": list_typed_files(values["tm"])}
    return {
        "version": __version__,
        "model": [hash_file(path / CARD) for path in request.paths],
        "input": {str(file.path): hash_file(file.path) for file in inputs},
        "options": options,
        "files": {name: list(map(hash_file, paths)) for name, paths in files.items()},
    }


def leave_out(job: Mapping[str, Any], kept: list[Any]) -> dict[str, Any]:
    """Returns a job without the files that are kept."""
    texts = {path: text for path, text in job["input"].items() if path not in kept}
    return {**job, "input": texts, "kept": kept}


def name_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Describes the first difference between two jobs."""
    if old.get("version") != new["version"]:
        return "a different version of nmt"
    if old.get("model") != new["model"]:
        return "a different model"
    for kind in ("options", "files", "input"):
        before = old.get(kind)
        before = before if isinstance(before, Mapping) else {}  # of a file that anybody may have written
        for name in (name for name in {**new[kind], **before} if before.get(name) != new[kind].get(name)):
            return f"different text in {name}" if kind == "input" else f"a different --{name.replace('_', '-')}"
    return "a different job"


def describe_command(command: TranslateCommand) -> CommandLine:
    """Returns the command as it was typed, without `--resume` and `--force`."""
    from nmt_cli.api.options.command_lines import CommandLine, list_values  # the settings of training, for one message

    values = command.option_values | {"model": list(map(name_model, command.models))}
    typed = [
        option
        for name, flag in command.explicit.typed.items()
        if name in values
        for option in list_values(flag, values[name])
    ]
    typed += [] if command.explicit.file is None else [("--config", str(command.explicit.file))]
    return CommandLine("translate", tuple(map(str, command.files)), tuple(typed))
