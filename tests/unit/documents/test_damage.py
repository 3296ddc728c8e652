"""Whatever the bytes of a file are, a document is translated or refused, and nothing else happens."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.errors import NmtError
from support.archives import make_docx, make_epub, make_odt, make_pptx
from support.documents import convert_bytes
from support.properties import examples
from support.translations import louder

RUN = '<w:r><w:t>one</w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:t>1</w:t></w:r>'
PAGE = '<html lang="en"><body><p title="a b">One <b>two</b> <code>x</code><br/>three &amp; four</p></body></html>'
SAMPLES = {
    "html": PAGE.encode(),
    "xliff": b'<xliff version="1.2"><file source-language="en" target-language="de"><trans-unit id="1"><source>One '
    b'<g id="1">two</g><x id="2"/></source><seg-source><mrk mtype="seg" mid="1">One</mrk></seg-source></trans-unit>'
    b"</file></xliff>",
    "android": b'<resources><string name="a">It\\\'s <b>so</b> \\u00e9 <![CDATA[a b]]></string></resources>',
    "vtt": b"WEBVTT\n\n1\n00:01.000 --> 00:02.000\n<v Ann>One <i>two</i>\n- three\n\nNOTE x\n",
    "srt": b"1\n00:00:01,000 --> 00:00:02,000\nOne <i>two</i>\nthree\n\n2\n00:00:03,000 --> 00:00:04,000\nfour\n",
    "json": b'{"a": "one \\"two\\" \\u00e9", "b": [1, {"c": "{n, plural, one {# file} other {# files}}"}]}',
    "yaml": b"a: one two\nb: 'it''s'\nc: |\n  one\n  two\nd: {e: \"x y\"}\nf: &x >-\n  folded\n  text\ng: *x\n",
    "apple": b'/* c */ "a" = "one \\U00e9 \\"two\\"\\nthree";\n',
    "properties": b"# c\na=one \\u00e9 \\\n  two\nb : it''s {0}\n",
    "md": b"# one *two*\n\n- [a](b) `c`\n\n!!! note\n    x $y$\n\n| a | b |\n|---|---|\n| c | d |\n",
    "po": b'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "one %s"\nmsgstr ""\n',
    "docx": make_docx(f"<w:p>{RUN}</w:p>"),
    "odt": make_odt('<text:p>One <text:span text:style-name="a">two</text:span></text:p>'),
    "pptx": make_pptx("<a:p><a:r><a:t>One</a:t></a:r></a:p>"),
    "epub": make_epub(PAGE),
}
PIECES = [
    b"<",
    b">",
    b"&",
    b'"',
    b"\\",
    b"\n",
    b"\0",
    b"{",
    b"}",
    b"\xff",
    b"</",
    b"<!--",
    b"]]>",
    b"%",
    b"-->",
    b"\xf0\x9f",
    b": ",
]


@pytest.mark.parametrize("name", SAMPLES)
@examples(60)
@given(data=st.data())
def test_a_damaged_file_is_translated_or_refused(name: str, data: st.DataObject) -> None:
    content = SAMPLES[name]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 30)))
        piece = data.draw(st.sampled_from(PIECES) | st.binary(max_size=3))
        content = content[:start] + piece * data.draw(st.integers(0, 3)) + content[end:]
    with contextlib.suppress(NmtError):
        convert_bytes(name, content, louder)
