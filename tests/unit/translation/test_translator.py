import shutil
from collections.abc import Sequence
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.api.drawings.attention import measure_translations
from nmt_cli.api.drawings.config import DrawingOptions
from nmt_cli.api.drawings.drawing import Drawing, DrawingRequest
from nmt_cli.api.translator import Translator
from nmt_cli.carrying.glossary import Glossary
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import DamagedError, DataError, NotFoundError, OptionError
from nmt_cli.evaluation.report import score_translations
from nmt_cli.evaluation.texts import ParallelText
from nmt_cli.runtime.model_directory import FLOAT, FORMAT, ModelCard, name_graphs, read_card, write_card
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.sources.source import TextSource
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.translation.config import CheckOptions, LineOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.request import Block, TranslationRequest
from nmt_cli.translation.stages import isolate
from nmt_cli.translation.translator import LineTranslator
from support.models import prepare_toy
from support.properties import examples
from support.scripted_translator import ScriptedTranslator

GREEDY = SearchOptions(beam_size=1, max_length=8)


@pytest.fixture(scope="module")
def translator(untrained_model: Path) -> LineTranslator:
    return TranslationRequest(untrained_model).load()


@examples(40)
@given(lines=st.lists(st.text(max_size=30), max_size=6))
def test_a_line_in_is_a_line_out_whatever_is_in_it(translator: LineTranslator, lines: list[str]) -> None:
    translations = translator.translate(lines, TranslateOptions(GREEDY))
    assert [translation.source for translation in translations] == lines
    for line, translation in zip(lines, translations, strict=True):
        assert translation.text.count("\n") <= line.count("\n")  # the line breaks of a cell stay, and none is added
        assert bool(translation.hypotheses) == bool(translation.source_pieces)


def test_a_blank_line_has_no_hypothesis_and_blanks_around_a_line_stay(translator: LineTranslator) -> None:
    blanks = ["", "  \u00a0\t"]
    done = translator.translate([*blanks, "\x0c", " bade giko. ", "bade giko.\t\u3000"], TranslateOptions(GREEDY))
    assert [(translation.text, translation.hypotheses) for translation in done[:3]] == [(x, ()) for x in (*blanks, " ")]
    core = done[3].text.strip()
    assert [translation.text for translation in done[3:]] == [f" {core} ", f"{core}\t\u3000"]


def test_order_is_kept_though_batches_go_by_length(translator: LineTranslator) -> None:
    lines = [f"{'bade ' * (number * 7 % 5)}giko." for number in range(12)]
    together = [translation.text for translation in translator.translate(lines, TranslateOptions(GREEDY))]
    assert together == [translator.translate([line], TranslateOptions(GREEDY))[0].text for line in lines]


def test_shapes_belong_together(translator: LineTranslator) -> None:
    translation = translator.translate(
        ["bade giko. lu"], TranslateOptions(SearchOptions(beam_size=3, n_best=3, max_length=6))
    )[0]
    assert len(translation.hypotheses) == 3
    for hypothesis in translation.hypotheses:
        assert hypothesis.attention.shape == (len(hypothesis.pieces), len(translation.source_pieces))
        assert len(hypothesis.token_log_probabilities) == len(hypothesis.pieces)
    assert translation.source_pieces[-1] == "</s>"


def test_characters_never_seen_are_named(translator: LineTranslator) -> None:
    assert translator.translate(["bade 字 giko."], TranslateOptions(GREEDY))[0].unseen == {"字"}
    assert translator.translate(["bade giko."], TranslateOptions(GREEDY))[0].unseen == frozenset()


def test_progress_counts_every_line_once(translator: LineTranslator) -> None:
    seen: list[int] = []
    translator.translate(["bade.", "", "giko lu."], TranslateOptions(GREEDY), progress=seen.append)
    assert seen[-1] == 3
    assert seen == sorted(seen)


LINES = ["bade giko.", "", "lu.", "giko bade lu ma ne po.", "bade giko lu."]


def test_every_translation_begins_with_the_prefix(translator: LineTranslator) -> None:
    config = SearchOptions(beam_size=2, n_best=2, max_length=20, prefix="  edab \u00a0okig")
    for translation in translator.translate(LINES, TranslateOptions(config)):
        assert all(hypothesis.text.startswith("edab okig") for hypothesis in translation.hypotheses)
        assert bool(translation.hypotheses) == bool(translation.source)


def test_of_a_line_in_pieces_the_first_alone_begins_with_the_prefix(untrained_model: Path) -> None:
    short = TranslationRequest(untrained_model, lines=LineOptions(max_words=3)).load()
    lines = ["bade giko lu ma ne po.", "{x}! bade giko lu.", "{x}"]
    free, config = SearchOptions(beam_size=2, max_length=20), SearchOptions(beam_size=2, max_length=20, prefix="edab")
    first, behind_span, span = (
        translation.text for translation in short.translate(lines, TranslateOptions(config, repair=RepairOptions()))
    )
    assert first.startswith("edab") and first.count("edab") == 1
    assert behind_span == "edab " + short.translate(lines, TranslateOptions(free, repair=RepairOptions()))[1].text
    assert span == "edab {x}"


def test_a_prefix_that_leaves_no_room_is_an_error(translator: LineTranslator) -> None:
    with pytest.raises(OptionError, match="--prefix has"):
        translator.translate(LINES, TranslateOptions(SearchOptions(max_length=3, prefix="edab okig ul")))


@examples(15)
@given(cut=st.integers(1, 4), top_k=st.sampled_from([0, 3]))
def test_a_sample_follows_from_its_line_and_number_however_lines_arrive(
    translator: LineTranslator, cut: int, top_k: int
) -> None:
    config = SearchOptions(max_length=12, n_best=2, sampling=SamplingOptions(sample=True, top_k=top_k, seed=5))
    together = translator.translate(LINES, TranslateOptions(config))
    apart = translator.translate(LINES[:cut], TranslateOptions(config)) + translator.translate(
        LINES[cut:], TranslateOptions(config), first_line=cut
    )
    assert [[hypothesis.text for hypothesis in translation.hypotheses] for translation in together] == [
        [hypothesis.text for hypothesis in translation.hypotheses] for translation in apart
    ]


def test_the_same_line_elsewhere_in_the_stream_draws_anew(translator: LineTranslator) -> None:
    config = SearchOptions(max_length=30, sampling=SamplingOptions(sample=True))
    texts = {
        translation.text
        for translation in translator.translate(["bade giko lu ma ne po."] * 8, TranslateOptions(config))
    }
    assert len(texts) > 1


def test_equal_sentences_of_a_line_draw_apart(translator: LineTranslator) -> None:
    config = SearchOptions(max_length=30, sampling=SamplingOptions(sample=True))
    (translation,) = translator.translate(["Bade giko lu ma. " * 4], TranslateOptions(config))
    assert len(translation.hypotheses[0].attentions) == 4
    assert len({block.tobytes() for block in translation.hypotheses[0].attentions}) == 4


def test_all_options_of_search_work_together_on_a_real_model(translator: LineTranslator) -> None:
    config = SearchOptions(
        beam_size=4,
        n_best=4,
        max_length=15,
        length_normalisation="average",
        coverage_penalty=0.3,
        no_repeat_ngram=2,
        prefix="edab",
    )
    together = translator.translate(LINES, TranslateOptions(config))
    for line, translation in zip(LINES, together, strict=True):
        (alone,) = translator.translate([line], TranslateOptions(config))
        assert [hypothesis.text for hypothesis in translation.hypotheses] == [
            hypothesis.text for hypothesis in alone.hypotheses
        ]
        for hypothesis in translation.hypotheses:
            runs = [hypothesis.pieces[start : start + 2] for start in range(len(hypothesis.pieces) - 1)]
            assert len(set(runs)) == len(runs)


def test_an_ensemble_of_a_model_with_itself_translates_as_it_does_alone(
    translator: LineTranslator, untrained_model: Path
) -> None:
    twice = TranslationRequest(untrained_model, ensemble=(untrained_model,)).load()
    config = SearchOptions(beam_size=3, n_best=3, max_length=10)
    for translation, other in zip(
        translator.translate(LINES, TranslateOptions(config)),
        twice.translate(LINES, TranslateOptions(config)),
        strict=True,
    ):
        assert [hypothesis.tokens for hypothesis in translation.hypotheses] == [
            hypothesis.tokens for hypothesis in other.hypotheses
        ]
        assert [hypothesis.score for hypothesis in translation.hypotheses] == pytest.approx(
            [hypothesis.score for hypothesis in other.hypotheses]
        )


def test_models_with_other_subwords_cannot_be_joined(untrained_model: Path, tmp_path: Path) -> None:
    other = shutil.copytree(untrained_model, tmp_path / "other")
    shutil.copyfile(prepare_toy(tmp_path, count=500).directory / "joint.spm", other / "joint.spm")
    write_card(other, read_card(other))
    with pytest.raises(OptionError, match="it has different source subwords"):
        TranslationRequest(untrained_model, ensemble=(other,)).load()


def test_an_untrained_model_is_ill_and_what_is_healthy_stays_byte_for_byte(translator: LineTranslator) -> None:
    config = SearchOptions(beam_size=2)
    plain = translator.translate(LINES, TranslateOptions(config))
    repaired = translator.translate(LINES, TranslateOptions(config, repair=RepairOptions()))
    assert any(translation.repairs for translation in repaired)
    for translation, other in zip(plain, repaired, strict=True):
        if not other.repairs or other.repairs[0].remedy is None:
            assert (translation.text, translation.hypotheses and translation.hypotheses[0].score) == (
                other.text,
                other.hypotheses and other.hypotheses[0].score,
            )
    assert translator.translate(LINES, TranslateOptions(config, repair=RepairOptions(repair=False)))[0].repairs == ()


def test_what_is_drawn_at_random_is_left_as_it_was_drawn(translator: LineTranslator) -> None:
    config = SearchOptions(sampling=SamplingOptions(sample=True))
    samples = translator.translate(LINES, TranslateOptions(config, repair=RepairOptions()))
    assert not any(translation.repairs for translation in samples)


# Models and glossaries travel with their request.


@pytest.fixture(scope="module")
def unread_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a directory that passes for a model as long as nobody reads its graphs."""
    directory = tmp_path_factory.mktemp("ray")
    for name in (*name_graphs(FLOAT), "joint.spm", PROFILE_NAME):
        (directory / name).write_bytes(bytes(100_000))
    kinds = {name: str(kind) for name, kind in ModelCard.__annotations__.items()}
    values = {name: {} if "dict" in kind or "Entries" in kind else "joint.spm" for name, kind in kinds.items()}
    values["vocabularies"] = {"source": 9, "target": 9, "joint": True}
    values["tokenizer"] = {"kind": "unigram", "lowercase": False}
    write_card(directory, ModelCard(**{**values, "format": FORMAT, "epochs": 1, "context": 0}))
    return directory


def test_the_model_travels_with_its_request(unread_model: Path, tmp_path: Path) -> None:
    request = TranslationRequest(unread_model, ensemble=(unread_model,)).pack()
    unpacked = request.unpack_to(tmp_path)
    assert unpacked.model.parent == tmp_path
    assert unpacked.pack().packed == request.packed


def test_the_model_that_reads_back_travels_too(unread_model: Path, tmp_path: Path) -> None:
    reverse = copytree(unread_model, tmp_path / "reverse")
    write_card(reverse, read_card(reverse)._replace(epochs=2))
    request = TranslationRequest(unread_model, (unread_model,), check_with=reverse)
    shipped = request.pack().unpack_to(tmp_path)
    assert len(shipped.ensemble) == 1 and shipped.check_with is not None
    assert read_card(shipped.check_with).epochs == 2


def test_the_glossary_travels_too(unread_model: Path, tmp_path: Path) -> None:
    terms, directory = tmp_path / "terms.tsv", tmp_path / "there"
    terms.write_text("dog\tHund\n")
    request = TranslationRequest(unread_model, lines=LineOptions(glossary=str(terms))).pack()
    terms.unlink()
    directory.mkdir()
    lines = request.unpack_to(directory).lines
    assert lines.glossary is not None
    assert Glossary.load(Path(lines.glossary)).terms == {"dog": "Hund"}


def test_a_model_that_is_not_there_is_told_where_the_request_is_packed(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no model"):
        TranslationRequest(tmp_path).pack()


def test_a_held_job_translates_by_the_models_of_the_moment_it_was_held(untrained_model: Path, tmp_path: Path) -> None:
    """Whatever is written to their files: the worker that replaces a dead one has the same model."""
    model, lines = copytree(untrained_model, tmp_path / "model"), ("bade giko.", "lu.")
    job = TranslationRequest(model, options=TranslateOptions(SearchOptions(beam_size=1)))
    expected = [translation.text for translation in job.start()(Block(0, lines))]
    held = job.hold()
    for path in filter(Path.is_file, model.iterdir()):
        path.write_bytes(bytes(path.stat().st_size))
    assert [translation.text for translation in held.start(threads=1)(Block(0, lines))] == expected
    with pytest.raises(DamagedError):
        job.hold()


# A line on which nmt fails costs that line alone, whoever asks: it is copied and told, and all others are as ever.

SECRET = "secret"
LONGER = SearchOptions(beam_size=1, max_length=12)
ONE_SECRET = ["bade lu.", f"bade {SECRET}.", "ma lu bade.", "lu."]


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
    (copied,) = ScriptedTranslator(fail_on_secrets).translate([f"  a {SECRET}\t!"], TranslateOptions(LONGER))
    assert copied.text == copied.source == f"  a {SECRET}\t!"
    (check,) = copied.checks
    assert check.kind == "failed" and check.message.startswith("nmt failed (OverflowError at test_translator.py:")
    assert copied.needs_review and SECRET not in check.message


@pytest.mark.parametrize("problem", [DataError("line 1 is not a pair"), ModuleNotFoundError("no", name="PIL")])
def test_what_is_no_fault_of_a_line_is_an_error_as_before(problem: Exception) -> None:
    def refuse(text: str) -> str:
        raise problem

    with pytest.raises(type(problem)):
        ScriptedTranslator(refuse).translate(["a", "b"], TranslateOptions(LONGER))


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
    ScriptedTranslator(fail_on_secrets).translate([f"a {SECRET}.", "they came."], TranslateOptions(LONGER), seen.append)
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
    translations = translator.translate(ONE_SECRET, TranslateOptions(config), first_line=5)
    for row, line in enumerate(ONE_SECRET):
        (alone,) = translator.translate([line], TranslateOptions(config), first_line=5 + row)
        assert translations[row].text == alone.text


@pytest.mark.usefixtures("failing")
def test_python_gets_a_copy_of_the_line_at_fault(untrained_model: Path) -> None:
    loaded = Translator(TranslationRequest(untrained_model).load(), untrained_model, {"beam_size": 1})
    assert [each.failure is not None for each in loaded.translations(ONE_SECRET)] == [False, True, False, False]


@pytest.mark.usefixtures("failing")
def test_a_scored_line_at_fault_keeps_its_given_translation(untrained_model: Path) -> None:
    job = TranslationRequest(untrained_model, options=TranslateOptions(LONGER, checks=CheckOptions()), score=True)
    scored = job.start()(Block(0, tuple(f"{line}\t{line[::-1]}" for line in ONE_SECRET)))
    assert [each.text for each in scored] == [line[::-1] for line in ONE_SECRET]
    assert [each.source for each in scored] == ONE_SECRET
    assert [each.failure is not None for each in scored] == [False, True, False, False]
    with pytest.raises(DataError):
        job.start()(Block(0, ("no pair",)))


@pytest.mark.usefixtures("failing")
def test_an_evaluation_scores_a_copy_and_says_so(untrained_model: Path) -> None:
    translator = TranslationRequest(untrained_model).load()
    text = make_text(ONE_SECRET)
    report = score_translations(["chrf", "perplexity", "accuracy"], text, translator, LONGER)
    assert report.material.hypotheses[1] == ONE_SECRET[1]
    assert any("nmt failed (OverflowError" in warning and "(2)" in warning for warning in report.warnings)
    without = score_translations(["perplexity"], make_text(ONE_SECRET[:1] + ONE_SECRET[2:]), translator, LONGER)
    assert report.scores["perplexity"].value == pytest.approx(without.scores["perplexity"].value)
    assert not any("nmt failed" in warning for warning in without.warnings)


def make_text(lines: Sequence[str]) -> ParallelText:
    """Lines whose references are their characters backwards."""
    return ParallelText(tuple(lines), tuple((line[::-1],) for line in lines))


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("targets", [(), tuple(line[::-1] for line in ONE_SECRET)])
def test_a_drawing_tells_the_sentence_at_fault(untrained_model: Path, targets: tuple[str, ...]) -> None:
    config = DrawingOptions(target=targets)
    request = DrawingRequest(
        models=(untrained_model,),
        corpora=(),
        config=config,
        search=LONGER,
        sentences=tuple(ONE_SECRET),
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
