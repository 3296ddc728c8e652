"""Looks for the brackets, slashes, quotation marks, colons and final marks of a source. Knows only text.

A mark that is lost may have taken words with it. Marks that a translation has besides are style, unless they lack a
partner: `File - Exit` is „Datei – Beenden…“ where a corpus writes so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from nmt_cli.carrying.brackets import PARTNERS, SLASHES
from nmt_cli.rewriting.final_marks import MARK_KINDS, find_final_mark, share_kind
from nmt_cli.text.characters import COLONS, DOUBLE_QUOTES, ELLIPSES, PLAIN_BRACKETS, QUOTES, SINGLE_QUOTES
from nmt_cli.translation.checks.context import CheckContext
from nmt_cli.translation.checks.renamed import drop_renamed
from nmt_cli.translation.result import FailedCheck

if TYPE_CHECKING:
    from nmt_cli.text.profile import TextProfile

BRACKET_SET = frozenset(PLAIN_BRACKETS)
DOUBLE_QUOTE_SET = frozenset(DOUBLE_QUOTES)
SINGLE_OPENING = frozenset(SINGLE_QUOTES) - {"’"}
# As text: compiled at its first use.
QUOTED = rf"(?<![\w'])(?!’)[{SINGLE_QUOTES}][^\W_]{{2}}[^{SINGLE_QUOTES}]{{0,200}}[{SINGLE_QUOTES}](?!\w)"
BRACKETS_IN_WORD = r"(?<=[^\W\d_])\(([^\W\d_]{1,3})\)"
COLON_SET = frozenset(COLONS)
COLON_BEHIND_WORD = rf"[^\W\d_]\s?[{re.escape(COLONS)}](?=\s+[^\s{QUOTES}]|$)"  # not before speech
LEAST_KEPT = 0.9  # of the marks in training's sources, the targets have as many, or to lose one is custom


def check_brackets(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for brackets, for slashes between words, and for added brackets without a partner.

    The repair compares only paired brackets, between what a network read and what it wrote; here every bracket of the
    texts counts, including those that no search can put back.
    """
    if BRACKET_SET.isdisjoint(source) and BRACKET_SET.isdisjoint(target) and "/" not in source:
        return None
    source, target = drop_renamed(*drop_marks_of_words(source, target, context))
    if "/" in source and len(SLASHES.pattern.findall(source)) > target.count("/") + target.count("／"):
        return FailedCheck("brackets", "/ missing")
    before, after = (
        Counter(PLAIN_BRACKETS[mark] for mark in text if mark in PLAIN_BRACKETS) for text in (source, target)
    )
    added = after - before
    unpaired = {mark for pair in PARTNERS.items() if added[pair[0]] != added[pair[1]] for mark in pair}
    parts = [(before - after, "missing"), ([mark for mark in added if mark in unpaired], "added")]
    differences = [f"{' '.join(marks)} {what}" for marks, what in parts if marks]
    return FailedCheck("brackets", ", ".join(differences)) if differences else None


def check_quotes(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for quotation marks, and whether they pair up.

    Single quotes count only where they cannot be apostrophes: around a word or more. Quotes need not match exactly
    where a translation uses other brackets.
    """
    is_quoted = not SINGLE_OPENING.isdisjoint(source) and re.search(QUOTED, source) is not None
    if DOUBLE_QUOTE_SET.isdisjoint(source) and DOUBLE_QUOTE_SET.isdisjoint(target) and not is_quoted:
        return None
    bare = drop_marks_of_words(source, target, context)
    message = compare_quotes(*bare, context, is_quoted=is_quoted)
    if not message or check_brackets(source, target, context) is not None:
        return None
    return FailedCheck("quotes", message)


def compare_quotes(source: str, target: str, context: CheckContext, *, is_quoted: bool) -> str:
    """Describes what is wrong with quotation marks; `is_quoted` says that the source has single ones."""
    count, target_count = (sum(map(text.count, DOUBLE_QUOTES)) for text in (source, target))
    if count == target_count and count_between(target) < count_between(source):
        return "words between quotations missing"
    if (count or is_quoted) and not target_count and not re.search(QUOTED, target):
        return "quotation marks missing" if keeps_marks(context, DOUBLE_QUOTES) else ""
    return "a quotation mark has no partner" if target_count % 2 > count % 2 else ""


def count_between(text: str) -> int:
    """Counts the parts with words between two quotations: `he said` in `"No," he said, "not me."`"""
    parts = re.split(f"[{re.escape(DOUBLE_QUOTES)}]", text)
    return sum(any(map(str.isalpha, part)) for part in parts[2:-2:2])


def drop_marks_of_words(source: str, target: str, context: CheckContext) -> tuple[str, str]:
    """Returns both texts without tags and brackets around an ending: `file(s)`.

    The source is also without other marks inside words, as in `Lehrer/innen`.
    """
    source, target = (re.sub(r"<[^<>]*>", "", text) if "<" in text else text for text in (source, target))
    source, target = (re.sub(BRACKETS_IN_WORD, r"\1", text) if "(" in text else text for text in (source, target))
    if "/" in source or "(" in source:
        from nmt_cli.rewriting.gender_forms import drop_gender_marks  # which few lines need

        source = drop_gender_marks(source, context.source_language)
    return source, target


def check_colons(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for a colon, where words of the source stand before one."""
    is_lost = COLON_SET.isdisjoint(target) and re.search(COLON_BEHIND_WORD, source) is not None
    return FailedCheck("colons", "colon missing") if target and is_lost and keeps_marks(context, COLONS) else None


def check_final_mark(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for the final mark of a question or another sentence."""
    mark, target_mark = find_final_mark(source), find_final_mark(target)
    kind, target_kind = MARK_KINDS.get(mark, ""), MARK_KINDS.get(target_mark, "")
    is_free = kind in ("", ":") or target_kind in (kind, ":")  # a pause before a list or the next line is style
    if is_free or not target or not keeps_final_mark(context, mark):
        return None
    lost = f"final mark {mark} missing" if not target_kind else f"final mark {mark} is {target_mark}"
    return FailedCheck("final mark", lost)


def keeps_final_mark(context: CheckContext, mark: str) -> bool:
    """Whether targets end as often as sources with a mark of this kind.

    Japanese, for instance, often ends a question with a full stop, and German the name of a menu with an ellipsis.
    """
    if mark in ELLIPSES:
        return keeps_share(context, lambda side: sum(side.final_marks.get(mark, 0.0) for mark in ELLIPSES))
    return keeps_share(context, lambda side: share_kind(side.final_marks, MARK_KINDS[mark]))


def keeps_marks(context: CheckContext, marks: Collection[str]) -> bool:
    """Whether targets have marks as often as sources: German often quotes the names of buttons, English seldom."""
    return keeps_share(context, lambda side: sum(side.character_counts.get(mark, 0) for mark in marks))


def keeps_share(context: CheckContext, measure: Callable[[TextProfile], float]) -> bool:
    """Whether the measure of training's targets is at least that of its sources, but for a little, as far as known."""
    profile = context.profile
    if profile is None or profile.source is None:
        return True
    return measure(profile.target) >= LEAST_KEPT * measure(profile.source)
