"""Where commands run: a directory with all that they look for, and a browser."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from nmt_cli.corpus.dataset import PreparedCorpus
from support.browser import browser
from support.learned import learn_toy
from support.once import make_once


@pytest.fixture(scope="module")
def place(corpus: PreparedCorpus, untrained_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of a file's own with `prepared/` and an untrained `model/`."""
    directory = tmp_path_factory.mktemp("a place")  # a blank in the path, as users have them
    copytree(corpus.directory, directory / "prepared")
    copytree(untrained_model, directory / "model")
    return directory


@pytest.fixture(scope="session")
def learned(run_directory: Path) -> Path:
    """A directory in which the toy corpus is prepared and learned; tests leave `prepared/` and `model/` as they are."""
    return make_once(run_directory / "main job", learn_toy)  # a blank in the path, as users have them


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running
