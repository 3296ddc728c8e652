"""The command `nmt prepare`: makes a prepared corpus from sentence pairs, and shows the result."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.api.prepare import PrepareRequest, run_preparation
from nmt_cli.cli.parsing.options import AsJson, Force, WrittenDataOption, declare_option, with_settings
from nmt_cli.cli.render import Screen, show_advice, show_stage_progress
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.files import count_cores
from nmt_cli.text.wrapping import format_count, shorten_text
from nmt_cli.workers.choice import RayOptions

if TYPE_CHECKING:
    from nmt_cli.api.prepare import PrepareOutcome
    from nmt_cli.corpus.manifest import Finding, FindingExample, Manifest


# The output of `nmt prepare`: what was read, found, dropped, split and learned.


# Checks whose findings are usual: their examples are shown with --verbose alone. Dropped pairs are always counted.
COLUMN = 11  # of what follows a name such as "split"
HARMLESS = frozenset({"empty", "duplicate", "duplicate-form", "many-targets", "control", "identical-short", "numbers"})


# The stages in order, each with its percentage of the time (50,000 pairs and 3,000 pairs on one core and on two).
SHARES = {"reading": 30, "checking": 10, "splitting": 2, "writing": 15, "learning subwords": 36, "encoding": 7}


def show_prepared_corpus(screen: Screen, outcome: PrepareOutcome, *, is_listed: bool) -> None:
    """Prints the pairs, findings, splits and subwords of `nmt prepare`, its advice, and the next command."""
    report, advice = outcome.report, outcome.advice
    manifest, directory = report.manifest, report.directory
    counts = manifest.counts
    names = list(manifest.inputs)
    name = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    screen.say(f"{name}: {format_count(counts.read, 'pair')} {manifest.direction}, prepared in {report.seconds:.1f} s")
    dropped = ", ".join(f"{number:,} {reason}" for reason, number in counts.dropped.items() if number)
    total = sum(counts.dropped.values())
    why = f": {dropped}   -> {directory / 'rejected.tsv.gz'}" if total else ""
    screen.say(f"  kept {counts.kept:,}   dropped {total:,}{why}")
    for note in report.notes:
        screen.say(f"  {note}", style="yellow" if note.startswith("!") else None)
    if counts.more_columns:
        lines = format_count(counts.more_columns, "line has", "lines have")
        screen.warn(f"{lines} more than two columns; the first two were used")
    show_findings(screen, manifest.findings)
    has_reported = any(finding.action == "reported" and finding.check not in HARMLESS for finding in manifest.findings)
    if (
        has_reported
        and not is_listed
        and outcome.listing not in [suggestion.command for suggestion in advice.suggestions]
    ):
        screen.say(f"  reported pairs are kept; fix or delete them in the file. To list their rows: {outcome.listing}")
    show_split_and_subwords(screen, manifest)
    for side, text in manifest.monolingual.items():
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in text.dropped.items())
        why = f"; dropped {text.read - text.kept:,}: {reasons}" if reasons else ""
        screen.say(f"  text     {format_count(text.kept, f'monolingual {side} sentence')}{why}", hang=COLUMN)
    next_command = "nmt train" if str(directory) == "prepared" else f"nmt train --data {shlex.quote(str(directory))}"
    screen.say_detail(f"           fingerprint of the data {manifest.fingerprint[:16]}")
    show_advice(screen, advice)
    screen.say(f"{directory}/ is ready. Next: {next_command}")


def show_findings(screen: Screen, findings: Iterable[Finding]) -> None:
    """Prints a line per check that found something, with its first pair; more with --verbose."""
    for finding in findings:
        note = f" ({finding.note})" if finding.note else ""
        first = finding.examples[0]
        summary = f"{finding.count:,} {finding.effect}: {finding.problem}{note}"
        if finding.action == "cut":
            screen.warn(format_cut(finding))
        elif finding.check in HARMLESS:
            screen.say_detail(f"  {summary}")
        else:
            screen.warn(f"{summary}; {format_example(first)}   [{finding.check}]")
        for example in finding.examples[finding.check not in HARMLESS :]:
            screen.say_detail(f"      {format_example(example)}")


def format_cut(finding: Finding) -> str:
    """Returns how many sources of a corpus were truncated, and where the first one is."""
    first = finding.examples[0]
    return f"{finding.count:,} truncated: {finding.problem}; the first is {first.place}"


def format_example(example: FindingExample) -> str:
    """Returns a pair with its location."""
    source, target = (shorten_text(text, 60) for text in (example.source, example.target))
    return f'{example.place}: "{source}" / "{target}"'


def show_split_and_subwords(screen: Screen, manifest: Manifest) -> None:
    """Prints the sizes of the splits, how much a random split would have leaked, and the subwords."""
    say, detail = partial(screen.say, hang=COLUMN), partial(screen.say_detail, hang=COLUMN)
    leak, counts = manifest.leak, manifest.counts
    splits = "   ".join(f"{split} {number:,}" for split, number in counts.splits.items())
    leaked = leak.test_sources_by_rows
    leak_note = f" (a random split would have leaked {leaked:.0%} of the test set)" if leaked else ""
    longer = "longer " if manifest.options["context"] else ""
    units = [longer + manifest.source.unit, *manifest.options["group_column"]]
    say(f"  split    {splits}     no {' or '.join(units)} appears in two splits{leak_note}")
    if counts.repeated:
        repetitions = format_count(counts.repeated, "training pair is a repetition", "training pairs are repetitions")
        say(f"           {repetitions}, by weight")
    groups = format_count(leak.groups, "group")
    detail(f"           {groups} of connected pairs, the largest of {leak.largest_group:,}")
    for tag, counts_of_tag in manifest.tags.items():
        numbers = "   ".join(f"{split} {number:,}" for split, number in counts_of_tag.items())
        say(f"  tag      {tag:<10} {numbers}")
    if manifest.options["context"]:
        pairs = format_count(manifest.context.pairs, "training pair is", "training pairs are")
        say(f"  context  {pairs} learned with the previous sentence; dev and test are whole texts")
        if recurring := manifest.context.recurring.get("test"):
            short = format_count(recurring, "short test pair is", "short test pairs are")
            say(f"           {short} in the training data, too, but after a different sentence")
    for line in manifest.source.list_headlines():
        say(f"  {line}")
    say(f"  subwords {manifest.source.describe_subwords(manifest.target, manifest.tokenizer.kind)}")
    for line in (*manifest.source.list_details("source"), *manifest.target.list_details("target")):
        detail(f"           {line}")


CORPUS_HELP = (
    "Files of sentence pairs: tables, spreadsheets, JSON Lines, TMX, PO or XLIFF, also compressed; - for standard "
    "input; corpus.tsv=2 gives a file the weight 2, corpus.tsv=train keeps it out of dev and test, corpus.tsv=ui tags "
    "its pairs."
)
REPORT_HELP = "Write a report of the checks: .html or .json."


@with_settings
def prepare(
    screen: Screen,
    explicit: ExplicitOptions,
    config: PrepareOptions,
    cluster: RayOptions,
    corpus: Annotated[
        list[str] | None, typer.Argument(metavar="[CORPUS]...", help=CORPUS_HELP, show_default=False)
    ] = None,
    source_file: Annotated[
        Path | None,
        declare_option("--source-file", "File of source sentences, one per line.", "Reading", harmless=True),
    ] = None,
    target_file: Annotated[
        Path | None,
        declare_option("--target-file", "File of their translations, line by line.", "Reading", harmless=True),
    ] = None,
    report: Annotated[Path | None, declare_option("--report", REPORT_HELP, "Checks")] = None,
    data: WrittenDataOption = Path("prepared"),
    resume: Annotated[
        bool, declare_option("--resume", "Continue an interrupted preparation, with the same options.", "Data")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Check, clean, split and encode sentence pairs."""
    request = PrepareRequest(
        corpus=tuple(corpus or ()),
        config=config,
        data=data,
        source_file=source_file,
        target_file=target_file,
        force=force,
        resume=resume,
        report=report,
        processes=count_cores(),
        ray=cluster.ray,
    )
    with offer_resumption(screen, request), show_stage_progress(screen, SHARES) as progress:
        outcome = run_preparation(request, progress)
    show_prepared_corpus(screen, outcome, is_listed=report is not None)
    if as_json:
        typer.echo(json.dumps(outcome.to_mapping() | explicit.origin_entry, ensure_ascii=False))


@contextmanager
def offer_resumption(screen: Screen, request: PrepareRequest) -> Iterator[None]:
    """Says how to continue an interrupted preparation, or that nothing was saved."""
    try:
        yield
    except BaseException as problem:
        if request.is_unfinished:
            screen.say(f"progress is saved; continue with: {request.resumption}")
        elif not isinstance(problem, Exception):
            screen.say("interrupted: nothing was saved")
        raise
