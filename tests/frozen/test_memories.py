"""What a line becomes depends on the line alone: a reader that has read others reads it as a fresh one does.

Readers remember words, since most come again and again. Whatever decides must then be a part of what is remembered.
"""

import random
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmt_cli.rewriting.protocol import ModelText
from nmt_cli.rewriting.rewrite import Rewriter
from nmt_cli.rewriting.slips import Slips
from nmt_cli.runtime.installed_models import list_bundled_models
from nmt_cli.text.profile import CorpusProfile
from nmt_cli.text.profile_building import build_profile
from nmt_cli.translation.config import CheckOptions, LineOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.segmentation.line_reader import LineReader
from support.properties import examples
from support.rewriting import model_text
from support.scripted_translator import GREEDY, ScriptedTranslator

HERE = Path(__file__).parent
MODELS = {"eng": "eng-deu", "deu": "deu-eng"}
# A small training text, which lacks many words: what is unknown, an abbreviation or a sign, depends on its neighbours.
SENTENCES = ("The children went home with Margaret because the weather was cold.", "We saw a dog and = or > of Tom.")
# For a person, "s." may be an abbreviation or a slip for "a", "=" a part of a formula or a sign alone.
PARTS = "the s. s a. dog chidren x = y > 24 Dec. Tom Tom/Quux Quux childrn cold.".split()


def load_reader(language: str) -> LineReader:
    return TranslationRequest(list_bundled_models()[MODELS[language]], lines=LineOptions(slips=True)).load().reader


def forget(reader: LineReader) -> None:
    """Empties what a reader remembers of the lines before."""
    slips: Slips = reader.rewriter.find(Slips)
    finder = reader.context.find_names.__self__  # type: ignore[union-attr]
    for remember in (slips.is_known, slips.find_best, finder.is_ordinary):
        remember.__self__.clear()  # type: ignore[attr-defined]
    for words in (slips.familiar, finder.nameless):
        words.clear()


def read(reader: LineReader, line: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(piece.text, tuple(span.text for span in piece.spans)) for piece in reader.split_line(line)]


@pytest.mark.parametrize("language", MODELS)
def test_a_line_is_read_alike_whatever_was_read_before(language: str) -> None:
    lines = (HERE / f"{language}.txt").read_text(encoding="utf-8").split("\n")[:-1]
    random.Random(1).shuffle(lines)
    reader = load_reader(language)
    after_others = [read(reader, line) for line in lines]
    for line, expected in zip(lines, after_others, strict=True):
        forget(reader)
        assert read(reader, line) == expected


MODEL = model_text([(sentence, sentence) for sentence in SENTENCES] * 30)
READER = LineReader(
    LineOptions(slips=True), copies_placeholders=True, rewriter=Rewriter.from_model(MODEL), languages=("eng", "deu")
)
LINES = st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map(" ".join)


@examples(300)
@given(st.lists(LINES, min_size=2, max_size=12))
@example(["the s. dog", "the s."])
@example(["= dog", "x = y"])
def test_no_line_changes_another(lines: list[str]) -> None:
    forget(READER)
    together = [read(READER, line) for line in lines]
    for line, expected in zip(lines, together, strict=True):
        forget(READER)
        assert read(READER, line) == expected


# Words of both languages, which one of them uses far more often.
SHARED = [("They die in war with a hat.", "Die hat war die hat war.")] * 3 + [("A man.", "Die hat war die.")] * 40
PAIRS = [(sentence, sentence) for sentence in SENTENCES] * 30 + SHARED
WORDS = (*PARTS, "die hat war", "die hat war die hat war", "Die", "1.000", "<b>Tom</b>", "e.g.", "(quux)")


def make_translator() -> ScriptedTranslator:
    """A translator of a small training text that remembers nothing."""
    translator = ScriptedTranslator(str.upper)
    translator.profile = CorpusProfile.parse(build_profile(PAIRS).encode())
    model = ModelText(translator.profile.source, translator.profile.target, ("eng", "deu"), lowercase=False)
    translator.reader = LineReader(
        LineOptions(slips=True), copies_placeholders=True, rewriter=Rewriter.from_model(model), languages=("eng", "deu")
    )
    return translator


def translate(translator: ScriptedTranslator, lines: list[str]) -> list[tuple[object, ...]]:
    """Returns all that is told of the translation of each line."""
    translations = translator.translate(lines, TranslateOptions(GREEDY, repair=RepairOptions(), checks=CheckOptions()))
    return [(each.text, each.placed, *each._replace(hypotheses=())) for each in translations]


@examples(60)
@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=2, max_size=6))
@example(["die hat war die hat war", "die hat war die hat war"])
@example(["e.g.", "e.g. dog", "e.g."])
def test_no_line_changes_the_translation_of_another(lines: list[str]) -> None:
    alone = [told for line in lines for told in translate(make_translator(), [line])]
    one_by_one, together = make_translator(), make_translator()
    assert [told for line in lines for told in translate(one_by_one, [line])] == alone
    assert translate(together, lines) == alone
    assert translate(together, lines[::-1]) == alone[::-1]
