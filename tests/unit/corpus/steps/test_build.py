import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.formats.inputs import Input
from nmt_cli.corpus.pairs import Texts
from nmt_cli.corpus.steps.build import DROPPING, count_pairs, divide, drop_near_held_out, write_rejected
from nmt_cli.corpus.steps.reading import Inputs, read_pairs
from nmt_cli.corpus.steps.run_checks import diagnose
from nmt_cli.errors import DataError
from nmt_cli.text.normalise import sentence_key
from support.corpora import examined, toy_pairs, write_tsv

CELLS = st.one_of(st.text(alphabet="ab \u00a0\t&;<", max_size=4), st.text(max_size=8))
ROWS = st.lists(st.tuples(CELLS, CELLS, st.integers(0, 3)), min_size=1, max_size=60)


def silent(stage: str, done: int, total: int) -> None:
    """A progress callback that tells nobody."""


@settings(deadline=None)
@given(ROWS, st.booleans(), st.sampled_from([(1.0, 1.0), (2.0, 0.5), (1.5, 1.0)]))
def test_counts_add_up_and_nothing_leaks_for_any_input(
    rows: list[tuple[str, str, int]], near: bool, weights: tuple[float, float]
) -> None:
    """Inputs 0 and 1 are the corpus; 2 is given dev data, 3 given test data."""
    pairs = examined(
        [row[:2] for row in rows],
        roles=["train", "train", "dev", "test"],
        weights=[*weights, 1.0, 1.0],
        inputs=[row[2] for row in rows],
    )
    config = PrepareConfig(dev="dev.tsv", test="test.tsv", near_duplicates=near)
    diagnose(pairs, config, lambda done: None)
    drop_near_held_out(pairs, config)
    try:
        division = divide(pairs, config, silent)
    except DataError:
        return
    counts = count_pairs(pairs, division)
    assert counts.read == len(rows) == counts.kept + sum(counts.dropped.values())
    assert counts.kept + counts.repeated == sum(counts.splits.values())
    assert list(counts.dropped) == list(DROPPING)
    for side in (pairs.source, pairs.target):
        seen = [{sentence_key(side[row]) for row in rows_of.tolist()} for _, rows_of in division.splits.items()]
        assert not seen[0] & seen[1] and not seen[0] & seen[2] and not seen[1] & seen[2]


def test_text_is_normalised_before_it_is_judged(tmp_path: Path) -> None:
    rows = [("Tom\u00a0 ran.", "Tom lief."), ("Cafe\u0301", "Café"), ("\u200b", "x"), ("Tom ran.", " Tom lief.")]
    inputs = Inputs({"train": [Input(write_tsv(tmp_path / "a.tsv", rows))]}, PrepareConfig())
    pairs = read_pairs(inputs, PrepareConfig(), silent)
    assert pairs.source[:] == ["Tom ran.", "Café", "", "Tom ran."]
    diagnose(pairs, PrepareConfig(), lambda done: None)
    write_rejected(tmp_path / "r.gz", pairs)
    assert gzip.decompress((tmp_path / "r.gz").read_bytes()).decode() == (
        "empty\t\tx\t3\ta.tsv\nduplicate\tTom ran.\tTom lief.\t4\ta.tsv\n"
    )


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    path = write_tsv(tmp_path / "a.tsv", toy_pairs(50))
    inputs = Inputs({"train": [Input(path)]}, PrepareConfig())
    read_pairs(inputs, PrepareConfig(), lambda *what: told.append(what))
    size = path.stat().st_size
    assert told == [("reading", 0, size), ("reading", size, size)]


def test_several_processes_read_what_one_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt_cli.corpus.steps.reading.CHUNK", 50)
    path = write_tsv(tmp_path / "a.tsv", [*toy_pairs(900), ("a &amp; b", "ü\u200b")])
    read = []
    for processes in (1, 2):
        inputs = Inputs({"train": [Input(path), Input(path)]}, PrepareConfig())
        read.append(read_pairs(inputs, PrepareConfig(), silent, processes=processes))
    one, two = read
    assert one.source.data == two.source.data and one.originals == two.originals
    for name, array in vars(one.facts).items():
        assert np.array_equal(array, getattr(two.facts, name)), name


def test_weights_repeat_pairs_in_train_or_leave_them_out() -> None:
    rows = [(f"s{n}", f"t{n}") for n in range(400)]
    pairs = examined(rows, roles=["train"] * 3, weights=[3.0, 0.25, 1.5], inputs=[n % 4 % 3 for n in range(400)])
    division = divide(pairs, PrepareConfig(dev="20", test="20"), silent)
    counts = np.bincount(pairs.facts.inputs[division.splits.train], minlength=3)
    times = np.bincount(division.splits.train)
    assert set(times[pairs.facts.inputs[: len(times)] == 0].tolist()) <= {0, 3}
    assert (len(division.splits.dev), len(division.splits.test)) == (20, 20)
    assert count_pairs(pairs, division).dropped["weight"] == 75
    assert counts[0] > 400 and counts[1] <= 25 and 90 < counts[2] < 180
    assert len(set(division.splits.dev.tolist())) == 20


def test_near_duplicates_do_not_straddle() -> None:
    rows = [(f"Sentence number {n} is here{end}", f"t{n}{end}") for n in range(100) for end in ".!"]
    pairs = examined(rows)
    division = divide(pairs, PrepareConfig(dev="20", test="20", near_duplicates=True), silent)
    for _, members in division.splits.items():
        assert {row ^ 1 for row in members.tolist()} == set(members.tolist())


def test_training_pairs_that_are_nearly_held_out_are_dropped_and_told() -> None:
    random = np.random.default_rng(1)
    unlike = [random.bytes(20).hex() for _ in range(100)]
    rows = [(f"{text}{end}", f"{text[::-1]}{end}") for text in unlike for end in ".!"]
    pairs = examined([*rows, rows[6]], roles=["train", "test"], inputs=[*[0] * len(rows), 1])
    config = PrepareConfig(test="test.tsv", near_duplicates=True)
    diagnose(pairs, config, lambda done: None)
    (finding,) = drop_near_held_out(pairs, config)
    assert (finding.check, finding.count, finding.action, finding.examples[0].line) == ("held-out", 1, "dropped", 8)
    assert count_pairs(pairs, divide(pairs, config, silent)).dropped["held-out"] == 2
    assert drop_near_held_out(pairs, PrepareConfig(test="test.tsv")) == ()


@settings(deadline=None)
@given(st.lists(st.text(max_size=9).map(lambda text: text.encode("utf-8", "replace").decode()), max_size=20))
def test_texts_are_those_that_were_put_in(given_texts: list[str]) -> None:
    texts = Texts()
    for part in (given_texts[:7], given_texts[7:]):
        encoded = [text.encode() for text in part]
        texts.extend(b"".join(encoded), np.array([len(data) for data in encoded], np.int64))
        assert len(texts) >= len(part)
    assert list(texts) == texts[:] == given_texts
    assert list(texts.of(np.arange(len(given_texts))[::-1])) == given_texts[::-1]
