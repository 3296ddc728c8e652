"""The check of shifted lines: one side lost or gained a line, and from there on no pair matches.

The lengths of the lines tell (`arrays/shifts.py`).
"""

from __future__ import annotations

import numpy as np

from nmt_cli.arrays.shifts import find_shifts
from nmt_cli.arrays.types import BoolArray
from nmt_cli.corpus.checks.check import CheckResult, CorpusCheck
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.pairs import Pairs


class Shifted(CorpusCheck):
    name = "shifted"
    problem = "lines shifted: source and target do not belong together"
    crosses_languages = True  # each input is a group of its own

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        facts, is_shifted, notes = pairs.facts, np.zeros(len(pairs), dtype=np.bool_), []
        for number, name in enumerate(pairs.input_names):
            of_input = np.array(number, facts.input_numbers.dtype)
            begin, stop = (int(np.searchsorted(facts.input_numbers, of_input, side)) for side in ("left", "right"))
            for shift in find_shifts(facts.source_lengths[begin:stop], facts.target_lengths[begin:stop]):
                is_shifted[begin + shift.first : begin + shift.end] = True
                first, last = facts.line_numbers[begin + shift.first], facts.line_numbers[begin + shift.end - 1]
                by = f"{abs(shift.lines)} line{'s' if abs(shift.lines) > 1 else ''}"
                notes.append(f"{name} from about line {first:,} to {last:,}, by {by}")
        more = f" and {len(notes) - 5} more" if len(notes) > 5 else ""
        return CheckResult(is_shifted & candidates, "; ".join(notes[:5]) + more)
