"""Lines that are read behind the line before: each depends on its text alone, and no separator is ever written."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nmt_cli as nmt
from nmt_cli.api.translator import load
from nmt_cli.arrays.types import IntArray, SourceArray
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.documents.document import TranslationUnit
from nmt_cli.errors import OptionError
from nmt_cli.jobs.units import translate_units
from nmt_cli.runtime.model_directory import read_card
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.search.step_model import FedModel, Step, StepModel
from nmt_cli.server.models import ModelPool, ServedModel
from nmt_cli.server.service import BLOCK, Service
from nmt_cli.text.streams import batch_blocks
from nmt_cli.text.symbols import CONTEXT_END
from nmt_cli.text.tags import SentenceContext, parse_tag_list, replace_languages
from nmt_cli.translation.batch import TranslationBatch
from nmt_cli.translation.config import CheckOptions, RepairOptions, TagOptions, TranslateOptions
from nmt_cli.translation.forced import force_lines, force_translations
from nmt_cli.translation.known_tags import find_scope, find_tags
from nmt_cli.translation.lines import BEGINNING, WINDOW, ContextScope, ContextWindow, Line, lay_out_lines
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.result import Translation
from nmt_cli.translation.stages import find_context, rewrite, rewrite_lines, search, split
from nmt_cli.translation.translator import LineTranslator
from nmt_cli.workers.work import InProcess
from support.corpora import paged_pairs, prepare_paged, prepare_tagged
from support.models import export_untrained
from support.properties import examples
from support.served import Client

GREEDY = SearchOptions(beam_size=1, max_length=8)
LINES = [pair[0] for pair in paged_pairs(6)]
FIRST = TextId(0, 0)


@pytest.fixture(scope="module")
def context_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("context")
    corpus: PreparedCorpus = prepare_paged(directory)
    return export_untrained(corpus, directory / "model")


@pytest.fixture(scope="module")
def reader(context_model: Path) -> LineTranslator:
    return TranslationRequest(context_model, threads=1).load()


def translate_texts(
    model: Path, texts: list[list[str]], block: int, scope: ContextScope = "documents"
) -> list[list[tuple[str, float]]]:
    """The translations of the lines of texts with their scores, translated together in blocks of so many lines."""
    units = [
        TranslationUnit((line,), lambda written: written[0].text + "\n", is_prose=True, begins_text=number == 0)
        for text in texts
        for number, line in enumerate(text)
    ]
    observed: list[Translation] = []
    job = TranslationRequest(model, options=TranslateOptions(GREEDY, RepairOptions(), CheckOptions()))
    batches = batch_blocks(iter(units), block)
    written = b"".join(translate_units(batches, InProcess(job.start(threads=1)), observed.append, scope))
    assert written.decode().splitlines() == [translation.text for translation in observed]
    results = iter([(t.text, t.hypotheses[0].score) for t in observed])
    return [[next(results) for _ in text] for text in texts]


def test_the_row_of_a_line_is_behind_its_context(reader: LineTranslator) -> None:
    tokenizer, context = reader.source.subwords, SentenceContext("the lamp is red here", (7, 8, 4))
    assert tokenizer is not None
    (row,), (plain,) = (reader.source.make_rows([LINES[1]], None, [()], contexts) for contexts in ([context], []))
    before = [*tokenizer.encode(context.source), tokenizer.separator_id]
    assert row.values.tolist() == [*before, *plain.values.tolist()]
    assert (row.tags, row.target_prefix) == (len(before), context.target)
    assert reader.source.label_positions(row) == reader.source.label_positions(plain)


def read_in_context(texts: Sequence[str], rows: Sequence[int]) -> Sequence[str | Line]:
    """Lines of which these rows are read in context."""
    return lay_out_lines(texts, windows=[ContextWindow((), tuple(rows))])


def test_a_line_reads_the_line_before_and_the_translation_of_that(reader: LineTranslator) -> None:
    first, second, _ = reader.translate(read_in_context(LINES[:3], [0, 1]), TranslateOptions(GREEDY))
    (alone,), (third,) = (reader.translate([line], TranslateOptions(GREEDY)) for line in (LINES[1], LINES[0]))
    assert (first.text, first.hypotheses[0].score) == (third.text, third.hypotheses[0].score)
    context = SentenceContext(LINES[0], (*first.hypotheses[0].tokens[: -first.hypotheses[0].finished or None], 0))
    separator = reader.target.separator_id
    assert separator is not None
    context = context._replace(target=(*context.target[:-1], separator))
    (expected,) = reader.network.search({FIRST: LINES[1]}, GREEDY, contexts={FIRST: context}).values()
    assert second.hypotheses[0].tokens == expected.hypotheses[0].tokens
    assert second.hypotheses[0].score == pytest.approx(expected.hypotheses[0].score)
    assert second.hypotheses[0].score != pytest.approx(alone.hypotheses[0].score)
    assert second.hypotheses[0].attention.shape == (len(second.hypotheses[0].tokens), len(second.source_pieces))


def test_a_greeting_is_read_alone_and_the_next_sentence_behind_the_last_one(reader: LineTranslator) -> None:
    greeting = f"{LINES[1]},"
    read = reader.translate(read_in_context([LINES[0], greeting, LINES[2]], [0, 1, 2]), TranslateOptions(GREEDY))
    first, third = reader.translate(read_in_context([LINES[0], LINES[2]], [0, 1]), TranslateOptions(GREEDY))
    (second,) = reader.translate([greeting], TranslateOptions(GREEDY))
    expected = [translation.hypotheses[0].score for translation in (first, second, third)]
    assert [translation.hypotheses[0].score for translation in read] == pytest.approx(expected)


def test_a_translation_is_rated_behind_the_context_of_its_search(reader: LineTranslator) -> None:
    context = SentenceContext(LINES[0], (7, 8, reader.target.separator_id or 0))
    (searched,) = reader.network.search({FIRST: LINES[1]}, GREEDY, contexts={FIRST: context}).values()
    best, rows = searched.hypotheses[0], reader.source.make_rows([LINES[1]], None, [()], [searched.context])
    (forced,) = reader.network.force(rows, [best.tokens])
    assert forced.tokens == best.tokens and forced.attention.shape[0] == len(best.tokens)
    assert forced.log_probabilities == pytest.approx(best.token_log_probabilities, abs=1e-4)
    limits = [[value - 1e-3 for value in best.token_log_probabilities], [0.0] * len(best.tokens)]
    assert [reader.network.find_as_likely(rows, [best.tokens], [limit]) for limit in limits] == [[True], [False]]


class WithoutFeeding(NamedTuple):
    """An engine that is given the leads in the search."""

    engine: StepModel[Any]

    def encode(self, source: SourceArray) -> Any:
        return self.engine.encode(source)

    def step(self, tokens: IntArray, state: Any, candidates: int, *, scored: bool = True) -> Step[Any]:
        return self.engine.step(tokens, state, candidates, scored=scored)


@pytest.mark.parametrize("beam", [1, 5])
def test_a_network_fed_before_the_search_writes_what_it_writes_if_forced(reader: LineTranslator, beam: int) -> None:
    assert isinstance(reader.engine, FedModel)
    config = SearchOptions(beam_size=beam, max_length=8)
    leads = [(), (7, 8, 4), (9, 4), (5, 6, 7, 8, 4)]
    contexts = {TextId(row, 0): SentenceContext(LINES[row], lead) for row, lead in enumerate(leads) if lead}
    forced = reader.network._replace(engine=WithoutFeeding(reader.engine))
    texts = {TextId(row, 0): LINES[4 + row] for row in range(len(leads))}
    searched = (network.search(texts, config, contexts=contexts).values() for network in (reader.network, forced))
    for one, other in zip(*searched, strict=True):
        assert one.hypotheses[0].tokens == other.hypotheses[0].tokens
        assert one.hypotheses[0].score == pytest.approx(other.hypotheses[0].score, abs=1e-5)
        assert one.hypotheses[0].attention == pytest.approx(other.hypotheses[0].attention, abs=1e-5)


@examples(6)
@given(data=st.data())
def test_a_text_becomes_the_same_alone_or_beside_others_in_any_blocks(context_model: Path, data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.lists(st.sampled_from([*LINES[:12], ""]), min_size=1, max_size=20), max_size=3))
    texts = [[line for line in text if line] or [LINES[0]] for text in texts] or [[LINES[0]]]
    together = translate_texts(context_model, texts, data.draw(st.integers(1, 30)))
    for text, done in zip(texts, together, strict=True):
        (alone,) = translate_texts(context_model, [text], 1000)
        assert [line for line, _ in alone] == [line for line, _ in done]
        assert [score for _, score in alone] == pytest.approx([score for _, score in done], abs=1e-4)


def test_a_translation_with_a_fault_is_no_context(reader: LineTranslator) -> None:
    batch = TranslationBatch(LINES[:1], GREEDY, 1, None, None, range(1))
    for stage in (rewrite_lines, split, rewrite, search):
        stage(reader, batch)
    ((text_id, translation),) = batch.translations.items()
    for text, is_context in (("die Lampe ist hier rot", True), ("die Lampe " * 12, False)):
        hypothesis = translation.hypotheses[0]._replace(text=text.strip(), finished=True)
        batch.translations[text_id] = translation._replace(hypotheses=(hypothesis,))
        assert (find_context(batch, text_id, reader) is not None) == is_context


def test_the_separator_is_never_written(reader: LineTranslator) -> None:
    config = SearchOptions(beam_size=5, n_best=5, max_length=12)
    lines = LINES[: 2 * WINDOW]
    for translation in reader.translate(read_in_context(lines, list(range(len(lines)))), TranslateOptions(config)):
        for hypothesis in translation.hypotheses:
            assert CONTEXT_END not in hypothesis.text and CONTEXT_END not in hypothesis.pieces


def test_lines_without_context_are_as_if_there_was_none(context_model: Path, reader: LineTranslator) -> None:
    (unread,) = translate_texts(context_model, [LINES[:5]], 3, "nothing")
    alone = [
        reader.translate([line], TranslateOptions(GREEDY, repair=RepairOptions(), checks=CheckOptions()))[0]
        for line in LINES[:5]
    ]
    assert [text for text, _ in unread] == [translation.text for translation in alone]


def test_lines_outside_of_a_window_without_words_are_translated(reader: LineTranslator) -> None:
    number, line = reader.translate(read_in_context(["1", LINES[0]], [0]), TranslateOptions(GREEDY))
    (alone,) = reader.translate([LINES[0]], TranslateOptions(GREEDY))
    assert (number.text, line.text) == ("1", alone.text)


def test_the_sentences_of_a_line_follow_each_other(reader: LineTranslator) -> None:
    line = f"{LINES[0]}. {LINES[1]}."
    (whole,) = reader.translate(read_in_context([line], [0]), TranslateOptions(GREEDY))
    lines = read_in_context([f"{LINES[0]}.", f"{LINES[1]}."], [0, 1])
    first, second = reader.translate(lines, TranslateOptions(GREEDY))
    assert whole.text.split() == f"{first.text} {second.text}".split()


@pytest.mark.parametrize("context", [0, 1])
def test_the_page_reads_its_text_in_context_if_the_model_does(
    context_model: Path, monkeypatch: pytest.MonkeyPatch, context: int
) -> None:
    asked: list[Sequence[str | Line]] = []
    translate = LineTranslator.translate

    def record(
        translator: LineTranslator, lines: Sequence[str | Line], *rest: Any, **options: Any
    ) -> list[Translation]:
        asked.append(lines)
        return translate(translator, lines, *rest, **options)

    model = ServedModel.read(context_model)
    model.card = model.card._replace(context=context)
    lines = (LINES * 4)[: BLOCK + 1]
    with monkeypatch.context() as patch:
        patch.setattr(LineTranslator, "translate", record)
        client = Client(Service(ModelPool([model], partial(load, max_length=4))))
        values = {"source": model.source.code, "target": model.target.code}
        answer = client.ask("/page/translate", q="\n\n".join(lines), **values)["lines"]
        client.ask("/translate", q=lines[0] + "\n" + lines[1], **values)
    *on_page, of_client = asked
    follows = [line.follows for lines in on_page for line in lines if isinstance(line, Line) and not line.only_context]
    assert len([line for line in answer if line["source"]]) == len(lines)
    assert follows[: 2 if context else None] == ([BEGINNING, 0] if context else [])
    before = [line for lines in on_page for line in lines if isinstance(line, Line) and line.only_context]
    assert len(before) == context * (BLOCK // WINDOW)
    assert [line for line in of_client if isinstance(line, Line)] == []


def test_a_model_says_whether_it_reads_context(context_model: Path) -> None:
    card = read_card(context_model)
    assert find_scope(None, card, context_model) == find_scope(0, card, context_model) == "nothing"
    with pytest.raises(OptionError, match="was trained without context"):
        find_scope(1, card, context_model)
    able = card._replace(context=1)
    assert [find_scope(context, able, context_model) for context in (None, 0, 1)] == [
        "documents",
        "nothing",
        "everything",
    ]


# Tags in front of sources: read by the network, and seen by nothing behind it.

SHORT = SearchOptions(beam_size=1, max_length=6)
GERMAN, DUTCH = parse_tag_list("to:de"), parse_tag_list("to:nl ui")
LINE = "The dog sees 3.5 cats at one two."


@pytest.fixture(scope="module")
def tagged_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tagged")
    corpus: PreparedCorpus = prepare_tagged(directory)
    exported = export_untrained(corpus, directory / "model")
    return exported


@pytest.fixture(scope="module")
def tagging_translator(tagged_model: Path) -> LineTranslator:
    return TranslationRequest(tagged_model).load()


def test_the_network_reads_the_tags_and_attention_is_that_of_the_text(tagging_translator: LineTranslator) -> None:
    (row,), (plain,) = (tagging_translator.source.make_rows([LINE], tags=tags) for tags in ([DUTCH], []))
    assert row.values.tolist() == [*tagging_translator.source.subwords.list_tag_ids(DUTCH), *plain.values.tolist()]  # type: ignore[union-attr]
    assert tagging_translator.source.label_positions(row) == tagging_translator.source.label_positions(plain)
    (tagged,) = tagging_translator.translate([LINE], TranslateOptions(replace(SHORT, tags=DUTCH)))
    (german,) = tagging_translator.translate([LINE], TranslateOptions(SHORT))
    assert tagged.source_pieces == german.source_pieces
    for hypothesis in (*tagged.hypotheses, *german.hypotheses):
        assert hypothesis.attention.shape == (len(hypothesis.pieces), len(tagged.source_pieces))
    assert tagged.hypotheses[0].log_probability != german.hypotheses[0].log_probability


def test_without_a_language_the_first_of_the_model_is_asked_for(tagging_translator: LineTranslator) -> None:
    card = tagging_translator.card._replace(target_language="de")
    usual = LineTranslator(tagging_translator.engine, tagging_translator.source, tagging_translator.target, card)
    assert usual.complete_tags(()) == GERMAN
    assert usual.complete_tags(parse_tag_list("ui")) == parse_tag_list("to:de ui")
    assert usual.complete_tags(DUTCH) == DUTCH
    assert tagging_translator.complete_tags(parse_tag_list("ui")) == parse_tag_list(
        "ui"
    )  # it has no tag of its own language


def test_a_language_brings_its_rules_along(tagging_translator: LineTranslator) -> None:
    dutch = tagging_translator.read_languages(replace_languages(tagging_translator.languages, DUTCH))
    assert (tagging_translator.languages, dutch.languages) == (("xx", "yy"), ("xx", "nl"))
    assert dutch.reader.context.languages == dutch.check_context[:2] == ("xx", "nl")
    assert (
        tagging_translator.read_languages(replace_languages(tagging_translator.languages, parse_tag_list("ui")))
        is tagging_translator
    )
    assert (
        tagging_translator.read_languages(replace_languages(tagging_translator.languages, parse_tag_list("to:nl")))
        is dutch
    )
    assert tagging_translator.check_context[:2] == ("xx", "yy")


@pytest.mark.parametrize("subject", ["attention", "beam"])
def test_what_is_drawn_is_in_the_language_asked_for(
    tagged_model: Path, tagging_translator: LineTranslator, subject: str
) -> None:
    texts = {}
    for language in ("de", "nl"):
        drawn = nmt.visualize(
            "The dog sees.", model=tagged_model, to=language, beam=subject == "beam", beam_size=1, max_length=6
        )
        (translation,) = tagging_translator.translate(
            ["The dog sees."], TranslateOptions(replace(SHORT, tags=parse_tag_list(f"to:{language}")))
        )
        assert translation.text.casefold() in drawn.text.casefold()  # a picture of the beam keeps the network's case
        texts[language] = drawn.text
    assert texts["de"] != texts["nl"]


def test_lines_of_several_tags_come_back_in_order(tagging_translator: LineTranslator) -> None:
    lines, tags = [LINE, "The cat.", "The dog.", ""], [DUTCH, GERMAN, DUTCH, ()]
    reports: list[int] = []
    together = tagging_translator.translate(lay_out_lines(lines, tags), TranslateOptions(SHORT), reports.append)
    assert [translation.source for translation in together] == lines
    for line, own, translation in zip(lines, tags, together, strict=True):
        assert (
            translation.text == tagging_translator.translate([line], TranslateOptions(replace(SHORT, tags=own)))[0].text
        )
    assert reports == sorted(reports) and reports[-1] == len(lines)


def test_a_translation_is_scored_behind_its_tags(tagging_translator: LineTranslator) -> None:
    (found,) = tagging_translator.translate(["The dog sees."], TranslateOptions(replace(SHORT, tags=DUTCH)))
    (forced,) = force_lines(tagging_translator, ["The dog sees."], [found.text], tags=[DUTCH])
    (other,) = force_lines(tagging_translator, ["The dog sees."], [found.text], tags=[GERMAN])
    assert forced.log_probability != other.log_probability
    (scored,) = force_translations(tagging_translator, ["The dog sees."], [found.text], tags=DUTCH)
    assert scored.hypotheses[0].log_probability == pytest.approx(forced.log_probability, abs=1e-4)
    assert scored.hypotheses[0].attention.shape[1] == len(scored.source_pieces)


def test_what_is_asked_for_is_found_among_the_tags_of_the_model(tagged_model: Path) -> None:
    card = read_card(tagged_model)
    assert find_tags(TagOptions(to="nld", tag=("ui",)).names, card, tagged_model) == DUTCH
    assert find_tags(["nl"], card, tagged_model) == parse_tag_list("to:nl")
    assert find_tags(TagOptions(to="de-AT").names, card, tagged_model) == GERMAN
    both = card._replace(tags={">pt-BR": 1, ">pt-PT": 1})
    for asked, found in (
        ("pt-PT", "pt-PT"),
        ("POR_pt", "pt-PT"),
        ("pt-br", "pt-BR"),
        ("pt", "pt-BR"),
        ("pt-AO", "pt-BR"),
    ):
        assert find_tags(TagOptions(to=asked).names, both, tagged_model) == parse_tag_list(f"to:{found}")
    named = card._replace(tags={">tar": 1, ">tpi": 1, ">quc": 1})
    for asked, found in (("Rarámuri", "tar"), ("tarahumara", "tar"), ("Tok Pisin", "tpi"), ("K'iche'", "quc")):
        assert find_tags(TagOptions(to=asked).names, named, tagged_model) == parse_tag_list(f"to:{found}")
    assert find_tags([], card, tagged_model) == ()
    assert find_tags(["to:yy"], card._replace(tags={}), tagged_model) == ()


@pytest.mark.parametrize(
    ("config", "message", "hint"),
    [
        (TagOptions(to="fr"), "does not translate to fr", "the model translates to de, nl"),
        (TagOptions(tag=("help",)), "does not know the tag help", "the model knows >de, >nl, ui"),
        (TagOptions(formality="formal"), "does not know the tag formal", "the model knows >de, >nl, ui"),
    ],
)
def test_a_tag_that_a_model_does_not_know_names_those_it_does(
    tagged_model: Path, config: TagOptions, message: str, hint: str
) -> None:
    with pytest.raises(OptionError, match=message) as refused:
        find_tags(config.names, read_card(tagged_model), tagged_model)
    assert refused.value.hint == hint
    with pytest.raises(OptionError) as refused:
        find_tags(config.names, read_card(tagged_model)._replace(tags={}), tagged_model)
    assert refused.value.hint in ("the model translates to yy", "the model was trained without tags: see docs/tags.md")
