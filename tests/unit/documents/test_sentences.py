from __future__ import annotations

import pytest

from nmt_cli.documents.config import DocumentConfig
from nmt_cli.documents.document import DocumentSource
from nmt_cli.documents.markup import Mark, MarkedText
from nmt_cli.documents.sentences import split_marked
from nmt_cli.errors import DataError
from support.translations import backwards, converted


def parts(text: str, *marks: Mark) -> list[str]:
    return [sentence.text for sentence in split_marked(MarkedText(text, marks), by_sentence=True)]


@pytest.mark.parametrize(
    "text",
    ["Am 3. Oktober kam er.", "The U.S. Army is here.", "Ms. Smith left.", '"Go!" Tom said.', "{A. B} stays.", ""],
)
def test_what_ends_no_sentence_in_a_line_of_text_ends_none_in_a_document(text: str) -> None:
    assert parts(text) == [text]


def test_sentences_are_cut_apart_but_not_inside_a_mark() -> None:
    assert parts("One two. Three! 四。五。 ") == ["One two.", "Three!", "四。", "五。"]
    assert parts("One. Two. Three.", Mark(0, 9, "*", "*")) == ["One. Two.", "Three."]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("md", "{}\n"),
        ("srt", "1\n00:00:01,000 --> 00:00:02,000\n{}\n"),
        ("po", 'msgid "one two. Three"\nmsgstr "{}"\n'),
    ],
)
def test_sentences_stay_together_where_asked(name: str, text: str) -> None:
    source = text.format("" if name == "po" else "one two. Three")
    assert converted(name, source, backwards)[0] == text.format("TWO. ONE THREE")
    assert converted(name, source, backwards, split_sentences=False)[0] == text.format("THREE TWO. ONE")


def test_a_document_that_does_not_fit_the_memory_is_refused() -> None:
    lines = [b"a" * (1 << 20)] * 3
    source = DocumentSource(lines, "x.md", DocumentConfig(), "de")
    assert len(source.read_text(3)) == 3 << 20
    with pytest.raises(DataError, match="larger than 2 MiB"):
        source.read_text(2)
