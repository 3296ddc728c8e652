"""Compares the brackets, slashes, quotation marks and final marks of two texts. Knows only text."""

from __future__ import annotations

import re
from collections import Counter

from nmt_cli.carrying.brackets import SLASHES
from nmt_cli.rewriting.final_marks import MARK_KINDS, find_final_mark, share_kind
from nmt_cli.text.characters import COLONS, DOUBLE_QUOTES, PLAIN_BRACKETS, QUOTES, SINGLE_QUOTES
from nmt_cli.translation.checks.context import CheckContext
from nmt_cli.translation.result import FailedCheck

BRACKET_SET = frozenset(PLAIN_BRACKETS)
DOUBLE_QUOTE_SET = frozenset(DOUBLE_QUOTES)
SINGLE_OPENING = frozenset(SINGLE_QUOTES) - {"’"}
# As text: compiled at its first use.
QUOTED = rf"(?<![\w'])(?!’)[{SINGLE_QUOTES}][^\W_]{{2}}[^{SINGLE_QUOTES}]{{0,200}}[{SINGLE_QUOTES}](?!\w)"
COLON_SET = frozenset(COLONS)
COLON_BEHIND_WORD = rf"[^\W\d_]\s?[{re.escape(COLONS)}](?=\s+[^\s{QUOTES}]|$)"  # not before speech
MARK_TOLERANCE = 0.01  # by which the shares of a final mark on both sides may differ


def check_brackets(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the brackets of each kind, and looks for slashes between words.

    The repair compares only paired brackets, between what a network read and what it wrote; here every bracket of the
    texts counts, including added ones and those that no search can put back.
    """
    if BRACKET_SET.isdisjoint(source) and BRACKET_SET.isdisjoint(target) and "/" not in source:
        return None
    source, target = drop_marks_of_words(source, target, context)
    if "/" in source and len(SLASHES.pattern.findall(source)) > target.count("/") + target.count("／"):
        return FailedCheck("brackets", "/ missing")
    before, after = (
        Counter(PLAIN_BRACKETS[mark] for mark in text if mark in PLAIN_BRACKETS) for text in (source, target)
    )
    parts = [(before - after, "missing"), (after - before, "added")]
    differences = [f"{' '.join(marks)} {what}" for marks, what in parts if marks]
    return FailedCheck("brackets", ", ".join(differences)) if differences else None


def check_quotes(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares whether there are quotation marks, and whether they pair up.

    Single quotes count only where they cannot be apostrophes: around a word or more. Quotes need not match exactly
    where a translation uses other brackets.
    """
    is_quoted = not SINGLE_OPENING.isdisjoint(source) and re.search(QUOTED, source) is not None
    if DOUBLE_QUOTE_SET.isdisjoint(source) and DOUBLE_QUOTE_SET.isdisjoint(target) and not is_quoted:
        return None
    bare = drop_marks_of_words(source, target, context)
    message = compare_quotes(*bare, is_quoted=is_quoted)
    if not message or check_brackets(source, target, context) is not None:
        return None
    return FailedCheck("quotes", message)


def compare_quotes(source: str, target: str, *, is_quoted: bool) -> str:
    """Describes a mismatch of quotation marks; `is_quoted` says that the source has single ones."""
    count, target_count = (sum(map(text.count, DOUBLE_QUOTES)) for text in (source, target))
    if (count or is_quoted) and not target_count and not re.search(QUOTED, target):
        return "quotation marks missing"
    if target_count and not count and not is_quoted:
        return "quotation marks added"
    return "a quotation mark has no partner" if target_count % 2 > count % 2 else ""


def drop_marks_of_words(source: str, target: str, context: CheckContext) -> tuple[str, str]:
    """Returns both texts without tags, and the source without marks inside words, as in `Lehrer/innen`."""
    source, target = (re.sub(r"<[^<>]*>", "", text) if "<" in text else text for text in (source, target))
    if "/" in source or "(" in source:
        from nmt_cli.rewriting.gender_forms import drop_gender_marks  # which few lines need

        source = drop_gender_marks(source, context.source_language)
    return source, target


def check_colons(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for a colon, where words of the source stand before one."""
    is_lost = COLON_SET.isdisjoint(target) and re.search(COLON_BEHIND_WORD, source) is not None
    return FailedCheck("colons", "colon missing") if target and is_lost else None


def check_final_mark(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the final marks: of a question, another sentence, or none."""
    mark, target_mark = find_final_mark(source), find_final_mark(target)
    kind, target_kind = MARK_KINDS.get(mark, ""), MARK_KINDS.get(target_mark, "")
    if kind == target_kind or not target or not has_same_marks(context, kind, target_kind):
        return None
    if not kind:
        return FailedCheck("final mark", f"final mark {target_mark} added")
    lost = f"final mark {mark} missing" if not target_kind else f"final mark {mark} is {target_mark}"
    return FailedCheck("final mark", lost)


def has_same_marks(context: CheckContext, *kinds: str) -> bool:
    """Whether texts of both sides end with marks of these kinds equally often, as far as known.

    Japanese, for instance, often ends a question with a full stop.
    """
    if context.profile is None or context.profile.source is None:
        return True
    sides = (context.profile.source.final_marks, context.profile.target.final_marks)
    return all(abs(share_kind(sides[0], kind) - share_kind(sides[1], kind)) <= MARK_TOLERANCE for kind in kinds)
