"""Word dropout: hides tokens from the network. Works on ids, since an unknown token or a tag has no text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nmt_cli.arrays.special_ids import END, PAD, START, UNKNOWN
from nmt_cli.arrays.types import IntArray

UNDROPPED = (PAD, START, END)


def drop_tokens(
    ids: IntArray, share: float, generator: np.random.Generator, control_ids: Sequence[int] = ()
) -> IntArray:
    """Returns `ids` (B, S) with this share of the tokens replaced by the unknown token.

    Padding, start, end and control pieces are kept. Sources: Bowman et al. (2016), "Generating Sentences from a
    Continuous Space", section 3.1, for the decoder's input; Sennrich and Zhang (2019), "Revisiting Low-Resource Neural
    Machine Translation", for both sides (0.1). They set the embedding to zero; the embedding of the unknown token is
    learned, and serves rare characters later.
    """
    is_dropped = (generator.random(ids.shape) < share) & ~np.isin(ids, (*UNDROPPED, *control_ids))
    return np.where(is_dropped, np.asarray(UNKNOWN, ids.dtype), ids)


def drop_tags(ids: IntArray, share: float, generator: np.random.Generator, tag_ids: Sequence[int]) -> IntArray:
    """Returns `ids` (B, S) without this share of the tags; what follows moves up, and padding fills the end."""
    is_dropped = (generator.random(ids.shape) < share) & np.isin(ids, tag_ids)
    order = np.argsort(is_dropped, axis=1, kind="stable")
    return np.take_along_axis(np.where(is_dropped, np.asarray(PAD, ids.dtype), ids), order, axis=1)
