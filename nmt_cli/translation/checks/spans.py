"""Looks for protected spans and glossary terms in a translation. Knows only text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.numbers.notation import BETWEEN_DIGITS
from nmt_cli.translation.checks.context import CheckContext, join_named
from nmt_cli.translation.result import FailedCheck, Placed

if TYPE_CHECKING:
    from nmt_cli.translation.result import CheckKind


def check_spans(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for protected spans that are missing or whose position is a guess."""
    if context.placed is None:
        missing = [span.text for span in find_spans(source) if not span.is_number and span.text not in target]
        return FailedCheck("spans", f"{join_named(missing)} missing") if missing else None
    return check_placed("spans", [span for span in context.placed if not is_term(span.text, source)], target)


def check_terms(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for glossary terms that are missing or whose position is a guess."""
    return check_placed("terms", [span for span in context.placed or () if is_term(span.text, source)], target)


def check_placed(kind: CheckKind, spans: Sequence[Placed], target: str) -> FailedCheck | None:
    """Returns the failed check about spans that are missing or may be misplaced."""
    counts = Counter(span.text for span in spans)
    missing = [text for text, count in counts.items() if target.count(text) < count]
    if missing:
        return FailedCheck(kind, f"{join_named(missing)} missing")
    guessed = [span.text for span in spans if span.doubtful]
    return FailedCheck(kind, f"the place of {join_named(guessed)} is a guess") if guessed else None


def is_term(text: str, source: str) -> bool:
    """Whether a span is a term: the source contains neither its text nor its number in the target's notation."""
    if text in source:
        return False
    digits = re.sub(r"\D", "", text)
    return digits == "" or digits not in re.sub(BETWEEN_DIGITS, "", source)
