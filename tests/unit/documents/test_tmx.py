"""Translation memories: units get a variant in the target language, and nothing else changes."""

from __future__ import annotations

import pytest

from nmt_cli.errors import DataError
from nmt_cli.languages.codes import has_same_primary_tag
from support.documents import convert_bytes, list_texts
from support.formats import TMX
from support.translations import backwards, louder

CODED = 'good <bpt i="1">&lt;b&gt;</bpt>day<ept i="1">&lt;/b&gt;</ept> &amp; night<ph>x</ph>'
EMPTY = f'<tu tuid="1">\n  <tuv xml:lang="en-US"><seg>{CODED}</seg></tuv>\n</tu>'
DONE = (
    '<tu><tuv xml:lang="en"><seg>done</seg></tuv><tuv xml:lang="de"><prop type="a">b</prop><seg>fertig</seg></tuv></tu>'
)
HALF = '<tu><tuv xml:lang="de"><seg/></tuv><tuv xml:lang="en"><seg>half <hi>way</hi></seg></tuv></tu>'
FRENCH = '<tu><tuv xml:lang="fr"><seg>rien</seg></tuv></tu>'
MEMORY = TMX.format("\n".join((EMPTY, DONE, HALF, FRENCH)))


def convert(text: str, **options: object) -> str:
    return convert_bytes("tmx", text.encode(), louder, **options).decode()


def test_only_what_is_missing_is_translated_and_the_rest_is_kept() -> None:
    assert list_texts("tmx", MEMORY.encode()) == ["good day & night", "half way"]
    text = 'GOOD <bpt i="1">&lt;b&gt;</bpt>DAY<ept i="1">&lt;/b&gt;</ept> &amp; NIGHT<ph>x</ph>'
    added = f'\n  <tuv xml:lang="de"><seg>{text}</seg></tuv>'
    filled = '<tu><tuv xml:lang="de"><seg>HALF <hi>WAY</hi></seg></tuv>'
    expected = MEMORY.replace("</seg></tuv>\n</tu>", f"</seg></tuv>{added}\n</tu>", 1)
    assert convert(MEMORY) == expected.replace('<tu><tuv xml:lang="de"><seg/></tuv>', filled)


def test_a_text_that_is_there_is_replaced_where_asked() -> None:
    assert '<prop type="a">b</prop><seg>DONE</seg></tuv>' in convert(MEMORY, retranslate=True)


def test_codes_follow_their_words() -> None:
    written = convert_bytes("tmx", MEMORY.encode(), backwards).decode()
    assert '<bpt i="1">&lt;b&gt;</bpt>DAY<ept i="1">&lt;/b&gt;</ept> GOOD' in written


def test_a_memory_of_other_languages_is_refused() -> None:
    assert not has_same_primary_tag("fr", "en")
    with pytest.raises(DataError, match="it has the languages fr, and the model translates from en"):
        convert(TMX.format(FRENCH))
