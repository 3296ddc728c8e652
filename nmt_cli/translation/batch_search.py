"""Searches the rows of a source side: in batches of similar length, several batches at a time.

Shared by translation, beam traces and forced scoring. Knows ids and rows; knows no spans, pieces or lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from nmt_cli.arrays.special_ids import PAD, UNKNOWN
from nmt_cli.arrays.types import SourceArray
from nmt_cli.errors import OptionError
from nmt_cli.search.beam import search
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.constraints import CopyLimit
from nmt_cli.search.ensemble import Ensemble
from nmt_cli.search.guide import Guide
from nmt_cli.search.lead import Lead
from nmt_cli.search.length_limits import limit_lengths
from nmt_cli.search.result import SearchResult
from nmt_cli.search.sampling import TextId
from nmt_cli.search.step_model import StepModel
from nmt_cli.sources.source import Source, SourceRow
from nmt_cli.text.normalise import normalise
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from nmt_cli.search.forced import ForcedTarget
    from nmt_cli.search.trace import BeamNode

CountReporter = Callable[[int], None]  # receives the number of finished texts
ModelChoice = Callable[[Sequence[int]], StepModel[Any]]
Result = TypeVar("Result")

MAXIMUM_ROWS = 512  # maximum number of rows of a step: the values of more do not fit into the cache of a core
OVERHEAD = 64  # number of rows that take as long as the fixed cost of a step
POSITIONS = 5_000  # maximum of rows x source positions, which bounds memory whatever the length of a line
CELLS = 2_000_000  # maximum of rows x vocabulary, where a step returns every token


class BatchSearch(NamedTuple):
    """A step model with its source side and target tokenizer; the engine must allow `threads` searches at once."""

    engine: StepModel[Any]
    source: Source
    target: Tokenizer
    threads: int = 1

    def search(
        self,
        rows: Sequence[SourceRow],
        config: SearchConfig,
        text_ids: Sequence[TextId],
        progress: CountReporter | None = None,
        choose_model: ModelChoice | None = None,
    ) -> list[list[SearchResult]]:
        """Returns the results of each row, best first; empty for a blank row.

        The random numbers of samples follow from `text_ids`. `choose_model` returns the model of a batch, by the
        indices of its rows. Raises OptionError for a prefix that the model cannot write.
        """
        config = replace(config, length_factor=self.source.length_factor)
        prefix = self.encode_prefix(config)

        def search_batch(batch: list[int]) -> list[list[SearchResult]]:
            chosen = [rows[index] for index in batch]
            sources = self.source.make_batch(chosen)
            guide = self.make_guide(sources, chosen, config, prefix, [text_ids[index] for index in batch])
            model = self.engine if choose_model is None else choose_model(batch)
            return search(model, sources, config, guide=guide)

        lengths = [0 if row.is_blank else len(row) for row in rows]
        finished = sum(row.is_blank for row in rows)
        batches = batch_by_length(lengths, config, self.limit_rows(config))
        results: list[list[SearchResult]] = [[] for _ in rows]
        for batch, batch_results in self.map_batches(batches, search_batch):
            for index, hypotheses in zip(batch, batch_results, strict=True):
                results[index] = hypotheses
            finished += len(batch)
            if progress is not None:
                progress(finished)
        return results

    def force(self, rows: Sequence[SourceRow], targets: Sequence[Sequence[int]]) -> list[ForcedTarget]:
        """Scores one target (ids that end with END) per row; attention is trimmed to the length of each source."""
        from nmt_cli.search.forced import force  # which few translations need

        def force_batch(sources: SourceArray, batch: list[int]) -> list[ForcedTarget]:
            return force(self.engine, sources, [targets[index] for index in batch], self.target.vocabulary_size)

        scored = self.map_pairs(rows, targets, force_batch)
        return [
            forced._replace(attention=forced.attention[:, : len(row)]) for row, forced in zip(rows, scored, strict=True)
        ]

    def find_as_likely(
        self, rows: Sequence[SourceRow], targets: Sequence[Sequence[int]], least: Sequence[Sequence[float]]
    ) -> list[bool]:
        """Returns whether all tokens of each target have at least the log-probabilities `least`, given its row."""
        from nmt_cli.search.forced import find_as_likely  # which few translations need

        def compare_batch(sources: SourceArray, batch: list[int]) -> list[bool]:
            pairs = [targets[index] for index in batch], [least[index] for index in batch]
            return find_as_likely(self.engine, sources, *pairs, self.target.vocabulary_size)

        return self.map_pairs(rows, targets, compare_batch)

    def map_pairs(
        self,
        rows: Sequence[SourceRow],
        targets: Sequence[Sequence[int]],
        function: Callable[[SourceArray, list[int]], list[Result]],
    ) -> list[Result]:
        """Returns the result of `function`, which takes batches of sources and their indices, for each row."""
        lengths = [max(len(row), len(target)) for row, target in zip(rows, targets, strict=True)]
        batches = batch_by_length(lengths, SearchConfig(beam_size=1), self.rows_of_whole_vocabulary)
        results: dict[int, Result] = {}
        for batch, some in self.map_batches(
            batches, lambda batch: function(self.source.make_batch([rows[index] for index in batch]), batch)
        ):
            results |= zip(batch, some, strict=True)
        return [results[index] for index in range(len(rows))]

    def trace(self, row: SourceRow, config: SearchConfig) -> tuple[SearchResult, list[BeamNode]]:
        """Searches one row; returns the best result and the nodes of the beam."""
        from nmt_cli.search.trace import BeamTrace  # which few translations need

        trace = BeamTrace()
        config = replace(config, n_best=1, length_factor=self.source.length_factor)
        guide = Guide.from_config(config, vocabulary=self.target.vocabulary_size)
        ((best, *_),) = search(self.engine, self.source.make_batch([row]), config, trace, guide)
        return best, trace.mark_best(best)

    def map_batches(
        self, batches: Sequence[list[int]], function: Callable[[list[int]], list[Result]]
    ) -> Iterator[tuple[list[int], list[Result]]]:
        """Yields each batch with the results of `function`, in order; `threads` batches run at a time."""
        if self.threads == 1 or len(batches) < 2:
            yield from ((batch, function(batch)) for batch in batches)
            return
        from concurrent.futures import ThreadPoolExecutor  # a single sentence does not need it

        pool = ThreadPoolExecutor(self.threads)
        try:
            yield from zip(batches, pool.map(function, batches), strict=True)
        finally:
            pool.shutdown(cancel_futures=True)

    def make_guide(
        self,
        sources: SourceArray,
        rows: Sequence[SourceRow],
        config: SearchConfig,
        prefix: list[int],
        text_ids: list[TextId],
    ) -> Guide:
        """Returns the constraints for the search of one batch."""
        lead = Lead.from_tokens([row.lead for row in rows], [row.tags for row in rows])
        is_limited = config.limit_placeholders or config.sampling.sample
        return Guide.from_config(
            config,
            prefix=prefix,
            text_ids=text_ids,
            steps=int(limit_lengths(sources, config, len(prefix), lead).max()),
            vocabulary=self.target.vocabulary_size,
            copy_limit=self.limit_placeholders(sources, rows) if is_limited else None,
            barred=self.target.separator_id,
            lead=lead,
        )

    def limit_placeholders(self, sources: SourceArray, rows: Sequence[SourceRow]) -> CopyLimit | None:
        """Returns the limit by which each placeholder is written at most as often as its source contains it."""
        subwords = self.source.subwords
        if subwords is None or not (subwords.has_placeholders and self.target.has_placeholders):
            return None
        is_own = np.arange(sources.shape[1]) >= np.array([[row.tags] for row in rows])  # (B, S)
        counts = (np.where(is_own, sources, PAD)[:, :, None] == np.array(subwords.placeholder_ids)).sum(axis=1)
        return CopyLimit(np.array(self.target.placeholder_ids), counts)

    def encode_prefix(self, config: SearchConfig) -> list[int]:
        """Returns the prefix in ids. Raises OptionError if the model cannot write it, or if it leaves no room."""
        ids = self.target.encode(normalise(config.prefix))
        if UNKNOWN in ids:
            raise OptionError(
                f"--prefix: this model has no subwords for all of {config.prefix!r}",
                hint="use words or characters that occur in its training data",
            )
        if ids and len(ids) >= config.max_length:
            raise OptionError(
                f"--prefix has {format_count(len(ids), 'token')}, but --max-length allows only {config.max_length:,}",
                hint=f"give --max-length {2 * len(ids)}, or a shorter prefix",
            )
        return ids

    def limit_rows(self, config: SearchConfig) -> int:
        """Returns the maximum number of rows of a step: fewer if it returns the whole vocabulary."""
        draws_from_all = config.sampling.sample and not config.sampling.top_k
        if config.prefix or draws_from_all or isinstance(self.engine, Ensemble):
            return self.rows_of_whole_vocabulary
        return MAXIMUM_ROWS

    @property
    def rows_of_whole_vocabulary(self) -> int:
        """The maximum number of rows of a step that returns the probability of every token."""
        return max(1, min(MAXIMUM_ROWS, CELLS // self.target.vocabulary_size))


def batch_by_length(lengths: Sequence[int], config: SearchConfig, rows: int) -> list[list[int]]:
    """Returns the indices of the non-empty texts, longest first, in batches that bound the work of a step.

    A batch ends before its padding costs more than the steps of another batch would.
    """
    batches: list[list[int]] = []
    width = padding = longest = 0
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        length = lengths[index]
        if length == 0:
            break
        if not batches or len(batches[-1]) >= width or padding * config.rows > OVERHEAD * length:
            batches.append([])
            width = max(1, min(rows, POSITIONS // length) // config.rows)
            padding, longest = 0, length
        batches[-1].append(index)
        padding += longest - length
    return batches
