"""A request of many lines, of long ones or of many values is refused, or costs what its size does."""

import time
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.server import page
from nmt_cli.server.admission import Limits
from nmt_cli.server.calls import collect_values
from nmt_cli.server.service import Service
from nmt_cli.server.stores import SuggestionFile
from support.served import Client, make_pool

PAIR = {"source": "en", "target": "de"}
VALUES = {"q": "hello", **PAIR}
FOUR_LINES: dict[str, Any] = {
    "texts": ["a"] * 4,
    "empty texts": [""] * 4,
    "lines of a text": "a\nb\r\nc\rd",
    "blank lines": "\n\r\n\r",
    "lines without letters": "1\n2\n3\n4",
}


def ask_with_limits(path: str, limits: Limits, **values: Any) -> int:
    """Returns the status of a request to a server with these limits."""
    return Client(Service(make_pool()[0], limits)).post(path, json={**PAIR, **values}).status_code


@pytest.mark.parametrize("name", FOUR_LINES)
@pytest.mark.parametrize(
    ("path", "extra"), [("/translate", {}), ("/translate", {"format": "html"}), ("/v2/translate", {}), ("/detect", {})]
)
def test_all_lines_of_a_request_count(path: str, extra: dict[str, str], name: str) -> None:
    values = {"q": FOUR_LINES[name], "text": FOUR_LINES[name], "target_lang": "DE", **extra}
    assert [ask_with_limits(path, Limits(lines=most), **values) for most in (3, 4)] == [413, 200]


def test_lines_of_the_page_and_of_suggestions_count(tmp_path: Path) -> None:
    text = FOUR_LINES["blank lines"]
    assert [ask_with_limits("/page/translate", Limits(lines=most), q=text) for most in (3, 4)] == [413, 200]
    corrections = SuggestionFile(tmp_path / "corrections.tsv")
    client = Client(Service(make_pool()[0], Limits(lines=3), suggestions=corrections))
    assert client.post("/suggest", json={**VALUES, "q": "a\nb", "s": "c\nd"}).status_code == 413
    assert client.post("/suggest", json={**VALUES, "s": "a"}).status_code == 200


def test_a_line_too_long_to_be_given_up_is_refused() -> None:
    for most, status in ((8, 413), (9, 200)):
        limits = Limits(characters=most)
        assert ask_with_limits("/translate", limits, q=["a", "long line"]) == status
        assert ask_with_limits("/translate", limits, q="<p>a</p><p>long line</p>", format="html") == status
        assert ask_with_limits("/page/translate", limits, q="a\nlong line") == status
        document = {"file": ("a.txt", b"a\nlong line\n")}
        client = Client(Service(make_pool()[0], limits))
        assert client.post("/translate_file", files=document, data=PAIR).status_code == status


def test_the_page_shows_the_words_of_as_many_lines_as_it_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    client, text = Client(), "a b\n12\na b c d e f g h\na b"
    for most, expected in ((10_000, [True, False, True, True]), (20, [True, False, False, False]), (1, [False] * 4)):
        monkeypatch.setattr(page, "SHOWN", most)
        lines = client.ask("/page/translate", q=text, **PAIR)["lines"]
        assert ["segments" in line for line in lines] == expected
        assert [line["text"] for line in lines] == text.upper().split("\n")


def test_a_name_that_is_repeated_often_costs_what_its_values_do() -> None:
    start = time.process_time()
    assert collect_values([("q", "")] * 80_000) == {"q": [""] * 80_000}
    assert time.process_time() - start < 1  # where each is copied with all before it, 9


def test_elements_that_are_ignored_stay_in_their_line() -> None:
    texts = ['a <x id="1">b <i>c</i></x> d <keep/> e', "<x/>", "f <X>g</X>h"]
    request = {"text": texts, "target_lang": "DE", "tag_handling": "xml", "ignore_tags": ["x,keep"]}
    answer = Client().ask("/v2/translate", **request)
    assert [row["text"] for row in answer["translations"]] == [
        'A <x id="1">b <i>c</i></x> D <keep/> E',
        "<x/>",
        "F <X>g</X>H",
    ]


def test_markup_keeps_its_tags_and_entities() -> None:
    texts = ["<p>hello <b>you</b></p>\n<ul><li>one<li>two</ul>", "tea &amp; &lt;coffee&gt;", "", "plain"]
    expected = ["<p>HELLO <b>YOU</b></p>\n<ul><li>ONE<li>TWO</ul>", "TEA &amp; &lt;COFFEE&gt;", "", "PLAIN"]
    answer = Client().ask("/translate", q=texts, source="en", target="de", format="html", alternatives=1)
    assert answer["translatedText"] == expected
    deepl = Client().ask("/v2/translate", text=texts, target_lang="DE", tag_handling="html")
    assert [row["text"] for row in deepl["translations"]] == expected
