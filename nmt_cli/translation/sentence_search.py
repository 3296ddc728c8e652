"""Searches the sentences of lines, and searches faulty ones again. Knows no lines and no spans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nmt_cli.search.config import SearchConfig
from nmt_cli.search.sampling import TextId
from nmt_cli.text.context import SentenceContext
from nmt_cli.translation.batch_search import BatchSearch, CountReporter, ModelChoice
from nmt_cli.translation.config import RepairConfig
from nmt_cli.translation.decoding import decode_results
from nmt_cli.translation.repair.ladder import FaultFinder, Repairer
from nmt_cli.translation.result import Translation

if TYPE_CHECKING:
    from nmt_cli.text.tags import TagSet

SUBWORD_NGRAM, CHARACTER_NGRAM = 3, 10  # the size of n-grams that only a loop repeats

PieceTranslations = dict[TextId, Translation]


class HypothesisJudge(Protocol):
    """Ranks the hypotheses of a search."""

    def widen_search(self, config: SearchConfig) -> SearchConfig: ...

    def rank(self, translations: PieceTranslations, config: SearchConfig) -> PieceTranslations: ...


class Neighbours(Protocol):
    """Translations of texts like those that are searched, which guide the network."""

    def choose_model(self, texts: Sequence[str], tags: TagSet) -> ModelChoice | None:
        """Returns the model for batches of these texts, which have the same tags; None if nothing is like any text."""
        ...


class SentenceSearch(NamedTuple):
    """A batch search that reads and writes text."""

    batch_search: BatchSearch
    same_language: bool = False  # whether both sides are in one language, so that a copy is no fault
    judge: HypothesisJudge | None = None  # ranks the hypotheses of each search
    neighbours: Neighbours | None = None
    find_word_fault: FaultFinder | None = None  # finds those that only a profile of the training text shows

    def search(
        self,
        texts: Mapping[TextId, str],
        config: SearchConfig,
        progress: CountReporter | None = None,
        contexts: Mapping[TextId, SentenceContext] = MappingProxyType({}),
    ) -> PieceTranslations:
        """Returns the translation of each text, behind its context, if any; a prefix begins texts that begin a line."""
        translations: PieceTranslations = {}
        wide = config if self.judge is None else self.judge.widen_search(config)
        for text_ids, own_config in group_by_prefix(texts, wide):
            done = len(translations)
            report = None if progress is None else (lambda more, done=done: progress(done + more))
            some = [texts[text_id] for text_id in text_ids]
            of_texts = [contexts.get(text_id) for text_id in text_ids]
            results = self.translate_texts(some, own_config, report, text_ids, of_texts)
            translations |= zip(text_ids, results, strict=True)
        return translations if self.judge is None else self.judge.rank(translations, config)

    def repair(
        self, translations: PieceTranslations, config: SearchConfig, repair: RepairConfig | None
    ) -> PieceTranslations:
        """Repairs translations as `repair` says: searches faulty ones again, and replaces unknown words.

        Samples stay as drawn.
        """
        if repair is None:
            return translations
        repaired: PieceTranslations = {}
        for text_ids, own_config in group_by_prefix(translations, config):
            results = [translations[text_id] for text_id in text_ids]
            if repair.repair and not config.sampling.sample:
                results = self.repairer.repair(results, own_config, text_ids)
            if repair.replace_unknown:
                from nmt_cli.translation.repair.unknown_words import replace_unknown  # which few translations need

                sides = self.batch_search.source, self.batch_search.target
                results = [replace_unknown(translation, *sides) for translation in results]
            repaired |= zip(text_ids, results, strict=True)
        return {text_id: repaired[text_id] for text_id in translations}

    def translate_texts(
        self,
        texts: Sequence[str],
        config: SearchConfig,
        progress: CountReporter | None = None,
        text_ids: Sequence[TextId] | None = None,
        contexts: Sequence[SentenceContext | None] = (),
    ) -> list[Translation]:
        """Translates texts that the network reads unchanged, behind `contexts`; `text_ids` are for sampling."""
        source, target = self.batch_search.source, self.batch_search.target
        text_ids = text_ids or [TextId(number, 0) for number in range(len(texts))]
        rows = source.make_rows(texts, config.max_source_length, [config.tags] * len(texts), contexts)
        choose_model = None if self.neighbours is None else self.neighbours.choose_model(texts, config.tags)
        searched = self.batch_search.search(rows, config, text_ids, progress, choose_model)
        return decode_results(texts, rows, searched, source, target)

    def score(
        self, texts: Sequence[str], targets: Sequence[Sequence[int]], tags: TagSet = ()
    ) -> list[tuple[float, ...]]:
        """Returns the log-probabilities of the tokens of a translation of each text, which has these tags."""
        rows = self.batch_search.source.make_rows(texts, None, [tags] * len(texts))
        return [forced.log_probabilities for forced in self.batch_search.force(rows, targets)]

    @property
    def repairer(self) -> Repairer:
        """Searches faulty translations again."""
        ngram_size = CHARACTER_NGRAM if self.batch_search.target.settings.kind == "char" else SUBWORD_NGRAM
        return Repairer(self.translate_texts, ngram_size, self.same_language, self.find_word_fault)


def group_by_prefix(
    text_ids: Mapping[TextId, object], config: SearchConfig
) -> Iterator[tuple[list[TextId], SearchConfig]]:
    """Yields all texts; with a prefix, those that begin a line, on which it is forced, and then the others.

    Each group comes with its settings.
    """
    if not config.prefix:
        yield list(text_ids), config
        return
    yield [text_id for text_id in text_ids if text_id.piece == 0], config
    yield [text_id for text_id in text_ids if text_id.piece != 0], replace(config, prefix="")
