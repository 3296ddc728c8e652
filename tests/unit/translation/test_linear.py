"""The work on a line grows with its length, whatever it consists of: counted in calls, since clocks are noisy.

`tests/release/check_linear.py` measures the time, also that within a call.
"""

import time
from collections.abc import Callable

import pytest

from nmt_cli.carrying.people import PEOPLE
from nmt_cli.carrying.spans import EMOJI_COVER, NO_CONTEXT
from nmt_cli.carrying.syntax import trim_address
from nmt_cli.translation.checks.marks import check_spans
from nmt_cli.translation.checks.words import CheckContext
from nmt_cli.translation.config import CheckOptions, LineOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.placement.alignment import find_word_ranges, trace_words
from nmt_cli.translation.placement.span_placement import verify_spans
from nmt_cli.translation.placement.traced_text import TextRange
from nmt_cli.translation.result import Placed
from nmt_cli.translation.segmentation.segments import find_sentence_ends
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
    translator.reader.config = LineOptions(max_words=10)  # pieces are short, however long a line is

    def translate(length: int) -> int:
        line = "We go: " + (atom * length)[:length]
        return count_calls(
            lambda: translator.translate(
                [line], TranslateOptions(GREEDY, repair=RepairOptions(), checks=CheckOptions())
            )
        )

    translate(SHORT // 8)  # compiles patterns, and loads modules
    short, long = translate(SHORT), translate(LONG)
    assert long <= SLACK * LONG / SHORT * short


def place_distinct(count: int) -> list[Placed]:
    return [Placed(f"<a{number}>", "network", lost=False) for number in range(count)]


def check_distinct(count: int) -> None:
    placed = place_distinct(count)
    written = " ".join(span.text for span in placed)
    assert check_spans(written, written, CheckContext(placed=placed)) is None


WITHIN_CALLS: dict[str, Callable[[int], object]] = {
    "an address and what closes it": lambda count: trim_address("http://a.b" + ")" * 8 * count),
    "spans that differ": check_distinct,
    "spans that are lost": lambda count: verify_spans("", place_distinct(count)),
    "words that come from a long one": lambda count: trace_words(
        "A🙂" * 8 * count, [TextRange(0, 16 * count)], "b " * count, find_word_ranges("b " * count), [0] * count
    ),
    "a word in capitals": lambda count: PEOPLE.may_be_in("A" * 16 * count, NO_CONTEXT),
    "emoji between letters": lambda count: list(find_sentence_ends(f"A{EMOJI_COVER}" * 4 * count, 0, 8 * count, "eng")),
}


@pytest.mark.parametrize("name", WITHIN_CALLS)
def test_time_within_calls_grows_with_the_length(name: str) -> None:
    def measure(count: int) -> float:
        times = []
        for _ in range(3):  # another process may empty the caches
            started = time.process_time()
            WITHIN_CALLS[name](count)
            times.append(time.process_time() - started)
        return min(times)

    measure(10)  # compiles patterns
    assert measure(8_000) < 4 * 16 * max(measure(500), 0.001)  # 256 times as long if each looked at all others
