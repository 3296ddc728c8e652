"""Case as marks of its own in the text, beside what `nmt` does: recasing before and after the network.

    python benchmarks/case_marks.py train --data PREPARED --work DIR [options of `nmt train`]
    python benchmarks/case_marks.py compare MODEL --data PREPARED --work DIR [--lines 1000]

`train` writes the pairs of PREPARED in lower case, each word that had a capital behind a mark, and trains on them, with
as many subwords, into DIR/model. A word in capitals has another mark, a line in capitals a single one; words of mixed
case (McDonald) stay as they are, so that nothing is lost. Marks are letters of no case between blanks, each a piece
that is never split: the rules of `nmt` take them for words. Careless sources lose their marks too, and some pairs are
set in capitals or as headings, on both sides: recasing needs no such pairs, but marks are learned.

`compare` has the test split translated by MODEL, which was trained on PREPARED itself, and by DIR/model: as it is, and
with its case changed. References are changed as the sources are; lines in lower case want the usual case. Prints for
each BLEU and chrF, cased and of lower-cased texts, what share of the words has the right case (see `stress.py`), and
the p-value of the difference in cased BLEU.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from stress import Bench, TranslateLines
from stress_rows import ROWS, Row, title

import nmt_cli
from nmt_cli.corpus.dataset import PreparedCorpus, SentencePair
from nmt_cli.evaluation.analysis.significance import compare
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.score import Score
from nmt_cli.search.config import SearchConfig
from nmt_cli.text import tokenizer_training
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import BLANK
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data import augmentation
from nmt_cli.training.data.careless import write_carelessly
from nmt_cli.training.data.text_rewrite import TextRewrite
from nmt_cli.translation.config import ModelRequest, RepairConfig
from nmt_cli.translation.translator import Translator

CAPITAL, CAPITALS, LINE = "ǂ", "ƻ", "ʔ"  # the next word begins with one, is in capitals; the whole line is
MARK_PIECES = tuple(BLANK + mark for mark in (CAPITAL, CAPITALS, LINE))
SHARE = 0.05  # of the training pairs in capitals, and as much of headings
CLEAN = Row("clean", lambda text, _: text)
MEASURED = (CLEAN, *(row for row in ROWS if row.name in ("lower case", "capitals", "title case", "no final mark")))

Change = Callable[[str], str]


def capitalise(word: str) -> str:
    """Returns a word with its first letter as a capital, whatever stands in front of it."""
    index = next((index for index, letter in enumerate(word) if letter.lower() != letter.upper()), 0)
    return word[:index] + word[index : index + 1].upper() + word[index + 1 :]


def mark_case(text: str) -> str:
    """Returns a text in lower case with marks for what had capitals; `restore_case` is the inverse."""
    line = normalise(text)
    words = line.split(" ")
    is_whole = line.lower().upper() == line and sum(word != word.lower() for word in words) > 1
    return f"{LINE} {line.lower()}" if is_whole else " ".join(map(mark_word, words))


def mark_word(word: str) -> str:
    lower = word.lower()
    for mark, restore in ((CAPITAL, capitalise), (CAPITALS, str.upper)):
        if lower != word and restore(lower) == word:
            return f"{mark} {lower}"
    return word


def restore_case(text: str) -> str:
    """Returns a marked text as it is usually written; marks before nothing are left out."""
    restored, restore = list[str](), str
    for word in text.split(" "):
        if word in (CAPITAL, CAPITALS):
            restore = capitalise if word == CAPITAL else str.upper
        elif word != LINE:
            restored.append(restore(word))
            restore = str
    line = " ".join(restored)
    return line.upper() if LINE in text.split(" ") else line


@dataclass(frozen=True)
class CaseNoise:
    """Changes the case of training pairs whose case is marked: of the sources, or of both sides."""

    share: float
    change: Change
    both: bool = False

    def rewrite_pairs(self, pairs: Sequence[SentencePair], generator: np.random.Generator) -> list[SentencePair]:
        return [SentencePair(self.rewrite(pair.source), self.rewrite_target(pair.target)) for pair in pairs]

    def rewrite(self, text: str) -> str:
        return mark_case(self.change(restore_case(text)))

    def rewrite_target(self, text: str) -> str:
        return self.rewrite(text) if self.both else text


def make_marked_noise(config: TrainConfig) -> tuple[TextRewrite, ...]:
    """Returns what stands for the noise of `nmt train` where case is marked."""
    both = (CaseNoise(SHARE, str.upper, both=True), CaseNoise(SHARE, title, both=True))
    return (*both, CaseNoise(config.careless, write_carelessly))


def prepare(corpus: PreparedCorpus, work: Path) -> Path:
    """Writes the splits with their case marked, and returns the directory that `nmt prepare` makes of them."""
    data = work / "prepared"
    if data.is_dir():
        return data
    work.mkdir(parents=True, exist_ok=True)
    kept = total = 0
    for split in ("train", "dev", "test"):
        pairs = corpus.read_pairs(split)
        lines = [f"{mark_case(pair.source)}\t{mark_case(pair.target)}\n" for pair in pairs]
        (work / f"{split}.tsv").write_text("".join(lines), encoding="utf-8")
        words = [word for pair in pairs for word in f"{pair.source} {pair.target}".split()]
        kept += sum(mark_word(word) == word != word.lower() for word in words)
        total += len(words)
    print(f"{100 * kept / total:.2f} % of the words are of mixed case and stay as they are", flush=True)
    tokenizer_training.PLACEHOLDERS += MARK_PIECES
    nmt_cli.prepare(
        work / "train.tsv",
        dev=str(work / "dev.tsv"),
        test=str(work / "test.tsv"),
        source_language=corpus.source_language,
        target_language=corpus.target_language,
        vocab_size=corpus.source_tokenizer.vocabulary_size,
        data=data,
    )
    return data


def train(corpus: PreparedCorpus, work: Path, options: Sequence[str]) -> None:
    """Trains on marked text, as `nmt train` does, and exits the process."""
    from nmt_cli.cli.app import main as nmt

    data = prepare(corpus, work)
    augmentation.make_noise = make_marked_noise
    nmt(["train", "--data", str(data), "--model", str(work / "model"), *options])


def make_translate(model: Path, beam_size: int, before: Change = str, after: Change = str) -> TranslateLines:
    """Returns a function that has lines translated as `nmt translate` does, changed before and after."""
    translator, search = Translator.load(ModelRequest(model)), SearchConfig(beam_size=beam_size)

    def translate(lines: Sequence[str]) -> list[str]:
        translations = translator.translate([before(line) for line in lines], search, repair=RepairConfig())
        return [after(translation.text) for translation in translations]

    return translate


def measure(bench: Bench, row: Row) -> tuple[dict[str, Any], Score]:
    """Returns the scores of a row, and the cased BLEU by which it is compared."""
    generator = Random(bench.seed)
    outputs = bench.clean if row is CLEAN else bench.translate([row.change(line, generator) for line in bench.sources])
    references = [[row.change(line, generator) if row.right_case else line] for line in bench.references]
    scores: dict[str, Any] = {"row": row.name, "lines": len(outputs)}
    for name in ("bleu", "chrf"):
        cased, lower = (METRICS[name](outputs, references, ScoreConfig(lowercase=lower)) for lower in (False, True))
        scores |= {name: cased.value, f"{name}_lower": lower.value}
    if row.right_case or row.follows_clean:
        scores["right_case"] = bench.measure_case(row, outputs)
    return scores, METRICS["bleu"](outputs, references, ScoreConfig())


def show(name: str, scores: dict[str, Any], p: float | None) -> str:
    numbers = " ".join(f"{scores[key]:6.2f}" for key in ("bleu", "bleu_lower", "chrf", "chrf_lower"))
    right = f"{scores['right_case']:6.1f} %" if "right_case" in scores else " " * 8
    return f"{scores['row']:14} {name:9} {numbers} {right} {'' if p is None else f'p {p:.4f}'}".rstrip()


def compare_arms(arms: dict[str, Bench], output: Path) -> None:
    """Prints a line for each row and arm, and writes them to `output` as JSON lines."""
    print(f"{'row':14} {'case':9} {'BLEU':>6} {'lower':>6} {'chrF':>6} {'lower':>6} {'right':>8}")
    with output.open("w", encoding="utf-8") as file:
        for row in MEASURED:
            usual: Score | None = None
            for name, bench in arms.items():
                scores, bleu = measure(bench, row)
                tested = compare(bleu, usual, resamples=1000) if usual else None
                p = tested.bootstrap_p if tested else None
                usual = usual or bleu
                print(show(name, scores, p), flush=True)
                file.write(json.dumps({"case": name, **scores, "p": p}) + "\n")


def parse_options() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    made = {name: commands.add_parser(name) for name in ("train", "compare")}
    made["compare"].add_argument("model", type=Path)
    made["compare"].add_argument("--lines", type=int, help="translate only so many lines")
    made["compare"].add_argument("--beam-size", type=int, default=5)
    for command in made.values():
        command.add_argument("--data", type=Path, required=True, help="the prepared corpus, its case as it is")
        command.add_argument("--work", type=Path, required=True, help="directory for what is marked")
    return parser.parse_known_args()


def main() -> None:
    options, extra = parse_options()
    corpus = PreparedCorpus.load(options.data)
    if options.command == "train":
        train(corpus, options.work, extra)
    if extra:
        raise SystemExit(f"compare has no option {extra[0]}")
    marked = make_translate(options.work / "model", options.beam_size, mark_case, restore_case)
    systems = {"recased": make_translate(options.model, options.beam_size), "marked": marked}
    arms = {name: Bench(system, corpus, options.lines, seed=1) for name, system in systems.items()}
    compare_arms(arms, options.work / "scores.jsonl")


if __name__ == "__main__":
    main()
