"""What `nmt translate` refuses before it looks for a model."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner, Result

from nmt_cli.cli.app import app
from nmt_cli.errors import ExitCode


def translate(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["translate", "--model", "none", *arguments])


@pytest.mark.parametrize(
    "arguments",
    [
        ["--n-best", "3"],
        ["--beam-size", "5"],
        ["--prefix", "Ja"],
        ["--sample"],
        ["--no-heal"],
        ["--replace-unknown"],
        ["--glossary", "terms.tsv"],
        ["--no-split-sentences"],
    ],
    ids=" ".join,
)
def test_an_option_of_the_search_is_refused_where_the_translation_is_given(arguments: list[str]) -> None:
    refused = translate("--score", *arguments)
    assert refused.exit_code == ExitCode.USAGE
    assert f"{arguments[0]} does not go with --score" in refused.stderr
    if arguments[0] != "--glossary":
        assert "there is no model in none/" in translate(*arguments).stderr


def test_what_says_how_a_line_is_read_goes_with_score() -> None:
    assert "there is no model in none/" in translate("--score", "--no-protect", "--max-source-length", "9").stderr
