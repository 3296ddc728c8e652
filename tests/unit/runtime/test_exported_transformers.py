"""A Transformer written for another program translates there as here, and what the program lacks is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import keras
import pytest
from typer.testing import CliRunner

import nmt_cli as nmt
from nmt_cli.cli.app import app
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.model.vocabularies import Vocabularies
from nmt_cli.runtime.model_directory import CARD, WEIGHTS, read_card
from nmt_cli.training.checkpoints.checkpoint import save_weights
from nmt_cli.translation.forced import force_lines
from support.models import tiny_config, toy_pairs

SOURCES, TARGETS = map(list, zip(*toy_pairs(60), strict=True))


@pytest.fixture(scope="module", params=[{}, {"positions": "learned", "max_positions": 60}, {"tied": False}])
def transformer(
    request: pytest.FixtureRequest, export_kind: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A Transformer with its initial weights, also in the file that an export reads."""
    options = {"architecture": "transformer", "layers": 2, **request.param}
    model = tmp_path_factory.mktemp("export") / "model"
    shutil.copytree(export_kind(**options), model)
    keras.utils.set_random_seed(4)  # as `export_untrained` does
    save_weights(Seq2Seq(tiny_config(**options), Vocabularies(**read_card(model).vocabularies)), model / WEIGHTS)
    return model


def test_ctranslate2_gives_every_token_the_probability_that_nmt_gives_it(transformer: Path, tmp_path: Path) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2")
    from sentencepiece import SentencePieceProcessor

    written = nmt.export(transformer, tmp_path / "c", "ctranslate2")
    source, target = (SentencePieceProcessor(model_file=str(written / f"{side}.spm")) for side in ("source", "target"))
    there = ctranslate2.Translator(str(written), compute_type="float32", intra_threads=1)
    theirs = there.score_batch(source.encode(SOURCES, out_type=str), target.encode(TARGETS, out_type=str))
    ours = force_lines(nmt.load(transformer, precision="float", threads=1)._translator, SOURCES, TARGETS)
    for scored, forced in zip(theirs, ours, strict=True):
        assert scored.log_probs == pytest.approx(forced.log_probabilities, abs=1e-3)


@pytest.mark.skipif(shutil.which("pymarian") is None, reason="Marian is not installed: pip install pymarian")
def test_marian_gives_every_translation_the_probability_that_nmt_gives_it(transformer: Path, tmp_path: Path) -> None:
    written = nmt.export(transformer, tmp_path / "m", "marian")
    texts = {"sources": SOURCES, "targets": TARGETS}
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = ["pymarian", "score", "--cpu-threads", "1", "--quiet", "-w", "200", "-m", written / "model.npz"]
    command += ["-v", written / "source.spm", written / "target.spm", "-t", *(tmp_path / name for name in texts)]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    ours = force_lines(nmt.load(transformer, precision="float", threads=1)._translator, SOURCES, TARGETS)
    sums = [sum(forced.log_probabilities) for forced in ours]
    assert [float(score) for score in theirs] == pytest.approx(sums, abs=1e-2)


@pytest.mark.parametrize(
    ("options", "format", "reason"),
    [
        ({"attention": "additive"}, "ctranslate2", "recurrent"),
        ({"architecture": "transformer", "fixed_norm": True}, "ctranslate2", "fixed-norm"),
        ({"attention": "additive"}, "marian", "recurrent"),
        ({"architecture": "transformer", "fixed_norm": True}, "marian", "fixed-norm"),
    ],
)
def test_what_another_program_lacks_is_refused_with_the_reason(
    export_kind: Callable[..., Path], tmp_path: Path, options: dict[str, object], format: str, reason: str
) -> None:
    arguments = ["--model", str(export_kind(**options)), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["translate", "--export", format, *arguments])
    assert result.exit_code == 2
    assert reason in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("tags", "format", "told"),
    [
        ({"ui": 5, "formal": 1}, "marian", "cannot ask for ⟦ui⟧ ⟦formal⟧"),
        ({"ui": 5}, "ctranslate2", "in front of the pieces of a source: ⟦ui⟧"),
        ({">nld": 5, ">deu": 9}, "ctranslate2", "in front of the pieces of a source: ⟦>nld⟧ ⟦>deu⟧"),
        ({">nld": 5, ">deu": 9}, "marian", "hint: --export ctranslate2 takes tags"),
    ],
)
def test_tags_are_told_or_refused(
    export_kind: Callable[..., Path], tmp_path: Path, tags: dict[str, int], format: str, told: str
) -> None:
    options = {"architecture": "transformer", "layers": 2}
    model = shutil.copytree(export_kind(**options), tmp_path / "model")
    save_weights(Seq2Seq(tiny_config(**options), Vocabularies(**read_card(model).vocabularies)), model / WEIGHTS)
    card = json.loads((model / CARD).read_text(encoding="utf-8"))
    (model / CARD).write_text(json.dumps(card | {"tags": tags, "target_language": "deu"}), encoding="utf-8")
    command = ["translate", "--export", format, "--model", str(model), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, command)
    assert told in " ".join(result.stderr.split())
    assert (result.exit_code == 0) is (tmp_path / "out").is_dir() is ("hint" not in told)


def test_an_export_needs_a_directory_that_is_not_there_yet(transformer: Path, tmp_path: Path) -> None:
    command = ["translate", "--export", "ctranslate2", "--model", str(transformer)]
    assert "-o FOLDER" in CliRunner().invoke(app, command).stderr
    (tmp_path / "mine").touch()
    assert CliRunner().invoke(app, [*command, "-o", str(tmp_path)]).exit_code == 73
    assert CliRunner().invoke(app, [*command, "-o", str(tmp_path), "--force"]).exit_code == 0
    names = "config.json model.bin source.spm source_vocabulary.json target.spm target_vocabulary.json"
    assert sorted(path.name for path in tmp_path.iterdir()) == names.split()
