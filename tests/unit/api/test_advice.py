"""What is said after preparing and training: numbers that follow from sizes, and help that fits the corpus."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.api.advice import (
    MEASURED,
    Commands,
    advise_on_corpus,
    advise_on_model,
    compute_interval,
    describe_prepare,
    describe_train,
    find_usual_bleu,
    has_learned_nothing,
    recall_prepare,
)
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.training.watcher import Validation

COMMANDS = Commands("nmt prepare a.tsv", "nmt train --force", "nmt train --resume")


def make_manifest(
    train: int = 6_000, test: int = 600, *, dropped: dict[str, int] | None = None, monolingual: tuple[str, ...] = ()
) -> Any:
    counts = SimpleNamespace(read=train + 2 * test, dropped=dropped or {}, splits={"train": train, "test": test})
    return SimpleNamespace(
        counts=counts,
        source=SimpleNamespace(vocabulary=1000),
        source_language="eng",
        target_language="vie",
        monolingual=dict.fromkeys(monolingual),
        inputs={"a.tsv": None},
        options=asdict(PrepareConfig()),
    )


def make_report(bleus: list[float], *, distinct: float = 1.0, updates: int = 9_000) -> Any:
    records = [SimpleNamespace(bleu=bleu, complete=True, steps=updates) for bleu in bleus]
    validation = Validation(2.0, 50.0, max(bleus), 40.0, "b", "c", "a source", "a target", distinct)
    return SimpleNamespace(validation=validation, records=records, planned_epochs=len(bleus), runs=())


def commands_of(manifest: Any, **options: Any) -> list[str]:
    if options:
        arguments = {"has_parent": False, "is_reversed": False, **options}
        return [each.command for each in advise_on_model(manifest, commands=COMMANDS, **arguments).suggestions]
    return [each.command for each in advise_on_corpus(manifest, COMMANDS).suggestions]


def test_the_interval_is_the_measured_one_and_shrinks_with_the_root_of_the_number_of_sentences() -> None:
    assert compute_interval(5_000) == pytest.approx(0.9)
    assert 1.8 < compute_interval(1_000) < 2.1  # benchmarks/RESULTS.md has ± 1.86 to 2.0
    assert compute_interval(1_250) == pytest.approx(1.8)


def test_measured_sizes_have_their_range_and_sizes_between_them_a_range_between() -> None:
    for row in MEASURED:
        assert find_usual_bleu(row.pairs) == (row.low, row.high)
    low, high = find_usual_bleu(16_000) or (0, 0)
    assert MEASURED[0].low < low < MEASURED[1].low and MEASURED[0].high < high < MEASURED[1].high


@given(st.integers(0, 10**8), st.integers(0, 10**8))
def test_more_pairs_never_have_a_lower_range(pairs: int, others: int) -> None:
    few, many = (find_usual_bleu(size) for size in sorted((pairs, others)))
    assert few is None or many is None or (few[0] <= many[0] and few[1] <= many[1])


@pytest.mark.parametrize("pairs", [0, 60, 2_000, 10**6])
def test_of_sizes_far_from_all_measured_ones_no_range_is_told(pairs: int) -> None:
    assert find_usual_bleu(pairs) is None
    assert "usual" not in advise_on_corpus(make_manifest(pairs), COMMANDS).lines[0]


def test_a_small_corpus_gets_three_commands_and_a_large_clean_one_none() -> None:
    assert commands_of(make_manifest()) == [
        "nmt prepare a.tsv --monolingual-target more.vie --force",
        "nmt train --force --init-from OTHER-MODEL",
        "nmt prepare a.tsv more.tsv --force",
    ]
    assert commands_of(make_manifest(300_000, 1_000)) == []
    lines = advise_on_corpus(make_manifest(), COMMANDS).lines
    assert len(lines) <= 5 and "text in Vietnamese alone" in lines[1]
    assert "6,000 training pairs" in lines[0] and "on 600 test pairs, a BLEU is good to ± 2.6" in lines[0]


def test_advice_follows_what_is_true_of_the_corpus() -> None:
    noisy = commands_of(make_manifest(dropped={"language": 900, "duplicate": 100}))
    assert noisy[0] == "nmt prepare a.tsv --report report.html --force"
    assert commands_of(make_manifest(dropped={"duplicate": 3_000})) == commands_of(make_manifest())
    assert not any("--monolingual" in command for command in commands_of(make_manifest(monolingual=("target",))))
    assert "nmt prepare a.tsv --test 500 --force" in commands_of(make_manifest(25_000, 200))
    assert not any("--test" in command for command in commands_of(make_manifest(1_000, 100)))  # none to spare


def test_advice_after_training_leaves_out_what_was_done_and_turns_with_the_direction() -> None:
    report = make_report([10, 14, 15, 15.1, 15.0])
    assert not any("--init-from" in each for each in commands_of(make_manifest(), report=report, has_parent=True))
    reverse = commands_of(make_manifest(), report=report, is_reversed=True)
    assert reverse[0] == "nmt prepare a.tsv --monolingual-source more.eng --force"


def test_scores_that_still_rose_ask_for_more_epochs() -> None:
    rising = commands_of(make_manifest(), report=make_report([2, 5, 8, 11]))
    assert rising[0] == "nmt train --resume --epochs 8"
    assert not any("--epochs" in each for each in commands_of(make_manifest(), report=make_report([9, 11, 11.2, 11.3])))


def test_training_that_cannot_be_continued_is_not_offered_to_be_longer() -> None:
    arguments = {
        "has_parent": False,
        "is_reversed": False,
        "commands": Commands("nmt prepare a.tsv", "nmt train --force"),
    }
    advice = advise_on_model(make_manifest(), make_report([2, 5, 8, 11]), **arguments)
    assert not any("--epochs" in suggestion.command for suggestion in advice.suggestions)


@pytest.mark.parametrize(("bleu", "distinct", "nothing"), [(0.9, 1.0, True), (5.0, 0.0, True), (5.0, 0.5, False)])
def test_bad_or_equal_translations_are_nothing_learned(bleu: float, distinct: float, nothing: bool) -> None:
    assert has_learned_nothing(make_report([bleu], distinct=distinct).validation) is nothing


def test_who_has_learned_nothing_is_told_to_train_longer_or_slower() -> None:
    few = commands_of(make_manifest(), report=make_report([0.1], updates=40))
    assert few[0] == "nmt train --force --batch 32 --epochs 16"  # 3,000 updates
    many = commands_of(make_manifest(), report=make_report([0.1]))
    assert many[0] == "nmt train --force --learning-rate 5e-4"


def test_prepare_names_files_and_options_as_they_were_typed() -> None:
    config = PrepareConfig(
        lowercase=True,
        vocab_size=500,
        keep=("script", "language"),
        source_column="my text",
        dev="in/dev.tsv",
        monolingual_target=("in/more.de", "x.de.gz"),
    )
    assert describe_prepare(["in/a b.tsv", "c.tsv=train"], config, Path("other")) == (
        "nmt prepare 'in/a b.tsv' c.tsv=train --source-column 'my text' --monolingual-target in/more.de "
        "--monolingual-target x.de.gz --keep script --keep language --dev in/dev.tsv "
        "--vocab-size 500 --lowercase --data other"
    )


def test_a_file_that_is_elsewhere_is_left_to_fill_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    manifest = make_manifest()
    manifest.inputs |= {"dev.tsv": None}
    manifest.options |= {"dev": "dev.tsv", "test": "500", "monolingual_target": ["more.de"]}
    recalled = "nmt prepare CORPUS --monolingual-target MONOLINGUAL --dev DEV --test 500"
    assert recall_prepare(manifest, Path("prepared")) == recalled
    for name in ("a.tsv", "dev.tsv", "more.de"):
        (tmp_path / name).touch()
    recalled = "nmt prepare a.tsv --monolingual-target more.de --dev dev.tsv --test 500"
    assert recall_prepare(manifest, Path("prepared")) == recalled
    manifest.inputs |= {"b.tsv": None}
    assert recall_prepare(manifest, Path("prepared")).startswith("nmt prepare CORPUS ")
    assert describe_train(Path("prepared"), Path("m"), "--force") == "nmt train --model m --force"
