"""A toy corpus, and a prepared directory made from it."""

import shutil
from pathlib import Path

import pytest

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.prepare import prepare
from support.corpora import toy_pairs, write_tsv


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    return write_tsv(tmp_path / "toy.en-de.tsv", toy_pairs(400))


@pytest.fixture(scope="session")
def prepared_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prepared directory, which tests must not change."""
    folder = tmp_path_factory.mktemp("corpus")
    unusual = [("a b c d e f g h i j k l m n o p q", "x"), ("v " * 101, "w " * 101)]
    rows = [*toy_pairs(400), ("", "leer"), *toy_pairs(3), *unusual]
    prepare(write_tsv(folder / "toy.en-de.tsv", rows), folder / "prepared", PrepareOptions())
    return folder / "prepared"


@pytest.fixture
def copy(prepared_directory: Path, tmp_path: Path) -> Path:
    """A copy of the prepared directory, which tests may damage."""
    return Path(shutil.copytree(prepared_directory, tmp_path / "copy"))
