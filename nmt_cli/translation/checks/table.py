"""The table of checks with their messages, and the function that runs them. Does not depend on networks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from nmt_cli.carrying.kinds import IF_LOST
from nmt_cli.carrying.spans import LossWords
from nmt_cli.carrying.syntax import CHOICE, INTERVALS, split_choice
from nmt_cli.text.wrapping import join_first
from nmt_cli.translation.checks.marks import (
    check_colons,
    check_final_mark,
    check_length,
    check_loss,
    check_quotes,
    check_sentences,
    check_spans,
    check_terms,
)
from nmt_cli.translation.checks.strange_words import (
    check_copied_words,
    check_invented,
    check_negation,
    find_copied,
    find_invented,
)
from nmt_cli.translation.checks.words import (
    CheckContext,
    Inspection,
    TextComparison,
    check_copy,
    check_coverage,
    check_labels,
    check_language,
    check_other_language,
    check_repeats,
    check_words,
)
from nmt_cli.translation.repair.faults import WordFault, find_fault
from nmt_cli.translation.result import CheckKind, FailedCheck, Translation
from nmt_cli.translation.segmentation.segments import has_mark_inside

# The table of checks: what is compared in every translation, and the messages about it. Does not depend on networks.
#
# A fault found by search may be repaired; the summary counts the repairs. To add a check, name a comparison here, or an
# inspection if it needs more than the texts, and write its words into `checks.toml`.


RULES_PAGE = "docs/rules.md"


class CheckRow(NamedTuple):
    """A kind of check: its comparison and the wording of its messages."""

    name: CheckKind
    summary: str  # what is wrong with the lines that fail it
    compare: TextComparison | None = None
    inspect: Inspection | None = None  # if the texts are not enough; neither: search or confidence finds it
    doc: str = ""  # what it is, where no comparison says so
    repaired: tuple[str, ...] = ()  # what a repaired fault is called, and several if they have no plural in -s
    unrepaired: str = ""  # the message if no remedy helped against the fault
    doubt: str = ""  # the message if one helped, where that leaves a doubt

    @property
    def anchor(self) -> str:
        """The row's anchor on RULES_PAGE, as messages give it: "#check-final-mark"."""
        return f"#check-{self.name.replace(' ', '-')}"

    @classmethod
    def from_words(cls, words: LossWords, inspect: Inspection | None = None) -> CheckRow:
        """Returns the check for lost spans of the kinds that use `words`; `inspect` looks for more than they find."""
        kinds = [kind for kind in IF_LOST if kind.words is words]
        compare = partial(check_loss, words, kinds) if inspect is None else None
        return cls(words.fault, words.summary, compare, inspect, words.doc, words.repaired, words.unrepaired)


COMPARES: Mapping[str, TextComparison] = (
    {"spans": check_spans, "terms": check_terms, "quotes": check_quotes, "colons": check_colons}
    | {"final mark": check_final_mark, "sentences": check_sentences, "copied": check_copy, "repeats": check_repeats}
    | {"length": check_length, "language": check_language, "other language": check_other_language}
    | {"negation": check_negation, "unseen words": check_words}
)
INSPECTS: Mapping[str, Inspection] = {"labels": check_labels, "untranslated": check_coverage} | {
    "invented words": check_invented,
    "copied words": check_copied_words,
}


def read_rows() -> Iterator[CheckRow]:
    """Yields the checks with their wording, ordered as in `checks.toml`; checks for losses use their kinds' wording."""
    import tomllib  # as the rules of languages do

    losses = {kind.words.fault: kind.words for kind in IF_LOST}
    rows: dict[Any, Any] = tomllib.loads(Path(__file__).with_name("checks.toml").read_text(encoding="utf-8"))
    for name, row in rows.items():
        if name in losses:
            yield CheckRow.from_words(losses[name], INSPECTS.get(name))
        else:
            row["repaired"] = tuple(row.get("repaired", ()))
            yield CheckRow(name, compare=COMPARES.get(name), inspect=INSPECTS.get(name), **row)


CHECKS = tuple(read_rows())
COMPARISONS = tuple(check for check in CHECKS if check.compare is not None)
CHECK_ROWS = {check.name: check for check in CHECKS}
OF_FACTS = frozenset(("spans", "numbers"))  # checks of what a memory may have wrong for every text


# Checks a translation against its source: what a person should look at, and why. Does not depend on networks.
#
# Checks favour precision over recall, since false alarms make them worthless: `benchmarks/checks.py` measures how often
# each is raised on human translations.


DEFAULT_CONTEXT = CheckContext()


def check_translation(translation: Translation, context: CheckContext, *, repaired: bool = False) -> Translation:
    """Returns the translation; its `checks` are those that its best hypothesis fails.

    `repaired` says that faults were already looked for: those that remain are among its repairs.
    """
    if not translation.hypotheses:
        return translation
    failed = [*find_faults(translation, context)] if translation.repairs or not repaired else []
    if context.reads_text:
        context = context._replace(placed=translation.placed)
        source = spell_out_choice(read_source_as_known(translation))
        failed += check_pair(source, spell_out_choice(translation.text), context)
        inspected = (check.inspect(translation, context) for check in CHECKS if check.inspect is not None)
        failed += filter(None, inspected)
        failed += list_doubts(translation)
        if translation.is_recalled:  # a person chose its words; of this very text, also its length and its marks
            kept = OF_FACTS if translation.origin == "memory" else CHECK_ROWS.keys() - {"unseen words"}
            failed = [check for check in failed if check.kind in kept]
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
    """Yields checks for marked words left untranslated, terms in another sense, and repairs that may hide a fault."""
    if translation.unplaced:
        yield FailedCheck(
            "enclosed words", (f"no translation for the marked-up words {join_first(translation.unplaced)}")
        )
    if translation.other_senses:
        words = join_first(translation.other_senses)
        yield FailedCheck("terms", f"{words} may have another sense here; add the whole expression to the glossary")
    for repair in translation.repairs:
        if repair.remedy is not None and CHECK_ROWS[repair.fault].doubt:
            yield FailedCheck(repair.fault, CHECK_ROWS[repair.fault].doubt)


def find_word_fault(source: str, target: str, context: CheckContext) -> WordFault | None:
    """Returns the fault in a translation's words that makes repair search again; None if there is none.

    If no remedy helps, the check of the whole line reports the fault. In a text of several sentences, a lost negation
    does not count, because repair might negate the wrong one.
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


def spell_out_choice(text: str) -> str:
    """Returns each text of a message's first choice on a line of its own, with the words around the choice.

    >>> spell_out_choice("I see {n, plural, one {# file} other {# files}}.").split("\\n")
    ['I see # file.', 'I see # files.']
    """
    choice = re.search(f"{CHOICE}|{INTERVALS}", text) if "{" in text else None
    parts = split_choice(choice[0]) if choice else None
    if choice is None or parts is None:
        return text
    before, after = text[: choice.start()], text[choice.end() :]
    return "\n".join(f"{before}{part.text}{after}" for part in parts if part.is_text)


def find_faults(translation: Translation, context: CheckContext) -> Iterator[FailedCheck]:
    """Yields a failed check for each fault that no remedy repaired or, if none was tried, for the visible fault."""
    failed = [repair.fault for repair in translation.repairs if repair.remedy is None]
    if not translation.repairs:
        source = translation.source if context.reads_text else "?"
        fault = find_fault(source, translation.text, finished=not translation.cut, same_language=context.same_language)
        failed = [fault] if fault is not None and fault != "runaway" else []
    yield from (FailedCheck(fault, CHECK_ROWS[fault].unrepaired) for fault in failed)
