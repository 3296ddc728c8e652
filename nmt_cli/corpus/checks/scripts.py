"""The script check, for example for a Russian sentence in an English column. It learns the scripts of each column."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.scratch import count_numbers, iterate_blocks
from nmt_cli.arrays.types import BoolArray
from nmt_cli.corpus.checks.check import CheckResult, CorpusCheck
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.pairs import Pairs

MINIMUM_PAIRS = 100  # for learning the scripts of a column
LEAST_SHARE = 0.01  # of the sentences of a side; a rarer script does not belong there

# First code point of each range of letters; None ends the one before.
RANGES: tuple[tuple[int, str | None], ...] = (
    (0x41, "Latin"), (0x5B, None), (0x61, "Latin"), (0x7B, None), (0xC0, "Latin"), (0xD7, None), (0xD8, "Latin"),
    (0xF7, None), (0xF8, "Latin"), (0x2B0, None), (0x370, "Greek"), (0x400, "Cyrillic"), (0x530, "Armenian"),
    (0x590, "Hebrew"), (0x600, "Arabic"), (0x700, None), (0x750, "Arabic"), (0x780, "Thaana"), (0x7C0, "N'Ko"),
    (0x800, None), (0x8A0, "Arabic"), (0x900, "Devanagari"), (0x980, "Bengali"), (0xA00, "Gurmukhi"),
    (0xA80, "Gujarati"), (0xB00, "Oriya"), (0xB80, "Tamil"), (0xC00, "Telugu"), (0xC80, "Kannada"),
    (0xD00, "Malayalam"), (0xD80, "Sinhala"), (0xE00, "Thai"), (0xE80, "Lao"), (0xF00, "Tibetan"), (0x1000, "Myanmar"),
    (0x10A0, "Georgian"), (0x1100, "Hangul"), (0x1200, "Ethiopic"), (0x13A0, "Cherokee"), (0x1400, "Canadian"),
    (0x1680, None), (0x1780, "Khmer"), (0x1800, "Mongolian"), (0x18B0, None), (0x1E00, "Latin"), (0x1F00, "Greek"),
    (0x2000, None), (0x2C80, "Coptic"), (0x2D00, None), (0x2D30, "Tifinagh"), (0x2D80, "Ethiopic"), (0x2DE0, None),
    (0x3041, "Kana"), (0x3100, "Bopomofo"), (0x3130, "Hangul"), (0x3190, None), (0x31F0, "Kana"), (0x3200, None),
    (0x3400, "Han"), (0x4DC0, None), (0x4E00, "Han"), (0xA000, "Yi"), (0xA4D0, None), (0xA640, "Cyrillic"),
    (0xA6A0, None), (0xA720, "Latin"), (0xA800, None), (0xAC00, "Hangul"), (0xD7B0, None), (0xF900, "Han"),
    (0xFB00, "Latin"), (0xFB13, "Armenian"), (0xFB1D, "Hebrew"), (0xFB50, "Arabic"), (0xFE00, None),
    (0xFE70, "Arabic"), (0xFEFF, None), (0xFF21, "Latin"), (0xFF3B, None), (0xFF41, "Latin"), (0xFF5B, None),
    (0xFF66, "Kana"), (0xFFA0, "Hangul"), (0xFFE0, None), (0x1E900, "Adlam"), (0x1E960, None), (0x20000, "Han"),
    (0x32000, None),
)  # fmt: skip
NONE = "none"
SCRIPTS: tuple[str, ...] = (NONE, *sorted({name for _, name in RANGES if name}))
STARTS = [start for start, _ in RANGES]


@cache
def build_script_table() -> NDArray[np.uint8]:
    """Returns (0x110000,) the index in SCRIPTS of each code point."""
    bounds = [*STARTS, 0x110000]
    numbers = [0, *(SCRIPTS.index(name or NONE) for _, name in RANGES)]
    return np.repeat(np.array(numbers, np.uint8), np.diff([0, *bounds]))


def find_main_scripts(texts: list[str]) -> NDArray[np.uint8]:
    """Returns (N,) the index in SCRIPTS of the script of more than half of each text's letters; 0 if there is none."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = np.fromiter(map(len, texts), np.int64, count=len(texts))
    owner = np.repeat(np.arange(len(texts)) * len(SCRIPTS), sizes)
    counts = np.bincount(owner + build_script_table()[points], minlength=len(texts) * len(SCRIPTS))
    letters = counts.reshape(len(texts), len(SCRIPTS))
    letters[:, 0] = 0
    main = letters.argmax(axis=1)
    decided = 2 * letters[np.arange(len(texts)), main] > letters.sum(axis=1)
    return np.where(decided, main, 0).astype(np.uint8)


def measure_script_shares(texts: list[str]) -> NDArray[np.float64]:
    """Returns the share, 0 to 1, of each of SCRIPTS among the letters of all texts; zeros if there are no letters.

    The share of NONE is 0.
    """
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    shares = np.bincount(build_script_table()[points], minlength=len(SCRIPTS)).astype(np.float64)
    shares[0] = 0
    shares /= max(shares.sum(), 1.0)
    return shares


class Script(CorpusCheck):
    name = "script"
    problem = "one side is in a script that is rare in its column"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        rows = np.zeros(len(pairs), dtype=np.bool_)
        notes = []
        for side in ("source", "target"):
            scripts: NDArray[np.uint8] = getattr(pairs.facts, f"{side}_scripts")
            counts = count_numbers(scripts, len(SCRIPTS), candidates)
            counts[0] = 0
            if counts.sum() < MINIMUM_PAIRS:
                continue
            is_common = counts >= LEAST_SHARE * counts.sum()
            is_rare = ~is_common
            is_rare[0] = False
            for block in iterate_blocks(len(pairs)):
                rows[block] |= is_rare[scripts[block]] & candidates[block]
            notes.append(f"{side} is {', '.join(np.array(SCRIPTS)[is_common].tolist())}")
        return CheckResult(rows, "; ".join(notes))
