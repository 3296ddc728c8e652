"""No fast guard refuses what the rule behind it would find: where a guard says no, the rule finds nothing.

Texts are the frozen lines, and mixtures of their words with the signs that rules look for.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.kinds import KINDS, find_spans
from nmt_cli.carrying.spans import Attempt, Context, DoubtfulKind, Kind, LostKind
from nmt_cli.rewriting.spelling import INNER_MARKS, find_gender_marks
from nmt_cli.translation.segmentation.dividers import frame_segment
from nmt_cli.translation.segmentation.segments import SegmentedLine, cut, is_plain, is_short_sentence, split_to_fit

HERE = Path(__file__).parent
LINES = [line for name in ("eng", "deu") for line in (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()]
WORDS = sorted({word for line in LINES for word in line.split()})
SIGNS = [
    *"()[]{}<>/&*_~'\"“”„«».,;:!?…。！？।؟#%$€@⟦⟧|\\=+-–—0159aIXx \t\u200b\u00a0",
    "...",
    "z.B.",
    "p.m.",
    "www.",
    "::",
]
TEXTS = st.lists(st.sampled_from(WORDS) | st.sampled_from(SIGNS) | st.characters(categories=["L", "N", "P", "S"])).map(
    "".join
) | st.lists(st.sampled_from(WORDS + SIGNS), max_size=8).map(" ".join)

CONTEXT = Context(("eng", "deu"))
GUARDS: dict[str, tuple[Callable[[str], object], Callable[[str], object]]] = {
    "gender marks": (lambda text: not INNER_MARKS.isdisjoint(text), lambda text: [*find_gender_marks(text, "deu")]),
    "frames": (lambda text: not is_plain(make_segment(text)), lambda text: len(frame_segment(make_segment(text))) > 1),
    "sentences": (lambda text: not is_short_sentence(text, 50), lambda text: count_parts(text) != 1),
}


def find(kind: Kind, text: str) -> list[object]:
    """What a kind finds in a text, or of a text that was lost."""
    if isinstance(kind, LostKind):
        attempt = Attempt.from_texts(text, "")
        return [*kind.list_carried(attempt, CONTEXT), *kind.find_lost(attempt, CONTEXT).missing]
    if isinstance(kind, DoubtfulKind):
        return list(kind.find_doubtful(Attempt.from_texts(text, "")))
    return list(kind.find(text, CONTEXT))


GUARDS |= {
    f"{kind.name} {number}": (partial(kind.may_be_in, context=CONTEXT), partial(find, kind))
    for number, kind in enumerate(KINDS)
}


def make_segment(text: str):
    return cut(text, find_spans(text), 50)[0] if text.strip() else cut("a", (), 50)[0]


def count_parts(text: str) -> int:
    line = SegmentedLine(text, text, (), "")
    return len(
        [part for part in split_to_fit(line, 0, len(text), 50, 0, must_split=True) if text[slice(*part)].strip()]
    )


@pytest.mark.parametrize("name", GUARDS)
def test_a_guard_refuses_nothing_on_real_lines(name: str) -> None:
    guard, rule = GUARDS[name]
    assert [line for line in LINES if not guard(line) and rule(line)] == []


@pytest.mark.parametrize("name", GUARDS)
@given(text=TEXTS)
def test_a_guard_refuses_nothing_that_its_rule_finds(name: str, text: str) -> None:
    guard, rule = GUARDS[name]
    assert guard(text) or not rule(text)
