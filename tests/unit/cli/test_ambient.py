"""Settings that nobody types: a few environment variables, and `nmt.toml` of the current directory."""

import inspect
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from nmt_cli.cli.app import NmtCommands, app, load_command
from nmt_cli.cli.parsing.configuration import (
    FILE,
    SETTINGS,
    FoundFile,
    find_file,
    is_harmless,
    is_private,
    map_settings,
    select_harmless,
)
from nmt_cli.cli.parsing.options import combine_settings
from nmt_cli.cli.status import describe_status
from nmt_cli.errors import ExitCode
from nmt_cli.translation.translator import LineTranslator

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in which commands run, of this user alone."""
    folder = tmp_path / "project"
    folder.mkdir(mode=0o755)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collects what `combine_settings` returns."""
    collected: list[Any] = []

    def collect(*arguments: Any) -> Any:
        collected.append(combine_settings(*arguments))
        return collected[-1]

    monkeypatch.setattr("nmt_cli.cli.parsing.options.combine_settings", collect)
    return collected


def run(*arguments: str, **variables: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--model", "nowhere"], env=variables)


def write_settings(text: str, path: Path = FILE) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
    return path


# What a file that nobody named must never decide, by what each would do with a value.
DANGEROUS = {
    "prepare": "data report force resume ray image-weights source-type config quiet",
    "train": "model force resume ray tensorboard keep-stages config quiet",
    "translate": "output report force resume export assets serve api-key api-keys rate-limit allow-host cors "
    "suggestions ray retranslate config quiet",
    "evaluate": "report sentences comet-model bertscore-model config quiet",
    "visualize": "output open config quiet",
}


@pytest.mark.parametrize("command", NmtCommands.lazy)
def test_nothing_that_writes_sends_opens_or_replaces_is_harmless(command: str) -> None:
    loaded = load_command(command)
    harmless = {name for name in map_settings(loaded) if is_harmless(loaded, name)}
    assert not harmless & set(DANGEROUS[command].split())
    assert len(harmless) > 10


@pytest.mark.parametrize("command", NmtCommands.lazy)
def test_a_setting_that_says_nothing_about_itself_is_left_out_unless_it_is_a_number_or_a_choice(command: str) -> None:
    loaded = load_command(command)
    declared = inspect.signature(loaded.callback).parameters
    silent = {
        name: parameter.type_descriptor
        for name, parameter in map_settings(loaded).items()
        if declared[parameter.name].annotation.__metadata__[0].harmless is None
    }
    kinds = {name: kind.annotation in (int, float) or bool(kind.choices) for name, kind in silent.items()}
    assert kinds == {name: is_harmless(loaded, name) for name in silent}


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ('output = "../target.sh"\nforce = true\n', "force, output are"),
        ('report = "../target.html"\n', "report is"),
        ('[translate]\nserve = "0.0.0.0:0"\ncors = true\nallow-host = ["a.test"]\n', "allow-host, cors, serve are"),
        ('suggestions = "../target.sh"\napi-keys = "/etc/passwd"\n[translate]\nray = "h:1"\n', "api-keys, ray, sug"),
        ('export = "ctranslate2"\nassets = "."\n[evaluate]\nreport = "x.md"\n', "assets, export are"),
        ("rate-limit = 1\nquiet = true\nresume = true\n", "quiet, rate-limit, resume are"),
    ],
)
def test_what_a_found_file_may_not_set_is_left_out_with_a_line_and_obeyed_where_it_is_named(
    text: str, left_out: str, given: list[Any], tmp_path: Path
) -> None:
    target = tmp_path / "target.sh"
    target.write_text("mine")
    write_settings(f"beam-size = 3\n{text}")
    result = run("translate")
    line = next(line for line in result.stderr.splitlines() if "ignored" in line)
    assert f"nmt.toml: {left_out}" in line and line.endswith("to apply all, use --config nmt.toml")
    assert given[0].explicit.settings_from == {"beam-size": "nmt.toml"}
    assert target.read_text() == "mine" and sorted(tmp_path.iterdir()) == [tmp_path / "project", target]
    run("translate", "--config", "nmt.toml")
    named = given[1].explicit.settings_from if len(given) > 1 else {}  # what cannot be combined is refused before
    assert not named or len(named) > 1


def test_a_place_to_read_may_be_found_and_a_place_to_write_may_not(given: list[Any]) -> None:
    write_settings('data = "elsewhere"\nmodel = "mine"\nglossary = "terms.tsv"\n')
    Path("terms.tsv").write_text("a\tb\n")
    CliRunner().invoke(app, ["train"])
    assert (given[0].values["data"], given[0].values["model"]) == (Path("elsewhere"), Path("model"))
    result = CliRunner().invoke(app, ["prepare", "missing.tsv"])
    assert given[1].values["data"] == Path("prepared") and "data is ignored" in result.stderr
    CliRunner().invoke(app, ["translate"])
    assert given[2].values["model"] == [Path("mine")] and given[2].values["text"].glossary == "terms.tsv"


@pytest.mark.parametrize("in_table", [False, True])
@pytest.mark.parametrize("command", NmtCommands.lazy)
def test_whatever_is_not_harmless_never_reaches_a_command(command: str, in_table: bool) -> None:
    loaded, group = load_command(command), typer.main.get_command(app)
    with loaded.make_context(command, [], resilient_parsing=True, parent=typer.Context(group)) as context:
        for name in map_settings(loaded):
            taken, warnings = select_harmless(context, FoundFile({command: {name: "x"}} if in_table else {name: "x"}))
            reached = name in taken or name in taken[command]
            assert reached is is_harmless(loaded, name) is not bool(warnings)


def test_neither_folders_above_nor_pyproject_are_read(project: Path, tmp_path: Path) -> None:
    write_settings("beam-size = 2\n", tmp_path / "nmt.toml")
    write_settings("[tool.nmt]\nbeam-size = 2\n", project / "pyproject.toml")
    assert find_file() is None


@pytest.mark.parametrize(
    ("of_file", "of_folder", "is_read"),
    [(0o644, 0o755, True), (0o600, 0o700, True), (0o644, 0o1777, True), (0o644, 0o777, False), (0o666, 0o755, False)],
)
def test_a_file_that_others_may_write_or_replace_is_not_read(
    project: Path, of_file: int, of_folder: int, is_read: bool
) -> None:
    write_settings("beam-size = 2\n").chmod(of_file)
    project.chmod(of_folder)
    found = find_file()
    assert found is not None and bool(found.values) is is_read
    assert found.warning == "" if is_read else "everybody can change" in found.warning


@as_root
@pytest.mark.parametrize(("of_file", "of_folder"), [(0o664, 0o755), (0o644, 0o775)])
def test_a_file_that_a_group_may_write_or_replace_is_not_read(project: Path, of_file: int, of_folder: int) -> None:
    write_settings("beam-size = 2\n").chmod(of_file)
    project.chmod(of_folder)
    result = run("translate")
    assert "nmt does not read nmt.toml: its group can change" in result.stderr and "--config nmt.toml" in result.stderr


def test_the_group_that_a_user_has_alone_is_nobody_else(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import grp
    import pwd

    monkeypatch.setattr(os, "getuid", lambda: 1234)
    monkeypatch.setattr(pwd, "getpwuid", lambda user: SimpleNamespace(pw_name="me"))
    for members, is_alone in (([], True), (["me"], True), (["me", "you"], False)):
        monkeypatch.setattr(grp, "getgrgid", lambda group, members=members: SimpleNamespace(gr_mem=members))
        assert is_private(1234) is is_alone
        assert not is_private(100)


@as_root
@pytest.mark.parametrize("kind", ["file", "link", "target", "all"])
def test_a_file_of_another_user_is_not_read_wherever_it_lies(
    project: Path, tmp_path: Path, kind: str, given: list[Any]
) -> None:
    target = write_settings("beam-size = 2\n", tmp_path / "target.toml" if kind in ("link", "target") else FILE)
    if kind in ("link", "target"):
        FILE.symlink_to(target)
    changed = {"file": [FILE], "link": [FILE], "target": [target], "all": [FILE, project]}[kind]
    run("translate")
    for path in changed:
        os.chown(path, 1000, 1000, follow_symlinks=False)
    result = run("translate")
    origins = [parsed.explicit.settings_from for parsed in given]
    assert origins == [{"beam-size": "nmt.toml"}, {}]
    assert "nmt does not read nmt.toml: the file belongs to another user" in result.stderr
    assert any("not read" in line for line in describe_status({}))


def test_typed_options_precede_the_file(given: list[Any]) -> None:
    write_settings("beam-size = 2\nmax-length = 50\nrepair = false\n")
    run("translate", "--repair", "--beam-size", "3")
    search, repair = given[0].values["search"], given[0].values["repair"]
    assert (search.beam_size, search.max_length, repair.repair) == (3, 50, True)
    assert given[0].explicit.settings_from == {"max-length": "nmt.toml"}


def test_a_named_file_replaces_the_found_one(given: list[Any]) -> None:
    write_settings("max-length = 50\n[translate]\nbeam-size = 4\n")
    write_settings("max-length = 9\n", Path("other.toml"))
    run("translate")
    run("translate", "--config", "other.toml")
    searches = [parsed.values["search"] for parsed in given]
    assert [(search.beam_size, search.max_length) for search in searches] == [(4, 50), (5, 9)]


@pytest.mark.parametrize(
    ("variables", "message", "hint"),
    [
        ({"NMT_BEAM_SIZE": "1"}, "NMT_BEAM_SIZE has no effect: beam-size has no variable", "use --beam-size"),
        ({"NMT_EPOCHS": "3"}, "NMT_EPOCHS has no effect: epochs has no variable", "NMT_MODEL, NMT_DATA, NMT_API_KEY"),
        ({"NMT_CONFIG": "a.toml"}, "NMT_CONFIG has no effect", "variables are"),
        ({"NMT_MODLE": "m"}, "NMT_MODLE has no effect: there is no such variable", "did you mean NMT_MODEL?"),
    ],
)
def test_a_variable_that_sets_nothing_is_an_error(variables: dict[str, str], message: str, hint: str) -> None:
    result = run("translate", **variables)
    assert result.exit_code == ExitCode.USAGE and message in result.stderr and hint in result.stderr


def test_places_and_the_key_have_variables_and_what_others_set_is_left_alone(given: list[Any]) -> None:
    others = {"NMT_LEVEL_42": "off", "NMT_DEBUG": "0", "NMT_API_KEYS": "k", "NMT_HOME_OF_ANOTHER": "x"}
    write_settings("data = 'filed'\n")
    CliRunner().invoke(app, ["train"], env={"NMT_DATA": "d", "NMT_MODEL": "m", **others})
    assert (given[0].values["data"], given[0].values["model"]) == (Path("d"), Path("m"))
    assert given[0].explicit.settings_from == {"data": "NMT_DATA", "model": "NMT_MODEL"}
    for command in NmtCommands.lazy:
        with_variable = {name for name, parameter in map_settings(load_command(command)).items() if parameter.envvar}
        assert with_variable <= set(SETTINGS)


@pytest.mark.parametrize(
    "value", ["= 0", "[" * 50_000, "9" * 5_000], ids=["no value", "too many brackets", "too many digits"]
)
def test_what_is_no_toml_is_an_error_that_names_its_origin(value: str) -> None:
    write_settings(f"beam-size = {value}")
    result = run("translate")
    assert (result.exit_code, result.stdout) == (ExitCode.DATA, "")
    assert "nmt.toml is not valid TOML" in result.stderr and "correct it" in result.stderr


def test_settings_of_other_commands_are_left_to_them(given: list[Any]) -> None:
    write_settings("epochs = 3\nbeam-size = 2\nvocab-size = 500\nclip = 1.0\n[train]\nunits = 8\nforce = true\n")
    result = run("translate")
    assert given[0].explicit.settings_from == {"beam-size": "nmt.toml"}
    assert "ignored" not in result.stderr


def test_what_nobody_typed_gives_way_to_what_contradicts_it(given: list[Any]) -> None:
    write_settings("temperature = 2.0\ncheck = false\nstrict = true\n")
    result = run("translate", "--strict", "-v", NMT_API_KEY="k")
    assert given[0].values["checks"].check and given[0].values["checks"].strict
    assert given[0].values["server"].api_key is None
    assert "nmt.toml: temperature does not apply to this call, so nmt ignores it" in result.stderr
    run("translate", "--sample", "--temperature", "3")
    assert given[1].values["sampling"].temperature == 3.0


def test_json_tells_where_a_value_comes_from() -> None:
    hypothesis, reference = Path("h.txt"), Path("r.txt")
    hypothesis.write_text("ein Haus\n")
    reference.write_text("ein Haus\n")
    write_settings("beam-size = 3\nlowercase = true\nmetric = ['bleu4', 'chrf']\n")
    arguments = ["evaluate", "--hypothesis", "h.txt", "--reference", "r.txt", "--json", "-q"]
    result = CliRunner().invoke(app, [*arguments, "--report", "r.md"])
    scored = json.loads(result.stdout)["scored"]
    assert scored["settings_from"] == {"metric": "nmt.toml", "lowercase": "nmt.toml"}
    page = Path("r.md").read_text(encoding="utf-8").replace("\\", "")
    assert "- settings from: metric (nmt.toml), lowercase (nmt.toml)" in page


def test_bare_nmt_names_the_file_and_its_places() -> None:
    write_settings("data = 'old'\nmodel = 'mine'\n")
    lines = describe_status({"NMT_MODEL": "theirs"})
    assert [line.split("; ")[0] for line in lines[:3]] == [
        "corpus   none in old/",
        "model    none in theirs/",
        "settings nmt.toml",
    ]


def test_python_reads_neither(untrained_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nmt_cli as nmt

    write_settings("beam-size = 3\n")
    monkeypatch.setenv("NMT_MODEL", "elsewhere")
    translator = nmt.load(untrained_model)
    assert isinstance(translator._translator, LineTranslator)
    assert translator.beam_size == 5
