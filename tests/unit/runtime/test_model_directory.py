import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from nmt_cli.errors import DamagedError, NotFoundError
from nmt_cli.files import hash_file
from nmt_cli.runtime.model_directory import ModelDirectory, publish_directory
from nmt_cli.runtime.onnx_engine import OnnxEngine
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.request import TranslationRequest

BUNDLED_MODEL = Path(__file__).parents[3] / "data/models/eng-deu/nmt_model_eng_deu/model"


@pytest.fixture
def model(untrained_model: Path, tmp_path: Path) -> Path:
    return copytree(untrained_model, tmp_path / "model")


def test_a_copied_model_translates_as_the_original_does(untrained_model: Path, model: Path) -> None:
    config, lines = SearchOptions(beam_size=2), ["bade giko.", "lu."]
    first, second = (
        TranslationRequest(path).load().translate(lines, TranslateOptions(config)) for path in (untrained_model, model)
    )
    assert [translation.text for translation in first] == [translation.text for translation in second]
    scores = [[translation.hypotheses[0].score for translation in translations] for translations in (first, second)]
    assert scores[0] == scores[1]


def test_a_model_of_links_translates_as_the_original_does(model: Path, tmp_path: Path) -> None:
    """As caches of large files are: links to files with other names, which ONNX Runtime on its own would refuse."""
    (linked := tmp_path / "linked").mkdir()
    for number, path in enumerate(sorted(model.iterdir())):
        (linked / path.name).symlink_to(path.rename(tmp_path / str(number)))
    assert TranslationRequest(linked).load().translate(["bade giko."], TranslateOptions(SearchOptions()))[0].text


@pytest.mark.parametrize("precision", ["float", "int8"])
def test_a_model_whose_files_are_hard_links_translates_as_the_original(
    untrained_model: Path, model: Path, tmp_path: Path, precision: str
) -> None:
    """As after `cp -al`: the files of both directories are the same, and both have to work."""
    (linked := tmp_path / "linked").mkdir()
    for path in filter(Path.is_file, model.iterdir()):
        (linked / path.name).hardlink_to(path)
    lines = ["bade giko.", "lu."]
    texts = [
        [
            line.text
            for line in TranslationRequest(path, precision=precision)
            .load()
            .translate(lines, TranslateOptions(SearchOptions()))
        ]
        for path in (untrained_model, model, linked)
    ]
    assert texts[0] == texts[1] == texts[2]


def test_hard_links_to_large_weights_in_loops_translate_as_the_original(tmp_path: Path) -> None:
    """The recurrence of a model of usual size has weights in a file of their own, inside a loop of the graph."""
    copytree(BUNDLED_MODEL, tmp_path / "model")
    (linked := tmp_path / "linked").mkdir()
    for path in filter(Path.is_file, (tmp_path / "model").iterdir()):
        (linked / path.name).hardlink_to(path)
    texts = [
        TranslationRequest(path).load().translate(["Where is Tom?"], TranslateOptions(SearchOptions()))[0].text
        for path in (BUNDLED_MODEL, tmp_path / "model", linked)
    ]
    assert texts[0] == texts[1] == texts[2]


def test_a_graph_that_cannot_run_is_reported_in_words_of_our_own(model: Path) -> None:
    (model / "encoder.onnx").write_bytes(b"\x08\x08 no graph")
    with pytest.raises(DamagedError) as caught:
        OnnxEngine(model)
    assert caught.value.message == f"{model}/encoder.onnx is not a graph that the installed ONNX Runtime can run"


@pytest.mark.parametrize("name", ["encoder.onnx", "decoder.onnx", "decoder.onnx.data", "joint.spm", "profile.txt"])
def test_a_missing_file_is_named(model: Path, name: str) -> None:
    (model / name).unlink()
    with pytest.raises(DamagedError, match=f"{name} is missing"):
        ModelDirectory.load(model)


@pytest.mark.parametrize("name", ["encoder.onnx", "decoder.onnx", "decoder.onnx.data", "joint.spm", "profile.txt"])
def test_one_changed_byte_is_noticed(model: Path, name: str) -> None:
    content = bytearray((model / name).read_bytes())
    content[len(content) // 2] ^= 1
    (model / name).write_bytes(content)
    with pytest.raises(DamagedError, match=f"{name} is damaged"):
        ModelDirectory.load(model)


def test_no_model_is_told_with_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        ModelDirectory.load(tmp_path / "model")
    assert "`nmt prepare corpus.tsv`" in caught.value.hint  # nothing is prepared here


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '"x"'])
def test_a_card_that_is_no_card_is_damaged(model: Path, content: str) -> None:
    (model / "model.json").write_text(content)
    with pytest.raises(DamagedError, match=r"model\.json"):
        ModelDirectory.load(model)


def test_a_card_with_a_word_for_a_table_is_damaged(model: Path) -> None:
    card = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps({**card, "precision": "float"}))
    with pytest.raises(DamagedError, match=r"model\.json is damaged: precision is \"float\"; it must be an object"):
        ModelDirectory.load(model)


def test_a_card_of_another_format_is_told(model: Path) -> None:
    card = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps({**card, "format": 99}))
    with pytest.raises(DamagedError, match="format 99"):
        ModelDirectory.load(model)


@pytest.mark.parametrize("source", [{"growth": 2}, {"type": "features"}, {"type": "image", "limit": 3}])
def test_a_card_whose_source_is_none_of_ours_is_damaged(model: Path, source: dict[str, object]) -> None:
    card = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps({**card, "source": source}))
    with pytest.raises(DamagedError, match=r"model\.json is damaged: (there is no entry )?source\."):
        ModelDirectory.load(model).load_source()


def test_a_failed_publication_leaves_the_old_model_as_it_was(model: Path) -> None:
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    with pytest.raises(OSError), publish_directory(model) as staged:
        (staged / "encoder.onnx").write_text("half")
        raise OSError
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before
    ModelDirectory.load(model)


def test_a_card_names_no_place_on_this_machine(model: Path) -> None:
    assert str(model.parent) not in (model / "model.json").read_text()
    assert "/" not in "".join(json.loads((model / "model.json").read_text())["checksums"])


def test_a_model_knows_what_its_training_text_looked_like(model: Path) -> None:
    profile = ModelDirectory.load(model).load_profile()
    assert profile is not None and profile.source is not None
    assert {"b", "a", "d", "e"} <= profile.source.characters


def test_a_model_that_an_earlier_version_taught_corrections_still_translates(model: Path) -> None:
    """It keeps them, and the model that it was before."""
    copytree(model, model / "previous")
    (model / "corrections.tsv").write_text("bade\tgiko\n", encoding="utf-8")
    checksums = ModelDirectory.load(model).card.checksums | {"corrections.tsv": hash_file(model / "corrections.tsv")}
    change_card(model, checksums=checksums, parent={"name": "previous", "weights": "0" * 64})
    for path in (model, model / "previous"):
        assert TranslationRequest(path).load().translate(["bade giko."], TranslateOptions(SearchOptions()))[0].text


def test_a_profile_that_is_none_is_damage(model: Path) -> None:
    (model / "profile.txt").write_text("{}\n")
    card = json.loads((model / "model.json").read_text())
    card["checksums"]["profile.txt"] = hash_file(model / "profile.txt")
    (model / "model.json").write_text(json.dumps(card))
    with pytest.raises(DamagedError, match=r"profile\.txt cannot be read"):
        ModelDirectory.load(model).load_profile()


def change_card(model: Path, **changes: Any) -> None:
    """Changes entries of a card: `{"source.limit": 0}` is the entry `limit` of `source`."""
    path = model / "model.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        *outer, last = key.split(".")
        entries = card
        for name in outer:
            entries = entries[name]
        entries[last] = value
    path.write_text(json.dumps(card), encoding="utf-8")


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("source.limit", "abc", 'source.limit is "abc"; it must be a whole number or null'),
        ("source.limit", 0, "source.limit is 0; it must be from 1 to 1e+09"),
        ("source.length_factor", 10**400, "source.length_factor is not a finite number"),
        ("source.length_factor", float("nan"), "source.length_factor is not a finite number"),
        ("source.length_factor", -1, "source.length_factor is -1.0; it must be from 0.01 to 10000"),
        ("training.placeholders", "x", 'training.placeholders is "x"; it must be a number'),
        ("tokenizer.kind", "zz", 'tokenizer.kind is "zz"; it must be "unigram" or "bpe" or "char" or "word"'),
        (
            "source_tokenizer",
            "/etc/passwd",
            'source_tokenizer is "/etc/passwd"; it must be the name of a file in the same directory',
        ),
        ("precision.default", "../x", 'precision.default is "../x"; it must be "float" or "int8"'),
        ("epochs", -3, "epochs is -3; it must be from 0 to 9.0072e+15"),
        ("development.bleu", 7, "development.bleu is 7; it must be an object"),
        ("versions", [], "versions is a list; it must be an object"),
    ],
)
def test_a_hostile_entry_of_a_card_is_named(model: Path, key: str, value: object, problem: str) -> None:
    change_card(model, **{key: value})
    with pytest.raises(DamagedError) as caught:
        ModelDirectory.load(model)
    assert caught.value.message == f"{model}/model.json is damaged: {problem}"


def test_a_tokenizer_of_another_size_is_noticed(model: Path) -> None:
    change_card(model, **{"vocabularies.target": 7})
    with pytest.raises(DamagedError, match=r"subwords; model\.json says 7"):
        ModelDirectory.load(model).load_target_tokenizer()


@pytest.mark.parametrize(
    ("source", "target", "problem"),
    [
        ("encoder.onnx", "decoder.onnx", "decoder.onnx is not the graph of a decoder"),
        ("decoder.onnx", "encoder.onnx", "encoder.onnx is not the graph of an encoder"),
    ],
)
def test_graphs_that_were_exchanged_are_noticed(model: Path, source: str, target: str, problem: str) -> None:
    for suffix in ("", ".data"):
        if (model / f"{source}{suffix}").exists():
            (model / f"{target}{suffix}").write_bytes((model / f"{source}{suffix}").read_bytes())
    with pytest.raises(DamagedError, match=problem):
        OnnxEngine(model, is_private=True)  # where the weights of both are found
