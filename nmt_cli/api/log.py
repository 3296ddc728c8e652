"""Sends the warnings of the Python interface to Python's `logging`, under the name `nmt_cli`.

Nothing is printed unless the program configures logging, because a library must not print on its own.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from nmt_cli.api.options.interface import respell
from nmt_cli.text.wrapping import escape_line
from nmt_cli.translation.result import SourceCuts

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

LOGGER = logging.getLogger("nmt_cli")
LOGGER.addHandler(logging.NullHandler())  # else Python prints warnings of a logger that nobody configured


def log_warnings(messages: Iterable[str]) -> None:
    for message in messages:
        LOGGER.warning("%s", escape_line(respell(message, is_hint=True)))


def log_checks(translations: list[Translation], first: int = 0) -> list[Translation]:
    """Logs the checks that translations fail, with the number of each text (from 1), and any truncated texts.

    Returns the translations.
    `first` is the number of texts that precede them.
    """
    for number, translation in enumerate(translations, start=first + 1):
        if translation.checks:
            log_warnings([describe_checks(translation, number)])
    log_warnings(filter(None, [SourceCuts.count_cuts(translations).summary]))
    return translations


def describe_checks(translation: Translation, number: int) -> str:
    """Returns the failed checks of a translation as one line."""
    return f"text {number:,}: {'; '.join(check.message for check in translation.checks)}"
