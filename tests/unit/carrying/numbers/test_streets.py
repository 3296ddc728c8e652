"""Streets are one span, in the forms of both languages, where a number or an abbreviation shows them."""

from __future__ import annotations

import pytest

from nmt_cli.carrying.kind import Context
from nmt_cli.carrying.kinds import KINDS, find_spans
from nmt_cli.carrying.spans import SpanKind

CONTEXT = Context(("eng", "deu"))


def list_streets(text: str) -> list[str]:
    return [span.text for span in find_spans(text, CONTEXT, KINDS) if span.kind is SpanKind.STREET]


@pytest.mark.parametrize(
    ("text", "street"),
    [
        ("He moved to 12 Baker St. last March.", "12 Baker St."),
        ("We live at 221B Baker Street, London.", "221B Baker Street"),
        ("350 N. Fifth Avenue is open.", "350 N. Fifth Avenue"),
        ("It is at 1600 Oak Hill Blvd.", "1600 Oak Hill Blvd"),
        ("Take Oak Ave. and stop.", "Oak Ave."),
        ("Meet me on 5th Ave. at noon.", "5th Ave."),
        ("Er wohnt in der Hauptstr. 5.", "Hauptstr. 5"),
        ("Er wohnt Lindenstraße 14, 10969 Berlin.", "Lindenstraße 14, 10969 Berlin"),
        ("Berliner Straße 120 b ist zu.", "Berliner Straße 120 b"),
        ("Am Marktplatz 3 regnet es.", "Marktplatz 3"),
        ("Write to Altstadtring 12, please.", "Altstadtring 12"),
        ("Er wohnt im Westring 4 a.", "Westring 4 a"),
        ("We met at Kaiserring 7.", "Kaiserring 7"),
    ],
)
def test_streets_are_found_whole(text: str, street: str) -> None:
    assert list_streets(text) == [street]


@pytest.mark.parametrize(
    "text",
    [
        "We saw 3 big streets.",
        "He visited St. Louis in May.",
        "Walk down the street 5 times.",
        "Der Weg 3 ist kurz.",
        "Auf der Straße 5 Leute",
        "In 1990 he came.",
        "12 Saint Bernard dogs",
        "Numbering 3 End",
        "String 1 and Substring 2 are equal.",
        "In Spring 2019 we met.",
        "Engineering 101",
        "Das Monitoring 24 Stunden am Tag",
    ],
)
def test_what_may_be_no_street_is_none(text: str) -> None:
    assert list_streets(text) == []


def test_languages_without_streets_find_none() -> None:
    assert not any(span.kind is SpanKind.STREET for span in find_spans("12 Baker St. ok", Context(("hi", "ja")), KINDS))
