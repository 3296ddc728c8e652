"""Checks of language and script, both learned from the corpus itself."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.scratch import count_numbers, find_float_median, iterate_blocks, judge_blocks
from nmt_cli.arrays.shifts import find_shifts
from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.corpus.checks.check import CheckResult, CorpusCheck
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.pairs import Pairs, Side, Texts
from nmt_cli.formats import name_line
from nmt_cli.languages.codes import find_code, has_identifier, load_identifier, rank_languages
from nmt_cli.text.wrapping import count_columns

# Language checks by a small identifier trained on the corpus itself: no download, no list of languages.
#
# Naive Bayes over byte 4-grams. It knows two languages, those of the two columns, and only needs a corpus that is
# mostly right. If it cannot tell the columns apart, as with paraphrases, these checks report nothing. Letters: N pairs,
# G 4-grams.


MINIMUM_PAIRS = 2_000  # for learning two languages
MAXIMUM_SAMPLE = 200_000  # pairs to learn from
BUCKETS = 1 << 18
CHUNK = 100_000  # texts that are processed at once
SMOOTHING = 2.0  # so that a 4-gram of a single sentence proves little

# Nats for the other language, in total and per 4-gram. In 169,813 pairs of Tatoeba English-German, of which 1,000 were
# swapped and 2,000 had one side in the other language, these thresholds found 99 % and 98 %, and no correct pair. (In
# the unchanged corpus they find 2: "Tom has Windows 7." / "Tom hat Windows 7.".) For one side alone, the thresholds for
# both would also find 10 pairs such as "Tom was clever." / "Tom war clever.".
DECISIVE_FOR_BOTH, DECISIVE_FOR_BOTH_PER_NGRAM = 12.0, 0.5
DECISIVE_FOR_ONE, DECISIVE_FOR_ONE_PER_NGRAM = 18.0, 1.0
LEAST_DISTINCT = 0.9  # share of sentences that must fit their own side best, or the languages cannot be told apart
SHORTEST = 12  # bytes; the language of shorter text is not identified
LEAST_LIKELY = 8.0  # robust spreads below the median


@dataclass(frozen=True)
class Evidence:
    """The evidence about the language of one side of N pairs."""

    nats_against: NDArray[np.float32]  # (N,) nats for the language of the other side, minus those for that of its own
    likelihood: NDArray[np.float32]  # (N,) mean log probability of a 4-gram in the language of its own side, in nats
    ngram_counts: NDArray[np.int32]  # (N,)

    def take(self, block: slice) -> Evidence:
        """Returns the evidence about a block of the pairs."""
        return Evidence(self.nats_against[block], self.likelihood[block], self.ngram_counts[block])

    def is_foreign(self, threshold: float, threshold_per_ngram: float) -> BoolArray:
        """Returns a mask (N,) of the texts with more nats for the other side's language than both thresholds."""
        enough = (self.nats_against > threshold) & (self.nats_against > threshold_per_ngram * self.ngram_counts)
        return np.asarray(enough & (self.ngram_counts >= SHORTEST))


def hash_ngrams(texts: Texts, rows: IntArray | range) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yields, for n texts at a time, at most CHUNK, the buckets (G,) of their 4-grams, and their offsets (n + 1,).

    Text is lower-cased and enclosed in spaces.
    """
    for start in range(0, len(rows), CHUNK):
        parts = [b" %b " % text.lower().encode() for text in texts.select(np.asarray(rows[start : start + CHUNK]))]
        data = np.frombuffer(b"".join(parts), np.uint8).astype(np.uint32)
        hashed = (data[:-3] | data[1:-2] << 8 | data[2:-1] << 16 | data[3:] << 24) * np.uint32(2654435761)
        buckets = (hashed >> np.uint32(32 - 18)).astype(np.int64)
        sizes = np.fromiter(map(len, parts), np.int64, count=len(parts))
        # The three 4-grams that extend into the next text belong to neither, but are so few that they do no harm.
        yield buckets, np.minimum(np.concatenate([[0], np.cumsum(sizes)]), len(buckets))


def learn_ngram_model(texts: Texts, rows: IntArray) -> NDArray[np.float32]:
    """Returns the log probability (BUCKETS,) of each 4-gram in the texts of `rows`, in nats."""
    counts = np.full(BUCKETS, SMOOTHING)
    for buckets, _ in hash_ngrams(texts, rows):
        counts += np.bincount(buckets, minlength=BUCKETS)
    return np.asarray(np.log(counts / counts.sum()), np.float32)


def gather_evidence(pairs: Pairs, candidates: BoolArray) -> tuple[Evidence, Evidence] | None:
    """Returns the evidence about both sides of every pair; None if there is too little text or difference."""
    rows = pairs.scratch.find_rows(candidates)
    if len(rows) < MINIMUM_PAIRS:
        return None
    sample = rows[:: -(-len(rows) // MAXIMUM_SAMPLE)]
    source, target = learn_ngram_model(pairs.source, sample), learn_ngram_model(pairs.target, sample)
    evidence = (
        weigh_texts(pairs, "source", target - source, source),
        weigh_texts(pairs, "target", source - target, target),
    )
    if min(measure_own_share(side, candidates) for side in evidence) < LEAST_DISTINCT:
        return None
    return evidence


def measure_own_share(side: Evidence, candidates: BoolArray) -> float:
    """Returns the share, 0 to 1, of the candidates (N,) that fit the language of their own side best."""
    fits = judge_blocks(len(candidates), lambda block: candidates[block] & (side.nats_against[block] < 0))
    return float(np.count_nonzero(fits) / np.count_nonzero(candidates))


def weigh_texts(pairs: Pairs, side: Side, odds: NDArray[np.float32], language: NDArray[np.float32]) -> Evidence:
    """Weighs each text by `odds` (BUCKETS,) of the other language and the model `language` (BUCKETS,) of its own."""
    count, make_array = len(pairs), pairs.scratch.make_array
    evidence = Evidence(make_array(count, np.float32), make_array(count, np.float32), make_array(count, np.int32))
    start = 0
    for buckets, offsets in hash_ngrams(pairs.get_texts(side), range(count)):
        sizes = np.maximum(np.diff(offsets), 1)
        block, padded = slice(start, start + len(sizes)), np.append(buckets, 0)
        evidence.nats_against[block] = np.add.reduceat(odds[padded], offsets[:-1])
        evidence.likelihood[block] = np.add.reduceat(language[padded], offsets[:-1]) / sizes
        evidence.ngram_counts[block] = sizes
        start = block.stop
    return evidence


PairJudge = Callable[[Evidence, Evidence], BoolArray]  # the evidence about both sides of n pairs: (n,) the problem


class LanguageCheck(CorpusCheck):
    """The base class of the three language checks, which share the evidence about the same pairs."""

    def share_evidence(self, pairs: Pairs, candidates: BoolArray) -> tuple[Evidence, Evidence] | None:
        """Returns the evidence about `pairs` in the candidates' languages, which the first check gathers."""
        name = f"languages {pairs.language_numbers[candidates.argmax()]}"
        if name not in pairs.shared_results:
            pairs.shared_results[name] = gather_evidence(pairs, candidates)
        evidence: tuple[Evidence, Evidence] | None = pairs.shared_results[name]
        return evidence

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        evidence = self.share_evidence(pairs, candidates)
        if evidence is None:
            return CheckResult(np.zeros(len(pairs), dtype=np.bool_))
        source, target = evidence
        judge = self.learn_judge(source, target, candidates)
        return CheckResult(
            judge_blocks(len(pairs), lambda block: judge(source.take(block), target.take(block)) & candidates[block])
        )

    @abstractmethod
    def learn_judge(self, source: Evidence, target: Evidence, candidates: BoolArray) -> PairJudge:
        """Returns a function that says which of the given pairs have the problem."""


class Swapped(LanguageCheck):
    name = "swapped"
    problem = "source and target are the wrong way round"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        """Finds swapped pairs; if there are too few to learn from, by a language that the identifier knows."""
        if np.count_nonzero(candidates) >= MINIMUM_PAIRS or len(pairs.tag_sets) > 1 or not has_identifier():
            return super().find_problems(pairs, candidates, config)
        is_swapped = np.zeros(len(pairs), np.bool_)
        sides: tuple[Side, Side] = ("source", "target")
        for side, other, name in zip(sides, sides[::-1], pairs.shared_results.get("languages", ()), strict=False):
            if (code := find_code(name)) in load_identifier().labels and {*config.text_sides} == {*sides}:
                rows = np.flatnonzero(candidates)
                texts = zip(*(pairs.get_texts(role).select(rows) for role in (side, other)), strict=True)
                is_swapped[rows] |= np.array([is_turned(text, beside, code) for text, beside in texts], np.bool_)
        return CheckResult(
            is_swapped & (2 * np.count_nonzero(is_swapped) < np.count_nonzero(candidates))  # of most, none is known
        )

    def learn_judge(self, source: Evidence, target: Evidence, candidates: BoolArray) -> PairJudge:
        nats = DECISIVE_FOR_BOTH, DECISIVE_FOR_BOTH_PER_NGRAM
        return lambda source, target: source.is_foreign(*nats) & target.is_foreign(*nats)


SURELY, SURELY_NOT = 0.5, 0.05  # probability of a language in a text that is in it, and in others


def is_turned(text: str, other: str, code: str) -> bool:
    """Whether `other`, and not `text`, is in the language `code`, in which `text` should be."""
    if min(len(text), len(other)) < SHORTEST_LINE or load_identifier().classify(text)[0] == code:
        return False
    return rank_languages(text)[code] <= SURELY_NOT and rank_languages(other)[code] >= SURELY


class Language(LanguageCheck):
    name = "language"
    problem = "both sides are in the same language"

    def learn_judge(self, source: Evidence, target: Evidence, candidates: BoolArray) -> PairJudge:
        nats = DECISIVE_FOR_ONE, DECISIVE_FOR_ONE_PER_NGRAM  # if both are foreign, they are swapped, and may be kept
        return lambda source, target: source.is_foreign(*nats) ^ target.is_foreign(*nats)


class WrongLanguage(LanguageCheck):
    name = "unlike"
    problem = "one side is unlike the rest of the corpus, possibly in a third language"
    action = "reported"

    def learn_judge(self, source: Evidence, target: Evidence, candidates: BoolArray) -> PairJudge:
        least = [learn_least_likelihood(side, candidates) for side in (source, target)]
        return lambda source, target: find_unlikely(source, least[0]) | find_unlikely(target, least[1])


def find_unlikely(side: Evidence, least: float) -> BoolArray:
    """Returns a mask (N,) of the texts that are long enough to judge and less probable than `least`."""
    return np.asarray((side.ngram_counts >= 2 * SHORTEST) & (side.likelihood < least))


def learn_least_likelihood(side: Evidence, candidates: BoolArray) -> float:
    """Returns the likelihood below which a text is far less probable than is typical of its side."""

    def read_typical(distance_from: np.float32 | None = None) -> Iterator[NDArray[np.float32]]:
        for block in iterate_blocks(len(candidates)):
            values = side.likelihood[block][candidates[block] & (side.ngram_counts[block] >= 2 * SHORTEST)]
            yield values if distance_from is None else np.abs(values - distance_from)

    if sum(map(len, read_typical())) < MINIMUM_PAIRS // 2:
        return -np.inf
    median = find_float_median(read_typical)
    spread = 1.4826 * find_float_median(lambda: read_typical(median))
    return float(median - LEAST_LIKELY * spread)


# Recognises the language of texts that leave no doubt.


SAMPLE = 300  # lines that are looked at
FEWEST = 200  # lines from which the text may decide
SHORTEST_LINE = 20  # characters of a line that says something
# Share of the lines that must be in one language by themselves: all of Tatoeba's English and German are, of Spanish in
# 12 corpora of the Americas at least 92 % (others look like Galician), of Dutch manuals 92 %. Of 15 languages that the
# identifier does not know, at most 83 % agree on a relative: Aymara on Quechua, Asturian 52 % on Extremaduran.
CERTAIN = 0.9


def recognise_language(pairs: Pairs, texts: Texts, among: BoolArray | None = None) -> str | None:
    """Returns the language code of nearly all lines in a sample of the kept rows or, if given, of rows `among` (N,).

    Returns None if in doubt.
    """
    if not has_identifier():
        return None
    rows = pairs.scratch.find_rows(pairs.is_kept if among is None else among)
    chosen = rows[:: max(1, len(rows) // (4 * SAMPLE))]
    lines = [text for text in texts.select(chosen) if len(text) >= SHORTEST_LINE]
    if len(lines) < FEWEST:
        return None
    lines = lines[:: max(1, len(lines) // SAMPLE)]
    classify = load_identifier().classify
    code, count = Counter(str(classify(line)[0]) for line in lines).most_common(1)[0]
    return code if count >= CERTAIN * len(lines) else None


# The check of whole files: whether one is in a different language from the others, as its letters say.
#
# Two texts of one language share their 4-grams of letters, less so the further their domains are apart. How far these
# are apart shows on the other side: a French file among German ones has the same English, and other letters beside it.
# Overlaps (Bhattacharyya) of 4-grams, of samples of 1,500 texts: a target's, divided by that of the sources.
# Of letters as wide as two (Chinese, Japanese, Korean), 2-grams.
#
# Measured on 35 files of 12 languages of the Americas, and 4 of German. Of 86 ordered pairs of files of one language,
# with domains as far apart as scripture and everyday sentences, or as manuals and captions, 75 pass; the others are
# files of Chatino, Otomi and Nahuatl, whose varieties and spellings differ. Of 1,396 pairs of files of two languages,
# 99 % are found, with 50 pairs of the smaller file as with 1,500; many of Quechua and Aymara are not.


FEWEST_TEXTS = 50  # of a file that is compared
TEXTS_COMPARED = 1_500
LEAST_OVERLAP, LEAST_SHARE_OF_OVERLAP = 0.15, 0.42
SMALL_OVERLAP, SMALL_SHARE_OF_OVERLAP = 0.34, 0.55  # below both, too
LETTERS = re.compile(r"[^\W\d_]+")
LetterCounts = dict[str, float]  # the square root of the share of each 4-gram


class OtherFile(CorpusCheck):
    name = "other-file"
    problem = "a file with one side that differs from the other files: another language, variety or spelling"
    action = "reported"
    covers_every_role = True

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        """Finds the files that, on one side, are unlike the largest file and unlike every file that resembles it."""
        rows, notes = np.zeros(len(pairs), dtype=np.bool_), []
        numbers = pairs.facts.input_numbers
        counts = count_numbers(numbers, len(pairs.input_names), candidates)
        files = sorted(np.flatnonzero(counts >= FEWEST_TEXTS).tolist(), key=lambda file: -counts[file])
        alike: dict[int, dict[Side, LetterCounts]] = {}
        for file in files if len(files) > 1 and "source" in config.text_sides else ():
            of_file = judge_blocks(len(pairs), lambda block, file=file: candidates[block] & (numbers[block] == file))  # type: ignore[misc]
            letters: dict[Side, LetterCounts] = {
                side: count_letters(pairs, side, of_file) for side in config.text_sides
            }
            unlike = {frozenset(find_unlike_sides(letters, other)) for other in alike.values()}
            if unlike and frozenset() not in unlike:
                rows |= of_file
                notes.append(describe_file(pairs, of_file, file, files[0], unlike))
            else:
                alike[file] = letters
        return CheckResult(rows, "; ".join(notes))


def describe_file(pairs: Pairs, rows: BoolArray, file: int, largest: int, unlike: set[frozenset[Side]]) -> str:
    """Says which sides of a file are unlike those of the largest file, and which tag to type."""
    sides = sorted(set.union(*map(set, unlike)), reverse=True)
    codes = {side: recognise_language(pairs, pairs.get_texts(side), rows) or "CODE" for side in sides}
    tags = "".join(f"={'to' if side == 'target' else 'from'}:{codes[side]}" for side in sides)
    name = pairs.input_names[file]
    return f"the {' and the '.join(sides)} of {name}, unlike {pairs.input_names[largest]}; if so, use {name}{tags}"


def count_letters(pairs: Pairs, side: Side, rows: BoolArray) -> LetterCounts:
    """Returns the square root of the share of each n-gram of letters in a sample of the texts of these rows."""
    chosen = np.flatnonzero(rows)
    counts: Counter[str] = Counter()
    for text in pairs.get_texts(side).select(chosen[:: -(-len(chosen) // TEXTS_COMPARED)]):
        words = f" {' '.join(LETTERS.findall(text.lower()))} "
        # A letter of Chinese, Japanese or Korean says as much as two of an alphabet: their 4-grams hardly recur.
        counts.update(cut_ngrams(words, 2 if count_columns(words) > 1.5 * len(words) else 4))
    total = max(1, counts.total())
    return {ngram: math.sqrt(count / total) for ngram, count in counts.items()}


def cut_ngrams(text: str, length: int) -> Iterator[str]:
    """Yields all substrings of this length."""
    return map("".join, zip(*(text[start:] for start in range(length)), strict=False))


def find_unlike_sides(letters: dict[Side, LetterCounts], other: dict[Side, LetterCounts]) -> Iterator[Side]:
    """Yields the sides of two files that are in different languages."""
    overlaps = {side: measure_overlap(letters[side], other[side]) for side in letters}
    most = max(overlaps.values())
    for side, overlap in overlaps.items():
        is_small = overlap < SMALL_OVERLAP and overlap < SMALL_SHARE_OF_OVERLAP * most
        if is_small or overlap < LEAST_OVERLAP or overlap < LEAST_SHARE_OF_OVERLAP * most:
            yield side


def measure_overlap(letters: LetterCounts, other: LetterCounts) -> float:
    """Returns the overlap of two distributions, 0 to 1."""
    return sum(share * other[ngram] for ngram, share in letters.items() if ngram in other)


# The script check, for example for a Russian sentence in an English column. It learns the scripts of each column.


MINIMUM_PAIRS_OF_SCRIPT = 100  # for learning the scripts of a column
LEAST_SHARE = 0.01  # of the sentences of a side; a rarer script does not belong there

# First code point of each range of letters; None ends the one before.
RANGES: tuple[tuple[int, str | None], ...] = (
    (0x41, "Latin"), (0x5B, None), (0x61, "Latin"), (0x7B, None), (0xC0, "Latin"), (0xD7, None), (0xD8, "Latin"),
    (0xF7, None), (0xF8, "Latin"), (0x2B0, None), (0x370, "Greek"), (0x400, "Cyrillic"), (0x530, "Armenian"),
    (0x590, "Hebrew"), (0x600, "Arabic"), (0x700, None), (0x750, "Arabic"), (0x780, "Thaana"), (0x7C0, "N'Ko"),
    (0x800, None), (0x8A0, "Arabic"), (0x900, "Devanagari"), (0x980, "Bengali"), (0xA00, "Gurmukhi"),
    (0xA80, "Gujarati"), (0xB00, "Oriya"), (0xB80, "Tamil"), (0xC00, "Telugu"), (0xC80, "Kannada"),
    (0xD00, "Malayalam"), (0xD80, "Sinhala"), (0xE00, "Thai"), (0xE80, "Lao"), (0xF00, "Tibetan"), (0x1000, "Myanmar"),
    (0x10A0, "Georgian"), (0x1100, "Hangul"), (0x1200, "Ethiopic"), (0x13A0, "Cherokee"), (0x1400, "Canadian"),
    (0x1680, None), (0x1780, "Khmer"), (0x1800, "Mongolian"), (0x18B0, None), (0x1E00, "Latin"), (0x1F00, "Greek"),
    (0x2000, None), (0x2C80, "Coptic"), (0x2D00, None), (0x2D30, "Tifinagh"), (0x2D80, "Ethiopic"), (0x2DE0, None),
    (0x3041, "Kana"), (0x3100, "Bopomofo"), (0x3130, "Hangul"), (0x3190, None), (0x31F0, "Kana"), (0x3200, None),
    (0x3400, "Han"), (0x4DC0, None), (0x4E00, "Han"), (0xA000, "Yi"), (0xA4D0, None), (0xA640, "Cyrillic"),
    (0xA6A0, None), (0xA720, "Latin"), (0xA800, None), (0xAC00, "Hangul"), (0xD7B0, None), (0xF900, "Han"),
    (0xFB00, "Latin"), (0xFB13, "Armenian"), (0xFB1D, "Hebrew"), (0xFB50, "Arabic"), (0xFE00, None),
    (0xFE70, "Arabic"), (0xFEFF, None), (0xFF21, "Latin"), (0xFF3B, None), (0xFF41, "Latin"), (0xFF5B, None),
    (0xFF66, "Kana"), (0xFFA0, "Hangul"), (0xFFE0, None), (0x1E900, "Adlam"), (0x1E960, None), (0x20000, "Han"),
    (0x32000, None),
)  # fmt: skip
NONE = "none"
SCRIPTS: tuple[str, ...] = (NONE, *sorted({name for _, name in RANGES if name}))
STARTS = [start for start, _ in RANGES]


@cache
def build_script_table() -> NDArray[np.uint8]:
    """Returns, for each code point (0x110000,), the index of its script in SCRIPTS."""
    bounds = [*STARTS, 0x110000]
    numbers = [0, *(SCRIPTS.index(name or NONE) for _, name in RANGES)]
    return np.repeat(np.array(numbers, np.uint8), np.diff([0, *bounds]))


def find_main_scripts(texts: list[str]) -> NDArray[np.uint8]:
    """Returns the index in SCRIPTS (N,) of the script that more than half of each text's letters are in, or 0."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = np.fromiter(map(len, texts), np.int64, count=len(texts))
    owner = np.repeat(np.arange(len(texts)) * len(SCRIPTS), sizes)
    counts = np.bincount(owner + build_script_table()[points], minlength=len(texts) * len(SCRIPTS))
    letters = counts.reshape(len(texts), len(SCRIPTS))
    letters[:, 0] = 0
    main = letters.argmax(axis=1)
    decided = 2 * letters[np.arange(len(texts)), main] > letters.sum(axis=1)
    return np.where(decided, main, 0).astype(np.uint8)


def measure_script_shares(texts: list[str]) -> NDArray[np.float64]:
    """Returns the share, 0 to 1, of each of SCRIPTS among the letters of all texts; zeros if there are no letters.

    The share of NONE is 0.
    """
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    shares = np.bincount(build_script_table()[points], minlength=len(SCRIPTS)).astype(np.float64)
    shares[0] = 0
    shares /= max(shares.sum(), 1.0)
    return shares


class Script(CorpusCheck):
    name = "script"
    problem = "one side is in a script that is rare in its column"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        rows = np.zeros(len(pairs), dtype=np.bool_)
        notes = []
        for side in ("source", "target"):
            scripts: NDArray[np.uint8] = getattr(pairs.facts, f"{side}_scripts")
            counts = count_numbers(scripts, len(SCRIPTS), candidates)
            counts[0] = 0
            if counts.sum() < MINIMUM_PAIRS_OF_SCRIPT:
                continue
            is_common = counts >= LEAST_SHARE * counts.sum()
            is_rare = ~is_common
            is_rare[0] = False
            for block in iterate_blocks(len(pairs)):
                rows[block] |= is_rare[scripts[block]] & candidates[block]
            notes.append(f"{side} is {', '.join(np.array(SCRIPTS)[is_common].tolist())}")
        return CheckResult(rows, "; ".join(notes))


# The check of shifted lines: one side lost or gained a line, and from there on no pair matches.
#
# The lengths of the lines tell (`arrays/shifts.py`).


class Shifted(CorpusCheck):
    name = "shifted"
    problem = "shifted lines: source and target are misaligned"
    crosses_languages = True  # each input is a group of its own

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        facts, is_shifted, notes = pairs.facts, np.zeros(len(pairs), dtype=np.bool_), []
        for number, name in enumerate(pairs.input_names):
            of_input = np.array(number, facts.input_numbers.dtype)
            begin, stop = (int(np.searchsorted(facts.input_numbers, of_input, side)) for side in ("left", "right"))
            for shift in find_shifts(facts.source_lengths[begin:stop], facts.target_lengths[begin:stop]):
                is_shifted[begin + shift.first : begin + shift.end] = True
                first, last = facts.line_numbers[begin + shift.first], facts.line_numbers[begin + shift.end - 1]
                by = f"{abs(shift.lines)} line{'s' if abs(shift.lines) > 1 else ''}"
                notes.append(f"{name} from about {name_line(name)} {first:,} to {last:,}, by {by}")
        more = f" and {len(notes) - 5} more" if len(notes) > 5 else ""
        return CheckResult(is_shifted & candidates, "; ".join(notes[:5]) + more)
