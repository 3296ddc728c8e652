"""Sentences a second of `nmt`'s translator beside CTranslate2 and Joey NMT: same sentences, in turn, in one run.

    python benchmarks/translate.py --model model --data prepared [--peers DIRECTORY] [--rounds 5] [--threads 1]

Installs the peers into a virtual environment of their own in DIRECTORY. Their models have random weights, which cost
what learnt ones do, and as such never end a sentence: they produce for every sentence as many tokens as ours does on
average. What each is, and what it is given, stands in `peers/`. Prints medians, and the ratios of ours to theirs: of
the wall clock, and of the processors' own seconds, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.translator import Translator
from nmt_cli.processors import cores

# Joey NMT 2.3 names versions of packages that are gone, so that what it needs is named here and it comes without.
PACKAGES = """ctranslate2 torch sentencepiece==0.2.0 importlib_metadata numpy pyyaml sacrebleu sacremoses subword-nmt
    tensorboard packaging pandas matplotlib datasets protobuf""".split()
HERE = Path(__file__).parent / "peers"


def install(directory: Path) -> str:
    """The interpreter of an environment with the peers."""
    python = directory / "bin" / "python"
    if not python.exists():
        venv.create(directory, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *PACKAGES], check=True)
        subprocess.run([*pip, "--no-deps", "joeynmt==2.3.0"], check=True)
    return str(python)


@dataclass(frozen=True)
class Seconds:
    """What a run took, without its start."""

    wall: float
    processors: float


def peer(python: str, script: str, *arguments: object) -> Seconds:
    """What a script in `peers/` says it took."""
    command = [python, str(HERE / script), *map(str, arguments)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    wall, processors = map(float, told.split()[-2:])
    return Seconds(wall, processors)


def ours(translator: Translator, sources: list[str], beam: int) -> Seconds:
    started, used = time.perf_counter(), time.process_time()
    translator.translate(sources, SearchConfig(beam_size=beam))
    return Seconds(time.perf_counter() - started, time.process_time() - used)


def compare(runners: dict[str, Callable[[], Seconds]], sentences: int, rounds: int) -> None:
    """Runs all in turn, `rounds` times."""
    seconds: dict[str, list[Seconds]] = {name: [] for name in runners}
    for _ in range(rounds):
        for name, run in runners.items():
            seconds[name].append(run())
    for clock in ("wall", "processors"):
        medians = {name: statistics.median(getattr(one, clock) for one in runs) for name, runs in seconds.items()}
        for name, median in medians.items():
            ratio = median / medians["nmt"]
            print(f"  {clock:10} {name:12} {sentences / median:8,.0f} sentences/s   nmt is x{ratio:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path, default=Path("model"))
    parser.add_argument("--data", type=Path, default=Path("prepared"))
    parser.add_argument("--peers", type=Path, default=Path("peers"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("--without-joeynmt", action="store_true")
    given = parser.parse_args()
    python = install(given.peers)
    translator = Translator.load(given.model)
    translator.threads = given.threads
    sources = [pair.source for pair in PreparedCorpus.load(given.data).pairs("test")]
    pieces = given.peers / "sources.txt"
    rows = translator.source.rows(sources, None)
    pieces.write_text("".join(" ".join(f"▁{i}" for i in row.values.tolist()) + "\n" for row in rows))
    for beam in (1, 5):
        found = translator.translate(sources, SearchConfig(beam_size=beam))
        length = round(statistics.mean(len(one.hypotheses[0].pieces) for one in found if one.hypotheses))
        print(f"beam {beam}, {len(sources)} sentences, {length} tokens each, {sys.platform}", flush=True)
        runners = {
            "nmt": lambda beam=beam: ours(translator, sources, beam),
            "ctranslate2": lambda beam=beam, length=length: peer(
                python, "ctranslate2_speed.py", given.peers / "ctranslate2", pieces, beam, length, given.threads
            ),
        }
        if not given.without_joeynmt:
            runners["joeynmt"] = lambda beam=beam, length=length: peer(
                python, "joeynmt_speed.py", pieces, beam, length, given.threads
            )
        compare(runners, len(sources), given.rounds)


if __name__ == "__main__":
    main()
