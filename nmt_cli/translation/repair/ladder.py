"""Searches faulty translations again, in other ways, within a budget; never changes one without a fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, get_args

import numpy as np

from nmt_cli.arrays.types import UNKNOWN
from nmt_cli.carrying.kinds import FAULTS_IF_LOST
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.constraints import TextId
from nmt_cli.sources.source import Source
from nmt_cli.text.normalise import normalise
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.translation.config import RepairConfig
from nmt_cli.translation.repair.faults import (
    WORD_FAULTS,
    Fault,
    WordFault,
    changes_little,
    find_fault,
    has_stutter,
    keeps_words,
)
from nmt_cli.translation.result import Hypothesis, Repair, Translation
from nmt_cli.translation.search import Network, PieceTranslations, group_by_prefix

# Bounds what the repairs of one line cost: a line of faulty sentences alone would take seven times its own search.
#
# A line of prose has few of them. What is over the budget keeps its fault, which its check tells.


MOST_REPAIRED = 32  # sentences of a line that each way of repair searches again


def choose_repaired(text_ids: Iterable[TextId]) -> Iterator[TextId]:
    """Yields those of faulty sentences that are searched again: the first ones of each line."""
    counts: Counter[int] = Counter()
    for text_id in text_ids:
        counts[text_id.line] += 1
        if counts[text_id.line] <= MOST_REPAIRED:
            yield text_id


# Replaces unknown target tokens by source words, chosen by attention (Luong et al. 2015).


def replace_unknown(translation: Translation, source: Source, target: Tokenizer) -> Translation:
    """Replaces each unknown token of a translation by the source word that it attended to most.

    Returns it unchanged if the source side has no unknown words.
    """
    if source.subwords is None or not source.subwords.has_unknown:
        return translation
    surfaces = source.subwords.list_surfaces(normalise(translation.source))[: len(translation.source_pieces) - 1]
    hypotheses = (replace_in_hypothesis(hypothesis, surfaces, target) for hypothesis in translation.hypotheses)
    return translation._replace(hypotheses=tuple(hypotheses))


def replace_in_hypothesis(hypothesis: Hypothesis, surfaces: list[str], target: Tokenizer) -> Hypothesis:
    """Replaces unknown tokens in one hypothesis; `surfaces` are the source words as written."""
    unknown = [index for index, token in enumerate(hypothesis.tokens) if token == UNKNOWN]
    # Leave out the end of the sentence, and placeholders: each stands for one span, which must not occur twice.
    words = [index for index, surface in enumerate(surfaces) if not PLACEHOLDER_PATTERN.search(surface)]
    if not (unknown and words):
        return hypothesis
    most_attended = hypothesis.attention[np.ix_(unknown, words)].argmax(axis=1)
    replacements = tuple(surfaces[words[column]] for column in most_attended.tolist())
    return hypothesis._replace(text=target.decode_with_unknown(hypothesis.tokens, replacements), unknown=replacements)


# Searches faulty translations again, in other ways; never changes a translation without a fault.
#
# The remedies form a ladder: each is tried on what the previous ones could not repair. Knows no network.


COVERAGE = 0.5  # beta; more than the 0.2 of Wu et al., since these translations are known to be faulty
WIDER_BEAM, WIDEST_BEAM = 10, 100  # beam sizes
MOST_BELOW = 0.2  # by which a translation with other words may score lower
AT_ONCE = 64  # translations searched together: all hypotheses of each, with their attention, are in memory

SUBWORD_NGRAM, CHARACTER_NGRAM = 3, 10  # the size of n-grams that only a loop repeats

FaultFinder = Callable[[str, str], WordFault | None]  # takes a text and its translation


class Remedy(NamedTuple):
    """One rung of the ladder: other search settings for certain faults."""

    name: str
    faults: frozenset[Fault]  # that it may repair
    change: Callable[[SearchConfig, int], SearchConfig]  # takes the settings and the size of banned n-grams


# `carry_lost` takes care of what is carried if it was lost.
ALL_FAULTS: frozenset[Fault] = frozenset(get_args(Fault)) - FAULTS_IF_LOST - WORD_FAULTS
LOST_SPANS: frozenset[Fault] = frozenset({"spans"})  # attention places them, and a check of their own tells so
# A repair of these keeps all words, since attention may place what stays lost.
CAREFUL_FAULTS = LOST_SPANS | {"enclosed words"}
TOLD_ELSEWHERE = LOST_SPANS | WORD_FAULTS


def leave_settings(config: SearchConfig, size: int) -> SearchConfig:
    """Changes nothing: with every remedy, search bars placeholders that the source lacks, and tells all hypotheses."""
    return config


def ban_repeats(config: SearchConfig, size: int) -> SearchConfig:
    """Forbids repeated n-grams of `size` tokens, or shorter ones if the user does."""
    return replace(config, no_repeat_ngram=min(config.no_repeat_ngram or size, size))


def widen_beam(config: SearchConfig, size: int) -> SearchConfig:
    """Doubles the beam, to at most `WIDEST_BEAM`, and penalises uncovered source words."""
    beam = max(WIDER_BEAM, config.beam_size, min(2 * config.beam_size, WIDEST_BEAM))
    return replace(ban_repeats(config, size), coverage_penalty=max(config.coverage_penalty, COVERAGE), beam_size=beam)


LADDER = (
    Remedy("barred placeholder", frozenset({"placeholder"}), leave_settings),
    Remedy("n-gram ban", frozenset({"loop", "runaway"}), ban_repeats),
    Remedy("wider beam", ALL_FAULTS, widen_beam),
    Remedy("other words", WORD_FAULTS, leave_settings),
)


class Repairer(NamedTuple):
    """Searches faulty translations again. Returns a faultless translation as the same object."""

    network: Network
    same_language: bool = False  # whether both sides are in one language, so that a copy is no fault
    find_word_fault: FaultFinder | None = None  # finds those that only a profile of the training text shows

    @property
    def ngram_size(self) -> int:
        """The number of tokens of the n-grams that must not occur twice."""
        return CHARACTER_NGRAM if self.network.target.settings.kind == "char" else SUBWORD_NGRAM

    def repair_pieces(
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
                results = self.repair(results, own_config, text_ids)
            if repair.replace_unknown:
                sides = self.network.source, self.network.target
                results = [replace_unknown(translation, *sides) for translation in results]
            repaired |= zip(text_ids, results, strict=True)
        return {text_id: repaired[text_id] for text_id in translations}

    def repair(
        self, translations: Sequence[Translation], config: SearchConfig, text_ids: Sequence[TextId] = ()
    ) -> list[Translation]:
        """Returns the translations; `repairs` of a faulty one holds its fault and the remedy that helped.

        A result that stutters is kept in case no later remedy gives a better one. `text_ids` say which are of one line,
        by default none.
        """
        # 1. Find the faulty translations.
        result = list(translations)
        faults = {
            index: fault
            for index, translation in enumerate(result)
            if (fault := self.find_fault(translation, config)) is not None
        }
        ids = text_ids or [TextId(line, 0) for line in range(len(result))]
        within_budget = set(choose_repaired(ids[index] for index in faults))
        stuttering: dict[int, Translation] = {}
        # 2. Climb the ladder: try each remedy on what the earlier ones could not repair.
        for remedy in LADDER:
            ill = [index for index, fault in faults.items() if fault in remedy.faults]
            indices = [index for index in ill if ids[index] in within_budget]
            if not indices:  # as nearly always, and other settings take longer to make than to test for
                continue
            repaired = self.try_remedy(remedy, [result[index] for index in indices], config)
            for index, translation in zip(indices, repaired, strict=True):
                if translation is None:
                    continue
                translation = translation._replace(repairs=(Repair(faults[index], remedy.name),))
                if has_stutter(translation.source, translation.text):
                    stuttering.setdefault(index, translation)
                else:
                    result[index] = translation
                    del faults[index]
        # 3. Mark what is left: with a result that stutters, or without success.
        for index, fault in faults.items():
            unrepaired = () if fault in TOLD_ELSEWHERE else (Repair(fault, None),)
            result[index] = stuttering.get(index) or result[index]._replace(repairs=unrepaired)
        return result

    def find_fault(self, translation: Translation, config: SearchConfig) -> Fault | None:
        """Returns the fault of the best hypothesis; None for a blank line."""
        hypotheses = translation.hypotheses
        return self.judge_hypothesis(translation.source, hypotheses[0], config) if hypotheses else None

    def judge_hypothesis(self, source: str, hypothesis: Hypothesis, config: SearchConfig) -> Fault | None:
        """Returns the fault of a hypothesis; being cut at the user's own limit is not a fault."""
        finished = hypothesis.finished or len(hypothesis.pieces) >= config.max_length
        fault = find_fault(source, hypothesis.text, finished=finished, same_language=self.same_language)
        if fault is not None or self.find_word_fault is None or config.beam_size == 1:
            return fault  # greedy search has no other words
        word_fault = self.find_word_fault(source, hypothesis.text)
        return None if word_fault is None else word_fault.fault

    def try_remedy(
        self, remedy: Remedy, translations: Sequence[Translation], config: SearchConfig
    ) -> list[Translation | None]:
        """Returns the remedy's result for each translation; None if it is faulty too."""
        changed = replace(remedy.change(config, self.ngram_size), limit_placeholders=True)
        all_hypotheses = replace(changed, n_best=changed.beam_size)
        repaired: list[Translation | None] = []
        for start in range(0, len(translations), AT_ONCE):
            some = translations[start : start + AT_ONCE]
            texts = {TextId(number, 0): translation.source for number, translation in enumerate(some)}
            results = self.network._replace(judge=None).search(texts, all_hypotheses)
            repaired += [self.select_faultless(*pair, config) for pair in zip(results.values(), some, strict=True)]
        return repaired

    def select_faultless(
        self, translation: Translation, former: Translation, config: SearchConfig
    ) -> Translation | None:
        """Returns the translation with its faultless hypotheses, at most `n_best`, stuttering ones last; else None.

        One that brings back what the `former` translation lost keeps all its words. Of other ones, that is no fault.
        One with other words is hardly less likely.
        """
        judged = [(h, self.judge_hypothesis(translation.source, h, config)) for h in translation.hypotheses]
        judged.sort(key=lambda pair: (pair[1] is not None, has_stutter(translation.source, pair[0].text)))
        fault = self.find_fault(former, config)
        if fault in WORD_FAULTS and self.find_word_fault is not None:
            word_fault = self.find_word_fault(former.source, former.text) or WordFault(fault)
            likely = [h for h, fault in judged if fault is None and h.score >= former.hypotheses[0].score - MOST_BELOW]
            faultless = [h for h in likely if changes_little(word_fault, former.text, h.text)]
        elif fault in CAREFUL_FAULTS:
            tolerated = {None, *WORD_FAULTS}
            faultless = [h for h, fault in judged if fault in tolerated and keeps_words(former.text, h.text)]
        else:
            faultless = [h for h, fault in judged if fault in {None, *CAREFUL_FAULTS, *WORD_FAULTS}]
        return translation._replace(hypotheses=tuple(faultless[: config.n_best])) if faultless else None
