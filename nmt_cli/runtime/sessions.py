"""Opens and runs graphs with ONNX Runtime, and writes them optimised. Knows nothing of their inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import onnxruntime

from nmt_cli.errors import NmtError
from nmt_cli.runtime.model_directory import name_weights, report_damage

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


def open_session(path: Path, behind: bytes = b"") -> onnxruntime.InferenceSession:
    """Loads a graph, with these bytes `behind` those of its file. Raises DamagedError if ONNX Runtime cannot."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # more cores run more batches: a step is too short to be split
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # done by `optimise`
    options.enable_mem_pattern = False  # it keeps a plan of memory for every shape, and few batches share a shape
    options.log_severity_level = 4  # what goes wrong is said once, and in other words
    try:
        with copy_if_linked(path) as graph:
            model: str | bytes = str(graph)
            if behind:
                model = graph.read_bytes() + behind
                options.add_session_config_entry(WEIGHTS_FOLDER, str(graph.parent))
            return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except OSError:
        raise
    except Exception as error:  # ONNX Runtime has no base class for the errors of reading a file
        raise report_damage(path, "is not a graph that the installed ONNX Runtime can run") from error


@contextmanager
def copy_if_linked(path: Path) -> Iterator[Path]:
    """Yields the path of a graph, or of a temporary copy if ONNX Runtime would refuse to map its weights into memory.

    It refuses a file with a second name: a symbolic link, or one that shares its content with another (hard links), as
    every file does in a tree copied with `cp -al` or `rsync --link-dest`. Handed over in memory, they would not reach
    the loops inside a graph.
    """
    weights = path.with_name(name_weights(path.name))
    if not weights.exists() or not any(file.is_symlink() or file.stat().st_nlink > 1 for file in (path, weights)):
        yield path
        return
    from shutil import copyfile  # which few models need
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="nmt-", ignore_cleanup_errors=True) as folder:
        for file in (path, weights):
            copyfile(file, Path(folder) / file.name)
        yield Path(folder) / path.name
