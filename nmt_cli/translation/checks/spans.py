"""Looks for protected spans and glossary terms in a translation. Knows only text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.text.words import count_strings
from nmt_cli.translation.checks.context import CheckContext, join_named
from nmt_cli.translation.result import FailedCheck, Placed

if TYPE_CHECKING:
    from nmt_cli.translation.result import CheckKind


def check_spans(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for protected spans missing or placed by a guess."""
    if context.placed is None:
        counts = count_strings(target, [span.text for span in find_spans(source) if not span.is_number])
        missing = [text for text, count in counts.items() if not count]
        return FailedCheck("spans", f"{join_named(missing)} missing") if missing else None
    spans = [span for span in context.placed if not span.is_term]
    before, after = (count_strings(text, [span.text for span in spans]) for text in (source, target))
    doubled = [text for text in before if is_countable(text) and 0 < before[text] < after[text]]
    failed = check_placed("spans", spans, target)
    return FailedCheck("spans", f"{join_named(doubled)} too often") if doubled and failed is None else failed


def check_terms(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for glossary terms missing or placed by a guess."""
    return check_placed("terms", [span for span in context.placed or () if span.is_term], target)


def check_placed(kind: CheckKind, spans: Sequence[Placed], target: str) -> FailedCheck | None:
    """Returns the failed check about spans that are missing or may be misplaced."""
    counts = Counter(span.text for span in spans)
    written = count_strings(target, counts)
    missing = [text for text, count in counts.items() if written[text] < count]
    if missing:
        return FailedCheck(kind, f"{join_named(missing)} missing")
    guessed = [span.text for span in spans if span.doubtful]
    return FailedCheck(kind, f"the place of {join_named(guessed)} is a guess") if guessed else None


def is_countable(span: str) -> bool:
    """Whether a span may not stand more often in a translation than in its source, as numbers and single signs may."""
    return len(span) > 1 and not span[0].isdigit()
