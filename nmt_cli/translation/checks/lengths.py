"""Compares the lengths of a source and its translation, and their numbers of sentences. Knows only text."""

from __future__ import annotations

import re

from nmt_cli.text.words import has_word
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.checks.context import CheckContext
from nmt_cli.translation.result import FailedCheck
from nmt_cli.translation.segmentation.segments import find_sentence_starts
from nmt_cli.translation.segmentation.sentence_ends import has_mark_inside

MARGIN = 1.25  # by which a length may exceed the range of all but two thousandths of the training data
BREAK = r"(?i)<(?:br|/p|/li|/div|/h\d|/tr|/td|/th|hr)\b[^<>]*>|\n"


def check_length(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the length ratio with its range in the training data."""
    ratio = context.find_ratio(len(source))
    if ratio is None or not target or ratio.lowest / MARGIN <= len(target) / len(source) <= ratio.highest * MARGIN:
        return None
    size = "short" if len(target) < ratio.mean * len(source) else "long"
    return FailedCheck("length", f"too {size}: {format_count(len(target), 'character')} for {len(source):,}")


def check_sentences(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the numbers of sentences, unless the translation is long enough for all."""
    if not (has_mark_inside(source) or "<" in source or "\n" in source):
        return None
    count = count_sentences(source, context.source_language)
    target_count = count_sentences(target, context.target_language) if count > 1 else count
    if target_count >= count or has_length_of_all(source, target, (count - target_count) / count, context):
        return None
    return FailedCheck("sentences", f"{format_count(count, 'sentence')} became {target_count}")


def has_length_of_all(source: str, target: str, missing: float, context: CheckContext) -> bool:
    """Whether a translation of fewer sentences is as long as one of all, rather than of all but the share `missing`."""
    ratio = context.find_ratio(len(source))
    return ratio is not None and len(target) > ratio.mean * len(source) * (1 - missing / 2)


def count_sentences(text: str, language: str) -> int:
    """Counts the sentences that contain words; a line break and a tag such as <br> end one."""
    lines = re.split(BREAK, text) if "<" in text or "\n" in text else [text]
    lines = [line for line in lines if has_word(re.sub(r"<[^<>]*>", "", line) if "<" in line else line)]
    return sum(len(find_sentence_starts(line.strip(), (), language)) for line in lines)
