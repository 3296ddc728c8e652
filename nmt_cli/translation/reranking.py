"""Ranks hypotheses with a model of the other direction, which rates how well each of them tells the source.

A hypothesis Y of a source X scores score(Y, X) + weight * log P(X | Y). Source: Li and Jurafsky (2016), "Mutual
Information and Diverse Decoding Improve Neural Machine Translation". Knows no lines and no files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.result import Hypothesis, Translation

if TYPE_CHECKING:
    from nmt_cli.search.sampling import TextId
    from nmt_cli.translation.translator import Translator

CANDIDATES = 12  # hypotheses that are ranked, at least; more cost time and bring nothing


class Judge(NamedTuple):
    """A model of the other direction."""

    translator: Translator

    def widen_search(self, config: SearchConfig) -> SearchConfig:
        """Returns a search for all hypotheses that are ranked."""
        beam_size = max(config.beam_size, CANDIDATES)
        return replace(config, beam_size=beam_size, n_best=beam_size)

    def rank(self, translations: Mapping[TextId, Translation], config: SearchConfig) -> dict[TextId, Translation]:
        """Returns the translations with their `n_best` best hypotheses, by score and by the judge."""
        # 1. Judge the hypotheses that scored best.
        texts = list(translations.values())
        first = self.judge_hypotheses([(text.source, text.hypotheses[: config.n_best]) for text in texts], config)
        # 2. Judge those that may still become better: a judge only lowers scores.
        bounds = [min((hypothesis.score for hypothesis in some), default=0.0) for some in first]
        others = [
            [hypothesis for hypothesis in text.hypotheses[config.n_best :] if hypothesis.score > bound]
            for text, bound in zip(texts, bounds, strict=True)
        ]
        sources = [text.source for text in texts]
        second = self.judge_hypotheses(list(zip(sources, others, strict=True)), config)
        # 3. Keep the best of both.
        return {
            text_id: text._replace(hypotheses=tuple(sorted((*some, *more), key=get_rank)[: config.n_best]))
            for (text_id, text), some, more in zip(translations.items(), first, second, strict=True)
        }

    def judge_hypotheses(
        self, hypotheses: Sequence[tuple[str, Sequence[Hypothesis]]], config: SearchConfig
    ) -> list[list[Hypothesis]]:
        """Returns the hypotheses of each source with their final scores."""
        from nmt_cli.translation.forced import force_lines  # which few translations need

        texts = [hypothesis.text for _, some in hypotheses for hypothesis in some]
        sources = [source for source, some in hypotheses for _ in some]
        judged = iter(force_lines(self.translator, texts, sources))
        return [
            [
                hypothesis._replace(score=hypothesis.score + config.rerank_weight * next(judged).log_probability)
                for hypothesis in some
            ]
            for _, some in hypotheses
        ]


def get_rank(hypothesis: Hypothesis) -> float:
    """Returns a key that puts the hypothesis with the highest score first."""
    return -hypothesis.score
