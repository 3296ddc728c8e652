"""A line on which nmt fails costs that line alone, whoever asks: it is copied and told, and all others are as ever."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.api.drawings.attention import measure_translations
from nmt_cli.api.drawings.config import DrawingOptions
from nmt_cli.api.drawings.drawing import Drawing, DrawingRequest
from nmt_cli.api.translator import Translator
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import DataError
from nmt_cli.evaluation.report import score_translations
from nmt_cli.evaluation.texts import ParallelText
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.sources.source import TextSource
from nmt_cli.translation.config import CheckOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.request import Block, TranslationRequest
from nmt_cli.translation.stages import isolate
from support.properties import examples
from support.scripted_translator import ScriptedTranslator

SECRET = "secret"
GREEDY = SearchOptions(beam_size=1, max_length=12)
LINES = ["bade lu.", f"bade {SECRET}.", "ma lu bade.", "lu."]


def fail_on_secrets(text: str) -> str:
    if SECRET in text:
        raise OverflowError(f"{text} is too large")
    return text.upper()


@examples(100)
@given(st.lists(st.lists(st.sampled_from(("a man", "a dog", f"a {SECRET}")), min_size=1, max_size=5), max_size=9))
def test_only_the_rows_at_fault_are_replaced(groups: list[list[str]]) -> None:
    lines = [line for group in groups for line in group]
    numbers = iter(range(len(lines)))
    runs: list[Sequence[int]] = []
    done: dict[int, str] = {}
    rows = [[next(numbers) for _ in group] for group in groups]
    for trial in isolate(rows):
        with trial:
            runs.append(trial.rows)
            done |= {row: fail_on_secrets(lines[row]) for row in trial.rows}
        if trial.failure is not None:
            done[trial.rows[0]] = lines[trial.rows[0]]
    assert [done[row] for row in range(len(lines))] == [line if SECRET in line else line.upper() for line in lines]
    for group in rows:  # one without a fault is never run in parts
        if not any(SECRET in lines[row] for row in group):
            assert all(not set(group) & set(run) or set(group) <= set(run) for run in runs)


def test_a_failure_is_named_by_its_place_and_without_any_text() -> None:
    (copied,) = ScriptedTranslator(fail_on_secrets).translate([f"  a {SECRET}\t!"], TranslateOptions(GREEDY))
    assert copied.text == copied.source == f"  a {SECRET}\t!"
    (check,) = copied.checks
    assert check.kind == "failed" and check.message.startswith("nmt failed (OverflowError at test_isolation.py:")
    assert copied.needs_review and SECRET not in check.message


@pytest.mark.parametrize("problem", [DataError("line 1 is not a pair"), ModuleNotFoundError("no", name="PIL")])
def test_what_is_no_fault_of_a_line_is_an_error_as_before(problem: Exception) -> None:
    def refuse(text: str) -> str:
        raise problem

    with pytest.raises(type(problem)):
        ScriptedTranslator(refuse).translate(["a", "b"], TranslateOptions(GREEDY))


@pytest.mark.parametrize("checks", [CheckOptions(), CheckOptions(check=False), None])
def test_a_job_copies_a_line_on_which_a_stage_fails(checks: CheckOptions | None) -> None:
    translator = ScriptedTranslator(fail_on_secrets)
    job = TranslationRequest(
        Path(), options=TranslateOptions(SearchOptions(), RepairOptions(), checks), opener=lambda request: translator
    )
    lines = ("we have cats.", f"a {SECRET}.", "they came.", "")
    translations = job.start()(Block(7, lines))
    assert [each.text for each in translations] == ["WE HAVE CATS.", f"a {SECRET}.", "THEY CAME.", ""]
    assert [each.failure is not None for each in translations] == [False, True, False, False]


def test_progress_ends_with_all_lines() -> None:
    seen: list[int] = []
    ScriptedTranslator(fail_on_secrets).translate([f"a {SECRET}.", "they came."], TranslateOptions(GREEDY), seen.append)
    assert seen[-1] == 2


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has every network fail on a batch with a secret, whether it searches or scores."""
    make_rows = TextSource.make_rows

    def fail(source: TextSource, texts: Sequence[str], *rest: Any) -> Any:
        for text in texts:
            fail_on_secrets(text)
        return make_rows(source, texts, *rest)

    monkeypatch.setattr(TextSource, "make_rows", fail)


@pytest.mark.usefixtures("failing")
def test_samples_and_contexts_of_other_lines_stay_as_they_are(untrained_model: Path) -> None:
    translator = TranslationRequest(untrained_model).load()
    config = SearchOptions(max_length=12, sampling=SamplingOptions(sample=True))
    translations = translator.translate(LINES, TranslateOptions(config), first_line=5)
    for row, line in enumerate(LINES):
        (alone,) = translator.translate([line], TranslateOptions(config), first_line=5 + row)
        assert translations[row].text == alone.text


@pytest.mark.usefixtures("failing")
def test_python_gets_a_copy_of_the_line_at_fault(untrained_model: Path) -> None:
    loaded = Translator(TranslationRequest(untrained_model).load(), untrained_model, {"beam_size": 1})
    assert [each.failure is not None for each in loaded.translations(LINES)] == [False, True, False, False]


@pytest.mark.usefixtures("failing")
def test_a_scored_line_at_fault_keeps_its_given_translation(untrained_model: Path) -> None:
    job = TranslationRequest(untrained_model, options=TranslateOptions(GREEDY, checks=CheckOptions()), score=True)
    scored = job.start()(Block(0, tuple(f"{line}\t{line[::-1]}" for line in LINES)))
    assert [each.text for each in scored] == [line[::-1] for line in LINES]
    assert [each.source for each in scored] == LINES
    assert [each.failure is not None for each in scored] == [False, True, False, False]
    with pytest.raises(DataError):
        job.start()(Block(0, ("no pair",)))


@pytest.mark.usefixtures("failing")
def test_an_evaluation_scores_a_copy_and_says_so(untrained_model: Path) -> None:
    translator = TranslationRequest(untrained_model).load()
    text = make_text(LINES)
    report = score_translations(["chrf", "perplexity", "accuracy"], text, translator, GREEDY)
    assert report.material.hypotheses[1] == LINES[1]
    assert any("nmt failed (OverflowError" in warning and "(2)" in warning for warning in report.warnings)
    without = score_translations(["perplexity"], make_text(LINES[:1] + LINES[2:]), translator, GREEDY)
    assert report.scores["perplexity"].value == pytest.approx(without.scores["perplexity"].value)
    assert not any("nmt failed" in warning for warning in without.warnings)


def make_text(lines: Sequence[str]) -> ParallelText:
    """Lines whose references are their characters backwards."""
    return ParallelText(tuple(lines), tuple((line[::-1],) for line in lines))


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("targets", [(), tuple(line[::-1] for line in LINES)])
def test_a_drawing_tells_the_sentence_at_fault(untrained_model: Path, targets: tuple[str, ...]) -> None:
    config = DrawingOptions(target=targets)
    request = DrawingRequest(
        models=(untrained_model,), corpora=(), config=config, search=GREEDY, sentences=tuple(LINES)
    )
    drawing = Drawing()
    translator = TranslationRequest(untrained_model).load()
    drawn = measure_translations(request, translator, untrained_model, drawing, "")
    assert [each.translation.failure is not None for each in drawn] == [False, True, False, False]
    assert any("nmt failed" in warning for warning in drawing.warnings)


@pytest.mark.usefixtures("failing")
def test_a_validation_measures_the_other_sentences(corpus: PreparedCorpus) -> None:
    from nmt_cli.arrays.rows import BatchSize
    from nmt_cli.model.config import Vocabularies
    from nmt_cli.model.seq2seq import Seq2Seq  # TensorFlow
    from nmt_cli.training.validation import Validator
    from support.models import tiny_config

    vocabulary = corpus.source_tokenizer.vocabulary_size
    network = Seq2Seq(tiny_config(), Vocabularies(source=vocabulary, target=vocabulary, joint=True))
    validator = Validator(network, corpus, size=BatchSize(rows=128, cells=4000))
    validator.sources[3] = f"bade {SECRET}."
    measured = validator.measure()
    assert "nmt failed (OverflowError" in measured.failures and "(4)" in measured.failures
