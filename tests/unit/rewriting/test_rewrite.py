"""What the network reads is folded, what comes back has the case of the source, and words stay where they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.rewriting.rewrite import Rewriter
from nmt_cli.search.config import SearchOptions
from nmt_cli.sources.source import TextSource
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import TokenizerSettings
from nmt_cli.text.tokenizer import Tokenizer, train_tokenizer
from nmt_cli.translation.config import LineOptions, TranslateOptions
from nmt_cli.translation.forced import force_translations
from nmt_cli.translation.placement.alignment import find_links
from nmt_cli.translation.result import Translation
from nmt_cli.translation.translator import LineTranslator
from support.adversary import Parrot
from support.models import toy_pairs
from support.properties import examples
from support.rewriting import model_text
from support.spans import lines_with_spans

TRAINING = [(source.capitalize(), source.capitalize()) for source, _ in toy_pairs(300)]
SETTINGS = TokenizerSettings(kind="unigram", lowercase=False)
TOKENIZER = Tokenizer(train_tokenizer([text for pair in TRAINING for text in pair], SETTINGS), SETTINGS)
CLEAN = TRAINING[0][0]


def make_translator(*, fold: bool = True, copies_placeholders: bool = True) -> LineTranslator:
    """Returns a translator whose network copies what it reads."""
    rewriter = Rewriter.from_model(model_text(TRAINING))
    engine, source = Parrot(TOKENIZER.vocabulary_size), TextSource(TOKENIZER)
    return LineTranslator(
        engine,
        source,
        TOKENIZER,
        lines=LineOptions(fold=fold),
        copies_placeholders=copies_placeholders,
        rewriter=rewriter,
    )


def translate(line: str, *, fold: bool = True, copies_placeholders: bool = True) -> Translation:
    return make_translator(fold=fold, copies_placeholders=copies_placeholders).translate(
        [line], TranslateOptions(SearchOptions(beam_size=1))
    )[0]


def read(line: str) -> str:
    """Returns what the network reads."""
    return "".join(translate(line).source_pieces[:-1]).replace("▁", " ").strip()


@pytest.mark.parametrize("line", [source for source, _ in TRAINING[:50]])
def test_the_network_reads_a_clean_line_as_it_is(line: str) -> None:
    folded, plain = translate(line), translate(line, fold=False)
    assert (folded.text, folded.source_pieces) == (plain.text, plain.source_pieces)


def test_marks_without_a_shape_do_not_reach_the_network() -> None:
    assert read(f"\u200e{CLEAN}") == read(CLEAN) and translate(f"\u200e{CLEAN}").text == CLEAN
    assert translate(f"\u200e{CLEAN}").unseen == frozenset()


def test_every_word_read_in_another_form_is_told_with_that_form() -> None:
    assert translate(CLEAN).readings == ()
    capitals = translate(CLEAN.upper()).readings
    assert [word for word, _ in capitals] == CLEAN.upper().split() and " ".join(known for _, known in capitals) == CLEAN


@examples(100)
@given(st.one_of(st.text(), lines_with_spans()))
def test_what_was_read_is_what_stands_in_the_line(line: str) -> None:
    assert all(read.word != read.known for read in translate(line).readings)


def test_a_line_in_capitals_comes_back_in_capitals() -> None:
    assert read(CLEAN.upper()) == read(CLEAN) and translate(CLEAN.upper()).text == CLEAN.upper()


def test_a_heading_and_a_word_come_back_as_they_were() -> None:
    first, *words = CLEAN.split()
    heading, shouted = f"{first} {' '.join(words).title()}", f"{first} {words[0].upper()} {' '.join(words[1:])}".strip()
    for line in (heading, shouted):
        assert read(line) == read(CLEAN) and translate(line).text == line


def test_shouted_words_are_found_among_spans_and_marks_that_stand_alone() -> None:
    first, second, *_ = CLEAN.rstrip(".").split()
    for line in (
        f"{first} \u200e {second.upper()} neba.",
        f"{first} 5 km <b>{second.upper()}</b> neba.",
        f"{first} https://example.org/a {second.upper()} neba.",
    ):
        text = translate(line).text
        assert second.upper() in text and first in text and "neba." in text
        assert all(span in text for span in ("5 km", "<b>", "https://example.org/a") if span in line)


def test_spans_in_a_line_of_capitals_keep_their_case() -> None:
    line = f"{CLEAN.upper()[:-1]} https://example.org/a 5 km <b>BADE</b>"
    assert "https://example.org/a" in translate(line).text and "5 km" in translate(line).text
    assert "<b>" in translate(line).text


def test_quotes_around_a_sentence_do_not_reach_the_network() -> None:
    for line in (f"“{CLEAN}”", f"‘{CLEAN}’", f'"{CLEAN}"'):
        assert read(line) == read(CLEAN) and translate(line).text == line
    assert read(f"“{CLEAN.upper()}”") == read(CLEAN) and translate(f"“{CLEAN.upper()}”").text == f"“{CLEAN.upper()}”"


def test_a_line_of_nothing_but_marks_without_a_shape_passes() -> None:
    assert translate("\u200e\u200f").text in ("", "\u200e\u200f")


@pytest.mark.parametrize("copies_placeholders", [True, False])
@examples(100)
@given(line=lines_with_spans(), marks=st.lists(st.sampled_from(["\u200e", " \u200f ", "“", "", " "]), min_size=2))
def test_words_are_linked_to_those_of_the_line_itself(copies_placeholders: bool, line: str, marks: list[str]) -> None:
    line = marks[0] + line.replace(" ", f" {marks[1]}", 1)
    translation = translate(line, copies_placeholders=copies_placeholders)
    words = normalise(line).split()
    for source, target in find_links(translation, translation.hypotheses[0]) if translation.hypotheses else ():
        assert source < len(words) and target < len(translation.text.split())


def test_a_mark_that_stands_alone_counts_as_a_word_of_the_line() -> None:
    words = CLEAN.rstrip(".").split()
    line = f"{words[0]} \u200e {' '.join(words[1:])}."
    translation = translate(line)
    links = find_links(translation, translation.hypotheses[0])
    assert [source for source, _ in links] == [0, *range(2, len(words) + 1)]


def test_a_given_translation_is_scored_as_the_same_one_in_usual_case() -> None:
    lines = (CLEAN, f"\u200e{CLEAN}", CLEAN.upper())
    scores = [
        force_translations(make_translator(), [line], [CLEAN.upper() if line.isupper() else CLEAN])[0] for line in lines
    ]
    assert len({score.hypotheses[0].log_probability for score in scores}) == 1
