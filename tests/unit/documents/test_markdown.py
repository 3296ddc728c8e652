import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmt_cli.documents.markdown import TITLES_KEPT, make_inline_parser
from nmt_cli.text.normalise import normalise
from nmt_cli.translation.result import Translation
from support.documents import list_texts, open_bytes, read_sample
from support.properties import examples
from support.translations import aligned, converted, same

PAGE, EXPECTED, EXTENDED = map(read_sample, ("md", "md-loud", "md-extended"))


def html(text: str) -> str:
    """What the parser makes of a page, without regard to blanks where a browser shows none."""
    return re.sub(r"\s+", " ", make_inline_parser().render(text)).replace("<br> ", "<br>").replace("<br /> ", "<br />")


def test_a_page_keeps_its_shape_and_only_its_text_is_translated() -> None:
    assert converted("md", PAGE) == (EXPECTED, {TITLES_KEPT: 2})


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("front", ["", "---\ntitle: not this\n---\n", "+++\ntitle = 'not this'\n+++\n"])
def test_a_byte_order_mark_line_ends_and_what_stands_in_front_stay(front: str, line_end: str) -> None:
    bodies = [page.split("---\n", 2)[2] for page in (PAGE, EXPECTED)]  # without their own
    text, written = (f"\ufeff{front}{body}".replace("\n", line_end) for body in bodies)
    assert converted("md", text)[0] == written


@pytest.mark.parametrize(
    "text",
    [
        "see https://en.wikipedia.org/wiki/Python_(programming_language)",
        "see www.a.b/_next/x",
        'see {{< ref "page" >}} there',
    ],
)
def test_addresses_and_placeholders_get_no_backslashes(text: str) -> None:
    assert converted("md", f"{text}\n", same)[0] == f"{text}\n"


@pytest.mark.parametrize(
    "text", ["- no list", "1. no list", "# no title", "> no quote", "*no* [no](no) `no` <b> a_ &amp;", "===", "a | b"]
)
def test_a_translation_is_text_whatever_stands_in_it(text: str) -> None:
    written = converted("md", "x\n", lambda source: aligned(source, text.split(), [0] * len(text.split())))[0]
    tokens = make_inline_parser().parse(written)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert "".join(child.content for child in tokens[1].children) == text
    assert {child.type for child in tokens[1].children} <= {"text", "text_special"}


WORD = st.sampled_from("a bb ccc d_e f\\*g \\* &lt; [x] ! ` | é 你好 https://a.b".split())
INLINE = st.recursive(
    st.lists(WORD, min_size=1, max_size=4).map(" ".join),
    lambda inner: st.one_of(
        inner.map(lambda text: text if "*" in text else f"**{text}**"),  # stars beside stars are read in strange ways
        inner.map(lambda text: text if "*" in text else f"*{text}*"),
        inner.map(lambda text: text if "](" in text else f"[{text}](http://a.b)"),  # links do not nest
        inner.map(lambda text: f"<i>{text}</i>"),
        st.just("`co de`"),
        st.just("![alt](x.png)"),
        st.just("[![alt](x.png)](http://c.d)"),
        st.just("a<br>b"),
        st.tuples(inner, inner).map(" ".join),
        st.tuples(inner, inner).map("\n".join),
        st.tuples(inner, inner).map("  \n".join),
    ),
    max_leaves=6,
)
BLOCK = st.one_of(
    INLINE,
    INLINE.map(lambda text: "# " + text.replace("\n", " ")),
    INLINE.map(lambda text: "> " + text.replace("\n", "\n> ")),
    INLINE.map(lambda text: "- " + text.replace("\n", "\n  ")),
    INLINE.map(lambda text: "| h | i |\n|---|---|\n| x | " + text.replace("\n", " ").replace("|", "\\|") + " |"),
    st.just("```\nco de\n```"),
)


@examples(150)
@given(st.lists(BLOCK, min_size=1, max_size=3).map("\n\n".join))
@example("a  \nb")
def test_a_page_whose_texts_stay_the_same_reads_the_same(page: str) -> None:
    written, notes = converted("md", page, same)
    assert html(written) == html(page)
    assert not notes.keys() - {TITLES_KEPT}


def longer(text: str) -> Translation:
    """The text with another letter at the end of each word."""
    words = [f"{word}n" if word.isalpha() else word for word in normalise(text).split()]
    return aligned(text, words, range(len(words)))


LINKS = """\
# Plan

See [a](#arrival), [b](<#the-pool> "x"), [c](#arrival-1), [d](#%C3%BCber-uns), [e](#own), [f](#mine),
[g](#none) `[h](#arrival)`.
> <a href="#the-pool">i</a> and [j][k].

[k]: #arrival "x"

    [l](#arrival)

## *Arrival*

```
[m](#arrival)
```

The `pool`
==========

## Arrival

## Über uns

## Own {#own}

<a id="mine"></a>
## Mine
"""


@pytest.mark.parametrize("front", ["", "\ufeff", "+++\n# arrival\n+++\n"])
def test_links_follow_the_headings_of_their_page(front: str) -> None:
    """Names that the page spells out stay, as does what is no link."""
    document = open_bytes("md", (front + LINKS).encode())
    written = "".join(str(unit.write([longer(text) for text in unit.texts])) for unit in document.read_with_domain())
    assert written.startswith(front) and "## *Arrivaln*" in written
    assert re.findall(r"(?<=#)[\w%-]+", written.removeprefix(front).partition("## ")[0]) == [
        *("arrivaln", "then-pool", "arrivaln-1", "übern-unsn", "own", "mine", "none", "arrival"),  # as GitHub says
        *("then-pool", "arrivaln", "arrival"),
    ]
    assert "[m](#arrival)" in written and "{#own}" in written


def test_a_break_parts_texts_and_stays_where_it_was() -> None:
    page = "it rains<br>it snows<br/> it hails\n\n| a | b<br>c |\n|---|---|\n| d<br>e | f |\n"
    loud = re.sub(r"(?<!<)\b(?!br)\w+", lambda word: word[0].upper(), page)
    assert converted("md", page)[0] == loud
    assert list_texts("md", page.encode())[:3] == ["it rains", "it snows", "it hails"]


def test_extensions_of_markdown_stay_and_the_prose_between_is_translated() -> None:
    prose = "useful words.|more words.|and more|folded|a paragraph|inside|the mass is|here, and it costs|or|see|a word|"
    expected = EXTENDED
    for text in (*prose.split("|")[:-1], "item", "inner"):
        expected = re.sub(rf"(?<![\w<]){re.escape(text)}(?!\w)", text.upper(), expected)
    expected = expected.replace("happy at", "HAPPY AT").replace(
        "]], \\(not maths\\) and [", "]], \\(NOT MATHS\\) AND ["
    )
    assert converted("md", EXTENDED) == (expected, {})


def test_a_formula_goes_where_its_place_in_the_translation_is() -> None:
    def rule(text: str) -> Translation:
        return aligned(text, "{1} ist die Masse.".split(), [3, 2, 0, 1])

    assert converted("md", "The mass is $m$.\n", rule)[0] == "$m$ ist die Masse.\n"


INLINES = [
    *(
        "one",
        "two.",
        "three,",
        "**bold words**",
        "*it*",
        "`co de`",
        "[a link](x.y)",
        "&amp;",
        "\\*",
        "a_b",
        "é",
        "Four!",
    ),
    *(
        "$x + y$",
        ":tada:",
        "![alt](p.png)",
        "<b>tag</b>",
        "\n",
        "  \n",
        "\\\n",
        " ",
        "(x)",
        "- dash",
        "AT&amp;T",
        "5 > 3",
    ),
]
SAME_PAGE = st.lists(
    st.lists(
        st.sampled_from(INLINES),
        min_size=1,
        max_size=12,
    ).map(lambda parts: re.sub(r" *(?<! )\n", "\n", " ".join(["start", *parts, "end"]))),
    min_size=1,
    max_size=3,
)


def echo_page(page: str) -> str:
    """The page after its texts went through the writer, with sentinels in their first and last words."""

    def mark_words(text: str) -> Translation:
        words = re.sub(r"(?<![\w{])(?=\w)", "⟪", normalise(text), count=1)  # not inside the name of code: {1}
        words = re.sub(r"\w(?![}\w])(?=(\W|\{\d+\})*$)", lambda match: match[0] + "⟫", words, count=1)
        return aligned(text, words.split(), range(len(words.split())))

    return converted("md", page, mark_words)[0].replace("⟪", "").replace("⟫", "")


PREFIXES = st.sampled_from([("", ""), ("> ", "> "), ("- ", "  "), ("1. ", "   "), ("> - ", ">   ")])


@given(SAME_PAGE, PREFIXES, st.sampled_from(["\n", "\r\n"]))
@example(["start :tada: `co de`   \n end"], ("", ""), "\n")
def test_a_page_stays_byte_for_byte_where_the_translation_equals_the_text(
    paragraphs: list[str], prefix: tuple[str, str], line_end: str
) -> None:
    lines = [re.sub(r"\n[ \t]*(?=\S)", "\n", text).replace("\n", "\n" + prefix[1]) for text in paragraphs]
    page = "\n\n".join(prefix[0] + text for text in lines).replace("\n", line_end) + line_end
    assert echo_page(page) == page


def test_a_page_of_extensions_stays_byte_for_byte() -> None:
    assert echo_page(EXTENDED) == EXTENDED
    page = PAGE.replace(", [there] and [there][]", "")  # of whose words a sentinel would be a part
    assert echo_page(page) == page
