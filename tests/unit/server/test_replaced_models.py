"""A model in use stays what it was, whatever is written to its directory, until another is there as a whole."""

import json
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import nmt_cli as nmt
from nmt_cli.errors import DamagedError
from nmt_cli.files import hash_file
from nmt_cli.runtime.installed_models import list_bundled_models
from nmt_cli.runtime.model_directory import CARD, ModelDirectory
from nmt_cli.server import models
from nmt_cli.server.models import ModelPool, ServedModel

TEXTS = ["Where is the station?", "Our landlord evicted the lodgers.", "He has 12 red apples."]  # the second is unsure
WEIGHTS = "decoder.int8.onnx.data"


@pytest.fixture
def used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a model in use, a copy of a bundled one."""
    monkeypatch.setattr(models, "PAUSE", 0)
    return shutil.copytree(list_bundled_models()["eng-deu"], tmp_path / "used")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The model that replaces it: other weights, and another name for a tokenizer, which stands behind the card."""
    made = shutil.copytree(list_bundled_models()["eng-deu"], tmp_path / "other")
    numbers = np.fromfile(made / WEIGHTS, np.uint8)
    numbers[: numbers.size // 2] ^= 16
    numbers.tofile(made / WEIGHTS)
    (made / "target.spm").rename(made / "zz.spm")
    sign(made, target_tokenizer="zz.spm")
    return made


def sign(directory: Path, **changes: object) -> None:
    """Writes the checksums of the files into the card, with other changes."""
    names = [path.name for path in directory.iterdir() if path.name != CARD]
    sums = {name: hash_file(directory / name) for name in names}
    card = json.loads((directory / CARD).read_text(encoding="utf-8"))
    (directory / CARD).write_text(json.dumps({**card, "checksums": sums, **changes}), encoding="utf-8")


def open_pool(directory: Path) -> tuple[ModelPool, list[str]]:
    """A pool that has loaded the model, and what it reports."""
    reports: list[str] = []
    served = ServedModel.read(directory).list_directions()
    pool = ModelPool(served, lambda path: nmt.load(path, beam_size=1, threads=1), report=reports.append)
    pool.open(served[0])
    return pool, reports


def ask(pool: ModelPool) -> list[str]:
    return pool.open(pool.models[0]).translate(TEXTS)


def translate_by(directory: Path) -> list[str]:
    return nmt.load(directory, beam_size=1, threads=1).translate(TEXTS)


@cache
def translate_original() -> list[str]:
    return translate_by(list_bundled_models()["eng-deu"])


def fill(path: Path) -> None:
    """Overwrites a file in place by as many other bytes."""
    with path.open("r+b") as file:
        file.write(os.urandom(path.stat().st_size))


def shorten(path: Path) -> None:
    os.truncate(path, 1_000)


def lengthen(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\n")


@pytest.mark.parametrize("name", ["encoder.int8.onnx.data", WEIGHTS, "decoder.int8.onnx", "profile.txt", CARD])
@pytest.mark.parametrize("change", [fill, shorten, lengthen, Path.unlink])
def test_a_damaged_file_changes_nothing_and_is_reported_once(
    used: Path, change: Callable[[Path], None], name: str
) -> None:
    pool, reports = open_pool(used)
    before = translate_original()
    change(used / name)
    assert [ask(pool) for _ in range(3)] == [before] * 3
    if (name, change) == (CARD, lengthen):  # a blank line changes no card
        assert not reports
        return
    (report,) = reports
    assert report.endswith(f": the server keeps the old model of {used}")


def test_a_model_that_is_copied_over_another_is_served(used: Path, other: Path) -> None:
    pool, reports = open_pool(used)
    shutil.copytree(other, used, dirs_exist_ok=True)
    assert ask(pool) == ask(pool) == translate_by(other) != translate_original()
    assert reports == [f"{used} was replaced: the server uses the new model"]


@pytest.mark.parametrize("is_renamed", [True, False])
@pytest.mark.parametrize("is_last_first", [True, False])
def test_a_model_that_is_copied_file_by_file_is_served_once_the_last_is_there(
    used: Path, other: Path, *, is_renamed: bool, is_last_first: bool
) -> None:
    pool, reports = open_pool(used)
    before, after = translate_original(), translate_by(other)
    names = sorted(path.name for path in other.iterdir())  # the card before what it needs, as `cp` and `rsync` sort
    answers = []
    for name in reversed(names) if is_last_first else names:
        answers.append(ask(pool))
        if is_renamed:
            shutil.copyfile(other / name, used / f".{name}.partial")
            os.replace(used / f".{name}.partial", used / name)
        else:
            shutil.copyfile(other / name, used / name)
    assert ask(pool) == after
    assert answers[0] == before and all(answer in (before, after) for answer in answers)
    *earlier, last = reports
    assert last == f"{used} was replaced: the server uses the new model"
    assert earlier and len(earlier) == len(set(earlier))


def test_a_failed_load_is_tried_again_after_a_pause_only(
    used: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "PAUSE", 1e9)
    pool, reports = open_pool(used)
    before = translate_original()
    shorten(used / WEIGHTS)
    assert ask(pool) == before and len(reports) == 1
    shutil.copytree(other, used, dirs_exist_ok=True)
    assert ask(pool) == before
    failure = pool.failures[used]
    pool.failures[used] = failure._replace(end_of_pause=0)
    assert ask(pool) == translate_by(other)


@pytest.mark.parametrize("name", ["deu-eng", "eng-fra", "pictures"])
def test_a_model_of_other_languages_or_of_pictures_does_not_take_its_place(used: Path, name: str) -> None:
    pool, reports = open_pool(used)
    before = translate_original()
    if name == "deu-eng":
        shutil.rmtree(used)
        shutil.copytree(list_bundled_models()[name], used)
    elif name == "eng-fra":
        sign(used, target_language="fra")
    else:
        source = {"type": "image", "limit": 64, "length_factor": 2.0}
        sign(used, source=source)
    assert ask(pool) == ask(pool) == before
    assert len(reports) == 1 and ": the server keeps the old model of " in reports[0]
    assert pool.models[0].card.languages == ("eng", "deu")


def test_a_directory_that_is_moved_away_and_comes_back_is_served_as_before(used: Path, other: Path) -> None:
    pool, reports = open_pool(used)
    before = translate_original()
    used.rename(used.with_name("away"))
    assert ask(pool) == ask(pool) == before and len(reports) == 1
    other.rename(used)
    assert ask(pool) == translate_by(used) != before


def test_files_that_are_copied_again_are_no_other_model(used: Path) -> None:
    pool, reports = open_pool(used)
    translator = pool.open(pool.models[0])
    for name in ("profile.txt", WEIGHTS, CARD):
        (used / name).write_bytes((used / name).read_bytes())
    assert pool.open(pool.models[0]) is translator and not reports


def test_entries_guide_a_model_whose_weights_were_overwritten(used: Path, tmp_path: Path) -> None:
    """The engine that reads entries of a memory is opened later: its weights are those of the model in use."""
    (tmp_path / "tm.tsv").write_text("Where is the old station?\tWo ist der alte Bahnhof?\n", encoding="utf-8")
    line = "Where is the new station?"
    expected = nmt.load(used, tm=tmp_path / "tm.tsv", beam_size=1).translate(line)
    translator = nmt.load(used, tm=tmp_path / "tm.tsv", beam_size=1)
    for path in used.iterdir():
        fill(path)
    assert translator.translate(line) == expected
    shutil.rmtree(used)
    assert translator.translate(line) == expected


@pytest.mark.parametrize("name", ["target.spm", "joint.spm", "profile.txt", WEIGHTS, "encoder.int8.onnx"])
def test_a_model_is_of_one_moment_or_refused(used: Path, name: str) -> None:
    """The card was read, and then a file was replaced."""
    model = ModelDirectory.open(used)
    lengthen(used / name)
    with pytest.raises(DamagedError, match=f"{name} is damaged"):
        model.read(name)
    with pytest.raises(DamagedError, match=f"{name} is damaged"):
        nmt.load(used)


def test_where_no_copy_can_be_written_weights_are_checked_and_mapped(
    used: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = translate_original()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert translate_by(used) == expected
    fill(used / WEIGHTS)
    with pytest.raises(DamagedError, match=f"{WEIGHTS} is damaged"):
        nmt.load(used)
