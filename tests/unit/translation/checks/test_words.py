"""Words that nothing translates: by the attention of hand-made translations, and as a model reads them back."""

from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from nmt_cli.api.open_model import open_translator
from nmt_cli.errors import OptionError
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.runtime.model_directory import ModelDirectory, read_card, require_reverse, write_card
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import TEXTS_PER_ENTRY, build_profile
from nmt_cli.translation.checks.words import CheckContext, check_coverage
from nmt_cli.translation.forced import force_translations, rate_words, read_back
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.result import Placed, Translation
from support.translations import aligned

PAIRS = [("he has been in trade", "er ist im Handel"), *[("he has been here", "er ist hier")] * 200]
CONTEXT = CheckContext("eng", "deu", profile=CorpusProfile.parse(build_profile(PAIRS).encode()))
SOURCE = "He has been in trade, here."  # of which training had only `trade` rarely
GERMAN = ["Er", "ist", "hier."]


def name_lost(translation: Translation) -> str:
    failed = check_coverage(translation, CONTEXT)
    return failed.message if failed is not None else ""


def attend(translation: Translation, word: int, share: float) -> Translation:
    """The translation whose first word gives this share of its attention to another source word."""
    (attention,) = translation.hypotheses[0].attentions
    changed = attention.copy()
    changed[0] *= 1 - share
    changed[0, word] += share
    return translation._replace(hypotheses=(translation.hypotheses[0]._replace(attentions=(changed,)),))


def align(words: list[str], links: list[int]) -> Translation:
    """A translation from which a model of the other direction would not read back any word."""
    return aligned(SOURCE, words, links)._replace(read_back=dict.fromkeys(SOURCE.lower().split(), -8.0))


LOST = align(GERMAN, [0, 2, 5])._replace(read_back={"trade": -8.0, "has": -8.0})


def test_a_content_word_without_attention_is_named_and_no_function_word() -> None:
    assert name_lost(LOST) == "no translation of trade"
    assert name_lost(align([*GERMAN, "Handel"], [0, 2, 5, 4])) == ""


def test_without_reading_back_only_what_a_translation_lacks_is_named() -> None:
    assert name_lost(LOST._replace(read_back=None)) == ""
    assert name_lost(LOST._replace(read_back=None, left_out=("trade",))) == "no translation of trade"


@pytest.mark.parametrize(
    ("source", "target", "lost"),
    [
        ("%1 trade here", "%1 hier", "trade"),
        ("%1 trade here", "%1 er ist hier", ""),
        ("%1 trade", "%1", "trade"),
        ("%1 trade here", "%1 Handel", ""),
        ("%1 has been here", "%1 ist hier", ""),
        ("Regards trade", "Grüße", ""),  # a span that stands for words
        ("He trade here", "Er ist hier", ""),  # without a span, it may be said in another way
    ],
)
def test_beside_spans_alone_words_of_grammar_translate_no_content_word(source: str, target: str, lost: str) -> None:
    translation = align(target.split(), [0] * len(target.split()))._replace(source=source, read_back=None)
    spans = [Placed(span, "network", False) for span in ("%1", "Grüße") if span in target]
    best = translation.hypotheses[0]._replace(spans=tuple(spans))
    assert name_lost(translation._replace(hypotheses=(best,))) == (f"no translation of {lost}" if lost else "")


def test_a_word_that_links_or_stresses_may_be_left_out() -> None:
    assert name_lost(LOST._replace(left_out=("Therefore",), read_back=None)) == ""


def test_a_word_that_the_translation_contains_is_copied() -> None:
    assert name_lost(align(["Er", "ist", "Trader."], [0, 2, 5])) == ""


@pytest.mark.parametrize(("share", "is_lost"), [(0.2, True), (0.4, False)])
def test_a_little_attention_is_none(share: float, is_lost: bool) -> None:
    assert bool(name_lost(attend(LOST, 4, share))) == is_lost


def test_attention_to_the_end_of_the_sentence_is_left_out() -> None:
    share, end = 0.4, 6
    seen = attend(LOST, 4, share)
    assert name_lost(attend(seen, end, 0.9)) == name_lost(seen) == ""


@pytest.mark.parametrize(
    ("source", "target", "likely", "lost"),
    [
        ("Batteries not included.", "Katzen nicht enthalten.", -0.3, "Batteries"),
        ("Batteries not included.", "Akkus nicht enthalten.", -0.9, ""),  # a person's wording
        ("Batteries not included.", "Batterie liegt nicht bei.", -0.3, ""),
        ("The ducks sleep.", "Der Staub schläft.", -0.3, "ducks"),
        ("Two ducks.", "Zwei Duckenten.", -0.3, ""),
        ("The Ducks sleep.", "Der Staub schläft.", -0.3, ""),  # a name
    ],
)
def test_words_that_are_usually_translated_in_other_words_are_named(
    source: str, target: str, likely: float, lost: str
) -> None:
    sentences = [
        ("We eat.", "Wir essen."),
        ("We sleep.", "Wir schlafen."),
        ("Toys are not included.", "Ohne Spielzeug."),
    ]
    batteries = [("Buy batteries.", "Kauf Batterien."), ("It needs batteries.", "Es braucht Batterien.")]
    known = [*sentences * 2 * TEXTS_PER_ENTRY, *batteries * 2]
    context = CONTEXT._replace(profile=CorpusProfile.parse(build_profile(known).encode()))
    words = target.split()
    translation = aligned(source, words, [0] * len(words))
    best = translation.hypotheses[0]._replace(token_log_probabilities=(likely,) * len(words))
    failed = check_coverage(translation._replace(hypotheses=(best,)), context)
    assert (failed.message if failed else "") == (f"no translation of {lost}" if lost else "")


@pytest.mark.parametrize(
    ("source", "target", "lost"),
    [
        ("The lodgers sleep.", "Die Untermieter schlafen.", ""),
        ("The lodgers sleep.", "Die Katzen schlafen.", "lodgers"),
        ("The lodgers pay.", "Die Untermieter.", "lodgers, pay"),  # one word for two: one of them has none
    ],
)
def test_a_word_that_a_similar_pair_translates_is_not_left_out(source: str, target: str, lost: str) -> None:
    batteries = [("Buy batteries.", "Kauf Batterien."), ("It needs batteries.", "Es braucht Batterien.")]
    known = [*[("We sleep.", "Wir schlafen."), ("We eat.", "Wir essen.")] * 2 * TEXTS_PER_ENTRY, *batteries * 2]
    context = CONTEXT._replace(profile=CorpusProfile.parse(build_profile(known).encode()))
    words = target.split()
    translation = aligned(source, words, [0] * len(words))
    best = translation.hypotheses[0]._replace(token_log_probabilities=(-0.3,) * len(words))
    translation = translation._replace(hypotheses=(best,), guides=(("The lodgers pay.", "Die Untermieter zahlen."),))
    failed = check_coverage(translation, context)
    assert (failed.message if failed else "") == (f"no translation of {lost}" if lost else "")


def test_a_network_without_attention_and_a_person_leave_nothing_out() -> None:
    (best,) = LOST.hypotheses
    blind = best._replace(attentions=(np.zeros_like(best.attentions[0]),))
    assert name_lost(LOST._replace(hypotheses=(blind,))) == ""
    assert name_lost(LOST._replace(origin="memory")) == ""


def test_each_piece_of_a_line_is_looked_at_by_itself() -> None:
    (best,) = LOST.hypotheses
    twice = best._replace(pieces=best.pieces * 2, attentions=best.attentions * 2)
    line = LOST._replace(source_pieces=LOST.source_pieces * 2, hypotheses=(twice,))
    assert name_lost(line) == "no translation of trade"


def test_reading_back_acquits_what_is_likely_and_convicts_what_is_not() -> None:
    assert name_lost(LOST._replace(read_back={"trade": -1.0})) == ""
    assert name_lost(LOST._replace(read_back={"trade": -8.0})) == "no translation of trade"
    seen = attend(LOST, 4, 0.7)
    assert name_lost(seen._replace(read_back={"trade": -20.0})) == "no translation of trade"
    assert name_lost(seen._replace(read_back={"trade": -8.0})) == name_lost(seen) == ""


def test_words_are_rated_by_their_subwords(untrained_model: Path) -> None:
    translator = TranslationRequest(untrained_model).load()
    (forced,) = force_translations(translator, ["ba do"], ["ba do ba"])
    (best,) = forced.hypotheses
    words = rate_words(best)
    assert set(words) == {"ba", "do"}
    last = sum(best.token_log_probabilities[:-1])
    assert words["ba"] + words["do"] > last  # `ba` counts once, and as its less likely occurrence


def test_translations_are_read_back_one_by_one(untrained_model: Path) -> None:
    reverse = TranslationRequest(untrained_model).load()
    texts = [aligned("ba do", ["do", "ba"], [1, 0]), aligned("", [], []), aligned("do", ["ba"], [0])]
    together = read_back(reverse, texts)
    assert [translation.read_back is None for translation in together] == [False, True, False]
    for translation, other in zip(texts, together, strict=True):
        (alone,) = read_back(reverse, [translation])
        assert alone._replace(read_back=None) == translation
        assert (alone.read_back or {}) == pytest.approx(other.read_back or {})


def test_only_a_model_of_the_other_direction_reads_back(untrained_model: Path, tmp_path: Path) -> None:
    model = ModelDirectory.load(untrained_model)
    with pytest.raises(OptionError, match="does not translate text from yy to xx"):
        require_reverse(model, model)
    forth = ModelDirectory.open(find_model(Path("eng-deu")))
    with pytest.raises(OptionError) as refused:
        require_reverse(forth, forth)
    assert refused.value.hint == "name a model that does: --check-with deu-eng"
    other = copytree(untrained_model, tmp_path / "reverse")
    write_card(other, read_card(other)._replace(source_language="yy", target_language="xx"))
    require_reverse(model, ModelDirectory.load(other))
    translator = open_translator(TranslationRequest(untrained_model, check_with=other))
    assert [translation.read_back is not None for translation in translator.read_back([LOST])] == [True]
