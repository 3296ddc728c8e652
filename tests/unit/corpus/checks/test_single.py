"""The checks of a single pair: what they find, and what they leave alone."""

from __future__ import annotations

import pytest

from nmt_cli.corpus.checks.single import Empty, Identical, IdenticalShort, LostCharacters, Numbers


def test_pairs_by_themselves() -> None:
    assert Empty().has_problem("", "x") and Empty().has_problem("x", "") and not Empty().has_problem("x", "y")
    assert LostCharacters().has_problem("caf\ufffd", "x") and not LostCharacters().has_problem("café", "?")
    assert Identical().has_problem("a b c d", "a b c d") and not Identical().has_problem("a b c", "a b c")
    assert IdenticalShort().has_problem("Taxi!", "Taxi!") and not IdenticalShort().has_problem("", "")


@pytest.mark.parametrize(
    ("source", "target", "disagree"),
    [
        ("5 dogs", "6 Hunde", True),
        ("1,000,000 men", "1.000.000 Mann", False),
        ("5 000", "5000", False),
        ("1999 200", "1999 200", False),
        ("three dogs", "3 Hunde", False),
        ("٣ dogs", "3 Hunde", False),
        ("7 and 8", "8 und 7", False),
        ("at 07:05", "um 7:05", False),
    ],
)
def test_numbers_disagree_only_where_both_sides_have_some(source: str, target: str, disagree: bool) -> None:
    assert Numbers().has_problem(source, target) is disagree
