"""Compares the lengths of a source and its translation, and their numbers of sentences. Knows only text."""

from __future__ import annotations

import re
from itertools import pairwise

from nmt_cli.languages.rules import find_rules
from nmt_cli.text.words import has_word
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.checks.context import CheckContext
from nmt_cli.translation.result import FailedCheck
from nmt_cli.translation.segmentation.segments import find_sentence_starts
from nmt_cli.translation.segmentation.sentence_ends import has_mark_inside

MARGIN = 1.25  # by which a length may exceed the range of all but two thousandths of the training data
BREAK = r"(?i)<(?:br|/p|/li|/div|/h\d|/tr|/td|/th|hr)\b[^<>]*>|\n"
COMMA = r",\s"
ITEM_WORDS = 3  # of an item of a list


def check_length(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the length ratio with its range in the training data."""
    ratio = context.find_ratio(len(source))
    if ratio is None or not target or ratio.lowest / MARGIN <= len(target) / len(source) <= ratio.highest * MARGIN:
        return None
    size = "short" if len(target) < ratio.mean * len(source) else "long"
    return FailedCheck("length", f"too {size}: {format_count(len(target), 'character')} for {len(source):,}")


def check_sentences(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the numbers of sentences, and of items of lists.

    A translation that is long enough for all sentences may have fewer.
    """
    if not (has_mark_inside(source) or "<" in source or "\n" in source):
        return check_items(source, target, context)
    count = count_sentences(source, context.source_language)
    target_count = count_sentences(target, context.target_language) if count > 1 else count
    if target_count >= count or has_length_of_all(source, target, (count - target_count) / count, context):
        return check_items(source, target, context)
    return FailedCheck("sentences", f"{format_count(count, 'sentence')} became {target_count}")


def check_items(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for the commas of a list of short items; the one before its last word, such as "and", is style."""
    commas, target_commas = count_list_commas(source, context.source_language), len(re.findall(COMMA, target))
    return FailedCheck("sentences", "an item of a list may be missing") if target and target_commas < commas else None


def count_list_commas(text: str, language: str) -> int:
    """Counts the commas of a text with three items in a row, the first and last of which may be longer; else 0."""
    parts = re.split(COMMA, text)
    if len(parts) <= ITEM_WORDS:
        return 0
    link = re.compile(rf"(?:{find_rules(language).list_links})\b")
    are_items = [len(part.split()) <= ITEM_WORDS and not link.match(part) for part in parts[1:-1]]
    is_list = any(all(pair) for pair in pairwise(are_items))
    return (len(parts) - 1 - (link.match(parts[-1]) is not None)) * is_list


def has_length_of_all(source: str, target: str, missing: float, context: CheckContext) -> bool:
    """Whether a translation of fewer sentences is as long as one of all, rather than of all but the share `missing`."""
    ratio = context.find_ratio(len(source))
    return ratio is not None and len(target) > ratio.mean * len(source) * (1 - missing / 2)


def count_sentences(text: str, language: str) -> int:
    """Counts the sentences that contain words; a line break and a tag such as <br> end one."""
    lines = re.split(BREAK, text) if "<" in text or "\n" in text else [text]
    lines = [line for line in lines if has_word(re.sub(r"<[^<>]*>", "", line) if "<" in line else line)]
    return sum(len(find_sentence_starts(line.strip(), (), language)) for line in lines)
