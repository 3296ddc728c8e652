"""Rewrites of a small training text, and what they make of a text."""

from __future__ import annotations

from typing import Any

from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext
from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import build_profile


def model_text(pairs: list[tuple[str, str]], languages: tuple[str, str] = ("en", "de")) -> ModelText:
    """What a model knows that was trained on these pairs."""
    profile = CorpusProfile.parse(build_profile(pairs).encode())
    assert profile.source is not None
    return ModelText(profile.source, profile.target, languages, lowercase=False)


def change(rewrite: Rewrite, text: str, **context: bool) -> tuple[AlignedText, Any] | None:
    """What a rewrite makes of a text, with its memo; None for no change."""
    return rewrite.read(AlignedText.from_text(text), TextContext(**context))


def read(rewrite: Rewrite, text: str, **context: bool) -> str:
    """The text after a rewrite."""
    changed = change(rewrite, text, **context)
    return changed[0].text if changed else text
