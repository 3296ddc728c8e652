import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.errors import OptionError
from nmt_cli.runtime.model_directory import read_card, write_card
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.translation.config import LineOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.translator import LineTranslator
from support.models import prepare_toy
from support.properties import examples

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


def test_a_blank_line_has_no_hypothesis_and_an_empty_translation(translator: LineTranslator) -> None:
    blank = translator.translate(["", "  \u00a0\t"], TranslateOptions(GREEDY))
    assert [(translation.text, translation.hypotheses) for translation in blank] == [("", ()), ("", ())]


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
