"""What makes a pair look a little different in every epoch: other subwords, and tokens that are missing.

All that is random follows from the generator that is handed in. Letters: B sentences, S positions.
"""

from __future__ import annotations

import numpy as np

from nmt_cli.arrays.padding import pad_rows
from nmt_cli.arrays.special_ids import END, PAD, START, UNKNOWN
from nmt_cli.arrays.types import IntArray
from nmt_cli.errors import OptionError
from nmt_cli.text.tokenizer import CUTS, Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerKind

MARKS = (PAD, START, END)


def check_sampling(kind: TokenizerKind, alpha: float | None, *, texts: bool = True) -> None:
    """Raises OptionError if subwords of this kind cannot be drawn, or where there are no texts to draw them of."""
    if alpha is not None and not texts:
        raise OptionError(
            "--subword-sampling cuts the words of sources, and pictures have none", hint="add --sample-target"
        )
    if alpha is not None and kind not in CUTS:
        raise OptionError(
            f"--subword-sampling cannot be combined with subwords of kind {kind}, of which a sentence has one cut only",
            hint="leave it out, or prepare with --tokenizer unigram or bpe",
        )


def with_tokens_dropped(ids: IntArray, share: float, generator: np.random.Generator) -> IntArray:
    """`ids` (B, S) with this share of the tokens replaced by the unknown one; marks and padding stay.

    Source: Bowman et al. (2016), "Generating Sentences from a Continuous Space", section 3.1, for the decoder's input;
    Sennrich and Zhang (2019), "Revisiting Low-Resource Neural Machine Translation", for both sides (0.1). They make the
    embedding zero; that of the unknown token is learned, and is what a rare character gets later.
    """
    dropped = (generator.random(ids.shape) < share) & ~np.isin(ids, MARKS)
    return np.where(dropped, np.asarray(UNKNOWN, ids.dtype), ids)


def with_sampled_subwords(
    ids: IntArray, tokenizer: Tokenizer, alpha: float, generator: np.random.Generator
) -> IntArray:
    """The sentences of `ids` (B, S), which end with END, cut into subwords that are drawn (`Tokenizer.sample_all`).

    Sentences with unknown tokens, which cannot be spelled again, and with placeholders, which would be cut too,
    stay as they are.
    """
    fixed = [UNKNOWN, *tokenizer.placeholder_ids]
    known = np.asarray(~np.isin(ids, fixed).any(axis=1), dtype=bool)
    seed = int(generator.integers(2**31))
    sampled = iter(tokenizer.sample_all(tokenizer.decode_all(ids[known].tolist()), alpha=alpha, seed=seed))
    return pad_rows(
        [[*next(sampled), END] if is_known else row.tolist() for row, is_known in zip(ids, known, strict=True)]
    )


def previous_of(target: IntArray) -> IntArray:
    """(B, T): what stands before each token of `target` (B, T), START before the first."""
    previous = np.roll(np.where(target == END, PAD, target), 1, axis=1)
    previous[:, 0] = START
    return previous
