"""Trains networks one after the other on a corpus and scores them. A JSON line each, so that an interruption keeps
what is done: what has a line already is not run again.

    python benchmarks/recipes.py recipes data/eng-deu.tsv [NAME ...] --work DIR    # the files of examples/recipes
    python benchmarks/recipes.py attention FULL.tsv --work DIR --epochs 5          # all --attention, else the defaults
    python benchmarks/recipes.py table DIR/results.jsonl                           # as Markdown

Options that are not known here are passed on to `nmt train`; `--test 5000` goes to `nmt prepare`, for scores of long
sentences that tell something: of the bundled corpus only 3 % are over 12 words. Test split, free-running, beam 5.
What the commands said is in DIR/NAME.log, their translations in DIR/NAME.tsv.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nmt_cli.evaluation.analysis.sentence_groups import split_words
from nmt_cli.evaluation.analysis.significance import bootstrap_interval
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.score import Score
from nmt_cli.model.config import ATTENTIONS

RECIPES = Path(__file__).parent.parent / "examples" / "recipes"
BEAM = 5
SHORT = 12  # words of a short source at most
RESAMPLES = 1000  # of the bootstrap, as in `nmt evaluate`


@dataclass(frozen=True)
class Job:
    """One network to train: its name, the options of both commands, and what of them decides the prepared corpus."""

    name: str
    prepare: tuple[str, ...]
    train: tuple[str, ...]
    preparation: str = ""  # equal for jobs that share a prepared corpus


@dataclass(frozen=True)
class Translations:
    sources: list[str]
    references: list[str]
    hypotheses: list[str]

    @classmethod
    def read(cls, path: Path) -> Translations:
        """From what `nmt evaluate --sentences` wrote."""
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        return cls(*([row[name] for row in rows] for name in ("source", "reference", "hypothesis")))

    def only(self, *, short: bool) -> Translations:
        """Those of sources of up to SHORT words, or those of longer ones."""
        rows = [row for row, source in enumerate(self.sources) if (len(split_words(source)) <= SHORT) == short]
        texts = (self.sources, self.references, self.hypotheses)
        return Translations(*([column[row] for row in rows] for column in texts))

    def lowercased(self) -> Translations:
        lower = [[text.lower() for text in column] for column in (self.references, self.hypotheses)]
        return Translations(self.sources, *lower)

    def score(self, metric: str) -> float | None:
        """0-100; None of no sentences."""
        return round(self.measured(metric).value, 2) if self.hypotheses else None

    def interval(self, metric: str) -> list[float] | None:
        """The limits of the 95 % interval; None of a single sentence or none."""
        found = bootstrap_interval(self.measured(metric).statistics, RESAMPLES) if len(self.hypotheses) > 1 else None
        return [round(found.low, 2), round(found.high, 2)] if found else None

    def measured(self, metric: str) -> Score:
        return METRICS[metric](self.hypotheses, [[text] for text in self.references])


def jobs_of_recipes(folder: Path, names: Sequence[str]) -> Iterator[Job]:
    known = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    for name in chosen(names, list(known)):
        options = ("--config", str(known[name]))
        tables = tomllib.loads(known[name].read_text(encoding="utf-8"))
        yield Job(name, options, options, json.dumps(tables.get("prepare", {}), sort_keys=True))


def jobs_of_attention(epochs: int, names: Sequence[str]) -> Iterator[Job]:
    for attention in chosen(names, list(ATTENTIONS)):
        yield Job(f"attention-{attention}", (), ("--attention", attention, "--epochs", str(epochs)))


def chosen(names: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    """`names`, or all that are known where none is given."""
    for name in names:
        if name not in known:
            raise SystemExit(f"there is no {name!r}: there are {', '.join(known)}")
    return names or known


@dataclass(frozen=True)
class Bench:
    """Where everything lies."""

    corpus: Path
    work: Path
    extra: tuple[str, ...] = ()  # options of `nmt train` for all jobs
    test: str | None = None  # sentences of the test split, as `nmt prepare --test` takes them

    @property
    def results(self) -> Path:
        return self.work / "results.jsonl"

    def run(self, job: Job) -> dict[str, Any]:
        """Prepares (unless a job before did), trains, translates and scores. Raises CalledProcessError."""
        data, model, sentences = self.prepared(job), self.work / job.name, self.work / f"{job.name}.tsv"
        started = time.monotonic()
        self.nmt(job, "train", *job.train, *self.extra, "--data", str(data), "--model", str(model), "--force")
        seconds = time.monotonic() - started
        asked = ("--metric", "bleu", "--metric", "chrf", "--beam-size", str(BEAM), "--json")
        places = ("--data", str(data), "--model", str(model), "--sentences", str(sentences))
        told = json.loads(self.nmt(job, "evaluate", *asked, *places))
        return {
            "name": job.name,
            "corpus": self.corpus.name,
            **scored(told, Translations.read(sentences)),
            **trained(model),
            "seconds": round(seconds, 1),
        }

    def prepared(self, job: Job) -> Path:
        """The prepared corpus of a job; complete as soon as it is there."""
        sized = ("--test", self.test) if self.test else ()
        decisive = f"{job.preparation} {self.test}".encode() + self.corpus.read_bytes()
        key = hashlib.sha256(decisive).hexdigest()[:8]
        data = self.work / f"prepared-{key}"
        if not data.is_dir():
            self.nmt(job, "prepare", str(self.corpus), *job.prepare, *sized, "--data", str(data))
        return data

    def nmt(self, job: Job, *arguments: str) -> str:
        """Runs a command and returns its standard output; what it says else goes to the job's log."""
        with (self.work / f"{job.name}.log").open("a", encoding="utf-8") as log:
            print("$ nmt", *arguments, file=log, flush=True)
            command = [sys.executable, "-m", "nmt_cli", *arguments]
            return subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, check=True).stdout

    def done(self) -> set[str]:
        return {row["name"] for row in read_rows(self.results)} if self.results.exists() else set()


def scored(told: dict[str, Any], texts: Translations) -> dict[str, Any]:
    """The scores of a row, from the JSON of `nmt evaluate` and its translations."""
    bleu, chrf = told["scores"]["bleu"], told["scores"]["chrf"]
    return {
        "bleu": round(bleu["value"], 2),
        "bleu_interval95": [round(limit, 2) for limit in bleu["interval95"]],
        "bleu_lowercased": texts.lowercased().score("bleu"),
        "chrf": round(chrf["value"], 2),
        "signatures": {"bleu": bleu["signature"], "chrf": chrf["signature"]},
        "beam_size": told["beam_size"],
        "sentences": told["sentences"],
        "short": group(texts.only(short=True)),
        "long": group(texts.only(short=False)),
    }


def group(own: Translations) -> dict[str, Any]:
    return {
        "sentences": len(own.sources),
        "bleu": own.score("bleu"),
        "bleu_interval95": own.interval("bleu"),
        "chrf": own.score("chrf"),
    }


def trained(model: Path) -> dict[str, Any]:
    """What the model directory tells of its training."""
    card = json.loads((model / "model.json").read_text(encoding="utf-8"))
    with np.load(model / "weights.npz") as weights:
        count = sum(weights[name].size for name in weights.files)
    return {
        "weights": int(count),
        "epochs": len(read_rows(model / "history.jsonl")),
        "best_epoch": card["epochs"],
        "dev_bleu": round(card["development"]["bleu"]["value"], 2),
        "network": card["network"],
        "training": card["training"],
        "versions": card["versions"],
    }


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def run_all(bench: Bench, jobs: Sequence[Job]) -> int:
    """Runs what is not done yet; 1 if one of them failed, which does not keep the next from its turn."""
    bench.work.mkdir(parents=True, exist_ok=True)
    done, failed = bench.done(), 0
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
        with bench.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        print(f"{job.name}: BLEU {row['bleu']}, chrF {row['chrf']}, {row['seconds']:.0f} s", flush=True)
    return failed


def table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line of Markdown for each row, and the signatures below."""
    short, long = f"BLEU, to {SHORT} words", f"BLEU, over {SHORT} words"
    header = ["network", "weights", "dev BLEU", "test BLEU", "lower-cased", "chrF2", short, long, "best epoch", "time"]
    for cells in (header, ["---"] * len(header), *map(table_cells, rows)):
        yield "| " + " | ".join(cells) + " |"
    yield ""
    for signature in sorted({row["signatures"]["bleu"] for row in rows}):
        yield f"BLEU `{signature}`, beam {BEAM}."


def table_cells(row: dict[str, Any]) -> list[str]:
    minutes, seconds = divmod(round(row["seconds"]), 60)
    return [
        row["name"],
        f"{row['weights'] / 1e6:.1f} M",
        number(row["dev_bleu"]),
        with_interval(row),
        number(row["bleu_lowercased"]),
        number(row["chrf"]),
        *(f"{with_interval(row[name])} ({row[name]['sentences']:,})" for name in ("short", "long")),
        f"{row['best_epoch']} of {row['epochs']}",
        f"{minutes}:{seconds:02}",
    ]


def with_interval(values: dict[str, Any]) -> str:
    """BLEU and half its 95 % interval."""
    low, high = values["bleu_interval95"] or (None, None)
    return number(values["bleu"]) + (f" ± {(high - low) / 2:.1f}" if low is not None else "")


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = made.add_subparsers(dest="command", required=True)
    recipes = commands.add_parser("recipes", help="train the recipes")
    recipes.add_argument("--recipes", type=Path, default=RECIPES, help="folder of the recipes")
    attention = commands.add_parser("attention", help="train the default network with each attention")
    attention.add_argument("--epochs", type=int, default=5)
    for one in (recipes, attention):
        one.add_argument("corpus", type=Path)
        one.add_argument("names", nargs="*", help="these only")
        one.add_argument("--work", type=Path, required=True, help="directory for models, logs and results.jsonl")
        one.add_argument("--test", help="test split, as `nmt prepare --test` takes it")
    commands.add_parser("table", help="print results").add_argument("results", type=Path, nargs="+")
    return made


def main() -> int:
    given, extra = parser().parse_known_args()
    if given.command == "table":
        print("\n".join(table([row for path in given.results for row in read_rows(path)])))
        return 0
    own = given.command == "recipes"
    jobs = jobs_of_recipes(given.recipes, given.names) if own else jobs_of_attention(given.epochs, given.names)
    return run_all(Bench(given.corpus, given.work, tuple(extra), given.test), list(jobs))


if __name__ == "__main__":
    sys.exit(main())
