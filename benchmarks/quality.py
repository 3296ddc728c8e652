"""How good the translations are, in the settings that others publish, and what was tried to make them better.

    python benchmarks/quality.py textbook data/eng-deu.tsv --work DIR       # 40,000 pairs, 5 epochs, batch 128
    python benchmarks/quality.py hour FULL.tsv --work DIR                   # all pairs, one hour of training
    python benchmarks/quality.py multi30k FOLDER --work DIR                 # train, val, test_2016_flickr; .en, .de
    python benchmarks/quality.py table DIR/results.jsonl                    # as Markdown
    python benchmarks/quality.py curve DIR/results.jsonl                    # dev BLEU by minutes

`--name` tells one attempt from another, `--prepare "OPTIONS"` goes to `nmt prepare`, and options that are not known
here to `nmt train`. A JSON line each, so that what is done is not run again. Test split, free-running, beam 5: cased
and detokenised; in lower case; in lower case without punctuation, as textbooks have it; and, where `sacremoses` is
installed, in lower case between the tokens of Moses, as papers on Multi30k have it. What the commands said is in
DIR/NAME.log, their translations in DIR/NAME.tsv.
"""

from __future__ import annotations

import argparse
import lzma
import shlex
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any

from recipes import Bench, Job, Translations, number, read_rows, run_all, table, with_interval

from nmt_cli.evaluation.analysis.significance import bootstrap_interval
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.registry import METRICS

MULTI30K = ("train", "val", "test_2016_flickr")
TENTH = "5000"  # of the 50,000 bundled pairs, as much for dev and for test as in TensorFlow in Action


def textbook(corpus: Path, work: Path) -> tuple[Path, Job]:
    return corpus, Job("textbook", ("--dev", TENTH, "--test", TENTH), ("--epochs", "5", "--batch", "128"))


def hour(corpus: Path, work: Path) -> tuple[Path, Job]:
    return corpus, Job("hour", (), ("--time", "60m"))


def multi30k(folder: Path, work: Path) -> tuple[Path, Job]:
    train, dev, test = (joined(folder, name, work) for name in MULTI30K)
    languages = ("--source-language", "en", "--target-language", "de")
    return train, Job("multi30k", ("--dev", str(dev), "--test", str(test), *languages, "--lowercase"), ())


SETTINGS: dict[str, Callable[[Path, Path], tuple[Path, Job]]] = {
    "textbook": textbook,
    "hour": hour,
    "multi30k": multi30k,
}


def joined(folder: Path, name: str, work: Path) -> Path:
    """Both sides of a part of Multi30k as one file of pairs."""
    sides = [lines(folder / f"{name}.{language}") for language in ("en", "de")]
    path = work / f"{name}.tsv"
    path.write_text("".join(f"{one}\t{other}\n" for one, other in zip(*sides, strict=True)), encoding="utf-8")
    return path


def lines(path: Path) -> list[str]:
    """Of a file that may be packed as `.xz`."""
    packed = path.with_name(f"{path.name}.xz")
    data = lzma.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    return data.decode().removesuffix("\n").split("\n")


class QualityBench(Bench):
    """Adds to a row the scores by the protocols that others publish, and the curve of dev BLEU."""

    def run(self, job: Job) -> dict[str, Any]:
        row = super().run(job)
        texts = Translations.read(self.work / f"{job.name}.tsv")
        history = read_rows(self.work / job.name / "history.jsonl")
        minutes = [round(seconds / 60, 1) for seconds in accumulate(epoch["seconds"] for epoch in history)]
        curve = [[at, round(epoch["bleu"], 1)] for at, epoch in zip(minutes, history, strict=True)]
        return {
            **row,
            "protocols": protocols(texts),
            "curve": curve,
            "options": [*job.prepare, *job.train, *self.extra],
        }


def protocols(texts: Translations) -> dict[str, dict[str, Any]]:
    """BLEU with its 95 % interval and signature, by protocol."""
    lowercase = ScoreConfig(lowercase=True)
    found = {
        "lower-cased": measured(texts, lowercase),
        "lower-cased, no punctuation": measured(changed(texts, without_punctuation), lowercase),
    }
    if find_spec("sacremoses"):
        from sacremoses import MosesTokenizer

        moses = MosesTokenizer(lang="de")
        tokenised = changed(texts, lambda text: moses.tokenize(text, return_str=True, escape=False))
        found["lower-cased, tokenised"] = measured(tokenised, replace(lowercase, bleu_tokenizer="none"))
    return found


def changed(texts: Translations, change: Callable[[str], str]) -> Translations:
    return Translations(texts.sources, list(map(change, texts.references)), list(map(change, texts.hypotheses)))


def without_punctuation(text: str) -> str:
    return "".join(character for character in text if not unicodedata.category(character).startswith("P"))


def measured(texts: Translations, config: ScoreConfig) -> dict[str, Any]:
    score = METRICS["bleu"](texts.hypotheses, [[text] for text in texts.references], config)
    interval = bootstrap_interval(score.statistics, config.resamples)
    limits = [round(interval.low, 2), round(interval.high, 2)]
    return {"bleu": round(score.value, 2), "bleu_interval95": limits, "signature": score.signature}


def table_of_protocols(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line of Markdown for each row: what was tried, and BLEU by each protocol."""
    names = list(dict.fromkeys(name for row in rows for name in row["protocols"]))
    for cells in (["run", "options", *names], ["---"] * (len(names) + 2)):
        yield "| " + " | ".join(cells) + " |"
    for row in rows:
        found = (row["protocols"].get(name) for name in names)
        scores = [with_interval(one) if one else number(None) for one in found]
        yield "| " + " | ".join([row["name"], f"`{shlex.join(row['options'])}`", *scores]) + " |"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = made.add_subparsers(dest="command", required=True)
    for name in SETTINGS:
        one = commands.add_parser(name)
        one.add_argument("corpus", type=Path)
        one.add_argument("--work", type=Path, required=True, help="directory for models, logs and results.jsonl")
        one.add_argument("--name", help="of this attempt")
        one.add_argument("--prepare", default="", help="more options of `nmt prepare`")
    for name in ("table", "curve"):
        commands.add_parser(name).add_argument("results", type=Path, nargs="+")
    return made


def main() -> int:
    given, extra = parser().parse_known_args()
    if given.command not in SETTINGS:
        rows = [row for path in given.results for row in read_rows(path)]
        if given.command == "table":
            print("\n".join([*table(rows), "", *table_of_protocols(rows)]))
        else:
            print("\n".join(f"{row['name']}: " + ", ".join(f"{m:g} min {b}" for m, b in row["curve"]) for row in rows))
        return 0
    given.work.mkdir(parents=True, exist_ok=True)
    corpus, job = SETTINGS[given.command](given.corpus, given.work)
    prepare = (*job.prepare, *shlex.split(given.prepare))
    job = replace(job, name=given.name or job.name, prepare=prepare, preparation=shlex.join(prepare))
    return run_all(QualityBench(corpus, given.work, tuple(extra)), [job])


if __name__ == "__main__":
    sys.exit(main())
