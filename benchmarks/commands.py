"""`nmt`'s commands beside Joey NMT 2.3's: whole processes, as their users start them, in turn, in one run.

    python benchmarks/commands.py train --data PREPARED --work DIR [--rounds 3] [--updates 200]
    python benchmarks/commands.py translate --data PREPARED --work DIR --model MODEL [--sentences 3000] [--beams 1 5]

`train`: the same network on the same pairs, 128 a batch: ours are of sentences of similar length, the peer's of those
as they come, so that most of what it computes may be padding. Target tokens a second as each command reports them, of
real tokens, without start and validation: ours of an epoch, the peer's of some updates.
`translate`: sentences of the test split through standard input, with MODEL and with the network that `minutes.py
joeynmt` left in DIR. Speed is that of all sentences but one, in the time beyond that of a process that translates one.
"""

from __future__ import annotations

import re
import statistics
import subprocess
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench import NMT, Cost, install_peers, make_parser, measure_command, print_speeds, read_rows, run_in_turn, run_nmt
from joey import learn_subwords, write_settings, write_texts

from nmt_cli.corpus.dataset import PreparedCorpus

LOGGED = 20  # updates between two lines of the peer's log
SPEED = re.compile(r"Tokens per Sec: +([\d,]+)")


def compare_training(options: Namespace, joey: Sequence[str]) -> None:
    write_texts(PreparedCorpus.load(options.data), options.work)
    learn_subwords(PreparedCorpus.load(options.data), options.work)
    often = {"updates": options.updates, "validated": options.updates, "logged": LOGGED}
    settings = write_settings(options.work / "joeynmt.yaml", **often)
    runners = {
        "nmt": partial(train_nmt, options.data, options.work),
        "joeynmt": partial(train_joeynmt, joey, settings),
    }
    print_speeds(run_in_turn(runners, options.rounds), 1, "target tokens")


def train_nmt(data: Path, work: Path) -> Cost:
    """Trains for an epoch; returns the cost of a target token."""
    places = ("--data", str(data), "--model", str(work / "nmt"), "--force")
    run_nmt(work / "nmt.log", "train", "--epochs", "1", *places)
    return Cost(1 / float(read_rows(work / "nmt" / "history.jsonl")[0]["tokens_per_second"]))


def train_joeynmt(joey: Sequence[str], settings: Path) -> Cost:
    """Trains for some updates; returns the cost of a target token, without the first updates, which claim memory."""
    subprocess.run([*joey, "train", str(settings), "--skip-test"], check=True, capture_output=True)
    speeds = SPEED.findall((settings.parent / "model" / "train.log").read_text(encoding="utf-8"))
    return Cost(statistics.mean(1 / float(speed.replace(",", "")) for speed in speeds[1:]))


def compare_translation(options: Namespace, joey: Sequence[str]) -> None:
    pairs = PreparedCorpus.load(options.data).read_pairs("test")[: options.sentences]
    sources = [pair.source for pair in pairs]
    trained = (options.work / "joeynmt.yaml").read_text(encoding="utf-8")
    for beam in options.beams:
        settings = options.work / f"translate-{beam}.yaml"
        settings.write_text(re.sub("beam_size: .*", f"beam_size: {beam}", trained), encoding="utf-8")
        commands = {
            "nmt": [*NMT, "translate", "--model", str(options.model), "--beam-size", str(beam)],
            "joeynmt": [*joey, "translate", str(settings)],
        }
        runners = {name: partial(measure_rest, command, sources) for name, command in commands.items()}
        print(f"beam {beam}, {len(sources):,} sentences")
        print_speeds(run_in_turn(runners, options.rounds), len(sources) - 1, "sentences")


def measure_rest(command: Sequence[str], sources: Sequence[str]) -> Cost:
    """Measures the translation of all sources beyond that of the first."""
    return measure_command(command, sources).subtract(measure_command(command, sources[:1]))


def main() -> None:
    parser = make_parser(__doc__, "data", "work", "peers", "rounds", "sentences")
    parser.add_argument("command", choices=("train", "translate"))
    parser.add_argument(
        "--updates", type=int, default=200, help=f"train: of the peer in each round; {LOGGED} times any"
    )
    parser.add_argument("--model", type=Path, help="translate: ours")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5], help="translate: sizes; 1 is greedy")
    parser.set_defaults(rounds=3)
    options = parser.parse_args()
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    joey = (install_peers(options.peers), "-m", "joeynmt")
    (compare_training if options.command == "train" else compare_translation)(options, joey)


if __name__ == "__main__":
    main()
