"""How fast `nmt translate --serve` is on loopback, what it costs, and whether it loses requests or memory.

    python benchmarks/serve.py speed --model MODEL --data PREPARED
    python benchmarks/serve.py restarts --model MODEL --data PREPARED
    python benchmarks/serve.py memory --model MODEL --data PREPARED

`speed` sends the test sentences, `--lines` in each request, from 1, 8, 64 and 256 clients: requests per second, their
latency, and the server's processor seconds per sentence, beside those of `nmt translate` on the same text.
`restarts` ends a busy server 20 times with each signal, and counts the requests that were not answered: only SIGKILL
may lose any. `memory` has 256 clients ask for ten minutes, and prints the resident memory and the latencies as they go:
the memory must stay flat from the second minute, and the 99th percentile within three times the median. Otherwise, the
program ends with 1.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from bench import NMT, make_parser, measure_command

from nmt_cli.runtime.model_directory import read_card

TICKS = os.sysconf("SC_CLK_TCK")
RESTARTS, CLIENTS = 20, 16
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
LONGEST_WAIT, LARGEST_GROWTH = 3.0, 1.1  # 99th percentile over the median; memory at the end over that of minute 2


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
        except (OSError, HTTPException) as error:
            counts[f"lost: {error or type(error).__name__}"] += 1
        connection.close()
    return counts


def restart_often(load: Load, number: signal.Signals) -> bool:
    """Returns whether no request was lost to a signal."""
    is_over, server = threading.Event(), Server(load.serve())
    (request,) = load.make_requests(5, 1)
    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(keep_busy, server.port, request, is_over) for _ in range(CLIENTS)]
        codes: Counter[int] = Counter()
        try:
            for _ in range(RESTARTS):
                time.sleep(1)
                codes[server.close(number)] += 1
                server = Server(load.serve(server.port))
        finally:
            is_over.set()
    server.close()
    counts = sum((client.result() for client in clients), Counter[str]())
    print(f"{number.name:8} {dict(counts)}   exit codes {dict(codes)}", flush=True)
    return set(counts) <= {"answered"} or number == signal.SIGKILL


def watch_memory(load: Load, clients: int, minutes: int) -> bool:
    """Returns whether memory and latencies stay within their bounds."""
    requests = itertools.cycle(load.make_requests(1, 1_000))
    memory: list[float] = []
    are_prompt = True
    with closing(Server(load.serve())) as server:
        send_all(server.port, load.make_requests(1, clients), clients)  # warms it up
        for minute in range(1, minutes + 1):
            end = time.monotonic() + 60
            latencies = send_all(
                server.port, itertools.takewhile(lambda _, end=end: time.monotonic() < end, requests), clients
            )
            middle, late = statistics.median(latencies), latencies[int(0.99 * len(latencies))]
            memory.append(server.resident_megabytes)
            are_prompt &= late <= LONGEST_WAIT * middle
            print(
                f"minute {minute:2}: {len(latencies):7,} requests   {memory[-1]:.0f} MB   "
                f"median {1000 * middle:.0f} ms   99 % {1000 * late:.0f} ms",
                flush=True,
            )
    return are_prompt and memory[-1] <= LARGEST_GROWTH * memory[min(1, len(memory) - 1)]


def main() -> None:
    parser = make_parser(__doc__, "model", "data", "rounds")
    parser.add_argument("what", choices=("speed", "restarts", "memory"))
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64, 256])
    parser.add_argument("--lines", type=int, default=20, help="per request")
    parser.add_argument("--requests", type=int, default=512)
    parser.add_argument("--minutes", type=int, default=10, help="of memory")
    options = parser.parse_args()
    load = Load(options)
    if options.what == "speed":
        measure_speed(options, load)
    elif options.what == "restarts":
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # that nohup ignores, and every process that it starts
        are_answered = [restart_often(load, number) for number in SIGNALS]
        sys.exit(not all(are_answered))
    else:
        sys.exit(not watch_memory(load, options.clients[-1], options.minutes))


if __name__ == "__main__":
    main()
