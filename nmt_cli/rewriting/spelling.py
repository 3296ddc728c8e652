"""Rewrites spellings that mislead a network: abbreviations, variants, character references, gender-neutral forms.

    approx. 10          about 10: a network mistakes the full stop of an unknown abbreviation for the end of
                        the sentence, and leaves out the rest
    colour              color, if this is frequent in training and the other spelling is not
    caf&eacute;         café, and the translation gets the source's references; all others are protected spans
    Tom &amp; Mary      Tom & Mary, which a network reads as "and"; after a placeholder it would lose Mary
    Lehrer*innen        Lehrerinnen: a network reads the mark, which older text lacks, as the end of the word

The rules of the language list the abbreviations and describe gender-neutral words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Self

from nmt_cli.carrying.spans import cover_ranges
from nmt_cli.carrying.syntax import REFERENCE
from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext, Written
from nmt_cli.text.aligned import AlignedText, Edit
from nmt_cli.text.characters import FULL_STOPS, QUOTES
from nmt_cli.text.profile import TextProfile
from nmt_cli.text.words import WORDS_REMEMBERED, remember_by_word


class Abbreviations(Rewrite):
    """Reads rare abbreviations in full: `approx.` as `about`."""

    def __init__(self, spelled_out: Mapping[str, str], last: str = "") -> None:
        """`last` is the pattern of abbreviations that are spelled out even at the end of a text: closed, open."""
        self.spelled_out = {join_form(short): words for short, words in spelled_out.items()}
        self.shouted = {short.upper(): words.upper() for short, words in self.spelled_out.items()}
        self.last = rf"(?i:\b(?:{last or '(?!)'})\.$)"
        forms = sorted(self.spelled_out, key=len, reverse=True)
        self.pattern = "|".join(r"\.\s?".join(map(re.escape, form.split(".")[:-1])) for form in forms)

    @classmethod
    def from_model(cls, model: ModelText) -> Self | None:
        rules = find_rules(model.languages[0])
        usual = {short: words for short, words in rules.spelled_out.items() if is_usual(words, short, model.source)}
        return cls(usual, rules.opening) if usual else None

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, None] | None:
        """Returns a text with its abbreviations spelled out; a full stop at its end stays."""
        edits = list(self.spell_out(text.text))
        return (text.replace(edits), None) if edits else None

    def cover_forms(self, text: str) -> str:
        """Returns a text with its abbreviations covered, since they are not names."""
        return cover_ranges(text, ((start, end) for start, end, _ in self.spell_out(text)))

    def spell_out(self, text: str) -> Iterator[Edit]:
        """Yields the edits that spell out the abbreviations of a text; only one at its start may have a capital."""
        if "." not in text[:-1] and not re.search(self.last, text):
            return
        for match in re.finditer(rf"(?<![\w.])(?i:{self.pattern})(?:\.(?=\W*\w)|(?=\.))", text):
            form = join_form(match[0].rstrip(".") + ".")
            words = (self.shouted if text.isupper() else self.spelled_out).get(form)
            if words is None and match.start() == 0 and (words := self.spelled_out.get(form[0].lower() + form[1:])):
                words = words[0].upper() + words[1:]
            if words:
                yield Edit(*match.span(), words)


def join_form(form: str) -> str:
    """Returns an abbreviation without spaces, the form that stands for all its spellings: `z.B.`"""
    return re.sub(r"\s", "", form)


def is_usual(words: str, short: str, profile: TextProfile) -> bool:
    """Whether every word of a phrase is more frequent in training than the rarest part of its abbreviation."""
    rarest = min(map(profile.count_word, words.split()))
    return rarest > min(profile.count_word(part) for part in join_form(short).split(".")[:-1])


TEXTS_PER_VARIANT = 20_000  # texts, in which a word whose other spelling is usual occurs at most once


class SpellingVariants(Rewrite):
    """Reads rare spellings as the common spellings of the training text: `colour` as `color`."""

    def __init__(self, profile: TextProfile, variants: Mapping[str, str]) -> None:
        self.profile, self.variants = profile, variants
        self.find_usual = remember_by_word(WORDS_REMEMBERED)(self.search_usual)

    @classmethod
    def from_model(cls, model: ModelText) -> Self | None:
        variants = find_rules(model.languages[0]).variants
        return cls(model.source, variants) if variants else None

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, None] | None:
        words = ((match, self.find_usual(match[0])) for match in re.finditer(r"[^\W\d_]{4,}", text.text))
        edits = [Edit(*match.span(), usual) for match, usual in words if usual]
        return (text.replace(edits), None) if edits else None

    def search_usual(self, word: str) -> str:
        """Returns the usual spelling of a word, with its capital; empty if it has no other spelling."""
        small = word.lower()
        if self.profile.count_word(small) * TEXTS_PER_VARIANT > self.profile.texts:
            return ""
        for pattern, other in self.variants.items():
            usual = re.sub(pattern, other, small)
            if usual != small and self.profile.count_word(usual) * TEXTS_PER_VARIANT > self.profile.texts:
                return usual if word[0].islower() else usual.capitalize()
        return ""


# Between words: Tom &amp; Mary, Tom \& Mary; Tom &Mary left. Between capitals, as addresses hardly have: AT&amp;T.
AMPERSAND = (
    rf"(?P<link>(?<=[\w;] )(?:(?:&amp;|\\&)(?= [^\W_])|&(?=[A-ZÀ-Þ][a-zß-ÿ].*\w[{FULL_STOPS}]$))"
    r"|(?<=[A-Z])&amp;(?=[A-Z]+(?![\w=;])))"
)


class Entities(Rewrite):
    r"""Reads `&eacute;`, `&#39;`, `&quot;`, and `&amp;` or `\&` between words as characters, and writes them back."""

    scope = "line"

    @classmethod
    def from_model(cls, model: ModelText) -> Self:
        return cls()

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, Mapping[str, str]] | None:
        """Returns the text without references; the memo maps characters to the references that they replace."""
        if "&" not in text.text:
            return None
        from html import unescape  # which few texts need

        edits: list[Edit] = []
        references: dict[str, str] = {}
        signs = [match[0] for match in re.finditer(f"{AMPERSAND}|{REFERENCE.pattern}", text.text)]
        are_links = len(signs) == text.text.count("&")  # else a sign would be both
        for match in re.finditer(f"{AMPERSAND}|{REFERENCE.pattern}" if are_links else REFERENCE, text.text):
            link = match.groupdict().get("link")
            character = unescape(match[0]) if link is None else "&"
            if len(character) == 1 and (character.isalpha() or character in QUOTES or link):
                references.setdefault(character, match[0])
                edits.append(Edit(*match.span(), "& " if link == "&" else character))
        return (text.replace(edits), references) if edits else None

    def write(self, translation: str, memo: Mapping[str, str], written: Written) -> str:
        pattern = "|".join(filter(None, (written.span_pattern, *map(re.escape, memo))))
        sign = memo.get("&", "&")  # which names have, too: AT&amp;T

        def write(match: re.Match[str]) -> str:
            return memo.get(match[0]) or (match[0] if REFERENCE.match(match[0]) else match[0].replace("&", sign))

        return re.sub(pattern, write, translation)


INNER_MARKS = frozenset("*_:/(·•‧⋅")  # one of which such a word has


class GenderForms(Rewrite):
    """Reads gender-neutral words as one of their forms: `Lehrer*innen` as `Lehrerinnen`."""

    def __init__(self, language: str) -> None:
        self.language = language

    @classmethod
    def from_model(cls, model: ModelText) -> Self:
        return cls(model.languages[0])

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, None] | None:
        marks = [] if INNER_MARKS.isdisjoint(text.text) else list(find_gender_marks(text.text, self.language))
        return (text.replace(marks), None) if marks else None

    def cover_forms(self, text: str) -> str:
        """Returns a text with gender-neutral words, and anything attached to them, covered."""
        if INNER_MARKS.isdisjoint(text):
            return text
        behind = f"{text} "
        marks = find_gender_marks(text, self.language)
        return cover_ranges(text, ((text.rfind(" ", 0, m.start) + 1, behind.find(" ", m.end)) for m in marks))


def find_gender_marks(text: str, language: str) -> Iterator[Edit]:
    """Yields edits that delete the marks inside gender-neutral words, with the endings that they set off."""
    rules = find_rules(language)
    for match in re.finditer(rules.gender_forms, text) if rules.gender_forms else ():
        ending = re.search(rules.gender_marks, match[0])
        if ending is None:
            continue
        yield Edit(match.start() + ending.start(), match.end(), "")
        if ending[0] == "(":
            closing = text.index(")", match.end())
            yield Edit(closing, closing + 1, "")


def drop_gender_marks(text: str, language: str) -> str:
    """Reduces gender-neutral words to one form.

    >>> drop_gender_marks("Jede*r kennt Schüler/-innen.", "deu")
    'Jeder kennt Schülerinnen.'
    """
    marks = list(find_gender_marks(text, language))
    return AlignedText.from_text(text).replace(marks).text if marks else text
