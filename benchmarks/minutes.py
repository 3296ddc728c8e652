"""How good a training is after each minute, beside Joey NMT's on the same machine and the same pairs.

    python benchmarks/minutes.py nmt PREPARED --corpus NAME --system NAME --work DIR [options of `nmt train`]
    python benchmarks/minutes.py joeynmt PREPARED --corpus NAME --work DIR --minutes 15 [--peers DIRECTORY]
    python benchmarks/minutes.py draw [-o docs/minutes.png]

Minutes count from the moment the command is given: start, validation and saving are in them. Dev BLEU and chrF of
greedy translations after each validation, both with our scorers: those of `nmt train` as it notes them, those of Joey
NMT from the translations that it writes (its network and settings are those of `joeynmt_hour.py`). `nmt` and `joeynmt`
print a line and add it to minutes.jsonl, `draw` makes the picture of all lines: a column for each corpus.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joeynmt_hour import settings, write_texts
from recipes import read_rows
from translate import install

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.metrics.bleu import compute_bleu
from nmt_cli.evaluation.metrics.chrf import compute_chrf
from nmt_cli.visuals.canvas import FONT_SIZE, create_figure, style_axes, write_figure
from nmt_cli.visuals.curves import LINE_STYLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
RESULTS = HERE / "minutes.jsonl"
PICTURE = HERE.parent / "docs" / "minutes.png"
POLLING = 0.5  # seconds
VALIDATED = 75  # updates of the peer between two validations
SCORES = (("bleu", "development BLEU (greedy)"), ("chrf", "development chrF (greedy)"))
PEER = "Joey NMT"
SEED = 1  # that of the peer's settings
NOTED = re.compile(r"^Steps: (\d+)\b", re.MULTILINE)  # a validation of the peer

Point = dict[str, float]  # minutes, bleu, chrf


def follow(command: Sequence[str], log: Path, count: Callable[[], int], limit: float | None = None) -> list[float]:
    """Runs a command; returns after how many seconds `count` reached 1, 2, ... The limit is in seconds.

    Raises CalledProcessError if the command fails.
    """
    times: list[float] = []
    with log.open("w", encoding="utf-8") as output:
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=output, stderr=output)
        is_over = False
        while not is_over:
            is_over = process.poll() is not None
            seconds = time.monotonic() - started
            times += [seconds] * (count() - len(times))
            if limit is not None and seconds > limit:
                process.kill()
                process.wait()
                return times
            time.sleep(0 if is_over else POLLING)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return times


def measure_nmt(data: Path, work: Path, options: Sequence[str]) -> list[Point]:
    """Returns a point for each validation of `nmt train`."""
    model = work / "model"
    history = model / "history.jsonl"
    command = [sys.executable, "-m", "nmt_cli", "train", "--data", str(data), "--model", str(model), "--force"]
    history.unlink(missing_ok=True)
    times = follow([*command, *options], work / "train.log", lambda: count_lines(history))
    return [
        make_point(seconds, record["bleu"], record["chrf"])
        for seconds, record in zip(times, read_rows(history), strict=True)
    ]


def measure_joeynmt(data: Path, work: Path, minutes: float, peers: Path) -> list[Point]:
    """Returns a point for each validation of `joeynmt train`, which is ended after so many minutes."""
    from nmt_cli.training.validation import choose_scoring

    python = install(peers.absolute())
    corpus = PreparedCorpus.load(data)
    config = work / "config.yaml"
    chosen = settings(work, write_texts(corpus, work))
    chosen["training"] |= {"validation_freq": VALIDATED, "logging_freq": VALIDATED // 3}
    config.write_text(json.dumps(chosen, indent=1), encoding="utf-8")
    noted = work / "model" / "validations.txt"
    noted.unlink(missing_ok=True)
    command = [python, "-m", "joeynmt", "train", str(config), "--skip-test"]
    times = follow(command, work / "train.log", lambda: len(read_steps(noted)), 60 * minutes)

    references = [sentence.references for sentence in corpus.read_references("dev")]
    scoring = choose_scoring(corpus, references)
    points = []
    for seconds, steps in zip(times, read_steps(noted), strict=False):
        hypotheses = (work / "model" / f"{steps}.hyps").read_text(encoding="utf-8").removesuffix("\n").split("\n")
        scores = (compute(hypotheses, references, scoring) for compute in (compute_bleu, compute_chrf))
        points.append(make_point(seconds, *(score.value for score in scores)))
    return points


def count_lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n") if path.exists() else 0


def read_steps(noted: Path) -> list[int]:
    """Returns after how many updates the peer was validated, as far as it has noted that."""
    return [int(steps) for steps in NOTED.findall(noted.read_text(encoding="utf-8"))] if noted.exists() else []


def make_point(seconds: float, bleu: float, chrf: float) -> Point:
    return {"minutes": round(seconds / 60, 2), "bleu": round(bleu, 2), "chrf": round(chrf, 2)}


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Writes the picture of all curves."""
    names = "".join(f"{row['corpus']} {row['system']}" for row in rows)
    write_figure(path, names, lambda: build_figure(rows), title="BLEU and chrF by minutes of training")


def build_figure(rows: Sequence[dict[str, Any]]) -> Figure:
    """Draws a column for each corpus, with BLEU above and chrF below, and a line for each system."""
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    systems = sorted(dict.fromkeys(row["system"] for row in rows), key=lambda name: name == PEER)
    styles = dict(zip(systems, LINE_STYLES, strict=False))
    figure = create_figure(3.6 * len(corpora), 5.6)
    panels = figure.subplots(len(SCORES), len(corpora), squeeze=False, sharex="col", sharey="row")
    figure.subplots_adjust(hspace=0.16, wspace=0.1)
    for line, (score, title) in zip(panels, SCORES, strict=True):
        for axes, corpus in zip(line, corpora, strict=True):
            style_axes(axes, corpus if score == "bleu" else "")
            for row in (row for row in rows if row["corpus"] == corpus):
                plot_curve(axes, row, score, styles[row["system"]])
        line[0].set_ylim(bottom=0)  # when all curves are drawn: the panels of a line share it
        line[0].set_ylabel(title, fontsize=FONT_SIZE)
    for axes in panels[-1]:
        axes.set_xlim(left=0)
        axes.set_xlabel("minutes on two cores", fontsize=FONT_SIZE)
    by_name = {
        name: handle for axes in panels[0] for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    chosen = [by_name[name] for name in systems]
    figure.legend(chosen, systems, loc="upper center", ncols=len(systems), frameon=False, bbox_to_anchor=(0.5, 1.0))
    return figure


def plot_curve(axes: Any, row: dict[str, Any], score: str, style: tuple[str, str, str]) -> None:
    colour, dashes, marker = style
    minutes, values = ([point[key] for point in row["curve"]] for key in ("minutes", score))
    axes.plot(
        minutes, values, color=colour, linestyle=dashes, marker=marker, markersize=4, clip_on=False, label=row["system"]
    )


def describe(row: dict[str, Any]) -> Iterator[str]:
    """Yields one line for each curve: dev BLEU by minutes."""
    points = ", ".join(f"{point['minutes']:.1f} {point['bleu']:.1f}" for point in row["curve"])
    yield f"{row['corpus']}, {row['system']}: {points}"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = made.add_subparsers(dest="command", required=True)
    for name in ("nmt", "joeynmt"):
        command = commands.add_parser(name)
        command.add_argument("data", type=Path)
        command.add_argument("--corpus", required=True, help="name of the column in the picture")
        command.add_argument("--work", type=Path, required=True, help="directory for model and logs")
        command.add_argument("--machine", default="?", help="name in machines.md")
        command.add_argument("--results", type=Path, default=RESULTS)
    commands.choices["nmt"].add_argument("--system", required=True, help="name of the line in the picture")
    commands.choices["nmt"].add_argument("--seed", type=int, default=SEED)
    commands.choices["joeynmt"].add_argument("--minutes", type=float, default=15)
    commands.choices["joeynmt"].add_argument("--peers", type=Path, help="its virtual environment, made if missing")
    drawing = commands.add_parser("draw")
    drawing.add_argument("--results", type=Path, default=RESULTS)
    drawing.add_argument("-o", "--output", type=Path, default=PICTURE)
    return made


def main() -> None:
    arguments, train_options = parser().parse_known_args()
    if arguments.command == "draw":
        rows = read_rows(arguments.results)
        draw(rows, arguments.output)
        print(*(line for row in rows for line in describe(row)), sep="\n")
        return
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if arguments.command == "nmt":
        system, told = arguments.system, shlex.join(["nmt", "train", *train_options])
        seed = arguments.seed
        curve = measure_nmt(arguments.data, work, [*train_options, "--seed", str(seed)])
    else:
        system, told = PEER, f"joeynmt train, {arguments.minutes:g} minutes"
        seed = SEED
        curve = measure_joeynmt(arguments.data, work, arguments.minutes, arguments.peers or work / "peers")
    row = {"corpus": arguments.corpus, "system": system, "command": told, "machine": arguments.machine, "seed": seed}
    row |= {"cores": len(os.sched_getaffinity(0)), "curve": curve}
    with arguments.results.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(*describe(row), sep="\n")


if __name__ == "__main__":
    main()
