"""References of HTML for letters and quotes are read as these, and written again."""

from __future__ import annotations

from nmt_cli.rewriting.entities import Entities
from nmt_cli.rewriting.protocol import Written
from support.rewriting import change, read


def test_references_of_letters_and_quotes_are_read_and_written_again() -> None:
    source = "caf&eacute; &quot;x&quot; it&#x27;s &amp; &copy; &bogus;"
    changed = change(Entities(), source)
    assert changed is not None
    text, references = changed
    assert text.text == 'café "x" it\'s &amp; &copy; &bogus;'
    assert [text.find_origin(index) for index in (3, 4, 5, 6)] == [3, 11, 12, 18]
    assert Entities().write(text.text, references, Written()) == source
    assert Entities().write("é {é}", references, Written(["{é}"])) == "&eacute; {é}"


def test_a_text_without_such_references_stays() -> None:
    assert read(Entities(), "x &amp; y; z") == "x &amp; y; z"
