"""How often do the checks raise false alarms, what do they cost, and what is the confidence of a model worth?

    python benchmarks/checks.py alarms FULL.tsv --data PREPARED --model MODEL       # on references, which are right
    python benchmarks/checks.py time FULL.tsv --data PREPARED --model MODEL         # share of the time at beam 5
    python benchmarks/checks.py confidence FULL.tsv --data PREPARED --model MODEL   # beside the mean log-probability
    python benchmarks/checks.py words FULL.tsv --data PREPARED --model MODEL        # to read; what other words bring
    python benchmarks/checks.py paragraphs FULL.tsv --data PREPARED --model MODEL   # is a bad sentence told?

Sentences are drawn from FULL.tsv; none of them is a source or a target of the training data in PREPARED. A model
without a profile gets one from PREPARED for the occasion.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from bench import Pair, make_parser, read_pairs

from nmt_cli.api.open_model import open_translator
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.analysis.reliability import compute_auc, measure_reliability
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_chrf
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.normalise import make_sentence_key
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.training.export.publish import SEARCH, SURELY_GOOD_CHRF, describe_fit
from nmt_cli.translation.checks.confidence import GOOD_CHRF, ConfidenceModel, extract_features, is_kept
from nmt_cli.translation.config import CheckOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.repair.faults import WORD_FAULTS
from nmt_cli.translation.request import Block, TranslationRequest, score_pairs
from nmt_cli.translation.result import Translation
from nmt_cli.translation.translator import LineTranslator

ROUNDS = 5
RESAMPLES = 2_000
PARAGRAPHS = 500  # of each kind
PARAGRAPH_SENTENCES = (3, 6)  # at least, at most
BAD_CHRF = 20.0  # chrF2 of nonsense, 0-100


def draw_unseen(pairs: Sequence[Pair], trained: Sequence[Pair], count: int, seed: int) -> list[Pair]:
    """Returns `count` pairs of which training knows neither side, each source once; all if there are fewer."""
    known = {(side, make_sentence_key(text)) for pair in trained for side, text in enumerate(pair)}
    keys = {pair: {(side, make_sentence_key(text)) for side, text in enumerate(pair)} for pair in pairs}
    unseen = {pair[0]: pair for pair in pairs if not keys[pair] & known}
    return random.Random(seed).sample(sorted(unseen.values()), min(count, len(unseen)))


def count_alarms(translator: LineTranslator, pairs: Sequence[Pair]) -> Counter[str]:
    """Returns how many of the pairs fail each check, and any of them, as if the model had written their targets."""
    lines = tuple(f"{source}\t{target}" for source, target in pairs)
    checked = translator.check_translations(score_pairs(translator, Block(0, lines)), repaired=True)
    alarms = Counter(check.kind for translation in checked for check in translation.checks)
    return Counter({**alarms, "any": sum(bool(translation.checks) for translation in checked)})


def measure_alarms(translator: LineTranslator, pairs: Sequence[Pair]) -> None:
    for kind, count in count_alarms(translator, pairs).most_common():
        print(f"  {kind:14} {count:5,} of {len(pairs):,} references  {100 * count / len(pairs):.2f} %")


def measure_time(translator: LineTranslator, sources: list[str]) -> None:
    """Prints the processor time of translation without checks, and of the checks alone, round by round."""
    shares = []
    for _ in range(ROUNDS):
        started = time.process_time()
        translations = translator.translate(
            sources, TranslateOptions(SearchOptions(scored=False), repair=RepairOptions())
        )
        translated = time.process_time()
        translator.check_translations(translations, repaired=True)
        translating, checking = translated - started, time.process_time() - translated
        shares.append(checking / translating)
        print(f"  {translating:6.2f} s translating, {checking:5.3f} s checking: {100 * shares[-1]:.2f} %")
    print(f"median {100 * float(np.median(shares)):.2f} % of the time of {len(sources):,} sentences at beam 5")


def measure_words(translator: LineTranslator, pairs: Sequence[Pair]) -> None:
    """Prints the translations with a fault in their words, as found and repaired, and the chrF of both."""
    sources, targets = [source for source, _ in pairs], [(target,) for _, target in pairs]
    before = translator.translate(sources, TranslateOptions(SearchOptions(), checks=CheckOptions()))
    after = translator.translate(
        sources, TranslateOptions(SearchOptions(), repair=RepairOptions(), checks=CheckOptions())
    )
    chrf = [compute_chrf([text.text for text in texts], targets).sentence_values for texts in (before, after)]
    for kind in sorted(WORD_FAULTS):
        rows = [row for row, text in enumerate(before) if kind in {check.kind for check in text.checks}]
        changed = [row for row in rows if before[row].text != after[row].text]
        for row in rows:
            told = next(check.message for check in before[row].checks if check.kind == kind)
            print("\t".join((kind, told, sources[row], before[row].text, after[row].text if row in changed else "")))
        means = " and ".join(f"{np.mean([values[row] for row in changed]):.1f}" if changed else "-" for values in chrf)
        print(f"{kind}: {len(rows):,} of {len(pairs):,}, {len(changed):,} of them changed; chrF2 of these {means}")


def rate_pairs(translator: LineTranslator, pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the features (N, F) of the translations of the sources, and their chrF (N,)."""
    sources = [source for source, _ in pairs]
    translations = translator.translate(
        sources, TranslateOptions(SEARCH, repair=RepairOptions(), checks=CheckOptions())
    )
    scores = compute_chrf([translation.text for translation in translations], [(target,) for _, target in pairs])
    features = [extract_features(translation, translator.check_context) for translation in translations]
    return np.array(features), np.array(scores.sentence_values)


def measure_confidence(translator: LineTranslator, development: Sequence[Pair], pairs: Sequence[Pair]) -> None:
    """Prints the quality of the confidence on `pairs`, by a model fitted to `development`."""
    model = ConfidenceModel.from_mapping(describe_fit(*rate_pairs(translator, development)))
    features, values = rate_pairs(translator, pairs)
    sure, plain, good = model.rate(features), features[:, 0], values >= GOOD_CHRF
    measured = measure_reliability(sure.tolist(), plain.tolist(), values.tolist(), GOOD_CHRF)
    print(
        f"{len(pairs):,} sentences, {measured.good:.1%} of chrF2 {GOOD_CHRF:g} or more; fitted to {len(development):,}"
    )
    print(f"ECE {measured.calibration_error:.4f}   AUC {measured.auc:.4f}   mean log-prob. {measured.plain_auc:.4f}")
    generator = np.random.default_rng(1)
    samples = (generator.integers(0, len(good), len(good)) for _ in range(RESAMPLES))
    gains = np.array([compute_auc(sure[rows], good[rows]) - compute_auc(plain[rows], good[rows]) for rows in samples])
    low, high = np.quantile(gains, (0.025, 0.975))
    gained = measured.auc - measured.plain_auc
    print(f"AUC gained {gained:.4f}, 95 % {low:.4f} to {high:.4f}, p {np.mean(gains <= 0):.4f}")
    for share, value in measured.coverage:
        print(f"  without the least confident {share:4.0%}: mean chrF2 {value:.1f}")


def is_low(translation: Translation) -> bool:
    return any(check.kind == "confidence" for check in translation.checks)


def rate_as_whole(translator: LineTranslator, translations: Sequence[Translation]) -> list[float]:
    """Returns the confidences of translations as if each were one sentence."""
    checked = [
        text._replace(checks=tuple(check for check in text.checks if check.kind != "confidence"))
        for text in translations
    ]
    features = [extract_features(translation, translator.check_context) for translation in checked]
    rated = translator.confidence.rate(np.array(features)).tolist()
    return [1.0 if is_kept(text) else value for text, value in zip(translations, rated, strict=True)]


def measure_paragraphs(translator: LineTranslator, pairs: Sequence[Pair], seed: int) -> None:
    """Prints how often paragraphs of good sentences, and those with a bad one, are of low confidence.

    Sentences are those whose translation alone is surely good, or nonsense; the bad one stands anywhere.
    """
    draws = random.Random(seed)
    alone = translator.translate(
        [source for source, _ in pairs], TranslateOptions(SEARCH, repair=RepairOptions(), checks=CheckOptions())
    )
    chrf = compute_chrf([text.text for text in alone], [(target,) for _, target in pairs]).sentence_values
    rated = [(text, value) for text, value in zip(alone, chrf, strict=True) if text.least_sure is None]
    threshold = translator.confidence.threshold
    before = rate_as_whole(translator, alone)
    changed = [text for value, text in zip(before, alone, strict=True) if value != text.confidence]
    several = sum(text.least_sure is not None for text in changed)
    low = sum(value < threshold for value in before)
    sizes = f"{len(alone):,} texts, {len(rated):,} of one sentence"
    print(f"{sizes}; {len(changed):,} rated otherwise, {several:,} of several")
    print(f"{sum(map(is_low, alone)):,} of low confidence, {low:,} as a whole")
    ends = (".", "!", "?")
    good, bad = (
        [text for text, value in rated if text.source.endswith(ends) and chosen(value)]
        for chosen in (lambda value: value >= SURELY_GOOD_CHRF, lambda value: value < BAD_CHRF)
    )
    for name, sentences in (("good", good), ("bad", bad)):
        print(f"alone: {sum(map(is_low, sentences)):,} of {len(sentences):,} {name} sentences are of low confidence")
    for others in (0, 1):
        places, drawn = [], []
        for _ in range(PARAGRAPHS):
            sentences = draws.sample(good, draws.randint(*PARAGRAPH_SENTENCES) - others)
            places.append(draws.randint(0, len(sentences)))
            sentences[places[-1] : places[-1]] = draws.sample(bad, others)
            drawn.append(sentences)
        lines = [" ".join(text.source for text in sentences) for sentences in drawn]
        translated = translator.translate(
            lines, TranslateOptions(SEARCH, repair=RepairOptions(), checks=CheckOptions())
        )
        before = sum(value < threshold for value in rate_as_whole(translator, translated))
        named = sum(
            is_low(text) and text.least_sure is not None and text.least_sure.source == sentences[place].source
            for text, sentences, place in zip(translated, drawn, places, strict=True)
            if others
        )
        least = sum(any(map(is_low, sentences)) for sentences in drawn)
        told = sum(map(is_low, translated))
        print(
            f"{PARAGRAPHS} paragraphs with {others} bad: {told} told, {named} name the bad one; {before} as a whole; "
            f"{least} have a sentence that is told alone"
        )


def main() -> None:
    parser = make_parser(__doc__, "data", "model", "sentences", "seed")
    parser.add_argument("what", choices=("alarms", "time", "words", "confidence", "paragraphs"))
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--check-with", type=Path, help="a model of the other direction")
    parser.set_defaults(sentences=5_000)
    options = parser.parse_args()
    corpus = PreparedCorpus.load(options.data)
    trained, development = (
        [(pair.source, pair.target) for pair in corpus.read_pairs(split)] for split in ("train", "dev")
    )
    pairs = draw_unseen(read_pairs(options.pairs), trained, options.sentences, options.seed)
    reverse = options.check_with and find_model(options.check_with)
    translator = open_translator(TranslationRequest(find_model(options.model), check_with=reverse))
    if translator.profile is None:
        translator.profile = CorpusProfile.parse(corpus.profile.encode())
    if options.what == "alarms":
        measure_alarms(translator, pairs)
    elif options.what == "paragraphs":
        measure_paragraphs(translator, pairs, options.seed)
    elif options.what == "time":
        measure_time(translator, [source for source, _ in pairs])
    elif options.what == "words":
        measure_words(translator, pairs)
    else:
        held = {make_sentence_key(source) for source, _ in development}
        measure_confidence(translator, development, [pair for pair in pairs if make_sentence_key(pair[0]) not in held])


if __name__ == "__main__":
    main()
