"""Lines of text in, translations out: subwords, batches of like length, search. Knows no network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.grids import GridSource, PictureReader
from nmt_cli.corpus.source import Row, Source
from nmt_cli.corpus.tokenizer import Tokenizer
from nmt_cli.inference.bundle import Bundle, ModelCard
from nmt_cli.inference.config import SearchConfig
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
    attention: FloatArray  # (T, S): row t sums to 1
    finished: bool  # false where the length limit cut it


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
    def cut(self) -> bool:
        """Whether the best hypothesis was cut by the length limit."""
        return bool(self.hypotheses) and not self.hypotheses[0].finished


class Translator:
    """A step model with its source side and target tokenizer; `card` is there when it came from a model directory."""

    def __init__(
        self, engine: StepModel[Any], source: Source, target: Tokenizer, card: ModelCard | None = None
    ) -> None:
        self.engine = engine
        self.source = source
        self.target = target
        self._card = card

    @classmethod
    def load(cls, directory: Path) -> Translator:
        """The translator in a model directory. Raises NotFoundError and DamagedError (see `bundle`)."""
        from nmt_cli.inference.onnx_engine import OnnxEngine  # ONNX Runtime is slow to load, and training needs none

        bundle = Bundle.load(directory)
        return cls(OnnxEngine(directory), bundle.source(), bundle.target_tokenizer(), card=bundle.card)

    def knowing(self, corpus: PreparedCorpus) -> Translator:
        """The same translator, to which the pictures of `corpus` are known by their names there."""
        if not (isinstance(self.source, GridSource) and corpus.has_pictures):
            return self
        source = replace(self.source, stored=corpus.stored_pictures())
        return Translator(self.engine, source, self.target, self._card)

    def reading(self, reader: Callable[[], PictureReader]) -> Translator:
        """The same translator with what reads pictures; `reader` is called when there is a first one to read."""
        if not isinstance(self.source, GridSource):
            return self
        return Translator(self.engine, replace(self.source, reader=reader), self.target, self._card)

    @property
    def card(self) -> ModelCard:
        if self._card is None:
            raise ValueError("this translator was not loaded from a model directory")
        return self._card

    def translate(
        self, lines: Sequence[str], config: SearchConfig, progress: Progress | None = None
    ) -> list[Translation]:
        """One translation a line, in order; `progress` is told how many lines are done."""
        rows = self.source.rows(lines, config.max_source_length)
        config = replace(config, growth=self.source.growth)
        found: list[list[Found]] = [[] for _ in lines]
        done = sum(row.is_blank for row in rows)
        for batch in batches([0 if row.is_blank else len(row) for row in rows], config):
            sources = self.source.batch([rows[index] for index in batch])
            for index, hypotheses in zip(batch, search(self.engine, sources, config), strict=True):
                found[index] = hypotheses
            done += len(batch)
            if progress is not None:
                progress(done)
        return [self.translation(*one) for one in zip(lines, rows, found, strict=True)]

    def translation(self, line: str, row: Row, found: list[Found]) -> Translation:
        if row.is_blank:
            return Translation(source=line, source_pieces=(), hypotheses=(), unseen=frozenset())
        return Translation(
            source=line,
            source_pieces=self.source.labels(row),
            hypotheses=tuple(self.hypothesis(one, len(row)) for one in found),
            unseen=self.source.unseen(line),
            source_cut_from=row.cut_from,
        )

    def hypothesis(self, found: Found, source_length: int) -> Hypothesis:
        return Hypothesis(
            text=self.target.decode(list(found.tokens)),
            pieces=tuple(self.target.pieces(list(found.tokens))),
            log_probability=found.log_probability,
            score=found.score,
            token_log_probabilities=found.token_log_probabilities,
            attention=found.attention[:, :source_length],
            finished=found.finished,
        )


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
