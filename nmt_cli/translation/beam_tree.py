"""The beam search of one sentence as a tree with the text of each node, for the picture of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nmt_cli.search.beam import search
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.guide import Guide
from nmt_cli.search.trace import BeamTrace, Node
from nmt_cli.text.normalise import normalise
from nmt_cli.translation.joining import with_spans
from nmt_cli.translation.pieces import unmasked, verbatim
from nmt_cli.translation.translator import Translator


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
