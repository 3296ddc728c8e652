"""Which words usually translate a word, as the stems that the targets of its training pairs share.

All 9 targets of pairs with "batteries" have a word with "batter" in it: "Batterien", "Batteriebetrieb". So "Katzen"
hardly translates it. Of 189 with "opinion", one in six has no "meinu", so its absence shows less. Only words that are
rare and translated alike are in a lexicon; the profile of the training text keeps it. Knows only text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain

from nmt_cli.text.words import list_words

TEXTS_PER_ENTRY = 700  # a word in more than one of so many texts is translated in too many ways
FEWEST_TEXTS = 2
FEWEST_LETTERS = 3  # of a content word
STEM_SHARE = 0.6  # of the letters of a target word
STEM_LETTERS = 4  # letters; a shorter word only begins another: "rot" is no part of "Brot"
LEAST_SHARED = 0.02  # the share of the texts with a word that have a stem, times the share of those with it
LETTERS_IN_A_ROW = re.compile(r"[^\W\d_]+")
MOST_MISSED = 0.5  # share of the texts with a word that have none of its stems


def build_lexicon(pairs: Sequence[tuple[str, str]]) -> str:
    """Returns a line per word of the sources: the word, the share of targets that miss it in percent, and the stems."""
    sources = [list_rated(source) for source, _ in pairs]
    targets = [fold(target) for _, target in pairs]
    stems = [tuple({*map(find_stem, target.split())}) for target in targets]
    counts, totals = Counter(chain.from_iterable(sources)), Counter(chain.from_iterable(stems))
    most = len(pairs) // TEXTS_PER_ENTRY
    rows: dict[str, list[int]] = {word: [] for word, count in counts.items() if FEWEST_TEXTS <= count <= most}
    for row, words in enumerate(sources):
        for word in words:
            if word in rows:
                rows[word].append(row)
    lines = (
        describe_word(
            word,
            [targets[row] for row in rows[word]],
            Counter(chain.from_iterable(stems[row] for row in rows[word])),
            totals,
        )
        for word in sorted(rows)
    )
    return "\n".join(filter(None, lines))


def describe_word(word: str, targets: Sequence[str], stems: Counter[str], totals: Counter[str]) -> str:
    """Returns the line of a word with these targets, so many of which have a stem; empty if they share too little."""
    shared = {
        stem: count * count / len(targets) / totals[stem] for stem, count in stems.items() if count >= FEWEST_TEXTS
    }
    usual: list[str] = []
    for stem in sorted(shared, key=lambda stem: (-shared[stem], stem)):
        if shared[stem] >= LEAST_SHARED and not any(other in stem for other in usual):
            usual.append(stem)
    missed = sum(not any(stem in target for stem in usual) for target in targets)
    share = (missed + 0.5) / (len(targets) + 1)
    return "\t".join((word, f"{100 * share:.0f}", *usual)) if share <= MOST_MISSED else ""


def list_rated(text: str) -> list[str]:
    """Returns the words of a source that a lexicon may have, each once, without a genitive's ending."""
    words = (word.replace("’", "'").removesuffix("'s") for word in list_words(text))
    return [word for word in dict.fromkeys(words) if len(word) >= FEWEST_LETTERS and word.isalpha()]


def fold(text: str) -> str:
    """Returns the words of a text without marks of their letters, each behind a blank: "Über uns." is " uber uns"."""
    words = "".join(f" {word}" for word in LETTERS_IN_A_ROW.findall(text.lower()))
    if words.isascii():
        return words
    return "".join(sign for sign in unicodedata.normalize("NFD", words) if not unicodedata.combining(sign))


def find_stem(word: str) -> str:
    """Returns the beginning of a word that its forms and compounds share; of a short one, with the blank before it."""
    stem = word[: max(STEM_LETTERS, math.ceil(STEM_SHARE * len(word)))]
    return stem if len(stem) >= STEM_LETTERS else f" {stem}"


class Lexicon:
    """The usual translations of words, read when first asked for."""

    def __init__(self, lines: str) -> None:
        self.lines = lines

    @cached_property
    def entries(self) -> dict[str, list[str]]:
        """By word, the share of targets that miss it, in percent, and the stems."""
        return {word: entry for word, *entry in (line.split("\t") for line in self.lines.split("\n")) if entry}

    def rate(self, words: Iterable[str], target: str) -> dict[str, float]:
        """Returns how likely a right target lacks the usual translations of words, as this one does; 0 if it has one.

        Words of which nothing is known are left out.
        """
        folded = fold(target)
        known = ((word, self.entries[word]) for word in words if word in self.entries)
        return {
            word: 0.0 if any(stem in folded for stem in stems) else int(missed) / 100
            for word, (missed, *stems) in known
        }


def merge_lexicons(earlier: str, later: str, has_read: Callable[[str], bool]) -> str:
    """Returns the lines of both; of the words that the later text `has_read`, only its lines, if it has any."""
    lines = {word: line for line in earlier.split("\n") if not has_read(word := line.partition("\t")[0])}
    lines |= {line.partition("\t")[0]: line for line in later.split("\n")}
    return "\n".join(line for _, line in sorted(lines.items()) if line)
