"""A page of a model: what stands in for compiled packages in a browser does there what they do here."""

import json
import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2
from typer.testing import CliRunner

import nmt_cli as nmt
from nmt_cli.cli.app import app
from nmt_cli.errors import DamagedError, NotFoundError, OptionError
from nmt_cli.runtime import onnx_engine
from nmt_cli.runtime.browser import web_onnxruntime, web_sentencepiece
from nmt_cli.runtime.browser.page_export import ASSETS, LOCK, compile_python, find_assets, pack, read_model
from nmt_cli.runtime.installed_models import list_bundled_models
from nmt_cli.runtime.model_directory import ModelDirectory, name_graphs
from nmt_cli.runtime.onnx_engine import KeptGraph
from nmt_cli.text.symbols import SPECIALS, TokenizerKind
from nmt_cli.text.tokenizer import Tokenizer, prepare_surface
from support.tokenizers import KINDS, toy_tokenizer

FROZEN = Path(__file__).parents[2] / "frozen"
LINES = [line for name in ("eng", "deu") for line in (FROZEN / f"{name}.txt").read_text().split("\n")[:-1]]
WHEEL = "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl"
# Characters of which some are pieces, some are unknown, and some have a meaning for SentencePiece.
STRANGE = st.text(alphabet="abet ▁⟦0⟧1é日😀\t.,<x>", max_size=20)


@pytest.fixture
def assets(tmp_path: Path) -> Path:
    """A folder with a file of each name, which are empty but for the list of packages."""
    folder = tmp_path / "node_modules"
    for index, names in enumerate([*ASSETS, (WHEEL,)]):
        (folder / str(index)).mkdir(parents=True)
        (folder / str(index) / names[-1]).write_bytes(b"")
    lock = json.dumps({"packages": {"numpy": {"file_name": WHEEL}}})
    next(folder.rglob(LOCK)).write_text(lock, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def bundled() -> ModelDirectory:
    return ModelDirectory.load(list_bundled_models()["eng-deu"])


def compare(tokenizer: Tokenizer, texts: list[str]) -> None:
    """Asserts that both read texts alike, and what they read."""
    ours, theirs = (
        make(model_proto=tokenizer.model) for make in (web_sentencepiece.SentencePieceProcessor, SentencePieceProcessor)
    )
    for text in (prepare_surface(text, tokenizer.settings) for text in texts):
        ids = theirs.encode(text)
        assert (ours.encode(text), ours.encode(text, out_type=str)) == (ids, theirs.encode(text, out_type=str))
        assert ours.decode(ids) == theirs.decode(ids)


def test_the_bundled_vocabulary_is_read_alike(bundled: ModelDirectory) -> None:
    compare(bundled.load_source().tokenizer, LINES)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_vocabulary_is_read_alike(kind: TokenizerKind) -> None:
    compare(toy_tokenizer(kind), LINES[::4])


@pytest.mark.parametrize("kind", KINDS)
@given(text=STRANGE)
def test_strange_text_is_read_alike(kind: TokenizerKind, text: str) -> None:
    compare(toy_tokenizer(kind), [text])


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_any_ids_are_written_alike(kind: TokenizerKind, data: st.DataObject) -> None:
    model = toy_tokenizer(kind).model
    theirs, ours = SentencePieceProcessor(model_proto=model), web_sentencepiece.SentencePieceProcessor(model)
    size = theirs.get_piece_size()
    numbers = st.integers(0, size - 1) | st.integers(0, min(size, 280) - 1)  # bytes come first
    ids = data.draw(st.lists(numbers, max_size=8))
    assert ours.decode(ids) == theirs.decode(ids)
    assert ours.id_to_piece(ids) == theirs.id_to_piece(ids)
    assert ours.is_byte(ids) == theirs.is_byte(ids)
    assert [ours.is_control(i) for i in ids] == [theirs.is_control(i) for i in ids]


def make_vocabulary(kind: int, scores: dict[str, float], marks: set[str], seed: bytes) -> bytes:
    """Returns `seed`, a model, with other pieces: those that users defined, and usual ones with these scores."""
    model = sentencepiece_model_pb2.ModelProto.FromString(seed)
    piece = model.SentencePiece
    del model.pieces[SPECIALS:]
    model.pieces.extend(piece(piece=text, score=0.0, type=piece.USER_DEFINED) for text in sorted(marks))
    model.pieces.extend(piece(piece=text, score=score) for text, score in scores.items() if text not in marks)
    model.trainer_spec.model_type, model.trainer_spec.byte_fallback = kind, False
    return bytes(model.SerializeToString())


# Sums of these scores are equal or not depending on how they are rounded, and some are worth less than an unknown one.
SCORES = st.sampled_from([-0.1, -0.2, -0.3, -0.7, -0.6, -1.3, -12.0])


@pytest.mark.parametrize("kind", [1, 2])
@given(
    scores=st.dictionaries(st.text(alphabet="ab▁", min_size=1, max_size=3), SCORES, min_size=1),
    marks=st.sets(st.text(alphabet="ab", min_size=2, max_size=3), max_size=2),
    text=st.text(alphabet="aabbc ", max_size=12),
)
def test_any_scores_lead_to_the_same_pieces(kind: int, scores: dict[str, float], marks: set[str], text: str) -> None:
    model = make_vocabulary(kind, scores, marks, toy_tokenizer("unigram").model)
    theirs, ours = SentencePieceProcessor(model_proto=model), web_sentencepiece.SentencePieceProcessor(model)
    assert ours.encode(text, out_type=str) == theirs.encode(text, out_type=str)


@pytest.mark.parametrize("content", [b"", b"no model", b"\x0a\x05abc"])
def test_what_is_no_vocabulary_is_refused(content: bytes) -> None:
    with pytest.raises(RuntimeError):
        web_sentencepiece.SentencePieceProcessor(content)


class Crossing:
    """Runs graphs here behind the border over which the page runs them in JavaScript."""

    def __init__(self) -> None:
        self.sessions: list[onnxruntime.InferenceSession] = []

    def open_graph(self, graph: bytes) -> int:
        self.sessions.append(onnxruntime.InferenceSession(graph))
        return len(self.sessions) - 1

    def run_graph(self, number: int, described: str, content: bytes, names: str) -> tuple[str, memoryview]:
        feed, position = {}, 0
        for name, code, shape in json.loads(described):
            array = np.empty(shape, web_onnxruntime.NAMES[code])
            array.reshape(-1).view(np.uint8)[:] = memoryview(content)[position : position + array.nbytes]
            feed[name], position = array, position + -(-array.nbytes // 8) * 8
        outputs = self.sessions[number].run(json.loads(names), feed)
        described = json.dumps([[web_onnxruntime.CODES[array.dtype.name], array.shape] for array in outputs])
        return described, memoryview(b"".join(array.tobytes() + bytes(-array.nbytes % 8) for array in outputs))


def test_a_graph_gives_the_same_behind_the_border(
    bundled: ModelDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in read_model(bundled).items():
        (tmp_path / name).write_bytes(content)
    border = Crossing()
    functions = web_onnxruntime.Border(border.open_graph, border.run_graph)
    monkeypatch.setattr(web_onnxruntime.InferenceSession, "border", functions, raising=False)
    encoder, decoder = name_graphs(bundled.precision)
    here = {name: KeptGraph(bundled.directory / name).open_session() for name in (encoder, decoder)}
    monkeypatch.setattr(onnx_engine, "onnxruntime", web_onnxruntime)
    for name in (encoder, decoder):
        sessions = here[name], KeptGraph(tmp_path / name).open_session()
        facts = [[[node.name, node.type, node.shape] for node in session.get_inputs()] for session in sessions]
        assert facts[0] == facts[1]
        metadata = [session.get_modelmeta().custom_metadata_map for session in sessions]
        assert metadata[0] == metadata[1]
    names = [node.name for node in here[encoder].get_outputs()]
    source = {"source_ids": np.array([[9, 7, 33], [8, 5, 0]], dtype=np.int32)}
    expected = here[encoder].run(names, source)
    answered = KeptGraph(tmp_path / encoder).open_session().run(names, source)
    for left, right in zip(expected, answered, strict=True):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)
        right[:] = 0  # search writes into what it gets


def test_the_archive_of_a_page_translates_as_nmt_does(bundled: ModelDirectory, tmp_path: Path) -> None:
    ZipFile(BytesIO(pack(bundled))).extractall(tmp_path)
    (tmp_path / "onnxruntime.py").unlink()  # graphs are run by the compiled package: there is no browser here
    code = """
import json, sys, nmt_cli, sentencepiece
assert nmt_cli.__file__.startswith(sys.argv[1]) and sentencepiece.__file__.startswith(sys.argv[1])
translator = nmt_cli.load(sys.argv[1] + "/model", beam_size=1)
print(json.dumps([next(iter(translator.translations([line]))).text for line in json.load(sys.stdin)]))
"""
    lines = LINES[:1000:25]
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert json.loads(ended.stdout) == nmt.load(bundled.directory).translate(lines, beam_size=1)


def test_a_page_runs_the_scripts_of_its_folder_and_no_others(
    assets: Path, bundled: ModelDirectory, tmp_path: Path
) -> None:
    page = tmp_path / "page"
    arguments = ["translate", "--export", "page", "-o", str(page), "--model", str(bundled.directory)]
    done = CliRunner().invoke(app, [*arguments, "--assets", str(assets)])
    assert done.exit_code == 0, done.output
    text = (page / "index.html").read_text(encoding="utf-8")
    scripts = [part.split('"')[0] for part in text.split('<script src="')[1:]]
    assert sorted(scripts) == sorted(f"files/{path.name}" for path in (page / "files").iterdir())
    assert "http" not in text.replace('http-equiv="', "")
    assert "<h1>English – German</h1>" in text


def test_python_is_compiled_where_node_runs_it(assets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of this name stands in for Node.js: it marks the archives that it is told to compile."""
    node = tmp_path / "node"
    node.write_text('#!/bin/sh\nshift 2\nfor archive in "$@"; do echo compiled > "$archive"; done\n', encoding="utf-8")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    contents = {name: path.read_bytes() for name, path in find_assets(assets).items()}
    changed = {name for name, content in compile_python(contents).items() if content == b"compiled\n"}
    assert changed == {"python_stdlib.zip", WHEEL}
    node.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert compile_python(contents) == contents
    node.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compile_python(contents) == contents


def test_what_a_page_lacks_is_named(assets: Path) -> None:
    page = (FROZEN.parents[1] / "docs" / "page.md").read_text(encoding="utf-8")
    for path in [*assets.rglob("*.wasm"), *assets.rglob("*.whl")]:
        path.rename(path.with_suffix(".away"))
        with pytest.raises(NotFoundError, match=path.name) as refused:
            find_assets(assets)
        _, line = refused.value.hint.split(": ")
        assert line.replace(str(assets), "ASSETS") in page  # with which it is made
        path.with_suffix(".away").rename(path)
    assert set(find_assets(assets)) == {names[-1] for names in ASSETS} | {WHEEL}
    next(assets.rglob(LOCK)).write_text("{}", encoding="utf-8")
    with pytest.raises(DamagedError, match="NumPy"):
        find_assets(assets)


@pytest.mark.parametrize(("format", "folder"), [("page", None), ("ctranslate2", ".")])
def test_only_a_page_takes_assets_and_it_needs_them(
    bundled: ModelDirectory, tmp_path: Path, format: Any, folder: str | None
) -> None:
    with pytest.raises(OptionError, match="assets"):
        nmt.export(bundled.directory, tmp_path / "written", format, assets=folder)
    assert not (tmp_path / "written").exists()
