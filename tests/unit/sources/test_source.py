"""The source side as text: rows, their limit, and how much longer than its source a target may become."""

import json
from pathlib import Path

import numpy as np
import pytest

from nmt_cli.arrays.rows import Ragged
from nmt_cli.arrays.types import END
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.sources.source import LENGTH_MARGIN, MIN_LENGTH_FACTOR, TextSource, measure_length_factor
from nmt_cli.text.symbols import TokenizerSettings
from nmt_cli.text.tokenizer import Tokenizer, train_tokenizer
from support.models import prepare_toy, write_pairs

CHARACTERS = TokenizerSettings(kind="char", lowercase=False)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(train_tokenizer(["abc abc", "cab"], CHARACTERS, vocabulary_size=None), CHARACTERS)


def test_a_long_line_is_read_to_the_limit_and_says_how_long_it_was(tokenizer: Tokenizer) -> None:
    source = TextSource(tokenizer, limit=4)
    short, exact, long = source.make_rows(["a", "abc", "abcabc"])  # characters, and the blank before them
    assert [row.full_length for row in (short, exact, long)] == [None, None, 7]
    assert source.label_positions(long) == ("▁", "a", "b", "c", "</s>")
    (limited,) = source.make_rows(["abcabc"], limit=2)
    assert (len(limited), limited.full_length) == (3, 7)


def test_a_batch_is_padded_behind_the_end(tokenizer: Tokenizer) -> None:
    source = TextSource(tokenizer)
    batch = source.make_batch(source.make_rows(["a", "abc"]))
    assert batch.shape == (2, 5)
    assert batch[0].tolist()[2:] == [END, 0, 0]
    assert batch[1, -1] == END


def test_a_blank_line_is_told_from_text(tokenizer: Tokenizer) -> None:
    assert [row.is_blank for row in TextSource(tokenizer).make_rows(["", " \u200b ", "a"])] == [True, True, False]


def test_the_length_factor_is_what_the_longest_target_needs() -> None:
    sources, targets = np.full(10, 5), np.full(10, 8)
    assert measure_length_factor(sources, targets) == MIN_LENGTH_FACTOR
    targets[3] = LENGTH_MARGIN + 60 - 1  # with its end 10 for each of the 6 positions, and what is added
    assert measure_length_factor(sources, targets) == pytest.approx(10, abs=0.02)
    assert measure_length_factor(sources, targets) * 6 + LENGTH_MARGIN >= 60 + LENGTH_MARGIN


def test_the_first_ids_of_each_sequence_are_kept() -> None:
    cut = Ragged.from_sequences([[[1, 2, 3], [], [4], [5, 6]]], vocabulary_size=9).truncate(2)
    assert [row.tolist() for row in cut] == [[1, 2], [], [4], [5, 6]]


def test_prepare_cuts_and_says_where(tmp_path: Path) -> None:
    rows = [(f"a{'b' * number}", f"c{'d' * number}") for number in range(1, 41)]
    write_pairs(tmp_path / "corpus.tsv", rows)
    config = PrepareOptions(tokenizer="char", max_source_length=31, dev="4", test="4")
    report = prepare(tmp_path / "corpus.tsv", tmp_path / "prepared", config, report=tmp_path / "r.json")
    cut = report.manifest.truncation
    assert [finding["count"] for finding in json.loads((tmp_path / "r.json").read_text())["findings"]] == [11]
    assert cut is not None and (cut.count, cut.action) == (11, "cut")  # of 30 to 40 b, a blank and an a
    assert (cut.examples[0].file, cut.examples[0].line) == ("corpus.tsv", 30)
    corpus = PreparedCorpus.load(tmp_path / "prepared")
    lengths = [corpus.load_encoded(split).source.lengths for split in ("train", "dev", "test")]
    assert max(length.max() for length in lengths) == 31
    assert corpus.source.to_mapping()["limit"] == 31
    assert max(len(pair.source) for split in ("train", "dev", "test") for pair in corpus.read_pairs(split)) == 41


def test_nothing_is_said_where_nothing_was_cut(tmp_path: Path) -> None:
    assert (
        prepare_toy(tmp_path, 100, max_source_length=1000, tokenizer="char", vocab_size=None).manifest.truncation
        is None
    )
