"""Numbers with `No.` or an abbreviated unit of time are one span, with what the target writes."""

from __future__ import annotations

import pytest

from nmt_cli.carrying.kind import Context
from nmt_cli.carrying.kinds import KINDS, find_spans


def list_written(text: str, source: str = "eng", target: str = "deu") -> list[str]:
    return [span.text for span in find_spans(text, Context((source, target)), KINDS)]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Stop at No. 17.", ["Nr. 17"]),
        ("Invoice No. 2024-0815 is due.", ["Nr. 2024-0815"]),
        ("We drove 3 hrs. without a break.", ["3 Std."]),
        ("It takes 3 hrs.", ["3 Std"]),
        ("It takes 3 hrs in all", ["3 Std."]),
        ("Boil 10-12 mins, then stir", ["10-12 Min."]),
        ("wait 30 secs", ["30 Sek."]),
    ],
)
def test_words_beside_numbers_are_those_of_the_target(text: str, written: list[str]) -> None:
    assert list_written(text) == written


@pytest.mark.parametrize(
    "text", ["No. I do not know.", "No, 17 of them", "hrs. of work", "I said no. 5 came.", "3 mind"]
)
def test_other_words_are_left_to_the_network(text: str) -> None:
    assert list_written(text) == []


def test_german_words_are_written_in_english() -> None:
    assert list_written("Er ruft in 5 Min.", "deu", "eng") == ["5 min"]
    assert [span.end for span in find_spans("Er ruft in 5 Min.", Context(("deu", "eng")), KINDS)] == [
        len("Er ruft in 5 Min")
    ]
    assert list_written("Nr. 17 kocht 20 Min. lang, dann 2 Std.", "deu", "eng") == ["No. 17", "20 min", "2 hrs"]


def test_languages_without_such_words_leave_them() -> None:
    assert list_written("Stop at No. 17 for 3 hrs.", "eng", "jpn") == []
