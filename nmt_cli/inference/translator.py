"""Lines of text in, translations out: subwords, batches of like length, search. Knows no network."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nmt_cli.corpus.clean import normalise
from nmt_cli.corpus.tokenizer import Tokenizer
from nmt_cli.inference.bundle import Bundle, ModelCard
from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.protocol import FloatArray, IntArray, StepModel
from nmt_cli.inference.search import Found, search

Progress = Callable[[int], None]

ROWS = 256  # rows of a step at most: what is computed of more does not stay in the cache of a core
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

    @property
    def text(self) -> str:
        return self.hypotheses[0].text if self.hypotheses else ""

    @property
    def cut(self) -> bool:
        """Whether the best hypothesis was cut by the length limit."""
        return bool(self.hypotheses) and not self.hypotheses[0].finished


class Translator:
    """A step model with the tokenizers of its two sides; `card` is there when it came from a model directory."""

    def __init__(
        self,
        engine: StepModel[Any],
        source: Tokenizer,
        target: Tokenizer,
        card: ModelCard | None = None,
        *,
        threads: int = 1,
    ) -> None:
        self.engine = engine
        self.source = source
        self.target = target
        self._card = card
        self.threads = threads  # batches searched at a time; the engine must allow it

    @classmethod
    def load(cls, directory: Path, precision: str | None = None) -> Translator:
        """The translator in a model directory, with the weights that its card prefers or those of `precision`.

        Raises NotFoundError and DamagedError (see `bundle`).
        """
        from nmt_cli.inference.onnx_engine import OnnxEngine  # ONNX Runtime is slow to load, and training needs none

        bundle = Bundle.load(directory, precision)
        return cls(
            OnnxEngine(directory, precision=bundle.precision), *bundle.tokenizers(), card=bundle.card, threads=cores()
        )

    @property
    def card(self) -> ModelCard:
        if self._card is None:
            raise ValueError("this translator was not loaded from a model directory")
        return self._card

    def translate(
        self, lines: Sequence[str], config: SearchConfig, progress: Progress | None = None
    ) -> list[Translation]:
        """One translation a line, in order; `progress` is told how many lines are done."""
        texts = [normalise(line) for line in lines]
        ids = [[*encoded, Tokenizer.END] for encoded in self.source.encode_all(texts)]
        found: list[list[Found]] = [[] for _ in lines]
        done = sum(not text for text in texts)
        groups = batches([0 if not text else len(one) for text, one in zip(texts, ids, strict=True)], config)
        for batch, results in self.in_parallel(groups, lambda batch: search(self.engine, padded(ids, batch), config)):
            for index, hypotheses in zip(batch, results, strict=True):
                found[index] = hypotheses
            done += len(batch)
            if progress is not None:
                progress(done)
        return [self.translation(*one) for one in zip(lines, texts, ids, found, strict=True)]

    def in_parallel(
        self, groups: Sequence[list[int]], function: Callable[[list[int]], list[list[Found]]]
    ) -> Iterator[tuple[list[int], list[list[Found]]]]:
        """Each group with what `function` makes of it, in order; as many at a time as there are `threads`."""
        if self.threads == 1 or len(groups) < 2:
            yield from ((group, function(group)) for group in groups)
            return
        from concurrent.futures import ThreadPoolExecutor  # a single sentence does not need it

        pool = ThreadPoolExecutor(self.threads)
        try:
            yield from zip(groups, pool.map(function, groups), strict=True)
        finally:
            pool.shutdown(cancel_futures=True)

    def translation(self, line: str, text: str, ids: list[int], found: list[Found]) -> Translation:
        if not text:
            return Translation(source=line, source_pieces=(), hypotheses=(), unseen=frozenset())
        return Translation(
            source=line,
            source_pieces=tuple(self.source.pieces(ids)),
            hypotheses=tuple(self.hypothesis(one, len(ids)) for one in found),
            unseen=frozenset(self.source.unseen(text)),
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


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
