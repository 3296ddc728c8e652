"""The types of arrays, declared once for all rooms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SourceArray = NDArray[Any]

IntArray = NDArray[np.integer]
FloatArray = NDArray[np.floating]
