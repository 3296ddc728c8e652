import pytest

from nmt_cli.documents.config import DocumentConfig
from nmt_cli.documents.document import DocumentSource
from nmt_cli.errors import DataError
from support.translations import backwards, converted


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
    assert converted(name, source, backwards, split_sentences=False)[0] == text.format("THREE TWO. ONE")


def test_the_sentences_of_a_message_are_translated_one_by_one() -> None:
    source = 'msgid "one two. Three"\nmsgstr "{}"\n'
    assert converted("po", source.format(""), backwards)[0] == source.format("TWO. ONE THREE")


def test_a_document_that_does_not_fit_the_memory_is_refused() -> None:
    lines = [b"a" * (1 << 20)] * 3
    source = DocumentSource(lines, "x.md", DocumentConfig(), "de")
    assert len(source.read_text(3)) == 3 << 20
    with pytest.raises(DataError, match="larger than 2 MiB"):
        source.read_text(2)
