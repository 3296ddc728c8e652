"""The table of settings that cannot stand together: each row refuses what it names, and nothing else."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from nmt_cli.api.evaluate import evaluate
from nmt_cli.api.options.options import make_search_options
from nmt_cli.api.options.refusals import OF_MODEL, REFUSALS, ExplicitOptions, Refusal, refuse_combinations
from nmt_cli.api.prepare import prepare
from nmt_cli.api.train import train
from nmt_cli.cli.app import app, load_command
from nmt_cli.errors import OptionError
from nmt_cli.model.config import ATTENTIONS, AttentionKind

ROWS = [(command, row) for command, rows in REFUSALS.items() for row in rows]


def find_parameters(command: str) -> dict[str, Any]:
    parameters = load_command("translate" if command == OF_MODEL else command).params
    return {str(parameter.name): parameter for parameter in parameters}


@pytest.mark.parametrize(("command", "row"), ROWS)
def test_rows_name_settings_of_their_command(command: str, row: Refusal) -> None:
    known = find_parameters(command)
    assert row.settings and set(row.settings) - set(known) == set()
    assert set(re.findall(r"\{(\w+)\}", row.why + row.hint)) - set(known) - {"subwords"} == set()
    assert row.beside == "" or row.beside in known


@pytest.mark.parametrize(("command", "row"), [pair for pair in ROWS if pair[0] != OF_MODEL])
def test_no_row_refuses_the_defaults_of_what_it_names(command: str, row: Refusal) -> None:
    """Switches that are off by default may be off explicitly, as a file of settings has them."""
    known = find_parameters(command)
    values = {name: parameter.default for name, parameter in known.items()}
    off = {name: f"--{name}" for name in row.settings if values[name] is False}
    refuse_combinations(command, ExplicitOptions(off, {}, off=frozenset(off)), values)


@pytest.mark.parametrize(("attention", "kind"), ATTENTIONS.items())
def test_a_width_of_comparison_is_for_attention_that_compares(attention: str, kind: AttentionKind) -> None:
    explicit = ExplicitOptions.from_arguments({"attention_units": 64})
    if kind.has_comparison_width:
        refuse_combinations("train", explicit, {"attention": attention})
        return
    with pytest.raises(OptionError) as caught:
        refuse_combinations("train", explicit, {"attention": attention})
    others = [name for name, kind in ATTENTIONS.items() if kind.has_comparison_width]
    assert re.findall(r"[\w-]+", caught.value.hint.removeprefix("it is for").replace(" and ", " ")) == others


def test_a_file_may_switch_off_what_another_option_forbids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text("strict = false\nsample = false\nconfidence = false\n")
    result = CliRunner().invoke(app, ["translate", "--no-check", "--score", "--config", "c.toml", "--model", "none"])
    assert "there is no model in none/" in result.stderr


@pytest.mark.parametrize(
    ("options", "card", "message"),
    [
        ({"alignments": True}, {"network": {"attention": "none"}}, "--alignments needs attention"),
        ({"coverage_penalty": 0.2}, {"network": {"attention": "none"}}, "--coverage-penalty needs attention"),
        ({"coverage_penalty": 0.0}, {"network": {"attention": "none"}}, None),
        ({"glossary": "t.tsv"}, {"side": SimpleNamespace(is_text=False)}, "--glossary applies to text"),
        ({"replace_unknown": True, "subwords": "bpe"}, {}, "--replace-unknown replaces unknown words, but the bpe"),
        ({"replace_unknown": True, "subwords": "word"}, {}, None),
    ],
)
def test_what_a_model_has_no_use_for_is_refused(options: dict[str, Any], card: Any, message: str | None) -> None:
    known = SimpleNamespace(**{"network": {}, "side": SimpleNamespace(is_text=True), **card})
    explicit = ExplicitOptions.from_arguments({"glossary": None, **options})
    explicit = explicit._replace(typed={name: text.replace("_", "-") for name, text in explicit.typed.items()})
    if message is None:
        refuse_combinations(OF_MODEL, explicit, {**options, "card": known})
        return
    with pytest.raises(OptionError) as caught:
        refuse_combinations(OF_MODEL, explicit, {"subwords": "word", **options, "card": known})
    assert caught.value.message.startswith(message)


def test_functions_refuse_what_commands_refuse() -> None:
    for call, message in (
        (lambda: prepare("a.tsv", min_count=3), "min_count counts words"),
        (lambda: train(epochs=3, time="5m"), "epochs cannot be combined with time"),
        (lambda: train(force=True, resume=True), "force starts over"),
        (lambda: evaluate(source="s"), "source needs reference"),
        (lambda: make_search_options({"top_p": 0.5}, {}), "--top-p needs --sample"),
        (lambda: make_search_options({"beam_size": 2}, {}, n_best=3), "--n-best 3 needs a --beam-size of at least 3"),
        (lambda: make_search_options({"strict": True, "check": False}, {}), "--strict cannot be combined with"),
    ):
        with pytest.raises(OptionError, match=message):
            call()
    assert make_search_options({"strict": False, "check": False}, {}).checks.check is False
