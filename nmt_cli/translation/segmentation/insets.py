"""Finds sentences within a sentence: direct speech, and brackets with a sentence of their own.

A network trained on sentences loses the words of a quotation, its quotes, or who speaks. Each part is therefore read as
a sentence, and the marks between them are written as the target language writes them:

    “I am here,” he said, “and you are there.”      the source
    I am here | he said | and you are there.        what the network reads, `he said` after a quotation
    „Ich bin hier“, sagte er, „und du bist da.“     the translation
    Please wait (it is cold).                       Please wait | it is cold

Knows only text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from nmt_cli.carrying.spans import COVERS
from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.characters import DOUBLE_PAIRS, SINGLE_PAIRS
from nmt_cli.text.characters import (
    ANY_CLOSING,
    COLONS,
    COMMAS,
    DOUBLE_QUOTES,
    ELLIPSES,
    FINAL_MARKS,
    QUOTES,
    SINGLE_QUOTES,
)

MARKS_OF_SPEECH = re.escape(FINAL_MARKS + ELLIPSES + COMMAS)
CLOSING_OF = {  # the closing quotes of each opening one
    opening: frozenset(closing for first, closing in (*DOUBLE_PAIRS, *SINGLE_PAIRS) if first == opening)
    for opening, _ in (*DOUBLE_PAIRS, *SINGLE_PAIRS)
}
# A quotation ends behind a mark, or before a comma; so no apostrophe ends it, nor does a quoted word.
QUOTATION = (
    rf"(?<![\w{QUOTES}])(?P<opening>(?P<double>[{DOUBLE_QUOTES}])|[{SINGLE_QUOTES}])(?=[\w{COVERS}…])"
    rf"(?P<said>(?:(?(double)[^{DOUBLE_QUOTES}]|[^\n])){{1,500}}?)"
    rf"(?:(?P<mark>[{MARKS_OF_SPEECH}]{{1,3}})(?P<inner>[{QUOTES}])(?P<behind>[{COMMAS}]?)|(?P<outer>[{QUOTES}])(?P<comma>[{COMMAS}]))"
    r"(?!\w)"
)
BEGINS_SENTENCE = rf"(?:^|[{FINAL_MARKS}{ELLIPSES}][{re.escape(ANY_CLOSING)}]*\s+)$"
SEEN_BEFORE = 40  # characters before a quotation
IN_BRACKETS = (
    rf"(?<=\w)(?P<opening>\s+\()(?P<inside>[^()\[\]]{{4,200}})(?P<closing>\))(?=(?:[{FINAL_MARKS}](?:\s|$))|$)"
)


class Inset(NamedTuple):
    """The marks from `start` to `end` between two texts, as the target writes them."""

    start: int
    end: int
    written: str
    goes_on: bool = False  # whether the text behind them begins no sentence
    reports: bool = False  # whether it says who speaks


def find_speech(text: str, languages: tuple[str, str], quotes: tuple[str, str]) -> Iterator[Inset]:
    """Yields the marks around quotations that a sentence reports; `quotes` are the target's.

    Quotations that stand alone, and quoted words, have none.
    """
    saying = find_rules(languages[0]).saying or "(?!)"
    is_chained = False  # whether a report stands between the quotation before and this one
    for match in re.finditer(QUOTATION, text):
        if (match["inner"] or match["outer"]) not in CLOSING_OF[match["opening"]]:
            continue
        before = text[max(0, match.start() - SEEN_BEFORE) : match.start()]
        lead = re.search(rf"(?:(?<=\w)(?P<mark>[{COMMAS}{COLONS}])|\b(?:{saying})(?=\s))(?P<blank>\s+)$", before)
        reported = is_reported(match, saying)
        says = " " in match["said"] or re.search(rf"\b(?:{saying})\b", before)
        if lead and (is_chained or (says and match["said"][0].isupper() and re.search(r"\w\s.*\w", before))):
            mark = lead["mark"] or ""
            mark = mark if is_chained else find_rules(languages[1]).speech_mark or mark
            start = match.start() - len(lead["blank"]) - bool(lead["mark"])
            yield Inset(start, match.start("said"), f"{mark} {quotes[0]}", goes_on=match["said"][0].islower())
        elif reported and re.search(BEGINS_SENTENCE, before):
            yield Inset(match.start(), match.start("said"), quotes[0])
        else:
            continue
        yield close_speech(match, languages[1], quotes[1], reported=reported)
        is_chained = reported


def is_reported(quotation: re.Match[str], saying: str) -> bool:
    """Whether the words after a quotation say who speaks: they follow a pause, or begin no sentence."""
    behind = quotation.string[quotation.end() :]
    word = re.match(r"\s+([^\W\d_])", behind)
    is_pause = quotation["mark"] is None or quotation["mark"][-1] in COMMAS or bool(quotation["behind"])
    says = re.compile(rf"(?:\s+\w+){{1,3}}?\s+(?:{saying})\b")
    return word is not None and (is_pause or word[1].islower() or says.match(behind) is not None)


def close_speech(quotation: re.Match[str], language: str, quote: str, *, reported: bool) -> Inset:
    """Returns the marks after direct speech: „Wo?“, fragte er, but “Where?” he asked."""
    mark, usual = quotation["mark"] or quotation["comma"], find_rules(language).speech
    is_pause = mark[-1] in COMMAS
    is_outside = usual.endswith(",") if usual else quotation["mark"] is None or bool(quotation["behind"])
    comma = "," if usual else mark
    written = f"{quote}{comma}" if reported and is_outside else f"{comma * is_pause}{quote}"
    start = quotation.end("said") if is_pause else quotation.start("inner")
    return Inset(start, quotation.end(), written, goes_on=reported, reports=reported)


def find_bracketed(text: str, languages: tuple[str, str]) -> Iterator[Inset]:
    """Yields the brackets around a complete sentence at the end of another."""
    subject = find_rules(languages[0]).subjects
    for match in re.finditer(IN_BRACKETS, text) if subject else ():
        if re.match(rf"(?i:{subject})\s[^\W\dA-Z_]", match["inside"]):
            yield Inset(*match.span("opening"), match["opening"], goes_on=True)
            yield Inset(*match.span("closing"), match["closing"])
