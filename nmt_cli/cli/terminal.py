"""The console of `nmt translate`: streams, and on a terminal a prompt: one sentence typed, its translation below."""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import typer

from nmt_cli.cli.render import Screen, show_translation_progress
from nmt_cli.documents.document import TranslationUnit
from nmt_cli.errors import DataError
from nmt_cli.text.escapes import protect_terminal
from nmt_cli.text.sniffing import HEAD

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.translation.result import Translation


class ScreenConsole:
    """Standard input and output, a prompt if both are terminals, and a screen for messages."""

    def __init__(self, screen: Screen, *, can_prompt: bool) -> None:
        self.screen = screen
        self.can_prompt = can_prompt
        self.output = protect_terminal(sys.stdout.buffer)
        self.say, self.say_detail = screen.say, screen.say_detail

    def open_input(self) -> IO[bytes]:
        """Opens a reader of our own, since Python's exit waits for that of `sys.stdin` if a thread waits for a line."""
        raw = getattr(sys.stdin.buffer, "raw", None)
        return sys.stdin.buffer if raw is None else io.BufferedReader(raw, HEAD)

    def ask_for_lines(
        self, card: ModelCard, write: Callable[[Translation], str], errors: str
    ) -> Iterator[list[TranslationUnit]]:
        return prompt_for_lines(card, self.screen, write, errors)

    def show_progress(self, paths: Sequence[Path]) -> AbstractContextManager[Callable[[int], None]]:
        return show_translation_progress(self.screen, paths)


def are_terminals() -> bool:
    """Whether a person types the input and reads the output."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def prompt_for_lines(
    card: ModelCard, screen: Screen, write: Callable[[Translation], str], errors: str
) -> Iterator[list[TranslationUnit]]:
    """Yields lines typed on a terminal one by one, with editing and history if the system provides them.

    `write` formats a translation; `errors` is how invalid UTF-8 is handled ("strict" or "replace").
    """
    with suppress(ImportError):
        import readline  # noqa: F401 (its import gives `input` a history)

    greet(card, screen)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors=errors)  # whatever the locale says
    for number in itertools.count(1):
        try:
            text = read_line(number)
        except EOFError:
            typer.echo()
            return
        yield [TranslationUnit((text,), lambda translations: write(translations[0]))]


def greet(card: ModelCard, screen: Screen) -> None:
    """Says which model listens, how good it is, and what to type."""
    bleu = f" (dev BLEU {card.development_bleu:.1f})" if card.development_bleu is not None else ""
    screen.say(f"{card.source_language} -> {card.target_language}{bleu}. {card.side.line}; Ctrl-D ends.")


def read_line(number: int) -> str:
    """Returns the typed line of this number. Raises EOFError at Ctrl-D, DataError for invalid UTF-8."""
    try:
        return input("› ")
    except UnicodeDecodeError as error:
        raise DataError(
            f"typed line {number:,} is invalid UTF-8: byte 0x{error.object[error.start]:02x}",
            hint="set the terminal to UTF-8, or use --errors replace",
        ) from error
