"""Compares the lengths of a source and its translation. Knows only text."""

from __future__ import annotations

from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.checks.context import CheckContext
from nmt_cli.translation.result import FailedCheck

MARGIN = 1.25  # by which a length may exceed the range of all but two thousandths of the training data


def check_length(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the length ratio with its range in the training data."""
    ratio = context.find_ratio(len(source))
    if ratio is None or not target or ratio.lowest / MARGIN <= len(target) / len(source) <= ratio.highest * MARGIN:
        return None
    size = "short" if len(target) < ratio.mean * len(source) else "long"
    return FailedCheck("length", f"too {size}: {format_count(len(target), 'character')} for {len(source):,}")
