"""Checks a translation against its source: what a person should look at, and why. Knows no network.

Checks favour precision over recall, since false alarms make them worthless: `benchmarks/checks.py` measures how often
each is raised on human translations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.carrying.choices import spell_out_choice
from nmt_cli.translation.checks.context import CheckContext
from nmt_cli.translation.checks.negation import check_negation
from nmt_cli.translation.checks.strange_words import find_copied, find_invented
from nmt_cli.translation.checks.table import CHECK_ROWS, COMPARISONS, INSPECTIONS
from nmt_cli.translation.checks.words import check_repeats
from nmt_cli.translation.repair.faults import WordFault, find_fault
from nmt_cli.translation.result import FailedCheck, Translation
from nmt_cli.translation.segmentation.sentence_ends import has_mark_inside

DEFAULT_CONTEXT = CheckContext()


def check_translation(translation: Translation, context: CheckContext, *, repaired: bool = False) -> Translation:
    """Returns the translation with the checks that its best hypothesis fails in `checks`.

    `repaired` says that faults were already searched for: the remaining ones are in its repairs.
    """
    if not translation.hypotheses:
        return translation
    failed = [*find_faults(translation, context)] if translation.repairs or not repaired else []
    if context.reads_text:
        context = context._replace(placed=translation.placed)
        source = spell_out_choice(read_source_as_known(translation))
        failed += check_pair(source, spell_out_choice(translation.text), context)
        inspected = (check.inspect(translation, context) for check in INSPECTIONS if check.inspect is not None)
        failed += filter(None, inspected)
        failed += list_doubts(translation)
        if translation.is_recalled:  # a person chose its words
            failed = [check for check in failed if check.kind != "unseen words"]
    else:
        failed += filter(None, [check_repeats("", translation.text, context)])
    if not failed:
        return translation
    checks = {check.kind: check for check in reversed(failed)}
    return translation._replace(checks=tuple(reversed(checks.values())))


def check_pair(source: str, target: str, context: CheckContext = DEFAULT_CONTEXT) -> list[FailedCheck]:
    """Returns the checks that `target` fails as a translation of `source`, at most one per kind."""
    compared = (check.compare(source, target, context) for check in COMPARISONS if check.compare is not None)
    return [failed for failed in compared if failed is not None]


def list_doubts(translation: Translation) -> Iterator[FailedCheck]:
    """Yields the repaired faults behind which another may hide: a word that is wrong, a negation of something else."""
    for repair in translation.repairs:
        if repair.remedy is not None and CHECK_ROWS[repair.fault].doubt:
            yield FailedCheck(repair.fault, CHECK_ROWS[repair.fault].doubt)


def find_word_fault(source: str, target: str, context: CheckContext) -> WordFault | None:
    """Returns the fault in the words of a sentence's translation for which it is searched again; None if there is none.

    Checks of whole lines tell it where no remedy helped. Of several sentences, another than the negated one might get
    the negation.
    """
    if not context.reads_text:
        return None
    if check_negation(source, target, context) and not has_mark_inside(source):
        return WordFault("negation")
    if copied := find_copied(source, target, context):
        return WordFault("copied words", tuple(copied))
    invented = find_invented(source, target, context)
    return WordFault("invented words", tuple(invented)) if invented else None


def read_source_as_known(translation: Translation) -> str:
    """Returns the source with its mistyped words replaced by the known words they were read as."""
    if not translation.read_as:
        return translation.source
    spellings = dict(translation.read_as)
    words = "|".join(map(re.escape, sorted(spellings, key=len, reverse=True)))
    return re.sub(rf"(?<![\w'’])(?:{words})(?![\w'’])", lambda word: spellings[word[0]], translation.source)


def find_faults(translation: Translation, context: CheckContext) -> Iterator[FailedCheck]:
    """Yields the faults that no remedy repaired or, if none was tried, the visible fault."""
    failed = [repair.fault for repair in translation.repairs if repair.remedy is None]
    if not translation.repairs:
        source = translation.source if context.reads_text else "?"
        fault = find_fault(source, translation.text, finished=not translation.cut, same_language=context.same_language)
        failed = [fault] if fault is not None and fault != "runaway" else []
    yield from (FailedCheck(fault, CHECK_ROWS[fault].unrepaired) for fault in failed)
