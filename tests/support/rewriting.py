"""Rewrites of small training texts, and what they make of a text."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from nmt_cli.rewriting.case import Case
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext
from nmt_cli.rewriting.slips import Slips
from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import build_profile


@cache
def learn(pairs: tuple[tuple[str, str], ...]) -> bytes:
    return build_profile(pairs).encode()


def read_profile(pairs: Iterable[tuple[str, str]]) -> CorpusProfile:
    """A fresh profile of these pairs, which are counted once."""
    return CorpusProfile.parse(learn(tuple(pairs)))


def model_text(pairs: list[tuple[str, str]], languages: tuple[str, str] = ("en", "de")) -> ModelText:
    """What a model knows that was trained on these pairs."""
    profile = read_profile(pairs)
    assert profile.source is not None
    return ModelText(profile.source, profile.target, languages, lowercase=False)


def change(rewrite: Rewrite, text: str, **context: bool) -> tuple[AlignedText, Any] | None:
    """What a rewrite makes of a text, with its memo; None for no change."""
    return rewrite.read(AlignedText.from_text(text), TextContext(**context))


def read(rewrite: Rewrite, text: str, **context: bool) -> str:
    """The text after a rewrite."""
    changed = change(rewrite, text, **context)
    return changed[0].text if changed else text


CASED = (
    "Yesterday I saw Peter in Rome with a dog.",
    "In May the old bridge may fall, I think.",
    "She works for the BBC and for NATO.",
    "We said that Peter's brother lives in the house.",
    "You know the way to the river, right?",
    "Do you know that I'm here and that she is there?",
    "The river is near the old house, they say.",
    "Where did they see the bridge? Peter knows.",
    "Please open the old window.",
)
SPELLED = (
    "The children went home with Margaret because the weather was cold and windy.",
    "I hope that your brother succeeds, because he doesn't give up.",
    "Where did they put the beautiful yellow flowers for Margaret?",
    "You know that I want the house by the river.",
)
ABBREVIATED = {"approx.": "about", "z.B.": "zum Beispiel", "v.a.": "vor allem", "cl.": "closed"}
ENGLISH = 'Will the quick brown fox, Anna\'s "lazy" dog: jump over 0123456789 (vixens)? No - yes; Zebra! ' * 3
GERMAN = "Er sagte: „Ja, daß die Ähren – fünf Mal – überm Löß wachsen.“ "
FRENCH = "Il a dit : « Ça m’est égal, n’est-ce pas ? » — Où ? "


def make_caser(sentences: tuple[str, ...] = CASED, language: str = "en") -> Case:
    profile = read_profile((sentence, sentence) for sentence in sentences)
    assert profile.source is not None
    return Case(profile.source, (language, language))


def make_slips(sentences: tuple[str, ...] = SPELLED * 30) -> Slips:
    profile = read_profile((sentence, sentence) for sentence in sentences)
    assert profile.source is not None
    return Slips(profile.source)
