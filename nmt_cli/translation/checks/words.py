"""Looks for unseen, copied and repeated words in a translation. Knows only text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from nmt_cli.carrying.tags import remove_tags
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.normalise import find_unspaced, normalise
from nmt_cli.text.words import EDGES, list_words
from nmt_cli.translation.checks.context import CheckContext, join_named
from nmt_cli.translation.checks.coverage import TEXTS_PER_WORD
from nmt_cli.translation.repair.faults import LONGEST_PHRASE, has_stutter, split_units, strip_words
from nmt_cli.translation.result import FailedCheck
from nmt_cli.translation.segmentation.segments import find_sentence_starts
from nmt_cli.translation.segmentation.sentence_ends import has_mark_inside

if TYPE_CHECKING:
    from nmt_cli.text.profile import TextProfile

SIGN = r"(?<!\S)[^\w\s]+(?!\S)"  # on its own: Tools - Macros - Organize Macros
COPIED_WORDS = 3  # ordinary words in a row that two languages seldom share
COPIED_PAIRS = 4  # pairs of characters, where a script has no blanks
UNSEEN_OFTEN = 0.1  # as an expected share of a new text, new words are usual; 5,000 ordinary pairs have 4 to 9 %
WORDS_PER_ONE, WORDS_PER_SEVERAL = 2, 3  # at most so many words of a text for each unseen one are an alarm


def check_copy(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for three consecutive ordinary source words left untranslated outside spans."""
    if context.same_language:
        return None
    for span in context.placed or ():
        target = target.replace(span.text, " . ") if " " in span.text else target
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
    """Looks for a word or phrase twice in a row, unlike the source.

    Of several sentences, each is looked through: one may begin like the one before, or with its last word.
    """
    source, target = remove_tags(source), remove_tags(target)
    failed = find_repeat(source, target, context)
    if failed is None or not has_mark_inside(source):
        return failed
    starts = [*find_sentence_starts(target, (), context.target_language), len(target)]
    sentences = (target[start:end] for start, end in pairwise(starts))
    return next(filter(None, (find_repeat(source, sentence, context) for sentence in sentences)), None)


def find_repeat(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for a word or phrase twice in a row, unlike the source, between signs on their own."""
    words = [word.strip(EDGES) for word in target.casefold().split()]
    repeated = len(words) - len({*words})
    # A phrase of two words that stands twice in a row repeats two words; a single one stands beside itself.
    if not repeated or (repeated == 1 and not has_neighbours(words)) or not has_stutter(source, target):
        return None
    clauses = (clause for clause in re.split(SIGN, target) if has_stutter(source, clause))
    phrases = (find_repeated_phrase(strip_words(clause)) for clause in clauses)
    unusual = next((phrase for phrase in phrases if not may_be_doubled(phrase, target, context)), None)
    return FailedCheck("repeats", f"twice in a row: {unusual}") if unusual else None


def may_be_doubled(phrase: str, text: str, context: CheckContext) -> bool:
    """Whether a language doubles a word, or a frequent one ends a clause and begins the next: `die, die`."""
    if phrase in find_rules(context.target_language).doubled:
        return True
    is_parted = re.search(rf"(?i)(?<!\w){re.escape(phrase)},\s+{re.escape(phrase)}(?!\w)", text) is not None
    profile = context.profile.target if context.profile is not None else None
    return is_parted and profile is not None and profile.count_word(phrase) * TEXTS_PER_WORD > profile.texts


def has_neighbours(words: Sequence[str]) -> bool:
    """Whether a word is repeated at once, ignoring punctuation between."""
    return any(word.strip(EDGES) == following.strip(EDGES) for word, following in pairwise(words))


def find_repeated_phrase(words: Sequence[str]) -> str:
    """Returns the shortest phrase that occurs twice in a row; empty if there is none."""
    for size in range(1, min(len(words) // 2, LONGEST_PHRASE) + 1):
        run = 0  # words that equal those `size` words later
        for index, (word, later) in enumerate(zip(words, words[size:], strict=False), start=1):
            run = run + 1 if word == later else 0
            if run == size:
                return " ".join(words[index - size : index])
    return ""


def check_words(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for words unseen in training, if the model rates no confidence.

    Half of a text is told, or two words and a third of the source. A word in both texts is a name or was copied, and
    does not count. A side whose training text is so small that any text has unseen words is ignored. Where confidence
    is not low, such a translation is as good as others, so that low confidence names the words instead
    (benchmarks/log/references.md).
    """
    if context.profile is None or context.profile.source is None or context.is_rated:
        return None
    unseen, count = find_unseen_words(source, target, context.profile.source)
    if not (len(unseen) * WORDS_PER_ONE >= count or (len(unseen) > 1 and len(unseen) * WORDS_PER_SEVERAL >= count)):
        unseen = []
    if not unseen:
        unseen, count = find_unseen_words(target, source, context.profile.target)
        unseen = unseen if len(unseen) * WORDS_PER_ONE >= count else []
    return FailedCheck("unseen words", describe_unseen(unseen, context.profile.target)) if unseen else None


def describe_unseen(words: Iterable[str], profile: TextProfile) -> str:
    """Says that training had none of these words, as far as a profile of its text tells."""
    never = "never" if profile.has_all_words else "hardly ever"
    return f"{never} seen in training: {join_named(words)}"


def find_unseen_words(text: str, other: str, profile: TextProfile) -> tuple[list[str], int]:
    """Returns the words in neither the `other` text nor the training text, and the number of all words."""
    parts = text.split()
    if profile.unseen_share > UNSEEN_OFTEN or 0 not in profile.count_words(text):
        return [], len(parts)  # fast for most texts
    other = other.lower()
    new = dict.fromkeys(word for part in parts for word in list_words(part) if not is_seen(word, profile))
    words = [word for word in new if word not in other]
    return words, sum(max(1, len(list_words(part))) for part in parts) if words else len(parts)


def is_seen(word: str, profile: TextProfile) -> bool:
    """Whether training had a word, possibly in a compatible form of its letters: Ｈｅｌｌｏ, ﬁne."""
    return profile.has_word(word) or (not word.isascii() and profile.has_word(unicodedata.normalize("NFKC", word)))
