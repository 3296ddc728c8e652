"""`data/models/corpus.py`: what is held out for the bundled models is in no other set and not in training."""

from itertools import combinations
from pathlib import Path
from types import ModuleType

import pytest

from support.scripts import load_script

SETS = [f"{split}/{name}" for split in ("dev", "test") for name in ("tatoeba", "help", "pages", "ui")]


def read_texts(path: Path) -> list[tuple[str, ...]]:
    return [tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def corpus_script() -> ModuleType:
    return load_script("data/models/corpus.py")


@pytest.fixture(scope="module")
def real_corpus(corpus_script: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus whose pages and catalogues share a tenth of their texts with others."""
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
    corpus_script.make_corpus(
        directory / "tatoeba.tsv", directory / "help.tsv", directory / "ui.tsv", directory / "made"
    )
    return directory


def test_no_text_is_in_two_sets(real_corpus: Path) -> None:
    texts = {
        name: {text for pair in read_texts(real_corpus / "made" / f"{name}.tsv") for text in pair} for name in SETS
    }
    texts["training"] = {text for pair in read_texts(real_corpus / "made" / "eng-deu.tsv") for text in pair}
    assert all(len(each) > 200 for each in texts.values())
    assert not [(one, other) for one, other in combinations(texts, 2) if texts[one] & texts[other]]


def test_pages_of_a_test_set_are_whole_but_for_texts_of_other_sets(real_corpus: Path) -> None:
    pages = {row[0]: row[2] for row in read_texts(real_corpus / "help.tsv")[1:5400]}
    elsewhere = {
        row[0] for name in SETS if name != "test/pages" for row in read_texts(real_corpus / "made" / f"{name}.tsv")
    }
    held = {row[0] for row in read_texts(real_corpus / "made" / "test/pages.tsv")}
    chosen = {pages[text] for text in held}
    whole = {text for text, page in pages.items() if page in chosen}
    assert whole - held <= elsewhere
    assert len(chosen) < 45  # of 270: pages, not paragraphs, were drawn


def test_a_seed_draws_the_same_sets(corpus_script: ModuleType, real_corpus: Path, tmp_path: Path) -> None:
    corpus_script.make_corpus(*(real_corpus / f"{name}.tsv" for name in ("tatoeba", "help", "ui")), tmp_path)
    for path in sorted((real_corpus / "made").rglob("*.tsv")):
        assert (tmp_path / path.relative_to(real_corpus / "made")).read_bytes() == path.read_bytes()
