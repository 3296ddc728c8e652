"""`--set NAME=VALUE`, and what is said to whoever types a setting as an option."""

from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from nmt_cli.cli.app import NmtCommands, app, load_command
from nmt_cli.cli.parsing.configuration import is_setting, name_option, respell_settings
from nmt_cli.errors import ExitCode
from nmt_cli.translation.config import LineConfig

runner = CliRunner()
COMMANDS = list(NmtCommands.lazy)


def list_settings(command: str) -> list[Any]:
    return [parameter for parameter in load_command(command).params if is_setting(parameter)]


def parse(command: str, *arguments: str) -> dict[str, Any]:
    """The values of all parameters of a command, as these arguments set them."""
    loaded = load_command(command)
    with loaded.make_context(command, list(arguments)) as context:
        return dict(context.params)


def test_a_setting_is_converted_as_an_option_is() -> None:
    text = ("clip=2.5", "readout-units=64", "mixed-precision=false", "tensorboard=logs", "attention=luong", "lr=0.01")
    values = parse("train", *(word for assignment in text for word in ("--set", assignment)))
    assert (values["clip"], values["readout_units"], values["mixed_precision"]) == (2.5, 64, False)
    assert (values["tensorboard"], values["attention"], values["learning_rate"]) == (Path("logs"), "general", 0.01)


def test_a_setting_of_several_values_may_be_set_several_times() -> None:
    values = parse("prepare", "--keep", "swapped", "--set", "keep=empty", "--set", "monolingual-source=a=b.txt")
    assert (values["keep"], values["monolingual_source"]) == (["swapped", "empty"], ["a=b.txt"])


def test_what_is_set_goes_before_the_file_and_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NMT_DATA", "from-environment")
    (tmp_path / "c.toml").write_text("clip = 3.0\nwarmup = 0.5\n")
    values = parse("train", "--set", "clip=2", "--config", str(tmp_path / "c.toml"), "--set", "data=typed")
    assert (values["clip"], values["warmup"], values["data"]) == (2.0, 0.5, Path("typed"))


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ("train --set clpi=1", "--set: there is no setting 'clpi'", "did you mean 'clip'?"),
        ("train --set readout_units=8", "--set: there is no setting 'readout_units'", "did you mean 'readout-units'?"),
        ("train --set tokenizer=bpe", "--set: tokenizer is a setting of nmt prepare, not of nmt train", "nmt prepare"),
        ("train --set clip", "--set clip has no value", "type --set clip=VALUE"),
        ("train --set clip=much", "--set clip cannot be 'much'", "it takes a number"),
        ("train --set clip=0", "--set clip is 0.0; at least 1e-06 is needed", None),
        ("train --set positions=lerned", "--set positions cannot be 'lerned'", "did you mean learned?"),
        ("train --set resume=maybe", "--set resume cannot be 'maybe'", "it takes true or false"),
        ("train --set clip=1 --set clip=2", "--set clip is given twice", "give it once"),
        ("train --set epochs=1 --epochs 2", "--epochs is given twice", "give it once"),
        ("train --set readout-units=5", "--set readout-units is 5, but tied", "add --no-tied"),
        ("evaluate --set explain=a", "--set explain takes several values", "give them with --explain"),
        ("translate --set top-p=0.5", "--set top-p needs --sample", "add --sample"),
    ],
)
def test_a_mistake_in_an_assignment_is_said_in_two_lines(arguments: str, message: str, hint: str | None) -> None:
    result = runner.invoke(app, arguments.split())
    lines = result.stderr.splitlines()
    assert result.exit_code == ExitCode.USAGE and len(lines) == 1 + (hint is not None)
    assert message in lines[0] and (hint or "") in lines[-1]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_setting_typed_as_an_option_is_answered_with_what_to_type(command: str) -> None:
    assert list_settings(command)
    for parameter in list_settings(command):
        name = name_option(parameter)
        result = runner.invoke(app, [command, f"--{name}", *([] if parameter.is_flag else ["7"])])
        error, hint = result.stderr.splitlines()
        assert error == f"error: --{name} is a setting of nmt {command}, not an option of its own"
        assert hint == f"hint: type --set {name}={'true' if parameter.is_flag else '7'}"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("train --no-attend-embeddings", "type --set attend-embeddings=false"),
        ("train --clip=2 --epochs 3", "type --set clip=2"),
        ("train --clip --epochs 3", "type --set clip=VALUE"),
        ("train --readoutunits 5", "did you mean --set readout-units=VALUE?"),
    ],
)
def test_what_was_typed_is_part_of_what_to_type(arguments: str, hint: str) -> None:
    result = runner.invoke(app, arguments.split())
    assert result.exit_code == ExitCode.USAGE and result.stderr.splitlines()[1:] == [f"hint: {hint}"]
    assert "did you mean --label-smoothing?" in runner.invoke(app, ["train", "--labelsmoothing", "0.1"]).stderr


def test_messages_name_settings_as_they_are_typed() -> None:
    settings = list_settings("translate")
    text = "--no-fold, --fold and --top-p 0.5 with --errors replace, not --top-p-x, --beam-size 3 or --errors other"
    assert respell_settings(text, settings) == (
        "--set fold=false, --set fold and --set top-p=0.5 with --set errors=replace, not --top-p-x, --beam-size 3 or "
        "--set errors other"
    )


def test_an_error_about_a_setting_of_a_file_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("max-words = 0\n")
    result = runner.invoke(app, ["translate", "--config", str(tmp_path / "c.toml")])
    assert result.stderr.splitlines()[0] == f"error: {tmp_path / 'c.toml'}: max-words is 0; at least 1 is needed"


def test_a_switch_without_an_opposite_can_be_set_to_false() -> None:
    assert parse("train", "--set", "resume=false")["resume"] is False
    assert parse("translate", "--set", "protect=false")["protect"] is not LineConfig().protect


def test_the_command_of_a_test_has_all_its_parameters_as_options() -> None:
    single = typer.Typer()
    single.command()(lambda: None)
    assert not [parameter for parameter in typer.main.get_command(single).params if is_setting(parameter)]
