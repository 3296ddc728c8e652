"""How faithful the translations of real input are: the test split, clean and with each line changed in one way.

    python benchmarks/stress.py MODEL --data PREPARED                  # a table: BLEU of each row beside clean
    python benchmarks/stress.py MODEL --data PREPARED --lines 200      # of the first 200 lines alone
    python benchmarks/stress.py MODEL --data PREPARED --json FILE      # JSON lines too
    python benchmarks/stress.py MODEL --data PREPARED --row "typing errors" --show 5
    python benchmarks/stress.py MODEL --data PREPARED --row "random numbers" --numbered FULL.tsv --seed 2
    python benchmarks/stress.py MODEL --data PREPARED --peer COMMAND             # the rows of another program too
    python benchmarks/stress.py MODEL --data PREPARED --lost FULL.tsv --lines 10000

Marks that a row adds are taken off the output before it is scored. Rows that change the case are scored in lower case
beside the lower-cased clean score, and say what share of the cased output words has the right case: that of the source
where a line is in capitals or a heading, that of the clean translation where a line is in lower case. Rows that join
two lines stand beside the clean translations joined. `strange names` and `strange codes` count the lines in which a
name that training never had, or a code, comes through in the place of a name that both sides have. `random numbers`
counts the lines whose numbers, each exchanged for another of as many digits, all come through in number and value;
small ones may come as words. A row passes within 1.5 BLEU of clean (typing errors: 4), with 95 % of the case right,
and 99.5 % of the numbers. `--lost` translates mixtures of these changes greedily, and counts the lines that lost a
number, tag, placeholder or sentence in silence.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path

from stress_lost import measure_losses
from stress_rows import BAR, CODES, JOINTS, NAMES, NUMBER, ROWS, WORD, Row, exchange_name, keeps_numbers

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.config import LineConfig, ModelRequest, RepairConfig
from nmt_cli.translation.translator import Translator

CASE_BAR, NUMBER_BAR = 95.0, 99.5  # per cent
NUMBERED_LINES = 500
STRANGE = {"strange names": NAMES, "strange codes": CODES}


@dataclass(frozen=True)
class Result:
    """A row of the table."""

    row: str
    lines: int
    clean: float | None
    score: float | None
    share: float | None = None  # per cent of right case, or of lines whose numbers are kept
    passes: bool = True


Measured = tuple[Result, list[str], list[str]]  # the lines and their translations
TranslateLines = Callable[[Sequence[str]], list[str]]


class Bench:
    """Has the lines of a test split translated, and scores them."""

    def __init__(self, translate: TranslateLines, corpus: PreparedCorpus, count: int | None, seed: int) -> None:
        self.translate, self.corpus, self.count, self.seed = translate, corpus, count, seed
        self.pairs = corpus.read_pairs("test")[:count]
        self.sources, self.references = map(list, zip(*self.pairs, strict=True))

    @cached_property
    def clean(self) -> list[str]:
        """The translations of the lines as they are."""
        return self.translate(self.sources)

    def measure(self, row: Row) -> Measured:
        """Returns the result of a row, its lines and their translations."""
        generator = random.Random(self.seed)
        changed = [row.change(line, generator) for line in self.sources]
        raw = self.translate(changed)
        outputs = [row.take_off(line) for line in raw]
        is_cased = row.right_case is not None or row.follows_clean
        clean, score = (bleu(lines, self.references, lowercase=is_cased) for lines in (self.clean, outputs))
        share = self.measure_case(row, outputs) if is_cased else None
        passes = score >= clean - row.bar and (share is None or share >= CASE_BAR)
        return Result(row.name, len(outputs), clean, score, share, passes), changed, raw

    def measure_case(self, row: Row, outputs: Sequence[str]) -> float:
        """Returns the per cent of output words that have the right case; words that have none do not count."""
        right = total = 0
        for output, clean in zip(outputs, self.clean, strict=True):
            usual = {word.lower(): word for word in WORD.findall(clean)}
            for word in WORD.findall(output):
                wanted = row.right_case(word) if row.right_case else usual.get(word.lower())
                if wanted is not None and word.lower() != word.upper():
                    right, total = right + (word == wanted), total + 1
        return 100 * right / max(1, total)

    def measure_joint(self, name: str) -> Measured:
        """Returns the result of lines that are two sentences each."""
        mark = JOINTS[name]
        joined = [mark.join(two) for two in pair_up(self.sources)]
        raw = self.translate(joined)
        references = [" ".join(two) for two in pair_up(self.references)]
        outputs = [" ".join(line.replace(mark, " ").split()) for line in raw]
        clean, score = (bleu(lines, references) for lines in ([" ".join(two) for two in pair_up(self.clean)], outputs))
        return Result(name, len(raw), clean, score, None, score >= clean - BAR), joined, raw

    def measure_numbers(self, numbered: Sequence[str]) -> Measured:
        """Returns in what share of the lines all numbers, each exchanged for another, come through."""
        generator = random.Random(self.seed)

        def exchange(match: re.Match[str]) -> str:
            return re.sub(r"\d", lambda digit: str(generator.randint(1, 9)), match[0])

        lines = [NUMBER.sub(exchange, line) for line in numbered]
        outputs = self.translate(lines)
        language = str(self.corpus.target_language)
        kept = sum(keeps_numbers(line, output, language) for line, output in zip(lines, outputs, strict=True))
        share = 100 * kept / max(1, len(lines))
        return Result("random numbers", len(lines), None, None, share, share >= NUMBER_BAR), lines, outputs

    def measure_strange(self, name: str, strange: Sequence[str]) -> Measured:
        """Returns in what share of the lines a strange name or code, put in the place of a name, comes through."""
        generator = random.Random(self.seed)
        trained = " ".join(pair.source for pair in self.corpus.read_pairs("train"))
        unknown = [word for word in strange if word not in trained]
        exchanged = [(exchange_name(*pair, word), word) for pair in self.pairs for word in [generator.choice(unknown)]]
        lines = [(line, word) for line, word in exchanged if line is not None][:NUMBERED_LINES]
        outputs = self.translate([line for line, _ in lines])
        kept = sum(word in output for (_, word), output in zip(lines, outputs, strict=True))
        share = 100 * kept / max(1, len(lines))
        return Result(name, len(lines), None, None, share, share >= NUMBER_BAR), [line for line, _ in lines], outputs

    def list_numbered(self) -> list[str]:
        """Returns the lines of all splits that have a number, those of the test split first."""
        pairs = (pair for split in ("test", "dev", "train") for pair in self.corpus.read_pairs(split))
        return [pair.source for pair in pairs if NUMBER.search(pair.source)][: self.count or NUMBERED_LINES]


def read_sources(file: Path, known: Iterable[str]) -> list[str]:
    """Returns the sources of a file of pairs, each once, but none that is `known`."""
    sources = {line.split("\t")[0] for line in file.read_text(encoding="utf-8").splitlines()}
    return sorted(sources - set(known))


def pair_up(texts: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(texts[::2], texts[1::2], strict=False))


def bleu(outputs: Sequence[str], references: Sequence[str], *, lowercase: bool = False) -> float:
    config = ScoreConfig(lowercase=lowercase)
    return METRICS["bleu"](outputs, [[reference] for reference in references], config).value


def show(result: Result, name: str = "") -> str:
    """Returns a row of the table."""
    clean, score = (f"{value:6.1f}" if value is not None else " " * 6 for value in (result.clean, result.score))
    is_scored = result.score is not None and result.clean is not None
    difference = f"{result.score - result.clean:+6.1f}" if is_scored else " " * 6
    share = f"{result.share:6.1f} %" if result.share is not None else " " * 8
    verdict = "" if result.passes else "below the bar"
    return f"{name or result.row:20} {result.lines:6,} {clean} {score} {difference} {share} {verdict}".rstrip()


def make_peer(command: str) -> TranslateLines:
    """Returns a function that has lines translated by a command, which reads and writes a line for a line."""

    def translate(lines: Sequence[str]) -> list[str]:
        text = "".join(f"{line}\n" for line in lines)
        output = subprocess.run(shlex.split(command), input=text, capture_output=True, text=True, check=True).stdout
        translated = output.removesuffix("\n").split("\n")
        if len(translated) != len(lines):
            raise SystemExit(f"{command} wrote {len(translated):,} lines for {len(lines):,}")
        return translated

    return translate


def list_steps(bench: Bench, numbered: Sequence[str]) -> dict[str, Callable[[], Measured]]:
    """Returns how each row is measured."""
    steps: dict[str, Callable[[], Measured]] = {row.name: partial(bench.measure, row) for row in ROWS}
    steps |= {name: partial(bench.measure_joint, name) for name in JOINTS}
    steps |= {name: partial(bench.measure_strange, name, strange) for name, strange in STRANGE.items()}
    return {**steps, "random numbers": partial(bench.measure_numbers, numbered)}


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="the prepared corpus whose test split is translated")
    parser.add_argument("--lines", type=int, help="translate only so many lines")
    parser.add_argument("--row", action="append", help="measure this row alone; may be repeated")
    parser.add_argument("--numbered", type=Path, help="pairs whose lines with numbers are read instead of PREPARED's")
    parser.add_argument("--lost", type=Path, metavar="PAIRS", help="count what hostile mixtures of these pairs lose")
    parser.add_argument("--peer", metavar="COMMAND", help="also feed the lines to this command: a line for a line")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn at random")
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--no-fold", action="store_true", help="read the input as it is")
    parser.add_argument("--json", type=Path, help="append the rows to this file, as JSON lines")
    parser.add_argument("--show", type=int, default=0, help="print so many lines with their translations")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    translator = Translator.load(ModelRequest(options.model, lines=LineConfig(fold=not options.no_fold)))
    corpus, search = PreparedCorpus.load(options.data), SearchConfig(beam_size=options.beam_size)
    trained = [pair.source for pair in corpus.read_pairs("train")]
    if options.lost:
        sources = read_sources(options.lost, trained)
        return int(measure_losses(translator, sources, options.lines or 10_000, options.seed, options.show) > 0)

    def translate(lines: Sequence[str]) -> list[str]:
        return [found.text for found in translator.translate(lines, search, repair=RepairConfig())]

    systems = {str(options.model): translate} | ({options.peer: make_peer(options.peer)} if options.peer else {})
    benches = {name: Bench(system, corpus, options.lines, options.seed) for name, system in systems.items()}
    print(f"{'row':20} {'lines':>6} {'clean':>6} {'BLEU':>6} {'':6} {'right':>8}")
    passes = True
    for row in options.row or [*(row.name for row in ROWS), *JOINTS, *STRANGE, "random numbers"]:
        for name, bench in benches.items():
            numbered = read_sources(options.numbered, trained) if options.numbered else bench.list_numbered()
            numbered = [line for line in numbered if NUMBER.search(line)]
            result, changed, outputs = list_steps(bench, numbered)[row]()
            passes &= result.passes or name == options.peer
            print(show(result, "  peer" if name == options.peer else ""), flush=True)
            for line, output in list(zip(changed, outputs, strict=True))[: options.show]:
                print(f"    {line}\n      {output}")
            if options.json:
                with options.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"model": name, **asdict(result)}) + "\n")
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main())
