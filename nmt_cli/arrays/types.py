"""The types of arrays and tensors, and the special ids at the beginning of every vocabulary."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# The types of arrays and tensors, declared once for all rooms.


IntArray = NDArray[np.integer]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.floating]
SourceArray = NDArray[Any]  # ids of text, or features of pictures

Tensor = Any  # of Keras, whichever backend made it
NamedTensors = dict[str, Tensor]


# The special ids at the beginning of every vocabulary. Imports nothing.


PAD: Final = 0
UNKNOWN: Final = 1
START: Final = 2  # <s>
END: Final = 3  # </s>
