"""A server ends within ten seconds of a signal, whatever it translates."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from nmt_cli.server.run import FORCED_STOP, LONGEST_STOP

TESTS = Path(__file__).parents[2]
STOPPING = {"error": "the server is stopping"}
SERVER = """
from nmt_cli.server import run
from support.served import make_pool

def say(line):
    print(line, flush=True)

def translate_forever(line):
    say("begun")
    while True:
        pass

pool, _ = make_pool(rule=translate_forever)
run.ModelPool = lambda *_: pool
run.LONGEST_STOP, run.FORCED_STOP = {seconds}
run.serve(run.ServeRequest("0", (), None), lambda address, service: say(address), report=say)
"""


def start_server(seconds: str) -> subprocess.Popen[str]:
    """A server with these values of LONGEST_STOP and FORCED_STOP, whose translations never end."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
    command = [sys.executable, "-c", SERVER.format(seconds=seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.parametrize("numbers", [[signal.SIGTERM], [signal.SIGINT], [signal.SIGINT] * 2])
def test_a_signal_ends_a_server_whose_translation_never_ends(numbers: list[signal.Signals]) -> None:
    answers: list[httpx.Response] = []

    def ask(address: str) -> None:
        values = {"q": "Hello.", "source": "en", "target": "de"}
        answers.append(httpx.post(f"{address}/translate", json=values, timeout=60))

    with start_server("1, 60") as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        client = threading.Thread(target=ask, args=(address,))
        client.start()
        assert process.stdout.readline() == "begun\n"
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.5)
        reported = process.stdout.read()
        assert process.wait(timeout=30) == 0
        client.join()
    (answer,) = answers
    assert (answer.status_code, answer.json(), int(answer.headers["Retry-After"]) > 0) == (503, STOPPING, True)
    assert "Error" not in reported and "Traceback" not in reported
    assert LONGEST_STOP < FORCED_STOP < 10


def test_a_server_that_waits_for_an_answer_for_too_long_ends_by_force() -> None:
    with start_server("60, 1") as process, ThreadPoolExecutor(1) as clients:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        values = {"q": "Hello.", "source": "en", "target": "de"}
        answer = clients.submit(httpx.post, f"{address}/translate", json=values, timeout=60)
        try:
            assert process.stdout.readline() == "begun\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=30) == 0
            assert isinstance(answer.exception(), httpx.RemoteProtocolError)
        finally:
            process.kill()
