"""The scores of a model's last evaluation on a test set, kept beside its card so that bare `nmt` can show them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.files import hash_file, write_json
from nmt_cli.records import Count, build, parse_json

if TYPE_CHECKING:
    from nmt_cli.api.evaluation_request import EvaluationRequest
    from nmt_cli.evaluation.report import Report

SCORES = "scores.json"
SHOWN = 3  # scores that are kept


class KeptScores(NamedTuple):
    """The measured scores and their model; `scores` are written as printed."""

    card: str  # SHA-256 of the model's card: of another one the scores say nothing
    sentences: Count
    decoding: str
    scores: tuple[str, ...]


def keep_scores(report: Report, request: EvaluationRequest) -> None:
    """Keeps the scores of a locally trained model on its test set; silently skipped if nothing can be written."""
    from nmt_cli.runtime.installed_models import list_models
    from nmt_cli.runtime.model_directory import CARD

    is_test = request.hypothesis is None and request.source is None and request.split == "test"
    if not is_test or request.rerank or report.search is None or request.model in list_models().values():
        return
    scores = []
    for name, score in list(report.scores.items())[:SHOWN]:
        interval = report.intervals.get(name)
        spread = f" ± {interval.half_width:.2f}" if interval is not None else ""
        scores.append(f"{score.name} {score.value:.2f}{spread}")
    with suppress(OSError):
        entry = KeptScores(hash_file(request.model / CARD), report.sentences, report.search.summary, tuple(scores))
        write_json(request.model / SCORES, entry._asdict())


def read_scores(model: Path) -> KeptScores | None:
    """Returns the scores of the last evaluation; None if there are none, or not of this model."""
    from nmt_cli.runtime.model_directory import CARD

    try:
        entry: KeptScores = build(KeptScores, parse_json((model / SCORES).read_text(encoding="utf-8")))
        return entry if entry.card == hash_file(model / CARD) else None
    except (OSError, ValueError):
        return None
