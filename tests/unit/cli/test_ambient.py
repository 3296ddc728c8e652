"""Settings that nobody types: environment variables, and a configuration file that is found."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from nmt_cli.api.options.options import OPTIONS
from nmt_cli.cli.app import app, load_command
from nmt_cli.cli.parsing.configuration import find_file, map_settings, name_variable
from nmt_cli.cli.parsing.options import combine_settings
from nmt_cli.cli.status import describe_status
from nmt_cli.translation.translator import Translator


@pytest.fixture(autouse=True)
def inner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An inner directory, in which commands run."""
    below = tmp_path / "project" / "inner"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    return below


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


def write_settings(inner: Path, text: str, name: str = "nmt.toml") -> Path:
    path = inner.parent / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="directories have no mode")
@pytest.mark.parametrize(("mode", "is_read"), [(0o777, False), (0o1777, False), (0o775, True)])
def test_a_strangers_file_in_a_directory_open_to_all_is_none(
    inner: Path, monkeypatch: pytest.MonkeyPatch, mode: int, is_read: bool
) -> None:
    path = write_settings(inner, "beam-size = 2\n")
    path.parent.chmod(mode)
    assert find_file() is not None
    if os.getuid() == 0:
        os.chown(path, 1000, 1000)
    else:
        stranger = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: stranger)
    assert (find_file() is not None) == is_read


def test_typed_options_precede_variables_and_those_the_file(inner: Path, given: list[Any]) -> None:
    write_settings(inner, "beam-size = 2\nmax-length = 50\nrepair = false\n")
    run("translate", "--no-repair", NMT_BEAM_SIZE="3", NMT_REPAIR="true")
    search, repair = given[0].values["search"], given[0].values["repair"]
    assert (search.beam_size, search.max_length, repair.repair) == (3, 50, False)
    assert given[0].explicit.settings_from == {"beam-size": "NMT_BEAM_SIZE", "max-length": "../nmt.toml"}


def test_settings_that_are_no_options_have_variables_too(given: list[Any]) -> None:
    run("translate", NMT_MAX_SOURCE_LENGTH="7", NMT_TM="a.tmx b.tmx")
    assert given[0].values["search"].max_source_length == 7
    assert given[0].values["memories"].tm == ("a.tmx", "b.tmx")


def test_the_nearest_file_alone_counts_and_a_typed_one_replaces_it(inner: Path, given: list[Any]) -> None:
    write_settings(inner, "beam-size = 2\nmax-length = 50\n")
    (inner / "nmt.toml").write_text("[translate]\nbeam_size = 4\n")
    Path("other.toml").write_text("max-length = 9\n")
    run("translate")
    run("translate", "--config", "other.toml")
    run("translate", NMT_CONFIG="other.toml")
    searches = [parsed.values["search"] for parsed in given]
    assert [(search.beam_size, search.max_length) for search in searches] == [(4, 200), (5, 9), (5, 9)]


def test_pyproject_is_read_where_it_has_a_table_for_nmt(inner: Path, given: list[Any]) -> None:
    write_settings(inner, "[tool.nmt]\nbeam-size = 2\n[tool.nmt.evaluate]\nbeam-size = 3\n", "pyproject.toml")
    (inner / "pyproject.toml").write_text("[tool.other]\nbeam-size = 9\n")
    run("translate")
    assert given[0].values["search"].beam_size == 2
    assert given[0].explicit.settings_from == {"beam-size": "../pyproject.toml, [tool.nmt]"}
    write_settings(inner, "beam-size = 7\n")  # beside it, in a file of its own
    run("translate")
    assert given[1].values["search"].beam_size == 7


@pytest.mark.parametrize(
    ("variables", "text", "message", "hint"),
    [
        ({"NMT_BEEM_SIZE": "3"}, "", "NMT_BEEM_SIZE: there is no setting 'beem-size'", "NMT_BEAM_SIZE?"),
        ({"NMT_EPOCS": "3"}, "", "NMT_EPOCS: there is no setting 'epocs'", "NMT_EPOCHS?"),
        ({"NMT_HELP": "1"}, "", "NMT_HELP: there is no setting 'help'", ""),
        ({"NMT_BEAM_SIZE": "x"}, "", "NMT_BEAM_SIZE: --beam-size cannot be 'x'", "a whole number"),
        ({"NMT_BEAM_SIZE": "0"}, "", "NMT_BEAM_SIZE: --beam-size is 0; at least 1 is needed", ""),
        ({}, "beem-size = 1", "../nmt.toml: there is no setting 'beem-size'", "'beam-size'?"),
        ({}, "epocs = 1", "../nmt.toml: there is no setting 'epocs'", "'epochs'?"),
        ({}, "[translate]\nepochs = 1", "../nmt.toml, [translate]: epochs is a setting of nmt train", "[train]"),
        ({}, "[transalte]\nbeam-size = 1", "../nmt.toml: there is no command 'transalte'", "'translate'?"),
        ({}, "beam-size = 0", "../nmt.toml: --beam-size is 0; at least 1 is needed", ""),
        ({}, "precision = 'in8'", "../nmt.toml: precision cannot be 'in8'", "int8?"),
        ({}, "beam-size = = 0", "../nmt.toml is not valid TOML", "correct it"),
        ({}, f"beam-size = {'[' * 50_000}", "../nmt.toml is not valid TOML", "correct it"),
        ({}, f"beam-size = {'9' * 5_000}", "../nmt.toml is not valid TOML", "correct it"),
    ],
)
def test_a_mistake_is_an_error_that_names_its_origin(
    inner: Path, variables: dict[str, str], text: str, message: str, hint: str
) -> None:
    write_settings(inner, text)
    result = run("translate", **variables)
    assert result.exit_code in (2, 65)
    assert message in result.stderr and hint in result.stderr
    assert result.stdout == ""


def test_settings_of_other_commands_are_left_to_them(inner: Path, given: list[Any]) -> None:
    write_settings(inner, "epochs = 3\nbeam-size = 2\nvocab-size = 500\nclip = 1.0\n[train]\nunits = 8\n")
    run("translate", NMT_SYNTHETIC="x", NMT_CLIP="2", NMT_LEVEL_42="off", NMT_DEBUG="0", NMT_API_KEYS="k")
    assert given[0].explicit.settings_from == {"beam-size": "../nmt.toml"}


def test_what_nobody_typed_gives_way_to_what_contradicts_it(inner: Path, given: list[Any]) -> None:
    write_settings(inner, "api-key = 'k'\ntemperature = 2.0\ncheck = false\nstrict = true\n")
    result = run("translate", "--strict", "-v")
    assert given[0].values["checks"].check and given[0].values["checks"].strict
    assert given[0].values["server"].api_key is None
    assert "../nmt.toml: temperature does not apply to this call, and is left out" in result.stderr
    run("translate", "--sample", "--set", "temperature=3", NMT_BEAM_SIZE="7", NMT_N_BEST="8")
    assert (given[1].values["sampling"].temperature, given[1].values["n_best"]) == (3.0, 8)


def test_what_is_typed_or_in_a_named_file_is_refused_as_before(inner: Path) -> None:
    Path("c.toml").write_text("temperature = 2.0\n")
    result = run("translate", "--config", "c.toml")
    assert result.stderr.startswith("error: c.toml: temperature needs --sample")


def test_a_path_beside_the_file_is_found_from_below(inner: Path, given: list[Any]) -> None:
    (inner.parent / "terms.tsv").write_text("a\tb\n")
    write_settings(inner, "glossary = 'terms.tsv'\ntm = 'none.tmx'\nrerank = 'deu-eng'\nprefix = 'terms.tsv'\n")
    run("translate")
    values = given[0].values
    assert (values["text"].glossary, values["memories"].tm) == ("../terms.tsv", ("none.tmx",))
    assert (values["rerank"], values["prefix"]) == (Path("deu-eng"), "")  # a name; --prefix cannot stand beside --tm


def test_every_setting_has_a_variable_of_its_own() -> None:
    for command in OPTIONS:
        parameters = map_settings(load_command(command))
        variables = {name_variable(name): parameter.name for name, parameter in parameters.items()}
        assert len(variables) == len(parameters)
        assert all(parameters[name].envvar for name in parameters if name != "api-keys")  # NMT_API_KEYS holds keys


def test_json_tells_where_a_value_comes_from(inner: Path) -> None:
    hypothesis, reference = Path("h.txt"), Path("r.txt")
    hypothesis.write_text("ein Haus\n")
    reference.write_text("ein Haus\n")
    write_settings(inner, "beam-size = 3\nlowercase = true\n")
    arguments = ["evaluate", "--hypothesis", "h.txt", "--reference", "r.txt", "--json", "-q"]
    result = CliRunner().invoke(app, [*arguments, "--report", "r.md"], env={"NMT_METRIC": "bleu4 chrf"})
    scored = json.loads(result.stdout)["scored"]
    assert scored["settings_from"] == {"metric": "NMT_METRIC", "lowercase": "../nmt.toml"}
    page = Path("r.md").read_text(encoding="utf-8").replace("\\", "")
    assert "- settings from: metric (NMT_METRIC), lowercase (../nmt.toml)" in page


def test_bare_nmt_names_the_file_and_its_places(inner: Path) -> None:
    (inner.parent / "old").mkdir()
    write_settings(inner, "data = 'old'\nmodel = 'mine'\n")
    lines = describe_status({"NMT_MODEL": "theirs"})
    assert [line.split("; ")[0] for line in lines[:3]] == [
        "corpus   none in ../old/",
        "model    none in theirs/",
        "settings ../nmt.toml",
    ]


def test_without_a_file_above_nothing_is_read(inner: Path) -> None:
    assert find_file() is None or inner not in find_file().path.parents  # type: ignore[union-attr]


def test_python_reads_neither(inner: Path, untrained_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nmt_cli as nmt

    write_settings(inner, "beam-size = 3\n")
    monkeypatch.setenv("NMT_BEAM_SIZE", "4")
    translator = nmt.load(untrained_model)
    assert isinstance(translator._translator, Translator)
    assert translator.beam_size == 5
