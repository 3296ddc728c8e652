"""The signals that ask a command to end: Ctrl-C, SIGTERM, and SIGHUP of a closed terminal.

A process that ignores SIGHUP from its start, as under `nohup`, continues to ignore it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

HANG_UP: signal.Signals | None = getattr(signal, "SIGHUP", None)  # Windows has none


def list_ending_signals() -> tuple[signal.Signals, ...]:
    """Returns the signals besides Ctrl-C that ask a process to end, except those it ignores."""
    is_heard = HANG_UP is not None and signal.getsignal(HANG_UP) != signal.SIG_IGN
    return (signal.SIGTERM, HANG_UP) if HANG_UP is not None and is_heard else (signal.SIGTERM,)


def list_terminals() -> list[int]:
    """Returns which of standard output and error are terminals, by their descriptors."""
    return [file_descriptor for file_descriptor in (1, 2) if os.isatty(file_descriptor)]


def leave_terminals(file_descriptors: list[int]) -> None:
    """Discards further output to closed terminals, since writing to one is an error."""
    null = os.open(os.devnull, os.O_WRONLY)
    for file_descriptor in file_descriptors:
        os.dup2(null, file_descriptor)
    os.close(null)


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Delays Ctrl-C to the end of the block; a process started there inherits this, and is not stopped while it starts.

    A mask alone would not do: the system gives the signal to any thread without one, such as those of NumPy, and Python
    then raises KeyboardInterrupt here. multiprocessing unblocks it when it starts its resource tracker, which must
    therefore run before.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker  # which `nmt --help` need not import

    resource_tracker.ensure_running()
    with delay_interrupts():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Has Ctrl-C heard at the end of the block, if this is the main thread; others never hear it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler or signal.SIG_DFL)  # None: a handler in C
        for number in pressed[:1]:
            signal.raise_signal(number)
