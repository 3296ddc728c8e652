"""Translations without a network: made of words that are said to come from certain source words."""

import io
from collections.abc import Callable, Sequence

import numpy as np

from nmt_cli.documents import open_document
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import DocumentSource
from nmt_cli.text.normalise import normalise
from nmt_cli.translation.result import Hypothesis, Translation

Rule = Callable[[str], Translation]


def aligned(source: str, words: Sequence[str], links: Sequence[int]) -> Translation:
    """A translation whose word t looked at source word `links[t]`."""
    source_words = normalise(source).split()
    attention = np.zeros((len(words) + 1, len(source_words) + 1))
    attention[range(len(words)), links] = 1
    attention[-1, -1] = 1
    hypothesis = Hypothesis(
        text=" ".join(words),
        tokens=(*range(4, 4 + len(words)), 3),
        pieces=(*(f"▁{word}" for word in words), "</s>"),
        log_probability=0.0,
        score=0.0,
        token_log_probabilities=(0.0,) * (len(words) + 1),
        attentions=(attention,),
        finished=True,
    )
    pieces = (*(f"▁{word}" for word in source_words), "</s>")
    return Translation(source, pieces, (hypothesis,) if words else (), frozenset())


def same(text: str) -> Translation:
    """The text itself."""
    words = normalise(text).split()
    return aligned(text, words, range(len(words)))


def louder(text: str) -> Translation:
    """The text in capitals."""
    words = normalise(text).upper().split()
    return aligned(text, words, range(len(words)))


def backwards(text: str) -> Translation:
    """The words in capitals, the last one first."""
    words = normalise(text).upper().split()
    return aligned(text, words[::-1], range(len(words))[::-1])


def converted(
    name: str, text: str, rule: Rule = louder, *, split_sentences: bool = True, **options: object
) -> tuple[str, dict[str, int]]:
    """A document of a format with every text in it translated by a rule, and what was noted."""
    source = DocumentSource(io.BytesIO(text.encode()), f"x.{name}", DocumentOptions(**options), "de", split_sentences)
    document = open_document(name, source)
    units = document.read_units()
    written = [unit.write([rule(one) for one in unit.texts]) for unit in units]
    return "".join(part if isinstance(part, str) else part.decode() for part in written), dict(document.notes)
