"""Captions learned through the real command line: which coloured shapes a picture has, and where."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from support.commands import nmt, succeed

SHAPES = Path(__file__).parents[2] / "examples" / "shapes.py"
TRAIN = "--units 64 --embedding 32 --attention-units 32 --batch 32 --learning-rate 0.01".split()
ROWS, COLUMNS = ("top", "middle", "bottom"), ("left", "centre", "right")


def learn_captions(directory: Path, pictures: int, epochs: int) -> Path:
    """Makes pictures, prepares and learns their captions, in `directory`; returns it."""
    subprocess.run([sys.executable, str(SHAPES), str(directory / "shapes"), "--pictures", str(pictures)], check=True)
    prepared = succeed(
        "prepare", "shapes/captions.tsv", "--source-type", "features", "--tokenizer", "word", cwd=directory
    )
    assert "no picture appears in two splits" in prepared.stderr
    assert f"{pictures:,}, of 9 regions with 12 features each" in prepared.stderr
    succeed("train", *TRAIN, "--epochs", str(epochs), cwd=directory)
    return directory


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory whose model has seen its pictures once."""
    return learn_captions(tmp_path_factory.mktemp("captions"), pictures=300, epochs=1)


@pytest.fixture(scope="module")
def learned_gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learn_captions(tmp_path_factory.mktemp("learned captions"), pictures=1500, epochs=20)


@pytest.mark.slow
def test_pictures_it_has_never_seen_are_described(learned_gallery: Path) -> None:
    told = json.loads(succeed("evaluate", "--metric", "exact", "--json", cwd=learned_gallery).stdout)
    assert told["references_per_sentence"] == 2
    assert told["sentences"] == 150
    assert told["scores"]["exact"]["value"] > 85


@pytest.mark.slow
def test_at_the_colour_of_the_second_shape_it_looks_where_the_shape_is(learned_gallery: Path) -> None:
    corpus = PreparedCorpus.load(learned_gallery / "prepared")
    translator = TranslationRequest(learned_gallery / "model").load().with_stored_pictures(corpus.load_pictures())
    names = [each.source for each in corpus.read_references("test")]
    hits = []
    for translation in translator.translate(names, TranslateOptions(SearchOptions())):
        best = translation.hypotheses[0]
        words = best.text.split()  # colour shape row column and colour shape row column
        if len(words) == 9 and words[7] in ROWS and words[8] in COLUMNS:
            region = 3 * ROWS.index(words[7]) + COLUMNS.index(words[8])
            hits.append(int(best.attention[5].argmax()) == region)
    assert len(hits) > 140
    assert sum(hits) / len(hits) > 0.85


def test_a_line_is_the_path_of_a_file_of_features(gallery: Path) -> None:
    out = succeed("translate", cwd=gallery, text="shapes/00001.npy\n\nshapes/00002.npy\n").stdout.splitlines()
    assert [bool(line) for line in out] == [True, False, True]
    for wrong, told in (("none.npy", "none.npy"), ("shapes/captions.tsv", "not a file of features")):
        done = nmt("translate", cwd=gallery, text=f"{wrong}\n")
        assert done.returncode in (65, 66)
        assert told in done.stderr and len(done.stderr.splitlines()) <= 2


def test_options_about_text_are_refused(gallery: Path) -> None:
    for option in (["--glossary", "terms.tsv"], ["--no-protect"], ["--max-words", "9"], ["--alignments"]):
        done = nmt("translate", *option, cwd=gallery, text="shapes/00001.npy\n")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"error: {option[0]} applies to text" in done.stderr


def test_a_wrong_line_ends_it_though_more_might_come(gallery: Path) -> None:
    command = [sys.executable, "-m", "nmt_cli", "translate"]
    with subprocess.Popen(command, cwd=gallery, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(b"none.npy\n")
        process.stdin.flush()  # and stays open: a thread of the command waits for the next line
        assert process.wait(timeout=60) == 66
        assert b"none.npy" in process.stderr.read()


def test_each_word_is_drawn_over_the_picture(gallery: Path) -> None:
    done = succeed("visualize", "shapes/00001.npy", "-o", "seen.svg", "-o", "-", cwd=gallery)
    drawn = (gallery / "seen.svg").read_text(encoding="utf-8")
    words = done.stdout.splitlines()[1].split()
    assert all(f">{word}</text>" in drawn for word in words)
    assert drawn.count("<image ") == len(words) + 1  # of each word and the end: the picture under its veil
    assert "3,3" in done.stdout and "diagonal" not in done.stdout
