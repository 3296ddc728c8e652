"""Lines of several sentences, whose translations are made by hand."""

from __future__ import annotations

import numpy as np

from nmt_cli.inference.config import LineConfig
from nmt_cli.inference.healing import Repair
from nmt_cli.inference.joining import joined
from nmt_cli.inference.lines import LineReader
from nmt_cli.inference.translation import Hypothesis, Translation

LINE = "Go on. Stop it."


def sentence(*scored: tuple[str, float], **known: object) -> Translation:
    """The translation of a sentence of three source pieces, of hypotheses with one word each."""
    found = (
        Hypothesis(text, (7, 3), (f"▁{text}", "</s>"), s, s, (s, 0.0), (np.eye(2, 3),), True) for text, s in scored
    )
    return Translation("", ("▁a", "▁b", "</s>"), tuple(found), frozenset(), **known)  # type: ignore[arg-type]


def line(*sentences: Translation) -> Translation:
    return joined(LINE, LineReader(LineConfig(), carries=False).pieces(LINE), sentences, None)


def test_what_was_done_for_every_sentence_is_known_of_the_line() -> None:
    first, second = Repair("loop", "coverage"), Repair("loop", None)
    assert line(sentence(("A", -1), repairs=(first,)), sentence(("B", -1), repairs=(second,))).repairs == (
        first,
        second,
    )


def test_what_was_read_of_a_sentence_is_no_sum_over_those_of_the_line() -> None:
    one = line(sentence(("A", -1)), sentence(("B", -1), source_cut_from=17, source_read=2))
    assert (one.source_cut_from, one.source_read) == (17, 2)
