"""Explains BLEU and ROUGE-L of one pair step by step, as a table. Must not know files or models.

The numbers are computed here from the tokens; only smoothed precisions and the last line's value are the metric's own,
and a test checks that they agree.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from nmt_cli.errors import OptionError
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.overlap import UnicodeTokenizer, compute_f_score
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_brevity_penalty, make_bleu, make_bleu_metric
from nmt_cli.evaluation.metrics.score import Score
from nmt_cli.text.wrapping import format_count

BLEU_ORDERS = {"bleu": 4, "bleu1": 1, "bleu2": 2, "bleu3": 3, "bleu4": 4}
NGRAM_WIDTH = 44  # columns for an n-gram in the table


def tokenize_for_bleu(text: str, config: ScoreOptions) -> list[str]:
    """Returns the tokens that BLEU counts."""

    tokenizer: Any = make_bleu_metric(config).tokenizer
    return str(tokenizer(text.rstrip())).split()


def count_ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Counts the n-grams of one length."""
    return Counter(tuple(tokens[first : first + n]) for first in range(len(tokens) - n + 1))


def find_common_subsequence(words: Sequence[str], other: Sequence[str]) -> list[str]:
    """Returns a longest common subsequence: fills the usual table of lengths, then reads it backwards."""
    table = [[0] * (len(other) + 1) for _ in range(len(words) + 1)]
    for i, word in enumerate(words):
        for j, second in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if word == second else max(table[i][j + 1], table[i + 1][j])
    subsequence, i, j = [], len(words), len(other)
    while i and j:
        if words[i - 1] == other[j - 1]:
            subsequence.append(words[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return subsequence[::-1]


def explain_metrics(names: Sequence[str], candidate: str, reference: str, config: ScoreOptions) -> list[str]:
    """Returns the derivations of those metrics in `names` that have one (BLEU of any order, ROUGE-L), as lines of text.

    Raises OptionError if there are no such metrics.
    """
    if not any(name in BLEU_ORDERS or name == "rougeL" for name in names):
        raise OptionError(
            f"--explain shows how BLEU and ROUGE-L are computed, not {', '.join(names)}",
            hint="use --metric bleu1 to bleu4 or rougeL, or leave --metric out to see both BLEU and ROUGE-L",
        )
    if config.lowercase:
        candidate, reference = candidate.lower(), reference.lower()
    lines = [f"candidate  {candidate}", f"reference  {reference}"]
    for name in names:
        if name in BLEU_ORDERS:
            lines += ["", *explain_bleu(BLEU_ORDERS[name], candidate, reference, config)]
        elif name == "rougeL":
            lines += ["", *explain_rouge(candidate, reference, config)]
    return lines


def explain_bleu(order: int, candidate: str, reference: str, config: ScoreOptions) -> list[str]:
    """Returns the derivation of BLEU-`order` as lines of text."""
    tokens, other = tokenize_for_bleu(candidate, config), tokenize_for_bleu(reference, config)
    orders = [(count_ngrams(tokens, n), count_ngrams(other, n)) for n in range(1, order + 1)]
    penalty = compute_brevity_penalty(len(tokens), len(other))
    score = make_bleu(order)([candidate], [[reference]], config)
    case = "in lower case" if config.lowercase else "cased"
    lines = [f"BLEU-{order}: n-grams of {config.tokenizer} tokens, {case}; a count is clipped at the reference's"]
    lines += [f"  n  {'n-gram':<{NGRAM_WIDTH}}  candidate  reference  clipped"]
    for counts, expected in orders:
        lines += [format_ngram(ngram, count, expected[ngram]) for ngram, count in counts.items()]
    lines += ["", "  precision = sum of clipped / number of n-grams of the candidate"]
    precisions = list_precisions(score, config)
    for n, ((counts, expected), precision) in enumerate(zip(orders, precisions, strict=True), start=1):
        matches, total = (counts & expected).total(), counts.total()
        plain = matches / total if total else 0.0
        note = "" if math.isclose(precision, plain) else f"   smoothed ({config.smooth}) to {precision:.4f}"
        share = f"{plain:.4f}" if total else "no n-gram of this length"
        lines.append(f"  p{n} = {matches}/{total} = {share}{note}")
    factors = " x ".join(f"{precision:.4f}" for precision in precisions)
    relation = "at least as long" if penalty == 1 else "shorter"
    formula = "" if penalty == 1 else f"exp(1 - {len(other)}/{len(tokens)}) = " if tokens else ""
    length = format_count(len(tokens), "token")
    lines += [
        f"  BP = {formula}{penalty:.4f}   candidate {length}, reference {len(other)}: {relation}",
        f"  BLEU-{order} = {penalty:.4f} x ({factors})^(1/{order}) = {multiply_precisions(precisions, penalty):.4f}",
        f"  BLEU-{order} = {score.value:.2f} of 100   {score.signature}",
    ]
    return lines


def format_ngram(ngram: Sequence[str], count: int, expected: int) -> str:
    """Returns the line of an n-gram, with its counts in the candidate and in the reference."""
    text = " ".join(ngram)
    text = text if len(text) <= NGRAM_WIDTH else text[: NGRAM_WIDTH - 1] + "…"
    return f"  {len(ngram)}  {text:<{NGRAM_WIDTH}}  {count:>9}  {expected:>9}  {min(count, expected):>7}"


def list_precisions(score: Score, config: ScoreOptions) -> list[float]:
    """Returns the smoothed precisions of a BLEU score, 0-1."""
    least = config.smoothing.value or 0.0 if config.smoothing.method == "epsilon" else 0.0
    return [precision / 100 or least for precision in score.details["precisions"]]


def multiply_precisions(precisions: Sequence[float], penalty: float) -> float:
    """Computes BLEU, 0-1: the brevity penalty times the geometric mean of the smoothed precisions."""
    if not all(precisions):
        return 0.0
    return penalty * math.exp(sum(map(math.log, precisions)) / len(precisions))


def explain_rouge(candidate: str, reference: str, config: ScoreOptions) -> list[str]:
    """Returns the derivation of ROUGE-L as lines of text."""
    tokenizer = UnicodeTokenizer()
    tokens, other = tokenizer.tokenize(candidate), tokenizer.tokenize(reference)
    common = find_common_subsequence(tokens, other)
    precision, recall = len(common) / max(1, len(tokens)), len(common) / max(1, len(other))
    score = METRICS["rougeL"]([candidate], [[reference]], config)
    b = config.beta
    beta = "F1 = 2 P R / (P + R)" if b == 1 else f"F{b:g} = (1 + {b * b:g}) P R / ({b * b:g} P + R)"
    return [
        "ROUGE-L: longest common subsequence (LCS) of the words, in lower case",
        f"  candidate  {mark_common(tokens, common)}",
        f"  reference  {mark_common(other, common)}",
        f"  LCS = {len(common)}: {' '.join(common)}",
        f"  P = LCS / words of the candidate = {len(common)}/{len(tokens)} = {precision:.4f}",
        f"  R = LCS / words of the reference = {len(common)}/{len(other)} = {recall:.4f}",
        f"  {beta} = {compute_f_score(precision, recall, config.beta):.4f}   ({score.value:.2f} of 100)",
        f"  {score.signature}",
    ]


def mark_common(words: Sequence[str], common: Sequence[str]) -> str:
    """Returns the words, with the common subsequence in brackets."""
    marked, index = [], 0
    for word in words:
        is_common = index < len(common) and word == common[index]
        marked.append(f"[{word}]" if is_common else word)
        index += is_common
    return " ".join(marked)
