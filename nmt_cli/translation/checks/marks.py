"""Checks that count characters and punctuation: lost spans, quotation marks, final punctuation, lengths."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from html import unescape
from itertools import pairwise

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.prose_marks import BRACKET_PAIRS, LOST_MARKS, SLASHES
from nmt_cli.carrying.spans import Attempt, LossWords, LostKind
from nmt_cli.carrying.syntax import remove_tags
from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.marks import MARK_KINDS, find_final_mark, find_mark_end, share_kind
from nmt_cli.text.characters import COLONS, DOUBLE_QUOTES, ELLIPSES, QUOTES, SINGLE_QUOTES
from nmt_cli.text.normalise import DROPPED
from nmt_cli.text.profile import TextProfile
from nmt_cli.text.words import count_strings, has_word
from nmt_cli.text.wrapping import format_count, join_first
from nmt_cli.translation.checks.words import SIGN, CheckContext, drop_renamed
from nmt_cli.translation.result import CheckKind, FailedCheck, Placed
from nmt_cli.translation.segmentation.segments import find_sentence_starts, has_mark_inside, is_abbreviation

# Looks for the brackets, slashes, quotation marks, colons and final marks of a source. Knows only text.
#
# A mark that is lost may have taken words with it. Marks that a translation has besides are style, unless they lack a
# partner: `File - Exit` is „Datei – Beenden…“ where a corpus writes so.


DOUBLE_QUOTE_SET = frozenset(DOUBLE_QUOTES)
SINGLE_OPENING = frozenset(SINGLE_QUOTES) - {"’"}
# As text: compiled at its first use.
QUOTED = rf"(?<![\w'])(?!’)[{SINGLE_QUOTES}][^\W_]{{2}}[^{SINGLE_QUOTES}]{{0,200}}[{SINGLE_QUOTES}](?!\w)"
BRACKETS_IN_WORD = r"(?<=[^\W\d_])\(([^\W\d_]{1,3})\)"
COLON_SET = frozenset(COLONS)
COLON_BEHIND_WORD = rf"[^\W\d_]\s?[{re.escape(COLONS)}](?={DROPPED}*\s+[^\s{QUOTES}]|$)"  # not before speech
LEAST_KEPT = 0.9  # of the marks in training's sources, the targets have as many, or to lose one is custom


def check_loss(
    words: LossWords, kinds: Sequence[LostKind], source: str, target: str, context: CheckContext
) -> FailedCheck | None:
    """Looks for spans of these kinds that were lost or added, as repairs do."""
    facts = context.facts
    kinds = [kind for kind in kinds if kind.may_be_in(source, facts) or kind.may_be_in(target, facts)]
    if not kinds:
        return None
    attempt = Attempt.from_texts(*drop_renamed(*drop_marks_of_words(source, target, context)))
    differences = [kind.find_lost(attempt, facts) for kind in kinds]
    missing, added = ([name for names in side for name in names] for side in zip(*differences, strict=True))
    parts = [f"{join_first(names)} {what}" for names, what in ((missing, "missing"), (added, "added")) if names]
    noun = words.nouns[len(missing or added) > 1]
    return FailedCheck(words.fault, f"{noun} {', '.join(parts)}".strip()) if parts else None


def check_quotes(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Finds missing and unpaired quotation marks.

    Single quotes count only where they cannot be apostrophes: around a word or more. Quotes are not checked if the
    translation loses or adds brackets or slashes.
    """
    is_quoted = not SINGLE_OPENING.isdisjoint(source) and re.search(QUOTED, source) is not None
    if DOUBLE_QUOTE_SET.isdisjoint(source) and DOUBLE_QUOTE_SET.isdisjoint(target) and not is_quoted:
        return None
    bare = drop_marks_of_words(source, target, context)
    message = compare_quotes(*bare, context, is_quoted=is_quoted)
    if not message or check_loss(LOST_MARKS, (BRACKET_PAIRS, SLASHES), source, target, context) is not None:
        return None
    return FailedCheck("quotes", message)


def compare_quotes(source: str, target: str, context: CheckContext, *, is_quoted: bool) -> str:
    """Describes the fault of the quotation marks, if any; `is_quoted` says that the source has single ones."""
    count, target_count = (sum(map(text.count, DOUBLE_QUOTES)) for text in (source, target))
    if count == target_count and count_between(target) < count_between(source):
        return "words between quotations are missing"
    if (count or is_quoted) and not target_count and not re.search(QUOTED, target):
        return "quotation marks missing" if keeps_marks(context, DOUBLE_QUOTES) else ""
    return "a quotation mark has no partner" if target_count % 2 > count % 2 else ""


def count_between(text: str) -> int:
    """Counts the parts with words between two quotations: `he said` in `"No," he said, "not me."`"""
    parts = re.split(f"[{re.escape(DOUBLE_QUOTES)}]", text)
    return sum(any(map(str.isalpha, part)) for part in parts[2:-2:2])


def drop_marks_of_words(source: str, target: str, context: CheckContext) -> tuple[str, str]:
    """Returns both texts without tags, and without the brackets around an ending: `file(s)`.

    Also removes gender marks inside words of the source, as in `Lehrer/innen`.
    """
    source, target = map(remove_tags, (source, target))
    source, target = (re.sub(BRACKETS_IN_WORD, r"\1", text) if "(" in text else text for text in (source, target))
    if "/" in source or "(" in source:
        from nmt_cli.rewriting.spelling import drop_gender_marks  # which few lines need

        source = drop_gender_marks(source, context.source_language)
    return source, target


def check_colons(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Finds a missing colon if the source has a colon after a word."""
    is_lost = COLON_SET.isdisjoint(target) and re.search(COLON_BEHIND_WORD, source) is not None
    return FailedCheck("colons", "colon missing") if target and is_lost and keeps_marks(context, COLONS) else None


def check_final_mark(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Finds missing or different final punctuation, except after abbreviations (`12 a.m.`) and menu paths."""
    mark, target_mark = find_final_mark(source), find_final_mark(target)
    if mark == "." and (ends_with_abbreviation(source, context.source_language) or re.search(SIGN, source)):
        return None
    kind, target_kind = MARK_KINDS.get(mark, ""), MARK_KINDS.get(target_mark, "")
    is_free = kind in ("", ":") or target_kind in (kind, ":")  # a pause before a list or the next line is style
    if is_free or not target or not keeps_final_mark(context, mark):
        return None
    lost = f"final {mark} missing" if not target_kind else f"final {mark} became {target_mark}"
    return FailedCheck("final mark", lost)


def ends_with_abbreviation(text: str, language: str) -> bool:
    """Whether the full stop at the end of a text follows a letter and belongs to an abbreviation."""
    end, rules = find_mark_end(text), find_rules(language)
    following = "0" if len(text.split()) <= ITEM_WORDS else ""  # a label may have its number behind: Value max.
    return text[: end - 1][-1:].isalpha() and is_abbreviation(text, end, following, rules, is_cased=False)


def keeps_final_mark(context: CheckContext, mark: str) -> bool:
    """Whether targets end with this kind of punctuation about as often as sources.

    Japanese, for instance, often ends a question with a full stop, and German ends menu names with an ellipsis.
    """
    if mark in ELLIPSES:
        return keeps_share(context, lambda side: sum(side.final_marks.get(mark, 0.0) for mark in ELLIPSES))
    return keeps_share(context, lambda side: share_kind(side.final_marks, MARK_KINDS[mark]))


def keeps_marks(context: CheckContext, marks: Collection[str]) -> bool:
    """Whether targets have these marks about as often as sources: German often quotes button names, English seldom."""
    return keeps_share(context, lambda side: sum(side.character_counts.get(mark, 0) for mark in marks))


def keeps_share(context: CheckContext, measure: Callable[[TextProfile], float]) -> bool:
    """Whether `measure` is at least nearly as high for training targets as for sources; true if unknown."""
    profile = context.profile
    if profile is None or profile.source is None:
        return True
    return measure(profile.target) >= LEAST_KEPT * measure(profile.source)


# Compares the lengths of a source and its translation, and their numbers of sentences. Knows only text.


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
    """Compares the numbers of sentences and list items.

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
    """Compares the commas in lists of short items; a comma before the last word, such as "and", is mere style."""
    commas, target_commas = count_list_commas(source, context.source_language), len(re.findall(rf"{COMMA}|/", target))
    return FailedCheck("sentences", "a list item may be missing") if target and target_commas < commas else None


def count_list_commas(text: str, language: str) -> int:
    """Counts the commas in a list of short items, of which the first and last may be longer; 0 for any other text."""
    parts = re.split(COMMA, text)
    if len(parts) > ITEM_WORDS and len(parts[1].split()) > 1 + max(len(part.split()) for part in parts[2:-1]):
        parts = parts[1:]  # behind an introduction: Today, we have milk, tea, and bread
    if len(parts) <= ITEM_WORDS:
        return 0
    link = re.compile(rf"(?:{find_rules(language).list_links})\b")
    are_items = [len(part.split()) <= ITEM_WORDS and not link.match(part) for part in parts[1:-1]]
    is_list = any(all(pair) for pair in pairwise(are_items))
    return (len(parts) - 1 - (link.match(parts[-1]) is not None)) * is_list


def has_length_of_all(source: str, target: str, missing: float, context: CheckContext) -> bool:
    """Whether a translation with fewer sentences is long enough for all of them, despite the share `missing`."""
    ratio = context.find_ratio(len(source))
    return ratio is not None and len(target) > ratio.mean * len(source) * (1 - missing / 2)


def count_sentences(text: str, language: str) -> int:
    """Counts the sentences that contain words; a line break or a tag such as <br> ends a sentence."""
    lines = re.split(BREAK, text) if "<" in text or "\n" in text else [text]
    lines = [line for line in lines if has_word(re.sub(r"<[^<>]*>", "", line) if "<" in line else line)]
    return sum(len(find_sentence_starts(line.strip(), (), language)) for line in lines)


# Looks for protected spans and glossary terms in a translation. Knows only text.


def check_spans(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Finds protected spans that are missing, or whose position is a guess."""
    if context.placed is None:
        counts = count_strings(target, [span.text for span in find_spans(source) if not span.is_number])
        missing = [text for text, count in counts.items() if not count]
        return FailedCheck("spans", f"{join_first(missing)} missing") if missing else None
    spans = [span for span in context.placed if not span.is_term]
    countable = [span.text for span in spans if len(span.text) > 1 and not span.text[0].isdigit()]  # no single sign
    before, after = (count_strings(text, countable) for text in (source, target))
    doubled = [text for text in before if 0 < before[text] < after[text]]
    failed = check_placed("spans", spans, target)
    return FailedCheck("spans", f"{join_first(doubled)} too often") if doubled and failed is None else failed


def check_terms(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Finds glossary terms that are missing, perhaps misplaced, or in a form that the glossary lacks.

    Any form of the glossary's translation counts as right.
    """
    failed = check_placed("terms", [span for span in context.placed or () if span.is_term], target)
    if failed is not None or context.glossary is None:
        return failed
    glossary, forms = context.glossary, dict(context.glossary.find_forms(source, context.source_language)).items()
    lost = [pair for pair in forms if not glossary.has_target(glossary.terms[pair[1]], target, context.target_language)]
    alike = [f"{form} looks like {term}" for form, term in lost]
    return FailedCheck("terms", f"{join_first(alike)}, but is not in the glossary") if alike else None


def check_placed(kind: CheckKind, spans: Sequence[Placed], target: str) -> FailedCheck | None:
    """Returns the failed check for spans that are missing or may be misplaced; the case of terms does not matter."""
    fold = str.lower if kind == "terms" else str
    counts = Counter(fold(span.text) for span in spans)
    written = [count_strings(fold(text), counts) for text in {target, unescape(target)}]  # a name as AT&T or AT&amp;T
    lost = {text for text, count in counts.items() if all(counted[text] < count for counted in written)}
    missing = [span.text for span in spans if fold(span.text) in lost]
    if missing:
        return FailedCheck(kind, f"{join_first(missing)} missing")
    guessed = [span.text for span in spans if span.doubtful]
    return FailedCheck(kind, f"the position of {join_first(guessed)} is a guess") if guessed else None
