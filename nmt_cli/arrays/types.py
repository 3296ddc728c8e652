"""The types of arrays and tensors, declared once for all rooms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.floating]
SourceArray = NDArray[Any]  # ids of text, or features of pictures

Tensor = Any  # of Keras, whichever backend made it
NamedTensors = dict[str, Tensor]
