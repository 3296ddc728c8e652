"""How BLEU and ROUGE-L of one pair come about, step by step, as a table. Must not know files or models.

Every number is counted here from the tokens, and the last line is the metric's own value: a test holds that they agree.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nmt_cli.errors import OptionError
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.bleu import bleu_of_order, brevity_penalty
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.rouge import UnicodeTokenizer, f_score

LONGEST = 44  # columns of an n-gram in the table


@dataclass(frozen=True)
class NGram:
    """One n-gram of the candidate: how often it stands there, in the reference, and how often it counts."""

    words: tuple[str, ...]
    candidate: int
    reference: int

    @property
    def clipped(self) -> int:
        return min(self.candidate, self.reference)


@dataclass(frozen=True)
class Order:
    """All n-grams of one length."""

    n: int
    ngrams: tuple[NGram, ...]

    @property
    def matches(self) -> int:
        return sum(ngram.clipped for ngram in self.ngrams)

    @property
    def total(self) -> int:
        return sum(ngram.candidate for ngram in self.ngrams)


def bleu_tokens(text: str, config: ScoreConfig) -> list[str]:
    """What BLEU counts as words."""
    from sacrebleu.metrics.bleu import BLEU

    tokenizer: Any = BLEU(tokenize=config.bleu_tokenizer).tokenizer
    return str(tokenizer(text.rstrip())).split()


def order_of(n: int, candidate: Sequence[str], reference: Sequence[str]) -> Order:
    own, other = ngrams(candidate, n), ngrams(reference, n)
    return Order(n, tuple(NGram(words, count, other[words]) for words, count in own.items()))


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[first : first + n]) for first in range(len(tokens) - n + 1))


def common_subsequence(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """A longest common subsequence, by the usual table of lengths read backwards."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, word in enumerate(one):
        for j, second in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if word == second else max(table[i][j + 1], table[i + 1][j])
    found, i, j = [], len(one), len(other)
    while i and j:
        if one[i - 1] == other[j - 1]:
            found.append(one[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found[::-1]


def explained(names: Sequence[str], candidate: str, reference: str, config: ScoreConfig) -> list[str]:
    """The derivation of each metric of `names` that has one (BLEU of any order, ROUGE-L), as lines of text.

    Raises OptionError where none has.
    """
    if not any(name.startswith("bleu") or name == "rougeL" for name in names):
        raise OptionError(
            f"--explain shows how BLEU and ROUGE-L are counted, not {', '.join(names)}",
            hint="--metric takes bleu1 to bleu4 and rougeL here; both kinds are shown without it",
        )
    if config.lowercase:
        candidate, reference = candidate.lower(), reference.lower()
    lines = [f"candidate  {candidate}", f"reference  {reference}"]
    for name in names:
        if name.startswith("bleu"):
            lines += ["", *bleu_lines(int(name.removeprefix("bleu") or 4), candidate, reference, config)]
        elif name == "rougeL":
            lines += ["", *rouge_lines(candidate, reference, config)]
    return lines


def bleu_lines(order: int, candidate: str, reference: str, config: ScoreConfig) -> list[str]:
    own, other = bleu_tokens(candidate, config), bleu_tokens(reference, config)
    orders = [order_of(n, own, other) for n in range(1, order + 1)]
    penalty = brevity_penalty(len(own), len(other))
    score = bleu_of_order(order)([candidate], [[reference]], config)
    case = "in lower case" if config.lowercase else "cased"
    lines = [f"BLEU-{order}: n-grams of {config.bleu_tokenizer} tokens, {case}; a count is clipped at the reference's"]
    lines += [f"  n  {'n-gram':<{LONGEST}}  candidate  reference  clipped"]
    for one in orders:
        lines += [ngram_line(one.n, ngram) for ngram in one.ngrams]
    lines += ["", "  precision = sum of clipped / number of n-grams of the candidate"]
    precisions = smoothed([(one.matches, one.total) for one in orders], config)
    for one, precision in zip(orders, precisions, strict=True):
        plain = one.matches / one.total if one.total else 0.0
        note = "" if precision == plain else f"   smoothed ({config.smooth}) to {precision:.4f}"
        share = f"{one.matches / one.total:.4f}" if one.total else "no n-gram of this length"
        lines.append(f"  p{one.n} = {one.matches}/{one.total} = {share}{note}")
    factors = " x ".join(f"{precision:.4f}" for precision in precisions)
    relation = "at least as long" if penalty == 1 else "shorter"
    formula = "" if penalty == 1 else f"exp(1 - {len(other)}/{len(own)}) = " if own else ""
    lines += [
        f"  BP = {formula}{penalty:.4f}   candidate {len(own)} tokens, reference {len(other)}: {relation}",
        f"  BLEU-{order} = {penalty:.4f} x ({factors})^(1/{order}) = {product(precisions, penalty):.4f}",
        f"  BLEU-{order} = {score.value:.2f} of 100   {score.signature}",
    ]
    return lines


def ngram_line(n: int, ngram: NGram) -> str:
    text = " ".join(ngram.words)
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return f"  {n}  {text:<{LONGEST}}  {ngram.candidate:>9}  {ngram.reference:>9}  {ngram.clipped:>7}"


def smoothed(counts: Sequence[tuple[int, int]], config: ScoreConfig) -> list[float]:
    """The precisions, 0-1, as they enter the product. sacreBLEU smoothes none where no n-gram of any length matches."""
    smoothing, halvings, found = config.smoothing, 1, []
    if smoothing.method != "epsilon" and not any(matches for matches, _ in counts):
        return [0.0] * len(counts)
    for n, (matches, total) in enumerate(counts, start=1):
        value = smoothing.value or 0.0
        if smoothing.method == "add-k" and n > 1:
            found.append((matches + value) / (total + value))
        elif matches or (not total and smoothing.method != "epsilon"):
            found.append(matches / total if total else 0.0)
        elif smoothing.method == "exp":
            halvings *= 2
            found.append(1 / (halvings * total))
        else:
            found.append({"floor": value / max(1, total), "epsilon": value}.get(smoothing.method, 0.0))
    return found


def product(precisions: Sequence[float], penalty: float) -> float:
    """BLEU, 0-1, of smoothed precisions."""
    if not all(precisions):
        return 0.0
    return penalty * math.exp(sum(map(math.log, precisions)) / len(precisions))


def rouge_lines(candidate: str, reference: str, config: ScoreConfig) -> list[str]:
    words = UnicodeTokenizer()
    own, other = words.tokenize(candidate), words.tokenize(reference)
    common = common_subsequence(own, other)
    precision, recall = len(common) / max(1, len(own)), len(common) / max(1, len(other))
    score = METRICS["rougeL"]([candidate], [[reference]], config)
    b = config.beta
    beta = "F1 = 2 P R / (P + R)" if b == 1 else f"F{b:g} = (1 + {b * b:g}) P R / ({b * b:g} P + R)"
    return [
        "ROUGE-L: longest common subsequence (LCS) of the words, in lower case",
        f"  candidate  {marked(own, common)}",
        f"  reference  {marked(other, common)}",
        f"  LCS = {len(common)}: {' '.join(common)}",
        f"  P = LCS / words of the candidate = {len(common)}/{len(own)} = {precision:.4f}",
        f"  R = LCS / words of the reference = {len(common)}/{len(other)} = {recall:.4f}",
        f"  {beta} = {f_score(precision, recall, config.beta):.4f}   ({score.value:.2f} of 100)",
        f"  {score.signature}",
    ]


def marked(words: Sequence[str], common: Sequence[str]) -> str:
    """The words, those of the common subsequence in brackets."""
    found, place = [], 0
    for word in words:
        taken = place < len(common) and word == common[place]
        found.append(f"[{word}]" if taken else word)
        place += taken
    return " ".join(found)
