"""Makes the packages of both directions anew, from their corpora to their scores.

    python data/models/renew.py --tatoeba PAIRS --help-pages PAIRS --interface PAIRS --captions PAIRS --work DIR

The files are tab-separated, compressed or not: those of `corpus.py`, and captions that are only translated. DIR gets
all that is made on the way, and a run that was stopped goes on from there. With `--go-on`, trainings start from the
weights of the packages, with their subwords; with `--distil`, they also learn from the packages' translations of the
training sources that are close to the references. With `--profiles`, nothing is trained: the packages get the profiles
of their corpora anew.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from corpus import Pair, make_corpus, read_pairs, write_pairs
from make import HERE, make_package, rewrite_card
from sacrebleu.metrics import CHRF

import nmt_cli as nmt
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.reversed import reverse_corpus
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.text.profile import PROFILE_NAME

NETWORK = ("--units", "512", "--embedding", "256")
RATE = ("--learning-rate", "0.0015")  # half of that for random weights
CLOSE = 50.0  # chrF of a translation that is learned from
SETS = ("tatoeba", "help", "pages", "ui")
DIRECTIONS = {"eng-deu": (), "deu-eng": ("--reverse",)}
NMT = (sys.executable, "-m", "nmt_cli")


def prepare(corpora: argparse.Namespace, work: Path) -> None:
    """Writes the corpus, and prepares it: with new subwords, or with those of the packages."""
    corpus = work / "corpus"
    make_corpus(corpora.tatoeba, corpora.help_pages, corpora.interface, corpus)
    write_pairs(corpus / "test" / "captions.tsv", read_pairs(corpora.captions))
    inputs = [f"{corpus}/eng-deu.tsv=train"]
    if corpora.distil:
        write_pairs(corpus / "distilled.tsv", distil(corpus / "eng-deu.tsv"))
        inputs.append(f"{corpus}/distilled.tsv=train")
    splits = ("--dev", corpus / "dev.tsv", "--test", corpus / "test.tsv")
    keeps_subwords = corpora.go_on or corpora.profiles
    subwords = ("--tokenizer-from", find_model(Path("eng-deu"))) if keeps_subwords else ()
    command = [*NMT, "prepare", *inputs, *splits, *subwords, "--data", work / "prepared"]
    subprocess.run(command, check=True)


def distil(path: Path) -> Iterator[Pair]:
    """Yields the sources of a file with the package's translations of them that are close to a reference, but none.

    Kim and Rush (2016), "Sequence-Level Knowledge Distillation", take the hypothesis closest to the reference, too.
    """
    references: dict[str, list[str]] = {}
    for pair in read_pairs(path):
        references.setdefault(pair.source, []).append(pair.target)
    chrf, sources = CHRF(), list(references)
    with nmt.load("eng-deu") as model:
        for source, text in zip(sources, model.stream(sources), strict=True):
            is_new = text not in (source, *references[source])
            if is_new and chrf.sentence_score(text, references[source]).score >= CLOSE:
                yield Pair(source, text)


def train(work: Path, time: str, *, go_on: bool) -> None:
    """Trains both directions at once, each on its share of the cores, from random weights or those of the packages."""
    cores = os.sched_getaffinity(0)
    shares = (set(sorted(cores)[::2]), set(sorted(cores)[1::2]) or cores)
    trainings = []
    for (name, direction), share in zip(DIRECTIONS.items(), shares, strict=True):
        start = ("--init-from", find_model(Path(name)), *RATE) if go_on else NETWORK
        command = [*NMT, "train", "--data", work / "prepared", "--model", work / name, "--time", time, *direction]
        resume = ("--resume",) if (work / name / "checkpoints").is_dir() else ()
        os.sched_setaffinity(0, share)  # which the process inherits
        trainings.append(subprocess.Popen([*command, *start, *resume, "--quiet"]))
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


def renew_profiles(work: Path) -> Iterator[Path]:
    """Gives the packages the profiles of their corpora, as the nmt of today writes them, and yields their models."""
    corpus = PreparedCorpus.load(work / "prepared")
    for name, direction in zip(DIRECTIONS, (corpus, reverse_corpus(corpus)), strict=True):
        model = find_model(Path(name))
        (model / PROFILE_NAME).write_text(direction.profile, encoding="utf-8", newline="\n")
        rewrite_card(model)
        yield model


def pack(work: Path) -> Iterator[Path]:
    """Replaces the packages, and yields their folders."""
    tests = work / "corpus" / "test"
    swap_sides(tests, work / "corpus" / "test-reversed")
    for name, folder in zip(DIRECTIONS, (tests, work / "corpus" / "test-reversed"), strict=True):
        sets = {each: folder / f"{each}.tsv" for each in (*SETS, "captions")}
        yield make_package(work / name, work / "prepared", HERE, sets=sets, force=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--tatoeba", "--help-pages", "--interface", "--captions", "--work"):
        parser.add_argument(option, type=Path, required=True)
    parser.add_argument("--time", default="75m", help="of training")
    parser.add_argument("--go-on", action="store_true", help="train the packages further")
    parser.add_argument("--distil", action="store_true", help="also on eng-deu's translations of the sources")
    parser.add_argument("--profiles", action="store_true", help="renew the profiles of the packages alone")
    options = parser.parse_args()
    if not (options.work / "prepared").is_dir():
        prepare(options, options.work)
    if not options.profiles:
        train(options.work, options.time, go_on=options.go_on)
    for folder in (renew_profiles if options.profiles else pack)(options.work):
        print(folder)


if __name__ == "__main__":
    main()
