import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.documents import convert_bytes, echo_document
from support.translations import aligned, backwards, louder


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
    page = b"<p>See <a href=x>what to buy</a> and <code>all</code>.</p>"
    words = ["Siehe,", "was", "zu", "kaufen", "und", "{1}", "kaufen."]  # which a link would enclose
    within = convert_bytes("html", page, lambda text: aligned(text, words, [0, 1, 2, 3, 4, 5, 3]))
    assert within.count(b"<code>all</code>") == 1 and b"{1}" not in within and b"  " not in within


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
