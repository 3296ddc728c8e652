"""`nmt.prepare`: what `nmt prepare` does, as a function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.api.options.arguments import PathLike, build_settings, explain_os_errors, find_path, list_paths
from nmt_cli.api.progress import StageReporter
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.formats.inputs import CorpusFile, parse_input
from nmt_cli.errors import OptionError
from nmt_cli.runtime.installed_models import find_model_or_file

if TYPE_CHECKING:
    from nmt_cli.corpus.prepare import PrepareReport


@explain_os_errors
def prepare(
    corpus: PathLike | Iterable[PathLike] = (),
    *,
    source_file: PathLike | None = None,
    target_file: PathLike | None = None,
    data: PathLike = "prepared",
    force: bool = False,
    report: PathLike | None = None,
    processes: int = 1,
    progress: StageReporter | None = None,
    **options: Any,
) -> PrepareReport:
    """Checks, cleans, splits and encodes sentence pairs, and writes the prepared corpus `data`.

    `options` are those of `nmt prepare`, such as `vocab_size=2000` or `test=500`. With several `processes`, the
    program that calls must be importable without side effects, as `multiprocessing` asks. Raises NotFoundError,
    DataError, OptionError or OutputError.
    """
    sizes = {name: str(options[name]) for name in ("dev", "test") if isinstance(options.get(name), int | float)}
    files = {"source_file": source_file, "target_file": target_file}
    (config,) = build_settings("prepare", {**options, **sizes}, PrepareConfig, others=files)
    inputs = collect_inputs([str(path) for path in list_paths(corpus)], find_path(source_file), find_path(target_file))
    return prepare_inputs(
        inputs, Path(data), config, force=force, report=find_path(report), processes=processes, progress=progress
    )


def prepare_inputs(
    inputs: list[CorpusFile],
    data: Path,
    config: PrepareConfig,
    *,
    force: bool,
    report: Path | None,
    processes: int,
    progress: StageReporter | None,
) -> PrepareReport:
    """Makes the prepared corpus, with the reader of pictures and the subwords of the model that the settings name."""
    # Imports numpy and SentencePiece, which `nmt --help` does not need.
    from nmt_cli.api.open_model import make_picture_reader
    from nmt_cli.corpus.prepare import prepare as prepare_corpus

    if config.tokenizer_from is not None:
        config = replace(config, tokenizer_from=str(find_model_or_file(Path(config.tokenizer_from))))
    return prepare_corpus(
        inputs,
        data,
        config,
        replace=force,
        report_progress=progress,
        processes=processes,
        report=report,
        reader=make_picture_reader(config),
    )


def collect_inputs(corpus: list[str], source_file: Path | None, target_file: Path | None) -> list[CorpusFile]:
    """Returns the inputs in order, the two parallel files last. Raises OptionError for none."""
    inputs = [parse_input(name) for name in corpus]
    if source_file is not None:
        inputs.append(CorpusFile(source_file, target_file))
    if not inputs:
        raise OptionError("no corpus was named", hint="try `nmt prepare corpus.tsv`")
    return inputs
