"""How fast `nmt translate --serve` is on loopback, what it costs, and whether it loses requests or memory.

    python benchmarks/serve.py speed --model MODEL --data PREPARED
    python benchmarks/serve.py restarts --model MODEL --data PREPARED
    python benchmarks/serve.py memory --model MODEL --data PREPARED

`speed` sends the test sentences, `--lines` in each request, from 1, 8, 64 and 256 clients: requests per second, their
latency, and the server's processor seconds per sentence, beside those of `nmt translate` on the same text.
`restarts` ends a busy server with SIGTERM again and again, and counts the requests that were not answered. `memory`
sends 100,000 requests, and prints the resident memory as it goes.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import statistics
import subprocess
import threading
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from bench import NMT, make_parser, measure_command

from nmt_cli.runtime.model_directory import read_card

TICKS = os.sysconf("SC_CLK_TCK")
RESTARTS, CLIENTS = 20, 16
REQUESTS = 100_000  # of `memory`


class Server:
    """A server process whose first message has its port."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline() if self.process.stderr else ""
        match = re.search(r"on http://127\.0\.0\.1:(\d+)", line)
        if match is None:
            raise RuntimeError(f"the server did not start: {line}")
        self.port = int(match[1])

    @property
    def cpu_seconds(self) -> float:
        """Processor seconds of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def resident_megabytes(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def close(self) -> int:
        """Ends the process with SIGTERM; returns its exit code."""
        self.process.terminate()
        code = self.process.wait(60)
        if self.process.stderr:
            self.process.stderr.close()
        return code


class Load:
    """The sentences of the test split, in requests of the model's languages."""

    def __init__(self, options: Namespace) -> None:
        lines = (options.data / "test.tsv").read_text(encoding="utf-8").splitlines()
        self.sentences = itertools.cycle(line.split("\t")[0] for line in lines)
        self.command = [*NMT, "translate", "--model", str(options.model)]
        card = read_card(options.model)
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


def send_all(port: int, requests: Sequence[str], clients: int) -> list[float]:
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


def keep_busy(port: int, request: str, is_over: threading.Event) -> Counter[str]:
    """Sends requests, each on a connection of its own; a connection that is refused was never a request."""
    counts: Counter[str] = Counter()
    while not is_over.is_set():
        connection = HTTPConnection("127.0.0.1", port)
        try:
            connection.connect()
        except OSError:
            time.sleep(0.05)
            continue
        try:
            send(connection, request)
            counts["answered"] += 1
        except (OSError, HTTPException):
            counts["lost"] += 1
        connection.close()
    return counts


def restart_often(load: Load) -> None:
    is_over, server = threading.Event(), Server(load.serve())
    (request,) = load.make_requests(5, 1)
    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(keep_busy, server.port, request, is_over) for _ in range(CLIENTS)]
        for number in range(1, RESTARTS + 1):
            time.sleep(1)
            print(f"restart {number}: exit code {server.close()}", flush=True)
            server = Server(load.serve(server.port))
        is_over.set()
    server.close()
    print(dict(sum((client.result() for client in clients), Counter())))


def watch_memory(load: Load) -> None:
    requests = load.make_requests(1, REQUESTS // 10)
    with closing(Server(load.serve())) as server:
        for part in range(11):
            print(f"{part * len(requests):7,} requests: {server.resident_megabytes:.0f} MB", flush=True)
            if part < 10:
                send_all(server.port, requests, CLIENTS)


def main() -> None:
    parser = make_parser(__doc__, "model", "data", "rounds")
    parser.add_argument("what", choices=("speed", "restarts", "memory"))
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64, 256])
    parser.add_argument("--lines", type=int, default=20, help="per request")
    parser.add_argument("--requests", type=int, default=512)
    options = parser.parse_args()
    load = Load(options)
    if options.what == "speed":
        measure_speed(options, load)
    elif options.what == "restarts":
        restart_often(load)
    else:
        watch_memory(load)


if __name__ == "__main__":
    main()
