"""The vocabularies of a network, which come from its corpus. Standard library only."""

from __future__ import annotations

from nmt_cli.settings import Settings


class Vocabularies(Settings):
    """The number of subwords of each side, and whether both share one vocabulary.

    The target may be limited to the first ids of a joint vocabulary.
    """

    source: int
    target: int
    joint: bool
    features: int | None = None  # depth of the regions, if the source is a picture; `source` is then 0
