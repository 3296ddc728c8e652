"""A model in use stays what it was, whatever is written to its directory, until another is there as a whole."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

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


class Copies(NamedTuple):
    """The directory of a model in use, and that of another with which it is replaced."""

    used: Path
    other: Path

    def list_files(self) -> list[str]:
        """The files of the other model, the card before those that it needs, as `cp` and `rsync` sort them."""
        return sorted(path.name for path in self.other.iterdir())


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copies:
    monkeypatch.setattr(models, "PAUSE", 0)
    made = Copies(tmp_path / "used", tmp_path / "other")
    for directory in made:
        shutil.copytree(list_bundled_models()["eng-deu"], directory)
    # The other has other weights, and another name for a tokenizer, which stands behind the card.
    numbers = np.fromfile(made.other / WEIGHTS, np.uint8)
    numbers[: numbers.size // 2] ^= 16
    numbers.tofile(made.other / WEIGHTS)
    (made.other / "target.spm").rename(made.other / "zz.spm")
    sign(made.other, target_tokenizer="zz.spm")
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
    copies: Copies, change: Callable[[Path], None], name: str
) -> None:
    pool, reports = open_pool(copies.used)
    before = translate_by(copies.used)
    change(copies.used / name)
    assert [ask(pool) for _ in range(3)] == [before] * 3
    if (name, change) == (CARD, lengthen):  # a blank line changes no card
        assert not reports
        return
    (report,) = reports
    assert report.endswith(f": {copies.used} is served as it was")


def test_a_model_that_is_copied_over_another_is_served(copies: Copies) -> None:
    pool, reports = open_pool(copies.used)
    shutil.copytree(copies.other, copies.used, dirs_exist_ok=True)
    assert ask(pool) == ask(pool) == translate_by(copies.other) != translate_by(list_bundled_models()["eng-deu"])
    assert reports == [f"{copies.used} was replaced: the new one is served"]


@pytest.mark.parametrize("is_renamed", [True, False])
@pytest.mark.parametrize("is_last_first", [True, False])
def test_a_model_that_is_copied_file_by_file_is_served_once_the_last_is_there(
    copies: Copies, *, is_renamed: bool, is_last_first: bool
) -> None:
    pool, reports = open_pool(copies.used)
    before, after, names = translate_by(copies.used), translate_by(copies.other), copies.list_files()
    answers = []
    for name in reversed(names) if is_last_first else names:
        answers.append(ask(pool))
        if is_renamed:
            shutil.copyfile(copies.other / name, copies.used / f".{name}.partial")
            os.replace(copies.used / f".{name}.partial", copies.used / name)
        else:
            shutil.copyfile(copies.other / name, copies.used / name)
    assert ask(pool) == after
    assert answers[0] == before and all(answer in (before, after) for answer in answers)
    *earlier, last = reports
    assert last == f"{copies.used} was replaced: the new one is served"
    assert earlier and len(earlier) == len(set(earlier))


def test_a_failed_load_is_tried_again_after_a_pause_only(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "PAUSE", 1e9)
    pool, reports = open_pool(copies.used)
    before = translate_by(copies.used)
    shorten(copies.used / WEIGHTS)
    assert ask(pool) == before and len(reports) == 1
    shutil.copytree(copies.other, copies.used, dirs_exist_ok=True)
    assert ask(pool) == before
    failure = pool.failures[copies.used]
    pool.failures[copies.used] = failure._replace(end_of_pause=0)
    assert ask(pool) == translate_by(copies.other)


@pytest.mark.parametrize("name", ["deu-eng", "eng-fra", "pictures"])
def test_a_model_of_other_languages_or_of_pictures_does_not_take_its_place(copies: Copies, name: str) -> None:
    pool, reports = open_pool(copies.used)
    before = translate_by(copies.used)
    if name == "deu-eng":
        shutil.rmtree(copies.used)
        shutil.copytree(list_bundled_models()[name], copies.used)
    elif name == "eng-fra":
        sign(copies.used, target_language="fra")
    else:
        source = {"type": "image", "limit": 64, "length_factor": 2.0}
        sign(copies.used, source=source)
    assert ask(pool) == ask(pool) == before
    assert len(reports) == 1 and reports[0].endswith("is served as it was")
    assert pool.models[0].card.languages == ("eng", "deu")


def test_a_directory_that_is_moved_away_and_comes_back_is_served_as_before(copies: Copies) -> None:
    pool, reports = open_pool(copies.used)
    before = translate_by(copies.used)
    copies.used.rename(copies.used.with_name("away"))
    assert ask(pool) == ask(pool) == before and len(reports) == 1
    copies.other.rename(copies.used)
    assert ask(pool) == translate_by(copies.used) != before


def test_files_that_are_copied_again_are_no_other_model(copies: Copies) -> None:
    pool, reports = open_pool(copies.used)
    translator = pool.open(pool.models[0])
    for name in ("profile.txt", WEIGHTS, CARD):
        (copies.used / name).write_bytes((copies.used / name).read_bytes())
    assert pool.open(pool.models[0]) is translator and not reports


def test_entries_guide_a_model_whose_weights_were_overwritten(copies: Copies, tmp_path: Path) -> None:
    """The engine that reads entries of a memory is opened later: its weights are those of the model in use."""
    (tmp_path / "tm.tsv").write_text("Where is the old station?\tWo ist der alte Bahnhof?\n", encoding="utf-8")
    line = "Where is the new station?"
    expected = nmt.load(copies.used, tm=tmp_path / "tm.tsv", beam_size=1).translate(line)
    translator = nmt.load(copies.used, tm=tmp_path / "tm.tsv", beam_size=1)
    for path in copies.used.iterdir():
        fill(path)
    assert translator.translate(line) == expected
    shutil.rmtree(copies.used)
    assert translator.translate(line) == expected


@pytest.mark.parametrize("name", ["target.spm", "joint.spm", "profile.txt", WEIGHTS, "encoder.int8.onnx"])
def test_a_model_is_of_one_moment_or_refused(copies: Copies, name: str) -> None:
    """The card was read, and then a file was replaced."""
    model = ModelDirectory.open(copies.used)
    lengthen(copies.used / name)
    with pytest.raises(DamagedError, match=f"{name} is damaged"):
        model.read(name)
    with pytest.raises(DamagedError, match=f"{name} is damaged"):
        nmt.load(copies.used)


def test_where_no_copy_can_be_written_weights_are_checked_and_mapped(
    copies: Copies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = translate_by(copies.used)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert translate_by(copies.used) == expected
    fill(copies.used / WEIGHTS)
    with pytest.raises(DamagedError, match=f"{WEIGHTS} is damaged"):
        nmt.load(copies.used)
