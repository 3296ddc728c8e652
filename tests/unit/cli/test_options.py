from pathlib import Path
from typing import Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.cli.app import NmtCommands, NmtGroup, load_command
from nmt_cli.cli.parsing.command import PanelledCommand
from nmt_cli.cli.parsing.configuration import name_option
from nmt_cli.cli.parsing.options import with_settings
from nmt_cli.settings import Settings, setting
from nmt_cli.translation.config import LineOptions

runner = CliRunner()


class Oven(Settings):
    heat: int = setting(180, "Degrees.", panel="Baking", low=50)
    way: Literal["fan", "grill"] = setting("fan", "Way of heating.", panel="Baking")
    door_open: bool = setting(False, "Waste heat.", panel="Baking", flag="open")


def app_with(seen: list[Any]) -> typer.Typer:
    app = typer.Typer(cls=NmtGroup, rich_markup_mode=None)

    @app.callback()
    def main() -> None: ...

    @app.command(cls=PanelledCommand)
    @with_settings
    def bake(oven: Oven, name: str = "cake") -> None:
        seen.append((oven, name))

    @app.command(cls=PanelledCommand)
    @with_settings
    def look(given: ExplicitOptions, oven: Oven) -> None:
        seen.append(given)

    @app.command("wash-up")
    def wash_up(water: str = "cold") -> None: ...

    return app


def run(*arguments: str) -> tuple[Any, list[Any]]:
    seen: list[Any] = []
    return runner.invoke(app_with(seen), ["bake", *arguments]), seen


def test_a_field_is_an_option_with_its_default() -> None:
    assert run()[1] == [(Oven(), "cake")]
    assert run("--heat", "200", "--way", "grill", "--open", "--name", "pie")[1] == [
        (Oven(heat=200, way="grill", door_open=True), "pie")
    ]


def test_a_file_sets_defaults_and_flags_win(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('heat = 90\nway = "grill"\nopen = true\nname = "bread"\n')
    assert run("--config", str(file), "--heat", "100")[1] == [(Oven(heat=100, way="grill", door_open=True), "bread")]
    assert run("--heat", "100", "--config", str(file))[1][0][0].heat == 100


def test_what_is_given_is_known_from_what_is_left_out_also_at_its_default(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('heat = 180\nway = "fan"\n')
    seen: list[Any] = []
    runner.invoke(app_with(seen), ["look", "--way", "fan", "--no-open", "--config", str(file)])
    (given,) = seen
    assert given.typed == {"way": "--way", "door_open": "--no-open", "configuration": "--config"}
    assert given.filed == {"heat": "--heat"}
    assert given.select_fields(Oven) == {"heat", "way", "door_open"}
    assert given.find_first(["heat", "way"]) == "--heat"
    assert given.find_first(["heat"], beside="way") is None  # what is typed wins over the file
    assert given.find_first(["way"], beside="heat") == "--way"


def test_the_table_of_the_command_goes_before_what_stands_above_all_tables(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('heat = 90\nname = "bread"\n[bake]\nheat = 110\n[wash-up]\nwater = "hot"\n')
    assert run("--config", str(file))[1] == [(Oven(heat=110), "bread")]
    assert run("--config", str(file), "--heat", "100")[1] == [(Oven(heat=100), "bread")]


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_bytes(b"\xef\xbb\xbfheat = 90\r\n")
    assert run("--config", str(file))[1] == [(Oven(heat=90), "cake")]


def test_the_table_of_another_command_is_not_looked_into(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("[wash-up]\nhaet = 1\n")
    assert run("--config", str(file))[1] == [(Oven(), "cake")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[bake]\nhaet = 1", "[bake]: there is no setting 'haet'"),
        ("[baek]\nheat = 90", "there is no command 'baek'"),
        ("bake = 1", "there is no setting 'bake'"),
        ("haet = 1", "there is no setting 'haet'"),
        ("config = 'x'", "there is no setting 'config'"),
        ("heat =", "not valid TOML"),
        ("heat = 'hot'", "--heat cannot be 'hot'"),
        ("heat = true", "--heat cannot be True"),
        ("open = 1", "--open cannot be 1"),
        ("name = ['a', 'b']", "--name cannot be ['a', 'b']"),
        ("heat = 3", "--heat is 3, but must be at least 50"),
        ("way = 'steam'", "--way"),
    ],
)
def test_a_file_with_a_mistake_is_an_error_that_names_it(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "c.toml"
    file.write_text(content)
    result, seen = run("--config", str(file))
    assert (seen, result.stdout) == ([], "")
    assert message in result.stderr
    assert result.exit_code != 0


def test_the_nearest_option_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("haet = 1")
    assert "did you mean 'heat'?" in run("--config", str(tmp_path / "c.toml"))[0].stderr
    assert "--heat" in run("--haet", "1")[0].stderr


def test_a_configuration_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "oven.toml").touch()
    result, _ = run("--config", str(tmp_path / "ovne.toml"))
    assert "did you mean" in result.stderr
    assert result.exit_code == 66


def filled(tmp_path: Path, content: str) -> tuple[Any, list[Any]]:
    """What comes of options of text, paths and lists of text that stand in a file."""
    seen: list[Any] = []
    app = typer.Typer(cls=NmtGroup, rich_markup_mode=None)

    @app.callback()
    def main() -> None: ...

    @app.command(cls=PanelledCommand)
    @with_settings
    def fill(rack: Path = Path("r"), keep: list[str] | None = None, share: str = "") -> None:
        seen.append((rack, keep, share))

    (tmp_path / "c.toml").write_text(content)
    return runner.invoke(app, ["fill", "--config", str(tmp_path / "c.toml")]), seen


def test_text_and_paths_and_lists_stand_in_a_file_as_one_writes_them(tmp_path: Path) -> None:
    assert filled(tmp_path, 'rack = "a"\nkeep = "empty"\nshare = 0.1')[1] == [(Path("a"), ["empty"], "0.1")]
    assert filled(tmp_path, 'keep = ["a", "b"]\nshare = 1000')[1] == [(Path("r"), ["a", "b"], "1000")]


@pytest.mark.parametrize("content", ["rack = 5", "keep = 5", 'keep = ["a", 3]', "share = true", "rack = ['a']"])
def test_another_type_in_a_file_is_told(tmp_path: Path, content: str) -> None:
    result, seen = filled(tmp_path, content)
    assert not seen and "Traceback" not in result.stderr
    assert f"--{content.partition(' ')[0]} cannot be" in result.stderr and "hint: use " in result.stderr


# `--set NAME=VALUE`, and what is said to whoever types an option that does not exist.


COMMANDS = list(NmtCommands.lazy)


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


@pytest.mark.parametrize("command", COMMANDS)
def test_every_setting_is_an_option_of_its_command(command: str) -> None:
    for parameter in load_command(command).params:
        if parameter.param_type_name == "option" and parameter.is_flag and "help" not in parameter.name:
            assert parse(command, f"--{name_option(parameter)}")[parameter.name] is True


def test_a_switch_without_an_opposite_can_be_set_to_false() -> None:
    assert parse("train", "--set", "resume=false")["resume"] is False
    assert parse("translate", "--no-protect")["protect"] is not LineOptions().protect
