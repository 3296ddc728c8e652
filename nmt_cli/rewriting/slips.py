"""Reads mistyped words as the known words that were clearly intended.

A word unseen in training means nothing to a network, which then invents something. A word one slip away from a
frequent word is read as that word, and this is reported. Applies only if nearly all words of the language occurred in
training, so that an unknown word is probably a slip, and only to cased scripts, where one letter rarely makes another
word. Depends only on the profile of one side. Source: Damerau (1964), "A Technique for Computer Detection and
Correction of Spelling Errors": most slips are a missing, extra or wrong letter, or two transposed ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Self

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext
from nmt_cli.text.aligned import AlignedText, Edit
from nmt_cli.text.profile import TextProfile
from nmt_cli.text.words import WORDS_REMEMBERED, KnownWords, has_letters, remember_by_word

KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
WORD = re.compile(r"(?<![\w'’])[^\W\d_]+(?:['’][^\W\d_]+)*(?![\w'’])")
UNSEEN_RARELY = 0.02  # largest share of the words of a new text that training may not have had
SHORT, LONG = 4, 7  # letters; a word of as many as SHORT or fewer is only read as a very frequent one
LONGEST_WORD = 40  # letters; to look for the slips in more, such as a sequence of genes, would take long, and in vain
COMMON = 1000  # texts, in which a very frequent word occurs once
FEWEST = 3  # occurrences of any other word
RARE_ENDING = 1000  # words, of which not one has the two letters at its end
CERTAIN = 4  # times as likely as the next best word
LIKELY, LESS_LIKELY = 1.0, 0.5  # how likely a letter is doubled or two exchanged; left out, or missed by a key


class ReadAs(NamedTuple):
    """A source word, and the known word that replaced it."""

    word: str
    known: str


class Slips(Rewrite):
    """Reads mistyped words as the known words that were meant: `liek` as `like`."""

    def __init__(self, profile: TextProfile) -> None:
        self.profile = profile
        self.is_sure = profile.unseen_share <= UNSEEN_RARELY and profile.has_all_words
        self.letters = [letter for letter in sorted(profile.characters) if letter.islower()] + ["'"]
        self.is_known = remember_by_word(WORDS_REMEMBERED)(profile.has_word)  # in any case, or all its parts
        self.find_best = remember_by_word(WORDS_REMEMBERED)(self.search_best)
        self.familiar = KnownWords(WORDS_REMEMBERED)  # parts of texts between blanks, whose words are known

    @classmethod
    def from_model(cls, model: ModelText) -> Self:
        return cls(model.source)

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, tuple[ReadAs, ...]] | None:
        """Returns a text with its mistyped words replaced; the memo names them."""
        slips = self.find_slips(text.text)
        if not slips:
            return None
        words = tuple(ReadAs(text.text[slip.start : slip.end], slip.text) for slip in slips)
        return text.replace(slips), words

    def find_slips(self, text: str) -> list[Edit]:
        """Returns the edits that replace the mistyped words of a text by known ones."""
        if not self.is_sure or self.familiar.issuperset(parts := text.split()):
            return []
        matches = list(WORD.finditer(text))
        unknown = [number for number, match in enumerate(matches) if not self.is_known(match[0])]
        if not unknown:
            # Whatever stands around these parts, their words are known: an abbreviation is unknown elsewhere.
            self.familiar.learn(parts)
            return []
        unknown = [number for number in unknown if not is_abbreviated(text, matches[number].end())]
        slips = list(self.find_moved_blanks(text, matches, unknown))
        mended = {slip.start for slip in slips}
        for number in unknown:
            match = matches[number]
            if match.start() in mended:
                continue
            is_first = number == 0 and PLACEHOLDER_PATTERN.search(text, 0, match.start()) is None
            known = self.find_intended(match[0], is_first=is_first)
            slips += [Edit(*match.span(), known)] if known is not None else []
        return sorted(slips)

    def find_moved_blanks(self, text: str, matches: Sequence[re.Match[str]], unknown: Sequence[int]) -> Iterator[Edit]:
        """Yields edits of word pairs whose space was typed one letter too early or too late."""
        last = -1
        for number, following in pairwise(unknown):
            first, second = matches[number], matches[following]
            if number > last and following == number + 1 and text[first.end() : second.start()] == " ":
                moved = self.move_blank(first[0], second[0])
                if moved is not None:
                    yield Edit(*first.span(), moved[0])
                    yield Edit(*second.span(), moved[1])
                    last = following

    def move_blank(self, first: str, second: str) -> tuple[str, str] | None:
        """Returns the two known words obtained by swapping the space with an adjacent letter, or None."""
        moves = (first + second[0], second[1:]), (first[:-1], first[-1] + second)
        seen = [pair for pair in moves if all(self.profile.words.find(word.lower()).total >= FEWEST for word in pair)]
        return seen[0] if len(seen) == 1 else None

    def find_intended(self, word: str, *, is_first: bool) -> str | None:
        """Returns the known word for which an unknown one was mistyped, in the same case, or None."""
        if len(word) > LONGEST_WORD:
            return None
        capitalised = undo_capital_slip(word)
        if capitalised is not None:
            return capitalised if self.is_frequent(capitalised) else None
        best = self.find_best(word.lower())
        if best is None:
            return None
        usual = self.profile.find_usual_case(best) or best
        if word.islower():
            return usual
        is_name = not is_first and not usual[0].isupper()
        return usual[0].upper() + usual[1:] if word[1:].islower() and not is_name else None

    def may_be_mistyped(self, word: str, *, is_first: bool) -> bool:
        """Whether an unknown capitalised word may be a slip, including one in a single word of a compound.

        Within a sentence, a slip would hardly capitalise a word that is usually in lower case.
        """
        if not self.is_sure or len(word) > LONGEST_WORD:
            return False
        originals = {word.lower() for word in filter(None, [undo_capital_slip(word)])} & self.keys
        originals |= (find_likely_originals(word.lower()) | self.list_originals(word.lower())) & self.keys
        usual = map(self.profile.find_usual_case, originals)
        return any(is_first or (written or "").istitle() for written in usual)

    def search_best(self, word: str) -> str | None:
        """Returns the original of a mistyped word, in lower case, if it is far likelier than all others."""
        likely, less_likely = find_likely_originals(word) & self.keys, self.list_originals(word) & self.keys
        likelihoods = {other: LESS_LIKELY * self.profile.words.find(other).total for other in less_likely}
        likelihoods |= {other: LIKELY * self.profile.words.find(other).total for other in likely}
        best = choose_likeliest(likelihoods)
        if best is None:
            return None
        # Letters that are doubled or exchanged in a long word are hardly anything but a slip.
        return best if self.is_frequent(best, len(word)) or (len(word) >= LONG and best in likely) else None

    def is_frequent(self, word: str, length: int | None = None) -> bool:
        """Whether a word is frequent enough to be the reading of one with `length` letters."""
        fewest = self.profile.texts / COMMON if (length or len(word)) <= SHORT else FEWEST
        return self.profile.words.find(word.lower()).total >= fewest

    def list_originals(self, word: str) -> set[str]:
        """Returns the words that become `word` if a letter is dropped or an adjacent key is hit.

        A changed last letter of a long word is not a slip, since other endings make other forms of a word; a wrong key
        is one if hardly any words end that way.
        """
        end = len(word) + (len(word) <= SHORT)
        last_key = max(end, len(word) + (self.endings[word[-2:]] * RARE_ENDING < len(self.keys))) - 1
        missing = {word[:index] + letter + word[index:] for index in range(end) for letter in self.letters}
        wrong = {
            word[:index] + key + word[index + 1 :]
            for index in range(last_key)
            for key in NEIGHBOURS.get(word[index], ())
        }
        return missing | wrong

    @cached_property
    def keys(self) -> frozenset[str]:
        """All words in lower case."""
        return frozenset(self.profile.words.list_keys())

    @cached_property
    def endings(self) -> Counter[str]:
        """Counts of words by their last two letters."""
        return Counter(word[-2:] for word in self.keys)


def undo_capital_slip(word: str) -> str | None:
    """Returns the intended form of a word whose capital was typed late or twice (oSrry, SSorry); else None."""
    first, second, rest = word[0], word[1:2], word[2:]
    if not second.isupper() or rest.lower() != rest:
        return None
    if first.islower():
        return second + first + rest
    return word[1:] if first == second and rest else None


def choose_likeliest(likelihoods: Mapping[str, float]) -> str | None:
    """Returns a word far likelier than all others, or None."""
    ranked = sorted(likelihoods, key=lambda word: (-likelihoods[word], word))[:2]
    if not ranked or (len(ranked) > 1 and likelihoods[ranked[1]] * CERTAIN > likelihoods[ranked[0]]):
        return None
    return ranked[0]


def is_abbreviated(text: str, end: int) -> bool:
    """Whether the word ending at `end` is an abbreviation, so that its full stop does not end the sentence."""
    return text[end : end + 1] == "." and has_letters(text[end:])


def find_likely_originals(word: str) -> set[str]:
    """Returns the words that become `word` if a letter is doubled or two letters are swapped."""
    return {
        word[:index] + ("" if left == right else right) + left + word[index + 2 :]
        for index, (left, right) in enumerate(pairwise(word))
    }


NEIGHBOURS = {key: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in KEYS for at, key in enumerate(row)}
