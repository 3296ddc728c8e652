"""How good the translations are: trains networks one after the other and scores them, a JSON line each.

    python benchmarks/quality.py textbook data/eng-deu.tsv --work DIR               # 40,000 pairs, 5 epochs, batch 128
    python benchmarks/quality.py hour FULL.tsv --work DIR --prepare "--test 5000"   # all pairs, one hour of training
    python benchmarks/quality.py multi30k FOLDER --work DIR                         # train, val, test_2016_flickr
    python benchmarks/quality.py attention FULL.tsv [NAME ...] --work DIR --epochs 2    # the kinds of --attention
    python benchmarks/quality.py jobs FULL.tsv JOBS.jsonl --work DIR                # subsets and options of your own
    python benchmarks/quality.py table DIR/results.jsonl                            # what was found, as Markdown

A job is {"name": ..., "pairs": 5000, "prepare": [options], "train": [options]}: subsets share a development set and a
test set, and a larger one contains the smaller; `--init-from` names the model of another job. `--prepare "OPTIONS"`
goes to the `nmt prepare` that makes the splits, and options that are not known here to `nmt train`. A job that has a
line is not run again. Scores are of free-running translations of the test split with beam 5: cased and detokenised; in
lower case, without punctuation, between the tokens of Moses, as others publish them; of short and of long sources.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import shlex
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from bench import add_options, append_row, make_parser, read_rows, run_nmt, write_lines
from views import VIEWS, read_translated

from nmt_cli.model.config import ATTENTIONS

MULTI30K = ("train", "val", "test_2016_flickr")
TENTH = "5000"  # of the 50,000 bundled pairs, for dev and for test, as in TensorFlow in Action
BEAM = 5
SUBSET_SEED = 1
ASKED = ("--metric", "bleu", "--metric", "chrf", "--beam-size", str(BEAM), "--json")


@dataclass(frozen=True)
class Job:
    """One network to train: its name, the options of both commands, and how many of the training pairs it has."""

    name: str
    prepare: tuple[str, ...] = ()
    train: tuple[str, ...] = ()
    pairs: int | None = None


def make_textbook(options: Namespace) -> list[Job]:
    return [Job("textbook", ("--dev", TENTH, "--test", TENTH), ("--epochs", "5", "--batch", "128"))]


def make_hour(options: Namespace) -> list[Job]:
    return [Job("hour", train=("--time", "60m"))]


def make_multi30k(options: Namespace) -> list[Job]:
    """Joins both sides of each part; the corpus is that of the training pairs then."""
    options.corpus, dev, test = (join_sides(options.corpus, name, options.work) for name in MULTI30K)
    languages = ("--source-language", "en", "--target-language", "de")
    return [Job("multi30k", ("--dev", str(dev), "--test", str(test), *languages, "--lowercase"))]


def join_sides(folder: Path, name: str, work: Path) -> Path:
    """Writes both sides of a part of Multi30k, which may be packed as `.xz`, as one file of pairs."""
    sides = []
    for path in (folder / f"{name}.{language}" for language in ("en", "de")):
        packed = path.with_name(f"{path.name}.xz")
        data = lzma.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
        sides.append(data.decode().removesuffix("\n").split("\n"))
    return write_lines(work / f"{name}.tsv", map("\t".join, zip(*sides, strict=True)))


def make_attention(options: Namespace) -> list[Job]:
    """Raises SystemExit for an unknown kind."""
    for name in options.names:
        if name not in ATTENTIONS:
            raise SystemExit(f"there is no {name!r}: there are {', '.join(ATTENTIONS)}")
    return [Job(f"attention-{name}", train=("--attention", name)) for name in options.names or ATTENTIONS]


def make_jobs(options: Namespace) -> list[Job]:
    """Reads the jobs from the files."""
    rows = [row for name in options.names for row in read_rows(Path(name))]
    return [Job(row["name"], (*row.get("prepare", ()),), (*row["train"],), row.get("pairs")) for row in rows]


SETTINGS: dict[str, Callable[[Namespace], list[Job]]] = {
    "textbook": make_textbook,
    "hour": make_hour,
    "multi30k": make_multi30k,
    "attention": make_attention,
    "jobs": make_jobs,
}


@dataclass(frozen=True)
class Bench:
    """A corpus, the directory of the results, and the options that all jobs share."""

    corpus: Path
    work: Path
    prepare: tuple[str, ...] = ()
    train: tuple[str, ...] = ()

    @property
    def results(self) -> Path:
        return self.work / "results.jsonl"

    def run(self, job: Job) -> dict[str, Any]:
        """Prepares, unless another job did, trains, translates and scores. Raises CalledProcessError."""
        data, model, sentences = self.prepare_corpus(job), self.work / job.name, self.work / f"{job.name}.tsv"
        started = time.monotonic()
        places = ("--data", str(data), "--model", str(model))
        self.run_nmt(job, "train", *job.train, *self.train, *places, "--force")
        seconds = time.monotonic() - started
        scores = json.loads(self.run_nmt(job, "evaluate", *ASKED, *places, "--sentences", str(sentences)))["scores"]
        translated = read_translated(sentences)
        return {
            "name": job.name,
            "corpus": self.corpus.name,
            "options": [*job.prepare, *self.prepare, *job.train, *self.train],
            "pairs": job.pairs,
            "seconds": round(seconds, 1),
            "bleu": round(scores["bleu"]["value"], 2),
            "interval95": [round(limit, 2) for limit in scores["bleu"]["interval95"]],
            "chrf": round(scores["chrf"]["value"], 2),
            "signature": scores["bleu"]["signature"],
            "sentences": len(translated),
            "views": {name: view.score(translated) for name, view in VIEWS.items()},
            **describe_training(model),
        }

    def prepare_corpus(self, job: Job) -> Path:
        """Returns the prepared corpus of a job; jobs with the same options, or the same subset, share one."""
        if job.pairs is None:
            return self.prepare_once(job, self.corpus, (*job.prepare, *self.prepare))
        splits = self.prepare_once(job, self.corpus, self.prepare)
        lines = (splits / "train.tsv").read_text(encoding="utf-8").splitlines()
        Random(SUBSET_SEED).shuffle(lines)
        subset = write_lines(self.work / f"{job.name}-pairs.tsv", lines[: job.pairs])
        held_out = ("--dev", str(splits / "dev.tsv"), "--test", str(splits / "test.tsv"))
        return self.prepare_once(job, subset, (*job.prepare, *held_out))

    def prepare_once(self, job: Job, corpus: Path, options: tuple[str, ...]) -> Path:
        """Returns the directory that `nmt prepare` makes of a corpus, unless it was made with equal options."""
        key = f"{shlex.join(options)}\n".encode() + corpus.read_bytes()
        data = self.work / f"prepared-{hashlib.sha256(key).hexdigest()[:8]}"
        if not data.is_dir():
            self.run_nmt(job, "prepare", str(corpus), *options, "--data", str(data))
        return data

    def run_nmt(self, job: Job, *arguments: str) -> str:
        return run_nmt(self.work / f"{job.name}.log", *arguments)


def describe_training(model: Path) -> dict[str, Any]:
    """Returns what a model directory says of its training."""
    card, history = json.loads((model / "model.json").read_text("utf-8")), read_rows(model / "history.jsonl")
    with np.load(model / "weights.npz") as weights:
        count = sum(weights[name].size for name in weights.files)
    minutes = accumulate(epoch["seconds"] / 60 for epoch in history)
    return {
        "weights": int(count),
        "epochs": len(history),
        "best_epoch": card["epochs"],
        "dev_bleu": round(card["development"]["bleu"]["value"], 2),
        "dev_chrf": round(card["development"]["chrf"]["value"], 2),
        "curve": [[round(at, 1), round(epoch["bleu"], 1)] for at, epoch in zip(minutes, history, strict=True)],
        "versions": card["versions"],
    }


def run_all(bench: Bench, jobs: Sequence[Job]) -> int:
    """Runs the jobs that have no line yet; returns 1 if one failed, which does not keep the next from its turn."""
    bench.work.mkdir(parents=True, exist_ok=True)
    done, failed = {row["name"] for row in read_rows(bench.results)}, 0
    for job in jobs:
        if job.name in done:
            print(f"{job.name}: done before", flush=True)
            continue
        try:
            row = bench.run(job)
        except subprocess.CalledProcessError as error:
            print(f"{job.name}: nmt {error.cmd[3]} failed, see {bench.work / job.name}.log", flush=True)
            failed = 1
            continue
        append_row(bench.results, row)
        print(f"{job.name}: BLEU {row['bleu']}, chrF {row['chrf']}, {row['seconds']:.0f} s", flush=True)
    return failed


def render_table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields the lines of a Markdown table, the signatures, and dev BLEU by minutes."""
    views = list(dict.fromkeys(name for row in rows for name in row["views"]))
    header = ["network", "parameters", "dev BLEU", "test BLEU", "chrF2", *views, "best epoch", "time"]
    for cells in (header, ["---"] * len(header), *(format_cells(row, views) for row in rows)):
        yield "| " + " | ".join(cells) + " |"
    yield ""
    for signature in sorted({row["signature"] for row in rows}):
        yield f"BLEU `{signature}`, beam {BEAM}."
    for row in rows:
        yield f"{row['name']}: " + ", ".join(f"{minutes:g} min {bleu}" for minutes, bleu in row["curve"])


def format_cells(row: Mapping[str, Any], views: Sequence[str]) -> list[str]:
    minutes, seconds = divmod(round(row["seconds"]), 60)
    scores = (row["views"].get(name) for name in views)
    return [
        row["name"],
        f"{row['weights'] / 1e6:.1f} M",
        f"{row['dev_bleu']:.1f}",
        format_score(row),
        f"{row['chrf']:.1f}",
        *(f"{format_score(score)} ({score['sentences']:,})" if score else "-" for score in scores),
        f"{row['best_epoch']} of {row['epochs']}",
        f"{minutes}:{seconds:02}",
    ]


def format_score(scores: Mapping[str, Any]) -> str:
    """Returns BLEU and half the width of its 95 % confidence interval."""
    low, high = scores["interval95"] or (None, None)
    half = f" ± {(high - low) / 2:.1f}" if low is not None else ""
    return "-" if scores["bleu"] is None else f"{scores['bleu']:.1f}{half}"


def parse_options() -> tuple[Namespace, list[str]]:
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(dest="setting", required=True)
    for name in SETTINGS:
        command = commands.add_parser(name)
        command.add_argument("corpus", type=Path)
        command.add_argument("names", nargs="*", help="kinds of attention, or files of jobs")
        add_options(command, "work")
        command.add_argument("--prepare", default="", help="more options of `nmt prepare`")
    commands.add_parser("table").add_argument("results", type=Path, nargs="+")
    return parser.parse_known_args()


def main() -> int:
    options, extra = parse_options()
    if options.setting == "table":
        print("\n".join(render_table([row for path in options.results for row in read_rows(path)])))
        return 0
    options.work.mkdir(parents=True, exist_ok=True)
    jobs = SETTINGS[options.setting](options)
    return run_all(Bench(options.corpus, options.work, (*shlex.split(options.prepare),), (*extra,)), jobs)


if __name__ == "__main__":
    sys.exit(main())
