"""Translation edit rate (Snover et al. 2006), computed by sacreBLEU. Must not know where the sentences come from.

sacreBLEU tries a thousand shifts, each over the whole line, and holds a table of its words by those of the reference:
6,000 words take minutes, 50,000 more memory than a machine has. Longer lines are compared without shifts, and the
signature says so.
"""

from __future__ import annotations

from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.characters import LONGEST_COMPARED, bound_edit_distance
from nmt_cli.evaluation.metrics.sacrebleu_adapter import score_with_sacrebleu
from nmt_cli.evaluation.metrics.score import Hypotheses, References, Score

LONGEST_SHIFTED = 300  # words of a hypothesis or a reference: up to six seconds in the worst case, else one


def compute_ter(hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT, /) -> Score:
    """Computes the edits (insert, delete, substitute, shift a block) per reference word, times 100; lower is better."""
    from sacrebleu.metrics.ter import TER  # a tenth of a second that `nmt --help` must not pay

    class BoundedTER(TER):
        """TER whose long lines have no shifts; `long` counts them, and `longest` is the length of the longest."""

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
