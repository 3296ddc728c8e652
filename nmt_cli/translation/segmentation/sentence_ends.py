"""Finds sentence ends: marks of many scripts, closing marks after them, and full stops that end nothing.

The rules of the language list the abbreviations. Knows only text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from nmt_cli.carrying.spans import COVERS, EMOJI_COVER
from nmt_cli.languages.rules import LanguageRules, find_rules
from nmt_cli.text import characters
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.text.words import skip_blanks, skip_blanks_back

SEEN_AROUND = 80  # characters on both sides of a mark that show of what it is a part
WORDS_BEFORE_EMOJI = 2  # in "I ❤ New York" it stands for a word
BLANK_AFTER = characters.SPACED_FINAL_MARKS + characters.ELLIPSES  # marks that a blank follows, or the end
SOLID = characters.SOLID_FINAL_MARKS  # marks that need none
ANY_MARK = rf"[{BLANK_AFTER}{SOLID}{EMOJI_COVER}]"
CLOSERS = re.escape(characters.ANY_CLOSING)
# Patterns as text: Python compiles and caches them at their first use.
END = (
    rf"(?<![{BLANK_AFTER}])[{BLANK_AFTER}]++(?:[{CLOSERS}{COVERS}]|[ {characters.THIN_BLANKS}][»›])*+\s+"
    rf"|[{SOLID}]++[{re.escape(characters.CLOSING)}]*\s*"
    rf"|(?<=[^\W\d_])[{characters.SPACED_FINAL_MARKS}](?=[^\W\d_])"
    rf"|{EMOJI_COVER}+(?:\s*{EMOJI_COVER})*\s*"
)
WORD_BEFORE = rf"(?:^|(?<=[\s{re.escape(characters.ANY_OPENING)}./]))(?:[^\W\d_]\.\s?)*([^\W_]+)\.$|([^\s.]+)\.$"
# A small number: of a day or an item, but not of a page ("p. 31."). A unit is no initial ("2 m.").
SMALL_NUMBER = (
    rf"(?:^|(?<=[\s{COVERS}*_~>{re.escape(characters.ANY_OPENING)}])|(?<=\b[^\W\d_]\.))"
    r"(?<![^\W\d_]\.\s)\d{1,2}\.$"
)
# With a full stop; 1.1 and 1.1.1 are covered.
LIST_MARK = rf"[^\W\d_]|[ivx]{{1,5}}|[IVX]{{1,5}}|[{COVERS}]{{3}}|[{COVERS}]{{5}}"
UNIT = rf"[\d{COVERS}]\s?[mglhtsмлт]\.$"


def has_mark_inside(text: str) -> bool:
    """Whether a text has a mark before its last character.

    Fast, since nearly all texts are one sentence without one.
    """
    match = re.compile(ANY_MARK).search(text)
    return match is not None and match.end() < len(text.rstrip())


def find_sentence_ends(covered: str, start: int, end: int, language: str) -> Iterator[int]:
    """Yields the positions after each mark, and the blanks after it, that ends a sentence from `start` to `end`.

    `covered` is a text whose spans are covered, `language` its code.
    """
    is_cased = any(map(str.isupper, covered))
    for match in re.compile(END).finditer(covered, start, end):
        if ends_sentence(covered, match, start, find_rules(language), is_cased=is_cased):
            start = match.end()
            yield start


def ends_with_mark(covered: str) -> bool:
    """Whether a text ends with a mark that may end a sentence."""
    return (
        re.search(
            rf"[{BLANK_AFTER}{SOLID}](?:[{CLOSERS}{COVERS}{EMOJI_COVER}]|[ {characters.THIN_BLANKS}][»›])*\s*$",
            covered[-40:],
        )
        is not None
    )


def ends_sentence(covered: str, match: re.Match[str], start: int, rules: LanguageRules, *, is_cased: bool) -> bool:
    """Whether a new sentence begins after `match`; in a text without capitals, a lower-case letter there proves
    nothing.

    `start` is where the sentence begins.
    """
    following = covered[match.end() : match.end() + 1]
    marks = match[0].rstrip()
    # 1. Marks of scripts without blanks: the sentence goes on after a quotation.
    if marks[0] in SOLID:
        return marks[-1] in SOLID or not re.compile(rules.goes_on).match(covered, match.end())
    if marks[0] == EMOJI_COVER:
        before = covered[max(start, match.start() - SEEN_AROUND) : match.start()]
        return following.isupper() and len(before.split()) >= WORDS_BEFORE_EMOJI
    # 2. A mark without a blank after it.
    if match[0] == marks:
        return begins_without_blank(covered, match, rules)
    # 3. A small letter goes on; an ellipsis ends nothing.
    if is_cased and following.islower():
        return False
    run = marks.rstrip(f"{characters.ANY_CLOSING}{COVERS} {characters.THIN_BLANKS}")
    if run.strip(f".{characters.ELLIPSES}") == "" and (len(run) > 1 or run in characters.ELLIPSES):
        return False
    # 4. "Go!" Tom said.
    first, last = skip_blanks(covered, start), marks[-1]
    if run[-1] in characters.LIVELY_MARKS and covered[first] in characters.QUOTES and last in characters.QUOTES:
        return False
    # 5. The mark of an item of a list.
    end = skip_blanks_back(covered, match.start(), first)
    if run == "." and re.compile(LIST_MARK).fullmatch(covered, first, end):
        return False
    return run != "." or not is_abbreviation(covered, match.start() + 1, following, rules, is_cased=is_cased)


def begins_without_blank(covered: str, match: re.Match[str], rules: LanguageRules) -> bool:
    """Whether a sentence begins right after the mark, as in "I like tea.I like coffee.", but not in a name."""
    position = match.start()
    if not (covered[position - 1].islower() and covered[position - 2 : position - 1].isalpha()):
        return False
    if not covered[position + 1].isupper() or covered[position + 2 : position + 3].isupper():
        return False
    before = covered[max(0, position - SEEN_AROUND) : position].split()[-1]
    after = covered[position + 1 : position + 1 + SEEN_AROUND].split()[0]
    if "." in before or re.search(r"[/\\_=@:.]\w", f"{before} {after}"):
        return False
    return not is_among_words(before.strip(characters.ANY_OPENING), rules.abbreviations)


def is_abbreviation(covered: str, end: int, following: str, rules: LanguageRules, *, is_cased: bool) -> bool:
    """Whether the full stop before `end` belongs to an abbreviation, an initial or an ordinal."""
    text = covered[max(0, end - 16) : end]
    if re.search(SMALL_NUMBER, text):
        return True
    match = re.search(WORD_BEFORE, text)
    if match is None or (re.search(UNIT, text) and following.isupper()):
        return False
    word = (match[1] or match[2]).lstrip(characters.ANY_OPENING + COVERS)  # (approx. 5 km), <i>z. B.</i>
    if len(word) == 1 and word.isalpha():
        return word not in rules.one_letter_words and not find_unspaced(word)
    begins_number = following.isdigit() or (following != "" and following in COVERS)
    return (
        is_among_words(word, rules.abbreviations)
        or (begins_number and is_among_words(word, rules.before_numbers))
        or (is_among_words(word, rules.often_last) and (begins_number or not is_cased))
    )


def is_among_words(word: str, words: Collection[str]) -> bool:
    """Whether a word is one of `words`, whose lower-case entries also match capitalised words."""
    return word in words or word.lower() in words
