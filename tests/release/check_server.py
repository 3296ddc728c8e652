"""Whether `nmt translate --serve` loses requests when it is ended, or grows under many clients.

    python tests/release/check_server.py restarts|memory --model MODEL [--minutes 10]

`restarts` ends a busy server 20 times with each signal, and counts the requests that were not answered: only SIGKILL
may lose any. `memory` has 256 clients ask for ten minutes, and prints the resident memory and the latencies as they go:
the memory must stay flat from the second minute, and the 99th percentile within three times the median. Otherwise, the
program ends with 1.
"""

import itertools
import signal
import statistics
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from bench import make_parser
from serve import Load, Server, send, send_all

PAIRS = Path(__file__).parents[2] / "data" / "eng-deu.tsv"
RESTARTS, CLIENTS, MANY_CLIENTS = 20, 16, 256
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
LONGEST_WAIT, LARGEST_GROWTH = 3.0, 1.1  # 99th percentile over the median; memory at the end over that of minute 2


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


def watch_memory(load: Load, minutes: int) -> bool:
    """Returns whether memory and latencies stay within their bounds."""
    requests = itertools.cycle(load.make_requests(1, 1_000))
    memory: list[float] = []
    are_prompt = True
    with closing(Server(load.serve())) as server:
        send_all(server.port, load.make_requests(1, MANY_CLIENTS), MANY_CLIENTS)  # warms it up
        for minute in range(1, minutes + 1):
            end = time.monotonic() + 60
            latencies = send_all(
                server.port, itertools.takewhile(lambda _, end=end: time.monotonic() < end, requests), MANY_CLIENTS
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
    parser = make_parser(__doc__, "model")
    parser.add_argument("what", choices=("restarts", "memory"))
    parser.add_argument("--minutes", type=int, default=10, help="of memory")
    options = parser.parse_args()
    load = Load(options.model, PAIRS)
    if options.what == "memory":
        sys.exit(not watch_memory(load, options.minutes))
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # that nohup ignores, and every process that it starts
    are_answered = [restart_often(load, number) for number in SIGNALS]
    sys.exit(not all(are_answered))


if __name__ == "__main__":
    main()
