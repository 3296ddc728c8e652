"""Small corpora for tests: a toy language pair of numbered sentences, no two of them equal."""

import random
from pathlib import Path

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.manifest import Finding
from nmt_cli.corpus.pairs import Pairs
from nmt_cli.corpus.prepare import prepare
from nmt_cli.corpus.steps.reading import Chunk, add_chunk, examine
from nmt_cli.corpus.steps.run_checks import run_checks
from nmt_cli.formats.inputs import CorpusFile
from nmt_cli.formats.reader import Row
from nmt_cli.text.tags import parse_tag_list

NOUNS = {"dog": "Hund", "cat": "Kater", "house": "Hof", "tree": "Baum", "ship": "Kahn"}
VERBS = {"sees": "sieht", "takes": "nimmt", "loves": "liebt", "finds": "findet"}
DIGITS = {"one": "eins", "two": "zwei", "three": "drei", "four": "vier", "five": "fünf", "six": "sechs", "ten": "zehn"}


def toy_pairs(number: int) -> list[tuple[str, str]]:
    """`number` different pairs, whose sources and whose targets are all different (up to 2,800)."""
    words = [
        (f"The {noun} {verb} the {other} at {one} {two}.", f"Der {n} {v} den {o} um {e} {z}.")
        for one, e in DIGITS.items()
        for two, z in DIGITS.items()
        for noun, n in NOUNS.items()
        for other, o in NOUNS.items()
        for verb, v in VERBS.items()
    ]
    return words[:number]


def prepare_pairs(directory: Path, pairs: list[tuple[str, str]], **options: object) -> PreparedCorpus:
    """Prepares English-German pairs with these options of `prepare`. Returns the corpus in `directory`/prepared."""
    table = write_tsv(directory / "en-de.tsv", pairs)
    prepare(table, directory / "prepared", PrepareOptions(**options))  # type: ignore[arg-type]
    return PreparedCorpus.load(directory / "prepared")


def prepare_tagged(directory: Path, **options: object) -> PreparedCorpus:
    """Prepares English with German (300 pairs) and with Dutch (200 of the interface), 100 sentences of which are both.

    Returns the corpus in `directory`/prepared; the options are those of `PrepareOptions`.
    """
    german, dutch = toy_pairs(300), [(source, target.replace("Der", "De")) for source, target in toy_pairs(400)[200:]]
    files = [
        CorpusFile(write_tsv(directory / "en-de.tsv", german), tags=parse_tag_list("to:de")),
        CorpusFile(write_tsv(directory / "en-nl.tsv", dutch), tags=parse_tag_list("to:nl ui")),
    ]
    prepare(files, directory / "prepared", PrepareOptions(**options))  # type: ignore[arg-type]
    return PreparedCorpus.load(directory / "prepared")


def write_tsv(path: Path, rows: list[tuple[str, ...]] | list[tuple[str, str]]) -> Path:
    path.write_bytes("".join("\t".join(row) + "\n" for row in rows).encode())
    return path


def examine_rows(rows: list[tuple[str, str]], **options: object) -> Pairs:
    """Returns pairs as reading leaves them, without files.

    The options are `keep` (names of checks), `roles` and `weights` (one per input), `inputs` and `groups` (one per
    row).
    """
    roles = options.get("roles", ["train"])
    names = [f"{number}.tsv" for number in range(len(roles))]  # type: ignore[arg-type]
    pairs = Pairs(names, roles, options.get("weights", [1.0] * len(names)))  # type: ignore[arg-type]
    inputs, groups = options.get("inputs", [0] * len(rows)), options.get("groups", [""] * len(rows))
    for number in range(len(names)):
        numbered = enumerate(zip(rows, inputs, groups, strict=True))  # type: ignore[call-overload]
        input_rows = [Row(n + 1, *row, group=group) for n, (row, i, group) in numbered if i == number]
        add_chunk(examine(Chunk(number, input_rows, frozenset(options.get("keep", ())))), pairs)  # type: ignore[arg-type]
    pairs.close()
    return pairs


def check_rows(rows: list[tuple[str, str]], config: PrepareOptions | None = None) -> dict[str, Finding]:
    """Runs all checks on pairs without files. Returns the findings by check."""
    config = config or PrepareOptions()
    pairs = examine_rows(rows, keep=config.keep)
    return {finding.check: finding for finding in run_checks(pairs, config, lambda done: None)}


def example_lines(findings: dict[str, Finding], check: str) -> list[int]:
    """Returns the lines of the examples of one check."""
    return [example.line for example in findings[check].examples]


def paged_pairs(pages: int) -> list[tuple[str, str, str]]:
    """Pages of eight sentences, in pairs: one about a thing, and one whose pronoun depends on that thing alone."""
    things = {"lamp": ("die Lampe", "sie"), "door": ("die Tür", "sie"), "chair": ("der Stuhl", "er")}
    things |= {"table": ("der Tisch", "er"), "book": ("das Buch", "es"), "house": ("das Haus", "es")}
    looks = {"red": "rot", "blue": "blau", "old": "alt", "new": "neu", "big": "groß", "small": "klein", "wet": "nass"}
    looks |= {"dry": "trocken", "good": "gut", "bad": "schlecht", "dear": "teuer", "cheap": "billig"}
    places = {"here": "hier", "there": "dort", "now": "jetzt", "today": "heute", "again": "wieder", "always": "immer"}
    firsts = [(t, a, p, q) for t in things for a in looks for p in places for q in places]
    seconds = [(a, b, p) for a in looks for b in looks for p in places]
    generator = random.Random(1)
    generator.shuffle(firsts), generator.shuffle(seconds)
    rows = []
    for number, ((thing, look, place, time), (one, other, where)) in enumerate(zip(firsts, seconds, strict=False)):
        noun, pronoun = things[thing]
        page = str(number // 4)
        first = f"the {thing} is {look} {place} {time}", f"{noun} ist {looks[look]} {places[place]} {places[time]}"
        second = f"it is {one} {other} {where}", f"{pronoun} ist {looks[one]} {looks[other]} {places[where]}"
        rows += [(*first, page), (*second, page)]
    return rows[: 8 * pages]


def prepare_paged(directory: Path, pages: int = 60, **options: object) -> PreparedCorpus:
    """Prepares `paged_pairs` with context, in words. Returns the corpus in `directory`/prepared."""
    table = write_tsv(directory / "en-de.tsv", [("source", "target", "page"), *paged_pairs(pages)])
    defaults = {"context": 1, "context_share": 0.5, "group_column": ("page",), "tokenizer": "word"}
    prepare(table, directory / "prepared", PrepareOptions(**{**defaults, **options}))  # type: ignore[arg-type]
    return PreparedCorpus.load(directory / "prepared")
