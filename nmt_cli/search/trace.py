"""Collects the tree of a beam search over one sentence: kept, ended and pruned nodes.

Watches search as a `beam.Observer`. Letters: K beam size, C candidates per row.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from nmt_cli.arrays.types import END, START
from nmt_cli.search.beam import Extension, Observer
from nmt_cli.search.step_model import SearchResult

Fate = Literal["kept", "ended", "pruned"]


class BeamNode(NamedTuple):
    """A token at its position in one or more hypotheses; node 0 is the start of the sentence."""

    parent: int  # the index of the node before
    depth: int  # tokens up to here
    token: int
    probability: float  # of the token alone, 0-1
    log_probability: float  # of all tokens up to here, natural
    fate: Fate
    best: bool = False  # whether it belongs to the returned translation


class BeamTrace(Observer):
    """Collects the tree of a search over one sentence."""

    def __init__(self) -> None:
        self.nodes = [BeamNode(parent=-1, depth=0, token=START, probability=1, log_probability=0, fate="kept")]
        self.rows = [0]  # the node of each open row

    def watch_step(self, extension: Extension) -> None:
        if len(extension.scores) != 1:
            raise ValueError("a beam can be traced for one sentence only")
        width = extension.tokens.shape[1]
        chosen = {index: row for row, index in enumerate(extension.chosen.tolist())}
        next_rows = [0] * len(chosen)
        for row, score in enumerate(extension.scores[0].tolist()):
            for candidate in range(width) if math.isfinite(score) else ():
                index = row * width + candidate
                ended = int(extension.tokens[row, candidate]) == END
                kept = index in chosen and not ended
                self.add_node(extension, row, candidate, "ended" if ended else "kept" if kept else "pruned")
                if kept:
                    next_rows[chosen[index]] = len(self.nodes) - 1
        self.rows = next_rows

    def add_node(self, extension: Extension, row: int, candidate: int, fate: Fate) -> None:
        parent = self.rows[row]
        log_probability = float(extension.log_probabilities[row, candidate])
        self.nodes.append(
            BeamNode(
                parent=parent,
                depth=self.nodes[parent].depth + 1,
                token=int(extension.tokens[row, candidate]),
                probability=math.exp(log_probability),
                log_probability=float(extension.scores[0, row]) + log_probability,
                fate=fate,
            )
        )

    def mark_best(self, result: SearchResult) -> list[BeamNode]:
        """Returns the nodes, with the path of the returned translation marked."""
        nodes, parent = list(self.nodes), 0
        for token in result.tokens:
            parent = next(
                index
                for index, node in enumerate(nodes)
                if node.parent == parent and node.token == token and node.fate != "pruned"
            )
            nodes[parent] = nodes[parent]._replace(best=True)
        return nodes
