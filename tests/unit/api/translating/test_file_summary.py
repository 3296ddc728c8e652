"""What is counted for each file and chapter, which of many are shown, and what is low."""

from __future__ import annotations

import json

import pytest

from nmt_cli.api.translating.file_summary import ROWS_SHOWN, FileSummaries
from nmt_cli.documents.document import Location
from nmt_cli.errors import DataError
from nmt_cli.translation.result import FailedCheck, Translation
from support.translations import louder


def translate(confidence: float | None = None, **fields: object) -> Translation:
    return louder("a b")._replace(confidence=confidence, **fields)  # type: ignore[arg-type]


def summarise_book() -> FileSummaries:
    """Two chapters of two verses in one file, and a file without chapters."""
    summaries = FileSummaries("text", threshold=0.5, are_apart=True)
    summaries.begin_file("GEN.usfm")
    for number, confidence in enumerate((0.9, 0.7, 0.4, 0.2)):
        chapter = f"GEN {1 + number // 2}"
        summaries.begin_location(Location(chapter, f"{chapter}:{1 + number % 2}"))
        summaries.add(translate(confidence, carried=("Adam",)))
    summaries.add(translate())  # a footnote of the last verse
    summaries.begin_file("notes.txt")
    summaries.add(translate(checks=(FailedCheck("numbers", "x"),)))
    summaries.add(louder(""))
    return summaries


def test_files_and_chapters_have_a_line_each_and_low_ones_are_marked() -> None:
    assert list(summarise_book().describe()) == [
        "  GEN.usfm: 5 texts, 4 words copied, confidence 0.55",
        "    GEN 1: 2 texts, 2 words copied, confidence 0.80",
        "    GEN 2: 3 texts, 2 words copied, confidence 0.30 (low)",
        "  notes.txt: 1 text, 1 failed a check",
    ]


def test_json_has_an_object_per_file_with_its_chapters_and_verses() -> None:
    book, notes = map(json.loads, summarise_book().write_json().decode().splitlines())
    assert (book["name"], book["texts"], book["is_low"]) == ("GEN.usfm", 5, False)
    assert [(chapter["name"], chapter["is_low"]) for chapter in book["chapters"]] == [("GEN 1", False), ("GEN 2", True)]
    assert book["chapters"][1]["places"] == [
        {"name": "GEN 2:1", "confidence": 0.4},
        {"name": "GEN 2:2", "confidence": 0.2},
    ]
    assert notes["confidence"] is None and notes["failed"] == 1 and "chapters" not in notes


def test_a_report_names_the_file_and_the_verse() -> None:
    summaries = summarise_book()
    assert summaries.where == "notes.txt"
    summaries.begin_location(Location("GEN 3", "GEN 3:16"))
    assert summaries.where == "notes.txt GEN 3:16"
    alone = FileSummaries()
    alone.begin_file("a.txt")
    alone.begin_location(Location(""))
    assert alone.where == "" and list(alone.describe()) == []


def test_of_many_files_those_that_need_a_look_are_shown_in_order() -> None:
    summaries = FileSummaries(are_apart=True)
    for number in range(2 * ROWS_SHOWN):
        summaries.begin_file(f"{number}.txt").error = DataError("9.txt: it is damaged") if number == 9 else None
        summaries.add(translate(1 - number / 100))
    lines = list(summaries.describe())
    assert lines[:2] == ["  9.txt: not translated: it is damaged", "  21.txt: 1 line, confidence 0.79"]
    assert lines[-1] == f"  and {ROWS_SHOWN} more, which need a look less" and len(lines) == ROWS_SHOWN + 1
    with pytest.raises(DataError, match=r"1 of 40 files not translated: 9\.txt: it is damaged"):
        summaries.require_complete()
