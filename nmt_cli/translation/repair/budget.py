"""Bounds what the repairs of one line cost: a line of faulty sentences alone would take seven times its own search.

A line of prose has few of them. What is over the budget keeps its fault, which its check tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from nmt_cli.search.sampling import TextId

MOST_REPAIRED = 32  # sentences of a line that each way of repair searches again


def choose_repaired(text_ids: Iterable[TextId]) -> Iterator[TextId]:
    """Yields those of faulty sentences that are searched again: the first ones of each line."""
    counts: Counter[int] = Counter()
    for text_id in text_ids:
        counts[text_id.line] += 1
        if counts[text_id.line] <= MOST_REPAIRED:
            yield text_id
