"""What benchmarks/quality.py counts; training and scoring have tests of their own."""

from __future__ import annotations

import importlib
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def quality(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("quality")


def test_without_punctuation_case_and_marks_cost_nothing(quality: Any) -> None:
    texts = quality.Translations(
        ["", ""], ["Geh' nach Hause, Tom!", "Das ist es."], ["geh nach hause tom", "das ist es"]
    )
    found = quality.protocols(texts)
    assert found["lower-cased, no punctuation"]["bleu"] == 100
    assert found["lower-cased"]["bleu"] < 60
    assert "case:lc" in found["lower-cased"]["signature"]


def test_both_sides_of_multi30k_become_pairs_packed_or_not(quality: Any, tmp_path: Path) -> None:
    for part in quality.MULTI30K:
        (tmp_path / f"{part}.en").write_text("a\u2028b\nc\n", encoding="utf-8")
        (tmp_path / f"{part}.de.xz").write_bytes(lzma.compress(b"x\ny\n"))
    train, job = quality.multi30k(tmp_path, tmp_path)
    assert train.read_text(encoding="utf-8") == "a\u2028b\tx\nc\ty\n"
    assert job.prepare[:4] == ("--dev", str(tmp_path / "val.tsv"), "--test", str(tmp_path / "test_2016_flickr.tsv"))


def test_a_row_has_the_curve_by_minutes_and_what_was_asked(
    quality: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    epochs = [{"seconds": 90, "bleu": 10.04}, {"seconds": 30, "bleu": 20}]
    (tmp_path / "textbook").mkdir()
    (tmp_path / "textbook" / "history.jsonl").write_text("\n".join(map(json.dumps, epochs)))
    (tmp_path / "textbook.tsv").write_text("source\treference\thypothesis\na\tx y z v\tx y z v\nb\tp q r s\tp q r s\n")
    monkeypatch.setattr(quality.Bench, "run", lambda self, job: {"name": job.name})
    corpus, job = quality.textbook(tmp_path / "c.tsv", tmp_path)
    row = quality.QualityBench(corpus, tmp_path, ("--dropout", "0.2")).run(job)
    assert row["curve"] == [[1.5, 10.0], [2.0, 20]]
    assert row["options"] == ["--dev", "5000", "--test", "5000", "--epochs", "5", "--batch", "128", "--dropout", "0.2"]
    line = list(quality.table_of_protocols([row]))[-1]
    assert line.startswith("| textbook | `--dev 5000 --test 5000 --epochs 5 --batch 128 --dropout 0.2` | 100.0 ± 0.0 |")
