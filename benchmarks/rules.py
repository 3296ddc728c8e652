"""What each rule of the middle is worth: turns it off, and prints what real lines and the stress table lose.

    python benchmarks/rules.py PAIRS [PAIRS ...] --model MODEL --data PREPARED [--lines 5000] [--reverse] [--rule NAME]
                               [--everyday PAIRS] [--applies 60] [--show FILE]

A rule is a row of KINDS, REWRITES, CHECKS or the ladder of repairs, or one of PARTS; it is left out to turn it off.
PAIRS are files of tab-separated pairs (perhaps `.xz`), of each of which as many are drawn; --reverse turns them round.
Most rules apply to few of them: --everyday names pairs that are all read, --applies draws so many more for each RULE of
those that it applies to, and --show writes all lines that change, as they are with and without the rule.
Search is greedy, on one core. Printed are differences to all rules: of BLEU and chrF of the pairs that are drawn
whatever applies to them; of lines that lost a number, markup, a name or a sentence that the reference has, while no
message says so; of references that fail a check; how many of all pairs change, and the BLEU and chrF of these alone; of
the mean BLEU of the rows of `stress.py`, and the row that falls most; of hostile lines that lost something in silence;
and how many of all lines are translated otherwise.
"""

from __future__ import annotations

import multiprocessing
import pkgutil
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from types import FunctionType
from typing import Any, NamedTuple

from bench import make_parser, read_pairs
from checks import count_alarms
from stress import Bench
from stress_lost import count_losses, is_reported, make_lines, translate_lines
from stress_rows import ROWS, WORD, list_lost_numbers

from nmt_cli.carrying.people import find_persons
from nmt_cli.carrying.spans import SpanKind
from nmt_cli.corpus.dataset import PreparedCorpus, reverse_corpus
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.search import Network
from nmt_cli.translation.segmentation.line_reader import LineReader

TABLES = {
    "kind": "nmt_cli.carrying.kinds:KINDS",
    "rewrite": "nmt_cli.rewriting.rewrite:REWRITES",
    "check": "nmt_cli.translation.checks.table:COMPARISONS",
    "mend": "nmt_cli.translation.repair.asks:MENDS",
    "ask": "nmt_cli.translation.repair.asks:ASKS",
}
UNKNOWN_NAMES = "nmt_cli.carrying.names"
PARTS = {  # what stands instead of a function or a constant
    "moved blanks": ("nmt_cli.rewriting.slips:Slips", "find_moved_blanks", lambda *arguments: ()),
    "places": (UNKNOWN_NAMES, "find_places", lambda *arguments: ()),
    "surnames": (UNKNOWN_NAMES, "find_persons", lambda *arguments: ()),
    "wraps": ("nmt_cli.carrying.kinds", "take_wraps_out", lambda spans, *arguments: list(spans)),
}
KINDS_OF_PARTS = {"places": SpanKind.PLACE, "wraps": SpanKind.WRAP}
POOL = 15_000  # pairs of a file among which those are drawn that a rule applies to
COLUMNS = ("BLEU", "chrF", "silent", "alarms", "pairs", "their BLEU", "their chrF", "stress", "falls most", "hostile")
COLUMNS += ("changed",)
MARKUP = re.compile(r"<[^<>]+>|%\(\w+\)[sd]|%(?:\d\$)?[sd]|\$?\{[^{}]*\}|https?://\S+|\S+@\S+\.\w+")
NAME = re.compile(r"(?<=\w\W)[A-Z]\w{2,}")  # not the first word of a sentence
SENTENCE_END = re.compile(r"[.!?](?:\s|$)")
HALF = 0.5  # of the letters of the reference: a text of several sentences has then lost one
SEARCH = Network.search_rows
FOUND: dict[tuple[Any, ...], Any] = {}  # results of search, by all that decides them


class Figures(NamedTuple):
    """What a run gave."""

    bleu: float
    chrf: float
    silent: int
    alarms: int
    stress: dict[str, float]  # BLEU of each row
    hostile: int
    outputs: list[str]
    pairs: list[tuple[str, str]]  # whose translations are the first of `outputs`

    def compare(self, on: Figures) -> list[str]:
        """Returns the cells of the table: the differences to the figures with all rules."""
        falls = {row: score - on.stress[row] for row, score in self.stress.items()}
        worst = min(falls, key=lambda row: falls[row])
        changed = sum(text != other for text, other in zip(self.outputs, on.outputs, strict=True))
        own = self.list_changed(on)
        theirs = [
            score(outputs, [target for (_, target), *_ in own])
            for outputs in zip(*[texts for _, *texts in own], strict=True)
        ]
        return [
            *(f"{getattr(self, name) - getattr(on, name):+.2f}" for name in ("bleu", "chrf")),
            *(f"{getattr(self, name) - getattr(on, name):+}" for name in ("silent", "alarms")),
            f"{len(own):,}",
            *(f"{without - with_all:+.1f}" for with_all, without in zip(*theirs, strict=True)),
            *[""] * (0 if own else 2),
            f"{sum(falls.values()) / len(falls):+.2f}",
            f"{worst} {falls[worst]:+.1f}" if falls[worst] < 0 else "",
            f"{self.hostile - on.hostile:+}",
            f"{changed:,}",
        ]

    def list_changed(self, on: Figures) -> list[tuple[tuple[str, str], str, str]]:
        """Returns the pairs that are translated otherwise, with all rules and without this one."""
        translated = zip(self.pairs, on.outputs, self.outputs, strict=False)
        return [(pair, with_all, without) for pair, with_all, without in translated if with_all != without]


def list_rules() -> dict[str, Any]:
    """Returns the rows of the tables and the parts, by name."""
    rows = {}
    for table, path in TABLES.items():
        named = vars(pkgutil.resolve_name(path.partition(":")[0]))
        for row in pkgutil.resolve_name(path):
            name = next((name for name, value in named.items() if value is row), "") or row.name
            rows[f"{table}: {name}"] = row
    return rows | PARTS


def turn_off(name: str) -> None:
    """Leaves a rule out of all tables of the package, of the defaults of its functions, and of what they remember."""
    rule = list_rules()[name]
    for module in [module for path, module in sys.modules.items() if path.startswith("nmt_cli")]:
        for attribute, value in list(vars(module).items()):
            setattr(module, attribute, leave_out(rule, value))
            for field, of_class in list(vars(value).items()) if isinstance(value, type) else ():
                if leave_out(rule, of_class) is not of_class:
                    setattr(value, field, leave_out(rule, of_class))
            if isinstance(value, FunctionType) and value.__defaults__:
                value.__defaults__ = tuple(leave_out(rule, default) for default in value.__defaults__)
            getattr(value, "cache_clear", int)()
    if name in PARTS:
        path, attribute, instead = PARTS[name]
        setattr(pkgutil.resolve_name(path), attribute, instead)
    elif isinstance(rule, type):  # a rewrite, which other rules ask for words
        rule.read = lambda *arguments: None  # type: ignore[attr-defined]


def leave_out(row: object, value: Any) -> Any:
    """Returns a table without a row; any other value as it is."""
    is_table = type(value) is tuple and any(item is row for item in value) and not isinstance(row, type)
    return tuple(item for item in value if item is not row) if is_table else value


def recall(self: Network, rows: Sequence[Any], config: Any, text_ids: Sequence[Any], *_: Any) -> list[Any]:
    """Stands for Network.search_rows: searches what no run before it has searched. A rule changes few rows."""
    keys = [(tuple(row.values), repr(config)) for row in rows]
    new = [number for number, key in enumerate(keys) if key not in FOUND]
    results = SEARCH(self, [rows[number] for number in new], config, [text_ids[number] for number in new])
    FOUND.update((keys[number], result) for number, result in zip(new, results, strict=True))
    return [FOUND[key] for key in keys]


def measure(options: Namespace, rule: str | None) -> Figures:
    """Measures everything, with a rule turned off."""
    if rule is not None:
        turn_off(rule)
    translator, corpus = TranslationRequest(options.model, threads=1).load(), PreparedCorpus.load(options.data)
    pairs = options.drawn
    translations = list(translate_lines(translator, [source for source, _ in pairs]))
    outputs = [translation.text for translation in translations]
    scores = score(outputs[: options.drawn_anyhow], [target for _, target in pairs[: options.drawn_anyhow]])
    language = translator.card.target_language
    silent = sum(
        not is_reported(translation) and any(list_losses(*pair, translation.text, language))
        for pair, translation in zip(pairs, translations, strict=True)
    )
    alarms = count_alarms(translator, pairs)["any"]

    def translate(lines: Sequence[str]) -> list[str]:
        return [translation.text for translation in translate_lines(translator, lines)]

    corpus = reverse_corpus(corpus) if options.reverse else corpus
    bench = Bench(translate, corpus, options.sentences, options.seed)
    results = [bench.measure(row) for row in ROWS]
    outputs += [output for result in results for output in result.outputs]
    hostile = make_lines([source for source, _ in pairs], options.hostile, options.seed)
    lost = count_losses(translator, hostile)["silent"]["any"]
    return Figures(
        *scores, silent, alarms, {result.row: result.score or 0.0 for result in results}, lost, outputs, pairs
    )


def score(outputs: Sequence[str], references: Sequence[str]) -> list[float]:
    """Returns BLEU and chrF."""
    return [METRICS[name](outputs, [[reference] for reference in references]).value for name in ("bleu", "chrf")]


def draw_pairs(options: Namespace) -> list[tuple[str, str]]:
    """Returns as many pairs of each file, all of `--everyday`, and more for each rule that is measured."""
    files = [read_turned(path, options) for path in options.pairs]
    drawn = [pair for pairs in files for pair in draw(pairs, options.lines // len(files), options.seed)]
    drawn = list(dict.fromkeys(drawn))
    options.drawn_anyhow = len(drawn)
    drawn += read_turned(options.everyday, options) if options.everyday else []
    if not options.applies:
        return drawn
    reader = TranslationRequest(options.model, threads=1).load().reader
    found: dict[str, list[tuple[str, str]]] = {rule: [] for rule in options.rule}
    for pair in [pair for pairs in files for pair in draw(pairs, POOL, options.seed)]:
        for rule in list_applied(reader, pair[0]) & set(found):
            found[rule].append(pair)
    for rule, pairs in found.items():
        print(f"{rule} applies to {len(pairs):,} pairs", flush=True)
        drawn += draw(pairs, options.applies, options.seed)
    return list(dict.fromkeys(drawn))


def read_turned(path: Path, options: Namespace) -> list[tuple[str, str]]:
    return [pair[::-1] if options.reverse else pair for pair in read_pairs(path) if all(pair)]


def draw(pairs: Sequence[tuple[str, str]], count: int, seed: int) -> list[tuple[str, str]]:
    return Random(seed).sample(pairs, min(len(pairs), count))


def list_applied(reader: LineReader, line: str) -> set[str]:
    """Returns the kinds, rewrites and parts that apply to a line before it is searched."""
    pieces = reader.split_line(line)
    kinds = {span.kind for piece in pieces for span in piece.spans}
    names = {name for name, row in list_rules().items() if name.startswith("kind") and row.name in kinds}
    names |= {name for name, kind in KINDS_OF_PARTS.items() if kind in kinds}
    names |= {
        f"rewrite: {type(rewrite).__name__}"
        for piece in pieces
        if piece.rewritten
        for rewrite, _ in piece.rewritten.memos
    }
    model = reader.rewriter.model
    return names | {"surnames"} if model and any(find_persons(line, model.source, model.target)) else names


def list_losses(source: str, reference: str, target: str, language: str) -> Iterator[str]:
    """Yields the kinds of what a translation lost and the reference has."""
    if set(list_lost_numbers(source, target, language)) - set(list_lost_numbers(source, reference, language)):
        yield "number"
    for kind, pattern in (("markup", MARKUP), ("name", NAME)):
        if any(part in reference and part not in target for part in pattern.findall(source)):
            yield kind
    letters, expected = (sum(map(len, WORD.findall(text))) for text in (target, reference))
    if len(SENTENCE_END.findall(reference)) > 1 and letters < HALF * expected:
        yield "sentence"


def main() -> None:
    parser = make_parser(__doc__, "model", "data", "sentences", "seed")
    parser.add_argument("pairs", type=Path, nargs="+")
    parser.add_argument("--lines", type=int, default=5_000, help="of the pairs")
    parser.add_argument("--hostile", type=int, default=1_000, help="hostile lines")
    parser.add_argument("--reverse", action="store_true")
    parser.add_argument("--rule", action="append", help="this one alone; can be repeated")
    parser.add_argument("--everyday", type=Path, metavar="PAIRS", help="pairs that are all read")
    parser.add_argument("--applies", type=int, default=0, help="more pairs for each rule, which it applies to")
    parser.add_argument("--show", type=Path, metavar="FILE", help="where to write the lines that change")
    parser.set_defaults(sentences=300)
    options = parser.parse_args()
    options.rule = options.rule or list(list_rules())
    options.drawn = draw_pairs(options)
    Network.search_rows = recall  # type: ignore[method-assign]
    on = measure(options, None)
    print(f"all: BLEU {on.bleu:.2f}, chrF {on.chrf:.2f}, {on.silent:,} lines lost something in silence,", end=" ")
    print(f"{on.alarms:,} false alarms, {on.hostile:,} hostile lines")
    for cells in (["without", *COLUMNS], ["---"] * (len(COLUMNS) + 1)):
        print("| " + " | ".join(cells) + " |", flush=True)
    for rule in options.rule:
        with multiprocessing.get_context("fork").Pool(1) as pool:  # a process of its own, which has FOUND
            without = pool.apply(measure, (options, rule))
        print("| " + " | ".join([rule, *without.compare(on)]) + " |", flush=True)
        if options.show:
            append_changed(options.show, rule, without.list_changed(on))


def append_changed(path: Path, rule: str, changed: Sequence[tuple[tuple[str, str], str, str]]) -> None:
    """Appends the lines that a rule changes, with their references, to a file."""
    with path.open("a", encoding="utf-8") as file:
        for (source, target), with_all, without in changed:
            print(rule, f"  {source}", f"  = {target}", f"  + {with_all}", f"  - {without}", sep="\n", file=file)


if __name__ == "__main__":
    main()
