"""XML files with texts in elements: .NET resources and drawings."""

import pytest

from support.documents import convert_bytes, echo_document, list_texts
from support.translations import louder

RESX = """<?xml version="1.0" encoding="utf-8"?>
<root>
  <resheader name="version"><value>not this</value></resheader>
  <data name="hello" xml:space="preserve">
    <value>Good &lt;morning&gt;
Second line</value>
    <comment>not this</comment>
  </data>
  <data name="icon" type="System.Drawing.Bitmap"><value>not this</value></data>
  <data name="&gt;&gt;button.Name" xml:space="preserve"><value>not this</value></data>
  <data name="url"><value>https://example.org</value></data>
  <data name="empty"><value/></data>
</root>
"""
SVG = """<svg xmlns="http://www.w3.org/2000/svg"><title>A drawing</title>
<style>text { fill: red }</style>
<g><text x="1" y="2">Good <tspan class="a">morning</tspan></text>
<text><tspan x="1" y="2">First line</tspan><tspan x="1" dy="2">Second line</tspan></text><desc/></g>
</svg>
"""
XML_FILES = {"resx": RESX, "svg": SVG}


@pytest.mark.parametrize("name", XML_FILES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_file_stays_byte_for_byte_where_the_translation_equals_the_text(name: str, line_end: str) -> None:
    data = XML_FILES[name].replace("\n", line_end).encode()
    assert echo_document(name, data) == data


def test_the_texts_are_those_that_people_read() -> None:
    assert list_texts("resx", RESX.encode()) == ["Good <morning>", "Second line"]
    assert list_texts("svg", SVG.encode()) == ["A drawing", "Good morning", "First line", "Second line"]


def test_tags_stay_around_their_words() -> None:
    assert convert_bytes("svg", b"<svg><text>a <tspan>b</tspan> c</text></svg>", louder) == (
        b"<svg><text>A <tspan>B</tspan> C</text></svg>"
    )
