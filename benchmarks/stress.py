"""How faithful the translations of real input are: the test split, clean and with each line changed in one way.

    python benchmarks/stress.py --model MODEL --data PREPARED [--sentences 200]    # BLEU of each row beside clean
    python benchmarks/stress.py --model MODEL --data PREPARED --row "typing errors" --show 5
    python benchmarks/stress.py --model MODEL --data PREPARED --row "random numbers" --numbered FULL.tsv --seed 2
    python benchmarks/stress.py --model MODEL --data PREPARED --lost FULL.tsv --sentences 10000

Marks that a row adds are taken off the output before it is scored. Rows that change the case are scored in lower case
beside the lower-cased clean score, and show what share of the cased output words has the right case: that of the source
where a line is in capitals or a heading, that of the clean translation where a line is in lower case. Rows that join
two lines stand beside the clean translations joined. `strange names` and `strange codes` count the lines in which a
name that training never had, or a code, comes through in the place of a name that both sides have; `dialects` those
with a placeholder there. `placeholder pair` and `unknown tag` count those that keep words between two marks. `random
numbers` counts the lines whose numbers, each exchanged for another of as many digits, all come through in number and
value; small ones may come as words. A row passes within 1.5 BLEU of clean (typing errors: 4), with 95 % of the case
right, and 99.5 % of what is counted. `--lost` translates mixtures of these changes greedily, and counts the lines that
lost a number, tag, placeholder or sentence in silence.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench import make_parser
from stress_lost import KINDS, count_losses, make_lines
from stress_rows import (
    NUMBER,
    ROWS,
    STRANGE,
    WORD,
    WRAPPED,
    Row,
    exchange_digits,
    exchange_name,
    keeps_numbers,
    keeps_wrapped,
    wrap_word,
)

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.config import RepairOptions, TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.translator import LineTranslator

CASE_BAR, COUNT_BAR = 95.0, 99.5  # per cent
COUNTED_LINES = 500
HOSTILE_LINES = 10_000
NUMBERS = "random numbers"

TranslateLines = Callable[[Sequence[str]], list[str]]
Probe = tuple[str, Callable[[str], bool]]  # a line, and whether its translation keeps what it must


class Result(NamedTuple):
    """A row of the table."""

    row: str
    lines: list[str]
    outputs: list[str]
    clean: float | None = None
    score: float | None = None
    share: float | None = None  # per cent of right case, or of lines that keep what they must
    passes: bool = True

    def __str__(self) -> str:
        cells = [f"{value:6.1f}" if value is not None else " " * 6 for value in (self.clean, self.score)]
        difference = f"{self.score - self.clean:+6.1f}" if self.score is not None and self.clean is not None else ""
        share = f"{self.share:6.1f} %" if self.share is not None else ""
        verdict = "" if self.passes else "below the bar"
        return f"{self.row:20} {len(self.lines):6,} {' '.join(cells)} {difference:6} {share:8} {verdict}".rstrip()


class Bench:
    """Has the lines of a test split translated, and scores them."""

    def __init__(self, translate: TranslateLines, corpus: PreparedCorpus, count: int | None, seed: int) -> None:
        self.translate, self.corpus, self.seed, self.count = translate, corpus, seed, count or COUNTED_LINES
        self.pairs = corpus.read_pairs("test")[:count]
        self.sources, self.references = map(list, zip(*self.pairs, strict=True))

    @cached_property
    def clean(self) -> list[str]:
        """The translations of the lines as they are."""
        return self.translate(self.sources)

    @cached_property
    def trained(self) -> list[str]:
        return [pair.source for pair in self.corpus.read_pairs("train")]

    def measure(self, row: Row) -> Result:
        generator = Random(self.seed)
        lines, references, clean = self.sources, self.references, self.clean
        if row.joint is not None:
            lines, references, clean = (
                [mark.join(two) for two in zip(texts[::2], texts[1::2], strict=False)]
                for texts, mark in ((lines, row.joint), (references, " "), (clean, " "))
            )
        lines = [row.change(line, generator) for line in lines]
        raw = self.translate(lines)
        outputs = [row.take_off(line) for line in raw]
        is_cased = row.right_case is not None or row.follows_clean
        references, *compared = ([*map(row.compare, texts)] for texts in (references, clean, outputs))
        usual, score = (compute_bleu(texts, references, lowercase=is_cased) for texts in compared)
        share = self.measure_case(row, outputs) if is_cased else None
        passes = score >= usual - row.bar and (share is None or share >= CASE_BAR)
        return Result(row.name, lines, raw, usual, score, share, passes)

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

    def measure_probes(self, name: str, probes: Sequence[Probe]) -> Result:
        """Returns in what share of the lines what must come through does."""
        lines = [line for line, _ in probes]
        outputs = self.translate(lines)
        kept = sum(keeps(output) for (_, keeps), output in zip(probes, outputs, strict=True))
        share = 100 * kept / max(1, len(lines))
        return Result(name, lines, outputs, share=share, passes=share >= COUNT_BAR)

    def make_numbers(self, sources: Iterable[str]) -> list[Probe]:
        """Returns the lines with a number, each number exchanged for another."""
        generator, language = Random(self.seed), str(self.corpus.target_language)
        lines = [exchange_digits(source, generator) for source in sources if NUMBER.search(source)]
        return [(line, partial(keeps_numbers, line, language=language)) for line in lines]

    def make_strange(self, words: Sequence[str]) -> list[Probe]:
        """Returns lines with a strange word in the place of a name."""
        generator, trained = Random(self.seed), " ".join(self.trained)
        unknown = [word for word in words if word not in trained]
        drawn = [(exchange_name(*pair, word), word) for pair in self.pairs for word in [generator.choice(unknown)]]
        return [(line, partial(contains, word)) for line, word in drawn if line is not None][: self.count]

    def make_wrapped(self, pairs: Sequence[tuple[str, str]]) -> list[Probe]:
        """Returns lines with a word between two marks, which must stand between them in the translation too."""
        generator = Random(self.seed)
        drawn = [(wrap_word(source, marks := generator.choice(pairs), generator), marks) for source in self.sources]
        return [(line, partial(keeps_wrapped, marks)) for line, marks in drawn if line is not None][: self.count]

    def list_steps(self, numbered: Path | None) -> dict[str, Callable[[], Result]]:
        """Returns how each row is measured."""
        if numbered:
            sources = read_sources(numbered, self.trained)
        else:
            pairs = (pair for split in ("test", "dev", "train") for pair in self.corpus.read_pairs(split))
            sources = [pair.source for pair in pairs if NUMBER.search(pair.source)][: self.count]
        steps: dict[str, Callable[[], Result]] = {row.name: partial(self.measure, row) for row in ROWS}
        steps |= {
            name: lambda name=name: self.measure_probes(name, self.make_strange(STRANGE[name])) for name in STRANGE
        }
        steps |= {
            name: lambda name=name: self.measure_probes(name, self.make_wrapped(WRAPPED[name])) for name in WRAPPED
        }
        return {**steps, NUMBERS: lambda: self.measure_probes(NUMBERS, self.make_numbers(sources))}


def contains(word: str, output: str) -> bool:
    return word in output


def read_sources(file: Path, known: Iterable[str]) -> list[str]:
    """Returns the sources of a file of pairs, each once, but none that is `known`."""
    sources = {line.split("\t")[0] for line in file.read_text(encoding="utf-8").splitlines()}
    return sorted(sources - set(known))


def compute_bleu(outputs: Sequence[str], references: Sequence[str], *, lowercase: bool = False) -> float:
    return METRICS["bleu"](outputs, [[reference] for reference in references], ScoreOptions(lowercase=lowercase)).value


def print_losses(translator: LineTranslator, corpus: PreparedCorpus, options: Namespace) -> bool:
    """Prints what hostile lines lost, by kind; returns whether all of them are named by a message."""
    sources = read_sources(options.lost, (pair.source for pair in corpus.read_pairs("train")))
    lines = make_lines(sources, options.sentences or HOSTILE_LINES, options.seed)
    counts = count_losses(translator, lines, options.show)
    print(f"{len(lines):,} hostile lines, seed {options.seed}")
    for kind in KINDS:
        print(f"  {kind:12} {counts['lost'][kind]:6,} lost, {counts['silent'][kind]:6,} without a message")
    return not counts["silent"]["any"]


def parse_options() -> Namespace:
    parser = make_parser(__doc__, "model", "data", "sentences", "seed")
    parser.add_argument("--row", action="append", help="measure this row alone; can be repeated")
    parser.add_argument("--numbered", type=Path, help="pairs whose lines with numbers are read instead of PREPARED's")
    parser.add_argument("--lost", type=Path, metavar="PAIRS", help="count what hostile mixtures of these pairs lose")
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--show", type=int, default=0, help="print so many lines with their translations")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    translator, corpus = TranslationRequest(options.model).load(), PreparedCorpus.load(options.data)
    if options.lost:
        return 0 if print_losses(translator, corpus, options) else 1

    def translate(lines: Sequence[str]) -> list[str]:
        search = SearchOptions(beam_size=options.beam_size)
        return [found.text for found in translator.translate(lines, TranslateOptions(search, repair=RepairOptions()))]

    steps = Bench(translate, corpus, options.sentences, options.seed).list_steps(options.numbered)
    print(f"{'row':20} {'lines':>6} {'clean':>6} {'BLEU':>6} {'':6} {'right':>8}")
    passes = True
    for row in options.row or steps:
        result = steps[row]()
        passes &= result.passes
        print(result, flush=True)
        for line, output in list(zip(result.lines, result.outputs, strict=True))[: options.show]:
            print(f"    {line}\n      {output}")
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main())
