import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.documents import convert_bytes, echo_document, list_texts
from support.translations import aligned, backwards, louder


@pytest.mark.parametrize("amount", ["$1,234.56", "<b>12,500</b>", "10.5&nbsp;%", "2.5–3.5"])
def test_an_amount_alone_is_a_text_and_other_numbers_are_none(amount: str) -> None:
    cells = f"<table><tr><td>{amount}</td><td>1.2.3</td><td>2024-01-05</td><td>10.0.26100.2314</td></tr></table>"
    bare = amount.replace("<b>", "").replace("</b>", "").replace("&nbsp;", "\u00a0")
    assert list_texts("html", cells.encode()) == [bare]


@pytest.mark.parametrize("kept", ["<pre>ls</pre>", "<textarea>ls</textarea>", "<div translate=no>ls</div>"])
def test_the_text_before_a_block_that_is_kept_is_translated(kept: str) -> None:
    page = f"<li>Type this: {kept} and wait</li>"
    assert convert_bytes("html", page.encode(), louder).decode() == f"<li>TYPE THIS: {kept} AND WAIT</li>"


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        ("<html lang=en><p lang=fr>Bonjour.<p>The rest<div>More</div>", ["The rest", "More"]),
        ("<div><p translate=no>Acme<b>x</b></div>After", ["After"]),
        ("<ul><li translate=no>Acme<ul><li>Sub<li>Sub</ul><li>Second</ul>After", ["Second", "After"]),
        ("<ol><li>First<li translate=no>Acme</ol>After", ["First", "After"]),
        ("<table><tr><td translate=no>X<table><tr><td>Y</table>Z<td>Two<tr><th>Three</table>", ["Two", "Three"]),
        ("<table><tr translate=no><td>X<td>Y</tr><tr><td>Two</table>After", ["Two", "After"]),
        ("<dl><dt translate=no>Acme<dd>A company</dl>", ["A company"]),
        ("<select><option translate=no>Acme<option>Others</select>", ["Others"]),
        ("<div translate=no>Acme<div>x</div>y</div>After", ["After"]),
    ],
)
def test_an_element_without_its_end_tag_is_kept_up_to_where_it_ends(page: str, texts: list[str]) -> None:
    assert list_texts("html", page.encode()) == texts


def test_the_language_and_direction_of_a_page_become_those_of_the_target() -> None:
    page = b'<html lang="en" dir="ltr"><head><meta http-equiv=Content-Language content="en"></head><body><p lang=en>1'
    assert convert_bytes("html", page, louder, "ara") == (
        b'<html lang="ar" dir="rtl"><head><meta http-equiv=Content-Language content="ar"></head><body><p lang=ar>1'
    )
    assert convert_bytes("html", b'<html lang="$lang"><p lang=en>', louder, "deu") == b'<html lang="$lang"><p lang=en>'
    assert convert_bytes("html", b"<html><body>", louder, "heb") == b'<html lang="he" dir="rtl"><body>'
    assert convert_bytes("html", b"<html ><body>", louder, "deu") == b'<html  lang="de"><body>'
    page = b'<html xmlns="http://www.w3.org/1999/xhtml"><body>'
    assert convert_bytes("html", page, louder, "deu") == page.replace(b"><", b' xml:lang="de"><')
    assert convert_bytes("html", b"<html><body>", louder, "no such code") == b"<html><body>"


def test_marks_follow_their_words() -> None:
    page = b"<p>I have <b>seen</b> the <a href=x>red house</a><sup>1</sup>.</p>"
    rule = lambda text: aligned(text, ["Ich", "habe", "das", "rote", "Haus", "gesehen."], [0, 1, 3, 4, 5, 2])  # noqa: E731
    assert convert_bytes("html", page, rule).decode() == (
        "<p>Ich habe das <a href=x>rote Haus</a><sup>1</sup> <b>gesehen</b>.</p>"
    )


@pytest.mark.parametrize(
    "note",
    [
        '<a epub:type="noteref" href="#f1">1</a>',
        '<a href="#f1">*</a>',
        '<a class="footnote-ref" href="x.html"><sup>[2]</sup></a>',
        '<sup id="r"><a href="#n"><span>[</span>1<span>]</span></a></sup>',
        "<sup>12</sup>",
    ],
)
def test_a_reference_to_a_note_stays_behind_its_sentence(note: str) -> None:
    page = f"<p>It is here.{note} Who is there?</p>".encode()
    assert list_texts("html", page) == ["It is here. Who is there?"]
    assert convert_bytes("html", page, louder) == page.replace(b"It is here", b"IT IS HERE").replace(
        b"Who is there", b"WHO IS THERE"
    )


@pytest.mark.parametrize("link", ['<a href="#x">here</a>', '<a href="x">1</a>', '<a name="x">', "<sup>nd</sup>", "<a>"])
def test_other_links_and_superscripts_are_marks_of_their_text(link: str) -> None:
    page = f"<p>One{link} two <b>three</b></p>".encode()
    words = re.sub(r"<[^>]*>", "", link)
    assert list_texts("html", page) == [f"One{words} two three"]
    assert echo_document("html", page) == page


@pytest.mark.parametrize(
    "kept",
    [
        "<p hidden>no</p>",
        '<p aria-hidden="true">no</p>',
        "<template><p>no</p></template>",
        '<div style="color: red; Display:none">no <p>no</p></div>',
        '<span hidden="hidden">no</span>',
        '<p class="code">no</p>',
        '<span class="x literal">no</span>',
        '<span class="input">no</span>',
        '<div class="formula">no</div>',
        "<tt>no</tt>",
    ],
)
def test_what_is_hidden_or_says_that_it_is_code_stays(kept: str) -> None:
    page = f"<p>Before it</p>{kept}<p>After it</p>".encode()
    assert list_texts("html", page) == ["Before it", "After it"]
    assert echo_document("html", page) == page


@pytest.mark.parametrize(
    "shown",
    [
        '<body class="code"><p>Words</p>',
        '<div class="input-group">Words</div>',
        '<p hidden="until-found">Words</p>',
        '<p aria-hidden="false">Words</p>',
        '<p style="display: block">Words</p>',
        "<label data-hidden>Words</label>",
    ],
)
def test_what_only_looks_hidden_is_translated(shown: str) -> None:
    assert list_texts("html", shown.encode()) == ["Words"]


def test_a_link_never_loses_its_words() -> None:
    page = b"<p>Read <a href=x>this</a> or <a href=y>that</a></p>"
    written = convert_bytes("html", page, lambda text: aligned(text, ["Lies"], [0])).decode()
    assert written == "<p>Lies <a href=x>this</a> <a href=y>that</a></p>"


def test_code_stays_whatever_the_translation() -> None:
    page = b"<p>Type <code>make &lt;all&gt;</code> twice.</p>"
    assert convert_bytes("html", page, backwards) == b"<p>TWICE. <code>make &lt;all&gt;</code> TYPE</p>"
    lost = convert_bytes("html", page, lambda text: aligned(text, ["Zweimal", "tippen."], [2, 0]))
    assert lost.count(b"<code>make &lt;all&gt;</code>") == 1
    twice = convert_bytes("html", page, lambda text: aligned(text, ["Tippe", "{1}", "{1}", "zweimal."], [0, 1, 1, 2]))
    assert twice.count(b"<code>make &lt;all&gt;</code>") == 1 and b"{1}" not in twice


def test_a_page_stays_in_its_encoding() -> None:
    page = '<meta charset="iso-8859-1"><p>Größe – “so”</p>'.encode("cp1252")
    assert convert_bytes("html", page, louder).decode("cp1252") == '<meta charset="iso-8859-1"><p>GRÖSSE – “SO”</p>'
    written = convert_bytes("html", page, lambda text: aligned(text, ["Размер"], [0]))
    assert b"&#1056;" in written
    marked = "\ufeff<p>word</p>".encode("utf-16-le")
    assert convert_bytes("html", marked, louder).decode("utf-16") == "<p>WORD</p>"


INLINE_TAGS = st.sampled_from(["b", "i", "a", "span", "sub", "code", "em", "kbd", "font"])
BLOCK_TAGS = st.sampled_from(["p", "div", "li", "td", "h2", "pre", "section", "label", "button"])
WORDS = st.text(st.sampled_from("ab c\n\t.,&<>\"'’é文{1}-"), max_size=12) | st.sampled_from(
    ["one two", " ", "&amp;", "&nbsp;", "&#8217;", "&copy", "x&y", "<!-- c -->", "<br>", "<img alt='a b'>", "<", "</b>"]
)


def tagged(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def wrap(pair: tuple[str, list[str]]) -> str:
        return f"<{pair[0]}>{''.join(pair[1])}</{pair[0]}>"

    return st.tuples(INLINE_TAGS | BLOCK_TAGS, st.lists(children, max_size=4)).map(wrap) | st.lists(
        children, max_size=4
    ).map("".join)


@given(st.recursive(WORDS, tagged, max_leaves=20))
def test_any_page_stays_byte_for_byte(page: str) -> None:
    assert echo_document("html", page.encode()) == page.encode()


@given(st.recursive(WORDS, tagged, max_leaves=20), st.sampled_from([backwards, louder]))
def test_no_tag_is_lost_or_written_twice(page: str, rule: object) -> None:
    written = convert_bytes("html", page.encode(), rule).decode()  # type: ignore[arg-type]
    for tag in ("<b>", "</b>", "<i>", "<a>", "</a>", "<p>", "<br>", "<sub>", "<code>", "<button>", "</font>"):
        assert written.count(tag) == page.count(tag), tag


@pytest.mark.parametrize(
    "opening", ["<!--", "<a '", "<![CDATA[", "<b><i>", "<?", '<a b="', "{%", "<%", "{{ if ", "<!D["]
)
def test_hostile_pages_take_time_in_proportion_to_their_length(opening: str) -> None:
    page = (opening * (20_000 // len(opening))).encode()
    assert echo_document("html", page) == page


def test_a_word_that_stays_keeps_its_mark_wherever_attention_strays() -> None:
    page = b"<p>Where is <i>Tom</i>?</p>"
    written = convert_bytes("html", page, lambda text: aligned(text, ["Wo", "ist", "Tom?"], [2, 1, 2]))
    assert written == b"<p>Wo ist <i>Tom</i>?</p>"


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        ("<p>I am <x1>not</x1> hungry.</p>", ["I am not hungry."]),
        ("<p>I am <x1>not hungry.</p>", ["I am not hungry."]),
        ("<app-card>Tea</app-card><app-card>Milk</app-card>", ["Tea", "Milk"]),
        ("<p>I am <t-1>not</t-1> hungry.</p>", ["I am not hungry."]),
        ("<p>Tea\n<app-card>Milk</app-card></p>", ["Tea", "Milk"]),
        ("<p>I like <1>tea</1>, 5 <2 and 7>2.</p>", ["I like tea, 5 <2 and 7>2."]),
        ("<label>Tea</label><label>Milk</label>", ["Tea", "Milk"]),
    ],
)
def test_an_unknown_element_is_a_mark_but_a_component_alone_a_block(page: str, texts: list[str]) -> None:
    assert list_texts("html", page.encode()) == texts
    assert echo_document("html", page.encode(), "en") == page.encode()
