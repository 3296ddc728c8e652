"""Sentences a second of `nmt`'s translator beside CTranslate2 and Joey NMT: same sentences, in turn, in one run.

    python benchmarks/translate.py --model model --transformer DIRECTORY --data prepared [--peers DIRECTORY]

DIRECTORY is what `nmt train --architecture transformer` made of the same pairs, 256 wide, of 3 + 3 layers: CTranslate2
runs its weights, in int8, from text to text as ours does, as many at a time as suit it best here; the BLEU of both
shows that both translate.
Joey NMT's network has random weights, which cost what learnt ones do, and as such never ends a sentence: it produces
for every sentence as many tokens as ours does on average (`commands.py` runs one that has learned).
Installs the peers into a virtual environment of their own. What each is, and what it is given, stands in `peers/`.
Prints medians, and those of the rounds' ratios of theirs to ours: of the wall clock, and of the processors' own
seconds, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nmt_cli.cores import count_cores
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.config import ModelRequest
from nmt_cli.translation.translator import Translator

# Joey NMT 2.3 names versions of packages that are gone, so that what it needs is named here and it comes without.
PACKAGES = """ctranslate2 torch sentencepiece==0.2.0 importlib_metadata numpy pyyaml sacrebleu sacremoses subword-nmt
    tensorboard packaging pandas matplotlib datasets protobuf""".split()
HERE = Path(__file__).parent / "peers"


def install(directory: Path) -> str:
    """The interpreter of an environment with the peers."""
    python = directory / "bin" / "python"
    if not python.exists():
        venv.create(directory, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *PACKAGES], check=True)
        subprocess.run([*pip, "--no-deps", "joeynmt==2.3.0"], check=True)
    return str(python)


@dataclass(frozen=True)
class Seconds:
    """What a run took, without its start."""

    wall: float
    processors: float
    note: str = ""  # what else it says of itself


def peer(python: str, script: str, *arguments: object) -> Seconds:
    """What a script in `peers/` says it took."""
    command = [python, str(HERE / script), *map(str, arguments)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    *notes, wall, processors = told.split()
    return Seconds(float(wall), float(processors), " ".join(notes))


def ours(translator: Translator, sources: list[str], beam: int) -> Seconds:
    started, used = time.perf_counter(), time.process_time()
    translator.translate(sources, SearchConfig(beam_size=beam, scored=False))  # which nobody asks of the peers either
    return Seconds(time.perf_counter() - started, time.process_time() - used)


@dataclass(frozen=True)
class Files:
    """What peers read and write, in `folder`."""

    folder: Path

    @property
    def sources(self) -> Path:
        return self.folder / "sources.txt"

    @property
    def pieces(self) -> Path:
        return self.folder / "pieces.txt"

    @property
    def translations(self) -> Path:
        """CTranslate2's."""
        return self.folder / "translations.txt"

    def ctranslate2(self, python: str, transformer: Path, beam: int, threads: int) -> Callable[[], Seconds]:
        places = (transformer, self.folder / "ctranslate2", self.sources, self.translations)
        return lambda: peer(python, "ctranslate2_speed.py", *places, beam, threads)

    def joeynmt(self, python: str, vocabulary: int, beam: int, length: int, threads: int) -> Callable[[], Seconds]:
        return lambda: peer(python, "joeynmt_speed.py", vocabulary, self.pieces, beam, length, threads)


def compare(runners: dict[str, Callable[[], Seconds]], sentences: int, rounds: int) -> None:
    """Runs all in turn, `rounds` times."""
    seconds: dict[str, list[Seconds]] = {name: [] for name in runners}
    for _ in range(rounds):
        for name, run in runners.items():
            seconds[name].append(run())
    for clock in ("wall", "processors"):
        for name, runs in seconds.items():
            speed = sentences / statistics.median(getattr(one, clock) for one in runs)
            pairs = zip(seconds["nmt"], runs, strict=True)
            ratio = statistics.median(getattr(theirs, clock) / getattr(own, clock) for own, theirs in pairs)
            print(f"  {clock:10} {name:12} {speed:8,.0f} sentences/s   nmt is x{ratio:.2f}", flush=True)
    for name, runs in seconds.items():
        if runs[0].note:
            print(f"  {name}: {', '.join(run.note for run in runs)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=Path("model"))
    parser.add_argument("--transformer", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path("prepared"))
    parser.add_argument("--peers", type=Path, default=Path("peers"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, help="of the test split; default: all")
    parser.add_argument("--threads", type=int, default=count_cores())
    parser.add_argument("--without-joeynmt", action="store_true")
    given = parser.parse_args()
    python = install(given.peers)
    translator = Translator.load(ModelRequest(given.model, threads=given.threads))
    pairs = PreparedCorpus.load(given.data).read_pairs("test")[: given.sentences]
    sources, references = [pair.source for pair in pairs], [[pair.target] for pair in pairs]
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder))
        files.sources.write_text("".join(f"{source}\n" for source in sources), encoding="utf-8")
        rows = translator.source.make_rows(sources, None)
        files.pieces.write_text("".join(" ".join(f"▁{i}" for i in row.values) + "\n" for row in rows), encoding="utf-8")
        for beam in (1, 5):
            found = translator.translate(sources, SearchConfig(beam_size=beam))
            length = round(statistics.mean(len(one.hypotheses[0].pieces) for one in found if one.hypotheses))
            print(f"beam {beam}, {len(sources)} sentences, {length} tokens each, {sys.platform}", flush=True)
            runners = {
                "nmt": lambda beam=beam: ours(translator, sources, beam),
                "ctranslate2": files.ctranslate2(python, given.transformer, beam, given.threads),
            }
            if not given.without_joeynmt:
                size = translator.card.vocabularies["source"]  # the joint one, as it would have it
                runners["joeynmt"] = files.joeynmt(python, size, beam, length, given.threads)
            compare(runners, len(sources), given.rounds)
            theirs = files.translations.read_text(encoding="utf-8").splitlines()
            for name, texts in {"nmt": [one.text for one in found], "ctranslate2": theirs}.items():
                score = METRICS["bleu"](texts, references)
                print(f"  BLEU of {name} {score.value:.1f} ({score.signature})", flush=True)


if __name__ == "__main__":
    main()
