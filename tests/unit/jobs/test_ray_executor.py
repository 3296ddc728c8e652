"""Translates on a local Ray of two workers. What Ray itself prints is ignored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import copytree

import pytest

from nmt_cli.carrying.glossary import Glossary
from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.jobs.job import Block
from nmt_cli.jobs.ray_executor import RayExecutor, Shipment
from nmt_cli.runtime.model_directory import FLOAT, FORMAT, ModelCard, name_graphs, read_card, write_card
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.translation.config import LineConfig, ModelRequest
from support.jobs import LoudJob

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def unread_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a directory that passes for a model as long as nobody reads its graphs."""
    directory = tmp_path_factory.mktemp("ray")
    for name in (*name_graphs(FLOAT), "joint.spm", PROFILE_NAME):
        (directory / name).write_bytes(bytes(100_000))
    kinds = {name: str(kind) for name, kind in ModelCard.__annotations__.items()}
    values = {name: {} if "dict" in kind or "Entries" in kind else "joint.spm" for name, kind in kinds.items()}
    values["vocabularies"] = {"source": 9, "target": 9, "joint": True}
    values["tokenizer"] = {"kind": "unigram", "lowercase": False}
    write_card(directory, ModelCard(**{**values, "format": FORMAT, "epochs": 1, "context": 0}))
    return directory


@pytest.fixture
def two_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Starts Ray with two processors, whatever the machine has; its processes can import the jobs of the tests."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    environment = {"env_vars": {"PYTHONPATH": str(Path(__file__).parents[2])}}
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    yield
    ray.shutdown()


@pytest.mark.slow
@pytest.mark.usefixtures("two_workers")
def test_blocks_come_back_in_order_though_a_worker_is_killed(unread_model: Path, tmp_path: Path) -> None:
    mark = tmp_path / "died"
    texts = [f"text {number}" for number in range(12)]
    texts[4] = "die"
    with RayExecutor(LoudJob(ModelRequest(unread_model), SearchConfig(), mark=mark), "auto") as executor:
        translations = executor.translate_blocks(Block(number, (text,)) for number, text in enumerate(texts))
        assert [block[0].text for block in translations] == [text.upper() for text in texts]
    assert mark.exists()


def test_the_model_travels_with_its_job(unread_model: Path, tmp_path: Path) -> None:
    shipment = Shipment.pack(LoudJob(ModelRequest(unread_model, ensemble=(unread_model,)), SearchConfig()))
    job = shipment.unpack(tmp_path)
    assert job.request.model.parent == tmp_path
    assert Shipment.pack(job).models == shipment.models


def test_the_model_that_reads_back_travels_too(unread_model: Path, tmp_path: Path) -> None:
    reverse = copytree(unread_model, tmp_path / "reverse")
    write_card(reverse, read_card(reverse)._replace(epochs=2))
    request = ModelRequest(unread_model, (unread_model,), check_with=reverse)
    shipped = Shipment.pack(LoudJob(request, SearchConfig())).unpack(tmp_path).request
    assert len(shipped.ensemble) == 1 and shipped.check_with is not None
    assert read_card(shipped.check_with).epochs == 2


def test_the_glossary_travels_too(unread_model: Path, tmp_path: Path) -> None:
    terms, directory = tmp_path / "terms.tsv", tmp_path / "there"
    terms.write_text("dog\tHund\n")
    shipment = Shipment.pack(LoudJob(ModelRequest(unread_model, lines=LineConfig(glossary=str(terms))), SearchConfig()))
    terms.unlink()
    directory.mkdir()
    lines = shipment.unpack(directory).request.lines
    assert lines is not None and lines.glossary is not None
    assert Glossary.load(Path(lines.glossary)).terms == {"dog": "Hund"}


@pytest.mark.slow
@pytest.mark.usefixtures("two_workers")
def test_errors_of_an_actor_or_the_input_are_raised_after_what_came_before(unread_model: Path) -> None:
    texts: list[str] = []

    def take(blocks: Iterable[Block]) -> None:
        for translations in executor.translate_blocks(blocks):
            texts.extend(translation.text for translation in translations)

    def unreadable() -> Iterator[Block]:
        yield Block(0, ("b",))
        raise DataError("line 2 is not valid UTF-8")

    with RayExecutor(LoudJob(ModelRequest(unread_model), SearchConfig()), "auto") as executor:
        with pytest.raises(ValueError, match="this text cannot be"):
            take(Block(number, (text,)) for number, text in enumerate(["a", "fail", "c"]))
        with pytest.raises(DataError, match="line 2"):
            take(unreadable())
    assert texts == ["A", "B"]


def test_a_model_that_is_not_there_is_told_before_ray_starts(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no model"):
        RayExecutor(LoudJob(ModelRequest(tmp_path), SearchConfig()), "auto").__enter__()
    assert not ray.is_initialized()
