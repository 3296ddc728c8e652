"""The tree that beam search grew for one sentence: what was kept, what ended, and the rivals that were dropped.

Watches search through `search.Observer`. Letters: K beam size, C candidates a row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from nmt_cli.corpus.clean import normalise
from nmt_cli.corpus.tokenizer import Tokenizer
from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.constraints import Guide
from nmt_cli.inference.joining import with_spans
from nmt_cli.inference.lines import unmasked, verbatim
from nmt_cli.inference.search import Extension, Found, Observer, search
from nmt_cli.inference.translator import Translator

Fate = Literal["kept", "ended", "pruned"]


@dataclass(frozen=True)
class Node:
    """A token at its place in one hypothesis or more; node 0 is the start of the sentence."""

    parent: int
    depth: int  # tokens up to here
    token: int
    probability: float  # of the token alone, 0-1
    log_probability: float  # of all tokens up to here, natural
    fate: Fate
    best: bool = False  # whether the returned translation passes here


class BeamTrace(Observer):
    """Collects the tree of a search over one sentence."""

    def __init__(self) -> None:
        self.nodes = [Node(parent=-1, depth=0, token=Tokenizer.START, probability=1, log_probability=0, fate="kept")]
        self.rows = [0]  # the node of each open row

    def extended(self, extension: Extension) -> None:
        if len(extension.scores) != 1:
            raise ValueError("a beam is traced for one sentence alone")
        width = extension.tokens.shape[1]
        chosen = {place: row for row, place in enumerate(extension.chosen.tolist())}
        after = [0] * len(chosen)
        for row, score in enumerate(extension.scores[0].tolist()):
            for candidate in range(width) if math.isfinite(score) else ():
                place = row * width + candidate
                ended = int(extension.tokens[row, candidate]) == Tokenizer.END
                kept = place in chosen and not ended
                self.add(extension, row, candidate, "ended" if ended else "kept" if kept else "pruned")
                if kept:
                    after[chosen[place]] = len(self.nodes) - 1
        self.rows = after

    def add(self, extension: Extension, row: int, candidate: int, fate: Fate) -> None:
        parent = self.rows[row]
        own = float(extension.log_probabilities[row, candidate])
        self.nodes.append(
            Node(
                parent=parent,
                depth=self.nodes[parent].depth + 1,
                token=int(extension.tokens[row, candidate]),
                probability=math.exp(own),
                log_probability=float(extension.scores[0, row]) + own,
                fate=fate,
            )
        )

    def marked(self, found: Found) -> list[Node]:
        """The nodes, with the path of the translation that was returned."""
        nodes, here = list(self.nodes), 0
        for token in found.tokens:
            here = next(
                place
                for place, node in enumerate(nodes)
                if node.parent == here and node.token == token and node.fate != "pruned"
            )
            nodes[here] = replace(nodes[here], best=True)
        return nodes


@dataclass(frozen=True)
class TracedBeam:
    """The tree of one sentence, with the text of each node's token."""

    nodes: tuple[Node, ...]
    pieces: tuple[str, ...]  # one a node
    text: str  # the translation
    left: int = 0  # parts of the line that are not in it: its other sentences, or what is too long to be read at once


def trace_beam(translator: Translator, line: str, config: SearchConfig) -> TracedBeam:
    """Translates a line, or its first sentence or part, as search is given it, and keeps the tree.

    What is carried has its own text in the tree; what is lifted is not in it.
    """
    pieces = translator.reader.pieces(line) if translator.reads_text else verbatim(line)
    piece = next((one for one in pieces if one.is_translated), unmasked(normalise(line)))
    source = translator.source.batch(translator.source.rows([piece.text], config.max_source_length))
    trace = BeamTrace()
    config = replace(config, n_best=1, length_factor=translator.source.length_factor)
    guide = Guide.of(config, vocabulary=translator.target.vocabulary_size)
    (found,) = search(translator.engine, source, config, trace, guide)
    nodes = trace.marked(found[0])
    labels = with_spans(translator.target.pieces([node.token for node in nodes]), piece)
    text = translator.target.decode(list(found[0].tokens))
    for name, span in zip(piece.masked.names, piece.masked.carried, strict=True):
        text = text.replace(name, span.text)
    return TracedBeam(tuple(nodes), tuple(labels), text, max(0, len(pieces) - 1))
