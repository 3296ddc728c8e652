"""`nmt`'s commands beside Joey NMT 2.3's: whole processes, as their users start them, in turn, in one run.

    python benchmarks/commands.py train --data prepared --work DIR [--peers DIRECTORY] [--rounds 3] [--updates 200]
    python benchmarks/commands.py translate --data prepared --work DIR --model MODEL [--trained FILE] [--rounds 3]

`train.py` and `translate.py` compare the networks: they give the peer our batches, sorted by length, and no text to
read or write. Here each makes its batches itself: ours are of sentences of like length, the peer's are as they come, so
that most of what it computes may be padding.

`train`: the same network on the same pairs, 128 a batch, of as many joint unigram subwords. Target tokens a second as
each command tells them, of real tokens, without start and validation: ours of an epoch, the peer's of some updates.
`translate`: sentences of the test split through standard input, with MODEL and with the peer's that `--trained` names,
as `joeynmt_hour.py` leaves it; or else with what `train` left. That has learned next to nothing and finds no end: it
writes for each sentence as many tokens as ours does on average. Start is the process that translates one sentence;
speed is that of all other sentences, in the time beyond that.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joeynmt_hour import settings, write_texts
from translate import install

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.config import ModelRequest
from nmt_cli.translation.translator import Translator

BATCH = 128
LOGGED = 20  # updates between two lines of the peer's log
SPEED = re.compile(r"Tokens per Sec: +([\d,]+)")
NMT = [sys.executable, "-m", "nmt_cli"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("train", "translate"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="directory for texts, logs and models")
    parser.add_argument("--peers", type=Path, help="the peer's virtual environment, made where there is none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--updates", type=int, default=200, help=f"train: of the peer in each round; {LOGGED} times any"
    )
    parser.add_argument("--model", type=Path, help="translate: ours")
    parser.add_argument(
        "--trained", type=Path, help="translate: the peer's configuration with a model that has learned"
    )
    parser.add_argument("--sentences", type=int, default=1000, help="translate: how many")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5], help="translate: sizes; 1 is greedy")
    given = parser.parse_args()
    given.work = given.work.resolve()
    given.work.mkdir(parents=True, exist_ok=True)
    joey = [install((given.peers or given.work / "peers").absolute()), "-m", "joeynmt"]
    corpus = PreparedCorpus.load(given.data)
    if given.command == "train":
        compare_training(given, corpus, joey)
    else:
        compare_translation(given, corpus, joey)


def compare_training(given: argparse.Namespace, corpus: PreparedCorpus, joey: list[str]) -> None:
    train = corpus.load_encoded("train")
    wasted = padding(train.source.lengths), padding(train.target.lengths)
    print("padding of batches as they come: {:.0%} of source positions, {:.0%} of target positions".format(*wasted))
    told = settings(given.work, write_texts(corpus, given.work))
    often = {"updates": given.updates, "logging_freq": LOGGED, "validation_freq": given.updates}
    config = configuration(given.work / "train.yaml", told | {"training": told["training"] | often})
    ratios = []
    for number in range(1, given.rounds + 1):
        ours, theirs = our_training(given.data, given.work), their_training(joey, config, given.work)
        ratios.append(ours / theirs)
        speeds = f"nmt {ours:,.0f}   joeynmt {theirs:,.0f} target tokens/s"
        print(f"round {number}   {speeds}   x{ratios[-1]:.1f}", flush=True)
    print(f"median x{statistics.median(ratios):.1f}")


def our_training(data: Path, work: Path) -> float:
    model = work / "nmt"
    with (work / "nmt.out").open("w") as log:
        places = ["--data", str(data), "--model", str(model), "--force"]
        subprocess.run([*NMT, "train", "--epochs", "1", *places], stdout=log, stderr=log, check=True)
    first, *_ = (model / "history.jsonl").read_text().splitlines()
    speed: float = json.loads(first)["tokens_per_second"]
    return speed


def their_training(joey: list[str], config: Path, work: Path) -> float:
    with (work / "joeynmt.out").open("w") as log:
        subprocess.run([*joey, "train", str(config), "--skip-test"], stdout=log, stderr=log, check=True)
    told = SPEED.findall((work / "model" / "train.log").read_text())
    # Each is of as many updates; the first, of those in which memory is claimed.
    return statistics.harmonic_mean([float(one.replace(",", "")) for one in told[1:]])


def padding(lengths: np.ndarray) -> float:
    """Of all positions, in batches of sentences of these `lengths` in a random order."""
    shuffled = np.random.default_rng(1).permutation(lengths)
    batches = [shuffled[start : start + BATCH] for start in range(0, len(shuffled), BATCH)]
    return float(1 - shuffled.sum() / sum(len(batch) * batch.max() for batch in batches))


@dataclass(frozen=True)
class Run:
    """Of a command that translates a file."""

    start: float  # seconds with one sentence
    speed: float  # further sentences a second
    spent: float  # seconds of all processors for each of these


def compare_translation(given: argparse.Namespace, corpus: PreparedCorpus, joey: list[str]) -> None:
    sources = [pair.source for pair in corpus.read_pairs("test")][: given.sentences]
    configured = json.loads((given.trained or given.work / "train.yaml").read_text())
    translator = Translator.load(ModelRequest(given.model))
    for beam in given.beams:
        found = translator.translate(sources, SearchConfig(beam_size=beam))
        length = round(statistics.mean(len(one.hypotheses[0].pieces) for one in found if one.hypotheses))
        lengths = {} if given.trained else {"min_output_length": length, "max_output_length": length}
        configured["testing"] |= {"beam_size": beam, **lengths}
        config = configuration(given.work / f"translate-{beam}.yaml", configured)
        commands = {
            "nmt": [*NMT, "translate", "--model", str(given.model), "--beam-size", str(beam)],
            "joeynmt": [*joey, "translate", str(config)],
        }
        runs: dict[str, list[Run]] = {name: [] for name in commands}
        for _ in range(given.rounds):
            for name, command in commands.items():
                runs[name].append(translation(command, sources))
        print(f"beam {beam}, {len(sources)} sentences, {length} tokens each on average, of ours")
        for name, own in runs.items():
            typical = Run(*np.median([astuple(run) for run in own], axis=0).tolist())
            spent = f"{1000 * typical.spent:.2f} ms of processors each"
            print(f"  {name:8} start {typical.start:5.2f} s   {typical.speed:6,.0f} sentences/s   {spent}")
        pairs = list(zip(runs["nmt"], runs["joeynmt"], strict=True))
        print(f"  nmt is {with_rounds(ours.speed / theirs.speed for ours, theirs in pairs)} times as fast")
        print(
            f"  by processors' seconds {with_rounds(theirs.spent / ours.spent for ours, theirs in pairs)}", flush=True
        )


def with_rounds(found: Iterable[float]) -> str:
    """Their median, and all of them."""
    found = list(found)
    return f"{statistics.median(found):.1f} (by rounds {', '.join(f'{one:.1f}' for one in found)})"


def translation(command: list[str], sources: list[str]) -> Run:
    start, whole = (np.array(cost(command, some)) for some in (sources[:1], sources))
    seconds, spent = (whole - start).tolist()
    further = len(sources) - 1
    return Run(start=float(start[0]), speed=further / seconds, spent=spent / further)


def cost(command: list[str], sources: list[str]) -> tuple[float, float]:
    """Seconds, and those of all processors."""
    text = "".join(f"{source}\n" for source in sources)
    before, started = spent_by_children(), time.perf_counter()
    done = subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    taken = time.perf_counter() - started
    if len(done.stdout.splitlines()) < len(sources):
        raise RuntimeError(f"{command} left lines out")
    return taken, spent_by_children() - before


def spent_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def configuration(path: Path, settings: dict[str, Any]) -> Path:
    """A file of settings for Joey NMT, which reads YAML, of which JSON is a part."""
    path.write_text(json.dumps(settings, indent=1))
    return path


if __name__ == "__main__":
    main()
