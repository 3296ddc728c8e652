"""Searches faulty translations again, in other ways; translations without a fault are never touched.

A short ladder: each remedy is tried on what those before it could not repair. Knows no network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np

from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.faults import Fault, find_fault, has_stutter
from nmt_cli.translation.result import Repair

if TYPE_CHECKING:
    from nmt_cli.translation.result import Hypothesis, Translation

COVERAGE = 0.5  # beta, stronger than the 0.2 of Wu et al.: what was left out is known to matter here
WIDE, WIDEST = 10, 100  # hypotheses
CLAUSE_ENDS = ".!?;:,…。！？；：，、؟،।"

Search = Callable[[Sequence[str], SearchConfig], "list[Translation]"]


class Remedy(NamedTuple):
    """A step of the ladder."""

    name: str
    helps: frozenset[Fault]
    changes: Callable[[SearchConfig, int], SearchConfig]  # the second is the size of the n-gram ban
    halves: bool = False  # whether the source is searched in two parts


ALL_FAULTS: frozenset[Fault] = frozenset(get_args(Fault))


def ban_repeats(config: SearchConfig, size: int) -> SearchConfig:
    return replace(config, no_repeat_ngram=min(config.no_repeat_ngram or size, size))


def require_coverage(config: SearchConfig, size: int) -> SearchConfig:
    beam = max(config.beam_size, SearchConfig.beam_size)
    return replace(ban_repeats(config, size), coverage_penalty=max(config.coverage_penalty, COVERAGE), beam_size=beam)


def widen_beam(config: SearchConfig, size: int) -> SearchConfig:
    return replace(
        require_coverage(config, size), beam_size=max(WIDE, config.beam_size, min(2 * config.beam_size, WIDEST))
    )


LADDER = (
    Remedy("n-gram ban", frozenset({"loop", "runaway"}), ban_repeats),
    Remedy("coverage", frozenset({"loop", "runaway", "empty"}), require_coverage),
    Remedy("wider beam", ALL_FAULTS, widen_beam),
    Remedy("split", ALL_FAULTS, require_coverage, halves=True),
)


class Repairer(NamedTuple):
    """Searches faulty translations again. A translation without a fault comes back as the same object."""

    search: Search
    ban: int  # length of the runs of tokens that may not occur twice
    copies: bool = False  # whether a copy of the source is right
    splits: bool = True  # whether a source is text, and can be split

    def repair(self, translations: Sequence[Translation], config: SearchConfig) -> list[Translation]:
        """Returns the translations; a faulty one has in `repairs` what was wrong and which remedy helped.

        A result that says something twice in a row is kept for the case that no later remedy does better.
        """
        # 1. Find the faulty ones.
        result = list(translations)
        faults = {
            index: fault
            for index, translation in enumerate(result)
            if (fault := self.find_fault(translation, config)) is not None
        }
        stuttering: dict[int, Translation] = {}
        # 2. Climb the ladder: try each remedy on what those before it could not repair.
        for remedy in LADDER:
            indices = [index for index, fault in faults.items() if fault in remedy.helps]
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
        # 3. Report what is left.
        for index, fault in faults.items():
            result[index] = stuttering.get(index) or result[index]._replace(repairs=(Repair(fault, None),))
        return result

    def find_fault(self, translation: Translation, config: SearchConfig) -> Fault | None:
        """Returns the fault of the best hypothesis; None for a blank line."""
        hypotheses = translation.hypotheses
        return self.judge_hypothesis(translation.source, hypotheses[0], config) if hypotheses else None

    def judge_hypothesis(self, source: str, hypothesis: Hypothesis, config: SearchConfig) -> Fault | None:
        reached_limit = len(hypothesis.pieces) >= config.max_length  # cut where the user wanted it
        return find_fault(source, hypothesis.text, ended=hypothesis.finished or reached_limit, copies=self.copies)

    def try_remedy(
        self, remedy: Remedy, translations: Sequence[Translation], config: SearchConfig
    ) -> list[Translation | None]:
        """Returns what the remedy makes of each translation; None where the result is faulty too."""
        if not translations:
            return []
        changed = remedy.changes(config, self.ban)
        results: list[Translation | None]
        if remedy.halves:
            results = self.translate_halves(translations, changed)
        else:
            all_hypotheses = replace(changed, n_best=changed.beam_size)
            results = list(self.search([translation.source for translation in translations], all_hypotheses))
        return [None if result is None else self.keep_faultless(result, config) for result in results]

    def keep_faultless(self, translation: Translation, config: SearchConfig) -> Translation | None:
        """Returns the translation with its faultless hypotheses, at most `n_best`, those that stutter last.

        Two halves together must be as short as was asked for, too.
        """
        short = [hypothesis for hypothesis in translation.hypotheses if len(hypothesis.tokens) <= config.max_length]
        faultless = [h for h in short if self.judge_hypothesis(translation.source, h, config) is None]
        faultless.sort(key=lambda hypothesis: has_stutter(translation.source, hypothesis.text))
        return translation._replace(hypotheses=tuple(faultless[: config.n_best])) if faultless else None

    def translate_halves(self, translations: Sequence[Translation], config: SearchConfig) -> list[Translation | None]:
        """Translates each in two halves; None where it cannot be split, or a prefix is forced."""
        splits = self.splits and not config.prefix
        halves = [split_in_half(translation.source) if splits else None for translation in translations]
        texts = [text for pair in halves if pair for text in pair]
        results = iter(self.search(texts, replace(config, n_best=1)) if texts else [])
        return [
            join_halves(translation, next(results), next(results)) if pair else None
            for translation, pair in zip(translations, halves, strict=True)
        ]


def split_in_half(text: str) -> tuple[str, str] | None:
    """Splits `text` at the blank nearest to its middle, preferably one behind punctuation; None without a blank."""
    blanks = [index for index, character in enumerate(text) if character == " " and text[:index].strip()]
    blanks = [index for index in blanks if text[index:].strip()]
    if not blanks:
        return None
    after_clauses = [index for index in blanks if text[index - 1] in CLAUSE_ENDS]
    middle = min(after_clauses or blanks, key=lambda index: abs(index - len(text) // 2))
    return text[:middle], text[middle + 1 :]


def join_halves(whole: Translation, first: Translation, second: Translation) -> Translation | None:
    """Joins the translations of both halves; None where a half has none, or where pieces differ from the whole."""
    if not (first.hypotheses and second.hypotheses):
        return None
    if first.source_pieces[:-1] + second.source_pieces != whole.source_pieces:
        return None
    left, right = first.hypotheses[0], second.hypotheses[0]
    end = len(left.pieces) - left.finished  # the end of the sentence stands only behind the second half
    attention = np.zeros((end + len(right.pieces), len(whole.source_pieces)))
    width = len(first.source_pieces) - 1
    attention[:end, [*range(width), -1]] = left.attention[:end]
    attention[end:, width:] = right.attention
    hypothesis = right._replace(
        text=f"{left.text} {right.text}".strip(),
        tokens=left.tokens[:end] + right.tokens,
        pieces=left.pieces[:end] + right.pieces,
        log_probability=left.log_probability + right.log_probability,
        score=left.score + right.score,
        token_log_probabilities=left.token_log_probabilities[:end] + right.token_log_probabilities,
        attentions=(attention,),
        finished=left.finished and right.finished,
    )
    return whole._replace(hypotheses=(hypothesis,))
