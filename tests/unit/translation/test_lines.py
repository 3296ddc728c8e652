"""Texts are cut into windows, which depend neither on blocks nor on what else is translated."""

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.translation.lines import WINDOW, ContextWindow, WindowCutter, cut_texts

LINES = st.lists(st.sampled_from(["a", "b", "", " "]), max_size=3 * WINDOW).map(
    lambda lines: [line and f"{line}{number}" for number, line in enumerate(lines)]
)


def list_contexts(lines: list[str], sizes: list[int]) -> dict[str, tuple[str, ...]]:
    """The lines before each line in its window, nearest last, where blocks have these sizes in turn."""
    cutter, contexts, start = WindowCutter(), dict[str, tuple[str, ...]](), 0
    while start < len(lines):
        block = lines[start : start + sizes[0]]
        sizes = [*sizes[1:], sizes[0]]
        for before, rows in cutter.cut_lines(block):
            chain = [*before, *(block[row] for row in rows)]
            contexts |= {line: tuple(chain[:place]) for place, line in enumerate(chain) if place >= len(before)}
        start += len(block)
    return contexts


@given(lines=LINES, sizes=st.lists(st.integers(1, 20), min_size=1, max_size=4))
def test_the_window_of_a_line_does_not_depend_on_blocks(lines: list[str], sizes: list[int]) -> None:
    assert list_contexts(lines, sizes) == list_contexts(lines, [len(lines) + 1])


@given(lines=LINES)
def test_every_line_but_the_first_has_the_written_line_before(lines: list[str]) -> None:
    contexts = list_contexts(lines, [1000])
    written = [line for line in lines if line.strip()]
    assert list(contexts) == written
    for line, context in contexts.items():
        number = written.index(line)
        assert context == tuple(written[number - len(context) : number])
        assert len(context) <= WINDOW and (context or number == 0)


def test_texts_and_kinds_are_apart() -> None:
    lines = ["a", "b", "c", "d", "e"]
    assert cut_texts([2, 3], lines) == (ContextWindow((), (0, 1)), ContextWindow((), (2, 3, 4)))
    assert cut_texts([5], lines, "xyxyx") == (ContextWindow((), (0, 2, 4)), ContextWindow((), (1, 3)))


def test_a_window_begins_with_the_line_before_it() -> None:
    lines = [str(number) for number in range(2 * WINDOW + 1)]
    windows = cut_texts([len(lines)], lines)
    assert [window.before for window in windows] == [(), (str(WINDOW - 1),), (str(2 * WINDOW - 1),)]
    assert [row for window in windows for row in window.rows] == list(range(len(lines)))
