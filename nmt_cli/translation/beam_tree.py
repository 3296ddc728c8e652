"""Traces the beam search of one sentence: returns its tree with the text of each node, for drawing."""

from __future__ import annotations

from typing import NamedTuple

from nmt_cli.search.beam import BeamNode
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.normalise import normalise
from nmt_cli.translation.placement.span_placement import replace_placeholders
from nmt_cli.translation.segmentation.pieces import make_plain_piece
from nmt_cli.translation.translator import LineTranslator


class TracedBeam(NamedTuple):
    """The tree of one sentence, with the text of each node's token."""

    nodes: tuple[BeamNode, ...]
    pieces: tuple[str, ...]  # one per node
    text: str  # the translation
    left: int = 0  # pieces of the line that are not in the tree: its other sentences, or parts of a long one


def trace_beam(translator: LineTranslator, line: str, config: SearchOptions) -> TracedBeam:
    """Translates the first piece of a line, as search reads it, and returns the tree.

    The tree shows masked spans as their own text; extracted spans do not appear.
    """
    pieces = translator.reader.split_line(line)
    piece = next((piece for piece in pieces if piece.is_translated), make_plain_piece(normalise(line)))
    (row,) = translator.source.make_rows(
        [piece.text], config.max_source_length, [translator.complete_tags(config.tags)]
    )
    best, nodes = translator.network.trace(row, config)
    labels = replace_placeholders(translator.target.spell_pieces([node.token for node in nodes]), piece)
    text = translator.target.decode(list(best.tokens))
    for name, span in zip(piece.masked.placeholders, piece.masked.masked, strict=True):
        text = text.replace(name, span.text)
    return TracedBeam(tuple(nodes), tuple(labels), text, max(0, sum(piece.is_translated for piece in pieces) - 1))
