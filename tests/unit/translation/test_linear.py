"""The work on a line grows with its length, whatever it consists of: counted in calls, since clocks are noisy.

`tests/release/check_linear.py` measures the time, also that within a call.
"""

from __future__ import annotations

import pytest

from nmt_cli.translation.config import CheckConfig, LineConfig, RepairConfig
from support.calls import count_calls
from support.scripted_translator import GREEDY, ScriptedTranslator

SHORT, LONG = 500, 2_000  # characters
SLACK = 1.25  # over the ratio of the lengths
ATOMS = (
    *(". ", ": ", "? ", ".", "1.1. ", "e.g. ", "… ", "。", "aa.Aa", "A🙂"),
    *("| ", "(|", "\\n", "\t ", "___ ", "1. a 2. b "),
    *("(A) B ", "Note: ", "<b>", "<b>a</b>", "<br>", "<br", "<x1>", "a.[1] ", "&eacute;", "{0} ", "www.", "a@a."),
    *("1.000 ", "5 km ", "((a)) ", '"a" ', "A b ", "word word. ", "Tom/Mary ", "*a* ", "猫", "Yes! No? "),
)


@pytest.mark.parametrize("atom", ATOMS)
def test_calls_grow_with_the_length_of_a_line(atom: str) -> None:
    translator = ScriptedTranslator(str.upper)
    translator.reader.config = LineConfig(max_words=10)  # pieces are short, however long a line is

    def translate(length: int) -> int:
        line = "We go: " + (atom * length)[:length]
        return count_calls(lambda: translator.translate([line], GREEDY, repair=RepairConfig(), checks=CheckConfig()))

    translate(SHORT // 8)  # compiles patterns, and loads modules
    short, long = translate(SHORT), translate(LONG)
    assert long <= SLACK * LONG / SHORT * short
