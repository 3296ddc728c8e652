"""The beam search of one sentence as a tree with the text of each node, for the picture of it."""

from __future__ import annotations

from dataclasses import dataclass

from nmt_cli.search.config import SearchConfig
from nmt_cli.search.trace import BeamNode
from nmt_cli.text.normalise import normalise
from nmt_cli.translation.joining import replace_placeholders
from nmt_cli.translation.pieces import keep_verbatim, make_plain_piece
from nmt_cli.translation.translator import Translator


@dataclass(frozen=True)
class TracedBeam:
    """The tree of one sentence, with the text of each node's token."""

    nodes: tuple[BeamNode, ...]
    pieces: tuple[str, ...]  # one a node
    text: str  # the translation
    left: int = 0  # parts of the line that are not in it: its other sentences, or what is too long to be read at once


def trace_beam(translator: Translator, line: str, config: SearchConfig) -> TracedBeam:
    """Translates a line, or its first sentence or part, as search is given it, and keeps the tree.

    What is carried has its own text in the tree; what is lifted is not in it.
    """
    pieces = translator.reader.split_line(line) if translator.reads_text else keep_verbatim(line)
    piece = next((piece for piece in pieces if piece.is_translated), make_plain_piece(normalise(line)))
    (row,) = translator.source.make_rows([piece.text], config.max_source_length)
    best, nodes = translator.batch_search.trace(row, config)
    labels = replace_placeholders(translator.target.spell_pieces([node.token for node in nodes]), piece)
    text = translator.target.decode(list(best.tokens))
    for name, span in zip(piece.masked.names, piece.masked.masked, strict=True):
        text = text.replace(name, span.text)
    return TracedBeam(tuple(nodes), tuple(labels), text, max(0, len(pieces) - 1))
