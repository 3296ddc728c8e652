"""Settings of the search and of the lines that it is given.

Standard library only: the command line reads its options from here.
"""

from __future__ import annotations

from dataclasses import dataclass

from nmt_cli.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class SearchConfig(Settings):
    """How hypotheses are looked for, and how many are returned."""

    beam_size: int = setting(5, "Hypotheses kept at each step; 1 is greedy search.", panel="Decoding", low=1, high=1000)
    length_penalty: float = setting(
        1.0,
        "Exponent alpha of the length penalty ((5 + length) / 6)^alpha (Wu et al. 2016); 0 favours short output.",
        panel="Decoding",
        low=0,
        high=10,
    )
    max_length: int = setting(
        200, "Target tokens at most; fewer for short sources, as the training data have it.", panel="Decoding", low=1
    )
    max_source_length: int | None = setting(
        None,
        "Source tokens read at most; what is behind is cut off, and told.  [default: as in training]",
        panel="Decoding",
        low=1,
    )
    growth: float | None = 3.0  # target tokens for a source token at most, and 10 more; None: any number
    n_best: int = 1  # hypotheses returned for each sentence, at most the beam size


@dataclass(frozen=True, kw_only=True)
class LineConfig(Settings):
    """What of a line the network is given, and in how many pieces."""

    protect: bool = setting(
        True,
        "Carry addresses, amounts, placeholders, markup and emoji over byte for byte.",
        panel="Text",
    )
    glossary: str | None = setting(
        None, "File of terms and the translations they must have: source, tab, target.", panel="Text"
    )
    split_sentences: bool = setting(True, "Translate the sentences of a line one by one.", panel="Text")
    max_words: int = setting(
        50, "Words translated at once; what is longer is cut behind clauses or words.", panel="Text", low=1
    )
