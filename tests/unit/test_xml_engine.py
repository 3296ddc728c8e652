"""XML is one engine: tokens are the text, byte for byte, and pairs and documents read the same texts of a file."""

from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.formats.xml import FIRST_CHUNK, check_xml, scan_xml
from support.documents import list_texts
from support.formats import TMX, UNIT, texts

LETTERS = st.text(st.sampled_from("abc <>&'\"äß漢😀\n"), max_size=12)
CONTENT = st.one_of(
    LETTERS.map(escape),
    st.sampled_from(
        ["<b/>", "<b />", "<!-- <x> & -->", "<?go <x> ?>", "<![CDATA[ <x> & ]]>", "&#233;", "\r\n", "<ü a='>'/>"]
    ),
)
WORDS = st.lists(st.sampled_from(["Tom", "is", "here", "&", "<", "ä", "漢"]), min_size=1, max_size=6).map(" ".join)


@given(
    st.lists(CONTENT), st.sampled_from(["", '<?xml version="1.0"?>\n', '<!DOCTYPE r [<!ENTITY a "b"><!-- x -->]>\r\n'])
)
def test_the_tokens_of_xml_are_its_text(content: list[str], beginning: str) -> None:
    text = f"{beginning}<r><e x='1'>{''.join(content)}</e></r>\n"
    assert check_xml(text, with_entities=True) is None
    assert "".join(token.raw for token in scan_xml(text)) == text
    names = [token.name for token in scan_xml(text) if token.kind in ("open", "close")]
    assert names == ["r", "e", "e", "r"]


@pytest.mark.parametrize(
    "inner", ["x" * FIRST_CHUNK * 3, "<!--" + "ä" * FIRST_CHUNK * 2 + "-->", "<b/>ä\n" * FIRST_CHUNK]
)
def test_a_token_that_is_longer_than_a_chunk_stays_one(inner: str) -> None:
    tokens = list(scan_xml(f"<r>{inner}</r>"))
    assert "".join(token.raw for token in tokens) == f"<r>{inner}</r>"
    assert len(tokens) == (3 if inner[0] != "<" or inner[1] == "!" else 2 + 2 * FIRST_CHUNK)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_pairs_and_units_of_a_memory_have_the_same_texts(sources: list[str]) -> None:
    memory = TMX.format("".join(UNIT.format("", escape(source)) for source in sources))
    with TemporaryDirectory() as folder:
        pairs = texts(Path(folder) / "a.tmx", memory, source_language="en-US", target_language="de")
    assert [source for source, _ in pairs] == sources
    translated = [source for source in sources if any(map(str.isalpha, source))]
    assert list_texts("tmx", memory.encode()) == translated


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_pairs_and_units_of_xliff_have_the_same_texts(sources: list[str]) -> None:
    units = "".join(f"<trans-unit id='1'><source>{escape(source)}</source></trans-unit>" for source in sources)
    file = f"<file source-language='en' target-language='de'><body>{units}</body></file>"
    text = f"<xliff version='1.2'>{file}</xliff>"
    with TemporaryDirectory() as folder:
        pairs = texts(Path(folder) / "a.xliff", text)
    assert [source for source, _ in pairs] == sources
    assert list_texts("xliff", text.encode()) == [source for source in sources if any(map(str.isalpha, source))]
