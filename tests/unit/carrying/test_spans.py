"""Protected spans: which parts of a text they are, and where each begins and ends."""

from __future__ import annotations

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
    "text",
    [
        "I have 3 dogs.",
        "5 A students in the 90s",
        "a < b and 5 >> 2, x => 3",
        "Wait... e.g. this, i.e. that. End.In a word.",
        "a <- b -> c",
        "Where is it? At home: now!",
        "12 Jahre, 2 in the morning, the 1990s, on the 21st",
        "Käse & Brot; @ home, # 1, C# 2",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert span_texts(text) == []


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
    ("text", "numbers"),
    [
        ("She moved in 1972. It took 250 days.", ["1972", "250"]),
        ("Be there at 11:45, not at 9.15 Uhr, on 2031-12-24 or 3/4/99.", ["11:45", "9.15", "2031-12-24", "3/4/99"]),
        ("It is 2.71, 12,500 or 1.250.000,75 and 40 000.", ["2.71", "12,500", "1.250.000,75", "40 000"]),
        ("Call +43 1 5877, 0664 9876543 or (212) 555-0199.", ["+43 1 5877", "0664 9876543", "(212) 555-0199"]),
        (
            "Ping 10.20.0.254, fill in B7-12, see ISBN 978-0-14-044913-6.",
            ["10.20.0.254", "B7-12", "ISBN 978-0-14-044913-6"],
        ),
        ("Play MP4 in 3D with v2.10.1 on an F-16, not 7A.", ["MP4", "3D", "v2.10.1", "F-16", "7A"]),
        ("-4 is less than 3, and 8 -5 is 3.", ["-4", "-5"]),
        ("£20 -3 °F, £20 - £30, 4-6 km, 4 – 6 km", ["£20", "-3 °F", "£20", "£30", "4-6 km", "4 – 6 km"]),
        ("昭和1964年に来た。", ["1964"]),
        ("Pages 3-7, chapter 007, the 1-2 defeat, 24/7", ["3-7", "007", "1-2", "24/7"]),
        ("On 2024 300 came; in 1999, 45 of 150", ["2024", "300", "1999", "150"]),
        ("a 300-page book for 5-year-olds", ["300"]),
        ("Ping fe80::3 or ::1 in fe80::/10, not std::list 4.", ["fe80::3", "::1", "fe80::/10"]),
        ("Order #482 is #00ff7f; § 7a, 3e-4, 2.5E+6", ["#482", "#00ff7f", "§ 7a", "3e-4", "2.5E+6"]),
        ("60k in 720p at 14c, but at 6a.m. in the 20s, le 5e, 4 o'clock", ["60k", "720p", "14c", "6a.m."]),
        ("if >6 or <= 7, ≥ 4 kg, x -> 8, a < b 9", [">6", "<= 7", "≥ 4 kg"]),
        ("> 6 people", []),
        ("Es kostet 7,- oder 8,– €, in 9.81 s", ["7,-", "8,– €", "9.81 s"]),
        ("Dear [X12X], see [A4] and [1st], [4] or [x].", ["[X12X]", "[A4]", "[4]"]),
        ("5 p.m. or 10:30 a.m., 6pm; I am 9 AM", ["5 p.m.", "10:30 a.m.", "6pm", "9 AM"]),
        ("Article 5(1)(a) or 12b(iv), not 3 (a) or 6(x)y, 3(house)", ["5(1)(a)", "12b(iv)"]),
        ("5 p.m.", ["5 p.m."]),
        ("It was 5 p.m.", ["5 p.m"]),
        ("5-6 p.m., 5 to 6:30 pm or 5 am Monday when 6 am came", ["5-6 p.m.", "5", "6:30 pm", "5 am", "6 am"]),
        ("Platz 3 am Fenster, 5 am letzten Tag, PLATZ 3 AM FENSTER, 5 to 6", []),
        ("It was 5 p.m. Tom came, 5 amps", ["5 p.m"]),
        ("9am-5pm, 9:30 a.m. – 5 p.m., 9am–5:45pm", ["9am-5pm", "9:30 a.m. – 5 p.m.", "9am–5:45pm"]),
        ("4 kg/m², 9.5 g/cm³, $5/kg, 3 €/h", ["4 kg/m²", "9.5 g/cm³", "$5/kg", "3 €/h"]),
        ("8 l/100 km, 250 N·m, 50 W/m²K, 5-10 min/km", ["8 l/100 km", "250 N·m", "50 W/m²K", "5-10 min/km"]),
        ("3×10⁸ m/s, 2.5·10⁻³ or 10⁶", ["3×10⁸ m/s", "2.5·10⁻³", "10⁶"]),
        ("5 he/she, 6 and/or 7, 8 A/B", []),
        ("as known [3, 4] [12], Tom (34), f(2), (030) 123456", ["[3, 4]", "[12]", "(34)", "(030) 123456"]),
    ],
)
def test_numbers_that_no_language_writes_as_words_are_spans(text: str, numbers: list[str]) -> None:
    assert span_texts(text) == numbers
    assert all(span.is_number for span in find_spans(text))


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
