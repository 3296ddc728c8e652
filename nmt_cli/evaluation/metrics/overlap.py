"""Overlap metrics: ROUGE, METEOR, exact match and character error rate."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import groupby, pairwise
from typing import Any

from nmt_cli.evaluation.config import DEFAULT, ScoreOptions
from nmt_cli.evaluation.metrics.score import (
    Hypotheses,
    MetricFunction,
    References,
    Score,
    average_scores,
    check_pairing,
    make_ratio_statistics,
    read_version,
)
from nmt_cli.text.characters import ELLIPSES, SOLID_FINAL_MARKS, SPACED_FINAL_MARKS
from nmt_cli.text.normalise import normalise, split_unspaced

# Exact match and character error rate. Must not know where the sentences come from.
#
# The distance of two texts takes time by their lengths multiplied. Those of more than LONGEST_COMPARED characters are
# cut into equally many parts, whose distances add up to at least theirs, and the signature says so.


LONGEST_COMPARED = 10_000  # characters or words that are compared as a whole: a tenth of a second


def compute_exact_match(hypotheses: Hypotheses, references: References, config: ScoreOptions = DEFAULT, /) -> Score:
    """Computes the percentage of hypotheses that equal one of their references (NFC, single spaces)."""
    check_pairing(hypotheses, references)
    values = [
        100.0 * (hypothesis in alternatives)
        for hypothesis, alternatives in normalise_texts(hypotheses, references, config)
    ]
    return average_scores("exact", values, f"nrefs:{len(references[0])}|{describe_case(config)}|norm:NFC")


def compute_character_error_rate(
    hypotheses: Hypotheses, references: References, config: ScoreOptions = DEFAULT, /
) -> Score:
    """Computes the edits (insert, delete, substitute) per character of the nearest reference, times 100."""
    check_pairing(hypotheses, references)
    pairs = [
        min(
            ((bound_edit_distance(hypothesis, reference), len(reference)) for reference in alternatives),
            key=lambda pair: pair[0] / max(1, pair[1]),
        )
        for hypothesis, alternatives in normalise_texts(hypotheses, references, config)
    ]
    longest = max(len(text) for texts in (hypotheses, *references) for text in texts)
    parts = f"|parts:{LONGEST_COMPARED}" if longest > LONGEST_COMPARED else ""
    edits, lengths = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return Score(
        name="CER",
        value=100 * sum(edits) / max(1, sum(lengths)),
        signature=f"nrefs:{len(references[0])}|{describe_case(config)}|norm:NFC|mean:characters{parts}",
        sentence_values=tuple(100 * edit / max(1, length) for edit, length in pairs),
        statistics=make_ratio_statistics(edits, lengths, scale=100),
        lower_is_better=True,
    )


def normalise_texts(
    hypotheses: Hypotheses, references: References, config: ScoreOptions
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields each hypothesis and its references in the form that is compared."""

    def normalise_text(text: str) -> str:
        return normalise(text).lower() if config.lowercase else normalise(text)

    for hypothesis, alternatives in zip(hypotheses, references, strict=True):
        yield normalise_text(hypothesis), tuple(map(normalise_text, alternatives))


def describe_case(config: ScoreOptions) -> str:
    """Returns the signature's part about upper and lower case."""
    return "case:lc" if config.lowercase else "case:mixed"


def bound_edit_distance(text: Sequence[str], other: Sequence[str]) -> int:
    """Returns the edit distance of two texts; for long ones, the sum over their parts, which is never less."""
    count = -(-max(len(text), len(other)) // LONGEST_COMPARED) or 1
    edges = [(len(text) * part // count, len(other) * part // count) for part in range(count + 1)]
    return sum(
        compute_edit_distance(text[first:last], other[start:end]) for (first, start), (last, end) in pairwise(edges)
    )


def map_positions(items: Sequence[str]) -> dict[str, int]:
    """Returns the positions of each item, as the bits of a number."""
    positions: dict[str, int] = {}
    for position, item in enumerate(items):
        positions[item] = positions.get(item, 0) | 1 << position
    return positions


def compute_edit_distance(text: Sequence[str], other: Sequence[str]) -> int:
    """Computes the Levenshtein distance; the bits of two numbers hold a column of its table (Hyyrö 2003, figure 2).

    The bits say where a cell is one more (VP, HP) or one less (VN, HN) than the cell above it or to its left.
    """
    if not text:
        return len(other)
    positions = map_positions(text)
    all_bits, last_bit = (1 << len(text)) - 1, 1 << (len(text) - 1)
    vertical_more, vertical_less, distance = all_bits, 0, len(text)
    for character in other:
        equal = positions.get(character, 0)
        diagonal = (((equal & vertical_more) + vertical_more) ^ vertical_more) | equal | vertical_less
        more, less = vertical_less | ~(diagonal | vertical_more), vertical_more & diagonal
        distance += bool(more & last_bit) - bool(less & last_bit)
        more = more << 1 | 1
        vertical_more = (less << 1 | ~(diagonal | more)) & all_bits
        vertical_less = more & diagonal & all_bits
    return distance


# ROUGE (Lin 2004), computed by Google's rouge-score. Must not know where the sentences come from.
#
# rouge-score finds the longest common subsequence by a table of all words by all words, which the memory of a machine
# does not hold for long lines; ROUGE-L is counted here, with equal results. Of texts that are longer still, ROUGE-Lsum
# is ROUGE-L, and the signature says so.


LONGEST_SPLIT = 1_500  # words of a text whose sentences are compared with each other: a few seconds
SENTENCE_END = rf"(?<=[{SPACED_FINAL_MARKS}{ELLIPSES}])\s+|(?<=[{SOLID_FINAL_MARKS}])\s*"


class UnicodeTokenizer:
    """Splits text of any script into words in lower case: runs of letters, marks and digits.

    In scripts without spaces, each character is a word. The tokenizer of rouge-score itself keeps only a-z and 0-9: it
    finds no word in "Привет". On ASCII text, the two agree.
    """

    name = "unicode-words"

    def tokenize(self, text: str) -> list[str]:
        lowered = unicodedata.normalize("NFC", text.lower())
        visible = (character for character in lowered if unicodedata.category(character) != "Cf")
        return [
            word for run, letters in groupby(visible, is_of_word) if run for word in split_unspaced("".join(letters))
        ]


@cache
def is_of_word(character: str) -> bool:
    """Whether the character is a letter, a mark or a digit. `\\w` would break Indic words at their vowel signs."""
    return unicodedata.category(character)[0] in "LMN"


def compute_rouge(
    hypotheses: Hypotheses, references: References, config: ScoreOptions = DEFAULT, /, *, kind: str
) -> Score:
    """Computes the mean over the sentences of ROUGE's F-score, each with its best reference.

    `kind` is rouge-score's name: rouge1, rouge2 (n-grams), rougeL (longest common subsequence), rougeLsum (the union of
    common subsequences, sentence by sentence).
    """
    check_pairing(hypotheses, references)
    scorer = RougeCounter(kind)
    matches = [
        find_best_match([scorer.score(reference, hypothesis) for reference in alternatives], config.beta)
        for hypothesis, alternatives in zip(hypotheses, references, strict=True)
    ]
    whole = f"|not-split:{scorer.long}>{LONGEST_SPLIT}words" if scorer.long else ""
    signature = (
        f"nrefs:{len(references[0])}|case:lc|tok:{UnicodeTokenizer.name}|stem:no|measure:F{config.beta:g}"
        f"|mean:sentences{'|split:.!?' if kind == 'rougeLsum' else ''}{whole}"
        f"|rouge-score:{read_version('rouge-score')}"
    )
    parts = {
        "precision": 100 * sum(match.precision for match in matches) / len(matches),
        "recall": 100 * sum(match.recall for match in matches) / len(matches),
    }
    values = [100 * match.f for match in matches]
    return average_scores(f"ROUGE-{kind.removeprefix('rouge')}", values, signature, parts)


class RougeCounter:
    """Scores pairs by one kind of ROUGE; `long` counts the texts too long to compare sentence by sentence."""

    def __init__(self, kind: str) -> None:
        from rouge_score.rouge_scorer import RougeScorer  # imports nltk: half a second

        self.kind, self.tokenizer, self.long = kind, UnicodeTokenizer(), 0
        self.scorer = RougeScorer([kind], tokenizer=self.tokenizer)

    def score(self, reference: str, hypothesis: str) -> Any:
        """Returns the precision and the recall of a hypothesis, 0-1."""
        if self.kind not in ("rougeL", "rougeLsum"):
            return self.scorer.score(reference, hypothesis)[self.kind]
        words, others = self.tokenizer.tokenize(reference), self.tokenizer.tokenize(hypothesis)
        is_long = max(len(words), len(others)) > LONGEST_SPLIT
        if self.kind == "rougeLsum" and not is_long:
            return self.scorer.score(split_lines(reference), split_lines(hypothesis))[self.kind]
        self.long += self.kind == "rougeLsum"
        common = count_common(words, others)
        return Match(0.0, common / max(1, len(others)), common / max(1, len(words)))


def count_common(words: Sequence[str], others: Sequence[str]) -> int:
    """Returns the length of the longest common subsequence, using integers with one bit per word (Hyyrö 2004)."""
    positions, whole = map_positions(words), (1 << len(words)) - 1
    unmatched = whole
    for word in others:
        at = unmatched & positions.get(word, 0)
        unmatched = ((unmatched + at) | (unmatched - at)) & whole
    return len(words) - unmatched.bit_count()


@dataclass(frozen=True)
class Match:
    """How well a hypothesis and one reference agree, 0-1."""

    f: float
    precision: float
    recall: float


def find_best_match(of_references: Sequence[Any], beta: float) -> Match:
    """Returns the match with the highest F-score among rouge-score's results for the references."""
    matches = (
        Match(compute_f_score(result.precision, result.recall, beta), result.precision, result.recall)
        for result in of_references
    )
    return max(matches, key=lambda match: match.f)


def compute_f_score(precision: float, recall: float, beta: float) -> float:
    """Computes (1 + beta²) P R / (beta² P + R): recall counts beta times as much as precision."""
    weighted = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / weighted if weighted else 0.0


def split_lines(text: str) -> str:
    """Returns the text with one sentence per line, as rougeLsum expects it."""
    return re.sub(SENTENCE_END, "\n", text)


def make_rouge(kind: str) -> MetricFunction:
    """Returns ROUGE of this kind as a metric for the registry."""
    return partial(compute_rouge, kind=kind)


# METEOR (Banerjee and Lavie 2005), computed by NLTK. Must not know where the sentences come from.


class NoSynonyms:
    """Stands in for WordNet if its data is not installed: no word has a synonym."""

    def synsets(self, word: str) -> list[Any]:
        return []


class Stemmer:
    """Porter's stemmer for English, which caches stems."""

    def __init__(self) -> None:
        from nltk.stem.porter import PorterStemmer

        self.stem = lru_cache(maxsize=100_000)(PorterStemmer().stem)


def compute_meteor(hypotheses: Hypotheses, references: References, config: ScoreOptions = DEFAULT, /) -> Score:
    """Computes the mean of METEOR (alpha 0.9, beta 3, gamma 0.5) over the sentences; the best reference counts.

    Words match exactly, then by Porter's stem, then by WordNet if NLTK finds its data, as the signature says.
    """
    from nltk.translate.meteor_score import meteor_score  # half a second

    check_pairing(hypotheses, references)
    words, stemmer = UnicodeTokenizer(), Stemmer()
    wordnet = find_wordnet()
    values = [
        100
        * meteor_score(
            [words.tokenize(reference) for reference in alternatives],
            words.tokenize(hypothesis),
            stemmer=stemmer,
            wordnet=wordnet or NoSynonyms(),
        )
        for hypothesis, alternatives in zip(hypotheses, references, strict=True)
    ]
    match = "exact+porter+wordnet" if wordnet else "exact+porter"
    signature = (
        f"nrefs:{len(references[0])}|case:lc|tok:{words.name}|match:{match}|alpha:0.9|beta:3|gamma:0.5"
        f"|mean:sentences|nltk:{read_version('nltk')}"
    )
    return average_scores("METEOR", values, signature)


def find_wordnet() -> Any | None:
    """Returns NLTK's reader of WordNet if its data is on this machine; downloads nothing."""
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        return None
    return wordnet
