"""The checks of a single text: what they mend, and what they leave alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.checks import TEXT_CHECKS
from nmt_cli.corpus.checks.texts import Control, Markup, Mojibake


@pytest.mark.parametrize("text", ["für", "naïve – “ja”", "Привет", "日本語", "😀 café", "Ñandú", "l’été"])
def test_text_that_was_read_in_the_wrong_encoding_is_mended(text: str) -> None:
    misread = "".join(bytes([b]).decode("cp1252", "ignore") or chr(b) for b in text.encode())
    assert Mojibake().mend_text(misread) == text
    assert Mojibake().mend_text(text) == text


@pytest.mark.parametrize("text", ["„Ich vergaß“, sagte er.", "»SPÄ«", "là »", "«À»", "AÇÃO", "größer…", "Ä“", "100 Â"])
def test_good_text_that_looks_alike_is_left_alone(text: str) -> None:
    assert Mojibake().mend_text(text) == text


@given(st.text(max_size=40))
def test_menders_take_any_text_and_leave_nothing_to_mend_twice(text: str) -> None:
    for check in TEXT_CHECKS:
        if not isinstance(check, Mojibake | Markup):  # what was escaped twice is mended twice
            assert check.mend_text(check.mend_text(text)) == check.mend_text(text)
        assert isinstance(check.mend_text(text), str)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("stone &amp; tile", "stone & tile"),
        ("caf&eacute; &#8364;5 &#x20AC;", "café €5 €"),
        ("<b>bold</b> and <A HREF='x'>link</a>", "bold and link"),
        ("one<br/>two", "one two"),
        ("one <i> two </i> three <b>four", "one  two  three four"),
        ("a < b and c > d, I <3 you, <name>, AT&T; R&D", "a < b and c > d, I <3 you, <name>, AT&T; R&D"),
    ],
)
def test_entities_and_known_tags_become_text(text: str, mended: str) -> None:
    assert Markup().mend_text(text) == mended


@pytest.mark.parametrize(
    "text",
    [
        "The character é would be replaced by &eacute; or another.",
        'If the code "<SPAN>" occurs, it is ignored.',
        "Write “&amp;” or `<br>`.",
        "Use the <b> tag for that.",
        "Das Element <span> hat keine Bedeutung.",
        "Gemeint sind <OL>- und <UL>-Markierungen, nicht (<b>).",
        "The sizes are those of the <font size=1> to <font size=7> tags.",
    ],
)
def test_text_about_markup_is_no_markup(text: str) -> None:
    assert Markup().mend_text(text) == text


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ('"<i>Hello</i>", he said.', '"Hello", he said.'),
        ("<i>Half of a pair.", "Half of a pair."),
        ("one <br> two", "one   two"),
        ("see <b> this </b> word", "see  this  word"),
        ("Tom &amp; Ann & Bob", "Tom & Ann & Bob"),
    ],
)
def test_markup_in_quotes_or_halves_is_mended(text: str, mended: str) -> None:
    assert Markup().mend_text(text) == mended


def test_control_characters_go() -> None:
    assert Control().mend_text("a\0b\u200bc\x1b") == "abc"
