"""Does an augmentation of training bring anything at equal updates?

    python benchmarks/augmentations.py data/eng-deu.tsv.xz --work DIR          # all, with 5,000 pairs and two seeds
    python benchmarks/augmentations.py data/eng-deu.tsv.xz --work DIR --pairs 50000 --epochs 3
    python benchmarks/augmentations.py data/eng-deu.tsv.xz --work DIR --seeds 2 --only swaps

Each network is what `nmt train` chooses for so many pairs, without a parent, trained for the same number of epochs.
What has a row in DIR/augmentations.jsonl is not trained again. Scores are of free-running translations of the test
split with beam 5. An augmentation stays if the mean of its seeds is 0.5 BLEU above that of `none` in two of three
settings.
"""

from __future__ import annotations

import json
import lzma
import time
from argparse import Namespace
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

from bench import append_row, make_parser, read_rows, run_nmt, write_lines

NONE = "none"
AUGMENTATIONS = {
    NONE: ("--word-dropout", "0"),
    "swaps": ("--word-dropout", "0", "--swap-words", "0.1"),
    "sampling": ("--word-dropout", "0", "--scheduled-sampling", "0.25"),
    "dropout": ("--word-dropout", "0.1"),
}
DEV, TEST = 400, 2000
ALONE = ("--init-from", "none", "--synthetic", "none", "--force")
ASKED = ("--metric", "bleu", "--metric", "chrf", "--beam-size", "5", "--json")


def main() -> None:
    parser = make_parser(__doc__, "work", "seed")
    parser.add_argument("corpus", type=Path, help="pairs of sentences, which may be packed as .xz")
    parser.add_argument("--pairs", type=int, default=5000, help="drawn by --seed, beside dev and test")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="of the networks")
    parser.add_argument("--only", nargs="+", choices=AUGMENTATIONS, default=[*AUGMENTATIONS])
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    rows = options.work / "augmentations.jsonl"
    for seed in options.seeds:
        for name in options.only:
            keys = {"name": name, "pairs": options.pairs, "epochs": options.epochs, "seed": seed}
            if not any(keys.items() <= row.items() for row in read_rows(rows)):
                append_row(rows, keys | measure(options, name, seed))
    print_means(read_rows(rows))


def measure(options: Namespace, name: str, seed: int) -> dict[str, Any]:
    """Trains and scores one network."""
    folders = ("--data", str(prepare(options)), "--model", str(options.work / f"{name}-{options.pairs}-{seed}"))
    log, started = options.work / "log", time.monotonic()
    settings = ("--epochs", str(options.epochs), "--seed", str(seed), *AUGMENTATIONS[name])
    run_nmt(log, "train", *folders, *settings, *ALONE, "--quiet")
    seconds = time.monotonic() - started
    scores = json.loads(run_nmt(log, "evaluate", *folders, *ASKED))["scores"]
    found = {metric: round(scores[metric]["value"], 2) for metric in ("bleu", "chrf")}
    return found | {"seconds": round(seconds), "signature": scores["bleu"]["signature"]}


def prepare(options: Namespace) -> Path:
    """Returns the prepared directory of the drawn pairs, which all networks share."""
    data = options.work / f"data-{options.pairs}"
    if not data.exists():
        packed = options.corpus.read_bytes()
        text = (lzma.decompress(packed) if options.corpus.suffix == ".xz" else packed).decode()
        drawn = Random(options.seed).sample(text.splitlines(), options.pairs + DEV + TEST)
        pairs = write_lines(options.work / f"pairs-{options.pairs}.tsv", drawn)
        splits = ("--dev", str(DEV), "--test", str(TEST), "--source-language", "en", "--target-language", "de")
        run_nmt(options.work / "log", "prepare", str(pairs), "--data", str(data), *splits)
    return data


def print_means(rows: list[dict[str, Any]]) -> None:
    """Prints the scores of each augmentation by seed, and how far their means are above `none` of the same seeds."""
    settings = sorted({(row["pairs"], row["epochs"]) for row in rows})
    for pairs, epochs in settings:
        print(f"{pairs:,} pairs, {epochs} epochs")
        runs = {(row["name"], row["seed"]): row for row in rows if (row["pairs"], row["epochs"]) == (pairs, epochs)}
        for name in AUGMENTATIONS:
            mine = {seed: row for (other, seed), row in runs.items() if other == name}
            shared = [seed for seed in mine if (NONE, seed) in runs]
            for metric in ("bleu", "chrf") if shared else ():
                gain = mean(mine[seed][metric] - runs[NONE, seed][metric] for seed in shared)
                values = " ".join(f"{mine[seed][metric]:6.2f}" for seed in shared)
                print(f"  {name:10} {metric:5} {values}   {gain:+.2f}   seeds {', '.join(map(str, shared))}")
    for signature in sorted({row["signature"] for row in rows}):
        print(signature)


if __name__ == "__main__":
    main()
