"""Merges the profiles of two training texts, for a model trained on both.

What occurs in both counts as often as in the text that has it more often: sums would count twice what both texts share,
and a model that goes on with its own corpus would forget which words it has hardly read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

from nmt_cli.text.profile import CorpusProfile, parse_word
from nmt_cli.text.profiling.building import (
    NUMBER_MARKS,
    WordLine,
    choose_least_count,
    describe_characters,
    encode_rare,
    estimate_unseen,
    join_profile,
    list_lines,
)
from nmt_cli.text.profiling.word_filter import WordFilter

Header = dict[str, Any]


def merge_profiles(earlier: bytes, later: bytes) -> str:
    """Returns the content of the merged profile; lengths and marks are those of the later text.

    Raises ValueError, KeyError or TypeError for invalid content.
    """
    # 1. Check both, and take them apart.
    for content in (earlier, later):
        CorpusProfile.parse(content)
    (old, old_words), (new, new_words) = split_content(earlier), split_content(later)
    # 2. Unite the words of each side, and the numbers.
    tables = [merge_words(*texts) for texts in zip(old_words, new_words, strict=True)]
    least_count = max(choose_least_count(tables), *(find_least_count(header) for header in (old, new)))
    sides = {
        side: merge_side(old[side], new[side], table, least_count)
        for side, table in zip(("source", "target"), tables, strict=True)
    }
    marks = {kind: merge_marks(old[kind], new[kind]) for kind in NUMBER_MARKS}
    return join_profile({**new, **sides, **marks}, tables, least_count)


def split_content(content: bytes) -> tuple[Header, tuple[str, str]]:
    """Returns the first line of a profile and the unparsed words of both sides."""
    first, _, rest = content.decode().partition("\n")
    source, _, target = rest[:-1].partition("\n\n")
    return json.loads(first), (source, target)


def find_least_count(header: Header) -> int:
    return max(int(side["least_count"]) for side in (header["source"], header["target"]) if side is not None)


def merge_words(earlier: str, later: str) -> list[WordLine]:
    """Returns the lines for the words of both texts, in code point order."""
    totals: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for line in filter(None, (*earlier.split("\n"), *later.split("\n"))):
        key, word = line.partition("\t")[0], parse_word(line)
        totals[key] = max(totals[key], word.total)
        both = forms.setdefault(key, Counter())
        for form, count in word.forms:
            both[form] = max(both[form], count)  # 0, too, tells a form
    return list_lines(totals, forms)


def merge_side(
    earlier: Mapping[str, Any] | None, later: Mapping[str, Any] | None, table: list[WordLine], least_count: int
) -> Header | None:
    """Returns a side's entry in the first line; values that cannot be united come from the later text."""
    if earlier is None or later is None:
        return None if later is None else dict(later)
    counts: Counter[str] = Counter()
    for side in (earlier, later):
        counts |= Counter(dict(zip(side["characters"], side["character_counts"], strict=True)))
    return {
        **later,
        **describe_characters(counts),
        "least_count": least_count,
        "rare": merge_rare([*map(read_rare, (earlier, later)), encode_rare(table, least_count)]),
        "texts": max(earlier["texts"], later["texts"]),
        **{name: later[name] or earlier[name] for name in (f"{kind}_mark" for kind in NUMBER_MARKS)},
        "longest": max(earlier["longest"], later["longest"]),
        "unseen_share": round(estimate_unseen(table), 4),
    }


def read_rare(side: Mapping[str, Any]) -> str | None:
    """Returns the rare words of a side as its first line keeps them; None if they are not known."""
    rare: str | None = side.get("rare", None if side["least_count"] > 1 else "")
    return rare


def merge_rare(parts: Sequence[str | None]) -> str | None:
    """Returns the rare words of several texts; None if those of one are not known."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    filters = [WordFilter.decode(part) for part in known if part]
    return reduce(WordFilter.merge, filters).encode() if filters else ""


def merge_marks(earlier: list[list[Any]], later: list[list[Any]]) -> list[list[Any]]:
    tables = ({(source, target): count for source, target, count in marks} for marks in (earlier, later))
    counts = reduce(or_, map(Counter, tables))
    return [[*both, count] for both, count in counts.most_common()]
