"""Opens and runs graphs with ONNX Runtime, and writes them optimised. Knows nothing of their inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

import onnxruntime

from nmt_cli.errors import NmtError
from nmt_cli.runtime.model_directory import check_file, name_weights, read_checked, report_damage

INLINE_BYTES = 4096  # size of the largest constant that stays in the graph
WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"


def run_graph(
    session: onnxruntime.InferenceSession, names: list[str], feed: Mapping[str, Any], path: Path
) -> dict[str, Any]:
    """Returns the outputs `names` of a graph.

    Raises DamagedError if ONNX Runtime cannot run it, NmtError if memory runs out.

    A graph that loads can be run, unless it belongs to another model.
    """
    try:
        return dict(zip(names, session.run(names, feed), strict=True))
    except Exception as error:  # ONNX Runtime has no base class for its errors
        if "alloc" in str(error):
            raise NmtError(
                "out of memory", hint="translate shorter lines, or use a machine with more memory"
            ) from error
        raise report_damage(path, "cannot be run: it does not belong to this model") from error


def optimise(path: Path) -> None:
    """Replaces a graph by ONNX Runtime's optimised version, so that loading need not optimise again.

    The result is the same on every processor: only optimisations beyond the extended ones depend on it. Weights go to a
    file of their own, which is memory-mapped instead of read: that halves the loading time.
    """
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path.with_suffix(".optimised"))
    weights = "session.optimized_model_external_initializers"
    options.add_session_config_entry(f"{weights}_file_name", name_weights(path.name))
    options.add_session_config_entry(f"{weights}_min_size_in_bytes", str(INLINE_BYTES))
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    path.with_suffix(".optimised").replace(path)


class KeptGraph:
    """A graph and its weights as they were when they were read, whatever others write to their files afterwards.

    ONNX Runtime maps weights into memory, and what is mapped follows its file: overwritten, it would answer nonsense,
    and shortened, end the process. So what it maps is a copy without a name.
    """

    def __init__(self, path: Path, checksums: Mapping[str, str] | None = None, *, is_private: bool = False) -> None:
        """`checksums` are those that the files must have, by name; nobody else writes to private files.

        Raises DamagedError if the graph is missing or another.
        """
        self.path, self.checksums, self.is_private = path, checksums, is_private
        self.content = read_checked(path, self.find_checksum(path))
        self.copy: mmap | None = None  # of the weights, once they are there; it takes no memory before it is read

    def find_checksum(self, file: Path) -> str | None:
        return None if self.checksums is None else self.checksums.get(file.name, "")

    @property
    def weights(self) -> Path | None:
        """The file of the weights; None for a graph that has them inside."""
        path = self.path.with_name(name_weights(self.path.name))
        is_there = path.exists() if self.checksums is None else path.name in self.checksums
        return path if is_there else None

    def open_session(self, behind: bytes = b"") -> onnxruntime.InferenceSession:
        """Loads the graph, with these bytes `behind` those of its file.

        Raises DamagedError if ONNX Runtime cannot, and if the weights are missing or others.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # more cores run more batches: a step is too short to be split
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # done by `optimise`
        options.enable_mem_pattern = False  # it keeps a plan of memory for every shape, and few batches share a shape
        options.log_severity_level = 4  # what goes wrong is said once, and in other words
        try:
            with self.place_weights() as folder:
                options.add_session_config_entry(WEIGHTS_FOLDER, str(folder))
                return onnxruntime.InferenceSession(self.content + behind, options, providers=["CPUExecutionProvider"])
        except (OSError, NmtError):
            raise
        except Exception as error:  # ONNX Runtime has no base class for the errors of reading a file
            raise report_damage(self.path, "is not a graph that the installed ONNX Runtime can run") from error

    @contextmanager
    def place_weights(self) -> Iterator[Path]:
        """Yields a folder in which the weights can be mapped while the block runs; what is mapped then stays.

        Where no copy can be written, it is their own, in which they have to be replaced as a whole.
        """
        weights = self.weights
        if weights is None or self.is_private:
            yield self.path.parent
            return
        with ExitStack() as folders:
            try:
                folder = Path(folders.enter_context(TemporaryDirectory(prefix="nmt-", ignore_cleanup_errors=True)))
                self.write_copy(weights, folder / weights.name)
            except OSError:
                check_file(weights, self.find_checksum(weights))
                folder = weights.parent
            yield folder

    def write_copy(self, weights: Path, target: Path) -> None:
        """Writes the weights as they are now or, once they have been read, as they were then."""
        if self.copy is not None:
            target.write_bytes(self.copy)
            return
        if not weights.is_file():
            raise report_damage(weights, "is missing")
        copyfile(weights, target)
        check_file(target, self.find_checksum(weights), name=weights)
        with target.open("rb") as file:
            self.copy = mmap(file.fileno(), 0, access=ACCESS_READ)
