import sys
from pathlib import Path

import pytest

from nmt_cli.errors import NotFoundError
from nmt_cli.runtime import installed_models
from nmt_cli.runtime.installed_models import CARD, explain_missing_model, find_model, list_models, name_model


def install_model(site: Path, name: str) -> Path:
    """A package as pip would install it; its code must never run."""
    package = site / f"nmt_model_{name.replace('-', '_')}"
    (package / "model").mkdir(parents=True)
    (package / "model" / "model.json").write_text("{}", encoding="utf-8")
    (package / "__init__.py").write_text("raise SystemExit('was imported')", encoding="utf-8")
    information = site / f"{package.name}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[nmt_cli.models]\n{name} = {package.name}\n")
    return package / "model"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.setattr(installed_models, "CHECKOUT", tmp_path / "models")
    return folder


def test_an_installed_model_is_found_by_name_without_importing_it(site: Path) -> None:
    directory = install_model(site, "xxx-yyy")
    assert find_model(Path("xxx-yyy")) == directory
    assert "nmt_model_xxx_yyy" not in sys.modules
    assert (name_model(directory), name_model(Path("other/model"))) == ("xxx-yyy", "other/model")


@pytest.mark.parametrize(
    "value", ["missing", ":", "..", "../..", "/etc", "__main__", "os", "a b", "a\x1b[2J", "x" * 300]
)
def test_a_package_that_lies_about_its_name_offers_no_model(site: Path, value: str) -> None:
    directory = install_model(site, "xxx-yyy")
    install_model(site, "aaa-bbb")
    (site / "nmt_model_aaa_bbb-1.0.dist-info" / "entry_points.txt").write_text(f"[nmt_cli.models]\naaa-bbb = {value}\n")
    assert list_models() == {"xxx-yyy": directory}


@pytest.mark.parametrize(
    "content", [b"[nmt_cli.models]\nx\n", b"x\n", b"[nmt_cli.models\nx = y", b"\xff\xfe\0", b"=\n"]
)
def test_a_package_with_damaged_entry_points_hides_no_other(site: Path, content: bytes) -> None:
    directory = install_model(site, "xxx-yyy")
    for name in ("aaa", "zzz"):
        install_model(site, name)
        (site / f"nmt_model_{name}-1.0.dist-info" / "entry_points.txt").write_bytes(content)
    assert list_models() == {"xxx-yyy": directory}


def test_a_bundled_model_is_found_by_name(site: Path, tmp_path: Path) -> None:
    directory = tmp_path / "models" / "aaa-bbb" / "nmt_model_aaa_bbb" / "model"
    directory.mkdir(parents=True)
    (directory / "model.json").write_text("{}")
    assert find_model(Path("aaa-bbb")) == directory
    assert list_models() == {"aaa-bbb": directory}


def test_the_folder_of_a_package_stands_for_its_model(site: Path, tmp_path: Path) -> None:
    directory = tmp_path / "models" / "aaa-bbb" / "nmt_model_aaa_bbb" / "model"
    directory.mkdir(parents=True)
    (directory / "model.json").write_text("{}")
    assert find_model(tmp_path / "models" / "aaa-bbb") == directory
    assert find_model(directory) == directory
    assert find_model(tmp_path / "models") == tmp_path / "models"


def test_a_model_in_a_directory_of_that_name_comes_first(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = install_model(site, "xxx-yyy")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xxx-yyy").mkdir()
    assert find_model(Path("xxx-yyy")) == installed  # a training has begun there
    (tmp_path / "xxx-yyy" / "model.json").write_text("{}")
    assert find_model(Path("xxx-yyy")) == Path("xxx-yyy")
    assert find_model(Path("other/xxx-yyy")) == Path("other/xxx-yyy")


def test_the_error_names_the_models_that_are_there_and_the_first_step_to_another(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    (place / "prepared").mkdir(parents=True)
    monkeypatch.chdir(place)
    hints = [explain_missing_model(Path("model")).hint]
    for other in ("fix.tsv", "app.de.po", "shop.csv", "deu.tsv", "corrections.jsonl", "my-terms.tsv", "gz"):
        (place / other).write_text("")
    for name in ("notes.txt", "my pairs.xlsx", "prepared/dataset.json"):
        (place / name).write_text("")
        hints.append(explain_missing_model(Path("model")).hint)
    example = "train one on your sentence pairs, beginning with `nmt prepare corpus.tsv`; or install one"
    steps = (example, example, "beginning with `nmt prepare 'my pairs.xlsx'`; or", "train one: `nmt train`; or")
    assert all(step in hint for step, hint in zip(steps, hints, strict=True))
    install_model(site, "xxx-yyy")
    assert "name a model that exists, --model xxx-yyy;" in explain_missing_model(Path("model")).hint
    install_model(site, "yyy-xxx")
    assert "--model xxx-yyy or --model yyy-xxx" in explain_missing_model(Path("model")).hint
    assert explain_missing_model(Path("xxx-yyx")).hint == "did you mean xxx-yyy?"


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/me/.venv", "pip install data/models/eng-deu"),
        ("/home/me/.local/share/pipx/venvs/nmt-cli", "pipx inject nmt-cli data/models/eng-deu"),
        ("/home/me/.local/share/uv/tools/nmt-cli", "uv tool install . --with ./data/models/eng-deu"),
    ],
)
def test_a_bundled_model_that_is_not_installed_names_its_installation(
    site: Path, prefix: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    assert explain_missing_model(Path("eng-deu")).hint == f"install it from nmt's source folder: {command}"
    assert explain_missing_model(Path("model")).hint.endswith(command)


def test_a_missing_model_is_answered_with_those_beside_it(tmp_path: Path) -> None:
    for name in ("additive", "dot"):
        (tmp_path / name).mkdir()
        (tmp_path / name / CARD).write_text("{}")
    assert explain_missing_model(tmp_path / "adidtive").hint == f"did you mean {tmp_path / 'additive'}?"
    beside = f"name a model that exists, --model {tmp_path / 'additive'} or --model {tmp_path / 'dot'}"
    assert explain_missing_model(tmp_path / "other").hint.startswith(beside)


@pytest.mark.parametrize(("name", "told"), [("model.zip", "unzip"), ("model.tar.gz", "tar -xf"), ("notes.txt", "nmt")])
def test_a_file_is_no_model_and_says_what_is_expected(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(NotFoundError) as raised:
        find_model(tmp_path / name)
    assert told in raised.value.message + raised.value.hint


def test_the_card_stands_for_its_directory(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(NotFoundError) as raised:
        find_model(tmp_path / "model.json")
    assert f"--model {tmp_path}" in raised.value.hint
