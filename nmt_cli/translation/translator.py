"""Lines of text in, translations out: subwords, batches of like length, search, repair. Knows no network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nmt_cli.arrays.special_ids import UNKNOWN
from nmt_cli.arrays.types import SourceArray
from nmt_cli.cores import cores
from nmt_cli.errors import OptionError
from nmt_cli.files import require_file
from nmt_cli.runtime.compatibility import require_same_sides
from nmt_cli.runtime.model_directory import ModelDirectory, ModelCard
from nmt_cli.search.beam import Found, length_limits, search
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.ensemble import Ensemble
from nmt_cli.search.guide import Guide
from nmt_cli.search.sampling import Place
from nmt_cli.search.step_model import StepModel
from nmt_cli.sources.source import Row, Source, TextSource
from nmt_cli.text.masking import PLACEHOLDER
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import SENTENCE_END
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.translation.batch_search import CELLS, ROWS, Progress, batches
from nmt_cli.translation.config import LineConfig, RepairConfig
from nmt_cli.translation.joining import joined
from nmt_cli.translation.pieces import LineReader, Piece, verbatim
from nmt_cli.translation.repair import Healer
from nmt_cli.translation.result import Hypothesis, Translation
from nmt_cli.translation.span_placement import Sides

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.sources.images import GridSource, PictureReader
    from nmt_cli.translation.glossary import Glossary


SUBWORD_BAN, CHARACTER_BAN = 3, 10  # tokens of which none but a loop has the same run twice


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
        threads: int = 1,
    ) -> None:
        """`carries`: whether the network has learnt to carry placeholders over.

        Raises NotFoundError and DataError for a glossary that cannot be read.
        """
        self.engine = engine
        self.source = source
        self.target = target
        self._card = card
        self.carries = carries and all(side is not None and side.has_placeholders for side in (self.subwords, target))
        self.threads = threads  # batches searched at a time; the engine must allow it
        lines = lines or LineConfig()
        self.reader = LineReader(lines, carries=self.carries, glossary=loaded_glossary(lines))

    @property
    def grids(self) -> GridSource | None:
        """The source, where it is pictures."""
        if self.reads_text:
            return None
        from nmt_cli.sources.images import GridSource  # which text needs nothing of

        return self.source if isinstance(self.source, GridSource) else None

    @property
    def subwords(self) -> Tokenizer | None:
        """Of the source, where it is text."""
        return self.source.tokenizer if isinstance(self.source, TextSource) else None

    @classmethod
    def load(
        cls,
        directory: Path,
        ensemble: Sequence[Path] = (),
        lines: LineConfig | None = None,
        *,
        precision: str | None = None,
        threads: int | None = None,
    ) -> Translator:
        """The translator in a model directory, or of several together, run by so many threads (None: all cores).

        With the weights that its card prefers, or those of `precision`.

        Raises NotFoundError and DamagedError (see `bundle`), OptionError for models that read or write other subwords.
        """
        from nmt_cli.runtime.onnx_engine import OnnxEngine  # ONNX Runtime is slow to load, and training needs none

        bundle, *others = (ModelDirectory.load(place, precision) for place in (directory, *ensemble))
        for other in others:
            require_same_sides(bundle, other)
        source, target = bundle.source(), bundle.target_tokenizer()
        engines = [OnnxEngine(one.directory, precision=one.precision) for one in (bundle, *others)]
        engine: StepModel[Any] = Ensemble(engines, target.vocabulary_size) if others else engines[0]
        carries = bundle.card.training.get("placeholders", 0) > 0  # the cards of older models have no such entry
        return cls(engine, source, target, card=bundle.card, lines=lines, carries=carries, threads=threads or cores())

    def with_stored_pictures(self, stored: Mapping[str, FloatArray]) -> Translator:
        """The same translator, which finds the grids of these pictures by name instead of reading the files."""
        return self if self.grids is None else self.with_source(replace(self.grids, stored=stored))

    def with_picture_reader(self, reader: Callable[[], PictureReader]) -> Translator:
        """The same translator with what reads pictures; `reader` is called when there is a first one to read."""
        return self if self.grids is None else self.with_source(replace(self.grids, reader=reader))

    def with_source(self, source: Source) -> Translator:
        """The same translator with another source side."""
        return Translator(
            self.engine,
            source,
            self.target,
            self._card,
            lines=self.reader.config,
            carries=self.carries,
            threads=self.threads,
        )

    @property
    def card(self) -> ModelCard:
        if self._card is None:
            raise ValueError("this translator was not loaded from a model directory")
        return self._card

    def translate(
        self,
        lines: Sequence[str],
        config: SearchConfig,
        progress: Progress | None = None,
        *,
        repair: RepairConfig | None = None,
        first_line: int = 0,
    ) -> list[Translation]:
        """One translation a line, in order; `progress` is told how many lines are done.

        Without `repair` translations are left as search found them. `first_line` is the number of the first of
        `lines`, by which samples are drawn.
        """
        read = [self.pieces(line, config) for line in lines]
        texts = {
            Place(number, place): piece.text
            for number, pieces in enumerate(read, start=first_line)
            for place, piece in enumerate(pieces)
            if piece.is_translated
        }
        told = None if progress is None else (lambda done: progress(done * len(lines) // max(1, len(texts))))
        found = self.translate_pieces(texts, config, told, repair)
        if progress is not None and not texts:
            progress(len(lines))
        sides = Sides(self.subwords, self.target) if self.subwords is not None else None
        prefix, drawn = normalise(config.prefix), config.sampling.sample
        result = []
        for number, (line, pieces) in enumerate(zip(lines, read, strict=True), start=first_line):
            own = [found.get(Place(number, place)) for place in range(len(pieces))]
            result.append(joined(line, pieces, own, sides, prefix=prefix, drawn=drawn))
        return result

    def pieces(self, line: str, config: SearchConfig) -> list[Piece]:
        """What of a line is translated on its own; none of a blank one."""
        return self.reader.pieces(line, whole=bool(config.prefix)) if self.reads_text else verbatim(line)

    def translate_pieces(
        self, texts: Mapping[Place, str], config: SearchConfig, progress: Progress | None, repair: RepairConfig | None
    ) -> dict[Place, Translation]:
        """The translation of each; a prefix is forced on those that begin a line."""
        first = [place for place in texts if config.prefix and place.piece == 0]
        others = [place for place in texts if not (config.prefix and place.piece == 0)]
        found: dict[Place, Translation] = {}
        for places, own in ((first, config), (others, replace(config, prefix=""))):
            done = len(found)
            told = None if progress is None else (lambda more, done=done: progress(done + more))
            own_texts = [texts[place] for place in places]
            found |= zip(places, self.translate_texts(own_texts, own, told, repair, places), strict=True)
        return found

    def translate_texts(
        self,
        lines: Sequence[str],
        config: SearchConfig,
        progress: Progress | None = None,
        repair: RepairConfig | None = None,
        places: Sequence[Place] | None = None,
    ) -> list[Translation]:
        """As `translate`, of texts that the network is given as they are, and which have these `places`."""
        places = places or [Place(number, 0) for number in range(len(lines))]
        translations = self.searched(lines, config, progress, places)
        if repair is not None and repair.heal and not config.sampling.sample:  # who draws at random wants what is drawn
            translations = self.healer.heal(translations, config)
        if repair is not None and repair.replace_unknown:
            translations = [self.without_unknown(one) for one in translations]
        return translations

    def searched(
        self, lines: Sequence[str], config: SearchConfig, progress: Progress | None, places: Sequence[Place]
    ) -> list[Translation]:
        rows = self.source.rows(lines, config.max_source_length)
        config = replace(config, length_factor=self.source.length_factor)
        prefix = self.prefix_ids(config)
        found: list[list[Found]] = [[] for _ in lines]
        done = sum(row.is_blank for row in rows)
        lengths = [0 if row.is_blank else len(row) for row in rows]

        def search_batch(batch: list[int]) -> list[list[Found]]:
            sources = self.source.batch([rows[index] for index in batch])
            guide = self.guide(sources, config, prefix, [places[index] for index in batch])
            return search(self.engine, sources, config, guide=guide)

        groups = batches(lengths, config, self.rows_of_a_step(config))
        for batch, results in self.in_parallel(groups, search_batch):
            for index, hypotheses in zip(batch, results, strict=True):
                found[index] = hypotheses
            done += len(batch)
            if progress is not None:
                progress(done)
        return self.translations(lines, rows, found)

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

    def guide(self, source: SourceArray, config: SearchConfig, prefix: list[int], places: list[Place]) -> Guide:
        """What constrains the search of a batch of texts with these `places`."""
        steps = int(length_limits(source, config, len(prefix)).max())
        size = self.target.vocabulary_size
        return Guide.of(config, prefix=prefix, places=places, steps=steps, vocabulary=size)

    def prefix_ids(self, config: SearchConfig) -> list[int]:
        """The forced beginning in ids. Raises OptionError where the model cannot write it, or has no room for more."""
        ids = self.target.encode(normalise(config.prefix))
        if UNKNOWN in ids:
            raise OptionError(
                f"--prefix: this model has no pieces for all of {config.prefix!r}",
                hint="take words, or characters, that are in its training data",
            )
        if ids and len(ids) >= config.max_length:
            raise OptionError(
                f"--prefix has {len(ids):,} tokens, and --max-length allows {config.max_length:,} in all",
                hint=f"give --max-length {2 * len(ids)}, or a shorter prefix",
            )
        return ids

    def rows_of_a_step(self, config: SearchConfig) -> int:
        """How many rows a step may have: fewer where each is asked for the whole vocabulary."""
        draws_from_all = config.sampling.sample and not config.sampling.top_k
        if config.prefix or draws_from_all or isinstance(self.engine, Ensemble):
            return min(ROWS, CELLS // self.target.vocabulary_size)
        return ROWS

    @property
    def healer(self) -> Healer:
        same = self._card is not None and self._card.source_language == self._card.target_language
        ban = CHARACTER_BAN if self.target.settings.kind == "char" else SUBWORD_BAN
        return Healer(self.translate_texts, ban=ban, copies=same, splits=self.reads_text)

    @property
    def reads_text(self) -> bool:
        """Whether a line is the sentence itself, not the name of a picture."""
        return isinstance(self.source, TextSource)

    def without_unknown(self, translation: Translation) -> Translation:
        """The translation with source text in place of unknown pieces: of what each looked at most."""
        if not (isinstance(self.source, TextSource) and self.source.tokenizer.has_unknown):
            return translation
        surfaces = self.source.tokenizer.surfaces(normalise(translation.source))[: len(translation.source_pieces) - 1]
        found = (self.replaced(one, surfaces) for one in translation.hypotheses)
        return translation._replace(hypotheses=tuple(found))

    def replaced(self, hypothesis: Hypothesis, surfaces: list[str]) -> Hypothesis:
        unknown = [place for place, token in enumerate(hypothesis.tokens) if token == UNKNOWN]
        # Neither the end of the sentence nor a placeholder, which stands for one span and not for two.
        words = [place for place, surface in enumerate(surfaces) if not PLACEHOLDER.search(surface)]
        if not (unknown and words):
            return hypothesis
        looked = hypothesis.attention[np.ix_(unknown, words)].argmax(axis=1)
        found = tuple(surfaces[words[column]] for column in looked.tolist())
        return hypothesis._replace(text=self.target.decode_replaced(hypothesis.tokens, found), unknown=found)

    def translations(
        self, lines: Sequence[str], rows: Sequence[Row], found: Sequence[Sequence[Found]]
    ) -> list[Translation]:
        """What was `found` of each line, as text."""
        texts = iter(self.target.decode_all([one.tokens for hypotheses in found for one in hypotheses]))
        return [
            self.translation(line, row, [self.hypothesis(one, next(texts), len(row)) for one in hypotheses])
            for line, row, hypotheses in zip(lines, rows, found, strict=True)
        ]

    def translation(self, line: str, row: Row, hypotheses: Sequence[Hypothesis]) -> Translation:
        if row.is_blank:
            return Translation(source=line, source_pieces=(), hypotheses=(), unseen=frozenset())
        labels = self.source.labels(row)
        return Translation(
            source=line,
            source_pieces=labels,
            hypotheses=tuple(hypotheses),
            unseen=self.source.unseen(line),
            source_cut_from=row.cut_from,
            source_read=len(row) - (labels[-1] == SENTENCE_END),
        )

    def hypothesis(self, found: Found, text: str, source_length: int) -> Hypothesis:
        return Hypothesis(
            text=text,
            tokens=found.tokens,
            pieces=tuple(self.target.pieces(found.tokens)),
            log_probability=found.log_probability,
            score=found.score,
            token_log_probabilities=found.token_log_probabilities,
            attentions=(found.attention[:, :source_length],),
            finished=found.finished,
        )


def loaded_glossary(config: LineConfig) -> Glossary | None:
    """Raises NotFoundError and DataError."""
    if config.glossary is None:
        return None
    from nmt_cli.translation.glossary import Glossary  # which few have

    return Glossary.load(require_file(Path(config.glossary)))
