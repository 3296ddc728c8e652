"""A Transformer written for another program translates there as here, and what the program lacks is refused."""

import json
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import keras
import pytest
from typer.testing import CliRunner

import nmt_cli as nmt
from nmt_cli.cli.app import app
from nmt_cli.errors import OptionError
from nmt_cli.model.config import Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.runtime.model_directory import CARD, WEIGHTS, read_card
from nmt_cli.training.checkpoints import save_weights
from nmt_cli.translation.forced import force_lines
from support.models import tiny_config, toy_pairs

SOURCES, TARGETS = map(list, zip(*toy_pairs(60), strict=True))


@pytest.fixture(scope="module")
def export_transformer(
    export_kind: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Path]:
    """Makes Transformers with their initial weights, also in the file that an export reads."""

    def export(**options: object) -> Path:
        options["architecture"] = "transformer"
        model = shutil.copytree(export_kind(**options), tmp_path_factory.mktemp("export") / "model")
        keras.utils.set_random_seed(4)  # as `export_untrained` does
        save_weights(Seq2Seq(tiny_config(**options), Vocabularies(**read_card(model).vocabularies)), model / WEIGHTS)
        return model

    return export


@pytest.mark.skipif(find_spec("ctranslate2") is None, reason="needs the program")
@pytest.mark.parametrize(
    "options", [{}, {"positions": "learned", "max_positions": 60}, {"tied": False}], ids=["plain", "learned", "untied"]
)
def test_ctranslate2_gives_every_token_the_probability_that_nmt_gives_it(
    export_transformer: Callable[..., Path], options: dict[str, object], tmp_path: Path
) -> None:
    import ctranslate2
    from sentencepiece import SentencePieceProcessor

    transformer = export_transformer(**options)
    written = nmt.export(transformer, tmp_path / "c", "ctranslate2")
    source, target = (SentencePieceProcessor(model_file=str(written / f"{side}.spm")) for side in ("source", "target"))
    there = ctranslate2.Translator(str(written), compute_type="float32", intra_threads=1)
    theirs = there.score_batch(source.encode(SOURCES, out_type=str), target.encode(TARGETS, out_type=str))
    ours = force_lines(nmt.load(transformer, precision="float", threads=1)._translator, SOURCES, TARGETS)
    for scored, forced in zip(theirs, ours, strict=True):
        assert scored.log_probs == pytest.approx(forced.log_probabilities, abs=1e-3)


@pytest.mark.parametrize(
    ("network", "reason"), [({}, "recurrent"), ({"architecture": "transformer", "fixed_norm": True}, "fixed-norm")]
)
def test_what_another_program_lacks_is_refused_with_the_reason(
    untrained_model: Path, tmp_path: Path, network: dict[str, object], reason: str
) -> None:
    model = shutil.copytree(untrained_model, tmp_path / "model")
    card = json.loads((model / CARD).read_text(encoding="utf-8"))
    if network:
        card["network"] = tiny_config(**network).to_mapping()
        (model / CARD).write_text(json.dumps(card), encoding="utf-8")
    arguments = ["--model", str(model), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["translate", "--export", "ctranslate2", *arguments])
    assert result.exit_code == 2
    assert reason in result.stderr
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.parametrize(
    ("tags", "shown"),
    [
        ({"ui": 5}, "before the subwords of the source: ⟦ui⟧"),
        ({">nld": 5, ">deu": 9}, "before the subwords of the source: ⟦>nld⟧ ⟦>deu⟧"),
    ],
)
def test_how_to_ask_for_a_tag_is_said(
    export_transformer: Callable[..., Path], tmp_path: Path, tags: dict[str, int], shown: str
) -> None:
    model = export_transformer()
    card = json.loads((model / CARD).read_text(encoding="utf-8"))
    (model / CARD).write_text(json.dumps(card | {"tags": tags, "target_language": "deu"}), encoding="utf-8")
    command = ["translate", "--export", "ctranslate2", "--model", str(model), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0 and shown in " ".join(result.stderr.split())


def test_an_export_needs_a_directory_that_is_not_there_yet(
    export_transformer: Callable[..., Path], tmp_path: Path
) -> None:
    command = ["translate", "--export", "ctranslate2", "--model", str(export_transformer())]
    assert "-o FOLDER" in CliRunner().invoke(app, command).stderr
    (tmp_path / "mine").touch()
    assert CliRunner().invoke(app, [*command, "-o", str(tmp_path)]).exit_code == 73
    assert CliRunner().invoke(app, [*command, "-o", str(tmp_path), "--force"]).exit_code == 0
    names = "config.json model.bin source.spm source_vocabulary.json target.spm target_vocabulary.json"
    assert sorted(path.name for path in tmp_path.iterdir()) == names.split()


@pytest.mark.parametrize("format", ["marian", "CTranslate2", "onnx"])
def test_a_format_that_nmt_does_not_write_is_answered_with_those_that_it_writes(tmp_path: Path, format: str) -> None:
    result = CliRunner().invoke(app, ["translate", "--export", format, "-o", str(tmp_path / "out")])
    error, hint = result.stderr.splitlines()
    assert error == f"error: --export cannot be {format!r}" and "ctranslate2" in hint
    with pytest.raises(OptionError, match=format) as raised:
        nmt.export("eng-deu", tmp_path / "out", format)  # type: ignore[arg-type]
    assert raised.value.hint.endswith("use one of ctranslate2, page")
    assert list(tmp_path.iterdir()) == []
