"""How good a training is after each minute, beside Joey NMT's on the same machine and the same pairs.

    python benchmarks/minutes.py nmt --data PREPARED --corpus NAME --system NAME --work DIR [options of `nmt train`]
    python benchmarks/minutes.py joeynmt --data PREPARED --corpus NAME --work DIR [--minutes 60] [--units 256]
    python benchmarks/minutes.py draw [--output docs/minutes.png]

Minutes count from the moment the command is given: start, validation and saving are in them. Dev BLEU and chrF of
greedy translations after each validation, both with our metrics: those of `nmt train` as it notes them, those of Joey
NMT from the translations that it writes. Its training is ended when the time is over; the checkpoint with the best dev
BLEU then translates the test split with beam 5. `nmt` and `joeynmt` add a line to minutes.jsonl, of which `draw` makes
the picture: a column for each corpus.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import NMT, add_options, append_row, install_peers, make_parser, read_rows, run_nmt
from joey import write_settings, write_texts

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.metrics.bleu import compute_bleu
from nmt_cli.evaluation.metrics.chrf import compute_chrf
from nmt_cli.visuals.canvas import FONT_SIZE, create_figure, style_axes, write_figure
from nmt_cli.visuals.curves import LINE_STYLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).with_name("minutes.jsonl")
PICTURE = Path(__file__).parents[1] / "docs" / "minutes.png"
POLLING = 0.5  # seconds
SCORES = {"bleu": "development BLEU (greedy)", "chrf": "development chrF (greedy)"}
PEER = "Joey NMT"
VALIDATION = re.compile(r"^Steps: (\d+)\b", re.MULTILINE)  # of the peer

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


def measure_nmt(options: Namespace, train: Sequence[str]) -> list[Point]:
    """Returns a point for each validation of `nmt train`."""
    model = options.work / "model"
    history = model / "history.jsonl"
    history.unlink(missing_ok=True)
    command = [*NMT, "train", "--data", str(options.data), "--model", str(model), "--force", *train]
    times = follow(command, options.work / "train.log", lambda: count_lines(history))
    rows = read_rows(history)
    return make_curve(times, [(row["bleu"], row["chrf"]) for row in rows])


def make_curve(times: Sequence[float], scores: Sequence[tuple[float, float]]) -> list[Point]:
    points = [(seconds / 60, *pair) for seconds, pair in zip(times, scores, strict=True)]
    return [dict(zip(("minutes", *SCORES), (round(value, 2) for value in point), strict=True)) for point in points]


def count_lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n") if path.exists() else 0


def measure_joeynmt(options: Namespace) -> list[Point]:
    """Returns a point for each validation of `joeynmt train`, which is ended when the time is over."""
    joey = [install_peers(options.peers), "-m", "joeynmt"]
    work, corpus = options.work, PreparedCorpus.load(options.data)
    write_texts(corpus, work)
    validated = {"validated": options.validated, "logged": options.validated // 3}
    settings = write_settings(work / "joeynmt.yaml", units=options.units, embedding=options.embedding, **validated)
    noted = work / "model" / "validations.txt"
    noted.unlink(missing_ok=True)
    train = [*joey, "train", str(settings), "--skip-test"]
    times = follow(train, work / "train.log", lambda: len(read_steps(noted)), 60 * options.minutes)
    return make_curve(times, [score(corpus, work, steps) for steps in read_steps(noted)[: len(times)]])


def score_test(options: Namespace) -> str:
    """Returns the scores of the peer's best checkpoint on the test split."""
    work, python = options.work, install_peers(options.peers)
    test = [python, "-m", "joeynmt", "test", str(work / "joeynmt.yaml"), "-o", str(work / "translated")]
    subprocess.run(test, check=True, capture_output=True)
    texts = ("--hypothesis", str(work / "translated.test"), "--reference", str(work / "test.target"))
    return run_nmt(work / "evaluate.log", "evaluate", "--metric", "bleu", "--metric", "chrf", *texts)


def score(corpus: PreparedCorpus, work: Path, steps: int) -> tuple[float, float]:
    """Returns BLEU and chrF of the translations that the peer wrote after so many updates."""
    from nmt_cli.training.validation import choose_scoring

    references = [sentence.references for sentence in corpus.read_references("dev")]
    scoring = choose_scoring(corpus, references)
    hypotheses = (work / "model" / f"{steps}.hyps").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    bleu, chrf = (compute(hypotheses, references, scoring) for compute in (compute_bleu, compute_chrf))
    return bleu.value, chrf.value


def read_steps(noted: Path) -> list[int]:
    """Returns after how many updates the peer was validated, as far as it has noted that."""
    return [int(steps) for steps in VALIDATION.findall(noted.read_text(encoding="utf-8"))] if noted.exists() else []


def build_figure(rows: Sequence[dict[str, Any]]) -> Figure:
    """Draws a column for each corpus, with BLEU above and chrF below, and a line for each system."""
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    systems = sorted(dict.fromkeys(row["system"] for row in rows), key=lambda name: name == PEER)
    styles = dict(zip(systems, LINE_STYLES, strict=False))
    figure = create_figure(3.6 * len(corpora), 5.6)
    panels = figure.subplots(len(SCORES), len(corpora), squeeze=False, sharex="col", sharey="row")
    figure.subplots_adjust(hspace=0.16, wspace=0.1)
    handles = {}
    for line, (metric, title) in zip(panels, SCORES.items(), strict=True):
        for axes, corpus in zip(line, corpora, strict=True):
            style_axes(axes, corpus if metric == "bleu" else "")
            for row in (row for row in rows if row["corpus"] == corpus):
                handles[row["system"]] = plot_curve(axes, row, metric, styles[row["system"]])
        line[0].set_ylim(bottom=0)  # when all curves are drawn: the panels of a line share it
        line[0].set_ylabel(title, fontsize=FONT_SIZE)
    for axes in panels[-1]:
        axes.set_xlim(left=0)
        axes.set_xlabel("minutes on two cores", fontsize=FONT_SIZE)
    curves = [handles[name] for name in systems]
    figure.legend(curves, systems, loc="upper center", ncols=len(systems), frameon=False, bbox_to_anchor=(0.5, 1.0))
    return figure


def plot_curve(axes: Any, row: dict[str, Any], metric: str, style: tuple[str, str, str]) -> Any:
    colour, dashes, marker = style
    minutes, values = ([point[key] for point in row["curve"]] for key in ("minutes", metric))
    (curve,) = axes.plot(minutes, values, color=colour, linestyle=dashes, marker=marker, markersize=4, clip_on=False)
    return curve


def describe(row: dict[str, Any]) -> str:
    """Returns dev BLEU by minutes."""
    points = ", ".join(f"{point['minutes']:.1f} {point['bleu']:.1f}" for point in row["curve"])
    return f"{row['corpus']}, {row['system']}: {points}"


def parse_options() -> tuple[Namespace, list[str]]:
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    made: dict[str, ArgumentParser] = {name: commands.add_parser(name) for name in ("nmt", "joeynmt", "draw")}
    for command in (made["nmt"], made["joeynmt"]):
        add_options(command, "data", "work")
        command.add_argument("--corpus", required=True, help="name of the column in the picture")
        command.add_argument("--machine", default="?", help="name in machines.md")
    made["nmt"].add_argument("--system", required=True, help="name of the line in the picture")
    add_options(made["nmt"], "seed")
    add_options(made["joeynmt"], "peers")
    made["joeynmt"].set_defaults(seed=1, system=PEER)  # the seed of its settings
    for name, default in {"minutes": 60.0, "units": 512, "embedding": 256, "validated": 75}.items():
        made["joeynmt"].add_argument(f"--{name}", type=type(default), default=default)
    made["draw"].add_argument("--output", type=Path, default=PICTURE)
    for command in made.values():
        command.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_known_args()


def main() -> None:
    options, train = parse_options()
    if options.command == "draw":
        rows = read_rows(options.results)
        names = "".join(f"{row['corpus']} {row['system']}" for row in rows)
        write_figure(options.output, names, lambda: build_figure(rows), title="BLEU and chrF by minutes of training")
        print(*map(describe, rows), sep="\n")
        return
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.command == "nmt":
        command = shlex.join(["nmt", "train", *train])
        curve = measure_nmt(options, [*train, "--seed", str(options.seed)])
    else:
        command = f"joeynmt train, {options.minutes:g} minutes"
        curve = measure_joeynmt(options)
    row = {name: getattr(options, name) for name in ("corpus", "system", "machine", "seed")}
    row |= {"command": command, "cores": len(os.sched_getaffinity(0)), "curve": curve}
    append_row(options.results, row)
    print(describe(row), score_test(options) if options.command == "joeynmt" else "", sep="\n")


if __name__ == "__main__":
    main()
