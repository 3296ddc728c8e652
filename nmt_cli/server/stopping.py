"""Ends a process whose threads do not end: Python waits for them, and nothing interrupts a translation."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from nmt_cli.errors import ExitCode


def end_process_after(seconds: float, clean_up: Callable[[], None]) -> None:
    """Ends this process successfully after `clean_up`, unless it ends by itself within some seconds."""

    def end() -> None:
        try:
            clean_up()
        finally:
            os._exit(ExitCode.OK)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
