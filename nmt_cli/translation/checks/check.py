"""Checks a translation against its source: what a person should look at, and why. Knows text alone.

Each check is precise rather than complete, since one that cries wolf is worth nothing: `benchmarks/checks.py` measures
how often each raises an alarm on translations that people made.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.numbers.notation import BETWEEN_DIGITS
from nmt_cli.carrying.spans import DIGIT
from nmt_cli.text.characters import DOUBLE_QUOTES, END_MARKS, PAUSES, PLAIN_BRACKETS, QUOTES, SINGLE_QUOTES
from nmt_cli.text.normalise import find_unspaced, normalise, split_unspaced
from nmt_cli.text.words import choose_word_pattern
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.checks.final_marks import MARK_KINDS, find_final_mark
from nmt_cli.translation.repair.faults import find_fault, has_stutter, split_units, strip_words
from nmt_cli.translation.result import FailedCheck, Placed, Translation
from nmt_cli.translation.segmentation.segments import find_sentence_starts
from nmt_cli.translation.segmentation.sentence_ends import has_mark_inside

if TYPE_CHECKING:
    from nmt_cli.text.profile import CorpusProfile, LengthRatio, TextProfile
    from nmt_cli.translation.repair.faults import Fault
    from nmt_cli.translation.result import CheckKind

# Patterns as text: compiled at their first use.
STROKE = r"(?<=[^\W\d_])/(?=[^\W\d_])"  # between two words, not in a date or a fraction
SINGLE_OPENING = frozenset(SINGLE_QUOTES) - {"’"}
QUOTED = rf"(?<![\w'])(?!’)[{SINGLE_QUOTES}][^\W_]{{2}}[^{SINGLE_QUOTES}]{{0,200}}[{SINGLE_QUOTES}](?!\w)"
MARKS_INSIDE = frozenset((*PLAIN_BRACKETS, *DOUBLE_QUOTES))
BREAK = r"(?i)<(?:br|/p|/li|/div|/h\d|/tr|/td|/th|hr)\b[^>]*>|\n"
EDGES = END_MARKS + PAUSES + QUOTES  # what may stand around a word
COPIED_WORDS = 3  # ordinary words in a row that two languages seldom share
COPIED_PAIRS = 4  # pairs of characters, where a script has no blanks
UNSEEN_OFTEN = 0.1  # as an expected share of a new text, new words are usual; 5,000 ordinary pairs have 4 to 9 %
HALF, THIRD = 2, 3  # parts of the words: one unseen word is an alarm if it is half of them, two if they are a third
SHOWN = 3  # words, numbers or spans that a message names
MARK_TOLERANCE = 0.01  # by which the shares of a final mark on both sides may differ
MOST_REMEMBERED = 200_000  # words that are known to be in the training text
MARGIN = 1.25  # by which a length may exceed the range of all but two thousandths of the training data


class CheckContext(NamedTuple):
    """What the checks know beside the two texts."""

    source_language: str = ""  # a code of two or three letters, by which number words are known
    target_language: str = ""
    reads_text: bool = True  # whether a source is text; of a picture, only the translation itself can be checked
    profile: CorpusProfile | None = None  # of the training text; None: its words and lengths are not known

    ratios: dict[int, LengthRatio | None] = {}  # noqa: RUF012 - those of the profile, by the length of the source

    @classmethod
    def from_profile(
        cls, languages: tuple[str, str], profile: CorpusProfile | None, *, reads_text: bool
    ) -> CheckContext:
        """Returns the context of a model with these languages."""
        return cls(*languages, reads_text, profile, {})

    def find_ratio(self, length: int) -> LengthRatio | None:
        """Returns the ratio of the lengths in training for a source of so many characters; None if it is not known."""
        if length not in self.ratios:
            self.ratios[length] = self.profile.find_ratio(length) if self.profile is not None and length else None
        return self.ratios[length]

    def has_same_marks(self, *kinds: str) -> bool:
        """Whether texts of both sides end as often with marks of these kinds, as far as that is known.

        Japanese, for instance, often ends a question with a full stop.
        """
        if self.profile is None or self.profile.source is None:
            return True
        sides = (self.profile.source.final_marks, self.profile.target.final_marks)
        return all(abs(share_kind(sides[0], kind) - share_kind(sides[1], kind)) <= MARK_TOLERANCE for kind in kinds)

    @property
    def same_language(self) -> bool:
        return bool(self.source_language) and self.source_language == self.target_language


def share_kind(final_marks: Mapping[str, float], kind: str) -> float:
    """Returns the share of the texts that end with a mark of a kind; the kind "" is any other end."""
    if not kind:
        return 1 - sum(share for mark, share in final_marks.items() if mark in MARK_KINDS)
    return sum(share for mark, share in final_marks.items() if MARK_KINDS.get(mark) == kind)


DEFAULT_CONTEXT = CheckContext()


def check_translation(
    translation: Translation, context: CheckContext = DEFAULT_CONTEXT, *, healed: bool = False
) -> Translation:
    """Returns the translation with the checks that its best hypothesis fails in `checks`.

    `healed` says that faults were looked for before: those that are left stand in its repairs.
    """
    if not translation.hypotheses:
        return translation
    failed = [*find_faults(translation, context)] if translation.repairs or not healed else []
    if context.reads_text:
        spans = translation.placed
        failed += check_pair(write_known_words(translation), translation.text, context, spans=spans)
        if translation.is_recalled:  # a person chose its words
            failed = [check for check in failed if check.kind != "unseen words"]
    else:
        failed += filter(None, [check_repeats("", translation.text, context)])
    if not failed:
        return translation
    checks = {check.kind: check for check in reversed(failed)}
    return translation._replace(checks=tuple(reversed(checks.values())))


def check_pair(
    source: str, target: str, context: CheckContext = DEFAULT_CONTEXT, *, spans: Sequence[Placed] | None = None
) -> list[FailedCheck]:
    """Returns the checks that `target` fails as a translation of `source`, at most one of a kind.

    `spans` are those that were put into the translation; None: those that the source has.
    """
    failed = [] if spans is not None and not spans else [*check_spans(source, target, spans)]
    for compare in COMPARISONS:
        check = compare(source, target, context)
        if check is not None:
            failed.append(check)
    return failed


def write_known_words(translation: Translation) -> str:
    """Returns the source with the known words as which mistyped ones were read."""
    if not translation.read_as:
        return translation.source
    known = dict(translation.read_as)
    words = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return re.sub(rf"(?<![\w'’])(?:{words})(?![\w'’])", lambda word: known[word[0]], translation.source)


def find_faults(translation: Translation, context: CheckContext) -> Iterator[FailedCheck]:
    """Yields the faults that no remedy helped against, and if none was tried, the fault that shows."""
    failed = [repair.fault for repair in translation.repairs if repair.remedy is None]
    if not translation.repairs:
        source = translation.source if context.reads_text else "?"
        fault = find_fault(source, translation.text, finished=not translation.cut, same_language=context.same_language)
        failed = [fault] if fault is not None and fault != "runaway" else []
    yield from (FailedCheck(fault, FAULT_MESSAGES[fault]) for fault in failed)


FAULT_MESSAGES: dict[Fault, str] = {
    "empty": "there is no translation",
    "loop": "the translation repeats itself",
    "runaway": "the translation does not end",
    "copied": "the translation is the source",
    "placeholder": "a word of the source is lost",
    "numbers": "a number of the source is lost",
    "dates": "a date of the source is lost",
    "brackets": "a bracket or stroke of the source is lost",
}


def check_spans(source: str, target: str, placed: Sequence[Placed] | None) -> Iterator[FailedCheck]:
    """Yields a check for protected spans and one for glossary terms that are missing or may stand at a wrong place."""
    if placed is None:
        missing = [span.text for span in find_spans(source) if not span.is_number and span.text not in target]
        if missing:
            yield FailedCheck("spans", f"{join_shown(missing)} missing")
        return
    kinds: tuple[tuple[CheckKind, bool], ...] = (("spans", False), ("terms", True))
    terms = {span.text for span in placed if span.text not in source and not is_number_of(span.text, source)}
    for kind, is_term in kinds:
        spans = [span for span in placed if (span.text in terms) == is_term]
        counts = Counter(span.text for span in spans)
        missing = [text for text, count in counts.items() if target.count(text) < count]
        guessed = [span.text for span in spans if span.doubtful]
        if missing:
            yield FailedCheck(kind, f"{join_shown(missing)} missing")
        elif guessed:
            yield FailedCheck(kind, f"the place of {join_shown(guessed)} is a guess")


def is_number_of(text: str, source: str) -> bool:
    """Whether a span is a number of the source, perhaps in the notation of the target."""
    digits = re.sub(r"\D", "", text)
    return digits != "" and digits in re.sub(BETWEEN_DIGITS, "", source)


def check_numbers(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the numbers of both texts by value."""
    if not (DIGIT.search(source) or DIGIT.search(target)):
        return None
    from nmt_cli.carrying.numbers.values import compare_numbers  # which most lines need not

    missing, invented = compare_numbers(source, target, context.source_language, context.target_language)
    parts = [
        f"{join_shown(numbers)} {what}" for numbers, what in ((missing, "missing"), (invented, "added")) if numbers
    ]
    if not parts:
        return None
    noun = "number" if len(missing or invented) == 1 else "numbers"
    return FailedCheck("numbers", f"{noun} {', '.join(parts)}")


def check_dates(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for the months of the dates of the source; their numbers are those of `check_numbers`."""
    if not DIGIT.search(source):
        return None
    from nmt_cli.carrying.numbers.dates import find_lost_months  # which most lines need not

    lost = find_lost_months(source, target, context.source_language, context.target_language)
    return FailedCheck("dates", f"{join_shown(lost)} missing") if lost else None


def check_inner_marks(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares brackets, strokes, and whether there are quotation marks on both sides, in pairs.

    Single ones count where they surely are no apostrophes: around a word or more.
    """
    is_quoted = not SINGLE_OPENING.isdisjoint(source) and re.search(QUOTED, source) is not None
    has_stroke = "/" in source
    if MARKS_INSIDE.isdisjoint(source) and MARKS_INSIDE.isdisjoint(target) and not is_quoted and not has_stroke:
        return None
    source, target = (re.sub(r"<[^>]*>", "", text) if "<" in text else text for text in (source, target))
    if has_stroke or "(" in source:
        from nmt_cli.rewriting.gender_forms import drop_gender_marks  # which few lines need

        source = drop_gender_marks(source, context.source_language)
    if has_stroke and len(re.findall(STROKE, source)) > target.count("/") + target.count("／"):
        return FailedCheck("brackets", "/ missing")
    before, after = (
        Counter(PLAIN_BRACKETS[mark] for mark in text if mark in PLAIN_BRACKETS) for text in (source, target)
    )
    if before != after:
        parts = [(before - after, "missing"), (after - before, "added")]
        return FailedCheck("brackets", ", ".join(f"{' '.join(marks)} {what}" for marks, what in parts if marks))
    count, target_count = (sum(map(text.count, DOUBLE_QUOTES)) for text in (source, target))
    if (count or is_quoted) and not target_count and not re.search(QUOTED, target):
        return FailedCheck("quotes", "quotation marks missing")
    if target_count and not count and not is_quoted:
        return FailedCheck("quotes", "quotation marks added")
    return FailedCheck("quotes", "a quotation mark has no partner") if target_count % 2 > count % 2 else None


def check_final_mark(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the kinds of the final marks: a question, another sentence, or none."""
    mark, target_mark = find_final_mark(source), find_final_mark(target)
    kind, target_kind = MARK_KINDS.get(mark, ""), MARK_KINDS.get(target_mark, "")
    if kind == target_kind or not target or not context.has_same_marks(kind, target_kind):
        return None
    if not kind:
        return FailedCheck("final mark", f"final mark {target_mark} added")
    lost = f"final mark {mark} missing" if not target_kind else f"final mark {mark} is {target_mark}"
    return FailedCheck("final mark", lost)


def check_sentences(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the numbers of sentences where the source has several."""
    if not (has_mark_inside(source) or "<" in source or "\n" in source):
        return None
    count = count_sentences(source, context.source_language)
    target_count = count_sentences(target, context.target_language) if count > 1 else count
    if target_count >= count:
        return None
    return FailedCheck("sentences", f"{format_count(count, 'sentence')} became {target_count}")


def count_sentences(text: str, language: str = "") -> int:
    """Returns the number of sentences that have words; a line break and a tag such as <br> end one."""
    lines = re.split(BREAK, text) if "<" in text or "\n" in text else [text]
    lines = [line for line in lines if any(map(str.isalnum, re.sub(r"<[^>]*>", "", line) if "<" in line else line))]
    return sum(len(find_sentence_starts(line.strip(), (), language)) for line in lines)


def check_copy(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for ordinary words of the source, several in a row, that were not translated."""
    if context.same_language:
        return None
    if len(set(source.split()) & set(target.split())) < COPIED_WORDS and not find_unspaced(source):
        return None  # fast for nearly all translations
    words, target_words = split_units(normalise(source)), split_units(target)
    size = COPIED_PAIRS if find_unspaced(source) else COPIED_WORDS
    runs = {tuple(words[index : index + size]) for index in range(len(words) - size + 1)}
    for index in range(len(target_words) - size + 1):
        run = tuple(target_words[index : index + size])
        if run in runs and all(word.isalpha() and word == word.lower() for word in run):
            return FailedCheck("copied", f"not translated: {' '.join(run)}")
    return None


def check_repeats(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for a word or phrase that stands twice in a row, and not in the source."""
    words = target.casefold().split()
    repeated = len(words) - len({*words})
    # A phrase of two words that stands twice in a row repeats two words; a single one stands beside itself.
    if not repeated or (repeated == 1 and not has_neighbours(words)) or not has_stutter(source, target):
        return None
    return FailedCheck("repeats", f"twice in a row: {find_repeated_phrase(strip_words(target))}")


def has_neighbours(words: Sequence[str]) -> bool:
    """Whether a word stands beside itself, whatever punctuation is between."""
    return any(word.strip(EDGES) == following.strip(EDGES) for word, following in pairwise(words))


def find_repeated_phrase(words: Sequence[str]) -> str:
    """Returns the shortest phrase that stands twice in a row; empty without any."""
    for size in range(1, len(words) // 2 + 1):
        for index in range(len(words) - 2 * size + 1):
            if words[index : index + size] == words[index + size : index + 2 * size]:
                return " ".join(words[index : index + size])
    return ""


def check_length(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Compares the ratio of the lengths with those of the training data."""
    ratio = context.find_ratio(len(source)) if context.profile is not None else None
    if ratio is None or not target or ratio.lowest / MARGIN <= len(target) / len(source) <= ratio.highest * MARGIN:
        return None
    size = "short" if len(target) < ratio.mean * len(source) else "long"
    return FailedCheck("length", f"too {size}: {format_count(len(target), 'character')} for {len(source):,}")


def check_words(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for words that training never had: half of a text, or of the source two words that are a third of it.

    A word that stands in both texts is a name or was copied, and does not count. A side of which the training text is
    so small that new words are common in any text is not looked at.
    """
    if context.profile is None or context.profile.source is None:
        return None
    unseen, count = find_unseen_words(source, target, context.profile.source)
    if not (len(unseen) * HALF >= count or (len(unseen) > 1 and len(unseen) * THIRD >= count)):
        unseen = []
    if not unseen:
        unseen, count = find_unseen_words(target, source, context.profile.target)
        unseen = unseen if len(unseen) * HALF >= count else []
    return FailedCheck("unseen words", f"never seen in training: {join_shown(unseen)}") if unseen else None


def find_unseen_words(text: str, other: str, profile: TextProfile) -> tuple[list[str], int]:
    """Returns the words that are neither in the `other` text nor in the training text, and the number of all words."""
    parts, familiar = text.split(), profile.words.familiar
    if profile.unseen_share > UNSEEN_OFTEN or familiar.issuperset(parts):
        return [], len(parts)  # fast for most texts
    new = [part for part in parts if part not in familiar and not has_known_words(part, profile)]
    if len(familiar) > MOST_REMEMBERED:
        familiar.clear()
    familiar.update(part for part in parts if part not in new)
    other = other.lower()
    words = [word for part in new for word in find_words(part) if not is_seen(word, profile) and word not in other]
    return words, sum(max(1, len(find_words(part))) for part in parts) if words else len(parts)


def has_known_words(part: str, profile: TextProfile) -> bool:
    """Whether training had all words of a part of a text between blanks."""
    return all(is_seen(word, profile) for word in find_words(part))


def is_seen(word: str, profile: TextProfile) -> bool:
    """Whether training had a word, perhaps in the forms of letters that are read as they are: Ｈｅｌｌｏ, ﬁne."""
    return profile.has_word(word) or (not word.isascii() and profile.has_word(unicodedata.normalize("NFKC", word)))


def find_words(text: str) -> list[str]:
    """Returns the words in lower case; of a script without blanks between words, the characters."""
    lower = text.lower()
    bare = lower.strip(EDGES)
    if bare.isascii() and bare.isalpha():
        return [bare]  # fast for most parts of a text
    words = [word for word in choose_word_pattern(lower).findall(lower) if word[0].isalpha()]
    return [piece for word in words for piece in split_unspaced(word)] if find_unspaced(lower) else words


TextComparison = Callable[[str, str, CheckContext], FailedCheck | None]
COMPARISONS: tuple[TextComparison, ...] = (
    check_numbers,
    check_dates,
    check_inner_marks,
    check_final_mark,
    check_sentences,
    check_copy,
    check_repeats,
    check_length,
    check_words,
)


def join_shown(parts: Iterable[str]) -> str:
    """Returns the first parts, each once, with "..." for the others."""
    distinct = list(dict.fromkeys(parts))
    return ", ".join(distinct[:SHOWN]) + (" ..." if len(distinct) > SHOWN else "")
