"""Compares the numbers and dates of a source and its translation. Knows only text."""

from __future__ import annotations

from nmt_cli.carrying.numbers.dates import find_lost_months
from nmt_cli.carrying.spans import DIGIT
from nmt_cli.translation.checks.context import CheckContext, join_named
from nmt_cli.translation.checks.renamed import drop_renamed
from nmt_cli.translation.result import FailedCheck


def check_numbers(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the values of all numbers, in any notation or script, or in words of 87 languages.

    The repair of lost numbers makes the same comparison, between what the network read and wrote.
    """
    if not (DIGIT.search(source) or DIGIT.search(target)):
        return None
    from nmt_cli.carrying.numbers.values import compare_numbers  # which most lines need not

    missing, invented = compare_numbers(*drop_renamed(source, target), context.source_language, context.target_language)
    parts = [
        f"{join_named(numbers)} {what}" for numbers, what in ((missing, "missing"), (invented, "added")) if numbers
    ]
    if not parts:
        return None
    noun = "number" if len(missing or invented) == 1 else "numbers"
    return FailedCheck("numbers", f"{noun} {', '.join(parts)}")


def check_dates(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for the months of the source's dates.

    `check_numbers` compares their numbers. The repair of lost dates finds dates and months in the same way.
    """
    lost = find_lost_months(source, target, context.source_language, context.target_language)
    return FailedCheck("dates", f"{join_named(lost)} missing") if lost else None
