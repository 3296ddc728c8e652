"""The table of checks, with their messages, and how a translation is checked. Knows no network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from nmt_cli.carrying.kinds import IF_LOST
from nmt_cli.carrying.people import COPIED_NAMES
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

# The table of checks: what is compared in every translation, and the messages about it. Knows no network.
#
# A fault found by search may be repaired; the summary counts the repairs. To add a check, name a comparison here, or an
# inspection if it needs more than the texts.


RULES_PAGE = "docs/rules.md"


class CheckRow(NamedTuple):
    """A kind of check: its comparison, and the words of its messages."""

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
        """The row's anchor on RULES_PAGE, which messages name: "#check-final-mark"."""
        return f"#check-{self.name.replace(' ', '-')}"

    @classmethod
    def from_words(cls, words: LossWords, inspect: Inspection | None = None) -> CheckRow:
        """Returns the row of spans that their kinds find lost; `inspect` looks for more than they do."""
        kinds = [kind for kind in IF_LOST if kind.words is words]
        compare = partial(check_loss, words, kinds) if inspect is None else None
        return cls(words.fault, words.summary, compare, inspect, words.doc, words.repaired, words.unrepaired)


LOSSES = tuple(dict.fromkeys(kind.words for kind in IF_LOST))
CHECKS = (
    CheckRow("failed", "copied, because nmt failed on them", doc="Finds a line on which nmt itself failed."),
    CheckRow(
        "kept",
        "kept as in the source or marked fuzzy, because the translation dropped a placeholder, a tag or a key",
        doc="Finds a text of a document whose translation lacks a placeholder or tag when nmt reads it again.",
    ),
    CheckRow(
        "empty",
        "without a translation",
        doc="Finds a missing translation.",
        repaired=("empty translation",),
        unrepaired="there is no translation",
    ),
    CheckRow(
        "loop",
        "caught in a loop",
        doc="Finds a translation that repeats itself.",
        repaired=("loop",),
        unrepaired="the translation repeats itself",
    ),
    CheckRow(
        "runaway",
        "with an endless translation",
        doc="Finds a translation that does not end.",
        repaired=("endless translation",),
        unrepaired="the translation does not end",
    ),
    CheckRow(
        "placeholder",
        "with a word dropped",
        doc="Finds a word that the network turned into a placeholder.",
        repaired=("dropped word",),
        unrepaired="a source word is missing",
    ),
    CheckRow(
        "spans",
        "with a missing or perhaps misplaced protected span",
        check_spans,
        repaired=("dropped span",),
        unrepaired="a span of the source is missing",
    ),
    CheckRow(
        "enclosed words",
        "with words between two spans or marks perhaps dropped",
        doc="Finds protected spans that are adjacent only in the translation, and words in bold, in a link or between "
        "other marks that have no translation.",
        repaired=("phrase dropped between spans", "phrases dropped between spans"),
        unrepaired="the words between two spans may be missing",
    ),
    CheckRow("labels", "with an untranslated label", inspect=check_labels),
    CheckRow(
        "terms", "with a glossary term that is missing or misplaced, or in a different sense or form", check_terms
    ),
    *(CheckRow.from_words(words) for words in LOSSES if words is not COPIED_NAMES.words),
    CheckRow("quotes", "with missing, added or unpaired quotation marks", check_quotes),
    CheckRow("colons", "with a missing colon", check_colons),
    CheckRow("final mark", "with final punctuation different from the source", check_final_mark),
    CheckRow("sentences", "with a missing sentence or list item", check_sentences),
    CheckRow.from_words(COPIED_NAMES.words, inspect=check_coverage),
    CheckRow(
        "copied",
        "left untranslated",
        check_copy,
        repaired=("copy of the source", "copies of the source"),
        unrepaired="the translation equals the source",
    ),
    CheckRow("repeats", "with a word or phrase twice in a row", check_repeats),
    CheckRow("length", "of unusual length", check_length),
    CheckRow("language", "already in the target language", check_language),
    CheckRow("other language", "in a third language", check_other_language),
    CheckRow(
        "invented words",
        "with invented words",
        inspect=check_invented,
        repaired=("invented word",),
        unrepaired="a word that never occurred in training",
        doubt="the network first invented a word; check the new wording",
    ),
    CheckRow(
        "copied words",
        "with words left in the source language",
        inspect=check_copied_words,
        repaired=("word left in the source language", "words left in the source language"),
        unrepaired="a word of the source is not translated",
        doubt="the network first left a word untranslated; check the new wording",
    ),
    CheckRow(
        "negation",
        "with a dropped or added negation",
        check_negation,
        repaired=("dropped or added negation",),
        unrepaired="a negation is missing or added",
        doubt="the network first dropped or added a negation; check the new wording",
    ),
    CheckRow("unseen words", "with source or target words never seen in training", check_words),
    CheckRow(
        "confidence",
        "with low confidence",
        doc="Finds a sentence whose confidence is below `--min-confidence`, by default the model's threshold. Of "
        "several sentences, it names the least confident. 5 % of paragraphs with three to six good sentences fail it.",
    ),
)
COMPARISONS = tuple(check for check in CHECKS if check.compare is not None)
CHECK_ROWS = {check.name: check for check in CHECKS}
OF_FACTS = frozenset(("spans", "numbers"))  # checks of what a memory may have wrong for every text


# Checks a translation against its source: what a person should look at, and why. Knows no network.
#
# Checks favour precision over recall, since false alarms make them worthless: `benchmarks/checks.py` measures how often
# each is raised on human translations.


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
    """Yields marks whose words have no translation, terms in another sense, and repairs that may hide a fault."""
    if translation.unplaced:
        yield FailedCheck("enclosed words", f"no translation of the marked {join_first(translation.unplaced)}")
    if translation.other_senses:
        words = join_first(translation.other_senses)
        yield FailedCheck("terms", f"{words} may have another sense here; add the whole expression to the glossary")
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


def spell_out_choice(text: str) -> str:
    """Returns the texts of the first choice of a message, each on a line with the words around the choice.

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
    """Yields the faults that no remedy repaired or, if none was tried, the visible fault."""
    failed = [repair.fault for repair in translation.repairs if repair.remedy is None]
    if not translation.repairs:
        source = translation.source if context.reads_text else "?"
        fault = find_fault(source, translation.text, finished=not translation.cut, same_language=context.same_language)
        failed = [fault] if fault is not None and fault != "runaway" else []
    yield from (FailedCheck(fault, CHECK_ROWS[fault].unrepaired) for fault in failed)
