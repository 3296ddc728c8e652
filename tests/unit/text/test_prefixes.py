"""The entries that stand at a place of a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.prefixes import PrefixIndex

WORDS = st.text("ab ", min_size=1, max_size=6)


@given(st.lists(WORDS, max_size=12), st.text("ab c", max_size=12), st.integers(0, 12))
def test_all_entries_that_stand_at_a_place_are_found_longest_first(entries: list[str], text: str, start: int) -> None:
    expected = sorted((entry for entry in set(entries) if text.startswith(entry, start)), key=len, reverse=True)
    assert list(PrefixIndex(entries).find_at(text, start)) == expected
