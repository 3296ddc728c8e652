"""What is said after preparing and training: numbers that follow from sizes, and help that fits the corpus."""

from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.api.advice import (
    EXPECTED,
    MEASURED,
    BaseCommands,
    TrainingSummary,
    advise_on_corpus,
    advise_on_model,
    compute_interval,
    find_usual_bleu,
    has_learned_nothing,
)
from nmt_cli.api.options.command_lines import CommandLine
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.steps.build import DROP_REASONS
from nmt_cli.training.watcher import Validation

PREPARE = CommandLine("prepare", ("a.tsv",))
TRAIN = CommandLine("train", (), (("--force",),))
COMMANDS = BaseCommands(PREPARE, TRAIN, CommandLine("train", (), (("--resume",),)))


def make_manifest(
    train: int = 6_000, test: int = 600, *, dropped: dict[str, int] | None = None, monolingual: tuple[str, ...] = ()
) -> Any:
    counts = SimpleNamespace(read=train + 2 * test, dropped=dropped or {}, splits={"train": train, "test": test})
    return SimpleNamespace(
        counts=counts,
        source=SimpleNamespace(is_text=True, everyday_share=0.99),
        target=SimpleNamespace(unknown_share=0.0),
        source_language="eng",
        target_language="vie",
        direction="eng -> vie",
        tags={},
        monolingual=dict.fromkeys(monolingual),
        inputs={"a.tsv": None},
        findings=[],
        options=asdict(PrepareOptions()),
    )


def make_report(bleus: list[float], *, distinct: float = 1.0, updates: int = 9_000) -> Any:
    records = [SimpleNamespace(bleu=bleu, complete=True, steps=updates) for bleu in bleus]
    validation = Validation(2.0, 50.0, max(bleus), 40.0, "b", "c", "a source", "a target", distinct)
    return SimpleNamespace(validation=validation, records=records, planned_epochs=len(bleus), runs=())


def commands_of(manifest: Any, **options: Any) -> list[str]:
    if options:
        report = options.pop("report")
        return [
            each.command for each in advise_on_model(manifest, report, COMMANDS, TrainingSummary(**options)).suggestions
        ]
    return [each.command for each in advise_on_corpus(manifest, COMMANDS).suggestions]


def test_the_interval_shrinks_with_the_root_of_the_number_of_sentences() -> None:
    assert compute_interval(5_000) == pytest.approx(0.9)
    assert 1.8 < compute_interval(1_000) < 2.1  # benchmarks/RESULTS.md has ± 1.86 to 2.0
    assert compute_interval(1_250) == pytest.approx(1.8)


def test_sizes_between_measured_ones_have_a_range_between_theirs() -> None:
    for row in MEASURED:
        assert find_usual_bleu(row.pairs) == (row.low, row.high)
    low, high = find_usual_bleu(1_600) or (0, 0)
    assert MEASURED[0].low < low < MEASURED[1].low and MEASURED[0].high < high < MEASURED[1].high


@given(st.integers(0, 10**8), st.integers(0, 10**8))
def test_more_pairs_never_have_a_lower_range(pairs: int, others: int) -> None:
    few, many = (find_usual_bleu(size) for size in sorted((pairs, others)))
    assert few is None or many is None or (few[0] <= many[0] and few[1] <= many[1])


@pytest.mark.parametrize("pairs", [0, 60, 600, 10**6])
def test_of_sizes_far_from_all_measured_ones_no_range_is_told(pairs: int) -> None:
    assert find_usual_bleu(pairs) is None
    assert "typical" not in advise_on_corpus(make_manifest(pairs), COMMANDS).format_lines()[0]


def test_a_model_that_is_better_than_usual_is_told_no_range() -> None:
    reports = (make_report([bleu] * 5) for bleu in (9.0, 90.0))
    below, above = (advise_on_model(make_manifest(), report, COMMANDS, TrainingSummary()) for report in reports)
    assert below.usual is not None and above.usual is None


def test_of_text_unlike_that_which_was_measured_no_range_is_told() -> None:
    manifest = make_manifest()
    assert "typical" in advise_on_corpus(manifest, COMMANDS).format_lines()[0]
    for of_text, unknown, lowercase, several in (
        (0.3, 0.0, False, "eng -> vie"),
        (0.99, 0.14, False, "eng -> vie"),
        (0.99, 0.0, True, "eng -> vie"),
        (0.99, 0.0, False, "eng -> vie, khm"),
    ):
        manifest.source.everyday_share, manifest.direction = of_text, several
        manifest.target.unknown_share, manifest.options["lowercase"] = unknown, lowercase
        assert "typical" not in advise_on_corpus(manifest, COMMANDS).format_lines()[0]
    manifest = make_manifest()
    manifest.target_language = "shp"  # whose long words lower BLEU
    assert "typical" not in advise_on_corpus(manifest, COMMANDS).format_lines()[0]


def test_advice_is_on_data_for_a_small_corpus_and_on_training_for_others() -> None:
    assert commands_of(make_manifest()) == [
        "nmt prepare a.tsv --monolingual-target more.vie --force",
        "nmt prepare a.tsv more.tsv --force",
        "nmt train --force --runs 3",
    ]
    assert commands_of(make_manifest(300_000, 1_000)) == [
        "nmt train --force --time 60m",
        "nmt train --force --runs 3",
        "nmt train --force --synthetic diversify",
    ]
    lines = advise_on_corpus(make_manifest(), COMMANDS).format_lines()
    assert lines[0].startswith("with 6,000 training pairs, 1")
    assert lines[1:3] == ["with 600 test pairs, a BLEU score is accurate to ± 2.6", "What helps most:"]
    assert lines[3].startswith("    monolingual text in Vietnamese   nmt prepare a.tsv") and len(lines) == 6
    narrow = advise_on_corpus(make_manifest(), COMMANDS).format_lines(60)
    assert narrow[3:5] == [
        "  monolingual text in Vietnamese:",
        "    nmt prepare a.tsv --monolingual-target more.vie --force",
    ]
    assert [len(line) - len(line.lstrip()) for line in narrow[3:]] == [2, 4] * 3


def test_advice_follows_what_is_true_of_the_corpus() -> None:
    noisy = commands_of(make_manifest(dropped={"language": 900, "duplicate": 100}))
    assert noisy[0] == "nmt prepare a.tsv --report report.html --force"
    notes = make_manifest()
    notes.findings = [SimpleNamespace(check="notes", action="reported", count=900)]
    notes.findings.append(SimpleNamespace(check="boundaries", action="reported", count=800))  # partly of the same pairs
    assert "the 900 pairs to correct by hand (notes)" in advise_on_corpus(notes, COMMANDS).format_lines()[3]
    for finding in notes.findings:
        finding.action = "kept"
    assert commands_of(notes) == commands_of(make_manifest())
    for reason in EXPECTED:
        assert reason in DROP_REASONS
        assert commands_of(make_manifest(dropped={reason: 3_000})) == commands_of(make_manifest())
    assert not any("--monolingual" in command for command in commands_of(make_manifest(monolingual=("target",))))
    assert "nmt prepare a.tsv --test 500 --force" in commands_of(make_manifest(25_000, 200))
    assert not any("--test" in command for command in commands_of(make_manifest(1_000, 100)))  # none to spare


def test_advice_after_training_omits_what_was_done_and_knows_the_direction() -> None:
    report = make_report([10, 14, 15, 15.1, 15.0])
    assert not any("--init-from" in each for each in commands_of(make_manifest(), report=report, has_parent=True))
    reverse = commands_of(make_manifest(), report=report, is_reversed=True)
    assert reverse[0] == "nmt prepare a.tsv --monolingual-source more.eng --force"


def test_scores_that_still_rose_ask_for_more_epochs() -> None:
    rising = commands_of(make_manifest(), report=make_report([2, 5, 8, 11]))
    assert rising[0] == "nmt train --resume --epochs 8"
    assert not any("--epochs" in each for each in commands_of(make_manifest(), report=make_report([9, 11, 11.2, 11.3])))


def test_training_that_cannot_be_continued_is_not_offered_to_be_longer() -> None:
    report = make_report([2, 5, 8, 11])
    advice = advise_on_model(make_manifest(), report, BaseCommands(PREPARE, TRAIN), TrainingSummary())
    assert not any("--epochs" in suggestion.command for suggestion in advice.suggestions)


@pytest.mark.parametrize(("bleu", "distinct", "nothing"), [(0.9, 1.0, True), (5.0, 0.0, True), (5.0, 0.5, False)])
def test_bad_or_equal_translations_are_nothing_learned(bleu: float, distinct: float, nothing: bool) -> None:
    assert has_learned_nothing(make_report([bleu], distinct=distinct).validation) is nothing


@pytest.mark.parametrize(("chance", "nothing"), [(38.0, True), (20.0, False)])
def test_a_low_bleu_of_long_words_is_judged_by_the_chrf_of_chance(chance: float, nothing: bool) -> None:
    validation = replace(make_report([0.9]).validation, chance_chrf=chance)  # whose chrF is 40
    assert has_learned_nothing(validation) is nothing


def test_who_has_learned_nothing_is_told_to_train_longer_or_slower() -> None:
    few = commands_of(make_manifest(), report=make_report([0.1], updates=40))
    assert few[0] == "nmt train --force --batch 32 --epochs 16"  # 3,000 updates
    many = commands_of(make_manifest(), report=make_report([0.1]))
    assert many[0] == "nmt train --force --learning-rate 5e-4"


@given(st.integers(100, 300_000), st.integers(50, 5_000), st.sampled_from([(), ("target",), ("source", "target")]))
def test_advice_on_a_corpus_of_text_has_always_three_commands(
    train: int, test: int, monolingual: tuple[str, ...]
) -> None:
    commands = commands_of(make_manifest(train, test, monolingual=monolingual))
    assert len(commands) == 3
    assert len(set(commands)) == 3


def test_a_model_that_had_the_best_of_everything_is_offered_what_is_left() -> None:
    done = {"report": make_report([30.0] * 5), "has_parent": True, "synthetic": "both", "has_time": True}
    manifest = make_manifest(60_000, 1_000, monolingual=("target",))
    assert commands_of(manifest, **done) == ["nmt train --force --runs 3"]
    assert commands_of(manifest, **done, runs=3) == []


PARENTS = [
    (("eng", "vie"), {}, None),  # from which training starts by default
    (("eng", "vie"), {"report": True}, "starting from eng-deu, with the same source language"),
    (("fra", "deu"), {"report": True}, "starting from eng-deu, with the same target language"),
    (("eng", "deu"), {}, "starting from eng-deu, which may have seen the test sentences"),
    (("vie", "eng"), {"report": True, "is_reversed": True}, "starting from eng-deu, with the same source language"),
    (("spa", "shp"), {"report": True}, None),
    (("eng", "vie"), {"report": True, "has_parent": True}, None),
]


@pytest.mark.parametrize(("languages", "trained", "what"), PARENTS)
def test_only_parents_that_are_installed_are_named(
    languages: tuple[str, str], trained: dict[str, Any], what: str | None
) -> None:
    manifest = make_manifest(5_000)
    manifest.source_language, manifest.target_language = languages
    if trained:
        report = make_report([9.0] * 5)
        summary = TrainingSummary(**{name: value for name, value in trained.items() if name != "report"})
        advice = advise_on_model(manifest, report, COMMANDS, summary)
    else:
        advice = advise_on_corpus(manifest, COMMANDS)
    parents = [each for each in advice.suggestions if "--init-from" in each.command]
    assert [each.what for each in parents] == ([] if what is None else [what])
    assert all(each.command == "nmt train --force --init-from eng-deu" for each in parents)


@pytest.mark.parametrize(("updates", "bleu", "is_cause"), [(135, 2.8, True), (135, 0.2, True), (1_700, 2.8, False)])
def test_too_few_updates_are_named_before_all_else(updates: int, bleu: float, is_cause: bool) -> None:
    typed = TRAIN.extend(("--epochs", "5"), ("--batch", "128"), ("--units", "256"))
    commands = COMMANDS._replace(train=typed)
    advice = advise_on_model(make_manifest(4_166), make_report([bleu], updates=updates), commands, TrainingSummary())
    first = "135 of about 1,700 updates that this corpus size needs: leave out --epochs 5 --batch 128"
    assert (advice.format_lines()[0] == f"{first}:   nmt train --force --units 256") == is_cause
    assert (advice.cause is not None) == is_cause
    if is_cause:  # training that would be cut short again waits
        assert "After that, what helps most:" in advice.format_lines()
        assert {each.command.split()[1] for each in advice.suggestions} == {"prepare"}
    unknown = advise_on_model(make_manifest(4_166), make_report([bleu], updates=updates), COMMANDS, TrainingSummary())
    assert unknown.cause is None


def test_options_that_were_typed_stay_and_a_model_worth_keeping_is_not_replaced() -> None:
    manifest, typed = make_manifest(5_000), (("--attention", "additive"), ("--model", "a"))
    manifest.source_language, manifest.target_language = "fra", "deu"  # for which there is a parent
    commands = COMMANDS._replace(
        train=TRAIN.extend(*typed), beside=CommandLine("train", (), (typed[0], ("--model", "a-2")))
    )
    trained = TrainingSummary(synthetic="both")
    advice = advise_on_model(manifest, make_report([9.0] * 5), commands, trained)
    retrained = [each.command for each in advice.suggestions if each.command.startswith("nmt train")]
    assert retrained == ["nmt train --attention additive --model a-2 --runs 3"]


@pytest.mark.parametrize(
    ("tags", "added"), [((">deu", ">nld"), "=to:nld"), (("deu>", "nld>"), "=from:nld"), (("ui", ">nld"), "")]
)
def test_more_data_are_of_the_language_that_has_the_fewest_pairs(tags: tuple[str, ...], added: str) -> None:
    manifest = make_manifest()
    manifest.tags = {tag: {"train": pairs} for tag, pairs in zip(tags, (5_000, 1_000), strict=True)}
    text, pairs, _ = commands_of(manifest)
    assert pairs == f"nmt prepare a.tsv more.tsv{added} --force"
    assert text.endswith("more.nld=to:nld --force" if added == "=to:nld" else "more.vie --force")
