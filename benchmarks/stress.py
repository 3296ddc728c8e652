"""How faithful the translations of real input are: the test split, clean and with each line changed in one way.

    python benchmarks/stress.py MODEL --data PREPARED                  # a table: BLEU of each row beside clean
    python benchmarks/stress.py MODEL --data PREPARED --lines 200      # of the first 200 lines alone
    python benchmarks/stress.py MODEL --data PREPARED --json FILE      # JSON lines too
    python benchmarks/stress.py MODEL --data PREPARED --row "typing errors" --show 5
    python benchmarks/stress.py MODEL --data PREPARED --row "random numbers" --numbered FULL.tsv --seed 2

Marks that a row adds are taken off the output before it is scored. Rows that change the case are scored in lower case
beside the lower-cased clean score, and say what share of the cased output words has the right case: that of the source
where a line is in capitals or a heading, that of the clean translation where a line is in lower case. Rows that join
two lines stand beside the clean translations joined. `random numbers` counts the lines whose numbers, each exchanged
for another of as many digits, all come through in number and value; small ones may come as words. A row passes within
1.5 BLEU of clean (typing errors: 4), with 95 % of the case right, and 99.5 % of the numbers.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.number_words import spell_number
from nmt_cli.translation.config import LineConfig, ModelRequest, RepairConfig
from nmt_cli.translation.translator import Translator

KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
NEIGHBOURS = {key: (row + row[-2])[index + 1] for row in KEYS for index, key in enumerate(row)}
TYPING_ERRORS = 0.05  # share of the letters
BAR, TYPING_BAR = 1.5, 4.0  # BLEU below clean
CASE_BAR, NUMBER_BAR = 95.0, 99.5  # per cent
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
NUMBERED_LINES = 500
WORD = re.compile(r"[^\W\d_]+")

Change = Callable[[str, random.Random], str]
Rewrite = Callable[[str], str]


@dataclass(frozen=True)
class Row:
    """A way to change lines, how its marks are taken off the output, and the right case of an output word."""

    name: str
    change: Change
    take_off: Rewrite = str
    right_case: Rewrite | None = None  # makes a word right; None where the case does not change
    follows_clean: bool = False  # the right case is that of the clean translation
    bar: float = BAR


@dataclass(frozen=True)
class Result:
    """A row of the table."""

    row: str
    lines: int
    clean: float | None
    score: float | None
    share: float | None = None  # per cent of right case, or of lines whose numbers are kept
    passes: bool = True


def mistype(text: str, generator: random.Random) -> str:
    """Drops, doubles, exchanges or misses one key in twenty."""
    letters, position = list(text), 0
    while position < len(letters):
        if letters[position].isalpha() and generator.random() < TYPING_ERRORS:
            kind = generator.randrange(4)
            if kind == 0:
                letters[position] = ""
            elif kind == 1:
                letters[position] *= 2
            elif kind == 2 and position + 1 < len(letters):
                letters[position], letters[position + 1] = letters[position + 1], letters[position]
                position += 1
            else:
                letters[position] = NEIGHBOURS.get(letters[position], letters[position])
        position += 1
    return "".join(letters)


def escape(text: str, generator: random.Random) -> str:
    """Writes marks as entities, and one blank as that which does not break."""
    return html.escape(text).replace("&#x27;", "&#39;").replace(" ", "&nbsp;", 1)


def title(text: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in text.split())


ROWS = (
    Row("lower case", lambda text, _: text.lower(), follows_clean=True),
    Row("no final mark", lambda text, _: text.rstrip(".!?")),
    Row("capitals", lambda text, _: text.upper(), right_case=str.upper),
    Row("title case", lambda text, _: title(text), right_case=lambda word: word[:1].upper() + word[1:]),
    Row("U+200E in front", lambda text, _: f"\u200e{text}", lambda text: text.replace("\u200e", "")),
    Row("curly quotes around", lambda text, _: f"“{text}”", lambda text: text.strip('“”„"«»')),
    Row("typing errors", mistype, bar=TYPING_BAR),
    Row("in <b>", lambda text, _: f"<b>{text}</b>", lambda text: re.sub("</?b>", "", text)),
    Row("dash in front", lambda text, _: f"- {text}", lambda text: text.removeprefix("- ")),
    Row("number in front", lambda text, _: f"3. {text}", lambda text: text.removeprefix("3. ")),
    Row("emoji behind", lambda text, _: f"{text} 🙂", lambda text: text.replace("🙂", "").strip()),
    Row("entities", escape, lambda text: " ".join(html.unescape(text).split())),
)
JOINTS = {"two sentences": " ", "<br> between": "<br>"}


class Bench:
    """Translates and scores the lines of a test split."""

    def __init__(self, model: Path, corpus: PreparedCorpus, count: int | None, lines: LineConfig, search: SearchConfig):
        self.corpus, self.count = corpus, count
        self.translator = Translator.load(ModelRequest(model, lines=lines))
        self.search = search
        self.pairs = corpus.read_pairs("test")[:count]
        self.seed = 1
        self.sources, self.references = map(list, zip(*self.pairs, strict=True))

    @cached_property
    def clean(self) -> list[str]:
        """The translations of the lines as they are."""
        return self.translate(self.sources)

    def translate(self, lines: Sequence[str]) -> list[str]:
        return [found.text for found in self.translator.translate(lines, self.search, repair=RepairConfig())]

    def measure(self, row: Row) -> tuple[Result, list[str], list[str]]:
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

    def measure_joint(self, name: str) -> tuple[Result, list[str], list[str]]:
        """Returns the result of lines that are two sentences each."""
        mark = JOINTS[name]
        joined = [mark.join(two) for two in pair_up(self.sources)]
        raw = self.translate(joined)
        references = [" ".join(two) for two in pair_up(self.references)]
        outputs = [" ".join(line.replace(mark, " ").split()) for line in raw]
        clean, score = (bleu(lines, references) for lines in ([" ".join(two) for two in pair_up(self.clean)], outputs))
        return Result(name, len(raw), clean, score, None, score >= clean - BAR), joined, raw

    def measure_numbers(self, numbered: Sequence[str]) -> tuple[Result, list[str], list[str]]:
        """Returns in what share of the lines all numbers, each exchanged for another, come through."""
        generator = random.Random(self.seed)

        def exchange(match: re.Match[str]) -> str:
            return re.sub(r"\d", lambda digit: str(generator.randint(1, 9)), match[0])

        lines = [NUMBER.sub(exchange, line) for line in numbered]
        outputs = self.translate(lines)
        language = self.translator.card.target_language
        kept = sum(keeps_numbers(line, output, language) for line, output in zip(lines, outputs, strict=True))
        share = 100 * kept / max(1, len(lines))
        return Result("random numbers", len(lines), None, None, share, share >= NUMBER_BAR), lines, outputs

    def list_numbered(self) -> list[str]:
        """Returns the lines of all splits that have a number, those of the test split first."""
        pairs = (pair for split in ("test", "dev", "train") for pair in self.corpus.read_pairs(split))
        return [pair.source for pair in pairs if NUMBER.search(pair.source)][: self.count or NUMBERED_LINES]


def read_numbered(file: Path, known: Iterable[str]) -> list[str]:
    """Returns the sources of a file of pairs that have a number, each once, but none that is `known`."""
    sources = {line.split("\t")[0] for line in file.read_text(encoding="utf-8").splitlines()}
    return sorted(source for source in sources - set(known) if NUMBER.search(source))


def keeps_numbers(source: str, target: str, language: str) -> bool:
    """Whether a translation has each number of its source as often, and no other: in digits, or as a word of its own.

    The word for one is an article too, so one counts in digits alone; `language` is the code of the target's.
    """
    if has_same_digits(source, target):
        return True
    numbers, written = (Counter(digits(text, ".,:’\u202f")) for text in (source, target))
    words = Counter(word.lower() for word in WORD.findall(target))
    lost = {int(number): count for number, count in (numbers - written).items()}
    return not written - numbers and all(
        1 < number and sum(words[spelling] for spelling in spell_number(number, language)) >= count
        for number, count in lost.items()
    )


def has_same_digits(source: str, target: str) -> bool:
    """Whether both texts have the same numbers; a blank may part thousands, or two numbers."""
    return any(digits(source, marks) == digits(target, marks) for marks in (".,:’ \u202f", ".,:’\u202f"))


def digits(text: str, marks: str) -> list[str]:
    """Returns the digits of each number, in order of size: notation and place are free."""
    return sorted(re.sub(r"\D", "", number) for number in re.findall(rf"\d+(?:[{marks}]\d+)*", text))


def pair_up(texts: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(texts[::2], texts[1::2], strict=False))


def bleu(outputs: Sequence[str], references: Sequence[str], *, lowercase: bool = False) -> float:
    config = ScoreConfig(lowercase=lowercase)
    return METRICS["bleu"](outputs, [[reference] for reference in references], config).value


def show(result: Result) -> str:
    """Returns a row of the table."""
    clean, score = (f"{value:6.1f}" if value is not None else " " * 6 for value in (result.clean, result.score))
    is_scored = result.score is not None and result.clean is not None
    difference = f"{result.score - result.clean:+6.1f}" if is_scored else " " * 6
    share = f"{result.share:6.1f} %" if result.share is not None else " " * 8
    verdict = "" if result.passes else "below the bar"
    return f"{result.row:20} {result.lines:6,} {clean} {score} {difference} {share} {verdict}".rstrip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="the prepared corpus whose test split is translated")
    parser.add_argument("--lines", type=int, help="translate only so many lines")
    parser.add_argument("--row", action="append", help="measure this row alone; may be repeated")
    parser.add_argument("--numbered", type=Path, help="pairs whose lines with numbers are read instead of PREPARED's")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn at random")
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--no-fold", action="store_true", help="read the input as it is")
    parser.add_argument("--json", type=Path, help="append the rows to this file, as JSON lines")
    parser.add_argument("--show", type=int, default=0, help="print so many lines with their translations")
    options = parser.parse_args()
    lines = LineConfig(fold=not options.no_fold)
    corpus = PreparedCorpus.load(options.data)
    bench = Bench(options.model, corpus, options.lines, lines, SearchConfig(beam_size=options.beam_size))
    bench.seed = options.seed
    trained = (pair.source for pair in corpus.read_pairs("train"))
    numbered = read_numbered(options.numbered, trained) if options.numbered else bench.list_numbered()
    steps = {row.name: partial(bench.measure, row) for row in ROWS}
    steps |= {name: partial(bench.measure_joint, name) for name in JOINTS}
    steps["random numbers"] = partial(bench.measure_numbers, numbered)
    print(f"{'row':20} {'lines':>6} {'clean':>6} {'BLEU':>6} {'':6} {'right':>8}")
    passes = True
    for name in options.row or steps:
        result, changed, outputs = steps[name]()
        passes &= result.passes
        print(show(result), flush=True)
        for line, output in list(zip(changed, outputs, strict=True))[: options.show]:
            print(f"    {line}\n      {output}")
        if options.json:
            with options.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"model": str(options.model), **asdict(result)}) + "\n")
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main())
