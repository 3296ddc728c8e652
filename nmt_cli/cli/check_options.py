"""What `nmt translate` refuses of the options about checks and confidence. Must stay light: `nmt --help` imports it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.documents import TABLES
from nmt_cli.documents.document import Document
from nmt_cli.errors import OptionError
from nmt_cli.formats import TEXT
from nmt_cli.translation.config import CheckConfig
from nmt_cli.visuals.report_path import SUFFIXES_OF_CHECKS, check_report_path

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard


def check_report(checks: CheckConfig) -> None:
    """Raises OptionError for a report of another format than there is."""
    if checks.report is not None:
        check_report_path(Path(checks.report), SUFFIXES_OF_CHECKS)


def require_calibration(checks: CheckConfig, card: ModelCard) -> None:
    """Raises OptionError if confidence is asked for and the model cannot tell."""
    if checks.rates:
        from nmt_cli.translation.checks.confidence import load_confidence  # numpy, which `nmt --help` does not need

        load_confidence(card)


def require_room(checks: CheckConfig, documents: list[Document]) -> None:
    """Raises OptionError for a document that has no place for a confidence that is nowhere else written."""
    for document in documents if checks.confidence and checks.report is None else ():
        if document.format.name not in (TEXT.name, *TABLES):
            raise OptionError(
                f"--confidence: {document.source.name} is read as {document.format.name}, which has no room for it",
                hint="add --report qa.html, or say what to do about little confidence with --min-confidence alone",
            )
