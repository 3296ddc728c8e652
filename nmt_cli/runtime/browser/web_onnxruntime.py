"""Runs graphs with ONNX Runtime Web: this is the module `onnxruntime` in a page, where the compiled one is missing.

Has only the functions that `runtime.onnx_engine` uses. ONNX Runtime Web does not describe all inputs and outputs of a
graph: `describe_graph` writes them to a file in the folder of the graph, named after its content.
Does not depend on the rest of nmt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

CODES = {"float32": 1, "int32": 6, "int64": 7, "bool": 9}  # of the types of tensors in ONNX
NAMES = {code: name for name, code in CODES.items()}
ALIGNED = 8  # bytes
FOLDER = "session.model_external_initializers_file_folder_path"  # the entry that says where the files of a graph are


class GraphOptimizationLevel:
    """Optimises nothing, since the graphs are already optimised."""

    ORT_DISABLE_ALL = 0


class SessionOptions:
    """Accepts any option, but uses only the folder of the graph."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}

    def add_session_config_entry(self, name: str, value: str) -> None:
        self.entries[name] = value


class Node(NamedTuple):
    """An input or output of a graph."""

    name: str
    type: str
    shape: list[int | str | None]


class ModelMeta(NamedTuple):
    """The metadata of a graph."""

    custom_metadata_map: dict[str, str]


class Border(NamedTuple):
    """The calls into JavaScript."""

    open_graph: Callable[[bytes], int]  # a graph, with its weights inside -> its number
    run_graph: Callable[[int, str, bytes, str], Any]  # number, inputs, their bytes, names of outputs


def name_facts(content: bytes) -> str:
    """Returns the name of the file that describes the inputs and outputs of a graph with this content."""
    return f"{hashlib.sha256(content).hexdigest()}.json"


class InferenceSession:
    """A loaded graph."""

    border: ClassVar[Border]  # set by `page.js`

    def __init__(self, content: bytes, options: SessionOptions, providers: Sequence[str] = ()) -> None:
        facts = Path(options.entries[FOLDER]) / name_facts(content)
        self._facts = json.loads(facts.read_text())
        self._number = self.border.open_graph(content)

    def get_inputs(self) -> list[Node]:
        return [Node(*node) for node in self._facts["inputs"]]

    def get_outputs(self) -> list[Node]:
        return [Node(*node) for node in self._facts["outputs"]]

    def get_modelmeta(self) -> ModelMeta:
        return ModelMeta(self._facts["metadata"])

    def run(self, names: Sequence[str], feed: Mapping[str, Any]) -> list[Any]:
        """Returns the outputs `names`. All bytes cross the border to JavaScript at once."""
        arrays = [np.ascontiguousarray(array) for array in feed.values()]
        inputs = [
            [name, CODES[array.dtype.name], np.shape(value)]
            for (name, value), array in zip(feed.items(), arrays, strict=True)
        ]
        content = b"".join(array.tobytes() + bytes(-array.nbytes % ALIGNED) for array in arrays)
        described, values = self.border.run_graph(self._number, json.dumps(inputs), content, json.dumps(list(names)))
        outputs, position = [], 0
        for code, shape in json.loads(described):
            array = np.empty(shape, NAMES[code])
            array.reshape(-1).view(np.uint8)[:] = values[position : position + array.nbytes]
            outputs.append(array)
            position += array.nbytes + -array.nbytes % ALIGNED
        return outputs
