"""Finds marks in prose: brackets, quotation marks within a sentence, emphasis and note marks.

If the network loses one of two brackets, both are protected and the sentence is searched again.

    He (a baker) sings.     ( and ) are taken out, and put around the words that attend to the enclosed ones
    It is *very* good.      so are both stars, which stand for no word
    a "new" car             so are the quotes, if the network then finds a likelier translation
    and/or                  so is the slash, if the words on both sides stay adjacent
    He drank tea.¹          so is the note mark
    the © of 2024           a sign that the network loses gets a placeholder
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from nmt_cli.carrying.codes import is_variable
from nmt_cli.carrying.spans import (
    COVERS,
    Attempt,
    Context,
    Difference,
    DoubtfulKind,
    Kind,
    LossWords,
    LostKind,
    Pair,
    Span,
    SpanKind,
)
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import (
    ANY_CLOSING,
    DOUBLE_QUOTES,
    END_MARKS,
    PAUSES,
    PLAIN_BRACKETS,
    RAISED_DIGITS,
    SIGN_RANGES,
    SINGLE_QUOTES,
)
from nmt_cli.text.words import has_letters

AROUND_WORD = r"[(\[{][^()\[\]{}]*[^\W\d_]"  # and not (!)
PARTNERS = {"(": ")", "[": "]", "{": "}"}
PLAIN_SLASHES = {"/": "/", "／": "/"}


class BracketKind(LostKind, DoubtfulKind):
    """Paired brackets, except within words: `brother(s)`."""

    def find_lost(self, attempt: Attempt, context: Context) -> Difference:
        """Returns missing brackets, and added ones without a partner; added pairs are a matter of style."""
        target = attempt.target.lower()

        def drop_other_name(match: re.Match[str]) -> str:
            """Removes the brackets around a second name if the translation has it and lacks the name before it."""
            before, inside = match[1].lower(), match[2].lower()
            return match[0] if before in target or inside not in target else f"{before} {inside}"

        read = re.sub(r"(\w+) \(([^\W\d_][^()]+)\)", drop_other_name, attempt.read)
        before, after = (count_marks(text, PLAIN_BRACKETS) for text in (read, attempt.target))
        missing, added = before - after, after - before
        unpaired = {mark for pair in PARTNERS.items() if added[pair[0]] != added[pair[1]] for mark in pair}
        parts = (list(missing), [mark for mark in added if mark in unpaired])
        return Difference(*([" ".join(marks)] if marks else [] for marks in parts))

    def list_carried(self, attempt: Attempt, context: Context) -> list[Span]:
        return self.find_pairs(attempt.covered) if has_other_marks(PLAIN_BRACKETS, attempt) else []

    def find_doubtful(self, attempt: Attempt) -> list[Span]:
        return self.find_pairs(attempt.covered) if re.search(AROUND_WORD, attempt.covered) else []

    def find_pairs(self, text: str) -> list[Span]:
        """Returns the opening and closing bracket of every pair."""
        pairs: list[Span] = []
        waiting: list[tuple[int, str]] = []
        for index, mark in enumerate(text):
            if mark in PARTNERS:
                waiting.append((index, mark))
            elif waiting and PARTNERS[waiting[-1][1]] == mark:
                start, opening = waiting.pop()
                if not (start and text[start - 1].isalnum()):
                    pairs += self.make_pair(start, opening, index, mark)
        return sorted(pairs)


class SlashKind(LostKind):
    """Slashes between two words: `and/or`."""

    def find_lost(self, attempt: Attempt, context: Context) -> Difference:
        """Returns a missing slash, unless a linking word replaces it: `im- und exportieren` for `import/export`."""
        written, read = count_marks(attempt.target, PLAIN_SLASHES)["/"], len(self.pattern.findall(attempt.read))
        links = [rf"\b(?:{find_rules(code).list_links or '(?!)'})\b|," for code in context.languages]
        texts = zip(links, (attempt.read, attempt.target), strict=True)
        before, after = (len(re.findall(link, text)) for link, text in texts)
        return Difference(["/"] if read > written + max(0, after - before) else [])

    def list_carried(self, attempt: Attempt, context: Context) -> list[Span]:
        taken_out = [span for span in attempt.spans if span.kind is self.name]
        if taken_out:
            return [span for span in taken_out if not attempt.finds_place(span)]
        return list(self.find_matches(attempt.covered)) if has_other_marks(PLAIN_SLASHES, attempt) else []


MOST_SIGNS = 2  # of a sentence that get placeholders: with more, its words suffer


class SignKind(LostKind):
    """Signs other than letters, digits and punctuation: `© 2024`."""

    def find_lost(self, attempt: Attempt, context: Context) -> Difference:
        before, after = (Counter(self.pattern.findall(text)) for text in (attempt.read, attempt.target))
        return Difference(list(before - after))

    def list_carried(self, attempt: Attempt, context: Context) -> list[Span]:
        missing = self.find_lost(attempt, context).missing
        spans = [span for span in self.find_matches(attempt.covered) if span.text in missing]
        return spans if len(spans) <= MOST_SIGNS else []


def count_marks(text: str, marks: Mapping[str, str]) -> Counter[str]:
    """Counts the marks of a text by their ASCII equivalents."""
    return Counter(marks[mark] for mark in text if mark in marks)


def has_other_marks(marks: Mapping[str, str], attempt: Attempt) -> bool:
    """Whether the network wrote any of these marks more or less often than it read them. Stricter than a check, since
    an extra mark often belongs to a repeated phrase.
    """
    return count_marks(attempt.read, marks) != count_marks(attempt.target, marks)


LOST_MARKS = LossWords(
    "brackets",
    "protected brackets",
    "with brackets, slashes or signs different from the source",
    unrepaired="a bracket, slash or sign from the source is missing",
    repaired=("sentence without its brackets or signs", "sentences without their brackets or signs"),
    doc="Finds missing brackets, slashes between words and signs such as ©, and added brackets that are unpaired",
)
BRACKET_PAIRS = BracketKind(
    SpanKind.BRACKET, form="taken out", signs=re.escape("".join(PLAIN_BRACKETS)), words=LOST_MARKS
)
SLASHES = SlashKind(
    SpanKind.SLASH, form="taken out", patterns=(r"(?<=[^\W\d_])/(?=[^\W\d_])",), signs="/", words=LOST_MARKS
)
SIGNS = SignKind(SpanKind.LONE_SIGN, patterns=(f"[{SIGN_RANGES}]",), signs=SIGN_RANGES, words=LOST_MARKS)


IN_DOUBLE_QUOTES = rf"(?<!\w)[{DOUBLE_QUOTES}](?=\S)[^{DOUBLE_QUOTES}]+(?<=\S)[{DOUBLE_QUOTES}](?!\w)"
SINGLE_OPENING_QUOTE = rf"(?<![\w{SINGLE_QUOTES}])[{SINGLE_QUOTES.replace('’', '')}](?=\w)"  # no apostrophe: ’tis
IN_SINGLE_QUOTES = rf"{SINGLE_OPENING_QUOTE}[^{SINGLE_QUOTES}]+(?<=\S)[{SINGLE_QUOTES}](?!\w)"
SPEECH_ENDS = f"{END_MARKS}{PAUSES}"


class QuoteKind(DoubtfulKind):
    """Quotes around words: `the "new" car`."""

    def find_doubtful(self, attempt: Attempt) -> list[Span]:
        """Returns the quotes around words, in the network's style if it writes as many as it reads.

        Without its quotes, speech would run on: `"Where?" "There."` Quotes around the whole sentence may already have
        been removed.
        """
        matches = [match for match in self.pattern.finditer(attempt.covered) if any(map(str.isalpha, match[0]))]
        # A sentence is quoted that begins with a capital letter and has a mark at its end.
        is_speech = any(match[0][1].isupper() and match[0][-2] in SPEECH_ENDS for match in matches)
        if is_speech or count_quotes(attempt.read) != count_quotes(attempt.covered):
            return []
        marks = sorted(mark for match in matches for mark in self.read_marks(match))
        doubles = [mark for mark in marks if mark.text in DOUBLE_QUOTES]
        written = [mark for mark in attempt.target if mark in DOUBLE_QUOTES]
        styles = dict(zip(doubles, written, strict=True)) if len(written) == len(doubles) else {}
        return [mark._replace(text=styles.get(mark, mark.text)) for mark in marks]

    def read_marks(self, match: re.Match[str]) -> tuple[Span, Span]:
        """Returns both quotes of a match."""
        return self.make_pair(match.start(), match[0][0], match.end() - 1, match[0][-1])


QUOTED_WORDS = QuoteKind(
    SpanKind.QUOTE,
    form="taken out",
    patterns=(IN_DOUBLE_QUOTES, IN_SINGLE_QUOTES),
    signs=DOUBLE_QUOTES,
    cues=SINGLE_OPENING_QUOTE,
)


def count_quotes(text: str) -> int:
    """Returns the number of double quotes; single ones may be apostrophes."""
    return sum(map(text.count, DOUBLE_QUOTES))


# A pair has blanks or marks outside and none inside, but within a word (*Lehrer*innen*); it is no name such as __init__
# and no run of signs.
PAIR = (
    r"(?<![\w*~=|\\])(?P<sign>\*{1,3}|_|~{1,2}|={2}|\|{2})(?=[^\s*_~/=|])(?!\.\w)"
    r"(?P<inside>(?:[^*~=|\n]|(?<=[^\W\d_])\*(?=[^\W\d_])){0,200}?[^\s*_~\\])(?P=sign)(?![\w*~=|])"
)


def find_emphasis(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields the opening and closing mark of each pair around words."""
    for match in kind.pattern.finditer(text):
        sign, inside = match["sign"], match["inside"]
        if has_letters(inside) or not frozenset(COVERS).isdisjoint(inside):
            for start, closes in ((match.start(), False), (match.end() - len(sign), True)):
                yield kind.make_span(start, sign)._replace(pair=Pair(sign, closes))


EMPHASIS = Kind(SpanKind.EMPHASIS, form="taken out", patterns=(PAIR,), signs="*_~=|", search=find_emphasis)


NOTE_SIGNS = "*†‡§"
MARKS = re.escape(END_MARKS + PAUSES)


def find_notes(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields note marks, but not the sign of a variable: `*args`."""
    return (span for span in kind.find_matches(text) if not is_variable(span, text, context))


NOTES = Kind(
    SpanKind.NOTE,
    form="taken out",
    patterns=(
        # Behind a word longer than a unit of measure, or behind a mark.
        rf"(?:(?<=[^\W\d_]{{3}})|(?<=[^\W\d_][{MARKS}]))[{RAISED_DIGITS}]{{1,3}}(?![\w{RAISED_DIGITS}])",
        rf"(?:(?<=[^\W\d_]{{2}})|(?<=[^\W\d_][{MARKS}]))[{NOTE_SIGNS}]{{1,3}}(?=[\s{MARKS}{re.escape(ANY_CLOSING)}]|$)",
        rf"^(?:[{RAISED_DIGITS}]{{1,3}}|[{NOTE_SIGNS}]{{1,3}})(?=[^\W\d_])",
    ),
    signs=f"{NOTE_SIGNS}{RAISED_DIGITS}",
    search=find_notes,
)
