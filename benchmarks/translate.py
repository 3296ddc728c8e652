"""Sentences a second of `nmt`'s translator beside CTranslate2 and Joey NMT: same sentences, in turn, in one run.

    python benchmarks/translate.py --model model --data prepared [--peers DIRECTORY] [--rounds 5]

Installs the peers into a virtual environment of their own in DIRECTORY. Their models have random weights, which cost
what learnt ones do, and as such never end a sentence: they produce for every sentence as many tokens as ours does on
average. What each is, and what it is given, stands in `peers/`. Prints medians, and the ratios of ours to theirs.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.translator import Translator

PACKAGES = {  # Joey NMT 2.3 names versions of its packages that are gone, so that its own are named here
    "ctranslate2": ["ctranslate2"],
    "joeynmt": ["torch", "sentencepiece==0.2.0", "importlib_metadata", "numpy", "pyyaml", "sacrebleu", "sacremoses"]
    + ["subword-nmt", "tensorboard", "packaging", "pandas", "matplotlib", "datasets", "protobuf"],
}
HERE = Path(__file__).parent / "peers"


def install(directory: Path) -> str:
    """The interpreter of an environment with the peers."""
    python = directory / "bin" / "python"
    if not python.exists():
        venv.create(directory, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        for packages in PACKAGES.values():
            subprocess.run([*pip, *packages], check=True)
        subprocess.run([*pip, "--no-deps", "joeynmt==2.3.0"], check=True)
    return str(python)


def peer(python: str, script: str, *arguments: object) -> float:
    """Seconds that a script in `peers/` says it took, without its start."""
    command = [python, str(HERE / script), *map(str, arguments)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def ours(translator: Translator, sources: list[str], beam: int) -> float:
    started = time.perf_counter()
    translator.translate(sources, SearchConfig(beam_size=beam))
    return time.perf_counter() - started


def compare(runners: dict[str, Callable[[], float]], sentences: int, rounds: int) -> None:
    """Runs all in turn, `rounds` times."""
    seconds: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(rounds):
        for name, run in runners.items():
            seconds[name].append(run())
    first = statistics.median(seconds["nmt"])
    for name, values in seconds.items():
        median = statistics.median(values)
        spread = f"{sentences / max(values):,.0f} to {sentences / min(values):,.0f}"
        print(f"  {name:12} {sentences / median:8,.0f} sentences/s ({spread})   nmt is x{median / first:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path, default=Path("model"))
    parser.add_argument("--data", type=Path, default=Path("prepared"))
    parser.add_argument("--peers", type=Path, default=Path("peers"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-joeynmt", action="store_true")
    given = parser.parse_args()
    python = install(given.peers)
    translator = Translator.load(given.model)
    sources = [pair.source for pair in PreparedCorpus.load(given.data).pairs("test")]
    pieces = given.peers / "sources.txt"
    pieces.write_text("".join(" ".join(f"▁{i}" for i in ids) + "\n" for ids in translator.source.encode_all(sources)))
    for beam in (1, 5):
        found = translator.translate(sources, SearchConfig(beam_size=beam))
        length = round(statistics.mean(len(one.hypotheses[0].pieces) for one in found if one.hypotheses))
        print(f"beam {beam}, {len(sources)} sentences, {length} tokens each, {sys.platform}", flush=True)
        runners = {
            "nmt": lambda beam=beam: ours(translator, sources, beam),
            "ctranslate2": lambda beam=beam, length=length: peer(
                python, "ctranslate2_speed.py", given.peers / "ctranslate2", pieces, beam, length
            ),
        }
        if not given.without_joeynmt:
            runners["joeynmt"] = lambda beam=beam, length=length: peer(
                python, "joeynmt_speed.py", pieces, beam, length
            )
        compare(runners, len(sources), given.rounds)


if __name__ == "__main__":
    main()
