"""How fast `nmt translate --serve` is on loopback, what it costs, and whether it loses requests or memory.

    python benchmarks/serve.py speed --model MODEL --data PREPARED
    python benchmarks/serve.py restarts --model MODEL --data PREPARED
    python benchmarks/serve.py memory --model MODEL --data PREPARED

`speed` sends the test sentences, `--lines` in each request, from 1, 8, 64 and 256 clients: requests per second, their
latency, and the server's processor seconds per sentence, beside those of `nmt translate` on the same text. With
`--ctranslate2 PYTHON --transformer DIR`, a minimal server around CTranslate2 answers the same requests in turn
(`peers/ctranslate2_server.py`; PYTHON is that of an environment with ctranslate2, sentencepiece, starlette, uvicorn).
`restarts` ends a busy server with SIGTERM again and again, and counts the requests that were not answered. `memory`
sends 100,000 requests, and tells the resident memory as it goes.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import nmt_cli as nmt

NMT = (sys.executable, "-m", "nmt_cli", "translate")
PEER = Path(__file__).parent / "peers" / "ctranslate2_server.py"
TICKS = os.sysconf("SC_CLK_TCK")


class LostError(Exception):
    """A request that was sent and not answered."""


class Server:
    """A server process on a free port."""

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

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        if self.process.stderr:
            self.process.stderr.close()
        return code


def make_command(model: Path, port: int = 0) -> list[str]:
    """Returns the command of our own server."""
    return [*NMT, "--model", str(model), "--serve", str(port)]


@contextmanager
def run_server(command: Sequence[str]) -> Iterator[Server]:
    server = Server(command)
    try:
        yield server
    finally:
        server.end()


def make_request(lines: Sequence[str], *, keep: bool = True) -> bytes:
    body = json.dumps({"q": list(lines), "source": SOURCE, "target": TARGET}).encode()
    connection = "keep-alive" if keep else "close"
    head = (
        f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: {connection}\r\n"
    )
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


SOURCE, TARGET = "en", "de"  # set by `main` from the model's card


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
    """Sends a request, and returns the body of the answer."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise LostError(head.split(b"\r\n")[0].decode())
    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])  # type: ignore[index]
    return await reader.readexactly(length)


async def send_all(port: int, requests: Sequence[bytes], clients: int) -> list[float]:
    """Sends the requests from so many clients, each on a connection of its own; returns the latencies in seconds."""
    remaining = iter(requests)
    latencies: list[float] = []

    async def run_client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in remaining:
            begun = time.perf_counter()
            await exchange(reader, writer, request)
            latencies.append(time.perf_counter() - begun)
        writer.close()

    await asyncio.gather(*(run_client() for _ in range(clients)))
    return latencies


def cut_requests(sentences: Sequence[str], lines: int, number: int) -> list[bytes]:
    endless = itertools.cycle(sentences)
    return [make_request(list(itertools.islice(endless, lines))) for _ in range(number)]


def measure_command(model: Path, sentences: Sequence[str]) -> float:
    """Returns the processor seconds per sentence of `nmt translate`, without those of its start."""

    def run(lines: Sequence[str]) -> float:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "lines.txt")
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [*NMT, "-q", str(path), "--model", str(model), "-o", str(path.with_name("out.txt"))]
            subprocess.run(command, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return (run(sentences) - run(sentences[:1])) / (len(sentences) - 1)


def measure_speed(model: Path, sentences: Sequence[str], options: argparse.Namespace) -> None:
    endless = itertools.cycle(sentences)
    text = list(itertools.islice(endless, options.lines * options.requests))
    command = statistics.median(measure_command(model, text) for _ in range(options.rounds))
    print(f"nmt translate: {1000 * command:.2f} processor ms per sentence", flush=True)
    with ExitStack() as stack:
        servers = {"nmt": stack.enter_context(run_server(make_command(model)))}
        if options.ctranslate2 is not None:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            threads = str(len(os.sched_getaffinity(0)))
            peer = [str(options.ctranslate2), str(PEER), str(options.transformer), f"{folder}/model", threads]
            servers["CTranslate2"] = stack.enter_context(run_server(peer))
        for server in servers.values():
            asyncio.run(send_all(server.port, cut_requests(sentences, options.lines, 4), 2))
        for clients in options.clients:
            requests = cut_requests(sentences, options.lines, options.requests)
            for name, server in servers.items():
                measure_server(name, server, requests, clients, options.lines, command)
    measure_batch(model, sentences[: options.lines])


def measure_server(
    name: str, server: Server, requests: Sequence[bytes], clients: int, lines: int, command: float
) -> None:
    """Tells how a server answers requests of so many lines; `command` has the processor seconds of `nmt translate`."""
    spent, begun = server.cpu_seconds, time.perf_counter()
    latencies = sorted(asyncio.run(send_all(server.port, requests, clients)))
    seconds, spent = time.perf_counter() - begun, server.cpu_seconds - spent
    per_sentence = spent / (lines * len(requests))
    middle, late = statistics.median(latencies), latencies[int(0.99 * len(latencies))]
    print(
        f"{name:11} {clients:4} clients: {len(requests) / seconds:7.1f} requests/s   median {1000 * middle:6.0f} ms   "
        f"99 % {1000 * late:6.0f} ms   {1000 * per_sentence:.2f} processor ms per sentence "
        f"({per_sentence / command:.2f} times)",
        flush=True,
    )


def measure_batch(model: Path, lines: Sequence[str]) -> None:
    """Tells how long one request takes beside the same lines in Python, in turn."""
    translator = nmt.load(model)
    request = make_request(lines)
    direct, served = [], []
    with run_server(make_command(model)) as server:
        for _ in range(20):
            begun = time.perf_counter()
            translator.translate(lines)
            direct.append(time.perf_counter() - begun)
            served += asyncio.run(send_all(server.port, [request], 1))
    ratio = statistics.median(served[3:]) / statistics.median(direct[3:])
    print(
        f"{len(lines)} lines: {1000 * statistics.median(direct[3:]):.0f} ms in Python, "
        f"{1000 * statistics.median(served[3:]):.0f} ms served ({ratio:.2f} times)"
    )


async def keep_busy(port: int, request: bytes, counts: dict[str, int], until: asyncio.Event) -> None:
    """Sends requests, each on a connection of its own; a connection that is refused was never a request."""
    while not until.is_set():
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
            continue
        try:
            await exchange(reader, writer, request)
            counts["answered"] += 1
        except (OSError, asyncio.IncompleteReadError, LostError):
            counts["lost"] += 1
        finally:
            writer.close()


async def restart_often(model: Path, sentences: Sequence[str], restarts: int) -> dict[str, int]:
    counts, until = {"answered": 0, "lost": 0}, asyncio.Event()
    server = Server(make_command(model))
    request = make_request(sentences[:5], keep=False)
    clients = [asyncio.create_task(keep_busy(server.port, request, counts, until)) for _ in range(16)]
    for number in range(restarts):
        await asyncio.sleep(1)
        code = await asyncio.to_thread(server.end)
        print(f"restart {number + 1}: exit code {code}, {counts}", flush=True)
        server = await asyncio.to_thread(Server, make_command(model, server.port))
    await asyncio.sleep(1)
    until.set()
    await asyncio.gather(*clients)
    server.end()
    return counts


def watch_memory(model: Path, sentences: Sequence[str], requests: int) -> None:
    with run_server(make_command(model)) as server:
        for part in range(11):
            print(f"{part * requests // 10:7,} requests: {server.resident_megabytes:.0f} MB", flush=True)
            if part < 10:
                asyncio.run(send_all(server.port, cut_requests(sentences, 1, requests // 10), 16))


def main() -> None:
    global SOURCE, TARGET
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "restarts", "memory"))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="directory that nmt prepare made")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64, 256])
    parser.add_argument("--lines", type=int, default=20, help="per request")
    parser.add_argument("--requests", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--ctranslate2", type=Path, help="Python of an environment with CTranslate2")
    parser.add_argument(
        "--transformer", type=Path, help="model of nmt train --architecture transformer, for CTranslate2"
    )
    options = parser.parse_args()
    pairs = (options.data / "test.tsv").read_text(encoding="utf-8").splitlines()
    sentences = [line.split("\t")[0] for line in pairs]
    card = nmt.load(options.model).card
    SOURCE, TARGET = card.source_language, card.target_language
    if options.what == "speed":
        measure_speed(options.model, sentences, options)
    elif options.what == "restarts":
        print(asyncio.run(restart_often(options.model, sentences, options.restarts)))
    else:
        watch_memory(options.model, sentences, 100_000 if options.requests == 512 else options.requests)


if __name__ == "__main__":
    main()
