"""A line on which nmt fails costs that line alone: it is copied and told, and all others are translated as ever."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.errors import DataError
from nmt_cli.jobs.job import Block, Job
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.config import CheckConfig, ModelRequest, RepairConfig
from nmt_cli.translation.isolation import translate_each
from nmt_cli.translation.result import Translation
from support.properties import examples
from support.scripted_translator import ScriptedTranslator
from support.translations import louder

SECRET = "secret"


def fail_on_secrets(text: str) -> str:
    if SECRET in text:
        raise OverflowError(f"{text} is too large")
    return text.upper()


def translate(lines: Sequence[str], first: int) -> list[Translation]:
    """Translates into capitals; fails as a whole if it meets a secret."""
    return [
        louder(fail_on_secrets(line))._replace(source=f"{number}") for number, line in enumerate(lines, start=first)
    ]


@examples(100)
@given(st.lists(st.sampled_from(("a man", "a dog", f"a {SECRET}")), max_size=40), st.integers(0, 5))
def test_only_the_lines_at_fault_are_copied(lines: list[str], first: int) -> None:
    translations = translate_each(translate, lines, first)
    assert [each.text for each in translations] == [line if SECRET in line else line.upper() for line in lines]
    assert [each.failure is not None for each in translations] == [SECRET in line for line in lines]
    numbers = [each.source for each in translations if each.failure is None]
    assert numbers == [str(first + index) for index, line in enumerate(lines) if SECRET not in line]


def test_a_failure_is_named_by_its_place_and_without_any_text() -> None:
    (copied,) = translate_each(translate, [f"  a {SECRET}\t!"], 0)
    assert copied.text == copied.source == f"  a {SECRET}\t!"
    (check,) = copied.checks
    assert check.kind == "failed" and check.message.startswith("nmt failed (OverflowError at test_isolation.py:")
    assert copied.needs_review and SECRET not in check.message


def test_what_the_user_did_wrong_is_an_error_as_before() -> None:
    def refuse(lines: Sequence[str], first: int) -> list[Translation]:
        raise DataError("line 1 is not a pair")

    with pytest.raises(DataError):
        translate_each(refuse, ["a", "b"], 0)


@pytest.mark.parametrize("checks", [CheckConfig(), CheckConfig(check=False), None])
def test_a_job_copies_a_line_on_which_a_stage_fails(checks: CheckConfig | None) -> None:
    translator = ScriptedTranslator(fail_on_secrets)
    job = Job(ModelRequest(Path()), SearchConfig(), RepairConfig(), checks, opener=lambda request: translator)
    lines = ("we have cats.", f"a {SECRET}.", "they came.", "")
    translations = job.start()(Block(7, lines))
    assert [each.text for each in translations] == ["WE HAVE CATS.", f"a {SECRET}.", "THEY CAME.", ""]
    assert [each.failure is not None for each in translations] == [False, True, False, False]
