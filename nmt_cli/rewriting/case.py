"""Reads a text in its usual case, and restores the case of the source in the translation.

`OPEN THE DOOR` is read as `Open the door`, and its translation is written in capitals. Headings In Title Case, lines
without any capitals, and single words in CAPITALS or MIxed case are treated likewise; alignment finds the translations
of single words. Text in usual case is left alone, and spans that must not change keep their case. The first word after
a span, `{n} dogs`, gets no capital, though the network learned to begin with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, Self

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext, Written
from nmt_cli.text.aligned import AlignedText, Edit
from nmt_cli.text.characters import ANY_CLOSING, COMMAS, END_MARKS, PAUSES
from nmt_cli.text.profile import TextProfile
from nmt_cli.text.words import APOSTROPHES, Link, choose_word_pattern

CAPITAL_I = frozenset("Iİ")

CaseKind = Literal["upper", "title", "words"]


class CasePlan(NamedTuple):
    """The case to put back into a translation."""

    kind: CaseKind  # all in capitals, a capital for each word that had one, or single words in capitals
    words: frozenset[int] = frozenset()  # the words of the source, between blanks, that had it


def recase_text(text: str, plan: CasePlan, written: Written, language: str) -> str:
    """Returns a translation in the case of its source; `language` is the translation's."""
    if plan.kind == "upper":
        return "".join(part if is_span else upper_text(part, language) for part, is_span in split_spans(text, written))
    words = [match.span() for match in re.finditer(r"\S+", text)]
    choose = choose_title_words if plan.kind == "title" else choose_shouted_words
    is_span_at = [is_span for part, is_span in split_spans(text, written) for _ in part]
    letters = list(text)
    for index in choose([text[start:end] for start, end in words], plan, written.find_links()):
        free = [position for position in range(*words[index]) if not is_span_at[position] and text[position].isalpha()]
        for position in free[:1] if plan.kind == "title" else free:
            change = capitalise_text if plan.kind == "title" else upper_text
            letters[position] = change(letters[position], language)
    return "".join(letters)


def split_spans(text: str, written: Written) -> Iterator[tuple[str, bool]]:
    """Yields the parts of a text, each with a flag: whether it must stay unchanged."""
    pattern = written.span_pattern
    for number, part in enumerate(re.split(f"({pattern})", text) if pattern else [text]):
        yield part, number % 2 == 1


def choose_title_words(words: Sequence[str], plan: CasePlan, links: Sequence[Link]) -> list[int]:
    """Returns the words to capitalise: those linked to capitalised source words, or all if nothing is linked."""
    linked: dict[int, set[int]] = {}
    for source, target in links:
        linked.setdefault(target, set()).add(source)
    return [index for index in range(len(words)) if not links or linked.get(index, set()) & plan.words]


def choose_shouted_words(words: Sequence[str], plan: CasePlan, links: Sequence[Link]) -> list[int]:
    """Returns, for each source word in capitals, its longest linked word in the translation."""
    indices = []
    for source in plan.words:
        targets = [target for other, target in links if other == source and target < len(words)]
        indices += sorted(targets, key=lambda target: (len(words[target]), target))[-1:]
    return indices


def lower_text(text: str, language: str) -> str:
    """Returns a text in lower case, with its language's forms of the letter i."""
    is_dotless = not CAPITAL_I.isdisjoint(text) and find_rules(language).has_dotless_i
    return (text.replace("I", "ı").replace("İ", "i") if is_dotless else text).lower()


def upper_text(text: str, language: str) -> str:
    """Returns a text in capitals, with its language's forms of the letter i."""
    return (text.replace("i", "İ") if "i" in text and find_rules(language).has_dotless_i else text).upper()


def capitalise_text(text: str, language: str) -> str:
    """Capitalises the first letter of a text, unless it is an apostrophe; the others are unchanged."""
    index = next((index for index, character in enumerate(text) if character.isalnum()), 0)
    first = text[index : index + 1]
    capital = "İ" if first == "i" and find_rules(language).has_dotless_i else first.title()
    capital = first if first in APOSTROPHES else capital  # ꞌ has a capital, which nobody writes
    return text[:index] + capital + text[index + 1 :]


CASED_TRAINING = 0.8  # share of training texts that begin with a capital, if a line without capitals is casual
RARE_WORD = 3  # occurrences at most; rare words show how a word that never occurred is likely to be written
CAPITALS_SHARE = 0.005  # of a word's occurrences: NOT is a function rarely, US a country often
ROLES_SHARE = 0.2  # of a word's occurrences: a name that is also a word has a capital more often
LONG_WORD = 4  # letters of a word that stands with a capital in every heading
# In ASCII: a capital within a word, a capital after a blank (but for I), a word that no heading would write so.
INNER_CAPITAL = re.compile(r"[A-Za-z]['-]?[A-Z]")
MIXED_NAME = r"(?<!\w)[^\W\d_]*[a-zß-ÿ][A-Z][^\W\d_]*"
SECOND_CAPITAL = re.compile(r"[ \"'([](?!I\b)[A-Z]")
ORDINAL = r"\d+[^\W\d_]{2,}"  # 5th, 20s
LONG_LOWER_WORD = rf" [a-z]{{{LONG_WORD + 1}}}"


class CasedWord(NamedTuple):
    """A word of cased letters, without surrounding punctuation."""

    text: str
    start: int
    word_index: int  # of the blank-separated word that it belongs to
    is_first: bool  # of a sentence

    @property
    def is_capitalised(self) -> bool:
        return self.text[0].isupper() and not any(map(str.isupper, self.text[1:]))


class Case(Rewrite):
    """Reads CAPITALS, Title Case and lower case in the usual case of the training text, and restores the case."""

    def __init__(self, profile: TextProfile, languages: tuple[str, str]) -> None:
        """`languages` are those of the text and of its translation."""
        self.profile = profile
        self.language, self.target_language = languages

    @classmethod
    def from_model(cls, model: ModelText) -> Self | None:
        return None if model.lowercase else cls(model.source, model.languages)

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, CasePlan | None] | None:
        """Returns a text in usual case. Without a plan, its case was casual and nothing is put back."""
        # 1. Most texts have nothing unusual, and most of these show it at a glance.
        line = text.text
        if line.islower():
            if context.has_capitals or self.profile.initial_capitals < CASED_TRAINING:
                return None
        elif not line.isupper() and not may_be_unusual(line) and not self.may_name_role(line):
            return None
        words = list(find_cased_words(line, begins_sentence=context.begins_sentence))
        # 2. A line without capitals, a line in capitals.
        if line.islower():
            return self.rewrite_words(text, words, None)
        if line.isupper():
            return self.rewrite_words(text, words, CasePlan("upper")) if self.is_shouted(words) else None
        # 3. A heading.
        if self.is_title(line, words):
            plan = CasePlan("title", frozenset(word.word_index for word in words if word.text[0].isupper()))
            return self.rewrite_words(text, words, plan)
        # 4. Single words.
        unusual = [word for word in words if self.is_unusual(word.text)]
        shouted = frozenset(word.word_index for word in unusual if word.text.isupper())
        roles = self.find_roles(line, words) if self.may_name_role(line) else ()
        changed = sorted({*unusual, *roles}, key=lambda word: word.start)
        return self.rewrite_words(text, changed, CasePlan("words", shouted) if shouted else None)

    def rewrite_words(
        self, text: AlignedText, words: Sequence[CasedWord], plan: CasePlan | None
    ) -> tuple[AlignedText, CasePlan | None] | None:
        """Returns `text` with these words in usual case; None if all of them already are."""
        edits = []
        for word in words:
            usual = self.find_usual(word.text)
            usual = self.capitalise_word(usual) if word.is_first else usual
            edits.append(Edit(word.start, word.start + len(word.text), usual))
        result = text.replace(edits)
        return None if result.text == text.text else (result, plan)

    def write(self, translation: str, memo: CasePlan | None, written: Written) -> str:
        return translation if memo is None else recase_text(translation, memo, written, self.target_language)

    def keep(self, source: str, translation: str) -> str:
        """Capitalises a translation if its source has a capital only because it begins a sentence, and restores the
        inner capitals of known names: iOS.
        """
        names = {name.lower(): name for name in re.findall(MIXED_NAME, source) if self.is_known(name)}
        if names:
            pattern = rf"(?i)(?<![^\W_])(?:{'|'.join(names)})(?![^\W_])"
            translation = re.sub(pattern, lambda match: names.get(match[0].lower(), match[0]), translation)
        first = re.match(r"[^\W\d_]+", source) if translation[:1].islower() else None
        if first is None or re.split(r"\W", translation)[0] in re.split(r"\W", source) or not first[0][0].isupper():
            return translation
        is_small = self.profile.find_usual_case(first[0]) == lower_text(first[0], self.language)
        return capitalise_text(translation, self.target_language) if is_small else translation

    def is_shouted(self, words: Sequence[CasedWord]) -> bool:
        """Whether a text in capitals would usually be written otherwise: it is neither just an acronym nor unknown."""
        long_words = [word.text for word in words if len(word.text) > 1]
        return any(self.is_known(word) and not self.is_known_form(word, CAPITALS_SHARE) for word in long_words)

    def is_title(self, text: str, words: Sequence[CasedWord]) -> bool:
        """Whether words within a sentence have unusual capitals, as in a heading."""
        inner = [word for word in words if not word.is_first and word.text != "I"]
        if any(len(word.text) >= LONG_WORD and word.text.islower() for word in inner):
            return False
        unusual = [word for word in inner if word.is_capitalised and self.find_usual(word.text) == word.text.lower()]
        unseen = [word for word in unusual if not self.is_known_form(word.text)]
        return len(unusual) > 2 or bool(unseen) or (len(unusual) > 0 and text[-1] not in END_MARKS)

    def is_unusual(self, word: str) -> bool:
        """Whether a word in capitals or mixed case is known, but hardly or never had this form in training."""
        if not any(map(str.isupper, re.sub(r"(?:^|[-'’]).", "", word))):
            return False
        return is_slip(word) or (self.is_known(word) and not self.is_known_form(word, CAPITALS_SHARE))

    def may_name_role(self, text: str) -> bool:
        """Whether a text has a determiner before a capital."""
        return self.role is not None and self.role.search(text) is not None

    def find_roles(self, text: str, words: Sequence[CasedWord]) -> Iterator[CasedWord]:
        """Yields usually lower-case words that are capitalised alone after a determiner, like the parties in contracts:
        the Customer, but not the White House.
        """
        starts = {match.end() for match in self.role.finditer(text)} if self.role is not None else set()
        for word in words:
            following = text[word.start + len(word.text) :].lstrip(" ")[:1]
            if word.start in starts and word.is_capitalised and len(word.text) >= LONG_WORD and not following.isupper():
                is_small = self.find_usual(word.text) == self.lower_word(word.text)
                if is_small and not self.is_known_form(word.text, ROLES_SHARE):
                    yield word

    @cached_property
    def role(self) -> re.Pattern[str] | None:
        """Matches a determiner and the space before a capital; None in a language that capitalises all nouns."""
        determiners = find_rules(self.language).determiners
        return re.compile(rf"(?<![^\W_])(?i:{determiners}) (?=[A-Z])") if determiners else None

    def find_usual(self, word: str) -> str:
        """Returns a word in its usual case; unknown words in capitals are cased like rare ones, others stay."""
        for key in dict.fromkeys((word, self.lower_word(word))):
            if self.profile.find_word(key).total:
                return self.profile.find_usual_case(key) or key.lower()
        parts = re.split(r"([-'’])", word)
        if len(parts) > 1:
            usual = [self.find_usual(part) if part.isalpha() else part for part in parts]
            return "".join(
                part.lower() if before in ("'", "’") else part
                for before, part in zip(["", *usual], usual, strict=False)
            )
        if is_slip(word):
            return word[0] + word[1:].lower()
        if not word.isupper() or len(word) == 1:
            return word
        return self.capitalise_word(self.lower_word(word)) if self.are_rare_words_capitalised else self.lower_word(word)

    @cached_property
    def are_rare_words_capitalised(self) -> bool:
        """Whether most rare words begin with a capital, being names or, in German, nouns."""
        rare = [word for word in self.profile.words if word.total <= RARE_WORD and word.forms[0][1]]
        return 2 * sum(word.forms[0][0][0].isupper() for word in rare) > len(rare)

    def is_known(self, word: str) -> bool:
        return self.profile.count_word(self.lower_word(word)) > 0

    def is_known_form(self, word: str, share: float = 0.0) -> bool:
        """Whether a word had this form in training, in at least a `share` of its occurrences."""
        total, forms = self.profile.find_word(word)
        return any(form == word and count >= share * total for form, count in forms)

    def lower_word(self, text: str) -> str:
        return lower_text(text, self.language)

    def capitalise_word(self, text: str) -> str:
        return capitalise_text(text, self.language)


def may_be_unusual(text: str) -> bool:
    """Whether a mixed-case text may have unusual case: a quick check, which most texts fail."""
    if text.isascii():
        return bool(
            INNER_CAPITAL.search(text) or (SECOND_CAPITAL.search(text) and not re.search(LONG_LOWER_WORD, text))
        )
    first, *words = text.split(" ")
    if any(map(str.isupper, first[1:])):
        return True
    capitals = [word for word in words if len(word) > 1 and not word.islower() and word.lower() != word.upper()]
    if any(any(map(str.isupper, word[1:])) for word in capitals):
        return True
    return bool(capitals) and not any(len(word) > LONG_WORD and word.islower() for word in words)


def is_slip(word: str) -> bool:
    """Whether a word begins with two capitals because the shift key was held too long: HEllo, but not PDFs."""
    return len(word) > 3 and word[:2].isupper() and word[2:].islower() and word[2:].isalpha()


def find_cased_words(text: str, *, begins_sentence: bool) -> Iterator[CasedWord]:
    """Yields the words of a text that consist of cased letters; `begins_sentence` applies to the first word."""
    index, position, is_first, previous = 0, 0, begins_sentence, ""
    for match in choose_word_pattern(text).finditer(text):
        word, start, end = match[0], *match.span()
        index += text.count(" ", position, start)
        position = start
        is_cased = word.lower() != word.upper() and (re.fullmatch(ORDINAL, word) or not any(map(str.isdigit, word)))
        if is_cased and word[0].isalnum():
            yield CasedWord(word, start, index, is_first)
        if word in END_MARKS and text[end : end + 3].lstrip(ANY_CLOSING)[:1] == " ":
            is_first = word != "." or len(previous) > 1  # a letter before a full stop is an abbreviation
        elif word[0].isalnum() or word[0] == "⟦":
            is_first, previous = False, word


CONTINUING_WORD = r"[^\W\d_]+"
BEHIND_SPAN = rf"[\s{re.escape(PAUSES)}]*"


class Continued(Rewrite):
    """Keeps a word in lower case after a span at the start of a sentence."""

    def __init__(self, target: TextProfile, language: str) -> None:
        """`language` is the target's."""
        self.target, self.language = target, language

    @classmethod
    def from_model(cls, model: ModelText) -> Self | None:
        return None if model.lowercase else cls(model.target, model.languages[1])

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, bool] | None:
        """Returns the unchanged text, and whether it begins a sentence; None if its first word does so."""
        first = PLACEHOLDER_PATTERN.match(text.text)
        if first is None and context.begins_sentence:
            return None
        word = re.compile(BEHIND_SPAN + CONTINUING_WORD).match(text.text, first.end() if first else 0)
        is_small = word is not None and (word[0].islower() or (word[0] == "I" and not context.begins_sentence))
        return (text, context.begins_sentence) if is_small else None

    def write(self, translation: str, memo: bool, written: Written) -> str:
        """Writes the first word, or the first after spans if the text begins a sentence, without a rare capital."""
        spans = "|".join(re.escape(span) for span in sorted(written.spans, key=len, reverse=True) if span)
        lead = rf"(?:(?:{spans}){BEHIND_SPAN})+" if spans else "(?!)"
        pattern = rf"^(?P<before>(?:{lead}){'' if memo else '?'})(?P<word>{CONTINUING_WORD})"
        return re.sub(pattern, self.write_small, translation)

    def keep(self, source: str, translation: str) -> str:
        """Removes rare capitals after opening brackets, and commas before them, if the source has none."""
        first = re.findall(rf"(?<=\s)\(({CONTINUING_WORD})", source)
        if not first:
            return translation
        if not re.search(rf"[{COMMAS}]\s\(", source):
            translation = re.sub(rf"(?<=\w)[{COMMAS}](?=\s\()", "", translation)
        if not all(word[0].islower() or word == "I" for word in first):
            return translation
        return re.sub(rf"(?P<before>(?<=\s)\()(?P<word>{CONTINUING_WORD})", self.write_small, translation)

    def write_small(self, match: re.Match[str]) -> str:
        """Returns the text of a match, with its word in lower case if the capital is rare within sentences."""
        small = lower_text(match["word"], self.language)
        is_small = match["word"][1:].islower() and self.target.find_usual_case(match["word"]) == small
        return match["before"] + (small if is_small else match["word"])
