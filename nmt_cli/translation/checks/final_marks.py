"""The mark that ends a text, and removing one that a heading or a menu entry should not get. Knows only text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nmt_cli.text.characters import ANY_CLOSING, ELLIPSES, EXCLAMATION_MARKS, FULL_STOPS, PAUSES, QUESTION_MARKS
from nmt_cli.text.words import is_mark

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

BEHIND_MARK = f"{ANY_CLOSING} "
FINAL_KINDS = {  # the marks of a kind are exchanged freely between languages
    "?": f"{QUESTION_MARKS}՞",  # that of Armenian stands in a word, perhaps on its last letter
    ".": FULL_STOPS + EXCLAMATION_MARKS + ELLIPSES,
    ":": PAUSES,
}
MARK_KINDS = {mark: kind for kind, marks in FINAL_KINDS.items() for mark in marks}
ABBREVIATED = r"(?:etc|usw|ff|(?:\w{1,2}\.)+\w{1,2})\.$"  # ends with a full stop of its own: usw., p.m.
ADDED = tuple(FULL_STOPS + EXCLAMATION_MARKS)  # that a network adds to what is none


def find_final_mark(text: str) -> str:
    """Returns the last character before closing quotation marks, brackets and tags; empty if there is none."""
    if text.endswith(">"):
        text = re.sub(r"(?:<[^<>]*>\s*)+$", "", text)
    return text.rstrip(BEHIND_MARK)[-1:]


def drop_added_mark(translation: Translation) -> Translation:
    """Returns the translation without a full stop or exclamation mark that its source lacks.

    For texts that deliberately lack a final mark, such as headings, table cells and menu entries; a network that knows
    only sentences adds one.
    """
    text = translation.text
    if not text.endswith(ADDED) or translation.replacement is not None or translation.origin != "network":
        return translation
    bare = text[:-1].rstrip()
    if (
        not any(last.isalnum() or is_mark(last) for last in bare[-1:])
        or find_final_mark(translation.source) in MARK_KINDS
        or not translation.hypotheses
        or owns_mark(text, translation.source)
    ):
        return translation
    best, *others = translation.hypotheses
    checks = tuple(check for check in translation.checks if check.kind != "final mark")
    return translation._replace(hypotheses=(best._replace(text=bare), *others), checks=checks)


def owns_mark(text: str, source: str) -> bool:
    """Whether the final full stop of a translation belongs to its last word: an abbreviation or an ordinal.

    A number that also ends the source is no ordinal.
    """
    is_ordinal = text[-2:-1].isdigit() and not source.rstrip(BEHIND_MARK)[-1:].isdigit()
    return is_ordinal or re.search(rf"(?<![^\s(]){ABBREVIATED}", text) is not None
