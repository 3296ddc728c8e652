"""Puts the numbers of one text into the translation of another that differs only in its numbers.

Nothing is guessed: each number must occur once in both texts, with the same value, and the new number must require the
same form of the words beside it. Knows only text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from nmt_cli.carrying.numbers.notation import make_number_key
from nmt_cli.carrying.numbers.number_text import NUMBER
from nmt_cli.languages.rules import find_rules

MARK = re.compile(r"[^\d]")


def replace_numbers(
    old_source: str, old_target: str, new_source: str, language: str, convert: Callable[[str], str] = str
) -> str | None:
    """Returns the translation `old_target` of `old_source` with the numbers of `new_source`; None if that is unsafe.

    Both sources are equal except for their numbers. `convert` writes a number in the target's notation, and is asked if
    the old numbers do not show it.
    """
    old, new = NUMBER.findall(old_source), NUMBER.findall(new_source)
    written = {make_number_key(number): number for number in NUMBER.findall(old_target)}
    keys = [make_number_key(number) for number in old]
    # 1. Each number stands once in the source, and once in the target, which has no other.
    if len(set(keys)) < len(keys) or sorted(keys) != sorted(map(make_number_key, NUMBER.findall(old_target))):
        return None
    # 2. The words beside it keep their form.
    if any(find_form(before, language) != find_form(after, language) for before, after in zip(old, new, strict=True)):
        return None
    # 3. Write each new number in the notation of the target.
    replacements = {
        key: copy_notation(before, written[key], after, convert)
        for key, before, after in zip(keys, old, new, strict=True)
    }
    return NUMBER.sub(lambda match: replacements[make_number_key(match[0])], old_target)


def copy_notation(old_source: str, old_target: str, new: str, convert: Callable[[str], str]) -> str:
    """Writes a number with the marks of the old number's translation, if both have the same marks; else converts it."""
    marks, old_marks, target_marks = MARK.findall(new), MARK.findall(old_source), MARK.findall(old_target)
    if not marks:
        return new
    if marks == old_marks and len(target_marks) == len(marks):
        replacing = iter(target_marks)
        return MARK.sub(lambda _: next(replacing), new)
    return convert(new)


def find_form(number: str, language: str) -> tuple[bool, ...]:
    """Returns a key shared by numbers that require the same form of a noun beside them; conservative."""
    plural = find_rules(language).plural
    if plural in ("one", "below two"):  # where 1.5 and 0 may go with the singular
        return (number == "1", plural == "below two" and number[0] in "01" and not number[1:2].isdecimal())
    if not number.isdecimal():
        return ()
    value = int(Decimal(number))  # `int` refuses thousands of digits
    tens, ones = value % 100, value % 10
    is_teen = 11 <= tens <= 19
    form = (value == 0, value == 1, ones == 0, ones == 1, 2 <= ones <= 4, is_teen, tens < 20)
    return form if plural != "dual" else (*form, value == 2, tens == 2, tens in (3, 4), 3 <= tens <= 10)
