"""What about a set of sentences makes its scores less than they seem. Says it in words; changes nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.score import Hypotheses, References
from nmt_cli.text.normalise import find_unspaced, normalise

RELIABLE_SENTENCES = (
    100  # sentences; below, the confidence interval of BLEU is wider than most differences worth reporting
)
TOKENISED_END = re.compile(r"\S \.$")
# Of marks, those alone before which no language has a blank: French has one before others.
TOKENISED = re.compile(r"@@ | ##\w|▁|&(?:apos|quot|amp);|\w (?:,|\.$|'s\b|n't\b)")
SUSPICIOUS_SHARE = 0.1  # of the lines from which a habit is no accident


def list_warnings(
    names: Sequence[str], hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT
) -> list[str]:
    """A line for each reason to doubt the scores of the metrics `names`."""
    warnings = []
    if len(hypotheses) < RELIABLE_SENTENCES:
        warnings.append(f"only {len(hypotheses)} sentences: scores of fewer than {RELIABLE_SENTENCES} are not reliable")
    first = [alternatives[0] for alternatives in references]
    warnings += check_references(first, config)
    if not config.lowercase and is_lowercase(hypotheses) and not is_lowercase(first):
        warnings.append("the translations are all in lower case, the references are not: --lowercase compares both so")
    if config.bleu_tokenizer == "13a" and any(name.startswith("bleu") for name in names):
        tokenised = sum(map(bool, map(TOKENISED_END.search, hypotheses)))
        if tokenised > len(hypotheses) * SUSPICIOUS_SHARE:
            warnings.append(
                f"{tokenised:,} hypotheses end in ' .': BLEU is meant for detokenised text, these look tokenised"
            )
        if is_mostly_unspaced(references):
            warnings.append(
                "the references have no spaces between words, which BLEU (tok:13a) counts: trust chrF instead"
            )
    return warnings


def check_references(references: Sequence[str], config: ScoreConfig = DEFAULT) -> list[str]:
    """Whether the references were changed by a program before: scores are then not of what people wrote."""
    warnings = []
    tokenised = sum(map(bool, map(TOKENISED.search, references)))
    if config.bleu_tokenizer == "13a" and tokenised > len(references) * SUSPICIOUS_SHARE:
        warnings.append(
            f"{tokenised:,} of {len(references):,} references look tokenised (blanks before punctuation, or subword "
            "marks): score against the original text"
        )
    if not config.lowercase and is_lowercase(references):
        warnings.append("the references are all in lower case: scores are of cased text, and a cased translation loses")
    return warnings


def is_lowercase(texts: Sequence[str]) -> bool:
    """Whether nearly all of them are, and most in a script that has two cases."""
    cased = [text for text in texts if text.lower() != text.upper()]
    return len(cased) > len(texts) / 2 and sum(text == text.lower() for text in cased) > 0.95 * len(cased)


def is_mostly_unspaced(references: References) -> bool:
    """Whether the references are in a script without spaces, such as Chinese or Thai."""
    letters = "".join(character for alternatives in references for character in alternatives[0] if character.isalpha())
    return len(find_unspaced(letters)) > len(letters) / 2


def find_seen(sources: Sequence[str], training: Collection[str]) -> list[bool]:
    """For each source whether it stands, normalised, among the (normalised) training sources."""
    return [normalise(source) in training for source in sources]


def warn_of_leak(seen: Sequence[bool], where: str) -> list[str]:
    """A line if any source was seen in training."""
    number = sum(seen)
    if not number:
        return []
    return [
        f"{number:,} of {len(seen):,} test sources ({number / len(seen):.1%}) stand in the training data of {where}: "
        "these scores measure memory too (see the profile: seen in training)"
    ]
