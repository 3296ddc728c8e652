"""How fast `nmt translate --serve` is on loopback, and what it costs.

    python benchmarks/serve.py --model MODEL --data PREPARED

Sends the test sentences, `--lines` in each request, from 1, 8, 64 and 256 clients: requests per second, their latency,
and the server's processor seconds per sentence, beside those of `nmt translate` on the same text.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import statistics
import subprocess
import threading
import time
from argparse import Namespace
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from bench import NMT, make_parser, measure_command

from nmt_cli.runtime.model_directory import read_card

TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A server process whose first message has its port."""

    def __init__(self, command: Sequence[str]) -> None:
        environment = {**os.environ, "COLUMNS": "1000"}  # the message is one line, whatever the model's path
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        line = self.process.stderr.readline() if self.process.stderr else ""
        match = re.search(r"on http://127\.0\.0\.1:(\d+)", line)
        if match is None:
            raise RuntimeError(f"the server did not start: {line}")
        self.port = int(match[1])
        threading.Thread(target=self.drop_messages, daemon=True).start()

    def drop_messages(self) -> None:
        """Reads what the server reports: it waits when a pipe is full, as it is after 2,000 broken requests."""
        for _ in self.process.stderr or ():
            pass

    @property
    def cpu_seconds(self) -> float:
        """Processor seconds of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def resident_megabytes(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def close(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends the process with a signal; returns its exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)


class Load:
    """The sources of a file of pairs, in requests of the model's languages."""

    def __init__(self, model: Path, pairs: Path) -> None:
        lines = pairs.read_text(encoding="utf-8").splitlines()
        self.sentences = itertools.cycle(line.split("\t")[0] for line in lines)
        self.command = [*NMT, "translate", "--model", str(model)]
        card = read_card(model)
        self.languages = {"source": card.source_language, "target": card.target_language}

    def serve(self, port: int = 0) -> list[str]:
        """Returns the command of our own server."""
        return [*self.command, "--serve", str(port)]

    def take_sentences(self, count: int) -> list[str]:
        return list(itertools.islice(self.sentences, count))

    def make_requests(self, lines: int, count: int) -> list[str]:
        return [json.dumps({"q": self.take_sentences(lines), **self.languages}) for _ in range(count)]


def send(connection: HTTPConnection, request: str) -> float:
    """Sends a request and reads the answer; returns the seconds. Raises HTTPException or OSError if there is none."""
    started = time.perf_counter()
    connection.request("POST", "/translate", request, {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.read()
    if response.status != 200:
        raise HTTPException(f"status {response.status}")
    return time.perf_counter() - started


def send_all(port: int, requests: Iterable[str], clients: int) -> list[float]:
    """Sends the requests from so many clients, each on a connection of its own; returns the sorted latencies."""
    remaining = iter(requests)

    def run_client(number: int) -> list[float]:
        connection = HTTPConnection("127.0.0.1", port)
        return [send(connection, request) for request in remaining]

    with ThreadPoolExecutor(clients) as pool:
        return sorted(itertools.chain.from_iterable(pool.map(run_client, range(clients))))


def measure_speed(options: Namespace, load: Load) -> None:
    text, command = load.take_sentences(options.lines * options.requests), [*load.command, "-q"]
    costs = [measure_command(command, text).subtract(measure_command(command, text[:1])) for _ in range(options.rounds)]
    seconds = statistics.median(cost.processors for cost in costs) / (len(text) - 1)
    print(f"nmt translate: {1000 * seconds:.2f} processor ms per sentence", flush=True)
    with closing(Server(load.serve())) as server:
        send_all(server.port, load.make_requests(options.lines, 4), 2)  # warms it up
        requests = load.make_requests(options.lines, options.requests)
        for clients in options.clients:
            print(
                f"{clients:4} clients: {measure_server(server, requests, clients, options.lines, seconds)}", flush=True
            )


def measure_server(server: Server, requests: Sequence[str], clients: int, lines: int, command: float) -> str:
    """Returns how a server answers; `command` has the processor seconds of `nmt translate` per sentence."""
    spent, started = server.cpu_seconds, time.perf_counter()
    latencies = send_all(server.port, requests, clients)
    seconds, spent = time.perf_counter() - started, server.cpu_seconds - spent
    per_sentence = spent / (lines * len(requests))
    middle, late = statistics.median(latencies), latencies[int(0.99 * len(latencies))]
    return (
        f"{len(requests) / seconds:7.1f} requests/s   median {1000 * middle:6.0f} ms   99 % {1000 * late:6.0f} ms   "
        f"{1000 * per_sentence:.2f} processor ms per sentence ({per_sentence / command:.2f} times)"
    )


def main() -> None:
    parser = make_parser(__doc__, "model", "data", "rounds")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64, 256])
    parser.add_argument("--lines", type=int, default=20, help="per request")
    parser.add_argument("--requests", type=int, default=512)
    options = parser.parse_args()
    measure_speed(options, Load(options.model, options.data / "test.tsv"))


if __name__ == "__main__":
    main()
