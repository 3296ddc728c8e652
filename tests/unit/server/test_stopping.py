"""A server ends within ten seconds of a signal, whatever it translates."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from nmt_cli.server.run import FORCED_STOP, LONGEST_STOP

TESTS = Path(__file__).parents[2]
SERVER = """
from nmt_cli.server import run
from support.served import make_pool

def translate_forever(line):
    while True:
        pass

pool, _ = make_pool(rule=translate_forever)
run.ModelPool = lambda *_: pool
run.LONGEST_STOP, run.FORCED_STOP = 1, 1.5
run.serve(run.ServeRequest("0", (), None), lambda address, service: print(address, flush=True))
"""


def ask(address: str) -> None:
    try:
        httpx.post(f"{address}/translate", json={"q": "Hello.", "source": "en", "target": "de"}, timeout=60)
    except httpx.HTTPError:
        pass  # it is given up


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_server_whose_translation_never_ends(number: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True, env=environment)
    with process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        client = threading.Thread(target=ask, args=(address,))
        client.start()
        time.sleep(0.5)
        process.send_signal(number)
        assert process.wait(timeout=30) == 0
        client.join()
    assert LONGEST_STOP < FORCED_STOP < 10
