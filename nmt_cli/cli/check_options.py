"""What `nmt translate` refuses of the options about checks and confidence. Must stay light: `nmt --help` imports it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.documents import TABLES
from nmt_cli.documents.config import DocumentConfig
from nmt_cli.documents.document import Document
from nmt_cli.errors import OptionError
from nmt_cli.formats import TEXT
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.config import CheckConfig
from nmt_cli.visuals.report_path import SUFFIXES_OF_CHECKS, check_report_path

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard


def require_checks(checks: CheckConfig, document: DocumentConfig) -> None:
    """Raises OptionError for options that show failed checks where none is made, and for a report of another format."""
    if not checks.check and document.qa_column is not None:
        raise OptionError("--qa-column cannot be combined with --no-check", hint="leave one of them out")
    if checks.report is not None:
        check_report_path(Path(checks.report), SUFFIXES_OF_CHECKS)


def require_calibration(
    checks: CheckConfig, search: SearchConfig, card: ModelCard, *, ensemble: bool, score: bool
) -> None:
    """Raises OptionError if confidence is asked for where it was not calibrated, or by a model that cannot tell."""
    if checks.rates:
        from nmt_cli.translation.checks.confidence import require_confidence  # numpy, which `nmt --help` does not need

        require_confidence(checks, search, card, ensemble=ensemble, score=score)


def require_room(checks: CheckConfig, documents: list[Document]) -> None:
    """Raises OptionError for a document that has no place for a confidence that is nowhere else written."""
    for document in documents if checks.confidence and checks.report is None else ():
        if document.format.name not in (TEXT.name, *TABLES):
            raise OptionError(
                f"--confidence: {document.source.name} is read as {document.format.name}, which has no room for it",
                hint="add --report qa.html, or say what to do about little confidence with --min-confidence alone",
            )
