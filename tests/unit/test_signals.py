"""Signals and the processes that are started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nmt_cli.signals import block_interrupts

STARTS_TWO = """
import multiprocessing, time
from nmt_cli.signals import block_interrupts

if __name__ == "__main__":
    processes = [multiprocessing.get_context("spawn").Process(target=time.sleep, args=[60]) for _ in range(2)]
    with block_interrupts():
        for process in processes:
            process.start()
    for process in processes:
        status = open(f"/proc/{process.pid}/status").read()
        print(next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk")))
        process.kill()
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the blocked signals in /proc")
def test_interrupts_are_blocked_from_the_first_moment_of_every_process(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(STARTS_TWO)
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, check=True)
    masks = [int(line, 16) for line in done.stdout.split()]
    assert [mask >> (signal.SIGINT - 1) & 1 for mask in masks] == [1, 1]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="blocks signals")
def test_interrupts_wait_for_the_end_of_the_block_beside_other_threads() -> None:
    waits = threading.Event()
    thread = threading.Thread(target=waits.wait)  # which blocks no signal
    thread.start()
    reached = []
    try:
        with pytest.raises(KeyboardInterrupt), block_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            reached.append("end of the block")
    finally:
        waits.set()
        thread.join()
    assert reached == ["end of the block"]
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler
