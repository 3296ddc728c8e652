"""Reads translations back by a model of the other direction: how likely each word of the source is, given them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from nmt_cli.runtime.compatibility import require_reverse
from nmt_cli.runtime.model_directory import ModelDirectory
from nmt_cli.text.symbols import UNKNOWN_PIECE
from nmt_cli.translation.config import ModelRequest
from nmt_cli.translation.forced import force_translations
from nmt_cli.translation.placement.word_alignment import drop_silent, group_by_blanks, spell_word
from nmt_cli.translation.translator import Translator

if TYPE_CHECKING:
    from nmt_cli.translation.result import Hypothesis, Translation


def attach_reverse(translator: Translator, request: ModelRequest) -> None:
    """Makes a translator read its translations back by the model `check_with` of the request.

    Raises NotFoundError and DamagedError, and OptionError for a model that is not of the other direction.
    """
    if request.check_with is not None:
        other = ModelDirectory.open(request.check_with)
        require_reverse(other._replace(directory=request.model, card=translator.card), other)
        reverse = Translator.load(ModelRequest(other.directory, threads=request.threads, is_private=request.is_private))
        translator.read_back = partial(read_back, reverse)


def read_back(reverse: Translator, translations: Sequence[Translation]) -> list[Translation]:
    """Returns the translations with the log-probabilities that the model `reverse` gives to the words of their sources.

    A translation that is empty, or longer than this model reads, stays as it is.
    """
    indices = [index for index, translation in enumerate(translations) if translation.text.strip()]
    pairs = [(translations[index].text, translations[index].source) for index in indices]
    result = list(translations)
    scored = force_translations(reverse, [text for text, _ in pairs], [source for _, source in pairs])
    for index, forced in zip(indices, scored, strict=True):
        if forced.hypotheses and forced.source_cut_from is None:
            result[index] = result[index]._replace(read_back=rate_words(forced.hypotheses[0]))
    return result


def rate_words(hypothesis: Hypothesis) -> dict[str, float]:
    """Returns the log-probability of each word, in lower case; of one that occurs twice, the lower.

    Words that the model cannot spell are left out.
    """
    pieces, values = hypothesis.pieces, hypothesis.token_log_probabilities
    words: dict[str, float] = {}
    for group in drop_silent(pieces, group_by_blanks(pieces)):
        word = spell_word(pieces, group).lower()
        if word and not any(pieces[index] == UNKNOWN_PIECE for index in group):
            words[word] = min(words.get(word, 0.0), sum(values[index] for index in group))
    return words
