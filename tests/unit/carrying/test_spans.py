"""Protected spans: which parts of a text they are, and where each begins and ends."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.kinds import KINDS, find_spans
from nmt_cli.carrying.prose_marks import EMPHASIS
from nmt_cli.carrying.spans import NO_CONTEXT, Span, SpanKind
from nmt_cli.carrying.syntax import (
    find_placeholders,
    is_block_tag,
    move_to_word,
    parts_words,
    split_choice,
    trim_address,
)
from support.names import CONTEXT
from support.spans import SPANS, lines_with_spans

DATA = "gattaca+" * 25  # 200 characters


def span_texts(text: str) -> list[str]:
    return [span.text for span in find_spans(text)]


@pytest.mark.parametrize("span", SPANS)
def test_every_kind_of_span_is_found_alone_and_in_a_sentence(span: str) -> None:
    assert "".join(span_texts(span)) == span
    assert "".join(span_texts(f"We saw {span}, and left.")) == span
    assert "".join(span_texts(f"({span})")) == span


@pytest.mark.parametrize(
    ("syntax", "placeholders"),
    [
        ("c", ["%s", "%5.2f", "%*d", "%lu", "%-10s", "%%"]),
        ("python", ["%(size)d", "{0!r:>8}", "{}"]),
        ("qt", ["%1", "%n", "%L2", "%Ln", "%12"]),
        ("ruby", ["%<size>.1f", "%{user}"]),
        ("boost", ["%|1$8|", "%2%"]),
        ("pascal", ["%0:s"]),
        ("lisp", ["~a", "~3D"]),
        ("shell", ["$USER", "${USER}"]),
        ("mustache", ["{{user}}", "{{{user}}}", "{{#items}}"]),
        ("i18next", ["$t(common.file)", "{{count, number}}"]),
        ("icu", ["{n, plural, one {# day} other {{n} days}}", "{0, number, percent}"]),
        ("time", ["%Y", "%H"]),
    ],
)
def test_the_placeholders_of_every_catalogue_syntax_are_spans(syntax: str, placeholders: list[str]) -> None:
    text = " and ".join(placeholders) + "."
    assert span_texts(text) == find_placeholders(text) == placeholders
    assert not any(span.is_extracted for span in find_spans(text))


@pytest.mark.parametrize("formula", ["H<sub>2</sub>O", "CO<sub>2</sub>", "m<sup>2</sup>", "10<sup>-3</sup>"])
def test_formulas_and_units_with_raised_or_lowered_numbers_are_masked_as_a_whole(formula: str) -> None:
    assert span_texts(f"It is {formula}.") == [formula]
    assert span_texts("the 10<sup>th</sup> and Tom<sup>1</sup>") == ["<sup>", "</sup>", "<sup>", "</sup>"]


@pytest.mark.parametrize("tag", ["kbd", "code", "samp", "var", "pre"])
def test_what_is_typed_or_printed_is_one_span_with_its_tags(tag: str) -> None:
    assert span_texts(f"Run <{tag}>make it</{tag}> now.") == [f"<{tag}>make it</{tag}>"]
    assert span_texts("Press <kbd>Alt</kbd> + <kbd>F4</kbd>!") == ["<kbd>Alt</kbd> + <kbd>F4</kbd>"]


def test_code_between_backticks_is_a_span_but_a_grave_accent_is_none() -> None:
    assert span_texts("Run `make it` or `x`.") == ["`make it`", "`x`"]
    assert span_texts("He said ``yes'' and l`amour, rock`n`roll") == ["``", "''"]  # the marks, not the word


def test_an_address_ends_before_the_marks_of_its_sentence() -> None:
    assert trim_address("https://en.wikipedia.org/wiki/Hund_(dog)).") == "https://en.wikipedia.org/wiki/Hund_(dog)"
    assert trim_address("https://x.org/?!") == "https://x.org/"


@given(lines_with_spans())
def test_what_is_found_stands_in_the_line_in_order_without_overlap(line: str) -> None:
    end_of_last = 0
    for span in find_spans(line):
        assert end_of_last <= span.start < span.end <= len(line)
        assert line[span.start : span.end] == span.text
        end_of_last = span.end


@pytest.mark.parametrize(
    "text", ["1.1", "1,", "1 000 ", "<a ", "<!--", "<a '\"", "{", "a.", "a@", "%", "&a", "😀\u200d", "http://", "a-"]
)
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    find_spans(text * (20_000 // len(text)))
    assert time.process_time() - started < 5  # hours, if the time grew with the square of the length or worse


@pytest.mark.parametrize("face", [":-)", ";)", ":D", ":'(", ":-(", "=P", "xD", "<3", "^^", ":/"])
def test_typed_faces_are_emoji_that_stand_for_no_word(face: str) -> None:
    (span,) = find_spans(f"I like it {face}, Tom")
    assert span.text == face and span.is_extracted


@pytest.mark.parametrize(
    "text", ["I like it \ufffd, Tom", "\ufffd\ufffd", "I don\ufffdt know.", "Hello 😀\ufffd", "DONE\ufffd 12"]
)
def test_half_of_an_emoji_is_taken_out_wherever_it_stands(text: str) -> None:
    spans = find_spans(text)
    assert all(span.is_extracted for span in spans if "\ufffd" in span.text)
    assert "".join(span.text for span in spans).count("\ufffd") == text.count("\ufffd")


@pytest.mark.parametrize("text", ["Note: /home", "5:3", "a:b", "(see:)", "XDR", "x = (y)", "He said:(no)"])
def test_other_marks_are_no_faces(text: str) -> None:
    assert not any(span.is_extracted for span in find_spans(text))


# Messages of ICU, entries of menus, and references of HTML.


@pytest.mark.parametrize(
    ("choice", "texts"),
    [
        ("{n, plural, one {# day} other {# days}}", ["# day", "# days"]),
        ("{n,plural,offset:1 =0{none}other{all but {who}}}", ["none", "all but {who}"]),
        ("{who, select, she {her} other {their}}", ["her", "their"]),
        ("{a, plural, other {{b, select, x {y} other {z}}}}", ["{b, select, x {y} other {z}}"]),
        (
            "{0,choice,0#no files|1#one file|1<{0,number,integer} files}",
            ["no files", "one file", "{0,number,integer} files"],
        ),
        (r"{n, choice, -1\#none| 2.5≤some of {1}}", ["none", "some of {1}"]),
    ],
)
def test_a_choice_is_split_into_its_syntax_and_its_texts(choice: str, texts: list[str]) -> None:
    parts = split_choice(choice)
    assert parts is not None
    assert [part.text for part in parts if part.is_text] == texts
    assert "".join(part.text for part in parts) == choice


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("E&xit", "&Exit"),
        ("Save a&ll...", "Save &all..."),
        ("(Zoo~m)", "(~Zoom)"),
        ("Pre_ferences", "_Preferences"),
        ("`Sh_ow`", "`Sh_ow`"),  # which a span covers
        *((text, text) for text in ("AT&T", "a_b_c", "x & y", "data_type", "Data_Type", "MAX_SIZE", "?q=x&p=y")),
        *((text, text) for text in ("Da_ta.txt", "/Spe_cial", "E&xit and Q&uit", f"E&xit {'now ' * 20}")),
    ],
)
def test_a_declared_sign_inside_a_word_of_a_menu_moves_before_it(text: str, moved: str) -> None:
    sign = next(sign for sign in "&~_" if sign in text)
    code = Span(0, len(text), text, SpanKind.CODE)
    assert move_to_word(text, sign, [code] if text.startswith("`") else []) == moved
    assert move_to_word(text, "%", []) == move_to_word(text, "&" if sign == "_" else "_", []) == text


# Placeholders that wrap words are taken out as tags are, so that no word between them gets lost.


def test_the_two_of_a_pair_open_and_close() -> None:
    opening, closing = find_spans("I saw {0}the house{1}.", CONTEXT, KINDS)
    assert opening.pair is not None and closing.pair is not None
    assert opening.pair.name == closing.pair.name
    assert (opening.pair.closes, closing.pair.closes) == (False, True)


@given(st.text("ab *_~.\n", max_size=40))
def test_marks_come_in_pairs_that_do_not_overlap(text: str) -> None:
    spans = list(EMPHASIS.find(text, NO_CONTEXT))
    assert [span.pair.closes for span in spans] == [False, True] * (len(spans) // 2)
    for opening, closing in zip(spans[::2], spans[1::2], strict=True):
        assert opening.text == closing.text and opening.end < closing.start
    positions = [position for span in spans for position in range(span.start, span.end)]
    assert positions == sorted(set(positions))
    assert all(text[span.start : span.end] == span.text for span in spans)


def test_a_pair_is_a_pair_of_tags_and_nothing_else() -> None:
    opening, closing = EMPHASIS.find("_so_", NO_CONTEXT)
    assert opening.pair is not None and closing.pair is not None
    assert (opening.pair.name, opening.pair.closes, closing.pair.closes) == ("_", False, True)
    for span in (opening, closing):
        assert span.kind is SpanKind.EMPHASIS and not (parts_words(span) or is_block_tag(span, set()))
