"""Protected spans: which parts of a text they are, and where each begins and ends."""

import time

import pytest
from hypothesis import given

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.syntax import find_placeholders, trim_address
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
    ("text", "spans"),
    [
        ("See https://a.org/b_(c)), or mail x@y.de!", ["https://a.org/b_(c)", "x@y.de"]),
        ("访问https://a.com谢谢。价格5kg的", ["https://a.com", "5kg"]),
        ("https://zh.wikipedia.org/wiki/中文。", ["https://zh.wikipedia.org/wiki/中文"]),
        ('<a title="x > y">z</a>', ['<a title="x > y">', "</a>"]),
        ("It costs $1.5M or 1.234,56 EUR, 50 % off", ["$1.5M", "1.234,56 EUR", "50 %"]),
        ("{a}{b} and %s%d", ["{a}{b}", "%s%d"]),
        ("50% discount, 100 %ige Lösung", ["50%", "100"]),
        ("⟦3⟧ and ⟦12⟧", ["⟦3⟧"]),
        ("2½ l or ¾ l of H₂SO₄, not NaOH", ["2½", "¾", "H₂SO₄"]),
        (f"It is {DATA} here", [DATA]),
        (f"It is {DATA[1:]}, {'猫' * 300}", []),
        ("Ruft® and Lex™ sing", ["®", "™"]),
        ("a great (!) idea (?!) he say [sic]", ["(!)", "(?!)", "[sic]"]),
    ],
)
def test_where_a_span_begins_and_ends(text: str, spans: list[str]) -> None:
    assert span_texts(text) == spans


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


@pytest.mark.parametrize("tag", ["kbd", "code", "samp", "var", "pre"])
def test_what_is_typed_or_printed_is_one_span_with_its_tags(tag: str) -> None:
    assert span_texts(f"Run <{tag}>make it</{tag}> now.") == [f"<{tag}>make it</{tag}>"]
    assert span_texts("Press <kbd>Alt</kbd> + <kbd>F4</kbd>!") == ["<kbd>Alt</kbd> + <kbd>F4</kbd>"]


def test_code_between_backticks_is_a_span_but_a_grave_accent_is_none() -> None:
    assert span_texts("Run `make it` or `x`.") == ["`make it`", "`x`"]
    assert span_texts("He said ``yes'' and l`amour, rock`n`roll") == []


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
