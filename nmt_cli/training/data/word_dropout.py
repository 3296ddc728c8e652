"""Word dropout: hides tokens from the network. Works on ids, since an unknown token has no text."""

from __future__ import annotations

import numpy as np

from nmt_cli.arrays.special_ids import END, PAD, START, UNKNOWN
from nmt_cli.arrays.types import IntArray

UNDROPPED = (PAD, START, END)


def drop_tokens(ids: IntArray, share: float, generator: np.random.Generator) -> IntArray:
    """Returns `ids` (B, S) with this share of the tokens replaced by the unknown token.

    Padding, start and end are kept. Sources: Bowman et al. (2016), "Generating Sentences from a Continuous Space",
    section 3.1, for the decoder's input; Sennrich and Zhang (2019), "Revisiting Low-Resource Neural Machine
    Translation", for both sides (0.1). They set the embedding to zero; the embedding of the unknown token is learned,
    and serves rare characters later.
    """
    is_dropped = (generator.random(ids.shape) < share) & ~np.isin(ids, UNDROPPED)
    return np.where(is_dropped, np.asarray(UNKNOWN, ids.dtype), ids)
