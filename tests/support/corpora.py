"""Small corpora for tests: a toy language pair of numbered sentences, no two of them equal."""

from __future__ import annotations

from pathlib import Path

from nmt_cli.corpus.formats.reader import Row
from nmt_cli.corpus.pairs import Pairs
from nmt_cli.corpus.steps.examine import Chunk, add, examine

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


def write_tsv(path: Path, rows: list[tuple[str, ...]] | list[tuple[str, str]]) -> Path:
    path.write_bytes("".join("\t".join(row) + "\n" for row in rows).encode())
    return path


def examined(rows: list[tuple[str, str]], **given: object) -> Pairs:
    """Pairs as reading leaves them, without files. `given` may name `roles`, `weights` and `inputs` (one a row)."""
    roles = given.get("roles", ["train"])
    names = [f"{number}.tsv" for number in range(len(roles))]  # type: ignore[arg-type]
    pairs = Pairs(names, roles, given.get("weights", [1.0] * len(names)))  # type: ignore[arg-type]
    inputs = given.get("inputs", [0] * len(rows))
    for number in range(len(names)):
        own = [Row(n + 1, *row) for n, (row, i) in enumerate(zip(rows, inputs, strict=True)) if i == number]  # type: ignore[call-overload]
        add(examine(Chunk(number, own, frozenset(given.get("keep", ())))), pairs)  # type: ignore[arg-type]
    pairs.close()
    return pairs
