"""Looks for the protected spans and the glossary terms of a translation. Knows text alone."""

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
    """Looks for protected spans that are missing, or whose place is a guess."""
    if context.placed is None:
        missing = [span.text for span in find_spans(source) if not span.is_number and span.text not in target]
        return FailedCheck("spans", f"{join_named(missing)} missing") if missing else None
    return check_placed("spans", [span for span in context.placed if not is_term(span.text, source)], target)


def check_terms(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for terms of a glossary that are missing, or whose place is a guess."""
    return check_placed("terms", [span for span in context.placed or () if is_term(span.text, source)], target)


def check_placed(kind: CheckKind, spans: Sequence[Placed], target: str) -> FailedCheck | None:
    """Returns the failed check of spans of which some are missing or may stand at a wrong place."""
    counts = Counter(span.text for span in spans)
    missing = [text for text, count in counts.items() if target.count(text) < count]
    if missing:
        return FailedCheck(kind, f"{join_named(missing)} missing")
    guessed = [span.text for span in spans if span.doubtful]
    return FailedCheck(kind, f"the place of {join_named(guessed)} is a guess") if guessed else None


def is_term(text: str, source: str) -> bool:
    """Whether a span is a term: the source has neither its text nor its number, in the notation of the target."""
    if text in source:
        return False
    digits = re.sub(r"\D", "", text)
    return digits == "" or digits not in re.sub(BETWEEN_DIGITS, "", source)
