"""Trains networks on subsets of a corpus and writes what each learned: the sweep behind the defaults by corpus size.

    python benchmarks/small.py JOBS.jsonl FULL.tsv --work DIR               # splits FULL.tsv itself, free of leaks
    python benchmarks/small.py JOBS.jsonl TRAIN.tsv --dev DEV.tsv --test TEST.tsv --work DIR
    python benchmarks/small.py JOBS.jsonl FULL.tsv --work DIR --score       # test scores of the jobs named by --only

A job is a line of JSON: {"name": ..., "pairs": 5000, "prepare": [options], "train": [options]}. Its result is a line of
DIR/results.jsonl: BLEU and chrF of greedy translations of the development set. The test set is read with --score only.
All subsets share one development set and one test set; a larger subset contains the smaller ones. JOBS.jsonl is read
again after each job, so that jobs may be added while others run.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEV, TEST = 1_000, 5_000
SEED = 1


@dataclass(frozen=True)
class Sweep:
    """The corpus of a sweep and the directory of its results."""

    corpus: Path
    work: Path
    dev: Path | None = None
    test: Path | None = None

    @property
    def results(self) -> Path:
        return self.work / "results.jsonl"

    def list_done(self) -> set[str]:
        return {row["name"] for row in read_rows(self.results)} if self.results.exists() else set()

    def make_splits(self) -> tuple[Path, Path, Path]:
        """Returns the files of the training pairs, the development set and the test set."""
        if self.dev and self.test:
            return self.corpus, self.dev, self.test
        full = self.work / "full"
        if not full.is_dir():
            sizes = ("--dev", str(DEV), "--test", str(TEST))
            self.run_nmt("full", "prepare", str(self.corpus), *sizes, "--data", str(full))
        return full / "train.tsv", full / "dev.tsv", full / "test.tsv"

    def prepare(self, job: dict[str, Any]) -> Path:
        """Returns the prepared directory of a job; jobs with the same subset and the same options share one."""
        train, dev, test = self.make_splits()
        key = "-".join([str(job["pairs"]), *(option.lstrip("-") for option in job.get("prepare", []))])
        data = self.work / f"prepared-{key}"
        if not data.is_dir():
            subset = self.work / f"subset-{job['pairs']}.tsv"
            if not subset.exists():
                lines = train.read_text(encoding="utf-8").splitlines(keepends=True)
                random.Random(SEED).shuffle(lines)
                subset.write_text("".join(lines[: job["pairs"]]), encoding="utf-8")
            splits = ("--dev", str(dev), "--test", str(test))
            self.run_nmt(job["name"], "prepare", str(subset), *splits, *job.get("prepare", []), "--data", str(data))
        return data

    def run_job(self, job: dict[str, Any]) -> dict[str, Any]:
        """Prepares, trains and returns the row of a job. Raises CalledProcessError."""
        data, model = self.prepare(job), self.work / job["name"]
        started = time.monotonic()
        self.run_nmt(job["name"], "train", *job["train"], "--data", str(data), "--model", str(model), "--force")
        seconds = time.monotonic() - started
        card = json.loads((model / "model.json").read_text(encoding="utf-8"))
        history = read_rows(model / "history.jsonl")
        return {
            **job,
            "corpus": self.corpus.name,
            "dev_bleu": round(card["development"]["bleu"]["value"], 2),
            "dev_chrf": round(card["development"]["chrf"]["value"], 2),
            "best_epoch": card["epochs"],
            "epochs": len(history),
            "seconds": round(seconds, 1),
        }

    def score(self, job: dict[str, Any]) -> dict[str, Any]:
        """Returns the test scores of a job that is done: beam 5."""
        metrics = ("--metric", "bleu", "--metric", "chrf", "--beam-size", "5", "--json")
        directories = ("--data", str(self.prepare(job)), "--model", str(self.work / job["name"]))
        scores = json.loads(self.run_nmt(job["name"], "evaluate", *metrics, *directories))["scores"]
        return {"name": job["name"], "test": {name: score["value"] for name, score in scores.items()}, "scores": scores}

    def run_nmt(self, name: str, *arguments: str) -> str:
        """Runs a command and returns its standard output; the rest goes to the log of the job."""
        with (self.work / f"{name}.log").open("a", encoding="utf-8") as log:
            print("$ nmt", *arguments, file=log, flush=True)
            command = [sys.executable, "-m", "nmt_cli", *arguments]
            return subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, check=True).stdout


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def run_jobs(sweep: Sweep, jobs: Path) -> int:
    """Runs the jobs that are not done, one after the other, and returns the number that failed."""
    failed: set[str] = set()
    while True:
        done = sweep.list_done() | failed
        job = next((job for job in read_rows(jobs) if job["name"] not in done), None)
        if job is None:
            return len(failed)
        try:
            row = sweep.run_job(job)
        except subprocess.CalledProcessError as error:
            print(f"{job['name']}: nmt {error.cmd[3]} failed, see {sweep.work / job['name']}.log", flush=True)
            failed.add(job["name"])
            continue
        with sweep.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{job['name']}: dev BLEU {row['dev_bleu']}, chrF {row['dev_chrf']}, {row['seconds']:.0f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--dev", type=Path)
    parser.add_argument("--test", type=Path)
    parser.add_argument("--score", action="store_true", help="score the test set instead of training")
    parser.add_argument("--only", action="append", default=[], help="name of a job to score")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    sweep = Sweep(options.corpus, options.work, options.dev, options.test)
    if not options.score:
        return run_jobs(sweep, options.jobs)
    for job in read_rows(options.jobs):
        if job["name"] in options.only:
            print(json.dumps(sweep.score(job)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
