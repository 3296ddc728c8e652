"""Tags in front of sources: read by the network, and seen by nothing behind it."""

from dataclasses import replace
from pathlib import Path

import pytest

import nmt_cli as nmt
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import OptionError
from nmt_cli.runtime.model_directory import read_card
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.tags import parse_tag_list, replace_languages
from nmt_cli.translation.config import TagOptions, TranslateOptions
from nmt_cli.translation.forced import force_lines, force_translations
from nmt_cli.translation.known_tags import find_tags
from nmt_cli.translation.lines import lay_out_lines
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.translator import LineTranslator
from support.corpora import prepare_tagged
from support.models import export_untrained

GREEDY = SearchOptions(beam_size=1, max_length=6)
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
    (tagged,) = tagging_translator.translate([LINE], TranslateOptions(replace(GREEDY, tags=DUTCH)))
    (german,) = tagging_translator.translate([LINE], TranslateOptions(GREEDY))
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
            ["The dog sees."], TranslateOptions(replace(GREEDY, tags=parse_tag_list(f"to:{language}")))
        )
        assert translation.text in drawn.text
        texts[language] = drawn.text
    assert texts["de"] != texts["nl"]


def test_lines_of_several_tags_come_back_in_order(tagging_translator: LineTranslator) -> None:
    lines, tags = [LINE, "The cat.", "The dog.", ""], [DUTCH, GERMAN, DUTCH, ()]
    reports: list[int] = []
    together = tagging_translator.translate(lay_out_lines(lines, tags), TranslateOptions(GREEDY), reports.append)
    assert [translation.source for translation in together] == lines
    for line, own, translation in zip(lines, tags, together, strict=True):
        assert (
            translation.text
            == tagging_translator.translate([line], TranslateOptions(replace(GREEDY, tags=own)))[0].text
        )
    assert reports == sorted(reports) and reports[-1] == len(lines)


def test_a_translation_is_scored_behind_its_tags(tagging_translator: LineTranslator) -> None:
    (found,) = tagging_translator.translate(["The dog sees."], TranslateOptions(replace(GREEDY, tags=DUTCH)))
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
        (TagOptions(to="fr"), "does not translate to fr", "it translates to de, nl"),
        (TagOptions(tag=("help",)), "does not know the tag help", "it knows >de, >nl, ui"),
        (TagOptions(formality="formal"), "does not know the tag formal", "it knows >de, >nl, ui"),
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
    assert refused.value.hint in ("it translates to yy", "it was trained without tags: see docs/tags.md")
