"""Calls the network: translates texts, scores given translations, traces a search.

Texts become rows of ids, rows of similar length are read in batches, several at a time, and the output of the network
becomes text again. `{TextId(4, 0): "Where is it?"}` gives `{TextId(4, 0): Translation}` with one hypothesis "Wo ist
es?", its tokens, their probabilities, and the attention of each to the pieces of the source. Does not depend on lines,
spans or faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from nmt_cli.arrays.types import PAD, UNKNOWN, SourceArray
from nmt_cli.errors import OptionError
from nmt_cli.search.beam import BeamNode, BeamSearch, BeamTrace
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import CopyLimit, Guide, TargetPrefix, TextId, limit_lengths
from nmt_cli.search.forced import ForcedTarget
from nmt_cli.search.mixing import Ensemble
from nmt_cli.search.step_model import SearchResult, StepModel
from nmt_cli.sources.source import Source, SourceRow
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import SENTENCE_END
from nmt_cli.text.tags import SentenceContext, TagSet
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.result import Hypothesis, Translation

CountReporter = Callable[[int], None]  # receives the number of finished texts
ModelChoice = Callable[[Sequence[int]], StepModel[Any]]  # of a batch, by the indices of its rows
PieceTranslations = dict[TextId, Translation]
Result = TypeVar("Result")

MAXIMUM_ROWS = 512  # maximum number of rows of a step: the values of more do not fit into the cache of a core
OVERHEAD = 64  # number of rows that take as long as the fixed cost of a step
POSITIONS = 5_000  # maximum of rows x source positions, which bounds memory whatever the length of a line
CELLS = 2_000_000  # maximum of rows x vocabulary, where a step returns every token


class HypothesisJudge(Protocol):
    """Ranks the hypotheses of a search."""

    def widen_search(self, config: SearchOptions) -> SearchOptions: ...

    def rank(self, translations: PieceTranslations, config: SearchOptions) -> PieceTranslations: ...


class Neighbours(Protocol):
    """Translations of similar texts, which guide the network."""

    def find_alike(self, text: str) -> Sequence[str]:
        """Returns the sources of the translations that guide a text."""

    def choose_model(self, texts: Sequence[str], tags: TagSet) -> ModelChoice | None:
        """Returns the model for batches of these texts, which have the same tags; None if none has similar texts."""

    def list_guides(self, text: str) -> Sequence[tuple[str, str]]:
        """Returns the pairs that guided the translation of a text, if it was searched."""


class Network(NamedTuple):
    """A step model with its source side and target tokenizer; the engine must allow `threads` searches at once."""

    engine: StepModel[Any]
    source: Source
    target: Tokenizer
    threads: int = 1
    judge: HypothesisJudge | None = None  # ranks the hypotheses of each search
    neighbours: Neighbours | None = None

    def search(
        self,
        texts: Mapping[TextId, str],
        config: SearchOptions,
        progress: CountReporter | None = None,
        contexts: Mapping[TextId, SentenceContext] = MappingProxyType({}),
    ) -> PieceTranslations:
        """Translates each text after its context, if any; only texts that begin a line start with the prefix."""
        translations: PieceTranslations = {}
        wide = config if self.judge is None else self.judge.widen_search(config)
        for text_ids, group_config in group_by_prefix(texts, wide):
            some = [texts[text_id] for text_id in text_ids]
            behind = [contexts.get(text_id) for text_id in text_ids]
            rows = self.source.make_rows(some, config.max_source_length, [config.tags] * len(some), behind)
            choose_model = None if self.neighbours is None else self.neighbours.choose_model(some, config.tags)
            report = report_from(len(translations), progress)
            results = self.search_rows(rows, group_config, text_ids, report, choose_model)
            decoded = decode_results(some, rows, results, self.source, self.target)
            pairs = zip(decoded, behind, strict=True)
            translations |= zip(text_ids, (new._replace(context=context) for new, context in pairs), strict=True)
        return translations if self.judge is None else self.judge.rank(translations, config)

    def search_rows(
        self,
        rows: Sequence[SourceRow],
        config: SearchOptions,
        text_ids: Sequence[TextId],
        progress: CountReporter | None = None,
        choose_model: ModelChoice | None = None,
    ) -> list[list[SearchResult]]:
        """Returns the results of each row, best first; empty for a blank row.

        The random numbers of samples depend on `text_ids`. Raises OptionError for a prefix that the model cannot
        write.
        """
        config = replace(config, length_factor=self.source.length_factor)
        prefix = self.encode_prefix(config)

        def search_batch(batch: list[int]) -> list[list[SearchResult]]:
            chosen = [rows[index] for index in batch]
            sources = self.source.make_batch(chosen)
            guide = self.make_guide(sources, chosen, config, prefix, [text_ids[index] for index in batch])
            model = self.engine if choose_model is None else choose_model(batch)
            return BeamSearch(model, sources, config, guide=guide).run()

        batches = batch_by_length([0 if row.is_blank else len(row) for row in rows], config, self.limit_rows(config))
        finished = sum(row.is_blank for row in rows)
        results: list[list[SearchResult]] = [[] for _ in rows]
        for batch, of_batch in zip(batches, self.map_batches(search_batch, batches), strict=True):
            for index, hypotheses in zip(batch, of_batch, strict=True):
                results[index] = hypotheses
            finished += len(batch)
            if progress is not None:
                progress(finished)
        return results

    def force(self, rows: Sequence[SourceRow], targets: Sequence[Sequence[int]]) -> list[ForcedTarget]:
        """Scores one target (ids that end with END) per row, after its target prefix.

        Attention is trimmed to the length of each source.
        """
        from nmt_cli.search.forced import force  # which few translations need

        def force_batch(sources: SourceArray, batch: list[int]) -> list[ForcedTarget]:
            return force(self.engine, sources, [whole[index] for index in batch], self.target.vocabulary_size)

        whole = [(*row.target_prefix, *target) for row, target in zip(rows, targets, strict=True)]
        scored = self.map_pairs(rows, whole, force_batch)
        return [forced.trim(len(row.target_prefix), len(row)) for row, forced in zip(rows, scored, strict=True)]

    def find_as_likely(
        self, rows: Sequence[SourceRow], targets: Sequence[Sequence[int]], least: Sequence[Sequence[float]]
    ) -> list[bool]:
        """Returns whether all tokens of each target, after its prefix, have at least these log-probabilities."""
        from nmt_cli.search.forced import find_as_likely  # which few translations need

        def compare_batch(sources: SourceArray, batch: list[int]) -> list[bool]:
            befores = [rows[index].target_prefix for index in batch]
            pairs = (
                [(*before, *targets[index]) for before, index in zip(befores, batch, strict=True)],
                [(*[-inf] * len(before), *least[index]) for before, index in zip(befores, batch, strict=True)],
            )
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
        batches = batch_by_length(lengths, SearchOptions(beam_size=1), self.rows_of_whole_vocabulary)
        results: dict[int, Result] = {}

        def run(batch: list[int]) -> list[Result]:
            return function(self.source.make_batch([rows[index] for index in batch]), batch)

        for batch, some in zip(batches, self.map_batches(run, batches), strict=True):
            results |= zip(batch, some, strict=True)
        return [results[index] for index in range(len(rows))]

    def trace(self, row: SourceRow, config: SearchOptions) -> tuple[SearchResult, list[BeamNode]]:
        """Searches one row; returns the best result and the nodes of the beam."""
        trace = BeamTrace()
        config = replace(config, n_best=1, length_factor=self.source.length_factor)
        guide = Guide.from_config(config, vocabulary=self.target.vocabulary_size)
        ((best, *_),) = BeamSearch(self.engine, self.source.make_batch([row]), config, trace, guide).run()
        return best, trace.mark_best(best)

    def map_batches(
        self, function: Callable[[list[int]], list[Result]], batches: Sequence[list[int]]
    ) -> Iterable[list[Result]]:
        """Returns the results of `function` for each batch, in order; `threads` batches run at a time."""
        if self.threads == 1 or len(batches) < 2:
            return map(function, batches)
        return self.map_in_threads(function, batches)

    def map_in_threads(
        self, function: Callable[[list[int]], list[Result]], batches: Sequence[list[int]]
    ) -> Iterator[list[Result]]:
        from concurrent.futures import ThreadPoolExecutor  # a single sentence does not need it

        pool = ThreadPoolExecutor(self.threads)
        try:
            yield from pool.map(function, batches)
        finally:
            pool.shutdown(cancel_futures=True)

    def make_guide(
        self,
        sources: SourceArray,
        rows: Sequence[SourceRow],
        config: SearchOptions,
        prefix: list[int],
        text_ids: list[TextId],
    ) -> Guide:
        """Returns the constraints for the search of one batch."""
        target_prefix = TargetPrefix.from_tokens([row.target_prefix for row in rows], [row.tags for row in rows])
        is_limited = config.limit_placeholders or config.sampling.sample
        return Guide.from_config(
            config,
            prefix=prefix,
            text_ids=text_ids,
            steps=int(limit_lengths(sources, config, len(prefix), target_prefix).max()),
            vocabulary=self.target.vocabulary_size,
            copy_limit=self.limit_placeholders(sources, rows) if is_limited else None,
            barred=self.target.separator_id,
            target_prefix=target_prefix,
        )

    def limit_placeholders(self, sources: SourceArray, rows: Sequence[SourceRow]) -> CopyLimit | None:
        """Returns the limit that lets each placeholder be written at most as often as its source contains it."""
        subwords = self.source.subwords
        if subwords is None or not (subwords.has_placeholders and self.target.has_placeholders):
            return None
        is_own = np.arange(sources.shape[1]) >= np.array([[row.tags] for row in rows])  # (B, S)
        counts = (np.where(is_own, sources, PAD)[:, :, None] == np.array(subwords.placeholder_ids)).sum(axis=1)
        return CopyLimit(np.array(self.target.placeholder_ids), counts)

    def encode_prefix(self, config: SearchOptions) -> list[int]:
        """Returns the prefix in ids. Raises OptionError if the model cannot write it, or if it leaves no room."""
        ids = self.target.encode(normalise(config.prefix))
        if UNKNOWN in ids:
            raise OptionError(
                f"--prefix: this model has no subwords for all of {config.prefix!r}",
                hint="use words or characters that occur in its training data",
            )
        if ids and len(ids) >= config.max_length:
            raise OptionError(
                f"--prefix has {format_count(len(ids), 'token')}, so --max-length {config.max_length} leaves no room",
                hint=f"set --max-length to {2 * len(ids)}, or use a shorter prefix",
            )
        return ids

    def limit_rows(self, config: SearchOptions) -> int:
        """Returns the maximum number of rows of a step: fewer if it returns the whole vocabulary."""
        draws_from_all = config.sampling.sample and not config.sampling.top_k
        if config.prefix or draws_from_all or isinstance(self.engine, Ensemble):
            return self.rows_of_whole_vocabulary
        return MAXIMUM_ROWS

    @property
    def rows_of_whole_vocabulary(self) -> int:
        """The maximum number of rows of a step that returns the probability of every token."""
        return max(1, min(MAXIMUM_ROWS, CELLS // self.target.vocabulary_size))


def batch_by_length(lengths: Sequence[int], config: SearchOptions, rows: int) -> list[list[int]]:
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


def report_from(before: int, progress: CountReporter | None) -> CountReporter | None:
    """Returns a progress reporter for texts that follow the first `before` ones."""
    return None if progress is None else lambda more: progress(before + more)


def group_by_prefix(
    text_ids: Mapping[TextId, object], config: SearchOptions
) -> Iterator[tuple[list[TextId], SearchOptions]]:
    """Yields all texts or, with a prefix, first those that begin a line, which must start with it, and then the others.

    Each group comes with its settings.
    """
    if not config.prefix:
        yield list(text_ids), config
        return
    yield [text_id for text_id in text_ids if text_id.piece == 0], config
    yield [text_id for text_id in text_ids if text_id.piece != 0], replace(config, prefix="")


def decode_results(
    texts: Sequence[str],
    rows: Sequence[SourceRow],
    results: Sequence[Sequence[SearchResult]],
    source: Source,
    target: Tokenizer,
) -> list[Translation]:
    """Returns one translation per text, with the hypotheses of its row."""
    written = iter(target.decode_all([result.tokens for hypotheses in results for result in hypotheses]))
    return [
        make_translation(text, row, [make_hypothesis(h, next(written), row, target) for h in hypotheses], source)
        for text, row, hypotheses in zip(texts, rows, results, strict=True)
    ]


def make_translation(text: str, row: SourceRow, hypotheses: Sequence[Hypothesis], source: Source) -> Translation:
    """Returns the translation of one text; a blank one has no hypotheses."""
    if row.is_blank:
        return Translation(source=text, source_pieces=(), hypotheses=(), unseen=frozenset())
    labels = source.label_positions(row)
    return Translation(
        source=text,
        source_pieces=labels,
        hypotheses=tuple(hypotheses),
        unseen=source.find_unseen(text),
        unknown=source.subwords.list_unknown(normalise(text)) if source.subwords is not None else (),
        source_cut_from=row.full_length,
        source_read=len(labels) - (labels[-1] == SENTENCE_END),
    )


def make_hypothesis(result: SearchResult, text: str, row: SourceRow, target: Tokenizer) -> Hypothesis:
    """Returns a hypothesis with its pieces; its attention is trimmed to the source, without its tags.

    The attention is a copy; otherwise, one hypothesis would keep the memory of its whole batch.
    """
    return Hypothesis(
        text=text,
        tokens=result.tokens,
        pieces=tuple(target.spell_pieces(result.tokens)),
        log_probability=result.log_probability,
        score=result.score,
        token_log_probabilities=result.token_log_probabilities,
        attentions=(result.attention[:, row.tags : len(row)].copy(),),
        finished=result.finished,
    )
