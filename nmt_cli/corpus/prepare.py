"""`nmt prepare` as a function: files of sentence pairs in, a prepared directory out; all of it, or nothing.

Prints nothing: a callback receives the progress, and the result is returned."""

from __future__ import annotations

import dataclasses
import html
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nmt_cli import files
from nmt_cli.corpus.checks import CHECKS, check_names
from nmt_cli.corpus.checks.texts import unify_apostrophes
from nmt_cli.corpus.config import PrepareOptions, is_size
from nmt_cli.corpus.manifest import MANIFEST_NAME, Finding, Manifest
from nmt_cli.corpus.pairs import Pairs, Role, Side
from nmt_cli.corpus.steps.build import CheckedCorpus, build
from nmt_cli.corpus.steps.context import number_texts
from nmt_cli.corpus.steps.held_out import drop_near_held_out, split_pairs
from nmt_cli.corpus.steps.languages import choose_languages, find_misread_files
from nmt_cli.corpus.steps.monolingual import clean_monolingual, drop_held_out
from nmt_cli.corpus.steps.reading import CorpusInputs, PrepareProgress, ignore_progress, read_pairs
from nmt_cli.corpus.steps.run_checks import refuse_findings, run_checks
from nmt_cli.corpus.steps.sources import FINDERS
from nmt_cli.corpus.steps.split import check_sizes
from nmt_cli.corpus.steps.subwords import choose_separation, find_reused_subwords
from nmt_cli.corpus.steps.tagging import label_registers, refuse_second_spellings, refuse_unpaired_tags, tag_inputs
from nmt_cli.corpus.steps.workspace import Workspace, describe_preparation, open_workspace, refuse_unrepeatable
from nmt_cli.errors import NmtError, OptionError, OutputError
from nmt_cli.formats import name_line
from nmt_cli.formats.inputs import CorpusFile, parse_input
from nmt_cli.formats.opening import list_text_files, open_text_reader
from nmt_cli.pages import render_document
from nmt_cli.sources.source import PictureReader
from nmt_cli.text.wrapping import format_count
from nmt_cli.workers.choice import ExecutorOptions

# Writes the report of the checks: an HTML page to read, or JSON for programs. Knows only findings and the manifest.


EARLIER = (files.GENERATOR, '{\n  "findings": [')  # what an earlier report contains
STYLE = "table { margin: 0.5rem 0 1.5rem; } td.place { white-space: nowrap; color: var(--faint); }\n"


def write_report(path: Path | None, findings: tuple[Finding, ...], manifest: Manifest | None) -> None:
    """Writes the report, atomically, if requested. The manifest is None if no corpus was prepared."""
    if path is None:
        return
    text = format_json(findings, manifest) if path.suffix.lower() == ".json" else format_html(findings, manifest)
    files.write_text(path, text)


def format_json(findings: tuple[Finding, ...], manifest: Manifest | None) -> str:
    """Returns the report as one JSON object."""
    values = {
        "findings": [dataclasses.asdict(finding) for finding in findings],
        "counts": dataclasses.asdict(manifest.counts) if manifest else None,
        "leak": dataclasses.asdict(manifest.leak) if manifest else None,
        "subwords": {side: dataclasses.asdict(getattr(manifest, side)) for side in ("source", "target")}
        if manifest
        else None,
    }
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"


def format_html(findings: tuple[Finding, ...], manifest: Manifest | None) -> str:
    """Returns the report as a self-contained page, without scripts or external resources."""
    sections = (part for finding in findings for part in format_finding(finding))
    return render_document(
        "Corpus report", ["<h1>Corpus report</h1>", *format_summary(manifest), *sections], style=STYLE
    )


def format_summary(manifest: Manifest | None) -> list[str]:
    """Returns a table of how many pairs were kept and dropped."""
    if manifest is None:
        return ["<p>nmt prepared nothing, because the checks found pairs that --strict does not accept.</p>"]
    counts, leak = manifest.counts, manifest.leak
    rows = {
        "inputs": ", ".join(manifest.inputs),
        "read": format_count(counts.read, "pair"),
        "kept": format_count(counts.kept, "pair"),
        **{f"dropped: {name}": f"{number:,}" for name, number in counts.dropped.items() if number},
        **{split: format_count(number, "pair") for split, number in counts.splits.items()},
        "a random split would have leaked": f"{leak.test_sources_by_rows:.1%} of the test sources, "
        f"{leak.test_targets_by_rows:.1%} of the test targets",
    }
    sides = [manifest.source.describe("source"), manifest.target.describe("target")]
    return format_table([*rows.items(), *sides])


def format_finding(finding: Finding) -> list[str]:
    """Returns the section of one check: the number of pairs found, the action taken, and examples."""
    note = f" ({html.escape(finding.note)})" if finding.note else ""
    heading = f"<h2>{html.escape(finding.check)}: {finding.count:,} {finding.effect}</h2>"
    rows = [(example.place, f"{example.source}\n{example.target}") for example in finding.examples]
    if finding.count > len(rows):
        rows += [(file, f"{name_line(file)}s {', '.join(map(str, lines))}") for file, lines in finding.lines.items()]
    return [heading, f"<p>{html.escape(finding.problem)}{note}</p>", *format_table(rows)]


def format_table(rows: list[tuple[str, str]]) -> list[str]:
    """Returns a table of two columns, with escaped cells; line breaks within a cell are kept."""
    cells = (
        f'<tr><td class="place">{html.escape(name)}</td><td>{html.escape(value).replace(chr(10), "<br>")}</td></tr>'
        for name, value in rows
    )
    return ["<table>", *cells, "</table>"]


NOTHING_TO_RESUME = "there was nothing to resume: the corpus was prepared from the beginning"


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
    config: PrepareOptions,
    *,
    replace: bool = False,
    resume: bool = False,
    reader: PictureReader | None = None,
    report_progress: PrepareProgress = ignore_progress,
    processes: ExecutorOptions | None = None,
    report: Path | None = None,
) -> PrepareReport:
    """Makes the prepared corpus `directory` from one or several inputs: all of it, or nothing.

    Raises NotFoundError, DataError, OptionError or OutputError, if possible before the work begins. `replace` replaces
    a prepared corpus, and never anything else; `resume` continues an interrupted run, with the same result.
    Several `processes` share the work, with the same result; the calling module must then be importable without side
    effects. `report` (.html or .json) lists all findings, even refused ones.
    """
    started = time.monotonic()
    inputs = check_request(source, directory, config, replace=replace, report=report)
    more_text = open_all_monolingual(config, inputs)
    texts = [*inputs.inputs, *(file for text in more_text.values() for file in text.inputs)]
    if resume:
        refuse_unrepeatable(texts)
    with open_workspace(directory, describe_preparation(texts, config), resume=resume) as workspace:
        notes = [NOTHING_TO_RESUME] if resume and not workspace.has_journal else []
        circumstances = Circumstances(workspace, reader, report_progress, processes or ExecutorOptions(), report)
        corpus, config = check_corpus(inputs, more_text, config, circumstances, notes)
        manifest = write_corpus(corpus, directory, config, circumstances, replace=replace)
    write_report(report, manifest.findings, manifest)
    return PrepareReport(directory, manifest, time.monotonic() - started, tuple(notes))


@dataclass(frozen=True)
class Circumstances:
    """The facts that decide how a corpus is prepared."""

    workspace: Workspace
    reader: PictureReader | None
    report_progress: PrepareProgress
    processes: ExecutorOptions
    report: Path | None


def check_corpus(
    inputs: CorpusInputs,
    more_text: dict[Side, CorpusInputs],
    config: PrepareOptions,
    circumstances: Circumstances,
    notes: list[str],
) -> tuple[CheckedCorpus, PrepareOptions]:
    """Reads, checks and splits the pairs and the text without translations, and adds notes for the user.

    Returns them with the settings, some of which depend on the pairs.
    """
    workspace, report_progress = circumstances.workspace, circumstances.report_progress
    read = partial(read_pairs, config=config, report_progress=report_progress, processes=circumstances.processes)
    # 1. Read all inputs, and examine each pair by itself: normalise it, repair it, measure it.
    pairs = read(inputs, journal=workspace.open_part("pairs"))
    refuse_second_spellings(pairs.tag_sets)
    number_texts(pairs, config)
    sources = FINDERS[config.source_type](pairs, inputs, circumstances.reader, report_progress)
    # 2. Check the pairs, which decides what is dropped.
    language_notes: list[str] = []
    languages = choose_languages(inputs, config, pairs, language_notes)
    pairs.shared_results["languages"] = languages
    unify_apostrophes(pairs, languages, config)
    findings = check_pairs(pairs, config, report_progress, sources.checks)
    findings = (*find_misread_files(pairs, languages, findings, config), *findings)
    if config.strict:
        write_report(circumstances.report, findings, None)
        refuse_findings(findings)
    label_registers(pairs, config, languages[1])
    # 3. Split the pairs, so that no sentence appears in two splits.
    division = split_pairs(pairs, config, report_progress)
    # 4. Read text without translations, and audit it against the held-out sentences.
    monolingual = []
    for side, texts in more_text.items():
        alone = clean_monolingual(side, read(texts, journal=workspace.open_part(side)), texts, config)
        refuse_unpaired_tags(alone.pairs.tag_sets, pairs)
        monolingual.append(drop_held_out(alone, pairs, division.splits))
    # 5. Decide about the subwords, which will be learned from train.
    notes += [*inputs.notes, *(note for texts in more_text.values() for note in texts.notes), *language_notes]
    config = choose_separation(pairs, division.splits.train, config, notes)
    return CheckedCorpus(pairs, inputs, sources, findings, division, languages, monolingual), config


def write_corpus(
    corpus: CheckedCorpus, directory: Path, config: PrepareOptions, circumstances: Circumstances, *, replace: bool
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
    config: PrepareOptions,
    *,
    replace: bool,
    report: Path | None,
) -> CorpusInputs:
    """Opens the inputs, and refuses in advance any request that could only fail later.

    Raises NotFoundError, DataError, OptionError or OutputError.
    """
    roles = group_inputs_by_role(source, config)
    if report is not None:
        read = [path for inputs_of_role in roles.values() for file in inputs_of_role for path in file.files]
        way_on = "move it away"  # `--force`, which another preparation needs anyway, is not for it
        files.require_output(
            report, "--report", endings=files.PAGE_OR_JSON, inputs=read, way_on=way_on, renewed=EARLIER
        )
    check_names(config.keep)
    check_sizes(config.dev, config.test)
    if report is not None and directory.resolve() in report.resolve().parents:
        raise OptionError(
            f"--report {report} is in {directory}/, which nmt prepare replaces as a whole",
            hint="write the report somewhere else",
        )
    inputs = CorpusInputs(roles, config)
    for corpus_input in inputs.inputs:
        for path in corpus_input.files:
            require_writable(path, directory, replace=replace)
    if config.tokenizer_from is not None:
        reused = find_reused_subwords(Path(config.tokenizer_from), config.tokenizer_settings)
        reused.select_files(config.text_sides)
        reused.refuse_conflicts(config)
    return inputs


def open_all_monolingual(config: PrepareOptions, inputs: CorpusInputs) -> dict[Side, CorpusInputs]:
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
    pairs: Pairs, config: PrepareOptions, report_progress: PrepareProgress, only_checks: frozenset[str] | None
) -> tuple[Finding, ...]:
    """Returns the findings of all checks, or of those with these names; near-duplicates of held-out pairs come last."""
    findings = run_checks(pairs, config, lambda done: report_progress("checking", done, len(CHECKS)), only_checks)
    return findings + drop_near_held_out(pairs, config)


def group_inputs_by_role(
    source: Path | CorpusFile | Sequence[CorpusFile], config: PrepareOptions
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
            f"{directory}/ contains something other than a prepared corpus", hint="name another directory with --data"
        )
    files.refuse_to_overwrite(directory, replace=replace)
    if directory.is_dir() and directory.resolve() in source.resolve().parents:
        raise OutputError(
            f"{source} is in {directory}/, which nmt prepare would replace", hint="move the file out first"
        )
    foreign_files = list_foreign_files(directory)
    if foreign_files:
        raise OutputError(
            f"nmt prepare would replace {directory}/, but it contains {foreign_files[0]}, "
            "which is not part of the prepared corpus",
            hint="move this file out first, or name another directory with --data",
        )
    files.require_parent(directory, f"{directory}/", hint="name a directory that you can write to with --data")


def list_foreign_files(directory: Path) -> list[str]:
    """Returns the other files in a prepared directory, except hidden ones; empty if its manifest is damaged."""
    try:
        known = {MANIFEST_NAME, *(Path(name).parts[0] for name in Manifest.read(directory).outputs)}
    except NmtError:
        return []
    return sorted(path.name for path in directory.iterdir() if path.name not in known and not path.name.startswith("."))
