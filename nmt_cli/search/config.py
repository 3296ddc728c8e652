"""Settings of search and sampling.

Uses only the standard library, because the command line builds options from these settings.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from nmt_cli.settings import Settings, setting
from nmt_cli.text.tags import Tag


class SamplingOptions(Settings, panel="Sampling"):
    """How translations are sampled."""

    sample: bool = setting(False, "Sample translations at random instead of searching for the best.", harmless=True)
    temperature: float = setting(1.0, "Divides the logits: below 1 is safer, above 1 more varied.", low=0.01, high=100)
    top_k: int = setting(0, "Sample from this many of the most likely tokens; 0: from all.", low=0)
    top_p: float = setting(
        1.0,
        "Sample from the smallest set of tokens with this total probability (Holtzman et al. 2020); 1: from all.",
        low=0.0001,
        high=1,
    )
    seed: int = setting(
        1, "Random seed; the random numbers of a line depend only on the seed and the line number.", low=0
    )


class SearchOptions(Settings, panel="Decoding"):
    """Settings of the search for hypotheses, and how many are returned."""

    beam_size: int = setting(5, "Hypotheses kept at each step; 1 is greedy search.", low=1, high=1000)
    length_penalty: float = setting(
        1.0,
        "Exponent alpha of the length penalty length^alpha: 1 ranks by the mean per token, 0 favours short output.",
        low=0,
        high=10,
    )
    length_normalisation: Literal["wu", "average"] = setting(
        "average", "average: length^alpha; wu: ((5 + length) / 6)^alpha (Wu et al. 2016)."
    )
    coverage_penalty: float = setting(
        0.0,
        "Weight beta of the coverage penalty (Wu et al. 2016): hypotheses that skip source words rank lower.",
        low=0,
        high=10,
    )
    rerank_weight: float = setting(
        0.04,
        "Weight of --rerank: the log-probability of the source, times this weight, is added to the score.",
        low=0,
        high=10,
    )
    neighbours: int = setting(
        8,
        "With --tm: number of similar entries that guide the network (kNN-MT, Khandelwal et al. 2021); 0 for none.",
        low=0,
        high=100,
    )
    no_repeat_ngram: int = setting(
        0, "Forbid target n-grams of this size from occurring twice in a translation; 0 allows all.", low=0
    )
    max_length: int = setting(
        200, "Maximum number of target tokens; short sources allow fewer, as in the training data.", low=1
    )
    max_source_length: int | None = setting(
        None,
        "Maximum number of source tokens; longer input is truncated, with a warning.  [default: as in training]",
        low=1,
    )
    # Maximum number of target tokens per source token, besides `source.LENGTH_MARGIN`; None: no such limit.
    length_factor: float | None = 3.0
    n_best: int = 1  # hypotheses returned for each sentence, at most the beam size
    prefix: str = ""  # text with which every translation begins
    tags: tuple[Tag, ...] = ()  # in front of every source
    scored: bool = True  # whether scores are needed; without them greedy search is faster, and its scores are NaN
    limit_placeholders: bool = False  # whether each placeholder may be written only as often as the source has it
    sampling: SamplingOptions = dataclasses.field(default_factory=SamplingOptions)

    @property
    def rows(self) -> int:
        """The number of open hypotheses of one sentence: the beam size, or the number of samples."""
        return self.n_best if self.sampling.sample else self.beam_size

    @property
    def summary(self) -> str:
        """The beam size, the length penalty and all settings that differ from their defaults, for reports."""
        form = "length" if self.length_normalisation == "average" else "((5 + length) / 6)"
        parts = [f"beam {self.beam_size}", f"length penalty {form}^{self.length_penalty:g}"]
        if self.coverage_penalty:
            parts.append(f"coverage penalty {self.coverage_penalty:g}")
        if self.no_repeat_ngram:
            parts.append(f"no {self.no_repeat_ngram}-gram twice")
        return ", ".join(parts)
