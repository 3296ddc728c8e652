"""`nmt prepare` as a function: files of sentence pairs in, a prepared directory out; all of it, or nothing.

Silent: a callback receives the progress, the result is returned.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt_cli import files
from nmt_cli.corpus.checks import CHECKS, checked_names
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.formats.inputs import Input, parse_input
from nmt_cli.corpus.manifest import NAME, Manifest
from nmt_cli.corpus.pairs import Role
from nmt_cli.corpus.report import check_report_name, write_report
from nmt_cli.corpus.steps.build import build, drop_near_held_out
from nmt_cli.corpus.steps.pictures import CHECKS as CHECKS_OF_CAPTIONS
from nmt_cli.corpus.steps.pictures import find_pictures
from nmt_cli.corpus.steps.reading import Inputs, Progress, read_pairs
from nmt_cli.corpus.steps.reused_tokenizer import borrow
from nmt_cli.corpus.steps.run_checks import diagnose, refuse_findings
from nmt_cli.corpus.steps.split import is_size
from nmt_cli.errors import NmtError, OptionError, OutputError
from nmt_cli.sources.images import FeatureFiles, PictureReader


@dataclass(frozen=True)
class PrepareReport:
    """What `prepare` made."""

    directory: Path
    manifest: Manifest
    seconds: float


def prepare(
    source: Path | Input | Sequence[Input],
    directory: Path,
    config: PrepareConfig,
    *,
    replace: bool = False,
    reader: PictureReader | None = None,
    progress: Progress | None = None,
    processes: int = 1,
    report: Path | None = None,
) -> PrepareReport:
    """Makes the prepared corpus `directory` from one or several inputs: all of it, or nothing.

    Raises NotFoundError, DataError, OptionError or OutputError, before anything is written wherever that can be
    known. With `replace`, a prepared corpus that is there already is replaced; anything else never is. With several
    `processes` the work is spread over them, with the same result; the module that calls must then be importable
    without side effects. What the checks found is written to `report` (.html or .json), also when `strict` refuses it.
    """
    started = time.monotonic()
    told = progress or (lambda stage, done, total: None)
    check_report_name(report)
    checked_names(config.keep)  # rather refused now than after the work
    if report is not None and directory.resolve() in report.resolve().parents:
        raise OptionError(f"--report {report} stands in {directory}/, which is made anew", hint="name another place")
    inputs = Inputs(inputs_by_role(source, config), config)
    for each in inputs.inputs:
        for path in each.files:
            check_place(path, directory, replace=replace)
    if config.tokenizer_from is not None:
        borrowed = borrow(Path(config.tokenizer_from), config.tokenizer_settings)
        borrowed.files_of(config.sides)
        borrowed.refuse_others(config)
    pairs = read_pairs(inputs, config, told, processes=processes)
    pictures = None
    if config.source_type != "text":
        pictures = find_pictures(pairs, inputs, reader or FeatureFiles(), told)
    checks = None if pictures is None else CHECKS_OF_CAPTIONS
    findings = diagnose(pairs, config, lambda done: told("checking", done, len(CHECKS)), checks)
    findings += drop_near_held_out(pairs, config)
    if report is not None and config.strict:
        write_report(report, findings, None)
    if config.strict:
        refuse_findings(findings)
    try:
        with files.staged_directory(directory, replace=replace) as staged:
            manifest = build(pairs, findings, inputs, pictures, staged, config, told)
    except OSError as error:
        error.filename = str(directory)  # a full disk names none, and the staged directory's name says nothing
        raise
    if report is not None:
        write_report(report, manifest.findings, manifest)
    return PrepareReport(directory, manifest, time.monotonic() - started)


def inputs_by_role(source: Path | Input | Sequence[Input], config: PrepareConfig) -> dict[Role, list[Input]]:
    """The inputs of the corpus, and those that were given for dev and test."""
    if isinstance(source, Path):
        source = Input(source)
    given: dict[Role, list[Input]] = {"train": [source] if isinstance(source, Input) else list(source)}
    if config.dev is not None and not is_size(config.dev):
        given["dev"] = [parse_input(config.dev)]
    if config.test is not None and not is_size(config.test):
        given["test"] = [parse_input(config.test)]
    return given


def check_place(source: Path, directory: Path, *, replace: bool) -> None:
    """Raises OutputError if a prepared corpus cannot or must not be written at `directory`."""
    if directory.is_dir() and any(directory.iterdir()) and not (directory / NAME).is_file():
        raise OutputError(
            f"{directory}/ holds something other than a prepared corpus", hint="name another directory with --data"
        )
    files.refuse_to_overwrite(directory, replace=replace)
    if directory.is_dir() and directory.resolve() in source.resolve().parents:
        raise OutputError(f"{source} stands in {directory}/, which is to be replaced", hint="move the file out first")
    foreign = others_in(directory)
    if foreign:
        raise OutputError(
            f"{directory}/ is to be replaced, and holds {foreign[0]} too, which is not of the prepared corpus",
            hint="move it out first, or name another directory with --data",
        )
    target = Path(os.path.realpath(directory))  # of a link, whose target is replaced
    parent = next(place for place in target.parents if place.exists())
    if not parent.is_dir():
        raise OutputError(f"{directory}/ cannot be made: {parent} is a file", hint="name another place with --data")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(
            f"{directory}/ cannot be made: no permission to write in {parent}/",
            hint="name a place that is yours with --data",
        )


def others_in(directory: Path) -> list[str]:
    """What stands in a prepared directory and was not prepared; nothing of a damaged one, and no hidden files."""
    try:
        known = {NAME, *(Path(name).parts[0] for name in Manifest.read(directory).outputs)}
    except NmtError:
        return []
    return sorted(path.name for path in directory.iterdir() if path.name not in known and not path.name.startswith("."))
