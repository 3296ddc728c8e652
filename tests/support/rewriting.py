"""Rewrites of a small training text, and what they make of a text."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext
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
