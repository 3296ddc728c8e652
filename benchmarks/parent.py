"""Measures what a parent of another language brings to a small corpus, beside training from initial weights.

    python benchmarks/parent.py PARENT.tsv TRAIN.tsv --dev DEV.tsv --test TEST.tsv --work DIR

PARENT.tsv has the pairs of the parent (20,000 of them are used), TRAIN.tsv those of the child. Parent and children are
trained as `nmt train` chooses by their sizes; the parent makes six epochs. All trainings of a size are of the same
prepared corpus. Each result is a line of DIR/results.jsonl: BLEU and chrF of greedy translations of the development
set, seconds, seconds of processor time, and with --score of the jobs named by --only BLEU and chrF of the test set with
beam 5. Jobs that are done are left out when the command is given again.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from pathlib import Path
from typing import Any

from small import Sweep, read_rows, run_jobs

PARENT_PAIRS, PARENT_EPOCHS = 20_000, 6
PREPARE_PARENT = ["--lowercase", "--source-language", "eng", "--target-language", "deu"]
SIZES = (2_500, 5_000)


def make_jobs(parent: Path, sizes: list[int], prepare: list[str], rates: list[str]) -> list[dict[str, Any]]:
    """Returns the jobs: from initial weights, and from the parent with the default and with other learning rates."""
    jobs = []
    for size in sizes:
        jobs.append({"name": f"{size}-scratch", "pairs": size, "prepare": prepare, "train": []})
        child = ["--init-from", str(parent)]
        jobs.append({"name": f"{size}-child", "pairs": size, "prepare": prepare, "train": child})
        for rate in rates:
            job = {"name": f"{size}-child-{rate}", "pairs": size, "prepare": prepare}
            jobs.append({**job, "train": [*child, "--learning-rate", rate]})
    return jobs


class TimedSweep(Sweep):
    """A sweep that adds the processor time of each job to its row."""

    def run_job(self, job: dict[str, Any]) -> dict[str, Any]:
        before = count_processor_seconds()
        return {**super().run_job(job), "processor_seconds": round(count_processor_seconds() - before, 1)}


def count_processor_seconds() -> float:
    """Returns the processor time of all commands that have ended so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def train_parent(corpus: Path, work: Path) -> Path:
    """Trains the parent, unless it exists, and returns its directory."""
    parent = work / "parent"
    parent.mkdir(parents=True, exist_ok=True)
    sweep = TimedSweep(corpus, parent)
    options = ["--epochs", str(PARENT_EPOCHS)]
    job = {"name": "model", "pairs": PARENT_PAIRS, "prepare": PREPARE_PARENT, "train": options}
    (parent / "jobs.jsonl").write_text(json.dumps(job) + "\n", encoding="utf-8")
    if run_jobs(sweep, parent / "jobs.jsonl"):
        sys.exit("the parent could not be trained")
    return parent / "model"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parent", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--size", type=int, action="append", help=f"pairs of the child; default: {SIZES}")
    parser.add_argument("--rate", action="append", default=[], help="further learning rate of the child")
    parser.add_argument("--languages", nargs=2, default=["eng", "jpn"])
    parser.add_argument("--score", action="store_true", help="score the test set instead of training")
    parser.add_argument("--only", action="append", default=[], help="name of a job to train or score")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    parent = train_parent(options.parent, options.work)
    languages = ["--source-language", options.languages[0], "--target-language", options.languages[1]]
    jobs = make_jobs(parent, options.size or list(SIZES), ["--separate-vocabularies", *languages], options.rate)
    chosen = [job for job in jobs if not options.only or job["name"] in options.only]
    sweep, path = TimedSweep(options.corpus, options.work, options.dev, options.test), options.work / "jobs.jsonl"
    path.write_text("".join(json.dumps(job) + "\n" for job in chosen), encoding="utf-8")
    if not options.score:
        return run_jobs(sweep, path)
    for job in read_rows(path):
        print(json.dumps(sweep.score(job)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
