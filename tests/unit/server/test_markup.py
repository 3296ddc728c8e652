import pytest

from nmt_cli.languages.codes import find_language
from support.served import Client


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


@pytest.mark.parametrize(
    ("code", "expected"),
    [("eng", "en"), ("ger", "de"), ("zh_Hans", "zh"), ("pt-BR", "pt"), ("cmn", "zh"), ("NB", "nb"), ("hsb", "hsb")],
)
def test_a_code_is_found_however_it_is_written(code: str, expected: str) -> None:
    assert find_language(code).code == expected


def test_a_client_of_tests_sends_markup_twice() -> None:
    client, request = Client(), {"text": ["<b>hello</b>"], "target_lang": "DE", "tag_handling": "html"}
    assert client.ask("/v2/translate", **request) == client.ask("/v2/translate", **request)
