"""Reads mistyped words as the known words that they stand for, where there is no doubt.

A word that training never had means nothing to a network, which then invents. One that a single slip of the fingers
makes of a frequent word is read as that word, and this is told. Only where nearly all words of a language occurred in
training, so that an unknown word is likely to be a slip, and only in scripts with case, whose words are not made of
others by a single letter. Knows the profile of a side, no networks.
Source: Damerau (1964), "A Technique for Computer Detection and Correction of Spelling Errors": most slips are one
letter too few, one too many, a wrong one, or two exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from nmt_cli.text.folding import FoldedText, Replacement, replace_ranges
from nmt_cli.text.profile import TextProfile
from nmt_cli.text.words import has_letters

KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
WORD = re.compile(r"(?<![\w'’])[^\W\d_]+(?:['’][^\W\d_]+)*(?![\w'’])")
UNSEEN_RARELY = 0.02  # largest share of the words of a new text that training may not have had
SHORT = 4  # letters; a word of as many or fewer is only read as a very frequent one
COMMON = 1000  # texts, in which a very frequent word occurs once
FEWEST = 3  # occurrences of any other word
CERTAIN = 4  # times as likely as the next best word
LIKELY, LESS_LIKELY = 1.0, 0.5  # how likely a letter is doubled or two exchanged; left out, or missed by a key
WORDS_REMEMBERED = 20_000


class ReadAs(NamedTuple):
    """A word of the source, and the known word as which it was read."""

    word: str
    known: str


class RespelledText(NamedTuple):
    """A text without slips that are sure."""

    folded: FoldedText
    words: tuple[ReadAs, ...]


class SlipFinder:
    """Finds the known words that mistyped ones stand for."""

    def __init__(self, profile: TextProfile) -> None:
        self.profile = profile
        self.is_sure = profile.unseen_share <= UNSEEN_RARELY and profile.has_all_words
        self.letters = [letter for letter in sorted(profile.characters) if letter.islower()] + ["'"]
        self.known: set[str] = set()  # words that are known, as they are written
        self.familiar: set[str] = set()  # parts of texts between blanks, whose words are known
        self.best: dict[str, str | None] = {}  # what unknown words are slips of

    def respell_text(self, text: str) -> RespelledText | None:
        """Returns a text with known words for mistyped ones; None if there is nothing to read otherwise."""
        if not self.is_sure or self.familiar.issuperset(parts := text.split()):
            return None
        matches = list(WORD.finditer(text))
        unknown = [
            number
            for number, match in enumerate(matches)
            if not self.is_known(match[0]) and not is_abbreviated(text, match.end())
        ]
        if not unknown:
            if len(self.familiar) >= WORDS_REMEMBERED:
                self.familiar.clear()
            self.familiar.update(parts)
            return None
        meant = dict(self.find_moved_blanks(text, matches, unknown))
        for number in unknown:
            if number not in meant and (word := self.find_meant(matches[number][0], is_first=number == 0)) is not None:
                meant[number] = word
        replacements = [Replacement(*matches[number].span(), word) for number, word in sorted(meant.items())]
        words = tuple(ReadAs(matches[number][0], word) for number, word in sorted(meant.items()))
        return RespelledText(replace_ranges(text, replacements), words) if words else None

    def is_known(self, word: str) -> bool:
        """Whether training has a word, in any case, or all its parts."""
        if word in self.known:
            return True
        is_known = self.profile.has_word(word)
        if is_known:
            if len(self.known) >= WORDS_REMEMBERED:
                self.known.clear()
            self.known.add(word)
        return is_known

    def find_moved_blanks(
        self, text: str, matches: Sequence[re.Match[str]], unknown: Sequence[int]
    ) -> Iterator[tuple[int, str]]:
        """Yields the number of a word and what it is, where a blank was typed a letter too early or too late."""
        last = -1
        for number, following in pairwise(unknown):
            first, second = matches[number], matches[following]
            if number > last and following == number + 1 and text[first.end() : second.start()] == " ":
                moved = self.move_blank(first[0], second[0])
                if moved is not None:
                    yield from zip((number, following), moved, strict=True)
                    last = following

    def move_blank(self, first: str, second: str) -> tuple[str, str] | None:
        """Returns two known words of which the blank was exchanged with a letter beside it; None if it was not."""
        moves = (first + second[0], second[1:]), (first[:-1], first[-1] + second)
        known = [pair for pair in moves if all(self.profile.words.find(word.lower()).total >= FEWEST for word in pair)]
        return known[0] if len(known) == 1 else None

    def find_meant(self, word: str, *, is_first: bool) -> str | None:
        """Returns the known word that an unknown one stands for, in its case; None if it stands for none."""
        key = word.lower()
        try:
            best = self.best[key]
        except KeyError:
            if len(self.best) >= WORDS_REMEMBERED:
                self.best.clear()
            best = self.best[key] = self.find_best(key)
        if best is None:
            return None
        usual = self.profile.find_usual_case(best) or best
        if word.islower():
            return usual
        is_name = not is_first and not usual[0].isupper()
        return usual[0].upper() + usual[1:] if word[1:].islower() and not is_name else None

    def find_best(self, word: str) -> str | None:
        """Returns the word of which an unknown one is a slip, if one is far likelier than all others."""
        likely, less_likely = find_likely_originals(word) & self.keys, self.find_other_originals(word) & self.keys
        likelihoods = {other: LESS_LIKELY * self.profile.words.find(other).total for other in less_likely}
        likelihoods |= {other: LIKELY * self.profile.words.find(other).total for other in likely}
        ranked = sorted(likelihoods, key=lambda other: (-likelihoods[other], other))[:2]
        if not ranked or (len(ranked) > 1 and likelihoods[ranked[1]] * CERTAIN > likelihoods[ranked[0]]):
            return None
        best = ranked[0]
        fewest = self.profile.texts / COMMON if len(word) <= SHORT else FEWEST
        return best if self.profile.words.find(best).total >= fewest else None

    def find_other_originals(self, word: str) -> set[str]:
        """Returns the words that `word` may be with a letter left out, or with the key beside the right one.

        The last letter of a long word is no slip: other endings are other forms of a word.
        """
        end = len(word) + (len(word) <= SHORT)
        missing = {word[:index] + letter + word[index:] for index in range(end) for letter in self.letters}
        wrong = {
            word[:index] + key + word[index + 1 :]
            for index in range(end - 1)
            for key in NEIGHBOURS.get(word[index], ())
        }
        return missing | wrong

    @cached_property
    def keys(self) -> frozenset[str]:
        """All words in lower case."""
        return frozenset(line.partition("\t")[0] for line in self.profile.words.lines)


def is_abbreviated(text: str, end: int) -> bool:
    """Whether the word of a sentence that ends at `end` is an abbreviation: its full stop does not end the sentence."""
    return text[end : end + 1] == "." and has_letters(text[end:])


def find_likely_originals(word: str) -> set[str]:
    """Returns the words that `word` may be with a letter doubled, or with two exchanged."""
    return {
        word[:index] + ("" if left == right else right) + left + word[index + 2 :]
        for index, (left, right) in enumerate(pairwise(word))
    }


def find_neighbours() -> dict[str, list[str]]:
    """Returns the keys beside each key."""
    neighbours: dict[str, list[str]] = {}
    for row in KEYS:
        for left, right in pairwise(row):
            neighbours.setdefault(left, []).append(right)
            neighbours.setdefault(right, []).append(left)
    return neighbours


NEIGHBOURS = find_neighbours()
