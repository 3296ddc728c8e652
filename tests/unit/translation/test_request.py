"""Models and glossaries travel with their request."""

from pathlib import Path
from shutil import copytree

import pytest

from nmt_cli.carrying.glossary import Glossary
from nmt_cli.errors import DamagedError, NotFoundError
from nmt_cli.runtime.model_directory import FLOAT, FORMAT, ModelCard, name_graphs, read_card, write_card
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.translation.config import LineOptions, TranslateOptions
from nmt_cli.translation.request import Block, TranslationRequest


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


def test_the_model_travels_with_its_request(unread_model: Path, tmp_path: Path) -> None:
    request = TranslationRequest(unread_model, ensemble=(unread_model,)).pack()
    unpacked = request.unpack_to(tmp_path)
    assert unpacked.model.parent == tmp_path
    assert unpacked.pack().packed == request.packed


def test_the_model_that_reads_back_travels_too(unread_model: Path, tmp_path: Path) -> None:
    reverse = copytree(unread_model, tmp_path / "reverse")
    write_card(reverse, read_card(reverse)._replace(epochs=2))
    request = TranslationRequest(unread_model, (unread_model,), check_with=reverse)
    shipped = request.pack().unpack_to(tmp_path)
    assert len(shipped.ensemble) == 1 and shipped.check_with is not None
    assert read_card(shipped.check_with).epochs == 2


def test_the_glossary_travels_too(unread_model: Path, tmp_path: Path) -> None:
    terms, directory = tmp_path / "terms.tsv", tmp_path / "there"
    terms.write_text("dog\tHund\n")
    request = TranslationRequest(unread_model, lines=LineOptions(glossary=str(terms))).pack()
    terms.unlink()
    directory.mkdir()
    lines = request.unpack_to(directory).lines
    assert lines.glossary is not None
    assert Glossary.load(Path(lines.glossary)).terms == {"dog": "Hund"}


def test_a_model_that_is_not_there_is_told_where_the_request_is_packed(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no model"):
        TranslationRequest(tmp_path).pack()


def test_a_held_job_translates_by_the_models_of_the_moment_it_was_held(untrained_model: Path, tmp_path: Path) -> None:
    """Whatever is written to their files: the worker that replaces a dead one has the same model."""
    model, lines = copytree(untrained_model, tmp_path / "model"), ("bade giko.", "lu.")
    job = TranslationRequest(model, options=TranslateOptions(SearchOptions(beam_size=1)))
    expected = [translation.text for translation in job.start()(Block(0, lines))]
    held = job.hold()
    for path in filter(Path.is_file, model.iterdir()):
        path.write_bytes(bytes(path.stat().st_size))
    assert [translation.text for translation in held.start(threads=1)(Block(0, lines))] == expected
    with pytest.raises(DamagedError):
        job.hold()
