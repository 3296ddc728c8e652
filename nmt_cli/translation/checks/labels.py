"""Looks for labels that stay as they are. Knows no network."""

from __future__ import annotations

from nmt_cli.translation.checks.context import CheckContext, join_named
from nmt_cli.translation.result import FailedCheck, Translation


def check_labels(translation: Translation, context: CheckContext) -> FailedCheck | None:
    """Looks for labels that were kept, since the network knows no likely translation."""
    return FailedCheck("labels", f"not translated: {join_named(translation.kept)}") if translation.kept else None
