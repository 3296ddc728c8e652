"""Lines of text in, translations out: subwords, batches of like length, search. Knows no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.grids import GridSource, PictureReader
from nmt_cli.corpus.source import Row, Source, TextSource
from nmt_cli.corpus.tokenizer import PLACEHOLDERS, Tokenizer
from nmt_cli.files import require_file
from nmt_cli.inference.bundle import Bundle, ModelCard
from nmt_cli.inference.config import LineConfig, SearchConfig
from nmt_cli.inference.glossary import Glossary
from nmt_cli.inference.lines import LineReader, Piece, verbatim, whole
from nmt_cli.inference.placing import Placed, Restored, Sides, restore
from nmt_cli.inference.protocol import FloatArray, IntArray, StepModel
from nmt_cli.inference.search import Found, search

Progress = Callable[[int], None]

ROWS = 512  # rows of a step at most: where a wider batch stops paying on a processor with a few cores
POSITIONS = 60_000  # rows x source positions at most, which bounds memory whatever the length of a line


@dataclass(frozen=True)
class Hypothesis:
    """One translation of a line. T produced tokens, the end-of-sentence token included."""

    text: str
    pieces: tuple[str, ...]  # T
    log_probability: float  # natural logarithm of the whole, end included
    score: float  # log_probability divided by the length penalty: what hypotheses are ranked by
    token_log_probabilities: tuple[float, ...]  # T
    attentions: tuple[FloatArray, ...]  # of each piece that the line was cut into: (its tokens, its source positions)
    finished: bool  # false where the length limit cut it
    placed: tuple[Placed, ...] = ()  # the protected spans

    @property
    def attention(self) -> FloatArray:
        """(T, S): row t sums to 1. No piece of a line that was cut looks at another."""
        if len(self.attentions) == 1:
            return self.attentions[0]
        return block_diagonal(self.attentions)


@dataclass(frozen=True)
class Translation:
    """A line and its hypotheses, best first; a blank line has none and translates to an empty line."""

    source: str
    source_pieces: tuple[str, ...]  # S, the end-of-sentence token included
    hypotheses: tuple[Hypothesis, ...]
    unseen: frozenset[str]  # characters of the line that the subword model has never seen
    source_cut_from: int | None = None  # positions of the line, where only the first of them were read

    @property
    def text(self) -> str:
        return self.hypotheses[0].text if self.hypotheses else ""

    @property
    def placed(self) -> tuple[Placed, ...]:
        """The protected spans of the best hypothesis, and what put each in its place."""
        return self.hypotheses[0].placed if self.hypotheses else ()

    @property
    def cut(self) -> bool:
        """Whether the best hypothesis was cut by the length limit."""
        return bool(self.hypotheses) and not self.hypotheses[0].finished


class Translator:
    """A step model with its source side and target tokenizer; `card` is there when it came from a model directory."""

    def __init__(
        self,
        engine: StepModel[Any],
        source: Source,
        target: Tokenizer,
        card: ModelCard | None = None,
        *,
        lines: LineConfig | None = None,
        carries: bool = True,
    ) -> None:
        """`carries`: whether the network has learnt to carry placeholders over.

        Raises NotFoundError and DataError for a glossary that cannot be read.
        """
        self.engine = engine
        self.source = source
        self.target = target
        self._card = card
        self.carries = carries and all(side is not None and side.has_placeholders for side in (self.subwords, target))
        lines = lines or LineConfig()
        glossary = Glossary.load(require_file(Path(lines.glossary))) if lines.glossary else None
        self.reader = LineReader(lines, carries=self.carries, glossary=glossary)

    @property
    def subwords(self) -> Tokenizer | None:
        """Of the source, where it is text."""
        return self.source.tokenizer if isinstance(self.source, TextSource) else None

    @classmethod
    def load(cls, directory: Path, lines: LineConfig | None = None) -> Translator:
        """The translator in a model directory. Raises NotFoundError and DamagedError (see `bundle`)."""
        from nmt_cli.inference.onnx_engine import OnnxEngine  # ONNX Runtime is slow to load, and training needs none

        bundle = Bundle.load(directory)
        card = bundle.card
        carries = card.training.get("placeholders", 0) > 0  # the cards of older models have no such entry
        source, target = bundle.source(), bundle.target_tokenizer()
        return cls(OnnxEngine(directory), source, target, card=card, lines=lines, carries=carries)

    def knowing(self, corpus: PreparedCorpus) -> Translator:
        """The same translator, to which the pictures of `corpus` are known by their names there."""
        if not (isinstance(self.source, GridSource) and corpus.has_pictures):
            return self
        return self.with_source(replace(self.source, stored=corpus.stored_pictures()))

    def reading(self, reader: Callable[[], PictureReader]) -> Translator:
        """The same translator with what reads pictures; `reader` is called when there is a first one to read."""
        if not isinstance(self.source, GridSource):
            return self
        return self.with_source(replace(self.source, reader=reader))

    def with_source(self, source: Source) -> Translator:
        """The same translator with another source side."""
        lines = self.reader.config
        return Translator(self.engine, source, self.target, self._card, lines=lines, carries=self.carries)

    @property
    def card(self) -> ModelCard:
        if self._card is None:
            raise ValueError("this translator was not loaded from a model directory")
        return self._card

    def translate(
        self, lines: Sequence[str], config: SearchConfig, progress: Progress | None = None
    ) -> list[Translation]:
        """One translation a line, in order; `progress` is told how many lines are done."""
        read = [self.pieces(line) for line in lines]
        rows = self.source.rows([piece.text for pieces in read for piece in pieces], config.max_source_length)
        work = Work(
            sizes=[len(row) if piece.is_translated else 0 for row, piece in zip(rows, chain(*read), strict=True)],
            owner=[number for number, pieces in enumerate(read) for _ in pieces],
            lines=len(lines),
        )
        found = self.search(rows, work, config, progress)
        results = iter(zip(rows, found, strict=True))
        return [
            self.translation(line, pieces, [next(results) for _ in pieces])
            for line, pieces in zip(lines, read, strict=True)
        ]

    def pieces(self, line: str) -> list[Piece]:
        """What of a line is translated on its own; none of a blank one."""
        return self.reader.pieces(line) if self.subwords is not None else verbatim(line)

    def search(
        self, rows: Sequence[Row], work: Work, config: SearchConfig, progress: Progress | None
    ) -> list[list[Found]]:
        """The hypotheses of each piece."""
        config = replace(config, growth=self.source.growth)
        found: list[list[Found]] = [[] for _ in rows]
        waiting = work.waiting()
        for batch in batches(work.sizes, config):
            sources = self.source.batch([rows[index] for index in batch])
            for index, hypotheses in zip(batch, search(self.engine, sources, config), strict=True):
                found[index] = hypotheses
            waiting.subtract(work.owner[index] for index in batch)
            if progress is not None:
                progress(work.lines - sum(left > 0 for left in waiting.values()))
        return found

    def translation(
        self, line: str, pieces: Sequence[Piece], results: Sequence[tuple[Row, list[Found]]]
    ) -> Translation:
        """What the rows and hypotheses of its pieces make of a line."""
        parts = [self.hypotheses(piece, *result) for piece, result in zip(pieces, results, strict=True)]
        number = max(map(len, parts), default=0)
        best_first = [[part[min(rank, len(part) - 1)] for part in parts] for rank in range(number)]
        rows = [row for row, _ in results]
        labels = [self.labels(piece, row) for piece, row in zip(pieces, rows, strict=True)]
        cut = any(row.cut_from is not None for row in rows)
        return Translation(
            source=line,
            source_pieces=tuple(chain.from_iterable(labels)),
            hypotheses=tuple(whole_hypothesis(pieces, own) for own in best_first),
            unseen=frozenset(chain.from_iterable(self.source.unseen(piece.masked.words) for piece in pieces)),
            source_cut_from=sum(row.cut_from or len(row) - 1 for row in rows) if cut else None,
        )

    def labels(self, piece: Piece, row: Row) -> list[str]:
        return with_spans(self.source.labels(row), piece) if piece.is_translated else [piece.unchanged, END_PIECE]

    def hypotheses(self, piece: Piece, row: Row, found: Sequence[Found]) -> list[Hypothesis]:
        """Of a piece; of one with nothing to translate itself."""
        return [self.hypothesis(one, piece, row) for one in found] if piece.is_translated else [unchanged(piece)]

    def hypothesis(self, found: Found, piece: Piece, row: Row) -> Hypothesis:
        tokens, attention = list(found.tokens), found.attention[:, : len(row)]
        restored = self.restored(piece, row, tokens, attention)
        return Hypothesis(
            text=restored.text,
            pieces=tuple(with_spans(self.target.pieces(tokens), piece)),
            log_probability=found.log_probability,
            score=found.score,
            token_log_probabilities=found.token_log_probabilities,
            attentions=(attention,),
            finished=found.finished,
            placed=restored.placed,
        )

    def restored(self, piece: Piece, row: Row, tokens: list[int], attention: FloatArray) -> Restored:
        """The text of `tokens` with the protected spans of the piece."""
        if self.subwords is None or not piece.masked.spans:
            return Restored(self.target.decode(tokens), ())
        return restore(piece.masked, row.values.tolist(), tokens, attention, Sides(self.subwords, self.target))


@dataclass(frozen=True)
class Work:
    """The pieces of some lines: how large each is (0 where there is nothing to do), and of which line."""

    sizes: Sequence[int]
    owner: Sequence[int]
    lines: int

    def waiting(self) -> Counter[int]:
        """How many pieces of each line are still to be translated."""
        return Counter(line for line, size in zip(self.owner, self.sizes, strict=True) if size)


END_PIECE = "</s>"


def with_spans(pieces: Sequence[str], piece: Piece) -> list[str]:
    """`pieces` with the carried spans themselves instead of their placeholders."""
    texts = {name: span.text for name, span in zip(PLACEHOLDERS, piece.masked.carried, strict=False)}
    return [texts.get(one, one) for one in pieces]


def unchanged(piece: Piece) -> Hypothesis:
    """What a piece with nothing to translate becomes: certainly itself."""
    text = piece.unchanged
    return Hypothesis(
        text=text,
        pieces=(text, END_PIECE),
        log_probability=0.0,
        score=0.0,
        token_log_probabilities=(0.0, 0.0),
        attentions=(np.eye(2, dtype=np.float32),),
        finished=True,
        placed=tuple(Placed(span.text, "unchanged", dropped=False) for span in piece.masked.spans),
    )


def whole_hypothesis(pieces: Sequence[Piece], parts: Sequence[Hypothesis]) -> Hypothesis:
    """The hypotheses of the pieces of a line as one; its score is the sum of theirs."""
    if len(parts) == 1:
        return parts[0]
    return Hypothesis(
        text=whole(pieces, [part.text for part in parts]),
        pieces=tuple(chain.from_iterable(part.pieces for part in parts)),
        log_probability=sum(part.log_probability for part in parts),
        score=sum(part.score for part in parts),
        token_log_probabilities=tuple(chain.from_iterable(part.token_log_probabilities for part in parts)),
        attentions=tuple(chain.from_iterable(part.attentions for part in parts)),
        finished=all(part.finished for part in parts),
        placed=tuple(chain.from_iterable(part.placed for part in parts)),
    )


def block_diagonal(blocks: Sequence[FloatArray]) -> FloatArray:
    """(sum of rows, sum of columns): the blocks along the diagonal, zeros elsewhere."""
    whole = np.zeros(np.sum([block.shape for block in blocks], axis=0), dtype=np.float32)
    row = column = 0
    for block in blocks:
        whole[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return whole


def batches(lengths: Sequence[int], config: SearchConfig) -> list[list[int]]:
    """Indices of the lines with any tokens, longest first, in batches that bound the work of one step."""
    result: list[list[int]] = []
    width = 0
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if lengths[index] == 0:
            break
        if not result or len(result[-1]) >= width:
            result.append([])
            width = max(1, min(ROWS, POSITIONS // lengths[index]) // config.beam_size)
        result[-1].append(index)
    return result


def padded(ids: Sequence[Sequence[int]], batch: Sequence[int]) -> IntArray:
    """(B, S): the ids of the lines in `batch`, padded with 0."""
    rows = np.zeros((len(batch), max(len(ids[index]) for index in batch)), dtype=np.int32)
    for row, index in zip(rows, batch, strict=True):
        row[: len(ids[index])] = ids[index]
    return rows
