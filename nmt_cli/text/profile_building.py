"""Builds a profile by counting over training text, and merges the profiles of two texts.

From `I see Tom.`, it learns that texts begin with a capital and end with a full stop, that `Tom` has a capital within a
sentence, and that `see` has none. If a model was trained on two texts, whatever occurs in both gets the larger of its
two counts: sums would count twice what the texts share, and a model that continues with its own corpus would forget
which words it has hardly read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain, islice, repeat
from operator import or_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.scratch import ValueCounts
from nmt_cli.text.characters import ANY_CLOSING, END_MARKS, THIN_BLANKS
from nmt_cli.text.lexicon import find_stem, fold, list_rated, merge_lexicons
from nmt_cli.text.normalise import UNSPACED, find_unspaced
from nmt_cli.text.profile import (
    FEWEST_NUMBERS,
    IN_DIGITS,
    PROFILE_FORMAT,
    SPECIAL_FORMS,
    CorpusProfile,
    LengthRatio,
    NumberMarks,
    parse_marks,
    parse_word,
    read_rare,
)
from nmt_cli.text.word_filter import WordFilter
from nmt_cli.text.words import choose_word_pattern

MAXIMUM_BYTES = 990_000  # bytes of all words at most; a lexicon has some 300,000
MOST_CHARACTERS = 5_000  # counted ones of a side; a corpus of Chinese has as many
RATIO_CLASSES = (5, 10, 15, 20, 30, 40, 60, 80, 120, 200)  # characters of the source
FEWEST_PAIRS = 200  # in a class of length ratios; a smaller class is joined to the next one
MOST_TOKENS = 2_000_000  # different ones that are counted; beyond, those that occurred once so far are dropped
MOST_SAMPLED = 200_000  # pairs from which the lexicon is made
TEXTS_PER_ENTRY = 150  # a word in more than one of so many texts is one of grammar
TEXTS_PER_COMMON = 700  # one in more than one of so many is hardly ever lost, so that a right translation must show it
FEWEST_TEXTS = 2
TEXTS_PER_CONTENT = 50  # a word in more than one of so many texts has no part in what others mean
ROUNDS = 20  # of the estimation; fewer leave stems to words that only stand beside those they translate
LEAST_PROBABLE = 0.04  # that a word is translated by a stem
MOST_MISSED, MOST_COMMON_MISSED = 0.5, 0.2  # share of the texts with a word that have none of its stems
PAIRS_AT_ONCE = 10_000  # whose words are counted together
UNLIMITED = 2**31 - 1  # no text has more characters
SENTENCE_BREAK = re.compile(rf"\n|(?<=[{END_MARKS}]) |(?<=[{END_MARKS}][{re.escape(ANY_CLOSING)}]) ")
SPACES = f" {THIN_BLANKS}"
NUMBER_WITH_MARKS = re.compile(
    rf"(?<![\d.,:/-])(?P<whole>\d{{1,3}}(?P<thousands>[.,'’{SPACES}])\d{{3}}(?:(?P=thousands)\d{{3}})*|\d+)"
    r"(?:(?P<decimal>[.,])(?P<fraction>\d+))?(?!\d|[.,:/-]\d)"
)
NUMBER_MARKS = ("decimal", "thousands")

MarkCounts = dict[str, Counter[tuple[str, str]]]  # by kind: (mark in source, mark in target)


class TextCounts:
    """The counts over the texts of one side."""

    def __init__(self) -> None:
        self.inner: Counter[str] = Counter()  # words, with the punctuation that touches them, within a sentence
        self.initial: Counter[str] = Counter()  # those that begin a sentence
        self.starts: Counter[str] = Counter()  # first characters of the texts
        self.ends: Counter[str] = Counter()  # last characters
        self.blanks = 0
        self.lengths: Counter[int] = Counter()  # characters of the texts
        self.characters: Counter[str] = Counter()  # those of the words that are no longer counted
        self.has_dropped = False  # whether there are such words

    @property
    def texts(self) -> int:
        """The number of texts."""
        return self.lengths.total()

    def add(self, texts: Sequence[str]) -> None:
        """Counts more texts; a capital after a colon counts as one within a sentence."""
        self.lengths.update(map(len, texts))
        self.starts.update([text[:1] for text in texts])
        self.ends.update([text[-1:] for text in texts])
        joined = "\n".join(texts)
        self.blanks += joined.count(" ")
        sentences = [sentence.split() for sentence in SENTENCE_BREAK.split(joined)]
        self.initial.update([words[0] for words in sentences if words])
        self.inner.update(chain.from_iterable([words[1:] for words in sentences]))
        self.inner, self.initial = self.drop_rare(self.inner), self.drop_rare(self.initial)

    def drop_rare(self, tokens: Counter[str]) -> Counter[str]:
        """Returns the tokens, without those that occurred only once if there are too many.

        Source: Manku and Motwani (2002), "Approximate frequency counts over data streams".
        """
        if len(tokens) <= MOST_TOKENS:
            return tokens
        self.has_dropped = True
        add_characters(self.characters, ((token, count) for token, count in tokens.items() if count == 1))
        return Counter({token: count for token, count in tokens.items() if count > 1})

    def count_characters(self) -> Counter[str]:
        counts = Counter({" ": self.blanks}) + self.characters
        for tokens in (self.inner, self.initial):
            add_characters(counts, tokens.items())
        return +counts


def add_characters(counts: Counter[str], tokens: Iterable[tuple[str, int]]) -> None:
    """Adds the characters of tokens, each as often as its token occurs."""
    for token, count in tokens:
        for character in token:
            counts[character] += count


class WordLine(NamedTuple):
    """A line of the word table."""

    text: str
    total: int

    @property
    def key(self) -> str:
        return self.text.partition("\t")[0]


def build_profile(
    pairs: Iterable[tuple[str, str]], times: Iterable[int] = repeat(1), *, most_sampled: int = MOST_SAMPLED
) -> str:
    """Returns the content of a profile of training pairs, each of which counts once.

    In the lexicon, a pair counts as many `times` as training repeats it, which shows how reliable it is.
    """
    source, target = TextCounts(), TextCounts()
    marks: MarkCounts = {kind: Counter() for kind in NumberMarks._fields}
    lengths: Counter[tuple[int, int]] = Counter()
    sample, step = list[tuple[str, str]](), 1
    # 1. Count, block by block.
    pairs, times = iter(pairs), iter(times)
    while block := list(islice(pairs, PAIRS_AT_ONCE)):
        source.add([pair[0] for pair in block])
        target.add([pair[1] for pair in block])
        count_number_marks(block, marks)
        lengths.update([(len(pair[0]), len(pair[1])) for pair in block])
        sample += list(chain.from_iterable(map(repeat, block, times)))[::step]
        if len(sample) > most_sampled:
            sample, step = sample[::2], 2 * step
    # 2. Describe both sides, and how they compare.
    return format_profile([source, target], marks, measure_ratios(lengths), build_lexicon(sample))


def build_lexicon(pairs: Sequence[tuple[str, str]]) -> str:
    """Returns one line per source word: the word, the percentage of targets without its stems, and the stems."""
    sources, targets = [list_rated(source) for source, _ in pairs], [fold(target) for _, target in pairs]
    stems = [[*dict.fromkeys(map(find_stem, target.split()))] for target in targets]
    counts, most = Counter(chain.from_iterable(sources)), len(pairs) // TEXTS_PER_ENTRY
    rows: dict[str, list[int]] = {word: [] for word, count in counts.items() if FEWEST_TEXTS <= count <= most}
    for row, words in enumerate(sources):
        for word in words:
            if word in rows:
                rows[word].append(row)
    usual = find_usual(sources, stems, rows) if rows else {}
    lines = []
    for word in sorted(rows):
        is_common = len(rows[word]) > len(pairs) // TEXTS_PER_COMMON
        most_missed = MOST_COMMON_MISSED if is_common else MOST_MISSED
        lines.append(describe_word(word, [targets[row] for row in rows[word]], usual.get(word, ()), most_missed))
    return "\n".join(filter(None, lines))


def find_usual(
    sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], rated: Container[str]
) -> dict[str, list[str]]:
    """Returns the stems that translate each rated word of the sources, the likeliest first.

    IBM model 1 of Brown et al. (1993), "The Mathematics of Statistical Machine Translation". In "feed the ducks" -
    "Enten füttern", "futte" belongs to "feed" if it occurs in other pairs with "feed", too. Letters: C cells, each a
    word and a stem of a pair.
    """
    # 1. Number the words, of which 0 stands for none, the stems, and the cells of each stem of a pair.
    (words, word_ids), (stems, stem_ids) = map(number_content, (sources, targets))
    flat_words = np.array([number for ids in word_ids for number in (0, *ids)], np.int64)
    flat_stems = np.array([number for ids in stem_ids for number in ids], np.int64)
    sizes, lengths = (np.array([*map(len, ids)], np.int64) for ids in (word_ids, stem_ids))
    firsts, sizes = (np.repeat(values, lengths) for values in (np.cumsum(sizes + 1) - sizes - 1, sizes + 1))
    cells = np.repeat(np.arange(len(sizes)), sizes)  # (C,) the number of the stem in all pairs
    places = np.arange(len(cells)) + np.repeat(firsts - np.cumsum(sizes) + sizes, sizes)  # (C,) that of the word
    # 2. Estimate how likely each word is translated by each stem.
    keys, kinds = np.unique(flat_words[places] * (len(stems) + 1) + flat_stems[cells], return_inverse=True)
    word, stem = np.divmod(keys, len(stems) + 1)
    likely: NDArray[Any] = np.ones(len(keys))
    for _ in range(ROUNDS):
        shares = likely[kinds]
        likely = np.bincount(kinds, shares / np.bincount(cells, shares)[cells])
        likely = likely / np.bincount(word, likely)[word]
    # 3. Choose.
    usual: dict[str, list[str]] = {}
    is_usual = (likely >= LEAST_PROBABLE) & (word > 0) & (np.bincount(kinds) >= FEWEST_TEXTS)
    for index in sorted(np.flatnonzero(is_usual), key=lambda index: -likely[index]):
        if words[word[index] - 1] in rated:
            usual.setdefault(words[word[index] - 1], []).append(stems[stem[index] - 1])
    return usual


def number_content(texts: Sequence[Sequence[str]]) -> tuple[list[str], list[list[int]]]:
    """Returns the words that are not too frequent, and the numbers of these words in each text, from 1."""
    counts, most = Counter(chain.from_iterable(texts)), len(texts) // TEXTS_PER_CONTENT
    words = [word for word, count in counts.items() if count <= most]
    numbers = {word: number for number, word in enumerate(words, 1)}
    return words, [[numbers[word] for word in text if word in numbers] for text in texts]


def describe_word(word: str, targets: Sequence[str], stems: Iterable[str], most_missed: float) -> str:
    """Returns the line of a word with these targets and stems; empty if too many targets have none of the stems."""
    usual: list[str] = []
    for stem in stems:
        if not any(other in stem for other in usual):
            usual.append(stem)
    missed = sum(not any(stem in target for stem in usual) for target in targets)
    share = (missed + 0.5) / (len(targets) + 1)
    return "\t".join((word, f"{100 * share:.0f}", *usual)) if share <= most_missed else ""


def build_caption_profile(captions: Iterable[str]) -> str:
    """Returns the content of a profile of training captions, whose sources are pictures."""
    target = TextCounts()
    captions = iter(captions)
    while block := list(islice(captions, PAIRS_AT_ONCE)):
        target.add(block)
    return format_profile([None, target], {kind: Counter() for kind in NumberMarks._fields}, [])


def format_profile(
    sides: Sequence[TextCounts | None], marks: MarkCounts, ratios: Sequence[tuple[int, LengthRatio]], lexicon: str = ""
) -> str:
    """Returns the first line, the source words and the target words; a side without text is None.

    Rare words are left out to keep the file small.
    """
    tables = [describe_words(side or TextCounts()) for side in sides]
    least_count = choose_least_count(tables)
    source, target = (
        side and describe_side(side, tables[index], marks, index, least_count) for index, side in enumerate(sides)
    )
    counts = {kind: [[*both, count] for both, count in marks[kind].most_common()] for kind in NumberMarks._fields}
    described = {"source": source, "target": target, **counts, "ratios": ratios, "lexicon": lexicon}
    return join_profile({"format": PROFILE_FORMAT, **described}, tables, least_count)


def join_profile(header: Mapping[str, Any], tables: Iterable[Sequence[WordLine]], least_count: int) -> str:
    """Returns the content of a profile; words rarer than `least_count` are left out."""
    source, target = ("\n".join(line.text for line in table if line.total >= least_count) for table in tables)
    return f"{json.dumps(header, ensure_ascii=False)}\n{source}\n\n{target}\n"


def describe_words(counts: TextCounts) -> list[WordLine]:
    """Returns a line per word, in code point order."""
    inner, initial = count_words_within(counts.inner), count_words_within(counts.initial, begins=True)
    later = count_words_within(counts.initial, begins=False)  # what stands behind a mark in the first word: (Tom, "Tom
    inner.update(later)
    forms: dict[str, Counter[str]] = {}
    for word, count in inner.items():
        forms.setdefault(word.lower(), Counter())[word] += count
    totals = Counter({key: forms_of_word.total() for key, forms_of_word in forms.items()})
    for word, count in initial.items():
        totals[word.lower()] += count
        if word != word.lower() and word.lower() not in inner:
            forms.setdefault(word.lower(), Counter()).setdefault(word, 0)
    return list_lines(totals, forms)


def list_lines(totals: Mapping[str, int], forms: Mapping[str, Counter[str]]) -> list[WordLine]:
    """Returns the lines of words in lower case, in code point order, with their cased forms."""
    return [
        WordLine("\t".join((key, str(totals[key]), *spell_forms(key, forms.get(key, Counter())))), totals[key])
        for key in sorted(totals, key=lambda key: key + "\t")
    ]


def count_words_within(tokens: Counter[str], *, begins: bool | None = None) -> Counter[str]:
    """Counts words within tokens: the first of each token if `begins`, the others if not, all if None."""
    words: Counter[str] = Counter()
    for token, count in tokens.items():
        spaced = re.sub(UNSPACED, " ", token) if find_unspaced(token) else token
        matched = [word for word in choose_word_pattern(spaced).findall(spaced) if word[0].isalpha()]
        for word in matched if begins is None else matched[:1] if begins else matched[1:]:
            words[word] += count
    return words


def spell_forms(key: str, forms: Counter[str]) -> list[str]:
    """Returns the cased forms as written in the file; empty for a word that is always in lower case."""
    if set(forms) <= {key}:
        return []
    names = {change(key): name for name, change in reversed(SPECIAL_FORMS.items())}
    best = sorted(forms.items(), key=lambda form: (-form[1], form[0]))
    return [f"{names.get(form, form)}:{count}" for form, count in best]


def choose_least_count(tables: Iterable[Sequence[WordLine]]) -> int:
    """Returns the smallest count at which all remaining words fit into MAXIMUM_BYTES bytes."""
    sizes: Counter[int] = Counter()
    for table in tables:
        for line in table:
            sizes[line.total] += len(line.text.encode()) + 1
    left, least = MAXIMUM_BYTES, 1
    for count in sorted(sizes, reverse=True):
        left -= sizes[count]
        if left < 0:
            return count + 1
    return least


def describe_side(
    counts: TextCounts, table: Sequence[WordLine], marks: MarkCounts, index: int, least_count: int
) -> dict[str, Any]:
    """Returns a side's entry in the first line; `index` is the side's position in the pairs of `marks`."""
    cased = {start: count for start, count in counts.starts.items() if start.lower() != start.upper()}
    capitals = sum(count for start, count in cased.items() if start != start.lower())
    texts = max(1, counts.texts)
    return {
        **describe_characters(counts.count_characters()),
        "least_count": least_count,
        "rare": None if counts.has_dropped else encode_rare(table, least_count),
        "texts": counts.texts,
        "initial_capitals": round(capitals / max(1, sum(cased.values())), 4),
        "final_marks": {
            end: round(count / texts, 4)
            for end, count in counts.ends.most_common(20)
            if end and not end.isalnum() and count >= texts / 1000
        },
        **{f"{kind}_mark": choose_mark(marks[kind], index) for kind in NUMBER_MARKS},
        "mean_length": round(sum(length * count for length, count in counts.lengths.items()) / texts, 2),
        "longest": max(counts.lengths, default=0),
        "unseen_share": round(estimate_unseen(table), 4),
    }


def encode_rare(table: Iterable[WordLine], least_count: int) -> str:
    """Returns the words that are left out of a table, as the first line stores them; empty if there are none."""
    words = [line.key for line in table if line.total < least_count]
    return WordFilter.from_words(words).encode() if words else ""


def describe_characters(counts: Counter[str]) -> dict[str, Any]:
    """Returns the entries about the most frequent characters of a side."""
    most = counts.most_common(MOST_CHARACTERS)
    return {"characters": "".join(character for character, _ in most), "character_counts": [count for _, count in most]}


def estimate_unseen(table: Sequence[WordLine]) -> float:
    """Estimates the share of unseen words in a new text by the share of words that occur once in this one.

    Source: Good (1953), "The Population Frequencies of Species and the Estimation of Population Parameters".
    """
    return sum(line.total == 1 for line in table) / max(1, sum(line.total for line in table))


def choose_mark(counts: Counter[tuple[str, str]], index: int) -> str | None:
    """Returns the usual mark of a side; None if examples are few or most numbers have no mark."""
    marks: Counter[str] = Counter()
    for both, count in counts.items():
        marks[both[index]] += count
    best = max(marks, key=lambda mark: marks[mark], default="")
    return best if best and marks[best] >= FEWEST_NUMBERS and 2 * marks[best] > marks.total() else None


def count_number_marks(pairs: Iterable[tuple[str, str]], marks: MarkCounts) -> None:
    """Adds to `marks` how both sides of each pair write the same numbers, and whether small ones stay in digits."""
    for source, target in pairs:
        if not re.search(r"\d", source):
            continue
        targets = find_numbers(target)
        for digits, written in find_numbers(source).items():
            if len(digits) <= 2:
                marks["small"][IN_DIGITS, IN_DIGITS * (digits in targets)] += 1
            for kind in NUMBER_MARKS:
                both = (written[kind], targets.get(digits, written)[kind])
                if digits in targets and any(both):
                    marks[kind][both] += 1


def find_numbers(text: str) -> dict[str, dict[str, str]]:
    """Maps each number of a text, without thousands marks and with a decimal point, to its marks."""
    numbers = {}
    for match in NUMBER_WITH_MARKS.finditer(text):
        digits = re.sub(r"\D", "", match["whole"]) + ("." + match["fraction"] if match["decimal"] else "")
        marks = {kind: match[kind] or "" for kind in NUMBER_MARKS}
        numbers[digits] = {**marks, "thousands": " " if marks["thousands"] in tuple(SPACES) else marks["thousands"]}
    return numbers


def measure_ratios(lengths: Mapping[tuple[int, int], int]) -> list[tuple[int, LengthRatio]]:
    """Returns the length ratios of each class of source lengths, from the counts of the lengths of both sides."""
    both = {pair: count for pair, count in lengths.items() if all(pair)}
    sources, targets = np.array(list(both), np.float64).reshape(-1, 2).T
    ratios = ValueCounts(targets / sources, np.array(list(both.values()), np.int64))
    result, rest = [], np.ones(len(sources), dtype=bool)
    for limit in (*RATIO_CLASSES, UNLIMITED):
        in_class = rest & (sources <= limit)
        if ratios.choose(in_class).total >= (1 if limit == UNLIMITED else FEWEST_PAIRS):
            result.append((limit, describe_ratios(ratios.choose(in_class))))
            rest &= ~in_class
    return result


def describe_ratios(ratios: ValueCounts) -> LengthRatio:
    lowest, highest = ratios.find_quantiles((0.001, 0.999))
    logarithms = np.log(ratios.values)
    variance = np.average((logarithms - np.average(logarithms, weights=ratios.counts)) ** 2, weights=ratios.counts)
    values = (np.average(ratios.values, weights=ratios.counts), np.sqrt(variance), lowest, highest)
    return LengthRatio(*(round(float(value), 3) for value in values))


Header = dict[str, Any]


def merge_profiles(earlier: bytes, later: bytes) -> str:
    """Returns the content of the merged profile; lengths and marks are those of the later text.

    Raises ValueError, KeyError or TypeError for invalid content.
    """
    # 1. Check both, and take them apart.
    known, read = map(CorpusProfile.parse, (earlier, later))
    (old, old_words), (new, new_words) = split_content(earlier), split_content(later)
    # 2. Unite the words of each side, and the numbers.
    tables = [merge_words(*texts) for texts in zip(old_words, new_words, strict=True)]
    described = [side for header in (old, new) for side in (header["source"], header["target"]) if side is not None]
    least_count = max(choose_least_count(tables), *(int(side["least_count"]) for side in described))
    sides = {
        side: merge_side(old[side], new[side], table, least_count)
        for side, table in zip(("source", "target"), tables, strict=True)
    }
    marks = {kind: merge_marks(old.get(kind, []), new.get(kind, [])) for kind in NumberMarks._fields}
    reads = read.source.has_word if read.source is not None else lambda word: False
    lexicon = merge_lexicons(known.lexicon.lines, read.lexicon.lines, reads)
    return join_profile({**new, **sides, **marks, "lexicon": lexicon}, tables, least_count)


def split_content(content: bytes) -> tuple[Header, tuple[str, str]]:
    """Returns the first line of a profile and the unparsed words of both sides."""
    first, _, rest = content.decode().partition("\n")
    source, _, target = rest[:-1].partition("\n\n")
    return json.loads(first), (source, target)


def merge_words(earlier: str, later: str) -> list[WordLine]:
    """Returns the lines for the words of both texts, in code point order."""
    totals: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for line in filter(None, (*earlier.split("\n"), *later.split("\n"))):
        key, word = line.partition("\t")[0], parse_word(line)
        totals[key] = max(totals[key], word.total)
        both = forms.setdefault(key, Counter())
        for form, count in word.forms:
            both[form] = max(both[form], count)  # 0, too, tells a form
    return list_lines(totals, forms)


def merge_side(
    earlier: Mapping[str, Any] | None, later: Mapping[str, Any] | None, table: list[WordLine], least_count: int
) -> Header | None:
    """Returns a side's entry in the first line; values that cannot be merged come from the later text."""
    if earlier is None or later is None:
        return None if later is None else dict(later)
    counts: Counter[str] = Counter()
    for side in (earlier, later):
        counts |= Counter(dict(zip(side["characters"], side["character_counts"], strict=True)))
    return {
        **later,
        **describe_characters(counts),
        "least_count": least_count,
        "rare": merge_rare([*map(read_rare, (earlier, later)), encode_rare(table, least_count)]),
        "texts": max(earlier["texts"], later["texts"]),
        **{name: later[name] or earlier[name] for name in (f"{kind}_mark" for kind in NUMBER_MARKS)},
        "longest": max(earlier["longest"], later["longest"]),
        "unseen_share": round(estimate_unseen(table), 4),
    }


def merge_rare(parts: Sequence[str | None]) -> str | None:
    """Returns the rare words of several texts; None if those of any text are not known."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    filters = [WordFilter.decode(part) for part in known if part]
    return reduce(WordFilter.merge, filters).encode() if filters else ""


def merge_marks(earlier: list[list[Any]], later: list[list[Any]]) -> list[list[Any]]:
    counts = reduce(or_, (Counter(parse_marks(marks)) for marks in (earlier, later)))
    return [[*both, count] for both, count in counts.most_common()]
