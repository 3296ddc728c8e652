"""The scores of the last evaluation on a test set, kept in its prepared corpus so that bare `nmt` can show them.

Not in the model, which may be a package, or that of somebody else: an evaluation only reads it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.files import hash_file, write_json
from nmt_cli.records import Count, build, parse_json

if TYPE_CHECKING:
    from nmt_cli.api.evaluation_request import EvaluationRequest
    from nmt_cli.evaluation.report import Report

SCORES = ".scores.json"  # hidden, as no part of the corpus
SHOWN = 3  # scores that are kept


class KeptScores(NamedTuple):
    """The measured scores and their model; `scores` are written as printed."""

    card: str  # SHA-256 of the model's card: of another one the scores say nothing
    sentences: Count
    decoding: str
    scores: tuple[str, ...]


def keep_scores(report: Report, request: EvaluationRequest) -> None:
    """Keeps the scores of a model on the test set of a corpus; silently skipped if nothing can be written.

    A corpus that only a found file names stays as it is, too.
    """
    from nmt_cli.runtime.model_directory import CARD

    is_test = request.hypothesis is None and request.source is None and request.split == "test"
    if not is_test or request.rerank or report.search is None or "data" in request.settings_from:
        return
    scores = []
    for name, score in list(report.scores.items())[:SHOWN]:
        interval = report.intervals.get(name)
        spread = f" ± {interval.half_width:.2f}" if interval is not None else ""
        scores.append(f"{score.name} {score.value:.2f}{spread}")
    with suppress(OSError):
        entry = KeptScores(hash_file(request.model / CARD), report.sentences, report.search.summary, tuple(scores))
        write_json(request.data / SCORES, entry._asdict())


def read_scores(data: Path, model: Path) -> KeptScores | None:
    """Returns the scores of the last evaluation on a test set; None if there are none, or not of this model."""
    from nmt_cli.runtime.model_directory import CARD

    try:
        entry: KeptScores = build(KeptScores, parse_json((data / SCORES).read_text(encoding="utf-8")))
        return entry if entry.card == hash_file(model / CARD) else None
    except (OSError, ValueError):
        return None
