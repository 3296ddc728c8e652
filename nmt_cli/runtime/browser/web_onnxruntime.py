"""Runs graphs by ONNX Runtime Web: the module `onnxruntime` of a page, where the compiled one is missing.

Has what `runtime.onnx_engine` asks of it. What a graph takes and gives stands in a file beside it, `NAME.json`, since
ONNX Runtime Web cannot tell all of it. Knows nothing of nmt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

CODES = {"float32": 1, "int32": 6, "int64": 7, "bool": 9}  # of the types of tensors in ONNX
NAMES = {code: name for name, code in CODES.items()}
ALIGNED = 8  # bytes


class GraphOptimizationLevel:
    """Nothing is optimised here: the graphs are."""

    ORT_DISABLE_ALL = 0


class SessionOptions:
    """Takes any option and heeds none."""


class Node(NamedTuple):
    """An input or output of a graph."""

    name: str
    type: str
    shape: list[int | str | None]


class ModelMeta(NamedTuple):
    """What a graph records about itself."""

    custom_metadata_map: dict[str, str]


class Border(NamedTuple):
    """What JavaScript does."""

    open_graph: Callable[[bytes], int]  # a graph, with its weights inside -> its number
    run_graph: Callable[[int, str, bytes, str], Any]  # number, inputs, their bytes, names of outputs


class InferenceSession:
    """A loaded graph."""

    border: ClassVar[Border]  # set by `page.js`

    def __init__(self, path: str, options: Any = None, providers: Sequence[str] = ()) -> None:
        file = Path(path)
        self._facts = json.loads(file.with_name(f"{file.name}.json").read_text())
        self._number = self.border.open_graph(file.read_bytes())

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
