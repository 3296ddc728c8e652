"""Runs `nmt prepare` and `nmt.prepare`: turns a request into a prepared corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from nmt_cli.api.advice import FORCE, Advice, BaseCommands, advise_on_corpus
from nmt_cli.api.log import log_warnings
from nmt_cli.api.options.command_lines import CommandLine, describe_prepare, describe_train
from nmt_cli.api.options.interface import check_call, respell
from nmt_cli.api.options.options import PathLike, build_settings, find_path, list_paths
from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.api.startup import silence_ray
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.errors import OptionError
from nmt_cli.formats import list_preparations
from nmt_cli.formats.inputs import CorpusFile, parse_input
from nmt_cli.runtime.installed_models import find_model_or_file
from nmt_cli.workers.choice import ExecutorOptions

if TYPE_CHECKING:
    from nmt_cli.api.options.keywords import PrepareKeywords
    from nmt_cli.corpus.prepare import PrepareReport


@dataclass(frozen=True, kw_only=True)
class PrepareRequest:
    """The files to prepare as a corpus, and how to prepare them."""

    corpus: tuple[str, ...]  # as they are typed: "clean.tsv=2"
    config: PrepareOptions
    data: Path
    source_file: Path | None = None
    target_file: Path | None = None
    force: bool = False
    resume: bool = False
    report: Path | None = None
    processes: int = 1
    ray: str | None = None  # the address of a cluster

    @property
    def inputs(self) -> list[CorpusFile]:
        """The inputs in order, the two parallel files last. Raises OptionError if there are none."""
        inputs = [parse_input(name) for name in self.corpus]
        if self.source_file is not None:
            inputs.append(CorpusFile(self.source_file, self.target_file))
        if not inputs:
            raise OptionError("no corpus was named", hint=f"try `{list_preparations()[0]}`")
        return inputs

    @property
    def is_unfinished(self) -> bool:
        """Whether an interrupted preparation can continue."""
        from nmt_cli.corpus.steps.workspace import locate_workspace  # imports numpy

        return locate_workspace(self.data).exists()

    @property
    def resumption(self) -> CommandLine:
        """The command that continues an interrupted preparation."""
        forced = [("--force",)] if self.force else []
        return self.commands.prepare.extend(*forced, ("--resume",))

    @property
    def commands(self) -> BaseCommands:
        """The commands that prepare this corpus and train on it."""
        files = [] if self.source_file is None else [f"{self.source_file},{self.target_file}"]
        prepared = describe_prepare([*self.corpus, *files], self.config, self.data)
        return BaseCommands(prepared, describe_train(self.data, Path("model")))


@dataclass(frozen=True)
class PrepareOutcome:
    """The prepared corpus, and the next steps."""

    report: PrepareReport
    commands: BaseCommands  # that suggestions extend

    @property
    def advice(self) -> Advice:
        """The typical scores for this many pairs, and the commands that would help most."""
        return advise_on_corpus(self.report.manifest, self.commands)

    @property
    def listing(self) -> str:
        """The command that lists all findings."""
        return str(self.commands.prepare.extend(("--report", "report.html"), FORCE))

    def to_mapping(self) -> dict[str, Any]:
        """Returns the outcome as `--json` prints it."""
        manifest = self.report.manifest
        return {
            "data": str(self.report.directory),
            "source_language": manifest.source_language,
            "target_language": manifest.target_language,
            "counts": asdict(manifest.counts),
            "tags": manifest.tags,
            "source": asdict(manifest.source),
            "target": asdict(manifest.target),
            "notes": list(self.report.notes),
            "fingerprint": manifest.fingerprint,
            "advice": self.advice.to_mapping(),
        }


@check_call(PrepareOptions)
def prepare(
    corpus: PathLike | Iterable[PathLike] = (),
    *,
    source_file: PathLike | None = None,
    target_file: PathLike | None = None,
    data: PathLike = "prepared",
    force: bool = False,
    resume: bool = False,
    report: PathLike | None = None,
    processes: int = 1,
    ray: str | None = None,
    progress: StageReporter | None = None,
    **options: Unpack[PrepareKeywords],
) -> PrepareReport:
    """Checks, cleans, splits and encodes sentence pairs, and writes the prepared corpus `data`.

        nmt.prepare("corpus.tsv", source_language="eng", target_language="deu")

    `nmt prepare --help-all` explains the `options`, such as `vocab_size=2000` or `test=500`. `resume` continues an
    interrupted call. With several `processes`, the calling program must be importable without side effects, as
    `multiprocessing` requires. `ray` is the address of a cluster. Raises NotFoundError, DataError, OptionError or
    OutputError.
    """
    sizes = {name: str(options[name]) for name in ("dev", "test") if isinstance(options.get(name), int | float)}
    files = {"source_file": find_path(source_file), "target_file": find_path(target_file)}
    (config,) = build_settings("prepare", {**options, **sizes}, PrepareOptions, others=files)
    request = PrepareRequest(
        corpus=tuple(map(str, list_paths(corpus))),
        config=config,
        data=Path(data),
        force=force,
        resume=resume,
        report=find_path(report),
        processes=processes,
        ray=ray,
        **files,
    )
    prepared = run_preparation(request, progress or ignore_progress).report
    log_warnings(f"{finding.count:,} {finding.effect}: {finding.problem}" for finding in prepared.manifest.findings)
    return replace(prepared, notes=tuple(map(respell, prepared.notes)))


def run_preparation(request: PrepareRequest, progress: StageReporter) -> PrepareOutcome:
    """Makes the prepared corpus, with the configured picture reader and subwords."""
    # Imports numpy and SentencePiece, which `nmt --help` does not need.
    from nmt_cli.api.open_model import make_picture_reader
    from nmt_cli.corpus.prepare import prepare as prepare_corpus

    inputs, config = request.inputs, request.config
    if config.tokenizer_from is not None:
        config = replace(config, tokenizer_from=str(find_model_or_file(Path(config.tokenizer_from))))
    report = prepare_corpus(
        inputs,
        request.data,
        config,
        replace=request.force,
        resume=request.resume,
        report_progress=progress,
        processes=silence_ray(ExecutorOptions(workers=request.processes, ray=request.ray)),
        report=request.report,
        reader=make_picture_reader(config),
    )
    return PrepareOutcome(report, request.commands)
