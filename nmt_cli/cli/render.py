"""All that is drawn on the terminal. The only module that imports rich; everything goes to stderr."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console


class Screen:
    """Where a command speaks: lines in order of importance, none but errors when quiet.

    rich is imported with the first line that is drawn, so that a command with nothing to say starts at once.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        return Console(stderr=True, highlight=False, markup=False, emoji=False, quiet=self.quiet)

    @property
    def live(self) -> bool:
        """Whether progress may be drawn and redrawn in place."""
        return not self.quiet and sys.stderr.isatty() and self.console.is_terminal

    def say(self, text: str, *, style: str | None = None) -> None:
        if not self.quiet:
            self.console.print(text, style=style, soft_wrap=True)

    def detail(self, text: str) -> None:
        """A line for those who asked for more."""
        if self.verbose:
            self.say(text, style="dim")

    def warn(self, text: str) -> None:
        self.say(f"  ! {text}", style="yellow")


def error(message: str, hint: str) -> None:
    """The two lines of an error, without rich: an error must not wait for an import, nor fail in one."""
    typer.secho(f"error: {message}", err=True, fg=typer.colors.RED)
    if hint:
        typer.secho(f"hint: {hint}", err=True)
