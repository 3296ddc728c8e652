"""Removes the quotes around a sentence and odd final marks before translation, and restores them afterwards.

`"I see."` is read as `I see.` and its translation gets the target's quotes; a heading without a final mark gets none.
Quoted sentences are rare in most training text and lead networks astray, though quotes do not affect the words between
them; and a network trained on sentences ends headings, labels and salutations like sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import NamedTuple, Self

from nmt_cli.languages.rules import LanguageRules, find_rules
from nmt_cli.rewriting.characters import DOUBLE_PAIRS, SINGLE_PAIRS, find_usual_pair
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext, Written
from nmt_cli.text.aligned import AlignedText, Edit
from nmt_cli.text.characters import (
    ANY_CLOSING,
    COLONS,
    COMMAS,
    DASHES,
    ELLIPSES,
    END_MARKS,
    EXCLAMATION_MARKS,
    FINAL_MARKS,
    FULL_STOPS,
    INVISIBLE,
    PAUSES,
    QUESTION_MARKS,
    SEMICOLONS,
    THIN_BLANKS,
    VARIATION_SELECTORS,
)
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.text.words import has_letters

QUOTE_KINDS = tuple(frozenset(quote for pair in pairs for quote in pair) for pairs in (DOUBLE_PAIRS, SINGLE_PAIRS))
QUOTE_MARKS = QUOTE_KINDS[0] | QUOTE_KINDS[1]
UNMISTAKABLE = QUOTE_MARKS - frozenset("'’`´＇′")  # which may be apostrophes
QUOTE_PAIRS = frozenset((*DOUBLE_PAIRS, *SINGLE_PAIRS))
FEWEST_QUOTES = 20  # of a side, so that they are known to be its own
QUOTED_RARELY = 0.02  # share of the training texts that end with a quote, at most, for quotes to be taken off


class OuterQuotes(NamedTuple):
    """The quotes around a sentence; either may be "", since a quotation may span several sentences."""

    opening: str
    closing: str
    is_mark_outside: bool = False  # whether the final mark follows the closing quote

    def find_inside(self, text: str) -> range:
        """Returns the characters between the quotes; a final mark after them takes the place of the closing quote."""
        return range(len(self.opening), len(text) - len(self.closing) - self.is_mark_outside)

    def wrap(self, text: str) -> str:
        """Puts the quotes around a translation."""
        mark = text[-1:] if self.is_mark_outside and text[-1:] in END_MARKS else ""
        return f"{self.opening}{text[: len(text) - len(mark)]}{self.closing}{mark}"


class Quotes(Rewrite):
    """Removes quotes around a sentence, and restores them in the target language's style."""

    def __init__(self, target_counts: Mapping[str, int]) -> None:
        self.target_counts = target_counts

    @classmethod
    def from_model(cls, model: ModelText) -> Self | None:
        share = sum(share for mark, share in model.source.final_marks.items() if mark in QUOTE_MARKS)
        return cls(model.target.character_counts) if share <= QUOTED_RARELY else None

    @property
    def target_pair(self) -> tuple[str, str]:
        """The quotes that are most frequent in the target; straight ones if it has few."""
        quotes = choose_target_quotes(OuterQuotes('"', '"'), self.target_counts)
        return quotes.opening, quotes.closing

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, OuterQuotes] | None:
        """Returns the text without its outer quotes; None if a span lies outside them."""
        quotes = find_outer_quotes(text.text)
        if quotes is None:
            return None
        inside = quotes.find_inside(text.text)
        if not all(inside.start <= offset <= inside.stop for offset in context.offsets):
            return None
        end = len(text.text) - quotes.is_mark_outside
        edits = [Edit(0, inside.start, ""), Edit(inside.stop, end, "")]
        return text.replace(edits), choose_target_quotes(quotes, self.target_counts)

    def write(self, translation: str, memo: OuterQuotes, written: Written) -> str:
        return memo.wrap(translation)


class Reports(Rewrite):
    """Reads `he said` after a placeholder for the quotation, so that the word order is right: „…“, sagte er."""

    def __init__(self, quotation: str) -> None:
        """`quotation` shows how the source writes a quotation, with … for its words."""
        self.quotation = quotation

    @classmethod
    def from_model(cls, model: ModelText) -> Self | None:
        return cls(find_rules(model.languages[0]).speech or '"…,"')

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, str] | None:
        unused = next((sign for sign in PLACEHOLDERS if sign not in text.text), None)
        if not context.is_report or unused is None:
            return None
        end, stop = len(text.text), "." * text.text[-1:].isalnum()
        return text.replace([Edit(0, 0, f"{self.quotation} ".replace("…", unused)), Edit(end, end, stop)]), text.text

    def write(self, translation: str, memo: str, written: Written) -> str:
        translation = re.sub(r"^(?:⟦\d⟧|[^\w⟦])+", "", translation)
        # The quotation stands before it, so no colon announces one: sagte: Anna.
        return translation if set(COLONS) & set(memo) else re.sub(rf"[{COLONS}](?=\s)", "", translation)


def find_outer_quotes(text: str) -> OuterQuotes | None:
    """Returns the quotes around a whole text, or a single one at its beginning or end; None if there are none.

    A final mark may follow the closing quote.
    """
    mark = int(len(text) > 3 and text[-1] in END_MARKS and text[-2] in QUOTE_MARKS)
    first, last, inner = text[:1], text[len(text) - 1 - mark :][:1], text[1 : len(text) - 1 - mark]
    if QUOTE_MARKS.isdisjoint((first, last)) or not has_letters(inner):
        return None
    if (first, last) in QUOTE_PAIRS and not has_quotes(inner, first):
        return OuterQuotes(first, last, bool(mark))
    if first in UNMISTAKABLE and not has_quotes(text[1:], first):
        return OuterQuotes(first, "")
    if text[-1] in UNMISTAKABLE and not has_quotes(text[:-1], text[-1]):
        return OuterQuotes("", text[-1])
    return None


def has_quotes(text: str, quote: str) -> bool:
    """Whether a text contains quotes like `quote`; an apostrophe within a word does not count."""
    kind = next(kind for kind in QUOTE_KINDS if quote in kind)
    return any(
        character in kind and not (text[index - 1 : index].isalpha() and text[index + 1 : index + 2].isalpha())
        for index, character in enumerate(text)
    )


def choose_target_quotes(quotes: OuterQuotes, counts: Mapping[str, int]) -> OuterQuotes:
    """Returns the most frequent quotes of a target, judging by its character `counts`; `quotes` if it has few."""
    pair = find_usual_pair(DOUBLE_PAIRS, counts)
    if min(counts.get(quote, 0) for quote in pair) < FEWEST_QUOTES:
        return quotes
    return quotes._replace(opening=quotes.opening and pair[0], closing=quotes.closing and pair[1])


BEHIND_MARK = f"{ANY_CLOSING} {THIN_BLANKS}{INVISIBLE}{VARIATION_SELECTORS}"
FINAL_KINDS = {  # the marks of a kind are exchanged freely between languages
    "?": f"{QUESTION_MARKS}՞",  # that of Armenian stands in a word, perhaps on its last letter
    ".": FULL_STOPS + EXCLAMATION_MARKS + ELLIPSES,
    ":": PAUSES,
}
KEPT_MARKS = (COMMAS, SEMICOLONS, COLONS, FULL_STOPS, EXCLAMATION_MARKS)  # which the target has a usual one of
EMPHASIS_KINDS = {mark: marks for marks in (FULL_STOPS, EXCLAMATION_MARKS) for mark in marks}
CALMER = 0.01  # share of the texts by which fewer of a language exclaim, to be calmer than another
MARK_KINDS = {mark: kind for kind, marks in FINAL_KINDS.items() for mark in marks}
RUN_OF_MARKS = re.compile(rf"[{QUESTION_MARKS}{EXCLAMATION_MARKS}]{{2,}}(?=[{re.escape(BEHIND_MARK)}]*$)")
LAST_WORD = re.compile(r"(?<![^\s(])((?:\w{1,2}\.)+\w{1,2}|\w+)\.$")  # p.m., usw.
FINAL_SET = frozenset(FINAL_MARKS)
ADDED_MARKS = frozenset(PAUSES + DASHES)  # with which labels end in some training text: Page, Seite:
AROUND_SPAN = rf"[\s{re.escape(BEHIND_MARK)}]*"
LEAD = rf"(?P<lead>[{re.escape(FINAL_MARKS + PAUSES + DASHES)}])"
LAST_PLACEHOLDER = rf"{LEAD}{AROUND_SPAN}⟦(?P<number>\d)⟧(?:{AROUND_SPAN}⟦\d⟧)*[^\w⟦]*$"
DATE_OR_TIME = r"(?=.*\d)(?=.*\D)\w.*\w"  # a date or a time; not a year, nor a name: Hello, {name}
FINAL_OR_ELLIPSIS = frozenset(END_MARKS)
MOSTLY = 0.5  # share of the texts that lack a mark in the source, but not in the target, of a language without marks


class TextEnd(NamedTuple):
    """The end of a text as it is read."""

    last: str  # a letter or digit, a pause, or several marks, read as one of them; empty for a final mark, which stays
    lead: str = ""  # the mark before its last span: London, ⟦0⟧
    number: int = 0  # of that span


class FinalMarks(Rewrite):
    """Removes final punctuation that the source lacks, and restores a lost pause before a last date or time.

    Reads `?!` as `?`. Where the source ends with a pause ("Dear Tom,"), the target's mark for that pause takes its
    place. A full stop does not become an exclamation mark, nor the reverse where the target has as many exclamation
    marks.
    """

    def __init__(self, rules: LanguageRules, marks: Mapping[str, str], *, calms: bool = False) -> None:
        """`rules` are the target's; `marks` maps the marks of any language to those of the target.

        `calms` says that the target has fewer exclamation marks than the source.
        """
        self.rules = rules
        self.marks = marks
        self.calms = calms

    @classmethod
    def from_model(cls, model: ModelText) -> Self | None:
        """Returns None for a source that rarely has final marks where the target has them, such as Thai."""
        bare = [share_kind(side.final_marks, "") for side in (model.source, model.target)]
        if bare[0] - bare[1] >= MOSTLY:
            return None
        shares = [
            sum(map(side.final_marks.get, EXCLAMATION_MARKS, repeat(0.0))) for side in (model.source, model.target)
        ]
        marks = choose_marks(model.target.character_counts)
        return cls(find_rules(model.languages[1]), marks, calms=shares[0] - shares[1] > CALMER)

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, TextEnd] | None:
        """Returns the text and its end; None for a sentence with a single final mark and none before its last span."""
        run = RUN_OF_MARKS.search(text.text)
        if run is not None:
            mark = next((mark for mark in run[0] if mark in QUESTION_MARKS), run[0][0])
            return text.replace([Edit(run.start(), run.end(), mark)]), TextEnd(run[0])
        end = next((end for end in range(len(text.text), 0, -1) if text.text[end - 1].isalnum()), 0)
        marks = [mark for mark in text.text[end:] if mark in MARK_KINDS]
        is_pause = bool(marks) and FINAL_OR_ELLIPSIS.isdisjoint(marks) and marks[-1] in self.marks
        last = marks[-1] if is_pause else "" if marks else text.text[end - 1 : end]
        if span := re.search(LAST_PLACEHOLDER, text.text):
            return text, TextEnd(last, span["lead"], int(span["number"]))
        return (text, TextEnd(last)) if last or not marks else None

    def write(self, translation: str, memo: TextEnd, written: Written) -> str:
        last, span = memo.last, "".join(written.spans[memo.number : memo.number + 1])
        if memo.lead and memo.lead in PAUSES and re.fullmatch(DATE_OR_TIME, span):
            behind = rf"(?<=\w)(?= {re.escape(span)}[{re.escape(FINAL_MARKS + BEHIND_MARK)}]*$)"
            translation = re.sub(behind, self.marks.get(memo.lead, memo.lead), translation)
        if not last:
            return translation
        end = find_last_end(translation, () if memo.lead else written.spans)
        bare, final = translation[: end - 1].rstrip(), translation[end - 1 : end]
        if len(last) > 1 and final in FINAL_SET:
            return bare + last + translation[end:]
        is_added = final in FINAL_SET or (final in ADDED_MARKS and last not in PAUSES)
        if not is_added or not bare or bare[-1] in END_MARKS or self.owns_mark(translation[:end], last):
            return translation
        pause = self.marks.get(last, "") if last in PAUSES else ""
        return (bare.rstrip(PAUSES) + pause if pause else bare) + translation[end:]

    def keep(self, source: str, translation: str) -> str:
        """Returns a translation that ends with a full stop or an exclamation mark, as its source does."""
        end = find_mark_end(translation)
        mark, new = translation[end - 1 : end], find_final_mark(source)
        kinds = EMPHASIS_KINDS.get(mark), EMPHASIS_KINDS.get(new)
        if None in kinds or kinds[0] == kinds[1] or (self.calms and kinds[1] == EXCLAMATION_MARKS):
            return translation
        changed = translation[: end - 1] + self.marks.get(new, new) + translation[end:]
        return changed.replace("¡", "", 1) if kinds[0] == EXCLAMATION_MARKS and "!" not in changed else changed

    def owns_mark(self, text: str, last: str) -> bool:
        """Whether a final mark belongs to the last word: an abbreviation, or an ordinal that the source spells out."""
        word = LAST_WORD.search(text)
        if word is None:
            return False
        if word[1].isdigit():
            return self.rules.ordinal_mark == "." and not last.isdigit()
        return "." in word[1] or word[1].lower() in self.rules.often_last | self.rules.abbreviations


def choose_marks(counts: Mapping[str, int]) -> dict[str, str]:
    """Returns, for each mark of any language, the most frequent mark of its kind in this one."""
    usual_marks = {marks: max(marks, key=lambda mark: counts.get(mark, 0)) for marks in KEPT_MARKS}
    return {mark: usual for marks, usual in usual_marks.items() if usual in counts for mark in marks}


def find_final_mark(text: str) -> str:
    """Returns the last visible character other than closing quotation marks, brackets and tags; "" if there is none."""
    end = find_mark_end(text)
    return text[end - 1 : end] if end else ""


def find_mark_end(text: str) -> int:
    """Returns the end of the last visible character other than closing quotation marks, brackets and tags."""
    end = len(text)
    while text.endswith(">", 0, end) and text.rfind(">", 0, end - 1) < (start := text.rfind("<", 0, end)):
        end = start
        while text[end - 1 : end].isspace():
            end -= 1
    return len(text[:end].rstrip(BEHIND_MARK))


def find_last_end(text: str, spans: Iterable[str]) -> int:
    """Returns the end of a text's last word, before any spans, quotation marks and brackets that follow it."""
    end, distinct = len(text), frozenset(spans) - {""}
    while end:
        if text[end - 1] in BEHIND_MARK:
            end -= 1
        elif span := next((span for span in distinct if text.endswith(span, 0, end)), ""):
            end -= len(span)
        else:
            break
    return end


def share_kind(final_marks: Mapping[str, float], kind: str) -> float:
    """Returns the share of texts that end with a mark of this kind; "" means any other ending."""
    if not kind:
        return 1 - sum(share for mark, share in final_marks.items() if mark in MARK_KINDS)
    return sum(share for mark, share in final_marks.items() if MARK_KINDS.get(mark) == kind)
