"""How long targets may become. Knows no network. Letters: B sentences, S source positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import SourceArray
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.lead import Lead
from nmt_cli.sources.source import LENGTH_MARGIN


def limit_lengths(
    source: SourceArray, config: SearchConfig, prefix_length: int = 0, lead: Lead | None = None
) -> NDArray[np.int64]:
    """Returns (B,): the maximum number of target tokens of each sentence; a forced prefix adds `prefix_length`.

    The tokens of a `lead` are added, and the source positions that it translates are not counted.

    A limit depends only on the length of its own sentence, never on its neighbours'.
    """
    led, read = (0, 0) if lead is None else (lead.lengths, lead.source_lengths)
    if config.length_factor is None:
        return np.full(len(source), config.max_length, dtype=np.int64) + led
    lengths = np.count_nonzero(source, axis=1) - read
    most = np.ceil(config.length_factor * lengths) + LENGTH_MARGIN + prefix_length
    return np.asarray(np.minimum(config.max_length, most), dtype=np.int64) + led
