"""Checks where the reports of `--report` may be written. Standard library only: `nmt --help` imports it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nmt_cli.errors import OptionError
from nmt_cli.files import require_output

SUFFIXES_OF_TABLES = (".tex", ".csv")  # `score_table` writes these
SUFFIXES_OF_SCORES = (".html", ".md", *SUFFIXES_OF_TABLES)  # the others: `page` and `comparison_page`
SUFFIXES_OF_CHECKS = (".html", ".json")  # `qa_report` writes these


def check_report_path(path: Path, suffixes: Sequence[str]) -> None:
    """Raises OptionError unless the suffix is one of `suffixes`, and the errors of `require_output`."""
    if path.suffix.lower() not in suffixes:
        raise OptionError(
            f"--report cannot be {path}", hint=f"end the name with {', '.join(suffixes[:-1])} or {suffixes[-1]}"
        )
    require_output(path, "--report")
