"""The metrics computed by sacreBLEU (Post 2018): BLEU with its tokenizers, chrF, TER."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nmt_cli.errors import DataError, MissingExtraError
from nmt_cli.evaluation.config import DEFAULT, SUBWORD_TOKENIZERS, ScoreOptions
from nmt_cli.evaluation.metrics.overlap import LONGEST_COMPARED, bound_edit_distance
from nmt_cli.evaluation.metrics.score import (
    Hypotheses,
    MetricFunction,
    References,
    Score,
    Statistics,
    check_pairing,
    transpose_references,
)
from nmt_cli.files import require_file
from nmt_cli.languages.codes import guess_language
from nmt_cli.languages.rules import find_rules

# BLEU's tokenizers: sacreBLEU's own, those that need another package, and the pieces of a SentencePiece model.


SAMPLE = 1_000  # references by whose script a language is known
PACKAGES = {"ja-mecab": ("MeCab", "ja"), "ko-mecab": ("mecab_ko", "ko")}  # module, and extra of sacreBLEU


def choose_tokenizer(config: ScoreOptions, language: str) -> tuple[ScoreOptions, str]:
    """Returns the settings with this target language's tokenizer, and a note if it is not 13a."""
    preferred = find_rules(language).bleu_tokenizer if config.bleu_tokenizer == "auto" else ""
    if not preferred:
        return config, ""
    chosen = preferred
    if preferred in PACKAGES and find_spec(PACKAGES[preferred][0]) is None:
        chosen = "char" if preferred == "ja-mecab" else "13a"
    note = f"BLEU for {language} uses --bleu-tokenizer {chosen}"
    if chosen != preferred:
        note += f"; for {preferred}: pip install 'sacrebleu[{PACKAGES[preferred][1]}]'"
    return dataclasses.replace(config, bleu_tokenizer=chosen), note  # type: ignore[arg-type]


def choose_for_text(config: ScoreOptions, language: str, references: References) -> tuple[ScoreOptions, str]:
    """Returns the settings with the tokenizer for a language or, if it is unknown, for the script of the references."""
    if language in ("", "target"):
        language = guess_language(alternatives[0] for alternatives in references[:SAMPLE])
    return choose_tokenizer(config, language)


def require_tokenizer(name: str) -> str:
    """Returns the name of sacreBLEU's tokenizer. Raises MissingExtraError if its package is not installed."""
    if name in PACKAGES and find_spec(PACKAGES[name][0]) is None:
        raise MissingExtraError(
            f"--bleu-tokenizer {name} needs a package that is not installed",
            hint=f"install it with: pip install 'sacrebleu[{PACKAGES[name][1]}]'",
        )
    return "none" if name in SUBWORD_TOKENIZERS else name


class SubwordTokenizer:
    """A sacreBLEU tokenizer that splits text into the pieces of a SentencePiece model."""

    def __init__(self, path: Path, name: str) -> None:
        import sentencepiece

        self.name = name
        try:
            self.processor: Any = sentencepiece.SentencePieceProcessor(model_file=str(require_file(path)))
        except (OSError, RuntimeError) as error:
            raise DataError(f"{path} is not a SentencePiece model", hint="name another with --bleu-spm") from error

    def __call__(self, line: str) -> str:
        return " ".join(self.processor.encode(line, out_type=str))


def make_bleu_metric(config: ScoreOptions, **options: Any) -> Any:
    """Returns sacreBLEU's BLEU with the tokenizer of the settings."""
    from sacrebleu.metrics.bleu import BLEU  # a tenth of a second that `nmt --help` must not pay

    metric = BLEU(tokenize=require_tokenizer(config.tokenizer), **options)
    if config.tokenizer in SUBWORD_TOKENIZERS:
        metric.tokenizer = SubwordTokenizer(Path(str(config.bleu_spm)), config.tokenizer)
        metric.tokenizer_signature = config.tokenizer
    return metric


# Shared by the metrics computed by sacreBLEU (Post 2018). Must not know which they are.


def score_with_sacrebleu(
    metric: Any,
    name: str,
    hypotheses: Hypotheses,
    references: References,
    *,
    sentence_value: Callable[[list[float]], float] | None = None,
    corpus_value: Callable[[list[float]], float] | None = None,
    signature: Callable[[str], str] = str,
    lower_is_better: bool = False,
) -> Score:
    """Computes the score of sacreBLEU's `metric`, and keeps its counts for resampling.

    `corpus_value` computes the score from summed counts, `sentence_value` from one sentence's; None means sacreBLEU's
    own. `signature` may change sacreBLEU's signature. The counts come from the methods that sacreBLEU's significance
    tests use.
    """
    import numpy as np  # which `nmt --help` does not need

    check_pairing(hypotheses, references)
    value_of = corpus_value or (lambda row: float(metric._compute_score_from_stats(row).score))
    rows: list[list[float]] = metric._extract_corpus_statistics(hypotheses, transpose_references(references))
    sums = [sum(column) for column in zip(*rows, strict=True)]
    values = map(sentence_value or value_of, (list(row) for row in rows))

    def combine(resampled: Any) -> Any:
        return np.array([value_of(row) for row in resampled.tolist()])

    return Score(
        name=name,
        value=value_of(sums),
        signature=signature(str(metric.get_signature())),
        sentence_values=tuple(values),
        statistics=Statistics(np.asarray(rows, dtype=float), combine),
        lower_is_better=lower_is_better,
    )


# BLEU (Papineni et al. 2002), computed by sacreBLEU (Post 2018). Must not know where the sentences come from.


def compute_bleu(
    hypotheses: Hypotheses,
    references: References,
    config: ScoreOptions = DEFAULT,
    /,
    *,
    order: int = 4,
    name: str = "BLEU",
) -> Score:
    """Computes corpus BLEU of n-grams up to `order`; by default of detokenised, cased text, 13a tokens, exp smoothing.

    Sentence values use the effective order, as sacreBLEU recommends. Its signature omits the order, so `name` states
    it.
    """
    smoothing = config.smoothing
    epsilon = smoothing.value if smoothing.method == "epsilon" else None  # which sacreBLEU does not offer
    options: dict[str, Any] = {
        "max_ngram_order": order,
        "force": True,  # no warning of tokenised text: `analysis.warnings` reports it
        "lowercase": config.lowercase,
        "smooth_method": smoothing.method if epsilon is None else "none",
        "smooth_value": smoothing.value if epsilon is None else None,
    }
    corpus, sentence = make_bleu_metric(config, **options), make_bleu_metric(config, **options, effective_order=True)

    def compute_value(row: list[float], metric: Any) -> float:
        if epsilon is not None:
            return 100 * combine_with_epsilon(row, epsilon, effective=metric.effective_order)
        # The logarithms of sacreBLEU give a perfect translation 100.00000000000004.
        return min(float(metric._compute_score_from_stats(row).score), 100.0)

    smooth = "none" if epsilon is None else f"epsilon[{epsilon:g}]"
    score = score_with_sacrebleu(
        corpus,
        name,
        hypotheses,
        references,
        corpus_value=partial(compute_value, metric=corpus),
        sentence_value=partial(compute_value, metric=sentence),
        signature=lambda text: text.replace("smooth:none", f"smooth:{smooth}"),
    )
    return add_details(score, corpus)


def add_details(score: Score, metric: Any) -> Score:
    """Returns the score with its n-gram precisions, brevity penalty and lengths in words, as sacreBLEU prints them."""
    if score.statistics is None:
        return score
    parts = metric._compute_score_from_stats(score.statistics.counts.sum(axis=0).tolist())
    lengths = int(parts.sys_len), int(parts.ref_len)
    ratio = lengths[0] / lengths[1] if lengths[1] else 0.0
    details = {
        "precisions": list(parts.precisions),
        "brevity_penalty": parts.bp,
        "length_ratio": ratio,
        "hypothesis_length": lengths[0],
        "reference_length": lengths[1],
    }
    precisions = "/".join(f"{precision:.1f}" for precision in parts.precisions)
    text = f"{precisions} (BP = {parts.bp:.3f} ratio = {ratio:.3f} hyp_len = {lengths[0]} ref_len = {lengths[1]})"
    return dataclasses.replace(score, details=details, detail_text=text)


def combine_with_epsilon(row: Sequence[float], epsilon: float, *, effective: bool = False) -> float:
    """Computes BLEU, 0-1, with `epsilon` in place of a precision of 0.

    `row` is sacreBLEU's: hypothesis length, reference length, matches of each order, n-grams of each order. With
    `effective`, orders without an n-gram in the hypothesis are left out.
    """
    (length, reference), counts = row[:2], row[2:]
    order = len(counts) // 2
    pairs = [
        (correct, total)
        for correct, total in zip(counts[:order], counts[order:], strict=True)
        if total > 0 or not effective
    ]
    if not length or not pairs:
        return 0.0
    precisions = [correct / total if correct > 0 else epsilon for correct, total in pairs]
    mean = sum(map(math.log, precisions)) / len(precisions)
    return compute_brevity_penalty(length, reference) * math.exp(mean)


def compute_brevity_penalty(length: float, reference: float) -> float:
    """Returns 1 if the hypothesis is at least as long as the reference, else exp(1 - r / c) (Papineni et al., 2.3)."""
    if length <= 0:
        return 0.0
    return 1.0 if length >= reference else math.exp(1 - reference / length)


def make_bleu(order: int) -> MetricFunction:
    """Returns BLEU-`order` as a metric for the registry."""
    return partial(compute_bleu, order=order, name=f"BLEU-{order}")


# chrF (Popović 2015) and chrF++ (Popović 2017), computed by sacreBLEU. Must not know where the sentences come from.


def compute_chrf(
    hypotheses: Hypotheses, references: References, config: ScoreOptions = DEFAULT, /, *, word_order: int = 0
) -> Score:
    """Computes chrF2, the F-score (beta 2) of character n-grams up to 6; with word n-grams up to 2, chrF2++.

    Needs no tokenisation, so it also suits scripts without spaces and languages with rich morphology.
    """
    from sacrebleu.metrics.chrf import CHRF  # a tenth of a second that `nmt --help` must not pay

    name = "chrF2" + "+" * word_order
    return score_with_sacrebleu(CHRF(word_order=word_order, lowercase=config.lowercase), name, hypotheses, references)


def compute_chance_chrf(references: References, config: ScoreOptions = DEFAULT) -> float | None:
    """Returns the chrF2 expected by chance: that of references scored against others of nearly the same length.

    It is 14 in German and 25 in Asháninka, whose long words share many characters. Returns None for a single text.
    """
    texts = sorted(dict.fromkeys(alternatives[0] for alternatives in references), key=len)
    others = [[text] for text in texts[1:] + texts[:1]]
    return compute_chrf(texts, others, config).value if len(texts) > 1 else None


chrf_plus_plus: MetricFunction = partial(compute_chrf, word_order=2)


# Translation edit rate (Snover et al. 2006), computed by sacreBLEU. Must not know where the sentences come from.
#
# sacreBLEU tries a thousand shifts, each over the whole line, and holds a table of its words by those of the reference:
# 6,000 words take minutes, 50,000 more memory than a machine has. Longer lines are compared without shifts, and the
# signature says so.


LONGEST_SHIFTED = 300  # words of a hypothesis or a reference: up to six seconds in the worst case, else one


def compute_ter(hypotheses: Hypotheses, references: References, config: ScoreOptions = DEFAULT, /) -> Score:
    """Computes the edits (insert, delete, substitute, shift a block) per reference word, times 100; lower is better."""
    from sacrebleu.metrics.ter import TER  # a tenth of a second that `nmt --help` must not pay

    class BoundedTER(TER):
        """TER that tries no shifts in long lines; `long` counts them, and `longest` is the length of the longest."""

        long = longest = 0

        def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, list[list[str]]]) -> list[float]:
            words, alternatives = hypothesis.split(), ref_kwargs["ref_words"]
            length = max(map(len, (words, *alternatives)))
            if length <= LONGEST_SHIFTED:
                counts: list[float] = super()._compute_segment_statistics(hypothesis, ref_kwargs)
                return counts
            self.long, self.longest = self.long + 1, max(self.longest, length)
            fewest = min(bound_edit_distance(words, reference) for reference in alternatives)
            return [fewest, sum(map(len, alternatives)) / len(alternatives)]

    metric = BoundedTER()

    def sign(signature: str) -> str:
        without = f"|without-shifts:{metric.long}>{LONGEST_SHIFTED}words" if metric.long else ""
        return signature + without + (f"|parts:{LONGEST_COMPARED}" if metric.longest > LONGEST_COMPARED else "")

    return score_with_sacrebleu(metric, "TER", hypotheses, references, signature=sign, lower_is_better=True)
