"""Warns of anything that makes the scores of a set of sentences misleading. Returns messages; changes nothing."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path

from nmt_cli.evaluation.config import DEFAULT, ScoreOptions
from nmt_cli.evaluation.metrics.score import Hypotheses, References, Score
from nmt_cli.text.normalise import find_unspaced, normalise
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.repair.faults import split_units

RELIABLE_SENTENCES = 100  # with fewer, the interval of BLEU is wider than most differences that are worth reporting
TOKENISED_END = re.compile(r"\S \.$")
# Only punctuation before which no language has a blank: French has one before other marks.
TOKENISED = re.compile(r"@@ | ##\w|▁|&(?:apos|quot|amp);|\w (?:,|\.$|'s\b|n't\b)")
# What tools write before their output is made text again, and how to do that.
RAW_OUTPUTS = (
    (
        re.compile(r"\S@@(?:\s|$)|(?:^|\s)##\w|(?:^|\s)▁"),
        "subword marks",
        "join the subwords first (sed 's/@@ //g', spm_decode)",
    ),
    (
        re.compile(r"^\s*\d+ \|\|\| "),
        "the numbers and ||| of n-best lists",
        "keep only the first translation of each source",
    ),
    (
        re.compile(r"&(?:apos|quot|lt|gt|amp|#9[13]|#124);"),
        "entities (&apos;)",
        "detokenise them first (detokenizer.perl)",
    ),
)
ONE_LANGUAGE = 0.2  # overlap of the words of two texts in one language, at least; of 17 pairs of two, at most 0.14
FEWEST_LINES = 50  # unlike lines that show a language
OFFSETS = (1, -1, 2, -2)  # lines by which hypotheses may have slipped
# By which a hypothesis shares more words with another reference than with its own (Dice), 0-1; and the sum over a run
# of lines: hypotheses that share as many with any reference, of a bad system, reach 1.8 by chance in 3,000 lines.
LEAST_GAIN, LEAST_SUM = 0.05, 4.0
LEAST_BREVITY = 0.8  # the brevity penalty, below which translations are so short that a low BLEU needs a reason
SENTENCES_SHOWN = 10
SUSPICIOUS_SHARE = 0.1  # share of lines; what occurs in more of them is not an accident


def list_warnings(
    names: Sequence[str],
    hypotheses: Hypotheses,
    references: References,
    config: ScoreOptions = DEFAULT,
    sources: Sequence[str] = (),
) -> list[str]:
    """Returns a message for each reason to doubt the scores of the metrics `names`; `sources` may be unknown."""
    warnings = []
    if len(hypotheses) < RELIABLE_SENTENCES:
        number = format_count(len(hypotheses), "sentence")
        warnings.append(f"only {number}: scores of fewer than {RELIABLE_SENTENCES} are unreliable")
    first = [alternatives[0] for alternatives in references]
    warnings += [*report_empty(hypotheses, "hypothesis", "hypotheses"), *report_empty(first, "reference", "references")]
    warnings += [*report_copies(hypotheses, first, sources), *check_references(first, config)]
    warnings += report_other_language(hypotheses, first, sources) or report_slip(hypotheses, first)
    if not config.lowercase:
        warnings += compare_case(hypotheses, first)
    raw = find_raw_output(hypotheses, first)
    warnings += raw
    if config.tokenizer == "13a" and any(name.startswith("bleu") for name in names):
        tokenised = sum(map(bool, map(TOKENISED_END.search, hypotheses)))
        if tokenised > len(hypotheses) * SUSPICIOUS_SHARE and not raw:
            number = format_count(tokenised, "hypothesis ends", "hypotheses end")
            warnings.append(f"{number} in ' .', as if tokenised, but BLEU is meant for detokenised text")
        if is_mostly_unspaced(references):
            warnings.append(
                "the references have no spaces between words, which BLEU (tok:13a) needs: rely on chrF instead"
            )
    return warnings


def find_raw_output(hypotheses: Hypotheses, references: Sequence[str]) -> list[str]:
    """Returns a message if hypotheses look like the raw output of a tool, unlike their references."""
    for pattern, marks, advice in RAW_OUTPUTS:
        pairs = zip(hypotheses, references, strict=True)
        count = sum(pattern.search(text) is not None and pattern.search(other) is None for text, other in pairs)
        if count > len(hypotheses) * SUSPICIOUS_SHARE:
            number = format_count(count, "hypothesis has", "hypotheses have")
            return [f"{number} {marks}, but the references have none: {advice}"]
    return []


def report_empty(texts: Sequence[str], noun: str, plural: str) -> list[str]:
    """Returns a message if there are empty texts, with the numbers of the first."""
    rows = [row for row, text in enumerate(texts, start=1) if not text.strip()]
    return [f"{format_count(len(rows), f'{noun} is', f'{plural} are')} empty: {name_sentences(rows)}"] if rows else []


def report_copies(hypotheses: Hypotheses, references: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Returns a message if hypotheses equal their sources but the references do not."""
    if not sources:
        return []
    triples = enumerate(zip(hypotheses, references, sources, strict=True), start=1)
    rows = [row for row, (text, other, source) in triples if text.strip() and text == source != other]
    number = format_count(len(rows), "hypothesis equals its source", "hypotheses equal their sources")
    return [f"{number}, untranslated: {name_sentences(rows)}"] if rows else []


def report_other_language(hypotheses: Hypotheses, references: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Returns a message if the words of hypotheses and references are in different languages."""
    texts, others, read = map(count_units, (hypotheses, references, sources))
    if (
        min(len({*hypotheses}), len({*references})) < FEWEST_LINES
        or not texts
        or not others
        or measure_overlap(texts, others) >= ONE_LANGUAGE
    ):
        return []
    is_source = measure_overlap(others, read) >= ONE_LANGUAGE
    why = "in the language of the sources" if is_source else "in a different language"
    return [f"the references seem to be {why}: they share hardly any words with the hypotheses"]


def count_units(texts: Sequence[str]) -> Counter[str]:
    """Counts the words of texts, or pairs of characters in scripts without spaces; leaves out numbers."""
    return Counter(unit for text in texts for unit in split_units(text.casefold()) if unit.isalpha())


def measure_overlap(counts: Counter[str], others: Counter[str]) -> float:
    """Returns how alike two distributions of words are, 0-1 (Bhattacharyya)."""
    alike = sum(math.sqrt(counts[word] * others[word]) for word in counts.keys() & others.keys())
    return alike / math.sqrt(counts.total() * others.total()) if alike else 0.0


def report_slip(hypotheses: Hypotheses, references: Sequence[str]) -> list[str]:
    """Returns a message if a run of hypotheses fits the references a line or two away better than their own."""
    texts, others = ([frozenset(split_units(text.casefold())) for text in side] for side in (hypotheses, references))
    gain, first, end, offset = max((*find_slip(texts, others, offset), offset) for offset in OFFSETS)
    if gain < LEAST_SUM:
        return []
    away = f"{format_count(abs(offset), 'line')} {'later' if offset > 0 else 'earlier'}"
    run = f"hypotheses {first + 1:,} to {end:,} fit the references {away} better than their own"
    return [f"{run}: a line is missing or was added"]


def find_slip(texts: Sequence[frozenset[str]], others: Sequence[frozenset[str]], offset: int) -> tuple[float, int, int]:
    """Finds the run of texts that best fits `others` at an offset; returns its total gain, first row, and end."""
    best, total, start = (0.0, 0, 0), 0.0, 0
    for row in range(max(0, -offset), len(texts) - max(0, offset)):
        if total <= 0:
            total, start = 0.0, row
        gain = compute_dice(texts[row], others[row + offset]) - compute_dice(texts[row], others[row])
        total += gain - LEAST_GAIN
        best = max(best, (total, start, row + 1))
    return best


def compute_dice(words: frozenset[str], others: frozenset[str]) -> float:
    return 2 * len(words & others) / max(1, len(words) + len(others))


def name_sentences(rows: Sequence[int]) -> str:
    """Names the first sentences of a list by number, not by line: a table may have a header and blank rows."""
    shown = ", ".join(f"{row:,}" for row in rows[:SENTENCES_SHOWN]) + (", ..." if len(rows) > SENTENCES_SHOWN else "")
    return f"{'sentence' if len(rows) == 1 else 'sentences'} {shown}"


def check_references(references: Sequence[str], config: ScoreOptions = DEFAULT) -> list[str]:
    """Returns a message if the references were tokenised, and so are not as anyone wrote them."""
    tokenised = sum(map(bool, map(TOKENISED.search, references)))
    if config.tokenizer != "13a" or tokenised <= len(references) * SUSPICIOUS_SHARE:
        return []
    number = format_count(len(references), "reference")
    return [
        f"of {number}, {format_count(tokenised, 'looks', 'look')} tokenised (spaces before punctuation, or subword "
        "marks): score against the original text"
    ]


def compare_case(hypotheses: Sequence[str], references: Sequence[str]) -> list[str]:
    """Returns a message if either hypotheses or references are all in lower case."""
    match is_lowercase(hypotheses), is_lowercase(references):
        case True, False:
            return [
                "the translations are all in lower case, but the references are not: use --lowercase to ignore case"
            ]
        case False, True:
            return ["the references are all in lower case, but the translations are not: capitals lower the scores"]
    return []


def is_lowercase(texts: Sequence[str]) -> bool:
    """Whether most texts are in a script with two cases, and nearly all of these are in lower case."""
    cased = [text for text in texts if text.lower() != text.upper()]
    return len(cased) > len(texts) / 2 and sum(text == text.lower() for text in cased) > 0.95 * len(cased)


def is_mostly_unspaced(references: References) -> bool:
    """Whether the references are in a script without spaces, such as Chinese or Thai."""
    letters = "".join(character for alternatives in references for character in alternatives[0] if character.isalpha())
    return len(find_unspaced(letters)) > len(letters) / 2


def find_seen(sources: Sequence[str], training: Collection[str]) -> list[bool]:
    """Returns, for each source, whether its normalised form is a normalised training source."""
    return [normalise(source) in training for source in sources]


def find_learned(sources: Sequence[str], model: Path) -> list[bool]:
    """Returns, for each source, whether a model learned from it, in a real or a synthetic pair.

    Only models trained with synthetic pairs record this; all others have learned only from the corpus.
    """
    import numpy as np  # which `nmt --help` does not need

    from nmt_cli.corpus.dataset import hash_sentences
    from nmt_cli.runtime.model_directory import TRAINED_SOURCES

    path = model / TRAINED_SOURCES
    if not path.is_file():
        return [False] * len(sources)
    is_learned: list[bool] = np.isin(hash_sentences(sources), np.load(path, allow_pickle=False)).tolist()
    return is_learned


def warn_of_brevity(scores: Mapping[str, Score]) -> list[str]:
    """Returns a message if the brevity penalty of BLEU takes a fifth of its points or more."""
    penalised = (score.details for score in scores.values() if score.details.get("brevity_penalty", 1) < LEAST_BREVITY)
    return [
        f"the translations have {details['length_ratio']:.0%} as many words as the references, so BLEU keeps only "
        f"{details['brevity_penalty']:.0%} of its points (brevity penalty)"
        for details in islice(penalised, 1)
    ]


def warn_of_leak(seen: Sequence[bool], where: str) -> list[str]:
    """Returns a message if any source was seen in training."""
    number = sum(seen)
    if not number:
        return []
    sources = format_count(len(seen), "test source")
    return [
        f"in the training data of {where}: {number:,} of {sources} ({number / len(seen):.1%}); "
        "these scores also measure memorisation (see the profile: seen in training)"
    ]
