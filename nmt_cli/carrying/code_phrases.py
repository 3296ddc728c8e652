"""Phrases of code, which may contain blanks and brackets: `f(x, y)`, `a[i]`, `x = y + 2`, `git commit -m "x"`.

`code_words` finds the words of code. Knows the profile of the source, but no names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.text.characters import ANY_CLOSING, ANY_OPENING, END_MARKS, INVISIBLE, PAUSES
from nmt_cli.text.profile import TextProfile

# Patterns as text: compiled at their first use, which most texts do not need.
BEHIND_WORD = f"{END_MARKS}{PAUSES}{ANY_CLOSING}>*_{INVISIBLE}"
BEFORE_PHRASE = rf"(?<![^\s{re.escape(ANY_OPENING)}])"
ARGUMENTS, INDEX = r"\([^()\n]{0,60}\)", r"\[[^\[\]\s]{0,40}\]"
ENDING = r"[(\[](?![xyz][)\]])[^\W\d_]{1,3}[)\]]"  # of a word: file(s), child[ren]
VARIABLES = r"\((?:[a-z]|\d+)(?:, ?(?:[a-z]|\d+))*\)"
OPERAND = rf"(?:{ARGUMENTS}|{INDEX})"
CALL = rf"(?<![\w.])(?P<name>[A-Za-z_][\w.]{{0,60}})(?P<rest>{OPERAND}(?:(?:\.\w+)?{OPERAND})*)(?!\w)"
DUNDER = r"(?<![\w.])__[a-z]\w{0,40}__(?!\w)"
MERGE_FIELD = r"[«‹][A-Z]\w{1,40}[»›]"  # of a letter, where no quotation has such marks
ENUMERATOR = r"(?<!\S)\((?:[a-z]|[ivx]{2,4})\)(?=[\s,;]|$)"  # where one is not alone: (a) the house, (b) the garden
# A formula of letters and small numbers: x = y + 2, A -> B
FORMULA = (
    rf"{BEFORE_PHRASE}[A-Za-z] (?:[=+*/<>^]|[<>=!]=|[-=]>) (?:[A-Za-z]|\d{{1,2}})"
    rf"(?: (?:[=+*/<>^-]|[<>=!]=|[-=]>) (?:[A-Za-z]|\d{{1,2}}))*(?=[\s{re.escape(BEHIND_WORD)}]|$)"
)
# An option with its value, quoted or in capitals: -m "x", --model DIR
OPTION_VALUE = (
    r"\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|(?![AI]\b)[A-Z](?!\w)|[A-Z][A-Z\d_]{1,20}(?!\w)(?= -|\W*$|.{0,80}[a-z])"
)
VALUED_OPTION = rf"(?:--[A-Za-z][\w=./-]*|-[A-Za-z]{{1,3}}(?!\w))(?: (?:{OPTION_VALUE}))?"
OPTION_ALONE = rf"{BEFORE_PHRASE}--[A-Za-z][\w-]* (?:{OPTION_VALUE})"
# Words, all in small letters or in capitals, then options: git commit -m "x"
COMMAND = (
    rf"{BEFORE_PHRASE}(?:[a-z][\w.-]*(?: [a-z][\w.-]*){{0,3}}|[A-Z][A-Z\d.-]+(?: [A-Z][A-Z\d.-]+){{0,3}})"
    rf"(?: {VALUED_OPTION})+"
)
COMMON_SHARE = 0.01  # occurrences per text from which a word links others


class PhraseFinder:
    """Finds the phrases of code in a text; whether a call or a command is one depends on its words."""

    def __init__(self, source: TextProfile) -> None:
        self.source = source

    def find(self, text: str, has_rare_quotes: bool) -> list[Span]:
        """Returns the phrases in order; of those that overlap, the first."""
        ranges = [*self.find_calls(text), *self.find_commands(text), *find_enumerators(text)]
        patterns = [FORMULA, DUNDER, OPTION_ALONE, *[MERGE_FIELD] * has_rare_quotes]
        ranges += [match.span() for pattern in patterns for match in re.finditer(pattern, text)]
        phrases: list[Span] = []
        for start, end in sorted(ranges):
            if not phrases or phrases[-1].end <= start:
                phrases.append(make_code(text, start, end))
        return phrases

    def find_calls(self, text: str) -> Iterator[tuple[int, int]]:
        """Yields calls, and elements of lists: `main()`, `foo.bar(x)`, `a[i]`, but not `file(s)`, `house[1]`."""
        for match in re.finditer(CALL, text) if "(" in text or "[" in text else ():
            name, rest = match["name"], match["rest"]
            is_variable = len(name) == 1 and (rest[0] == "[" or re.fullmatch(VARIABLES, rest) is not None)
            if rest == "()" or is_variable or (self.has_strange_part(name) and not re.fullmatch(ENDING, rest)):
                yield match.span()

    def find_commands(self, text: str) -> Iterator[tuple[int, int]]:
        """Yields commands with options, from the first word that training never had, or that alone is in capitals; but
        not `git with -m`.
        """
        is_shouted = text.isupper()
        for match in re.finditer(COMMAND, text) if " -" in text else ():
            words = list(re.finditer(r"\S+", match[0].partition(" -")[0]))
            is_command = match[0][0].isupper() and not is_shouted
            unknown = next((word.start() for word in words if is_command or not self.source.has_word(word[0])), None)
            if unknown is not None and self.source.count_word(words[-1][0]) < COMMON_SHARE * self.source.texts:
                yield match.start() + unknown, match.end()

    def has_strange_part(self, word: str) -> bool:
        """Whether training never had a part of a word, which is more than capitalised."""
        parts = re.findall(r"[^\W\d_]{2,}", word)
        return any(part != part.capitalize() and not self.source.has_word(part) for part in parts)


def make_code(text: str, start: int, end: int) -> Span:
    """Returns the characters from `start` to `end` of a text as a code."""
    return Span(start, end, text[start:end], SpanKind.CODE)


def may_be_phrase(part: str) -> bool:
    """Whether a part of a text between blanks may belong to a phrase."""
    return "«" in part or part.startswith(("_", "*")) or re.match(ENUMERATOR, part) is not None


def find_enumerators(text: str) -> list[tuple[int, int]]:
    """Returns the bracketed letters that enumerate parts of a sentence; one at its beginning belongs to its frame."""
    matches = list(re.finditer(ENUMERATOR, text)) if "(" in text else []
    return [match.span() for match in matches if match.start() > 0] if len(matches) > 1 else []
