"""Signals: they end a command. In a training, the first is a request to stop, and the second ends the process.

Before a training first asks whether to stop, there is nothing to keep: a signal then ends it at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import typer

from nmt_cli.files import leave_terminals, list_ending_signals, list_terminals


class Stop:
    """Remembers which signal asked training to stop, if any."""

    signal: int = 0

    def __init__(self, say: Callable[[str], None] = lambda text: None) -> None:
        self.terminals = list_terminals()
        self.say = say
        self.is_asked = False

    def __call__(self) -> bool:
        self.is_asked = True
        return bool(self.signal)

    def request_stop(self, number: int, frame: FrameType | None) -> None:
        """Handles a signal: the first is a request to stop; a second, or an early one, stops the process at once."""
        if number == signal.SIGHUP:
            leave_terminals(self.terminals)
        is_second, self.signal = bool(self.signal), self.signal or number
        if is_second or not self.is_asked:
            raise KeyboardInterrupt
        with suppress(RuntimeError):  # a line is just being printed: Python refuses another within it
            self.say("stopping after this step ...; Ctrl-C again stops at once")


@contextmanager
def catch_stop_signals(say: Callable[[str], None] = lambda text: None) -> Iterator[Stop]:
    """Turns SIGINT, SIGTERM and SIGHUP within the block into requests to stop, of which `say` is told at once.

    A block stopped before there is anything to keep exits with the signal's own exit code.
    """
    stop = Stop(say)
    numbers = (signal.SIGINT, *list_ending_signals())
    previous = {number: signal.signal(number, stop.request_stop) for number in numbers}
    try:
        yield stop
    except KeyboardInterrupt:
        if stop.signal not in (0, signal.SIGINT):
            raise typer.Exit(128 + stop.signal) from None
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def exit_on_signals() -> None:
    """Lets the ending signals end the process like Ctrl-C, with clean-up, but with their own exit codes."""
    terminals = list_terminals()

    def end(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            leave_terminals(terminals)
        sys.exit(128 + number)

    for number in list_ending_signals():
        signal.signal(number, end)
