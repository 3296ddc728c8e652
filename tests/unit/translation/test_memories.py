"""What a process remembers of the lines before changes nothing about a line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.runtime.installed_models import find_model
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.config import CheckOptions, LineOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.translator import LineTranslator
from support.properties import examples

LINES = [
    *("e.g.", "e.g. dog", "The dog, e.g.", "Chidren", "I want Chidren", "Chidren want the dog.", "NO DOGS", "No."),
    *("No. 5 dogs", "US", "Tell us: US dogs.", "5", "5 p.m.", "Frobnia", "Frobnia and the dog", "the dogg and frobnia"),
]


def load() -> LineTranslator:
    return TranslationRequest(find_model(Path("eng-deu")), lines=LineOptions(slips=True), threads=1).load()


def translate(translator: LineTranslator, line: str) -> tuple[object, ...]:
    search = SearchOptions(beam_size=1)
    (translation,) = translator.translate(
        [line], TranslateOptions(search, repair=RepairOptions(), checks=CheckOptions())
    )
    return translation.text, translation.checks, translation.repairs


@pytest.fixture(scope="module")
def alone() -> dict[str, tuple[object, ...]]:
    """What becomes of each line in a process of its own."""
    return {line: translate(load(), line) for line in LINES}


@pytest.fixture(scope="module")
def seasoned_translator() -> LineTranslator:
    return load()


@examples(10)
@given(lines=st.lists(st.sampled_from(LINES), min_size=2, max_size=12))
def test_a_line_becomes_the_same_after_any_others(
    seasoned_translator: LineTranslator, alone: dict[str, tuple[object, ...]], lines: list[str]
) -> None:
    assert [translate(seasoned_translator, line) for line in lines] == [alone[line] for line in lines]
