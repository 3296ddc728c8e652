"""ROUGE (Lin 2004), counted by Google's rouge-score. Must not know where the sentences come from."""

from __future__ import annotations

import unicodedata
from functools import cache, partial
from importlib.metadata import version
from itertools import groupby

from nmt_cli.evaluation.scores import Hypotheses, Metric, References, Score, check_pairing

# Scripts written without spaces: each character is a word of its own, as character ROUGE counts them.
UNSPACED = (
    *("CJK ", "IDEOGRAPHIC ", "HIRAGANA ", "KATAKANA ", "KATAKANA-HIRAGANA ", "HALFWIDTH KATAKANA "),
    *("THAI ", "LAO ", "KHMER ", "MYANMAR ", "TIBETAN "),
)


class UnicodeTokenizer:
    """Words of any script, in lower case: runs of letters, marks and digits; a character each where no spaces are used.

    rouge-score's own tokenizer keeps only a-z and 0-9: "Привет" has no word in it. On ASCII text both agree.
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
    """Letters, marks and digits. `\\w` would not do: it breaks Indic words at their vowel signs."""
    return unicodedata.category(character)[0] in "LMN"


@cache
def is_unspaced(character: str) -> bool:
    """Whether the character's script puts no space between words."""
    return unicodedata.name(character, "").startswith(UNSPACED)


def split_unspaced(word: str) -> list[str]:
    """The word, cut around each character of an unspaced script; a mark stays with the character before it."""
    pieces: list[str] = []
    for character in word:
        joins = pieces and (
            unicodedata.category(character)[0] == "M" or not (is_unspaced(character) or is_unspaced(pieces[-1][0]))
        )
        if joins:
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def rouge(hypotheses: Hypotheses, references: References, *, kind: str) -> Score:
    """Mean over the sentences of ROUGE's F1; of several references the best one counts for each sentence.

    `kind` is rouge-score's name: rouge1, rouge2 (n-grams), rougeL (longest common subsequence).
    Raises DataError for sequences that do not belong together.
    """
    from rouge_score.rouge_scorer import RougeScorer  # imports nltk: half a second

    check_pairing(hypotheses, references)
    tokenizer = UnicodeTokenizer()
    scorer = RougeScorer([kind], tokenizer=tokenizer)
    values = tuple(
        100 * float(scorer.score_multi(own, hypothesis)[kind].fmeasure)
        for hypothesis, own in zip(hypotheses, references, strict=True)
    )
    signature = (
        f"nrefs:{len(references[0])}|case:lc|tok:{tokenizer.name}|stem:no|measure:F1|mean:sentences"
        f"|rouge-score:{version('rouge-score')}"
    )
    return Score(f"ROUGE-{kind.removeprefix('rouge')}", sum(values) / len(values), signature, values)


def rouge_of_kind(kind: str) -> Metric:
    """ROUGE of that kind as a metric of the table."""
    return partial(rouge, kind=kind)
