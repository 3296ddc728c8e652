"""Marks by kind: as Unicode has them, and spelled in one module alone."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from pathlib import Path

import pytest

from nmt_cli.text import characters

SCRIPT = Path(__file__).parents[3] / "data" / "make_characters.py"


def test_the_module_is_what_its_script_writes() -> None:
    spec = importlib.util.spec_from_file_location("make_characters", SCRIPT)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.write_module() == Path(characters.__file__).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "marks"),
    [
        (characters.FULL_STOPS, ".։۔।။።។。"),  # Armenian, Urdu, Hindi, Burmese, Amharic, Khmer, Chinese
        (characters.QUESTION_MARKS, "?؟፧？"),
        (characters.COMMAS, ",،՝፣、，၊"),
        (characters.SEMICOLONS, ";؛፤；"),
        (characters.SOLID_FINAL_MARKS, "।။።។。！？"),
        (characters.SPACED_FINAL_MARKS, ".!?։۔؟．"),
        (characters.OPENING, "([{（【《\"'“‘„‚«‹「『¿¡"),
        (characters.CLOSING, ")]}）】》\"'”’»›」』"),
    ],
)
def test_a_kind_has_the_marks_of_many_languages(kind: str, marks: str) -> None:
    assert set(marks) <= set(kind)


def test_no_mark_ends_a_sentence_and_a_clause() -> None:
    assert not set(characters.END_MARKS) & set(characters.PAUSES + characters.CLOSING + characters.DASHES)
    assert set(characters.FINAL_MARKS) == {*characters.SOLID_FINAL_MARKS, *characters.SPACED_FINAL_MARKS}
    assert set(characters.PAUSES) == {*characters.SOLID_PAUSES, *characters.SPACED_PAUSES}


def test_a_closing_bracket_follows_its_partner() -> None:
    for opening, closing in re.findall("(.)(.)", characters.BRACKETS + characters.TITLE_MARKS):
        assert unicodedata.name(opening).replace("LEFT", "RIGHT") == unicodedata.name(closing)
