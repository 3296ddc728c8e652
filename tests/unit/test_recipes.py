"""The files of examples/recipes: each is taken by both commands, told in the README, and has the published widths."""

from __future__ import annotations

import sys
import tomllib
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import combinations, cycle
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest
from typer.testing import CliRunner

from nmt_cli.cli.app import app
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.model.config import ModelConfig
from nmt_cli.text.normalise import make_sentence_key
from nmt_cli.training.options import TrainOptions
from support.scripts import PROJECT, load_script

FOLDER = Path(__file__).parents[2] / "examples" / "recipes"
RECIPES = sorted(FOLDER.glob("*.toml"))


def table(path: Path, name: str) -> dict[str, object]:
    values = tomllib.loads(path.read_text(encoding="utf-8")).get(name, {})
    return {key.replace("-", "_"): value for key, value in values.items()}


def network(name: str) -> ModelConfig:
    known = {field.name for kind in ModelConfig.list_option_classes() for field in fields(kind)}
    values = table(FOLDER / f"{name}.toml", "train")
    return ModelConfig.from_options(**{key: value for key, value in values.items() if key in known})


def training(name: str) -> TrainOptions:
    known = {field.name for field in fields(TrainOptions)}
    values = table(FOLDER / f"{name}.toml", "train")
    return TrainOptions(**{key: value for key, value in values.items() if key in known})


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_both_commands_take_the_file_and_then_miss_only_the_corpus(path: Path, tmp_path: Path) -> None:
    trained = CliRunner().invoke(app, ["train", "--config", str(path), "--data", str(tmp_path / "none")])
    assert "there is no prepared corpus" in trained.stderr
    prepared = CliRunner().invoke(app, ["prepare", str(tmp_path / "none.tsv"), "--config", str(path)])
    assert f"{tmp_path / 'none.tsv'}" in prepared.stderr
    assert "--config" not in prepared.stderr


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_file_says_first_what_it_reproduces_and_the_readme_lists_it(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("# ")
    assert f"[{path.stem}]({path.name})" in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "attention", "cell", "embedding", "of_a_direction", "units", "readout", "batch", "epochs"),
    [
        ("tf-in-action-11", "none", "gru", 128, 128, 256, 512, 128, 5),
        ("tf-in-action-12", "additive", "gru", 128, 128, 256, 512, 128, 5),
        ("geron", "dot", "lstm", 128, 256, 512, 512, 32, 10),
        ("tf-nmt-with-attention", "scaled-dot", "gru", 256, 256, 256, 256, 64, 13),
        ("bahdanau-2015", "additive", "gru", 620, 1000, 1000, 500, 80, 5),
    ],
)
def test_the_widths_are_the_published_ones(
    name: str,
    attention: str,
    cell: str,
    embedding: int,
    of_a_direction: int,
    units: int,
    readout: int,
    batch: int,
    epochs: int,
) -> None:
    config = network(name)
    assert (config.attention, config.cell, config.bidirectional) == (attention, cell, True)
    assert (config.embedding, config.encoder_width // 2, config.units) == (embedding, of_a_direction, units)
    assert config.readout_width == readout
    assert (training(name).batch, training(name).epochs) == (batch, epochs)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_is_the_same_for_every_corpus(path: Path) -> None:
    fitted = {"attention", "embedding", "units", "dropout", "batch", "epochs", "learning_rate"}
    options = table(path, "train")
    left_open = fitted - options.keys()
    if "time" in options:  # an hour is for large corpora
        assert left_open <= {"batch", "epochs"}
    elif options.get("architecture") == "transformer":
        assert left_open <= {"attention", "units", "learning_rate"}
    else:
        assert not left_open


def test_luongs_network_is_the_published_one() -> None:
    config = network("luong-2015")
    assert (config.attention, config.input_feeding, config.cell, config.bidirectional) == (
        "general",
        True,
        "lstm",
        False,
    )
    assert (config.layers, config.embedding, config.encoder_width, config.units) == (4, 1000, 1000, 1000)
    assert (config.readout_width, config.dropout) == (1000, 0.2)
    assert (training("luong-2015").batch, training("luong-2015").clip) == (128, 5.0)


def test_the_words_of_tensorflow_in_action_stand_ten_times_or_more() -> None:
    config = PrepareOptions(**table(FOLDER / "tf-in-action-12.toml", "prepare"))
    assert (config.tokenizer, config.min_count, config.separate_vocabularies) == ("word", 10, True)
    assert table(FOLDER / "tf-in-action-11.toml", "prepare") == table(FOLDER / "tf-in-action-12.toml", "prepare")


# `data/models/renew.py`: the bundled models learn nothing that is held out, whatever the distilling model writes.

SETS = ("tatoeba", "help", "pages", "ui")
FILES = (("tatoeba", 0), ("help_pages", 1), ("interface", 2), ("captions", 0), ("catalogues", 1))  # and their columns


class LeakingModel:
    """Translates each source as a text that is held out, in its own case or another."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = cycle(form(text) for text in texts for form in (str, str.upper))

    def __enter__(self) -> LeakingModel:
        return self

    def __exit__(self, *exception: object) -> None: ...

    def stream(self, sources: Iterable[str], *, context: int) -> Iterator[str]:
        return (text for _, text in zip(sources, self.texts, strict=False))


@pytest.fixture
def renew(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with small held-out sets, and learning from whatever the model writes."""
    monkeypatch.syspath_prepend(str(PROJECT / "data/models"))
    for name in ("corpus", "make"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    script = load_script("data/models/renew.py")
    corpus = sys.modules["corpus"]
    monkeypatch.setattr(corpus, "TEST", dict.fromkeys(SETS, 20))
    monkeypatch.setattr(corpus, "DEV", dict.fromkeys(SETS, 10))
    monkeypatch.setattr(script, "CLOSE", 0.0)
    return script


@pytest.fixture
def corpora(tmp_path: Path) -> Namespace:
    """Real sentences as three corpora, in which each tenth is also in the one before, in capitals."""
    pairs = [line.split("\t") for line in (PROJECT / "data/eng-deu.tsv").read_text(encoding="utf-8").splitlines()]
    files = {}
    for number, (name, columns) in enumerate(FILES):
        part = pairs[300 * number : 300 * (number + 1)]
        part += [[text.upper() for text in pair] for pair in pairs[300 * (number + 1) : 300 * (number + 2) : 10]]
        rows = [[*pair, *[""] * (columns - 1), *[str(row % 30)] * (columns > 0), ""] for row, pair in enumerate(part)]
        header = ["eng\tdeu\tgroup"] if columns else []
        files[name] = tmp_path / f"{name}.tsv"
        files[name].write_text("".join(f"{line}\n" for line in [*header, *map("\t".join, rows)]), encoding="utf-8")
    return Namespace(**files, distil=[], go_on=False, profiles=False)


def list_keys(lines: Iterable[str], side: int) -> set[str]:
    return {make_sentence_key(line.split("\t")[side]) for line in lines}


def test_no_held_out_sentence_is_learned_even_if_distilled(
    renew: ModuleType, corpora: Namespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"

    def read_held_out() -> list[str]:
        splits = (work / f"corpus/{split}.tsv" for split in ("dev", "test"))
        return [line for path in splits for line in path.read_text().splitlines()[1:]]

    def load(name: str, *, ensemble: object) -> LeakingModel:
        side = 1 if name == "eng-deu" else 0
        texts = [line.split("\t")[side] for line in read_held_out()]
        return LeakingModel([*texts, ("It stands nowhere else.", "Das steht sonst nirgends.")[side]])

    monkeypatch.setattr(renew.nmt, "load", load)
    renew.prepare(corpora, work)
    held_out = read_held_out()
    assert len(held_out) >= 120
    written = ("das steht sonst nirgends.", "it stands nowhere else.")  # all others would leak
    for number, name in enumerate(("eng-deu", "deu-eng")):
        distilled = (work / f"corpus/distilled-{name}.tsv").read_text().splitlines()
        assert list_keys(distilled, 1 - number) == {written[number]}
        prepared = PreparedCorpus.load(work / f"distilled/prepared-{name}")
        learned = [f"{pair.source}\t{pair.target}" for pair in prepared.read_pairs("train")]
        assert len(learned) > 400
        for side in (0, 1):
            assert list_keys(learned, side).isdisjoint(list_keys(held_out, side))


# `data/models/corpus.py`: what is held out for the bundled models is in no other set and not in training.


TRAINED = ("tatoeba", "help", "ui", "labels", "messages", "phrases", "words", "everyday", "names")
MADE_SETS = [f"{split}/{name}" for split in ("dev", "test") for name in ("tatoeba", "help", "pages", "ui")]


def read_texts(path: Path) -> list[tuple[str, ...]]:
    return [tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def corpus_script() -> ModuleType:
    return load_script("data/models/corpus.py")


@pytest.fixture(scope="module")
def real_corpus(corpus_script: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus whose pages and catalogues share a tenth of their texts with others; packages have all of them."""
    directory = tmp_path_factory.mktemp("corpus")
    everyday = [f"sentence {number % 5700}\tSatz {number}" for number in range(6000)]
    (directory / "tatoeba.tsv").write_text("\n".join(everyday) + "\n")
    for name, groups in (("help", 300), ("ui", 60)):
        rows = [
            f"{name} {number % 5400}\t{name} deutsch {number % 5400}\t{number // (6000 // groups)}\t{number % groups}"
            for number in range(6000)
        ]
        columns = (
            rows if name == "help" else ["\t".join([*row.split("\t")[:2], "", row.split("\t")[2]]) for row in rows]
        )
        (directory / f"{name}.tsv").write_text("\n".join(["English\tdeu\tpage\tid", *columns]) + "\n")
    packages = [row[:2] for name in ("tatoeba", "help", "ui") for row in read_texts(directory / f"{name}.tsv")]
    packages += [(f"a label {number}", f"ein Wort {number}") for number in range(300)]
    (directory / "packages.tsv").write_text("".join("\t".join((*row, "package")) + "\n" for row in packages))
    files = [directory / f"{name}.tsv" for name in ("tatoeba", "help", "ui")]
    corpus_script.make_corpus(*files, directory / "made", catalogues=directory / "packages.tsv")
    return directory


def test_no_text_is_in_two_sets(real_corpus: Path) -> None:
    texts = {
        name: {text for pair in read_texts(real_corpus / "made" / f"{name}.tsv") for text in pair} for name in MADE_SETS
    }
    training = [pair for name in TRAINED for pair in read_texts(real_corpus / "made" / f"{name}.tsv")]
    texts["training"] = {text for pair in training for text in pair[:2]}
    assert all(len(each) > 200 for each in texts.values())
    assert not [(one, other) for one, other in combinations(texts, 2) if texts[one] & texts[other]]


def test_pages_of_a_test_set_are_whole_but_for_texts_of_other_sets(real_corpus: Path) -> None:
    pages = {row[0]: row[2] for row in read_texts(real_corpus / "help.tsv")[1:5400]}
    elsewhere = {
        row[0] for name in MADE_SETS if name != "test/pages" for row in read_texts(real_corpus / "made" / f"{name}.tsv")
    }
    held = {row[0] for row in read_texts(real_corpus / "made" / "test/pages.tsv")}
    chosen = {pages[text] for text in held}
    whole = {text for text, page in pages.items() if page in chosen}
    assert whole - held <= elsewhere
    assert len(chosen) < 45  # of 270: pages, not paragraphs, were drawn


def test_no_phrase_of_the_benchmark_is_learned_in_any_case(corpus_script: ModuleType, tmp_path: Path) -> None:
    rows = read_texts(PROJECT / "benchmarks/phrases.tsv")
    sides = [(choice.upper() + "!" for choice in cycle(side.split(" | "))) for row in rows for side in row[:2]]
    tested = [pair for _ in range(10) for pair in zip(*(map(next, sides[side::2]) for side in (0, 1)), strict=True)]
    others = [(f"text {number}", f"Text {number}") for number in range(9000)]
    for name, columns in (("tatoeba", 0), ("help", 2), ("ui", 2)):
        header = [("English", "deu", "page", "id")] if columns else []
        pairs = [*tested, *((f"{name} {source}", f"{name} {target}") for source, target in others)]
        grouped = ((*pair, str(number // 20), str(number // 20)) for number, pair in enumerate(pairs))
        lines = map("\t".join, [*header, *(row[: 2 + columns] for row in grouped)])
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = (tmp_path / f"{name}.tsv" for name in ("tatoeba", "help", "ui"))
    corpus_script.make_corpus(*files, tmp_path / "made")
    learned = [pair for name in TRAINED for pair in read_texts(tmp_path / "made" / f"{name}.tsv")]
    for side in (0, 1):
        keys = {corpus_script.key_phrase(pair[side]) for pair in learned}
        assert keys.isdisjoint(corpus_script.key_phrase(pair[side]) for pair in tested)


def test_a_seed_draws_the_same_sets(corpus_script: ModuleType, real_corpus: Path, tmp_path: Path) -> None:
    files = (real_corpus / f"{name}.tsv" for name in ("tatoeba", "help", "ui"))
    corpus_script.make_corpus(*files, tmp_path, catalogues=real_corpus / "packages.tsv")
    for path in sorted((real_corpus / "made").rglob("*.tsv")):
        assert (tmp_path / path.relative_to(real_corpus / "made")).read_bytes() == path.read_bytes()


# `data/models/catalogues.py`: the texts of a package are paired by file and key, and what is no translation is dropped.


@pytest.fixture
def catalogues(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(PROJECT / "data/models"))
    return load_script("data/models/catalogues.py")


@pytest.mark.parametrize(
    ("files", "pairs"),
    [
        ({"de/django.po": 'msgid "Cart"\nmsgstr "Korb"\n\n#, fuzzy\nmsgid "Size"\nmsgstr "Maß"\n'}, [("Cart", "Korb")]),
        ({"en-US.json": '{"a": {"b": "Cart"}}', "de-DE.json": '{"a": {"b": "Korb", "c": "Maß"}}'}, [("Cart", "Korb")]),
        ({"en-0b9a97f61d2c4e8f0a1b.json": '["Cart"]', "de-1b9a97f61d2c4e8f0a1b.json": '["Korb"]'}, [("Cart", "Korb")]),
        ({"en.json": '{"en": {"a": "Cart"}}', "de.json": '{"de": {"a": "Korb"}}'}, [("Cart", "Korb")]),
        ({"words.js": "x = {'Cart': {en: \"Cart\", de: 'K\\u00f6rbe'}};"}, [("Cart", "Körbe")]),
        ({"en.ts": "{a: {b: `Cart`}, c: 'Size'}", "de.ts": "{c: 'x', a: {b: 'Korb'}}"}, [("Cart", "Korb")]),
        ({"m.properties": "a.b = Cart\n", "m_de.properties": "# Korb\na.b=K\\u00f6rbe\n"}, [("Cart", "Körbe")]),
        ({"a/en-US/x.ftl": "a =\n    .b = Cart\nc = Size\n", "b/de/x.ftl": "a =\n    .b = Korb\n"}, [("Cart", "Korb")]),
    ],
)  # fmt: skip
def test_texts_of_a_package_are_paired_by_file_and_key(
    catalogues: ModuleType, tmp_path: Path, files: dict[str, str], pairs: list[tuple[str, str]]
) -> None:
    with ZipFile(tmp_path / "package.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    package = catalogues.Package("package", "pip", "MIT", files=("*.*",))
    read = catalogues.read_package(package, [tmp_path / "package.whl"])
    assert list(read) == [(*pair, "package") for pair in pairs]


@pytest.mark.parametrize(
    ("source", "target", "is_kept"),
    [
        ("Opening hours", "Öffnungszeiten", True),
        ("Delete {name}?", "{name} löschen?", True),
        ("Delete {name}?", "{file} löschen?", False),
        ("<b>Total</b>", "<b>Summe</b>", True),
        ("<b>Total</b>", "Summe", False),
        ("Hotel", "hotel", False),
        ("yyyy/MM/dd", "dd.MM.yyyy", False),
        ("{0} {1}", "{1} {0}", False),
        ("{n, plural, one {day} other {days}}", "{n, plural, one {Tag} other {Tage}}", False),
        ("Save", "Сохранить", False),
        ("Save your work", "Save all of your work", False),
        ("On", "Das Licht ist eingeschaltet und brennt", False),
    ],
)
def test_what_is_no_translation_is_dropped(catalogues: ModuleType, source: str, target: str, is_kept: bool) -> None:
    assert [*catalogues.clean([catalogues.Pair(source, target)], "")] == [(source, target, "")] * is_kept


def test_what_few_packages_say_is_left_out(catalogues: ModuleType) -> None:
    packages = [[catalogues.Pair("Total", "Summe", name)] for name in "abcd"]
    packages += [[catalogues.Pair("Total", "Alles", "e"), catalogues.Pair("All", "Alles", "e")]]
    assert catalogues.merge(packages) == [("Total", "Summe", "a"), ("All", "Alles", "e")]


def test_each_listed_package_is_free_to_pass_on(catalogues: ModuleType) -> None:
    packages = catalogues.read_list(catalogues.LIST)
    free = {"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "MPL-2.0", "Unicode-3.0"}
    assert len(packages) > 80 and {package.licence for package in packages} <= free
    assert all(package.version for package in packages if package.registry != "apt")
