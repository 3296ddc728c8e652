"""Where the marks of a paragraph go in its translation, of which each word looked at a source word."""

import io
import pickle
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.documents import open_document
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import DocumentSource
from nmt_cli.documents.marks import MAXIMUM_ITEMS, InlineItem, ParagraphSegment, Wrapper, make_text
from nmt_cli.documents.paragraph import GUESSED_MARKS, OVERFULL, Paragraph
from nmt_cli.errors import DataError
from nmt_cli.text.aligned import MarkedText
from nmt_cli.translation.result import Placed, Translation
from support.documents import convert_bytes, echo_document, list_texts
from support.translations import Rule, aligned, backwards, converted


def write(page: str, words: str, links: list[int]) -> tuple[str, int]:
    """A line of HTML with a translation, and how many positions of marks in it are guesses."""
    written, notes = converted("html", page, lambda text: aligned(text, words.split(), links))
    return written, sum(notes.values())


def test_a_mark_goes_with_the_words_that_looked_at_its_own() -> None:
    written = write("I have seen the <b>red house</b>", "Ich habe das rote Haus gesehen", [0, 1, 3, 4, 5, 2])
    assert written == ("Ich habe das <b>rote Haus</b> gesehen", 0)


@pytest.mark.parametrize(
    ("before", "between", "are_one"),
    [
        *(("We go", "", True), ("We go ", "/", True), ("We go ", " ", True), ("We go ", " – ", True), ("", ", ", True)),
        *(("We go", ", ", False), ("We go ", ". ", False), ("We go ", " or ", False)),
    ],
)
def test_points_without_a_word_between_them_are_one_mark(before: str, between: str, are_one: bool) -> None:
    one, two, three = (InlineItem("point", (f"<img {number}>",)) for number in (1, 2, 3))
    texts = [make_text(text, ()) for text in (before, between, " now")]
    items = [item for item in (texts[0], one, texts[1], two, three, texts[2]) if item.raw]
    (segment,) = Paragraph(items, str).segments
    assert len(segment.marks) == 2 - are_one
    assert "".join(item.raw for item in segment.items) == f"{before}<img 1>{between}<img 2><img 3> now"


@pytest.mark.parametrize(("more", "is_kept"), [(0, False), (1, True)])
def test_a_text_with_too_many_marks_is_kept_and_told(more: int, is_kept: bool) -> None:
    full = "<b>a</b>" * (MAXIMUM_ITEMS // 3) + "<img>" * more
    written, notes = converted("html", f"<p>we</p><p>{full}</p><p>go</p>")
    assert written == f"<p>WE</p><p>{full if is_kept else full.replace('>a<', '>A<')}</p><p>GO</p>"
    assert notes.get(OVERFULL, 0) == is_kept


@pytest.mark.parametrize(
    ("name", "text"),
    [("md", "*a " * (MAXIMUM_ITEMS + 1)), ("srt", "1\n00:00:01,000 --> 00:00:02,000\n" + "a\n" * (MAXIMUM_ITEMS + 2))],
)
def test_signs_that_mark_nothing_and_lines_count_as_marks(name: str, text: str) -> None:
    written, notes = converted(name, text)
    assert (written, notes[OVERFULL]) == (text, 1)
    assert converted(name, text.replace("a", "b", 2)[: len(text) // 2])[1] == {}


@pytest.mark.parametrize(("page", "written"), [("pays {}", "zahlt {}"), ("pays <i>{}</i>", "zahlt <i>{}</i>")])
def test_blanks_inside_a_word_stay_as_they_are(page: str, written: str) -> None:
    amount = "10\u00a0000\u00a0€"
    rule = lambda text: aligned(text, ["zahlt", *amount.split()], [0, 1, 2, 3])  # noqa: E731
    assert converted("html", page.format(amount), rule)[0] == written.format(amount)


@pytest.mark.parametrize(
    ("page", "written"),
    [("by <i>July 4</i>.", "bis zum <i>4. Juli</i>."), ("<i>by July 4</i> now.", "<i>bis zum 4. Juli</i> jetzt.")],
)
def test_the_ordinal_of_a_rewritten_date_is_no_end_of_the_sentence(page: str, written: str) -> None:
    def rule(text: str) -> Translation:
        words = [*"bis zum 4. Juli".split(), *["jetzt"] * ("now" in text)]
        translation = aligned(text, [*words[:-1], f"{words[-1]}."], [0, 0, 1, 2, 3][: len(words)])
        (hypothesis,) = translation.hypotheses
        placed = (Placed("bis zum 4. Juli", "network", False),)
        return translation._replace(hypotheses=(hypothesis._replace(spans=placed),))

    assert converted("html", page, rule)[0] == written


def test_a_mark_whose_words_nobody_looked_at_is_placed_and_counted() -> None:
    assert write("a <b>b</b> c", "A C", [0, 2]) == ("A <b>C</b>", 1)


def test_a_link_for_which_no_word_is_left_keeps_its_own_words() -> None:
    assert converted("md", "[a](x) [b](y)", lambda text: aligned(text, ["AB"], [0]))[0] == "[AB](x) [b](y)"


def test_marks_in_a_link_for_which_no_word_is_left_stay_on_its_own_words() -> None:
    written, notes = converted("md", "[a](x) [the **first**](y)", lambda text: aligned(text, ["A"], [0]))
    assert written == "[A](x) [the **first**](y)"
    assert notes


def test_a_mark_whose_words_another_has_and_a_run_without_words_are_counted() -> None:
    def rule(text: str) -> Translation:
        translation = aligned(text, ["A", "B"], [0, 1])
        (hypothesis,) = translation.hypotheses
        (attention,) = hypothesis.attentions
        attention[1] = [0, 0.6, 0.4, 0]
        return translation

    assert converted("md", "a **b** *c*", rule) == ("A **B** *c*", {GUESSED_MARKS: 1})
    forms, notes = [("<r>", "Press now "), ("<r b>", "up")], Counter[str]()
    paragraph = Paragraph([make_text(text, [], (Wrapper(form, "</r>"),)) for form, text in forms], str)
    assert "<r b>" not in paragraph.write(iter([aligned("Press now up", ["Drück", "jetzt"], [0, 1])]), notes)
    assert notes == {GUESSED_MARKS: 1}


@pytest.mark.parametrize(
    ("name", "text", "enclosed"),
    [
        ("md", "Press **Enter** 3 times.", ["Enter"]),
        ("md", " See [the *other* page](x), `now`.", ["other", "the other page"]),
        ("html", "<p>Run <code>a &amp; b</code> in <i>c</i>.", ["c"]),
        ("html", "<p> Press <b>Enter</b> or <i><u>Esc</u></i>.", ["Enter", "Esc", "Esc"]),
        ("html", "<p>Press Enter.", []),
    ],
)
def test_a_text_knows_what_its_marks_enclose(name: str, text: str, enclosed: list[str]) -> None:
    source = DocumentSource(io.BytesIO(text.encode()), "x", DocumentOptions(), "de")
    (marked,) = (text for unit in open_document(name, source).read_units() for text in unit.texts)
    assert isinstance(marked, MarkedText)
    assert sorted(marked[part.start : part.stop] for part in marked.enclosed) == enclosed
    assert all(name in marked and code in text for name, code in marked.codes.items())
    assert len(marked.codes) == len(re.findall("`now`|<code>", text))


def test_a_text_knows_its_runs_unlike_most_of_it_in_other_processes_too() -> None:
    forms = [("<r>", "Press "), ("<r b>", "Ent"), ("<r b>", "er"), ("<r>", " 3 times.")]
    segment = ParagraphSegment([make_text(text, [], (Wrapper(form, "</r>"),)) for form, text in forms])
    (marked,) = segment.list_texts()
    sent = pickle.loads(pickle.dumps(marked))
    assert [sent[part.start : part.stop] for part in sent.enclosed] == ["Enter"]


def test_a_stray_word_does_not_take_a_run_along() -> None:
    forms = [("<r>", "Press "), ("<r b>", "Return"), ("<r>", " soon.")]
    paragraph = Paragraph([make_text(text, [], (Wrapper(form, "</r>"),)) for form, text in forms], str)
    translation = aligned("Press Return soon.", "Drücken Sie bald die Eingabe".split(), [0, 1, 2, 1, 1])
    written = paragraph.write(iter([translation]), Counter())
    assert written == "<r>Drücken Sie</r><r> bald </r><r b>die Eingabe</r>"


def test_a_stray_word_beside_an_unusual_run_is_not_in_it() -> None:
    forms = [("<r b>", "Press"), ("<r>", " a "), ("<r b>", "key"), ("<r>", " right now.")]
    paragraph = Paragraph([make_text(text, [], (Wrapper(form, "</r>"),)) for form, text in forms], str)
    translation = aligned("Press a key right now.", "Drücke du eine der Tasten jetzt.".split(), [0, 2, 1, 2, 2, 4])
    written = paragraph.write(iter([translation]), Counter())
    assert written == "<r b>Drücke</r><r> du eine </r><r b>der Tasten</r><r> jetzt.</r>"


def test_of_two_words_for_a_marked_one_the_surer_is_marked() -> None:
    def rule(text: str) -> Translation:
        translation = aligned(text, "Sie bald Eingabe".split(), [1, 2, 1])
        (hypothesis,) = translation.hypotheses
        attention = hypothesis.attention.copy()
        attention[0] = [0.3, 0.4, 0.3, 0]
        return translation._replace(hypotheses=(hypothesis._replace(attentions=(attention,)),))

    assert converted("md", "Press **Return** soon", rule)[0] == "Sie bald **Eingabe**"


def test_one_stray_word_does_not_stretch_a_mark() -> None:
    written = write("a <b>b</b>", "A B C D E F G H", [1, 0, 0, 0, 1, 1, 0, 1])
    assert written == ("A B C D <b>E F</b> G H", 0)


@st.composite
def marked_lines(draw: st.DrawFn) -> tuple[str, int]:
    """Words with tags around runs of them, and the number of words."""
    words = draw(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=8))
    cuts = sorted(draw(st.sets(st.integers(0, len(words)), max_size=6)))
    pieces = list(words)
    for first, last in zip(cuts[::2], cuts[1::2], strict=False):
        pieces[first] = f"<a{first}>{pieces[first]}"
        pieces[last - 1] = f"{pieces[last - 1]}</a{first}>"
    return " ".join(pieces), len(words)


@given(marked_lines(), st.lists(st.integers(0, 7), max_size=8))
def test_every_mark_is_written_once_whatever_attention_says(line: tuple[str, int], links: list[int]) -> None:
    text, count = re.sub(r"<(/?)a(\d)>", r"<\1b><!--\2-->", line[0]), line[1]
    written = write(text, " ".join(f"w{place}" for place in range(len(links))), [link % count for link in links])[0]
    for tag in ("<b>", "</b>", *(f"<!--{number}-->" for number in range(8))):
        assert written.count(tag) == text.count(tag)
    depth = [1 if tag == "<b>" else -1 for tag in re.findall(r"</?b>", written)]
    assert all(sum(depth[: index + 1]) in (0, 1) for index in range(len(depth)))
    for place in range(len(links)):
        assert written.count(f"w{place}") == 1


# Placeholders in files of strings, whatever touches them: carried byte for byte, and never taken for brackets.


FRAMES = {  # a file of a string, and how the format spells the signs that touch a placeholder
    "ftl": "a = {}\n",
    "json": '{{"a": "{}"}}',
    "properties": "a={}\n",
    "yaml": "a: {}\n",
    "ini": "a={}\n",
    "toml": "a = '{}'\n",
    "apple": '"a" = "{}";\n',
    "android": '<resources><string name="a">{}</string></resources>',
    "md": "{}\n",
    "html": "<p>{}</p>",
}
HELD = ("{ $x }", "{$m}", '{ NUMBER($n, style: "percent") }', "{ -brand }", "{ other }")
LONG = '{ DATETIME($changed, day: "numeric", month: "long", year: "numeric", hour: "numeric") }'
OUTSIDE = st.sampled_from(["", "`", "“", "(", "[", "x", "”", ")", "]", ",", "’", "*", "s", "Cat"])


def say_other_words(*held: str) -> Rule:
    """Translates to other words, all linked to the first, without what touches the placeholders `held`."""
    kept = re.compile("|".join(map(re.escape, held)))

    def rule(text: str) -> Translation:
        spans = [match[0] for match in kept.finditer(text)] + re.findall(r"\{\d\}", text)
        words = [word for span in dict.fromkeys(spans) for word in (f"»{span}«etwas").split()]
        return aligned(text, ["Offen", *words], [0] * (len(words) + 1))

    return rule


@pytest.mark.parametrize("name", FRAMES)
@given(before=OUTSIDE, after=OUTSIDE, held=st.sampled_from(["{name}", "{0}", "%s", "%1$d", "%(n)s"]))
def test_a_placeholder_is_spelled_as_in_the_source_whatever_touches_it(
    name: str, before: str, after: str, held: str
) -> None:
    text = f"Please open {before}{held}{after} now"
    written = convert_bytes(name, FRAMES[name].format(text).encode(), say_other_words(held)).decode()
    assert held in written and "etwas" in written


@given(before=OUTSIDE, after=OUTSIDE, held=st.sampled_from([*HELD, LONG]), other=st.sampled_from(HELD))
def test_a_placeable_of_fluent_is_one_span_whatever_touches_it(before: str, after: str, held: str, other: str) -> None:
    text = f"a = Please open {before}{held}{after} and{other}\n"
    written = convert_bytes("ftl", text.encode(), say_other_words(held, other)).decode()
    assert held in written and other in written
    assert '{"' not in written.replace(held, "").replace(other, "")


def test_a_brace_that_fluent_spells_as_a_string_is_a_brace_of_the_text() -> None:
    text = b'a = A brace {"{"} stands here, and { $x } too, { "}" }.\n'
    assert list_texts("ftl", text) == ["A brace { stands here, and { $x } too, }."]
    assert echo_document("ftl", text) == text
    assert convert_bytes("ftl", b"a = b c\n", lambda source: aligned(source, ["{b}"], [0])) == b'a = {"{"}b{"}"}\n'


def test_a_string_of_fluent_with_braces_inside_is_kept_as_a_whole() -> None:
    text = 'a = I see { "a{b}" }text and more\n'
    assert '{ "a{b}" }' in convert_bytes("ftl", text.encode(), say_other_words()).decode()


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


def test_a_document_that_does_not_fit_the_memory_is_refused() -> None:
    lines = [b"a" * (1 << 20)] * 3
    source = DocumentSource(lines, "x.md", DocumentOptions(), "de")
    assert len(source.read_text(3)) == 3 << 20
    with pytest.raises(DataError, match="larger than 2 MiB"):
        source.read_text(2)
