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
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    shared = {word: weigh_stems([stems[row] for row in rows[word]], totals) for word in rows}
    usual = choose_stems(zip(sources, stems, strict=True), shared)
    lines = (describe_word(word, [targets[row] for row in rows[word]], usual[word]) for word in sorted(rows))
    return "\n".join(filter(None, lines))


def weigh_stems(stems: Sequence[Sequence[str]], totals: Counter[str]) -> dict[str, float]:
    """Returns how well each stem goes with a word, 0-1, from the stems of the targets of its texts."""
    counts = Counter(chain.from_iterable(stems))
    weights = {
        stem: count * count / len(stems) / totals[stem] for stem, count in counts.items() if count >= FEWEST_TEXTS
    }
    return {stem: weight for stem, weight in weights.items() if weight >= LEAST_SHARED}


def choose_stems(
    texts: Iterable[tuple[Sequence[str], Sequence[str]]], shared: Mapping[str, Mapping[str, float]]
) -> dict[str, list[str]]:
    """Returns the stems that translate each word, the best first.

    A stem of a text belongs to the word that it goes with best: in "feed the ducks" - "Enten füttern", "futte" to
    "feed". A word keeps the stems that belong to it in most of its texts: competitive linking (Melamed 2000).
    """
    met: dict[str, Counter[str]] = {word: Counter() for word in shared}
    linked: dict[str, Counter[str]] = {word: Counter() for word in shared}
    for words, stems in texts:
        for stem in stems:
            rivals = [word for word in words if stem in shared.get(word, ())]
            for word in rivals:
                met[word][stem] += 1
            if rivals:
                linked[max(rivals, key=lambda word: shared[word][stem])][stem] += 1
    return {
        word: [
            stem
            for stem in sorted(weights, key=lambda stem: (-weights[stem], stem))
            if 2 * linked[word][stem] >= met[word][stem]
        ]
        for word, weights in shared.items()
    }


def describe_word(word: str, targets: Sequence[str], stems: Iterable[str]) -> str:
    """Returns the line of a word with these targets and stems; empty if too many targets have none of them."""
    usual: list[str] = []
    for stem in stems:
        if not any(other in stem for other in usual):
            usual.append(stem)
    missed = sum(not any(stem in target for stem in usual) for target in targets)
    share = (missed + 0.5) / (len(targets) + 1)
    return "\t".join((word, f"{100 * share:.0f}", *usual)) if share <= MOST_MISSED else ""


def list_rated(text: str) -> list[str]:
    """Returns the words of a source that a lexicon may have, each once, without a genitive's ending."""
    words = (word.replace("’", "'").removesuffix("'s") for word in list_words(text))
    return [word for word in dict.fromkeys(words) if len(word) >= FEWEST_LETTERS and word.isalpha()]


def fold(text: str) -> str:
    """Returns the words of a text without marks of their letters, each after a blank: "Über uns." is " uber uns"."""
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
    def entries(self) -> dict[str, str]:
        """The rest of the line of each word, which is divided only for words that are looked up."""
        return dict(line.split("\t", 1) for line in self.lines.split("\n") if line)

    def rate(self, words: Iterable[str], target: str) -> dict[str, float]:
        """Returns how likely a right target lacks the usual translations of words, as this one does; 0 if it has one.

        Words of which nothing is known are left out.
        """
        folded = fold(target)
        known = ((word, self.entries[word].split("\t")) for word in words if word in self.entries)
        return {
            word: 0.0
            if any(stem in folded for stem in stems)
            else max(1, int(missed)) / 100  # less than 1 % is written 0
            for word, (missed, *stems) in known
        }


def merge_lexicons(earlier: str, later: str, has_read: Callable[[str], bool]) -> str:
    """Returns the lines of both; of the words that the later text `has_read`, only its lines, if it has any."""
    lines = {word: line for line in earlier.split("\n") if not has_read(word := line.partition("\t")[0])}
    lines |= {line.partition("\t")[0]: line for line in later.split("\n")}
    return "\n".join(line for _, line in sorted(lines.items()) if line)
