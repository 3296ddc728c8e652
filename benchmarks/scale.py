"""What does `nmt prepare` need for 1, 4, 16 and 64 million pairs: seconds, memory, disk?

    python benchmarks/scale.py --from data/eng-deu.tsv --work DIR [--millions 1 4 16] [options of `nmt prepare`]

The pairs are made on the fly by a small grammar: two or three sentences of the given file, with other names and
numbers. Of each hundred, about three repeat an earlier pair, ten its source alone and five its target alone, as in
Tatoeba; so they are connected to groups. Memory is counted twice: what belongs to the processes (all of them
together), and what they have mapped of files, too, which the system takes back where memory is short.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from bench import NMT, Pair, append_row, make_parser, read_pairs

NAMES = [
    start + end for start in "Al Ber Cor Da El Fa Gre Hel In Jo".split() for end in "a na ta ra ris min son".split()
]
NAME, NUMBER = re.compile(r"\b(?:Tom|Mary|Maria)\b"), re.compile(r"\d+")
ENDINGS = ("!", "...", "?", ", yes.", ", no.", ", Tom.", "; so.", " - ah!")
REPEATED, SAME_SOURCE, SAME_TARGET = 0.03, 0.10, 0.05  # shares of the pairs
REMEMBERED = 100_000  # pairs of which one may come again
INTERVAL = 0.2  # seconds between two looks at a process


def make_pairs(given: list[Pair], count: int, seed: int) -> Iterator[Pair]:
    """Yields pairs of the grammar."""
    generator = random.Random(seed)
    earlier: list[Pair] = []
    for _ in range(count):
        pair, draw = write_pair(given, generator), generator.random()
        if earlier and draw < REPEATED + SAME_SOURCE + SAME_TARGET:
            old = generator.choice(earlier)
            source = old[0] if draw < REPEATED + SAME_SOURCE else vary(old[0], generator)
            target = old[1] if draw < REPEATED or draw >= REPEATED + SAME_SOURCE else vary(old[1], generator)
            pair = source, target
        if len(earlier) < REMEMBERED:
            earlier.append(pair)
        else:
            earlier[generator.randrange(REMEMBERED)] = pair
        yield pair


def write_pair(given: list[Pair], generator: random.Random) -> Pair:
    """Returns two or three sentences with other names and numbers, equal on both sides."""
    chosen = generator.choices(given, k=generator.randint(2, 3))
    sides = [" ".join(pair[side] for pair in chosen) for side in range(2)]
    name, number = generator.choice(NAMES), str(generator.randrange(2, 10_000))
    source, target = (NUMBER.sub(number, NAME.sub(name, side)) for side in sides)
    return source, target


def vary(text: str, generator: random.Random) -> str:
    """Returns a sentence that says about the same."""
    return text.rstrip(".!?") + generator.choice(ENDINGS)


def write_corpus(path: Path, given: list[Pair], count: int, seed: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{source}\t{target}\n" for source, target in make_pairs(given, count, seed))


class Watch(threading.Thread):
    """Notes the most memory of a process with its children, and the most disk below a folder."""

    def __init__(self, process: int, folder: Path) -> None:
        super().__init__(daemon=True)
        self.process, self.folder = process, folder
        self.own = self.resident = self.disk = 0  # bytes
        self.is_over = threading.Event()

    def run(self) -> None:
        looks = 0
        while not self.is_over.wait(INTERVAL):
            memory = [read_memory(process) for process in list_processes(self.process)]
            self.own = max(self.own, sum(own for own, _ in memory))
            self.resident = max(self.resident, sum(resident for _, resident in memory))
            if looks % 10 == 0:
                self.disk = max(self.disk, measure_folder(self.folder) + measure_nameless(self.process, self.folder))
            looks += 1


def list_processes(process: int) -> list[int]:
    """Returns a process and its descendants."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    return [process, *(one for child in children for one in list_processes(int(child)))]


def read_memory(process: int) -> tuple[int, int]:
    """Returns the bytes that belong to a process, and those of files that it has mapped with them."""
    try:
        lines = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
        own, resident = (int(lines[name].split()[0]) * 1024 for name in ("RssAnon", "VmRSS"))
    except (OSError, KeyError):
        return 0, 0
    return own, resident


def measure_folder(folder: Path) -> int:
    """Returns the bytes on disk below a folder."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_blocks * 512
        except OSError:
            continue
    return total


def measure_nameless(process: int, folder: Path) -> int:
    """Returns the bytes of the files of a process below a folder that have no name any more."""
    sizes: dict[str, int] = {}
    try:
        maps = Path(f"/proc/{process}/maps").read_text().splitlines()
    except OSError:
        return 0
    for line in maps:
        if str(folder) in line and line.endswith("(deleted)"):
            start, end = (int(bound, 16) for bound in line.split()[0].split("-"))
            sizes[line.split()[4]] = sizes.get(line.split()[4], 0) + end - start
    return sum(sizes.values())


def measure_millions(millions: float, given: list[Pair], work: Path, seed: int, options: list[str]) -> dict[str, float]:
    """Prepares so many pairs, and returns what it took."""
    folder = work / "scale"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    corpus = work / "scale.tsv"
    write_corpus(corpus, given, round(millions * 1e6), seed)
    started = time.monotonic()
    process = subprocess.Popen([*NMT, "prepare", str(corpus), "--data", str(folder / "prepared"), *options])
    watch = Watch(process.pid, folder)
    watch.start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("nmt prepare failed")
    seconds = time.monotonic() - started
    watch.is_over.set()
    manifest = json.loads((folder / "prepared" / "dataset.json").read_text(encoding="utf-8"))
    text, gigabyte = corpus.stat().st_size, 1e9
    shutil.rmtree(folder)
    corpus.unlink()
    return {
        "millions": millions,
        "seconds": round(seconds, 1),
        "seconds_per_million": round(seconds / millions, 1),
        "processors_per_million": round((usage.ru_utime + usage.ru_stime) / millions, 1),
        "own_gb": round(watch.own / gigabyte, 2),
        "resident_gb": round(watch.resident / gigabyte, 2),
        "disk_gb": round(watch.disk / gigabyte, 2),
        "disk_of_text": round(watch.disk / text, 2),
        "kept": manifest["counts"]["kept"],
        "largest_group": manifest["leak"]["largest_group"],
    }


def main() -> None:
    parser = make_parser(__doc__, "work", "seed")
    parser.add_argument("--from", dest="given", type=Path, required=True, help="file of pairs that the grammar joins")
    parser.add_argument("--millions", type=float, nargs="+", default=[1, 4, 16, 64])
    options, extra = parser.parse_known_args()
    given = read_pairs(options.given)
    for millions in options.millions:
        row = measure_millions(millions, given, options.work, options.seed, extra)
        append_row(options.work / "scale.jsonl", row)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
