"""An executor of Ray Data actors, on this machine's cores or on a cluster. The only module that imports Ray.

The blocks of text, the model's files and the glossary travel through Ray's object store, so that the machines need to
share no files; each must have nmt-cli installed. Ray Data starts an actor that died again, and what it was given with
it.
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
from nmt_cli.errors import MissingExtraError, NmtError, NotFoundError, WorkerError
from nmt_cli.files import require_file
from nmt_cli.jobs.job import Block, Job
from nmt_cli.jobs.workers import serve_blocks
from nmt_cli.runtime.compatibility import require_same_sides
from nmt_cli.runtime.model_directory import CARD, ModelDirectory
from nmt_cli.sources.images import IMAGE_WEIGHTS
from nmt_cli.translation.glossary import Glossary

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

AUTO = "auto"


@dataclass(frozen=True)
class Shipment:
    """A job with the files of its models and its glossary, to be started where these do not lie."""

    job: Job
    models: tuple[dict[str, bytes], ...]
    glossary: bytes | None

    @classmethod
    def pack(cls, job: Job) -> Shipment:
        """Raises what loading the models and the glossary does: here their paths mean something to the user."""
        first, *others = bundles = [ModelDirectory.load(path, job.precision) for path in (job.model, *job.ensemble)]
        for other in others:
            require_same_sides(first, other)
        return cls(job, tuple(map(read_model_files, bundles)), read_glossary(job))

    def unpack(self, directory: Path) -> Job:
        """The job, with its models and its glossary in `directory`."""
        models = [directory / str(number) for number, _ in enumerate(self.models)]
        for model, files in zip(models, self.models, strict=True):
            model.mkdir()
            for name, content in files.items():
                (model / name).write_bytes(content)
        job = replace(self.job, model=models[0], ensemble=tuple(models[1:]))
        if self.glossary is None or job.lines is None:
            return job
        terms = directory / "glossary.tsv"
        terms.write_bytes(self.glossary)
        return replace(job, lines=replace(job.lines, glossary=str(terms)))


def read_model_files(model: ModelDirectory) -> dict[str, bytes]:
    """Returns the files of a model that translation needs, and the weights that read pictures if there are any."""
    names = (CARD, *model.files, *({IMAGE_WEIGHTS} & model.card.checksums.keys()))
    return {name: (model.directory / name).read_bytes() for name in names}


def read_glossary(job: Job) -> bytes | None:
    """Its file, if there is one. Raises what a glossary does that cannot be read."""
    if job.lines is None or job.lines.glossary is None:
        return None
    path = require_file(Path(job.lines.glossary))
    Glossary.load(path)
    return path.read_bytes()


class Actor:
    """What runs on the machines of the cluster: a loaded model that translates blocks, one core to itself."""

    def __init__(self, shipment: Any) -> None:
        import ray

        self.directory = TemporaryDirectory(prefix="nmt.")  # as long as the actor: some files are read when needed
        self.answer = serve_blocks(ray.get(shipment).unpacked(Path(self.directory.name)), threads=1)

    def __call__(self, table: Any) -> dict[str, list[Any]]:
        """A table of pickled blocks to one of pickled answers, with the same numbers.

        An answer is the translations of a block, or what went wrong: raised here, it would reach the user as Ray's.
        """
        blocks = [pickle.loads(block.as_py()) for block in table["block"]]
        return {
            "number": table["number"].to_pylist(),
            "answer": [pickle.dumps(self.answer(block)) for block in blocks],
        }


class RayExecutor:
    """An executor on the cluster at `address`; `auto` is one that runs here, else one started for the occasion."""

    replaced = 0  # Ray does not tell

    def __init__(self, job: Job, address: str) -> None:
        self.job = job
        self.address = address

    def __enter__(self) -> RayExecutor:
        ray = import_ray()
        shipment = Shipment.pack(self.job)
        self.joined = ray.is_initialized()  # by who uses this as a library
        if not self.joined:
            connect_ray(ray, self.address)
        prepare(ray)
        self.shipment = ray.put(shipment)
        return self

    def __exit__(self, *_: object) -> None:
        if not self.joined:
            import_ray().shutdown()

    def translate_blocks(self, blocks: Iterable[Block]) -> Iterator[list[Translation]]:
        """See `Executor`; but all blocks are read, into Ray's object store, before the first is translated."""
        tables, end = store_blocks(blocks)
        for number, row in enumerate(self.translate_tables(tables)):
            if row["number"] != number:
                raise WorkerError(f"Ray gave block {row['number']:,} where block {number:,} was due")
            answer: list[Translation] | Exception = pickle.loads(row["answer"])
            if isinstance(answer, Exception):
                raise answer
            yield answer
        if end is not None:
            raise end

    def translate_tables(self, tables: list[Any]) -> Iterator[dict[str, Any]]:
        """The results for the tables, in their order."""
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
                f"Ray gave up: {find_last_line(error)}",
                hint="each machine of the cluster needs nmt-cli and free memory",
            ) from error


def import_ray() -> Any:
    """Raises MissingExtraError where Ray is not installed."""
    try:
        import ray.data
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "--ray needs Ray, which is not installed", hint='install it with: pip install "nmt-cli[ray]"'
        ) from error
    return ray


def connect_ray(ray: Any, address: str) -> None:
    """Joins the cluster, quietly, or starts one without a dashboard. Raises NotFoundError where there is none."""
    where = None if address == AUTO else address
    try:
        ray.init(
            where,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": ENVIRONMENT},
        )
    except (ConnectionError, ValueError) as error:
        raise NotFoundError(
            f"--ray {address}: {find_last_line(error)}",
            hint="start a cluster with `ray start --head`, or give --ray auto",
        ) from error


def prepare(ray: Any) -> None:
    """Ray Data in order, and quiet."""
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what goes wrong is told once, as an error of ours
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True


def store_blocks(blocks: Iterable[Block]) -> tuple[list[Any], NmtError | None]:
    """Each block, numbered, as a table in Ray's object store, which moves to the disk what it has no memory for.

    And what was wrong with the input behind the last of them, if anything was.
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
    return (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
