"""Makes the packages of both directions anew, from their corpora to their scores.

    python data/models/renew.py --tatoeba PAIRS --help-pages PAIRS --interface PAIRS --catalogues PAIRS \\
        --captions PAIRS --work DIR --go-on

The files are tab-separated, compressed or not: those of `corpus.py`, and captions that are only translated. DIR gets
all that is made on the way, and a run that was stopped goes on from there. A model learns in two stages, each from the
weights of the one before: everything, with some paragraphs behind the sentence before them; then less of Tatoeba, with
most paragraphs behind it. `benchmarks/log/context.md` says what that gave. With `--go-on`, the first stage starts from
the weights of the packages, with their subwords. With `--distil`, they learn in one more stage instead: mostly from
translations of the training sources that are close to the references, by the package and the models in the folders
given, averaged. With `--profiles`, nothing is trained: the packages get profiles of the corpus anew.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from corpus import WRITTEN, Pair, key_sides, leave_out, make_corpus, read_pairs, write_pairs
from make import HERE, load_corpus, make_package, rewrite_card
from sacrebleu.metrics import CHRF

import nmt_cli as nmt
from nmt_cli.api.startup import silent_tensorflow
from nmt_cli.runtime.installed_models import MODEL, find_model, name_package
from nmt_cli.runtime.model_directory import read_card
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.text.profile_building import build_profile

NETWORK = ("--units", "512", "--embedding", "256")
FURTHER = ("--batch", "128", "--learning-rate", "0.001", "--dropout", "0.1")  # a third of the rate for random weights


class Stage(NamedTuple):
    """A part of the training: how often each pair of a file occurs, and what is learned behind the sentence before."""

    name: str
    time_share: float
    context_share: float  # of the paragraphs of the help, a third of which are joined to those before
    weights: dict[str, float]  # "{}" in the name of a file stands for the direction
    prepared: str = "prepared"

    def locate(self, work: Path) -> Path:
        """Returns the folder of its prepared corpus and its models."""
        return work / self.name

    def locate_prepared(self, work: Path, direction: str) -> Path:
        return self.locate(work) / self.prepared.format(direction)


WEIGHTS = {  # in both stages
    "tatoeba": (0.5, 0.3),
    "joined": (1, 1),
    "help": (1, 1),
    "ui": (1, 0.3),
    "texts": (1, 1),
    "labels": (1, 0.5),
    "messages": (1, 0.3),
    "phrases": (8, 4),
    "words": (8, 3),
    "everyday": (4, 3),
    "names": (2, 1),
}
STAGES = tuple(
    Stage(name, time, context, {file: weights[number] for file, weights in WEIGHTS.items()})
    for number, (name, time, context) in enumerate((("broad", 0.66, 0.6), ("context", 0.34, 0.9)))
)
# Of equal pairs, `nmt prepare` keeps the one with the highest weight.
DISTILLED = Stage("distilled", 1, 0.9, {"distilled-{}": 1} | STAGES[-1].weights | {"tatoeba": 0.1}, "prepared-{}")
SHORTEST = 20  # seconds of a stage
CLOSE = 50.0  # chrF of a translation that is learned from
SETS = ("tatoeba", "help", "pages", "ui")
DIRECTIONS = {"eng-deu": (), "deu-eng": ("--reverse",)}
NMT = (sys.executable, "-m", "nmt_cli")
CONTRASTIVE = HERE.parents[1] / "benchmarks" / "contrastive.py"  # texts whose second line only the first can tell


def list_stages(options: argparse.Namespace) -> tuple[Stage, ...]:
    """Returns the stages of a training."""
    return STAGES if options.distil is None else (DISTILLED,)


def prepare(corpora: argparse.Namespace, work: Path) -> None:
    """Writes the corpus, and prepares it for each stage: with new subwords, or with those of the packages."""
    corpus = work / "corpus"
    make_all_pairs(corpora, corpus)
    held_out = key_sides(pair for split in ("dev", "test") for pair in read_pairs(corpus / f"{split}.tsv", 2))
    subprocess.run([sys.executable, CONTRASTIVE, "write", corpus / "texts.tsv"], check=True)
    write_pairs(corpus / "texts.tsv", leave_out(read_pairs(corpus / "texts.tsv", 2), held_out), with_groups=True)
    subwords = find_model(Path("eng-deu")) if corpora.go_on else None
    for name in DIRECTIONS:
        distilled = corpus / f"distilled-{name}.tsv"
        if corpora.distil is not None and not distilled.is_file():
            write_pairs(distilled, leave_out(distil(corpus, name, corpora.distil), held_out))
        for stage in list_stages(corpora):
            prepared = stage.locate_prepared(work, name)
            if not prepared.is_dir():
                prepare_stage(stage, corpus, prepared, name, subwords)
            subwords = subwords or prepared


def make_all_pairs(corpora: argparse.Namespace, corpus: Path) -> None:
    """Writes the pairs and the held-out sets, and captions as one of these."""
    captions = list(read_pairs(corpora.captions))
    files = (corpora.tatoeba, corpora.help_pages, corpora.interface)
    make_corpus(*files, corpus, catalogues=corpora.catalogues, tested=captions)
    write_pairs(corpus / "test" / "captions.tsv", captions)


def prepare_stage(stage: Stage, corpus: Path, prepared: Path, direction: str, subwords: Path | None) -> None:
    paths = {corpus / f"{name.format(direction)}.tsv": weight for name, weight in stage.weights.items()}
    inputs = [f"{path}=train={weight:g}" for path, weight in paths.items() if path.is_file()]
    command = [*NMT, "prepare", *inputs, "--source-language", "eng", "--target-language", "deu", "--data", prepared]
    command += ["--dev", corpus / "dev.tsv", "--test", corpus / "test.tsv", "--group-column", "page"]
    command += ["--context", "1", "--context-share", str(stage.context_share)]
    subprocess.run(command + (["--tokenizer-from", subwords] if subwords is not None else []), check=True)


def distil(corpus: Path, name: str, teachers: Sequence[Path]) -> Iterator[Pair]:
    """Yields the sources of a direction with the package's translations of them that are close to a reference.

    Kim and Rush (2016), "Sequence-Level Knowledge Distillation", take the hypothesis closest to the reference, too.
    """
    chrf, is_reversed = CHRF(), bool(DIRECTIONS[name])
    references: dict[str, list[str]] = {}
    for file, group_column in (("tatoeba", None), ("ui", None), ("help", 2)):
        for pair in read_pairs(corpus / f"{file}.tsv", group_column):
            source, target = (pair.target, pair.source) if is_reversed else (pair.source, pair.target)
            references.setdefault(source, []).append(target)
    with nmt.load(name, ensemble=[teacher / name for teacher in teachers]) as model:
        for source, text in zip(references, model.stream(list(references), context=0), strict=True):
            if text != source and chrf.sentence_score(text, references[source]).score >= CLOSE:
                yield Pair(text, source) if is_reversed else Pair(source, text)


def train(stages: Sequence[Stage], work: Path, seconds: int, *, go_on: bool) -> None:
    """Trains both directions at once in all stages, from random weights or those of the packages."""
    starts = {name: ("--init-from", find_model(Path(name)), *FURTHER) if go_on else NETWORK for name in DIRECTIONS}
    for stage in stages:
        train_stage(stage, work, f"{max(SHORTEST, round(seconds * stage.time_share))}s", starts)
        starts = {name: ("--init-from", stage.locate(work) / name, *FURTHER) for name in DIRECTIONS}


def train_stage(stage: Stage, work: Path, time: str, starts: dict[str, tuple[str | Path, ...]]) -> None:
    """Trains both directions, each on its share of the cores; with `--resume`, a finished training ends at once."""
    cores = os.sched_getaffinity(0)
    shares = (set(sorted(cores)[::2]), set(sorted(cores)[1::2]) or cores)
    trainings = []
    for (name, direction), share in zip(DIRECTIONS.items(), shares, strict=True):
        model, prepared = stage.locate(work) / name, stage.locate_prepared(work, name)
        command = [*NMT, "train", "--data", prepared, "--model", model, "--time", time, *direction]
        resume = ("--resume",) if (model / "checkpoints").is_dir() else ()
        os.sched_setaffinity(0, share)  # which the process inherits
        trainings.append(subprocess.Popen([*command, *starts[name], *resume, "--quiet"]))
    os.sched_setaffinity(0, cores)
    codes = [training.wait() for training in trainings]
    if any(codes):
        sys.exit("a training failed")


def swap_sides(directory: Path, swapped: Path) -> None:
    """Writes the sets of `directory` in the other direction."""
    for path in directory.iterdir():
        write_pairs(
            swapped / path.name, (pair._replace(source=pair.target, target=pair.source) for pair in read_pairs(path))
        )


def renew_profiles(stages: Sequence[Stage], work: Path, models: Path) -> Iterator[Path]:
    """Gives the packages in `models` profiles of the whole corpus, with which the confidence is fitted anew, and yields
    their models.

    In the lexicon, a pair counts as often as in the last stage: a word alone says surely how it is translated.
    """
    with silent_tensorflow():
        from nmt_cli.training.export.publish import fit_confidence

    corpus, pairs = work / "corpus", Counter[Pair]()
    for name in ("tatoeba", "help", "ui", "labels", "messages", *WRITTEN):
        for pair in read_pairs(corpus / f"{name}.tsv", 2 if name == "help" else None):
            pairs[pair._replace(group="")] += max(1, round(STAGES[-1].weights[name]))
    for name, direction in DIRECTIONS.items():
        model = models / name / name_package(name) / MODEL
        sides = ((pair.target, pair.source) if direction else (pair.source, pair.target) for pair in pairs)
        profile = build_profile(sides, pairs.values(), most_sampled=pairs.total())
        (model / PROFILE_NAME).write_text(profile, encoding="utf-8", newline="\n")
        rewrite_card(model)
        prepared = load_corpus(stages[-1].locate_prepared(work, name), read_card(model))
        if prepared is not None:
            rewrite_card(model, confidence=fit_confidence(model, prepared))
        yield model


def pack(stages: Sequence[Stage], work: Path, output: Path) -> None:
    """Replaces the packages in `output`."""
    tests, (*earlier, last) = work / "corpus" / "test", stages
    swap_sides(tests, work / "corpus" / "test-reversed")
    for name, folder in zip(DIRECTIONS, (tests, work / "corpus" / "test-reversed"), strict=True):
        sets = {each: folder / f"{each}.tsv" for each in (*SETS, "captions")}
        before = [stage.locate(work) / name for stage in earlier]
        model, prepared = last.locate(work) / name, last.locate_prepared(work, name)
        make_package(model, prepared, output, sets=sets, earlier=before, force=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--tatoeba", "--help-pages", "--interface", "--catalogues", "--captions", "--work"):
        parser.add_argument(option, type=Path, required=True)
    parser.add_argument("--output", type=Path, default=HERE, help="folder of the packages")
    parser.add_argument("--minutes", type=float, default=80, help="of training, both stages together")
    parser.add_argument("--go-on", action="store_true", help="train the packages further")
    parser.add_argument(
        "--distil", type=Path, nargs="*", metavar="DIR", help="also on translations, by the packages and these models"
    )
    parser.add_argument("--profiles", action="store_true", help="renew the profiles of the packages alone")
    options = parser.parse_args()
    stages = list_stages(options)
    if options.profiles:
        make_all_pairs(options, options.work / "corpus")
    else:
        options.go_on = options.go_on or options.distil is not None  # since the packages are what it teaches
        if not all(stages[-1].locate_prepared(options.work, name).is_dir() for name in DIRECTIONS):
            prepare(options, options.work)
        train(stages, options.work, round(60 * options.minutes), go_on=options.go_on)
        pack(stages, options.work, options.output)
    for model in renew_profiles(stages, options.work, options.output):
        print(model)


if __name__ == "__main__":
    main()
