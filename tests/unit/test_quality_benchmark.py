"""What benchmarks/quality.py runs, counts and skips; training and scoring have tests of their own."""

import json
import lzma
import subprocess
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import quality
import views


def make_options(**values: Any) -> Namespace:
    return Namespace(**{"names": (), **values})


def make_row(**values: Any) -> dict[str, Any]:
    return {
        "name": "dot",
        "weights": 2_760_000,
        "dev_bleu": 20.04,
        "bleu": 25.31,
        "interval95": [23.5, 27.1],
        "chrf": 45.1,
        "views": {
            "lower-cased": {"sentences": 979, "bleu": 26.0, "interval95": [24.0, 27.0]},
            "over 12 words": {"sentences": 0, "bleu": None, "interval95": None},
        },
        "best_epoch": 4,
        "epochs": 5,
        "seconds": 605.2,
        "signature": "nrefs:1",
        "curve": [[1.5, 10.0], [2.0, 20.04]],
        **values,
    }


def test_twelve_words_are_short_and_thirteen_are_long() -> None:
    twelve, thirteen = " ".join("a" * 12) + ".", " ".join("a" * 13) + "."
    assert views.is_short(twelve)
    assert not views.is_short(thirteen)
    texts = [views.Translated(twelve, "x", "X"), views.Translated(thirteen, "y", "Y")]
    assert [views.VIEWS[f"{words} 12 words"].score(texts)["sentences"] for words in ("to", "over")] == [1, 1]


def test_without_punctuation_case_and_marks_cost_nothing() -> None:
    texts = [
        views.Translated("", "Geh' nach Hause, Tom!", "geh nach hause tom"),
        views.Translated("", "Das ist es.", "das ist es"),
    ]
    assert views.VIEWS["lower-cased, no punctuation"].score(texts)["bleu"] == 100
    lower = views.VIEWS["lower-cased"].score(texts)
    assert lower["bleu"] < 60
    assert "case:lc" in lower["signature"]


def test_no_sentences_have_no_score_and_several_have_an_interval() -> None:
    long = views.VIEWS["over 12 words"]
    assert long.score([]) == {"sentences": 0, "bleu": None, "interval95": None, "chrf": None}
    right, wrong = "a b c d e", "v w x y z"
    texts = [views.Translated("", right, hypothesis) for hypothesis in (right, right, right, wrong)]
    found = views.VIEWS["to 12 words"].score(texts)
    low, high = found["interval95"]
    assert low < found["bleu"] < high <= 100


def test_translations_with_quotes_are_read_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text('number\tsource\treference\thypothesis\n1\t"Go.\tGeh\'.\t"\n', encoding="utf-8")
    assert views.read_translated(tmp_path / "s.tsv") == [views.Translated('"Go.', "Geh'.", '"')]


def test_both_sides_of_multi30k_become_pairs_packed_or_not(tmp_path: Path) -> None:
    for part in quality.MULTI30K:
        (tmp_path / f"{part}.en").write_text("a\u2028b\nc\n", encoding="utf-8")
        (tmp_path / f"{part}.de.xz").write_bytes(lzma.compress(b"x\ny\n"))
    options = make_options(corpus=tmp_path, work=tmp_path)
    (job,) = quality.make_multi30k(options)
    assert options.corpus.read_text(encoding="utf-8") == "a\u2028b\tx\nc\ty\n"
    assert job.prepare[:4] == ("--dev", str(tmp_path / "val.tsv"), "--test", str(tmp_path / "test_2016_flickr.tsv"))


def test_each_attention_has_its_turn_and_an_unknown_one_is_refused() -> None:
    names = [job.name for job in quality.make_attention(make_options())]
    assert names == [f"attention-{kind}" for kind in ("none", "additive", "dot", "general", "concat", "scaled-dot")]
    with pytest.raises(SystemExit, match="there is no 'luong': there are none, additive"):
        quality.make_attention(make_options(names=["luong"]))


def test_subsets_share_the_splits_and_a_larger_one_contains_the_smaller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepare(log: Path, *arguments: str) -> str:
        data = Path(arguments[-1])
        data.mkdir()
        (data / "train.tsv").write_text("".join(f"{number}\tx\n" for number in range(20)))
        commands.append(arguments)
        return ""

    commands: list[tuple[str, ...]] = []
    monkeypatch.setattr(quality, "run_nmt", prepare)
    (tmp_path / "c.tsv").write_text("a\tb\n")
    (tmp_path / "jobs.jsonl").write_text(
        "".join(json.dumps({"name": f"{size}", "pairs": size, "train": []}) + "\n" for size in (5, 10))
    )
    bench = quality.Bench(tmp_path / "c.tsv", tmp_path, ("--test", "3"))
    jobs = quality.make_jobs(make_options(names=[str(tmp_path / "jobs.jsonl")]))
    for job in jobs:
        bench.prepare_corpus(job)
    whole, *subsets = commands
    small, large = (Path(command[1]).read_text().splitlines() for command in subsets)
    assert len(small) == 5 and len(large) == 10 and set(small) < set(large)
    assert whole[:4] == ("prepare", str(tmp_path / "c.tsv"), "--test", "3")
    assert [command[command.index("--dev") + 1] for command in subsets] == [f"{whole[-1]}/dev.tsv"] * 2


def test_what_is_done_is_not_run_again_and_a_failure_stops_no_other_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def run(self: Any, job: Any) -> dict[str, Any]:
        ran.append(job.name)
        if job.name == "attention-dot":
            raise subprocess.CalledProcessError(1, ["python", "-m", "nmt_cli", "train"])
        return make_row(name=job.name)

    monkeypatch.setattr(quality.Bench, "run", run)
    bench = quality.Bench(tmp_path / "c.tsv", tmp_path)
    jobs = quality.make_attention(make_options(names=["none", "dot", "general"]))
    assert quality.run_all(bench, jobs[:1]) == 0
    assert quality.run_all(bench, jobs) == 1
    assert ran == ["attention-none", "attention-dot", "attention-general"]
    names = [json.loads(line)["name"] for line in bench.results.read_text().splitlines()]
    assert names == ["attention-none", "attention-general"]


def test_the_table_has_a_line_a_row_the_signature_and_the_curve() -> None:
    lines = list(quality.render_table([make_row()]))
    assert lines[2] == "| dot | 2.8 M | 20.0 | 25.3 ± 1.8 | 45.1 | 26.0 ± 1.5 (979) | - (0) | 4 of 5 | 10:05 |"
    assert lines[0].count("|") == lines[2].count("|")
    assert lines[-2:] == ["BLEU `nrefs:1`, beam 5.", "dot: 1.5 min 10.0, 2 min 20.04"]
