"""Translates with Ray Data actors, on this machine's cores or on a cluster. The only module that imports Ray.

The blocks of text, the model files and the glossary travel through Ray's object store, so that the machines need not
share files; nmt-cli must be installed on each. Ray Data restarts a dead actor and resends its blocks.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from nmt_cli import ENVIRONMENT
from nmt_cli.carrying.glossary import Glossary
from nmt_cli.errors import MissingExtraError, NmtError, NotFoundError, WorkerError, explain_install
from nmt_cli.files import require_file
from nmt_cli.jobs.job import Block, Job
from nmt_cli.jobs.workers import serve_blocks
from nmt_cli.runtime.compatibility import require_reverse, require_same_sides
from nmt_cli.runtime.model_directory import CARD, ModelDirectory
from nmt_cli.sources.images import IMAGE_WEIGHTS
from nmt_cli.translation.config import ModelRequest

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

AUTO = "auto"


@dataclass(frozen=True)
class Shipment:
    """A job with the contents of its model directories and its glossary, for machines that lack them."""

    job: Job
    models: tuple[dict[str, bytes], ...]  # file name to content, of each model
    glossary: bytes | None

    @classmethod
    def pack(cls, job: Job) -> Shipment:
        """Reads and checks the models and the glossary here, where their paths mean something to the user.

        Raises NotFoundError, DamagedError, OptionError and DataError.
        """
        request = job.request
        first, *others = models = [ModelDirectory.load(path, request.precision) for path in request.paths]
        for other in others[: len(request.ensemble)]:
            require_same_sides(first, other)
        for other in others[len(request.ensemble) :]:
            require_reverse(first, other)
        return cls(job, tuple(map(read_model_files, models)), read_glossary(request))

    def unpack(self, directory: Path) -> Job:
        """Writes the models and the glossary to `directory`, and returns the job that reads them there."""
        models = [directory / str(number) for number, _ in enumerate(self.models)]
        for model, files in zip(models, self.models, strict=True):
            model.mkdir()
            for name, content in files.items():
                (model / name).write_bytes(content)
        request = self.job.request.with_paths(models)
        if self.glossary is not None and request.lines is not None:
            terms = directory / "glossary.tsv"
            terms.write_bytes(self.glossary)
            request = request._replace(lines=replace(request.lines, glossary=str(terms)))
        return replace(self.job, request=request)


def read_model_files(model: ModelDirectory) -> dict[str, bytes]:
    """Returns the files of a model that translation needs, and the weights that read pictures, if any."""
    names = (CARD, *model.files, *({IMAGE_WEIGHTS} & model.card.checksums.keys()))
    return {name: (model.directory / name).read_bytes() for name in names}


def read_glossary(request: ModelRequest) -> bytes | None:
    """Returns the content of the glossary, if one is named. Raises NotFoundError, and DataError for an invalid one."""
    if request.lines is None or request.lines.glossary is None:
        return None
    path = require_file(Path(request.lines.glossary))
    Glossary.load(path)
    return path.read_bytes()


class Actor:
    """Runs on the machines of the cluster, each on one core: loads the models and translates blocks."""

    def __init__(self, shipment: Any) -> None:
        import ray

        self.directory = TemporaryDirectory(prefix="nmt.")  # lives as long as the actor: some files are read late
        self.answer = serve_blocks(ray.get(shipment).unpack(Path(self.directory.name)))

    def __call__(self, table: Any) -> dict[str, list[Any]]:
        """Answers a table of pickled blocks by a table of pickled answers, with the same numbers.

        An answer is the translations of a block, or an exception: raised here, it would reach the user as one of Ray's.
        """
        blocks = [pickle.loads(block.as_py()) for block in table["block"]]
        return {
            "number": table["number"].to_pylist(),
            "answer": [pickle.dumps(self.answer(block)) for block in blocks],
        }


class RayExecutor:
    """Translates on the cluster at `address`; `auto` means a local running cluster, or else a new one.

    Implements `jobs.job.Executor`.
    """

    replacements = 0  # Ray does not report them

    def __init__(self, job: Job, address: str) -> None:
        self.job = job
        self.address = address

    def __enter__(self) -> RayExecutor:
        ray = import_ray()
        shipment = Shipment.pack(self.job)
        self.was_connected = ray.is_initialized()  # by the program that uses this as a library
        if not self.was_connected:
            connect_ray(ray, self.address)
        prepare(ray)
        self.shipment = ray.put(shipment)
        return self

    def __exit__(self, *_: object) -> None:
        if not self.was_connected:
            import_ray().shutdown()

    def translate_blocks(self, blocks: Iterable[Block]) -> Iterator[list[Translation]]:
        """Translates as `Executor` does, but reads all blocks into Ray's object store before translating the first."""
        tables, end = store_blocks(blocks)
        for number, row in enumerate(self.translate_tables(tables)):
            if row["number"] != number:
                raise WorkerError(f"Ray returned block {row['number']:,} instead of block {number:,}")
            answer: list[Translation] | Exception = pickle.loads(row["answer"])
            if isinstance(answer, Exception):
                raise answer
            yield answer
        if end is not None:
            raise end

    def translate_tables(self, tables: list[Any]) -> Iterator[dict[str, Any]]:
        """Yields the row of results for each table, in order. Raises WorkerError if Ray fails."""
        import ray
        from ray.data import ActorPoolStrategy

        if not tables:
            return
        actors = max(1, min(len(tables), int(ray.cluster_resources().get("CPU", 1))))
        translated = ray.data.from_arrow_refs(tables).map_batches(
            Actor,
            fn_constructor_args=[self.shipment],
            batch_size=None,
            batch_format="pyarrow",
            compute=ActorPoolStrategy(size=actors),
            num_cpus=1,
        )
        try:
            yield from translated.iter_rows()
        except ray.exceptions.RayError as error:
            raise WorkerError(
                f"Ray failed: {find_last_line(error)}",
                hint="each machine of the cluster needs nmt-cli and enough free memory",
            ) from error


def import_ray() -> Any:
    """Returns the module. Raises MissingExtraError if Ray is not installed."""
    try:
        import ray.data
    except ModuleNotFoundError as error:
        raise MissingExtraError("--ray needs Ray, which is not installed", hint=explain_install("ray")) from error
    return ray


def connect_ray(ray: Any, address: str) -> None:
    """Connects to the cluster, or starts one without a dashboard; prints nothing. Raises NotFoundError."""
    try:
        ray.init(
            None if address == AUTO else address,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": ENVIRONMENT},
        )
    except (ConnectionError, ValueError) as error:
        raise NotFoundError(
            f"--ray {address}: {find_last_line(error)}",
            hint="start a cluster with `ray start --head`, or use --ray auto",
        ) from error


def prepare(ray: Any) -> None:
    """Makes Ray Data keep the order of the blocks and print nothing."""
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # errors are reported once, as ours
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True


def store_blocks(blocks: Iterable[Block]) -> tuple[list[Any], NmtError | None]:
    """Stores each block with its number as a table in Ray's object store, which spills to disk when memory is short.

    Returns the tables, and the error that ended the input, if any.
    """
    import pyarrow  # comes with the extra
    import ray

    tables: list[Any] = []
    try:
        for number, block in enumerate(blocks):
            tables.append(ray.put(pyarrow.table({"number": [number], "block": [pickle.dumps(block)]})))
    except NmtError as error:
        return tables, error
    return tables, None


def find_last_line(error: Exception) -> str:
    """Returns the last line of an error's message, where Ray names the cause."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
