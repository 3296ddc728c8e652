"""Reading inputs: what is normalised, what is reported, and that the number of processes changes nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.formats.inputs import CorpusFile
from nmt_cli.corpus.steps.build import write_rejected
from nmt_cli.corpus.steps.reading import CorpusInputs, read_pairs
from nmt_cli.corpus.steps.run_checks import run_checks
from nmt_cli.workers.choice import ExecutorConfig
from support.corpora import toy_pairs, write_tsv


def silent(stage: str, done: int, total: int) -> None:
    """A progress callback that tells nobody."""


def test_text_is_normalised_before_it_is_judged(tmp_path: Path) -> None:
    rows = [("Tom\u00a0 ran.", "Tom lief."), ("Cafe\u0301", "Café"), ("\u200b", "x"), ("Tom ran.", " Tom lief.")]
    inputs = CorpusInputs({"train": [CorpusFile(write_tsv(tmp_path / "a.tsv", rows))]}, PrepareConfig())
    pairs = read_pairs(inputs, PrepareConfig(), silent)
    assert pairs.source[:] == ["Tom ran.", "Café", "", "Tom ran."]
    run_checks(pairs, PrepareConfig(), lambda done: None)
    write_rejected(tmp_path / "r.gz", pairs)
    assert gzip.decompress((tmp_path / "r.gz").read_bytes()).decode() == (
        "empty\t\tx\t3\ta.tsv\nduplicate\tTom ran.\tTom lief.\t4\ta.tsv\n"
    )


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    path = write_tsv(tmp_path / "a.tsv", toy_pairs(50))
    inputs = CorpusInputs({"train": [CorpusFile(path)]}, PrepareConfig())
    read_pairs(inputs, PrepareConfig(), lambda *what: told.append(what))
    size = path.stat().st_size
    assert told == [("reading", 0, size), ("reading", size, size)]


def test_several_processes_read_what_one_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt_cli.corpus.steps.reading.CHUNK", 50)
    path = write_tsv(tmp_path / "a.tsv", [*toy_pairs(900), ("a &amp; b", "ü\u200b")])
    read = []
    for processes in (1, 2):
        inputs = CorpusInputs({"train": [CorpusFile(path), CorpusFile(path)]}, PrepareConfig())
        read.append(read_pairs(inputs, PrepareConfig(), silent, processes=ExecutorConfig(workers=processes)))
    one, two = read
    assert list(one.source) == list(two.source) and one.originals == two.originals
    for name, array in vars(one.facts).items():
        assert np.array_equal(array, getattr(two.facts, name)), name
