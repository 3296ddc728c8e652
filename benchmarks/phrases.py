"""How many of 200 first words, such as labels, foods, greetings and signs, a model translates as somebody would.

    python benchmarks/phrases.py MODEL ... [--beam-size 1] [--wrong]

A row of `phrases.tsv` has what may be written in English, what may be written in German, and its kind: the first text
of a side is the source, all texts of the other are references. So `turn right` is right as *Rechts abbiegen* and as
*Biegen Sie rechts ab!*: a final mark and the case of the first letter do not count, in English and capitals no case.
`data/models/corpus.py` keeps all of these texts out of training. `--wrong` prints the translations that are in no row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench import make_parser

import nmt_cli as nmt

PHRASES = Path(__file__).with_suffix(".tsv")
BETWEEN = " | "
SIDES = {"eng": 0, "deu": 1}
MARKS = str.maketrans({"’": "'", "…": "...", "‐": "-", "‑": "-", "\u00a0": " "})


class Phrase(NamedTuple):
    source: str
    references: Sequence[str]
    kind: str
    has_case: bool  # whether the case of letters behind the first counts


def read_phrases(source_language: str, path: Path = PHRASES) -> list[Phrase]:
    """Returns the phrases of a direction."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    side = SIDES[source_language]
    texts = [(row[side].split(BETWEEN)[0], row[1 - side].split(BETWEEN), row[2]) for row in rows]
    to_german = source_language == "eng"
    return [Phrase(text, references, kind, to_german and not text.isupper()) for text, references, kind in texts]


def simplify(text: str, *, has_case: bool) -> str:
    """Returns a text without what does not count: its final mark, the case of its first letter, double blanks."""
    plain = re.sub(r"[\s.!?,:;]+$", "", " ".join(text.translate(MARKS).split()))
    return plain[:1].casefold() + plain[1:] if has_case else plain.casefold()


def is_right(phrase: Phrase, translation: str) -> bool:
    references = {simplify(reference, has_case=phrase.has_case) for reference in phrase.references}
    return simplify(translation, has_case=phrase.has_case) in references


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--beam-size", type=int, action="append", help="1 is greedy [1 and 5]")
    parser.add_argument("--wrong", action="store_true", help="print what is in no row")
    options = parser.parse_args()
    for name in options.models:
        with nmt.load(name, threads=1) as model:
            phrases = read_phrases(model.source_language)
            for beam_size in options.beam_size or (1, 5):
                written = model.translate([phrase.source for phrase in phrases], beam_size=beam_size)
                pairs = list(zip(phrases, written, strict=True))
                right = sum(is_right(phrase, text) for phrase, text in pairs)
                print(f"{name} beam {beam_size}: {right} of {len(phrases)}, {100 * right / len(phrases):.1f} %")
                for phrase, text in pairs if options.wrong else ():
                    if not is_right(phrase, text):
                        print(f"  {phrase.kind:9} {phrase.source} -> {text} ({phrase.references[0]})")


if __name__ == "__main__":
    main()
