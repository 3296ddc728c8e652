"""Quotes around a whole sentence are taken off and come back as those of the target."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.rewriting.quotes import OuterQuotes, choose_target_quotes, find_outer_quotes
from support.final_marks import ENDED

GERMAN = Counter("„Ja“ " * 30)


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ('"It rains."', OuterQuotes('"', '"')),
        ("“It rains.”", OuterQuotes("“", "”")),
        ("“It rains”.", OuterQuotes("“", "”", is_mark_outside=True)),
        ("‘It’s late.’", OuterQuotes("‘", "’")),
        ("'It's late.'", OuterQuotes("'", "'")),
        ("“It rains.", OuterQuotes("“", "")),
        ("It rains.”", OuterQuotes("", "”")),
        ("“He said ‘yes’.”", OuterQuotes("“", "”")),
    ],
)
def test_quotes_around_a_text_are_found(text: str, quotes: OuterQuotes) -> None:
    assert find_outer_quotes(text) == quotes


@pytest.mark.parametrize(("words", "mark"), ENDED)
def test_a_final_mark_of_any_language_may_follow_the_quotes(words: str, mark: str) -> None:
    assert find_outer_quotes(f"“{words}”{mark}") == OuterQuotes("“", "”", is_mark_outside=True)


@pytest.mark.parametrize(
    "text",
    [
        "It rains.",
        '"Yes," he said.',
        'He said "yes".',
        "“a” and “b”",
        "the boys'",
        "'tis late",
        "«It's “late”.",
        "’tis",
        '"',
        "“”",
        "“7”",
        "",
    ],
)
def test_other_quotes_stay(text: str) -> None:
    assert find_outer_quotes(text) is None


def test_the_translation_gets_the_quotes_of_its_language() -> None:
    assert choose_target_quotes(OuterQuotes('"', '"'), GERMAN).wrap("Es regnet.") == "„Es regnet.“"
    assert (
        choose_target_quotes(OuterQuotes("“", "”", is_mark_outside=True), GERMAN).wrap("Es regnet.") == "„Es regnet“."
    )
    assert choose_target_quotes(OuterQuotes("“", ""), GERMAN).wrap("Es regnet.") == "„Es regnet."
    assert choose_target_quotes(OuterQuotes("“", "”"), Counter("no quotes")).wrap("Es regnet.") == "“Es regnet.”"


@given(st.text("ab. "), st.sampled_from([("“", "”"), ("«", "»"), ('"', '"')]))
def test_what_is_between_the_quotes_is_all_the_rest(text: str, pair: tuple[str, str]) -> None:
    quotes = find_outer_quotes(f"{pair[0]}{text}{pair[1]}")
    if any(map(str.isalpha, text)):
        assert quotes is not None
        line = f"{pair[0]}{text}{pair[1]}"
        assert "".join(line[index] for index in quotes.find_inside(line)) == text and quotes.wrap(text) == line
