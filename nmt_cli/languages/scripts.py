"""Recognises languages by script: those written without blanks between words, and Korean."""

from __future__ import annotations

from collections.abc import Iterable

SCRIPTS = {
    "ko": ("\uac00", "\ud7a3"),
    "th": ("\u0e00", "\u0e7f"),
    "lo": ("\u0e80", "\u0eff"),
    "km": ("\u1780", "\u17ff"),
    "my": ("\u1000", "\u109f"),
    "bo": ("\u0f00", "\u0fff"),
}
KANA, HAN = ("\u3040", "\u30ff"), ("\u4e00", "\u9fff")


def guess_language(texts: Iterable[str]) -> str:
    """Returns the language code of the script of more than half of the letters; empty if no script has a majority."""
    letters = [letter for text in texts for letter in text if letter.isalpha()]

    def count(script: tuple[str, str]) -> int:
        return sum(script[0] <= letter <= script[1] for letter in letters)

    counts = {language: count(script) for language, script in SCRIPTS.items()}
    kana, han = count(KANA), count(HAN)
    counts["ja" if 20 * kana > kana + han else "zh"] = kana + han
    language = max(counts, key=lambda name: counts[name])
    return language if 2 * counts[language] > len(letters) else ""
