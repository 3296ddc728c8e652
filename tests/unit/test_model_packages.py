"""`data/models/make.py`: a trained model becomes a package that pip installs and a name finds."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import nmt_cli as nmt
from nmt_cli.runtime.installed_models import MODEL, name_package
from nmt_cli.runtime.model_directory import CARD, WEIGHTS, read_card
from nmt_cli.training.checkpoints import read_arrays
from nmt_cli.training.export import publish as publishing
from nmt_cli.training.step import Trainer
from support.commands import run_program
from support.models import prepare_toy
from support.scripts import PROJECT, load_script
from support.training import export_once

pytestmark = pytest.mark.network
TINY = {"epochs": 1, "batch": 64, "units": 8, "embedding": 8, "attention": "none", "bidirectional": False}
LINES = ["bade giko lu.", "", "mane pogi debako."]


@pytest.fixture(scope="module")
def make() -> ModuleType:
    return load_script("data/models/make.py")


@pytest.fixture(scope="module", autouse=True)
def quick_training(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Models learn nothing and have the graphs of the first of their kind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "update", lambda *request: (1.0, 1.0))
        patch.setattr(publishing, "export", export_once(tmp_path_factory.mktemp("exported")))
        yield


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with `prepared` and `model`, which has learned nothing and keeps its precision of 8 bits."""
    directory = tmp_path_factory.mktemp("packages")
    prepare_toy(directory, dev="20", test="20", source_language="eng", target_language="deu")
    nmt.train(data=directory / "prepared", model=directory / "model", **TINY)
    assert read_card(directory / "model").default_precision == "int8"
    return directory


@pytest.fixture(scope="module")
def package(make: ModuleType, packed: Path) -> Path:
    folder = make.make_package(packed / "model", packed / "prepared", packed / "models")
    assert isinstance(folder, Path)
    return folder


def find_model(package: Path) -> Path:
    return package / name_package(package.name) / MODEL


def test_a_package_translates_as_its_model_and_holds_nothing_else(package: Path, packed: Path) -> None:
    expected = nmt.load(packed / "model").translate(LINES)
    assert nmt.load(find_model(package)).translate(LINES) == expected
    names = {path.name for path in find_model(package).iterdir()}
    assert not names & {"encoder.onnx", "decoder.onnx", "checkpoints"}


def test_its_page_has_its_scores_and_its_licence(package: Path) -> None:
    page = (package / "README.md").read_text(encoding="utf-8")
    assert "English to German" in page
    assert "| BLEU-4 | chrF2 |" in page and "| test | 20 | " in page and "nrefs:1|case:mixed" in page
    assert "$" not in page
    licence = (package / "LICENSE").read_text(encoding="utf-8")
    assert "Tatoeba" in licence and "wagtail 8" in licence and "$" not in licence


def test_a_package_cannot_be_read_in_floats(package: Path) -> None:
    with pytest.raises(nmt.NmtError, match="no weights in float"):
        nmt.load(find_model(package), precision="float")


def test_a_package_is_trained_further_from_weights_in_16_bits(package: Path, packed: Path, tmp_path: Path) -> None:
    halves, floats = (read_arrays(model / WEIGHTS) for model in (find_model(package), packed / "model"))
    for name, array in floats.items():
        np.testing.assert_allclose(halves[name], array, rtol=2**-11, atol=2**-24)  # the spacing of 16-bit floats
    assert {array.dtype for array in halves.values()} == {np.dtype(np.float16)}
    nmt.train(data=packed / "prepared", model=tmp_path / "model", init_from=str(find_model(package)), epochs=1)
    assert read_card(tmp_path / "model").parent["source_language"] == "eng"


def test_each_set_has_its_scores_in_the_card_and_on_the_page(make: ModuleType, packed: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{line}\t{line}\tmore\n" for line in LINES if line), encoding="utf-8")
    sets = {"labels": pairs, "pages": packed / "prepared" / "test.tsv"}
    package = make.make_package(packed / "model", packed / "prepared", tmp_path / "models", sets=sets)
    scores = read_card(find_model(package)).scores
    assert [(name, entry["sentences"]) for name, entry in scores.items()] == [("labels", 2), ("pages", 20)]
    page = (package / "README.md").read_text(encoding="utf-8")
    assert f"| labels | 2 | {scores['labels']['bleu4']['value']:.2f} ± " in page


@pytest.mark.slow
def test_the_other_direction_of_a_corpus_is_packed_with_it(make: ModuleType, packed: Path, tmp_path: Path) -> None:
    prepared = packed / "prepared"
    nmt.train(data=prepared, model=tmp_path / "model", reverse=True, **TINY)
    folder = make.make_package(tmp_path / "model", prepared, tmp_path / "models")
    assert folder.name == "deu-eng"
    assert "German to English" in (folder / "README.md").read_text(encoding="utf-8")
    nmt.prepare(prepared / "train.tsv", data=tmp_path / "other", dev="20", test="20")
    with pytest.raises(SystemExit, match="was not trained on"):
        make.make_package(tmp_path / "model", tmp_path / "other", tmp_path / "models")


def test_pip_installs_it_and_its_name_finds_it(package: Path, packed: Path, tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="packages of models are built by hatchling")
    wheels, site = tmp_path / "wheels", tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "wheel", *offline, "--wheel-dir", str(wheels), str(package)], check=True)
    (wheel,) = wheels.iterdir()
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", str(site), str(wheel)], check=True)
    text = "".join(f"{line}\n" for line in LINES)
    expected = nmt.load(packed / "model").translate(LINES)
    path = f"{PROJECT}:{site}"
    done = run_program("translate", "-q", "--model", package.name, cwd=tmp_path, text=text, PYTHONPATH=path)
    assert done.stdout.splitlines() == expected


@pytest.mark.slow
def test_graphs_that_are_too_large_are_made_without_tables(
    make: ModuleType, packed: Path, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(package: Path) -> int:
        model = find_model(package)
        return int(make.measure_folder(model) - make.measure_training_files(model))

    size = measure(package)
    monkeypatch.setattr(make, "LARGEST", size - 2000)  # the scores are not yet in its card
    small = make.make_package(packed / "model", packed / "prepared", tmp_path / "models")
    assert measure(small) < size
    card = read_card(find_model(small))
    assert set(card.checksums) == {path.name for path in find_model(small).iterdir()} - {CARD, "history.jsonl"}
    assert nmt.load(find_model(small)).translate("bade giko lu.")
    monkeypatch.setattr(make, "LARGEST", 1000)
    with pytest.raises(SystemExit, match="smaller network"):
        make.make_package(packed / "model", packed / "prepared", tmp_path / "others")
    assert not (tmp_path / "others" / small.name).exists()


def test_no_path_of_a_machine_stays_in_a_card(make: ModuleType) -> None:
    values = {"init_from": "/home/me/parent", "parts": ["../corpus.tsv", "/x/nmt_model_a_b/model"], "seed": 1}
    assert make.strip_paths(values) == {"init_from": "parent", "parts": ["corpus.tsv", "nmt_model_a_b"], "seed": 1}
