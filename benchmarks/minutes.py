"""How good a training run is after each minute, beside Joey NMT's and Marian's on the same machine and the same pairs.

    python benchmarks/minutes.py nmt --data PREPARED --corpus NAME --system NAME --work DIR [options of `nmt train`]
    python benchmarks/minutes.py joeynmt --data PREPARED --corpus NAME --work DIR [--minutes 60] [--units 256]
    python benchmarks/minutes.py marian --data PREPARED --corpus NAME --work DIR [--minutes 120]
    python benchmarks/minutes.py draw [--output docs/minutes.png]

Minutes count from the moment the command is given: start, validation and saving are in them. Dev BLEU and chrF of
greedy translations after each validation, with our metrics: those of `nmt train` as it notes them, those of the peers
from the translations that they write. A run is ended when the time is over; Joey NMT's checkpoint with the best
dev BLEU then translates the test split with beam 5. Marian trains a Transformer as small as the network of
examples/demo.toml, with our joint pieces. Each adds a line to minutes.jsonl, of which `draw` makes the picture: a
column for each corpus and number of cores. On one core it shows the processor's own minutes, which other work does not
lengthen; run all with `taskset -c 0` for that.
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
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import NMT, Cost, add_options, append_row, install_peers, make_parser, read_rows, run_nmt
from joey import SIDES, learn_subwords, write_settings, write_texts
from marian import Marian

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_bleu, compute_chrf
from nmt_cli.visuals.canvas import FONT_SIZE, create_figure, style_axes, write_figure
from nmt_cli.visuals.curves import LINE_STYLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).with_name("minutes.jsonl")
PICTURE = Path(__file__).parents[1] / "docs" / "minutes.png"
POLLING = 0.5  # seconds
SCORES = {"bleu": "development BLEU (greedy)", "chrf": "development chrF (greedy)"}
Point = dict[str, float]  # minutes, processor_minutes, bleu, chrf


class Peer(NamedTuple):
    """Where a peer notes its validations, below the working directory."""

    name: str
    noted: str
    pattern: re.Pattern[str]  # the number of updates
    translations: str  # of the development split, after so many updates

    def read_steps(self, work: Path) -> list[int]:
        """Returns after how many updates the peer was validated, as far as it has noted that."""
        noted = work / self.noted
        return [*map(int, self.pattern.findall(noted.read_text(encoding="utf-8")))] if noted.exists() else []


PEERS = {
    "joeynmt": Peer("Joey NMT", "model/validations.txt", re.compile(r"^Steps: (\d+)\b", re.MULTILINE), "model/{}.hyps"),
    "marian": Peer("Marian", "validations.log", re.compile(r"\bUp\. (\d+) : bleu\b"), "dev.{}"),
}
# Without these variables, Intel's products are slow on AMD.
MARIAN_ENVIRONMENT = "env MKL_DEBUG_CPU_TYPE=5 MKL_ENABLE_INSTRUCTIONS=AVX2 OMP_NUM_THREADS=1".split()
MARIAN_SETTINGS = """--type transformer --dim-emb 192 --transformer-dim-ffn 768 --transformer-ffn-activation relu
    --transformer-heads 8 --enc-depth 3 --dec-depth 2 --tied-embeddings-all --transformer-dropout 0.1
    --label-smoothing 0.1 --learn-rate 0.001 --lr-warmup 1000 --lr-decay-inv-sqrt 2000 --clip-norm 1
    --optimizer-params 0.9 0.98 1e-09 --exponential-smoothing 1e-3 --mini-batch 64 --maxi-batch 100 --max-length 80
    --workspace 600 --seed 1 --save-freq 5000u --overwrite --valid-metrics bleu --valid-freq 500u --beam-size 1
    --valid-mini-batch 64 --quiet-translation --early-stopping 0""".split()


def follow(command: Sequence[str], log: Path, count: Callable[[], int], limit: float | None = None) -> list[Cost]:
    """Runs a command; returns after how many seconds `count` reached 1, 2, ... The limit is in seconds.

    Raises CalledProcessError if the command fails.
    """
    times: list[Cost] = []
    with log.open("w", encoding="utf-8") as output:
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=output, stderr=output)
        is_over = False
        while not is_over:
            cost = Cost(time.monotonic() - started, read_processors(process.pid))
            is_over = process.poll() is not None
            times += [cost] * (count() - len(times))
            if limit is not None and cost.wall > limit:
                process.kill()
                process.wait()
                return times
            time.sleep(0 if is_over else POLLING)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return times


def read_processors(process: int) -> float:
    """Returns the seconds that processors have spent on a process and on those it has waited for."""
    numbers = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:15]
    return sum(map(int, numbers)) / os.sysconf("SC_CLK_TCK")


def measure_nmt(options: Namespace, train: Sequence[str]) -> list[Point]:
    """Returns a point for each validation of `nmt train`."""
    model = options.work / "model"
    history = model / "history.jsonl"
    history.unlink(missing_ok=True)
    command = [*NMT, "train", "--data", str(options.data), "--model", str(model), "--force", *train]
    times = follow(command, options.work / "train.log", lambda: count_lines(history), options.limit)
    rows = read_rows(history)[: len(times)]
    return make_curve(times, [(row["bleu"], row["chrf"]) for row in rows])


def make_curve(times: Sequence[Cost], scores: Sequence[tuple[float, float]]) -> list[Point]:
    points = [(cost.wall / 60, cost.processors / 60, *pair) for cost, pair in zip(times, scores, strict=True)]
    names = ("minutes", "processor_minutes", *SCORES)
    return [dict(zip(names, (round(value, 2) for value in point), strict=True)) for point in points]


def count_lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n") if path.exists() else 0


def measure_peer(options: Namespace) -> list[Point]:
    """Returns a point for each validation of a peer's training, which is ended when the time is over."""
    peer, work, corpus = PEERS[options.command], options.work, PreparedCorpus.load(options.data)
    write_texts(corpus, work)
    (work / peer.noted).unlink(missing_ok=True)
    command = (make_joeynmt if options.command == "joeynmt" else make_marian)(options, corpus)
    times = follow(command, work / "train.log", lambda: len(peer.read_steps(work)), options.limit)
    steps = peer.read_steps(work)[: len(times)]
    return make_curve(times, [score(corpus, work / peer.translations.format(updates)) for updates in steps])


def make_joeynmt(options: Namespace, corpus: PreparedCorpus) -> list[str]:
    """Returns the command that trains Joey NMT's network of our default shape, with subwords of its own."""
    learn_subwords(corpus, options.work)
    validated = {"validated": options.validated, "logged": options.validated // 3}
    widths = {"units": options.units, "embedding": options.embedding}
    settings = write_settings(options.work / "joeynmt.yaml", **widths, **validated)
    return [install_peers(options.peers), "-m", "joeynmt", "train", str(settings), "--skip-test"]


def make_marian(options: Namespace, _: PreparedCorpus) -> list[str]:
    """Returns the command that trains Marian's Transformer on the written lines, with our joint pieces."""
    work: Path = options.work
    marian = Marian(options.marian, work, [options.data / "joint.spm"] * 2)
    train, dev = ([str(work / f"{split}.{side}") for side in SIDES] for split in ("train", "dev"))
    written = ["--valid-translation-output", str(work / PEERS["marian"].translations.format("{U}"))]
    noted = ["--valid-log", str(work / PEERS["marian"].noted), "--log", str(work / "marian.log")]
    paths = ["--model", str(work / "model.npz"), "--train-sets", *train, "--valid-sets", *dev, *written, *noted]
    cores = ["--cpu-threads", str(len(os.sched_getaffinity(0)))]
    return [*MARIAN_ENVIRONMENT, marian.command, "train", *paths, *marian.vocabularies, *MARIAN_SETTINGS, *cores]


def score_test(options: Namespace) -> str:
    """Returns the scores of the peer's best checkpoint on the test split."""
    work, python = options.work, install_peers(options.peers)
    test = [python, "-m", "joeynmt", "test", str(work / "joeynmt.yaml"), "-o", str(work / "translated")]
    subprocess.run(test, check=True, capture_output=True)
    texts = ("--hypothesis", str(work / "translated.test"), "--reference", str(work / "test.target"))
    return run_nmt(work / "evaluate.log", "evaluate", "--metric", "bleu", "--metric", "chrf", *texts)


def score(corpus: PreparedCorpus, translations: Path) -> tuple[float, float]:
    """Returns BLEU and chrF of the translations of the development split in a file."""
    from nmt_cli.training.validation import choose_scoring

    references = [sentence.references for sentence in corpus.read_references("dev")]
    scoring = choose_scoring(corpus, references)
    hypotheses = translations.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    bleu, chrf = (compute(hypotheses, references, scoring) for compute in (compute_bleu, compute_chrf))
    return bleu.value, chrf.value


def build_figure(rows: Sequence[dict[str, Any]]) -> Figure:
    """Draws a column for each corpus and number of cores, BLEU above and chrF below, and a line for each system."""
    columns = list(dict.fromkeys((row["corpus"], row["cores"]) for row in rows))
    peers = [peer.name for peer in PEERS.values()]
    systems = sorted(dict.fromkeys(row["system"] for row in rows), key=peers.__contains__)
    styles = dict(zip(systems, LINE_STYLES, strict=False))
    figure = create_figure(3.6 * len(columns), 5.6)
    panels = figure.subplots(len(SCORES), len(columns), squeeze=False, sharex="col", sharey="row")
    figure.subplots_adjust(hspace=0.16, wspace=0.1)
    handles = {}
    for line, (metric, title) in zip(panels, SCORES.items(), strict=True):
        for axes, (corpus, cores) in zip(line, columns, strict=True):
            style_axes(axes, corpus if metric == "bleu" else "")
            for row in (row for row in rows if (row["corpus"], row["cores"]) == (corpus, cores)):
                handles[row["system"]] = plot_curve(axes, row, metric, styles[row["system"]])
        line[0].set_ylim(bottom=0)  # when all curves are drawn: the panels of a line share it
        line[0].set_ylabel(title, fontsize=FONT_SIZE)
    for axes, (_, cores) in zip(panels[-1], columns, strict=True):
        axes.set_xlim(left=0)
        axes.set_xlabel("minutes of one processor" if cores == 1 else "minutes on two cores", fontsize=FONT_SIZE)
    curves = [handles[name] for name in systems]
    figure.legend(curves, systems, loc="upper center", ncols=len(systems), frameon=False, bbox_to_anchor=(0.5, 1.0))
    return figure


def find_clock(row: dict[str, Any]) -> str:
    """Returns the key of the minutes of a curve that count: on one core, the processor's own."""
    return "processor_minutes" if row["cores"] == 1 else "minutes"


def plot_curve(axes: Any, row: dict[str, Any], metric: str, style: tuple[str, str, str]) -> Any:
    colour, dashes, marker = style
    minutes, values = ([point[key] for point in row["curve"]] for key in (find_clock(row), metric))
    (curve,) = axes.plot(minutes, values, color=colour, linestyle=dashes, marker=marker, markersize=4, clip_on=False)
    return curve


def describe(row: dict[str, Any]) -> str:
    """Returns dev BLEU by minutes."""
    points = ", ".join(f"{point[find_clock(row)]:.1f} {point['bleu']:.1f}" for point in row["curve"])
    return f"{row['corpus']}, {row['system']}: {points}"


def parse_options() -> tuple[Namespace, list[str]]:
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    made: dict[str, ArgumentParser] = {name: commands.add_parser(name) for name in ("nmt", *PEERS, "draw")}
    for name, minutes in {"nmt": None, "joeynmt": 60.0, "marian": 120.0}.items():
        add_options(made[name], "data", "work")
        made[name].add_argument("--corpus", required=True, help="name of the column in the picture")
        made[name].add_argument("--machine", default="?", help="name in machines.md")
        made[name].add_argument("--minutes", type=float, default=minutes, help="after which the training is ended")
    made["nmt"].add_argument("--system", required=True, help="name of the line in the picture")
    add_options(made["nmt"], "seed")
    for name, peer in PEERS.items():
        made[name].set_defaults(seed=1, system=peer.name)  # the seed of its settings
    add_options(made["joeynmt"], "peers")
    for name, default in {"units": 512, "embedding": 256, "validated": 75}.items():
        made["joeynmt"].add_argument(f"--{name}", type=int, default=default)
    made["marian"].add_argument(
        "--marian", type=Path, default=Path("marian"), help="virtual environment, made if missing"
    )
    made["draw"].add_argument("--output", type=Path, default=PICTURE)
    for command in made.values():
        command.add_argument("--results", type=Path, default=RESULTS)
    options, train = parser.parse_known_args()
    if train and options.command != "nmt":
        parser.error(f"unknown: {shlex.join(train)}")
    return options, train


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
    options.limit = None if options.minutes is None else 60 * options.minutes
    if options.command == "nmt":
        command = shlex.join(["nmt", "train", *train])
        curve = measure_nmt(options, [*train, "--seed", str(options.seed)])
    else:
        command = f"{options.command} train, {options.minutes:g} minutes"
        curve = measure_peer(options)
    row = {name: getattr(options, name) for name in ("corpus", "system", "machine", "seed")}
    row |= {"command": command, "cores": len(os.sched_getaffinity(0)), "curve": curve}
    append_row(options.results, row)
    print(describe(row), score_test(options) if options.command == "joeynmt" else "", sep="\n")


if __name__ == "__main__":
    main()
