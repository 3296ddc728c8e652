"""Kinds of documents, metrics and shapes of requests from other packages: the example is installed and used."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from serve import Server

from nmt_cli.documents import find_format
from nmt_cli.errors import DataError, MissingExtraError, OptionError
from nmt_cli.evaluation.metrics.registry import find_metric, resolve_names
from nmt_cli.formats import select_format
from nmt_cli.plugins import list_plugins
from nmt_cli.server.service import Service
from support.commands import run_program
from support.documents import echo_document, list_texts
from support.scripts import PROJECT
from support.served import Client, make_pool

CAPTIONS = (
    b"0:00:01.000,0:00:03.000\r\nThe station is\r\nnear the river.\r\n\r\n0:00:04.000,0:00:05.000\r\nGood night.\r\n"
)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example is installed."""
    folder = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(PROJECT / "examples/plugins")], check=True)
    return folder


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Adds folders of installed packages to this process: `plugins.syspath_prepend(folder)`."""
    list_plugins.cache_clear()
    yield monkeypatch
    list_plugins.cache_clear()


def install_entries(site: Path, content: str) -> None:
    """A package with entry points, but without any code."""
    information = site / "faulty-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(content)


def test_a_document_of_another_package_is_translated(example: Path, tmp_path: Path) -> None:
    (tmp_path / "talk.sbv").write_bytes(CAPTIONS)
    asked = ["translate", "--model", "eng-deu", "--beam-size", "1"]
    run_program(*asked, "talk.sbv", "-o", "talk.de.sbv", cwd=tmp_path, PYTHONPATH=f"{example}:{PROJECT}")
    lines = (tmp_path / "talk.de.sbv").read_bytes().split(b"\r\n")
    assert [lines[0], lines[3], lines[4]] == [b"0:00:01.000,0:00:03.000", b"", b"0:00:04.000,0:00:05.000"]
    assert b"Bahnhof" in lines[1] and lines[5].startswith(b"Gute Nacht")
    done = run_program(*asked, "--format", "sbv", cwd=tmp_path, text=CAPTIONS, PYTHONPATH=f"{example}:{PROJECT}")
    assert done.stdout.encode() == b"\r\n".join(lines)
    assert "no format 'sbv'" in run_program(*asked, "--format", "sbv", cwd=tmp_path, PYTHONPATH=str(PROJECT)).stderr


def test_a_document_of_another_package_changes_only_its_texts(example: Path, plugins: pytest.MonkeyPatch) -> None:
    plugins.syspath_prepend(example)
    assert list_texts("sbv", CAPTIONS) == ["The station is near the river.", "Good night."]
    assert echo_document("sbv", CAPTIONS) == CAPTIONS
    with pytest.raises(OptionError, match="does not read sbv"):
        select_format("sbv", "pairs")


def test_a_metric_of_another_package_is_measured_with_its_interval(example: Path, tmp_path: Path) -> None:
    (tmp_path / "h.txt").write_text("a b c d\na b\n" * 60)
    (tmp_path / "r.txt").write_text("a b d\na b\n" * 60)
    scored = ["evaluate", "--hypothesis", "h.txt", "--reference", "r.txt", "--metric"]
    done = run_program(*scored, "WER,chrf", "--json", cwd=tmp_path, PYTHONPATH=f"{example}:{PROJECT}")
    assert json.loads(done.stdout)["scores"]["wer"]["value"] == 20.0  # one word inserted in five
    shown = run_program(*scored, "wer", cwd=tmp_path, PYTHONPATH=f"{example}:{PROJECT}").stdout
    assert "WER" in shown and "±" in shown and "lower is better" in shown
    refused = run_program(*scored, "wear", cwd=tmp_path, PYTHONPATH=f"{example}:{PROJECT}").stderr
    assert "did you mean wer?" in refused


def test_a_shape_of_another_package_is_served(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{example}:{PROJECT}")
    server = Server([sys.executable, "-m", "nmt_cli", "translate", "--model", "eng-deu", "--serve", "0"])
    try:
        address = f"http://127.0.0.1:{server.port}/api/translate?from=en&to=de&text=Good%20night."
        answer = json.load(urllib.request.urlopen(address, timeout=60))
    finally:
        assert server.close() == 0
    assert answer["translated-text"].startswith("Gute Nacht")


def test_a_shape_of_another_package_is_described_and_replaces_none(example: Path, plugins: pytest.MonkeyPatch) -> None:
    plugins.syspath_prepend(example)
    client = Client(Service(make_pool()[0]))
    assert client.get("/api/translate?to=de&text=a").json()["translated-text"] == "A"
    assert "Crow Translate" in client.get("/docs").text and "/api/translate" in client.get("/spec").json()["paths"]
    assert ".sbv" in client.get("/frontend/settings").json()["supportedFilesFormat"]


def test_what_cannot_be_loaded_is_told_by_name_and_hides_nothing(
    example: Path, tmp_path: Path, plugins: pytest.MonkeyPatch
) -> None:
    install_entries(
        tmp_path,
        "[nmt_cli.metrics]\nabsent=absent:measure\n[nmt_cli.documents]\nzzz=json:JSONDecoder\n"
        "[nmt_cli.shapes]\nabsent=absent:PATHS\nodd=string:digits\nnumber=math:pi\n",
    )
    plugins.syspath_prepend(tmp_path)
    plugins.syspath_prepend(example)
    with pytest.raises(MissingExtraError, match="absent of the package faulty cannot be loaded: ModuleNotFoundError"):
        find_metric("absent")
    with pytest.raises(DataError, match="zzz of the package faulty has no attribute `format`"):
        find_format(Path("a.zzz"), None, b"Hello\n")
    told: list[str] = []
    client = Client(Service(make_pool()[0], report=told.append))
    assert client.get("/api/translate?to=de&text=a").json()["translated-text"] == "A"
    assert len(told) == 3 and all("not served" in line and "faulty" in line for line in told)


def test_damaged_entry_points_hide_no_plugin(example: Path, tmp_path: Path, plugins: pytest.MonkeyPatch) -> None:
    install_entries(tmp_path, "[nmt_cli.metrics]\nwer\n")
    plugins.syspath_prepend(example)
    plugins.syspath_prepend(tmp_path)
    assert resolve_names(["W-ER"]) == ("wer",)
