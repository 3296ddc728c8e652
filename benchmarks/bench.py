"""What the scripts share: options, commands and what they cost, runs in turn, rows of results, the peers' environment.

It imports nothing of nmt, whose imports some scripts time.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

NMT = (sys.executable, "-m", "nmt_cli")
Pair = tuple[str, str]
PEERS = Path(__file__).parent / "peers"  # what runs in their environment
# Joey NMT 2.3 requires versions of packages that no longer exist, so it is installed without them.
PEER_PACKAGES = """ctranslate2 torch sentencepiece==0.2.0 importlib_metadata numpy pyyaml sacrebleu sacremoses
    subword-nmt tensorboard packaging pandas matplotlib datasets protobuf""".split()
OPTIONS: dict[str, dict[str, Any]] = {
    "data": {"type": Path, "required": True, "help": "directory that `nmt prepare` wrote"},
    "model": {"type": Path, "required": True, "help": "directory that `nmt train` wrote"},
    "transformer": {"type": Path, "help": "the same with --architecture transformer: weights for CTranslate2"},
    "work": {"type": Path, "required": True, "help": "directory for models, logs and results"},
    "peers": {"type": Path, "default": Path("peers"), "help": "virtual environment of the peers, made if missing"},
    "rounds": {"type": int, "default": 5, "help": "how often everything is run, in turn"},
    "sentences": {"type": int, "help": "use only so many"},
    "seed": {"type": int, "default": 1, "help": "of what is drawn at random"},
}


def make_parser(page: str | None, *names: str) -> argparse.ArgumentParser:
    """Returns a parser whose help is the docstring of the script, with the OPTIONS of these names."""
    parser = argparse.ArgumentParser(description=page, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, *names)
    return parser


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    for name in names:
        parser.add_argument(f"--{name}", **OPTIONS[name])


class Cost(NamedTuple):
    """What a run needed. Other work on the machine disturbs `processors` less than `wall`."""

    wall: float  # seconds
    processors: float = 0.0  # seconds of all processors together; 0 if not known
    megabytes: float = 0.0  # peak of resident memory

    def subtract(self, start: Cost) -> Cost:
        return Cost(self.wall - start.wall, self.processors - start.processors, self.megabytes)


def measure_call(call: Callable[[], object]) -> Cost:
    """Calls a function in this process."""
    started, spent = time.perf_counter(), time.process_time()
    call()
    return Cost(time.perf_counter() - started, time.process_time() - spent)


def measure_command(
    command: Sequence[str], lines: Sequence[str] = (), folder: Path | None = None, output: Path | None = None
) -> Cost:
    """Runs a command in a folder, with lines as its input. Exits if it fails, or writes fewer lines to `output`."""
    with tempfile.TemporaryFile() as source, output.open("w+b") if output else tempfile.TemporaryFile() as target:
        source.write("".join(f"{line}\n" for line in lines).encode())
        source.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=source, stdout=target, stderr=subprocess.DEVNULL, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        target.seek(0)
        if status or target.read().count(b"\n") < len(lines):
            raise SystemExit(f"{shlex.join(command)} failed, or left lines out")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)


def run_in_turn(runners: Mapping[str, Callable[[], Cost]], rounds: int) -> dict[str, list[Cost]]:
    """Runs all, one after the other, `rounds` times."""
    costs: dict[str, list[Cost]] = {name: [] for name in runners}
    for _ in range(rounds):
        for name, run in runners.items():
            costs[name].append(run())
    return costs


def print_speeds(costs: Mapping[str, Sequence[Cost]], amount: float, unit: str) -> None:
    """Prints the median speeds, and how many times as fast the first system is, by rounds."""
    first = next(iter(costs))
    for clock in ("wall", "processors"):
        seconds = {name: [getattr(cost, clock) for cost in runs] for name, runs in costs.items()}
        for name, theirs in seconds.items() if all(seconds[first]) else ():
            ratios = [their / our for our, their in zip(seconds[first], theirs, strict=True)]
            by_rounds = f"x{statistics.median(ratios):.2f} (by rounds {', '.join(f'{x:.2f}' for x in ratios)})"
            speed = f"{amount / statistics.median(theirs):10,.0f} {unit}/s"
            print(f"  {clock:10} {name:12} {speed}   {first} is {by_rounds}", flush=True)


def run_nmt(log: Path, *arguments: str) -> str:
    """Runs a command of nmt and returns its output; messages go to the log. Raises CalledProcessError."""
    with log.open("a", encoding="utf-8") as messages:
        print("$ nmt", shlex.join(arguments), file=messages, flush=True)
        return subprocess.run([*NMT, *arguments], stdout=subprocess.PIPE, stderr=messages, text=True, check=True).stdout


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Returns the objects of a file of JSON lines; none if it does not exist."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.strip()]


def read_pairs(path: Path) -> list[Pair]:
    """Reads a file of pairs, which may be packed as `.xz`."""
    data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    return [(source, target) for source, target, *_ in (line.split("\t") for line in data.decode().splitlines())]


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def install_peers(directory: Path) -> str:
    """Returns the interpreter of an environment with CTranslate2 and Joey NMT, which is made if it is missing."""
    python = directory.absolute() / "bin" / "python"
    if not python.exists():
        venv.create(directory, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *PEER_PACKAGES], check=True)
        subprocess.run([*pip, "--no-deps", "joeynmt==2.3.0"], check=True)
    return str(python)
