"""`nmt prepare` as a function: files of sentence pairs in, a prepared directory out; all of it, or nothing.

Prints nothing: a callback receives the progress, and the result is returned.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nmt_cli import files
from nmt_cli.corpus.checks import CHECKS, check_names
from nmt_cli.corpus.config import PrepareConfig, is_size
from nmt_cli.corpus.formats.inputs import CorpusFile, parse_input
from nmt_cli.corpus.formats.one_side import list_text_files, open_text_reader
from nmt_cli.corpus.manifest import MANIFEST_NAME, Finding, Manifest
from nmt_cli.corpus.pairs import Pairs, Role, Side
from nmt_cli.corpus.report import check_report_name, write_report
from nmt_cli.corpus.steps.build import CheckedCorpus, build
from nmt_cli.corpus.steps.context import number_texts
from nmt_cli.corpus.steps.held_out import drop_near_held_out, split_pairs
from nmt_cli.corpus.steps.languages import choose_languages
from nmt_cli.corpus.steps.monolingual import MonolingualSide, clean_monolingual, drop_held_out
from nmt_cli.corpus.steps.reading import CorpusInputs, PrepareProgress, ignore_progress, read_pairs
from nmt_cli.corpus.steps.reused_tokenizer import find_reused_subwords
from nmt_cli.corpus.steps.run_checks import refuse_findings, run_checks
from nmt_cli.corpus.steps.sources import FINDERS
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.corpus.steps.split_sizes import check_sizes
from nmt_cli.corpus.steps.subwords import choose_separation
from nmt_cli.corpus.steps.tagging import label_registers, refuse_second_spellings, refuse_unpaired_tags, tag_inputs
from nmt_cli.corpus.steps.workspace import (
    Workspace,
    describe_preparation,
    open_workspace,
    refuse_unrepeatable,
)
from nmt_cli.errors import NmtError, OptionError, OutputError
from nmt_cli.sources.source import PictureReader
from nmt_cli.workers.choice import ExecutorConfig

NOTHING_TO_RESUME = "nothing was interrupted here: it was made from the beginning"


@dataclass(frozen=True)
class PrepareReport:
    """The result of `prepare`, and the time it took."""

    directory: Path
    manifest: Manifest
    seconds: float
    notes: tuple[str, ...] = ()  # about how the inputs were read


def prepare(
    source: Path | CorpusFile | Sequence[CorpusFile],
    directory: Path,
    config: PrepareConfig,
    *,
    replace: bool = False,
    resume: bool = False,
    reader: PictureReader | None = None,
    report_progress: PrepareProgress = ignore_progress,
    processes: ExecutorConfig | None = None,
    report: Path | None = None,
) -> PrepareReport:
    """Makes the prepared corpus `directory` from one or several inputs: all of it, or nothing.

    Raises NotFoundError, DataError, OptionError or OutputError, if possible before the work begins. `replace` replaces
    a prepared corpus, and never anything else; `resume` goes on where an interrupted run was, with the same result.
    Several `processes` share the work, with the same result; the calling module must then be importable without side
    effects. `report` (.html or .json) has all findings, even refused ones.
    """
    started = time.monotonic()
    inputs = check_request(source, directory, config, replace=replace, report=report)
    more_text = open_all_monolingual(config, inputs)
    texts = [*inputs.inputs, *(file for text in more_text.values() for file in text.inputs)]
    if resume:
        refuse_unrepeatable(texts)
    with open_workspace(directory, describe_preparation(texts, config), resume=resume) as workspace:
        notes = [NOTHING_TO_RESUME] if resume and not workspace.has_journal else []
        circumstances = Circumstances(workspace, reader, report_progress, processes or ExecutorConfig(), report)
        corpus, config = check_corpus(inputs, more_text, config, circumstances, notes)
        manifest = write_corpus(corpus, directory, config, circumstances, replace=replace)
    write_report(report, manifest.findings, manifest)
    return PrepareReport(directory, manifest, time.monotonic() - started, tuple(notes))


@dataclass(frozen=True)
class Circumstances:
    """What decides how a corpus is prepared, and nothing about the result."""

    workspace: Workspace
    reader: PictureReader | None
    report_progress: PrepareProgress
    processes: ExecutorConfig
    report: Path | None


def check_corpus(
    inputs: CorpusInputs,
    more_text: dict[Side, CorpusInputs],
    config: PrepareConfig,
    circumstances: Circumstances,
    notes: list[str],
) -> tuple[CheckedCorpus, PrepareConfig]:
    """Reads, checks and splits the pairs and the text without translations, and adds notes for the user.

    Returns them with the settings, of which the pairs decide some.
    """
    workspace, report_progress = circumstances.workspace, circumstances.report_progress
    read = partial(read_pairs, config=config, report_progress=report_progress, processes=circumstances.processes)
    # 1. Read all inputs, and examine each pair by itself: normalise it, mend it, measure it.
    pairs = read(inputs, journal=workspace.open_part("pairs"))
    refuse_second_spellings(pairs.tag_sets)
    number_texts(pairs, config)
    sources = FINDERS[config.source_type](pairs, inputs, circumstances.reader, report_progress)
    # 2. Check the pairs, which decides what is dropped.
    findings = check_pairs(pairs, config, report_progress, circumstances.report, sources.checks)
    language_notes: list[str] = []
    languages = choose_languages(inputs, config, pairs, language_notes)
    label_registers(pairs, config, languages[1])
    # 3. Split the pairs, so that no sentence appears in two splits.
    division = split_pairs(pairs, config, report_progress)
    # 4. Read text without translations, and audit it against the held-out sentences.
    monolingual = []
    for side, texts in more_text.items():
        alone = clean_monolingual(side, read(texts, journal=workspace.open_part(side)), texts, config)
        monolingual.append(audit_text(alone, pairs, division.splits))
    # 5. Decide about the subwords, which will be learned from train.
    notes += [*inputs.notes, *(note for texts in more_text.values() for note in texts.notes), *language_notes]
    config = choose_separation(pairs, division.splits.train, config, notes)
    return CheckedCorpus(pairs, inputs, sources, findings, division, languages, monolingual), config


def audit_text(text: MonolingualSide, pairs: Pairs, splits: Splits) -> MonolingualSide:
    """Returns a text without what is held out. Raises DataError for tags that no pair has."""
    refuse_unpaired_tags(text.pairs.tag_sets, pairs)
    return drop_held_out(text, pairs, splits)


def write_corpus(
    corpus: CheckedCorpus, directory: Path, config: PrepareConfig, circumstances: Circumstances, *, replace: bool
) -> Manifest:
    """Writes the prepared directory, all of it or nothing, and returns its manifest."""
    try:
        with files.stage_directory(directory, replace=replace) as staged:
            return build(corpus, staged, config, circumstances.report_progress, circumstances.processes)
    except OSError as error:
        error.filename = str(directory)  # the error of a full disk names no file, and the staged name means nothing
        raise


def check_request(
    source: Path | CorpusFile | Sequence[CorpusFile],
    directory: Path,
    config: PrepareConfig,
    *,
    replace: bool,
    report: Path | None,
) -> CorpusInputs:
    """Opens the inputs, and refuses in advance any request that could only fail later.

    Raises NotFoundError, DataError, OptionError or OutputError.
    """
    check_report_name(report)
    check_names(config.keep)
    check_sizes(config.dev, config.test)
    if report is not None and directory.resolve() in report.resolve().parents:
        raise OptionError(
            f"--report {report} is in {directory}/, which is replaced as a whole",
            hint="write the report somewhere else",
        )
    inputs = CorpusInputs(group_inputs_by_role(source, config), config)
    for corpus_input in inputs.inputs:
        for path in corpus_input.files:
            require_writable(path, directory, replace=replace)
    if config.tokenizer_from is not None:
        reused = find_reused_subwords(Path(config.tokenizer_from), config.tokenizer_settings)
        reused.select_files(config.text_sides)
        reused.refuse_conflicts(config)
    return inputs


def open_all_monolingual(config: PrepareConfig, inputs: CorpusInputs) -> dict[Side, CorpusInputs]:
    """Opens the text without translations, by side; a file of pairs provides the sentences of that side.

    Raises NotFoundError, OptionError or DataError.
    """
    names: dict[Side, tuple[str, ...]] = {"source": config.monolingual_source, "target": config.monolingual_target}
    more_text = {
        side: CorpusInputs({"train": list_text_files(files)}, config, open_text_reader)
        for side, files in names.items()
        if files
    }
    inputs_of_all = [corpus_input for part in (inputs, *more_text.values()) for corpus_input in part.inputs]
    if sum(not corpus_input.is_file for corpus_input in inputs_of_all) > 1:
        raise OptionError("standard input cannot be two inputs", hint="give one of them as a file")
    return more_text


def check_pairs(
    pairs: Pairs,
    config: PrepareConfig,
    report_progress: PrepareProgress,
    report: Path | None,
    only_checks: frozenset[str] | None,
) -> tuple[Finding, ...]:
    """Runs all checks, or those with these names, near-duplicates of dev and test pairs last; returns their findings.

    With `strict`, raises DataError for any, which are then in the `report`.
    """
    findings = run_checks(pairs, config, lambda done: report_progress("checking", done, len(CHECKS)), only_checks)
    findings += drop_near_held_out(pairs, config)
    if config.strict:
        write_report(report, findings, None)
        refuse_findings(findings)
    return findings


def group_inputs_by_role(
    source: Path | CorpusFile | Sequence[CorpusFile], config: PrepareConfig
) -> dict[Role, list[CorpusFile]]:
    """Returns the inputs of the corpus ("train"), and the files named by `--dev` and `--test`."""
    if isinstance(source, Path):
        source = CorpusFile(source)
    files = [source] if isinstance(source, CorpusFile) else list(source)
    inputs: dict[Role, list[CorpusFile]] = {"train": tag_inputs(files, config)}
    if config.dev is not None and not is_size(config.dev):
        inputs["dev"] = [parse_input(config.dev)]
    if config.test is not None and not is_size(config.test):
        inputs["test"] = [parse_input(config.test)]
    return inputs


def require_writable(source: Path, directory: Path, *, replace: bool) -> None:
    """Raises OutputError if a prepared corpus cannot or must not be written at `directory`."""
    if directory.is_dir() and any(directory.iterdir()) and not (directory / MANIFEST_NAME).is_file():
        raise OutputError(
            f"{directory}/ holds something other than a prepared corpus", hint="name another directory with --data"
        )
    files.refuse_to_overwrite(directory, replace=replace)
    if directory.is_dir() and directory.resolve() in source.resolve().parents:
        raise OutputError(f"{source} is in {directory}/, which is to be replaced", hint="move the file out first")
    foreign_files = list_foreign_files(directory)
    if foreign_files:
        raise OutputError(
            f"{directory}/ is to be replaced, but {foreign_files[0]} in it is not part of the prepared corpus",
            hint="move it out first, or name another directory with --data",
        )
    files.require_parent(directory, f"{directory}/", hint="name a directory that you can write to with --data")


def list_foreign_files(directory: Path) -> list[str]:
    """Returns the other files in a prepared directory, except hidden ones; empty if its manifest is damaged."""
    try:
        known = {MANIFEST_NAME, *(Path(name).parts[0] for name in Manifest.read(directory).outputs)}
    except NmtError:
        return []
    return sorted(path.name for path in directory.iterdir() if path.name not in known and not path.name.startswith("."))
