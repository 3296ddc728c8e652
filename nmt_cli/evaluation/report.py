"""One evaluation from sentences to scores, and what its reader must be told with them. Prints nothing.

The model is handed in as a translator; must not know where model or sentences lie on the disk.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nmt_cli.evaluation.metrics import measure
from nmt_cli.evaluation.rouge import is_unspaced
from nmt_cli.evaluation.scores import Score
from nmt_cli.evaluation.texts import ParallelText
from nmt_cli.inference.config import SearchConfig

if TYPE_CHECKING:
    from nmt_cli.inference.translator import Translator

RELIABLE = 100  # sentences; below, the confidence interval of BLEU is wider than most differences worth reporting


@dataclass(frozen=True)
class Report:
    """The scores of one set of sentences, and how they came about."""

    scores: Mapping[str, Score]  # by the metric's name in METRICS
    sentences: int
    references_per_sentence: int
    search: SearchConfig | None  # None for hypotheses that were ready
    warnings: tuple[str, ...]  # why the scores might mislead


def report_of_translations(
    names: Sequence[str],
    text: ParallelText,
    translator: Translator,
    search: SearchConfig,
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Translates the lines of `text`, each freely from its source alone, and scores the best hypothesis of each.

    `names` are keys of METRICS; `progress` is told the number of lines that are finished.
    """
    one_best = dataclasses.replace(search, n_best=1)
    translations = translator.translate(text.lines, one_best, progress)
    hypotheses = tuple(translation.text for translation in translations)
    report = report_of_hypotheses(names, ParallelText(hypotheses, text.references))
    cut = sum(translation.cut for translation in translations)
    told = (f"{cut:,} translations were cut at their length limit (--max-length {search.max_length})",) if cut else ()
    return dataclasses.replace(report, search=one_best, warnings=(*told, *report.warnings))


def report_of_hypotheses(names: Sequence[str], text: ParallelText) -> Report:
    """Scores the lines of `text` as they are. `names` are keys of METRICS."""
    return Report(
        scores=measure(names, text.lines, text.references),
        sentences=len(text.lines),
        references_per_sentence=len(text.references[0]),
        search=None,
        warnings=tuple(doubts(names, text)),
    )


def doubts(names: Sequence[str], text: ParallelText) -> list[str]:
    """What about the sentences makes these scores less than they seem, a line each."""
    found = []
    if len(text.lines) < RELIABLE:
        found.append(f"only {len(text.lines)} sentences: scores of fewer than {RELIABLE} are not reliable")
    if any(name.startswith("bleu") for name in names):
        tokenised = sum(line.endswith(" .") for line in text.lines)
        if tokenised > len(text.lines) / 10:
            found.append(
                f"{tokenised:,} hypotheses end in ' .': BLEU is meant for detokenised text, these look tokenised"
            )
        if mostly_unspaced(text):
            found.append("the references have no spaces between words, which BLEU (tok:13a) counts: trust chrF instead")
    return found


def mostly_unspaced(text: ParallelText) -> bool:
    """Whether the references are in a script without spaces, such as Chinese or Thai."""
    letters = [character for own in text.references for character in own[0] if character.isalpha()]
    return sum(map(is_unspaced, letters)) > len(letters) / 2


def as_json(report: Report, scored: Mapping[str, Any]) -> dict[str, Any]:
    """The report as one JSON object; `scored` says what the sentences were and which model translated them."""
    return {
        "scored": dict(scored),
        "sentences": report.sentences,
        "references_per_sentence": report.references_per_sentence,
        "beam_size": report.search.beam_size if report.search else None,
        "length_penalty": report.search.length_penalty if report.search else None,
        "scores": {
            name: {"name": score.name, "value": score.value, "signature": score.signature}
            for name, score in report.scores.items()
        },
        "warnings": list(report.warnings),
    }


def as_lines(scores: Sequence[Score]) -> list[str]:
    """One aligned line a score: name, value with two digits, signature."""
    width = max(len(score.name) for score in scores)
    return [f"{score.name:<{width}}  {score.value:6.2f}  {score.signature}" for score in scores]
