"""Searching again, in other ways, for translations that went wrong; those that did not are never touched.

A short ladder: each remedy is tried on what the ones before it could not mend. Knows no network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np

from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.faults import Ailment, ailment, stutters
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
    helps: frozenset[Ailment]
    changes: Callable[[SearchConfig, int], SearchConfig]  # the second is the size of the n-gram ban
    halves: bool = False  # whether the source is searched in two parts


ALWAYS: frozenset[Ailment] = frozenset(get_args(Ailment))


def banned(config: SearchConfig, size: int) -> SearchConfig:
    return replace(config, no_repeat_ngram=min(config.no_repeat_ngram or size, size))


def covered(config: SearchConfig, size: int) -> SearchConfig:
    beam = max(config.beam_size, SearchConfig.beam_size)
    return replace(banned(config, size), coverage_penalty=max(config.coverage_penalty, COVERAGE), beam_size=beam)


def widened(config: SearchConfig, size: int) -> SearchConfig:
    return replace(covered(config, size), beam_size=max(WIDE, config.beam_size, min(2 * config.beam_size, WIDEST)))


LADDER = (
    Remedy("n-gram ban", frozenset({"loop", "runaway"}), banned),
    Remedy("coverage", frozenset({"loop", "runaway", "empty"}), covered),
    Remedy("wider beam", ALWAYS, widened),
    Remedy("split", ALWAYS, covered, halves=True),
)


class Healer(NamedTuple):
    """Mends translations. A healthy one comes back as the same object."""

    search: Search
    ban: int  # tokens of which no run may come twice
    copies: bool = False  # whether a copy of the source is right
    splits: bool = True  # whether a source is text, and can be parted

    def heal(self, translations: Sequence[Translation], config: SearchConfig) -> list[Translation]:
        """The translations, each ill one with what was found and what helped in `repairs`.

        A remedy that leaves something said twice on end stands back for a later one that does not.
        """
        result = list(translations)
        waiting = {place: found for place, one in enumerate(result) if (found := self.ailment(one, config))}
        fair: dict[int, Translation] = {}
        for remedy in LADDER:
            tried = [place for place, found in waiting.items() if found in remedy.helps]
            for place, other in zip(tried, self.tried(remedy, [result[i] for i in tried], config), strict=True):
                if other is None:
                    continue
                mended = other._replace(repairs=(Repair(waiting[place], remedy.name),))
                if stutters(other.source, other.text):
                    fair.setdefault(place, mended)
                else:
                    result[place] = mended
                    del waiting[place]
        for place, found in waiting.items():
            result[place] = fair.get(place) or result[place]._replace(repairs=(Repair(found, None),))
        return result

    def ailment(self, translation: Translation, config: SearchConfig) -> Ailment | None:
        """Of the best hypothesis. A blank line has none and lacks nothing."""
        hypotheses = translation.hypotheses
        return self.fault(translation.source, hypotheses[0], config) if hypotheses else None

    def fault(self, source: str, hypothesis: Hypothesis, config: SearchConfig) -> Ailment | None:
        asked_for = len(hypothesis.pieces) >= config.max_length  # cut where the user wanted it
        return ailment(source, hypothesis.text, ended=hypothesis.finished or asked_for, copies=self.copies)

    def tried(
        self, remedy: Remedy, translations: Sequence[Translation], config: SearchConfig
    ) -> list[Translation | None]:
        """What the remedy makes of each; None where the result is not healthy either."""
        if not translations:
            return []
        changed = remedy.changes(config, self.ban)
        if remedy.halves:
            found = self.in_halves(translations, changed)
        else:
            every = replace(changed, n_best=changed.beam_size)
            found = list(self.search([one.source for one in translations], every))
        return [None if one is None else self.healthy(one, config) for one in found]

    def healthy(self, translation: Translation, config: SearchConfig) -> Translation | None:
        """The translation with its healthy hypotheses alone, no more than are wanted, those that stutter last.

        What two halves make together is as short as what was asked for, too.
        """
        short = (one for one in translation.hypotheses if len(one.tokens) <= config.max_length)
        kept = [one for one in short if self.fault(translation.source, one, config) is None]
        kept.sort(key=lambda one: stutters(translation.source, one.text))
        return translation._replace(hypotheses=tuple(kept[: config.n_best])) if kept else None

    def in_halves(self, translations: Sequence[Translation], config: SearchConfig) -> list[Translation | None]:
        """Each translated in two parts; None where there is no place to part it, or a beginning is forced."""
        splits = self.splits and not config.prefix
        parts = [halves(one.source) if splits else None for one in translations]
        texts = [text for pair in parts if pair for text in pair]
        found = iter(self.search(texts, replace(config, n_best=1)) if texts else [])
        return [
            joined(one, next(found), next(found)) if pair else None
            for one, pair in zip(translations, parts, strict=True)
        ]


def halves(text: str) -> tuple[str, str] | None:
    """`text` parted at the blank nearest to its middle, at one after a mark of punctuation if there is any such."""
    blanks = [place for place, character in enumerate(text) if character == " " and text[:place].strip()]
    blanks = [place for place in blanks if text[place:].strip()]
    if not blanks:
        return None
    after_clauses = [place for place in blanks if text[place - 1] in CLAUSE_ENDS]
    place = min(after_clauses or blanks, key=lambda place: abs(place - len(text) // 2))
    return text[:place], text[place + 1 :]


def joined(whole: Translation, first: Translation, second: Translation) -> Translation | None:
    """The translations of both halves as one of the whole; None where a half has none, or its pieces are others."""
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
