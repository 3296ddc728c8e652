"""Each shape that clients send, as their sources and documents have it, and each trap in them."""

from __future__ import annotations

import socket
from pathlib import Path

import deepl
import pytest
from libretranslatepy import LibreTranslateAPI

from nmt_cli.errors import OutputError
from nmt_cli.server import suggestions
from nmt_cli.server.admission import Admission
from nmt_cli.server.keys import Key
from nmt_cli.server.service import Service
from nmt_cli.server.suggestions import SuggestionFile
from nmt_cli.translation.memory.lookup import TranslationMemory
from support.served import Client, make_pool, serve_on_port


def test_a_text_is_answered_with_a_text_and_a_list_with_a_list() -> None:
    client = Client()
    assert client.ask("/translate", q="hello you", source="en", target="de") == {"translatedText": "HELLO YOU"}
    assert client.ask("/translate", q=["a", "", "b"], source="en", target="de") == {"translatedText": ["A", "", "B"]}
    assert client.ask("/translate", q=[], source="en", target="de") == {"translatedText": []}


def test_json_form_multipart_and_query_are_understood_by_post_and_get() -> None:
    client, values = Client(), {"q": "hello", "source": "en", "target": "de"}
    assert client.post("/translate", data=values).json() == {"translatedText": "HELLO"}
    assert client.post("/translate", files={name: (None, text) for name, text in values.items()}).json() == {
        "translatedText": "HELLO"
    }
    assert client.post("/translate", params=values).json() == {"translatedText": "HELLO"}
    assert client.get("/translate", params=values).json() == {"translatedText": "HELLO", "translation": "HELLO"}


def test_line_ends_blank_lines_and_margins_stay() -> None:
    text = "  hello\r\n\r\n\tyou  \n\n12:30 – 100 %"
    answer = Client().ask("/translate", q=text, source="en", target="de")
    assert answer["translatedText"] == "  HELLO\r\n\r\n\tYOU  \n\n12:30 – 100 %"
    form = Client().post("/translate", data={"q": "a\r\nb", "source": "en", "target": "de"}).json()
    assert form["translatedText"] == "A\nB"


@pytest.mark.parametrize(
    ("source", "target"), [("en", "de"), ("en-US", "de_DE"), ("eng", "ger"), ("EN", "DE"), ("auto", "de")]
)
def test_codes_of_a_language_are_written_in_many_ways(source: str, target: str) -> None:
    answer = Client().ask("/translate", q="a", source=source, target=target)
    assert answer["translatedText"] == "A"
    assert ("detectedLanguage" in answer) == (source == "auto")


def test_a_detected_language_is_told_for_each_text() -> None:
    answer = Client().ask("/translate", q=["Where is the station?", "Hello."], source="auto", target="de")
    assert [row["language"] for row in answer["detectedLanguage"]] == ["en", "en"]
    assert Client().ask("/detect", q="Where is the station?")[0]["language"] == "en"


def test_alternatives_are_other_translations() -> None:
    answer = Client().ask("/translate", q=["a", "b"], source="en", target="de", alternatives=2)
    assert answer["alternatives"] == [[], []]  # the fake has one
    assert (
        Client().post("/translate", json={"q": "a", "source": "en", "target": "de", "alternatives": 99}).status_code
        == 400
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"source": "en", "target": "de"}, "Invalid request: missing q parameter"),
        ({"q": "a", "target": "de"}, "Invalid request: missing source parameter"),
        ({"q": "a", "source": "en"}, "Invalid request: missing target parameter"),
        ({"q": "a", "source": "fr", "target": "de"}, "fr is not supported"),
        ({"q": "a", "source": "en", "target": "fr"}, "fr is not available as a target language from English"),
        ({"q": {"a": 1}, "source": "en", "target": "de"}, "neither a text nor a list"),
        ({"q": [1], "source": "en", "target": "de"}, "neither a text nor a list"),
    ],
)
def test_what_is_wrong_is_said_as_libretranslate_says_it(values: dict[str, object], message: str) -> None:
    response = Client().post("/translate", json=values)
    assert response.status_code == 400
    assert message in response.json()["error"]


def test_languages_have_their_targets() -> None:
    client = Client(Service(make_pool(("eng", "deu"), ("deu", "eng"), ("eng", "vie"))[0]))
    assert client.get("/languages").json() == [
        {"code": "en", "name": "English", "targets": ["de", "vi"]},
        {"code": "de", "name": "German", "targets": ["en"]},
        {"code": "vi", "name": "Vietnamese", "targets": []},
    ]


def test_the_direction_chooses_the_model() -> None:
    pool, loaded = make_pool(("eng", "deu"), ("deu", "eng"))
    client = Client(Service(pool))
    client.ask("/translate", q="a", source="de", target="en")
    assert list(loaded) == [Path("deu-eng")]
    client.ask("/translate", q="a", source="en", target="de")
    assert list(loaded) == [Path("deu-eng"), Path("eng-deu")]


def test_a_document_comes_back_under_a_name_that_nobody_guesses() -> None:
    client = Client()
    values = {"source": "en", "target": "de"}
    answer = client.post("/translate_file", files={"file": ("my file.srt", SUBTITLE)}, data=values).json()
    path = answer["translatedFileUrl"].removeprefix("http://localhost")
    assert path.startswith("/download_file/")
    assert path.endswith("my_file.srt")
    download = client.get(path)
    assert "HELLO YOU" in download.text
    assert download.headers["content-disposition"].startswith("attachment")
    assert client.post("/translate_file", files={"file": ("a.exe", b"MZ")}, data=values).status_code == 400


SUBTITLE = b"1\n00:00:01,000 --> 00:00:02,000\nhello you\n"


def test_a_correction_becomes_a_pair(tmp_path: Path) -> None:
    pool, _ = make_pool()
    values = {"q": "hello\tyou\nbye", "s": "hallo du\ntschüs", "source": "en", "target": "de"}
    assert Client(Service(pool)).post("/suggest", json=values).status_code == 403
    client = Client(Service(pool, suggestions=SuggestionFile(tmp_path / "s.tsv")))
    assert client.ask("/suggest", **values) == {"success": True}
    assert client.ask("/suggest", **{**values, "q": "one\nline", "s": "eine Zeile"}) == {"success": True}
    text = (tmp_path / "s.tsv").read_text(encoding="utf-8")
    assert text == "hello you\thallo du\nbye\ttschüs\none line\teine Zeile\n"
    assert client.post("/suggest", json={**values, "s": " "}).status_code == 400


def test_a_correction_has_no_control_characters(tmp_path: Path) -> None:
    client = Client(Service(make_pool()[0], suggestions=SuggestionFile(tmp_path / "s.tsv")))
    controls = "".join(map(chr, [*range(32), *range(127, 160), 0x2028, 0x2029]))
    values = {"q": f"a{controls}b \x1b]0;title\x07", "s": "c\x9b31md", "source": "en", "target": "de"}
    assert client.ask("/suggest", **values) == {"success": True}
    assert (tmp_path / "s.tsv").read_text(encoding="utf-8") == "a b ]0;title\tc 31md\n"


def test_corrections_are_refused_above_their_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "MOST_BYTES", 12)
    client = Client(Service(make_pool()[0], suggestions=SuggestionFile(tmp_path / "s.tsv")))
    values = {"q": "a", "s": "b", "source": "en", "target": "de"}
    answers = [client.post("/suggest", json=values).status_code for _ in range(5)]
    assert answers == [200, 200, 200, 507, 507]
    assert (tmp_path / "s.tsv").read_bytes() == b"a\tb\n" * 3


@pytest.mark.parametrize(("before", "after"), [("", ""), ("a", "a\n"), ("a\tb", "a\tb\n"), ("a\tb\n", "a\tb\n")])
def test_a_correction_begins_a_line_after_whatever_is_in_the_file(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / "s.tsv").write_text(before, encoding="utf-8")
    SuggestionFile(tmp_path / "s.tsv").append(make_pool()[0].models[0], "c", "d")
    assert (tmp_path / "s.tsv").read_text(encoding="utf-8") == f"{after}c\td\n"


def test_an_unwritable_file_of_corrections_is_an_error_at_the_start(tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "s.tsv", tmp_path):
        with pytest.raises(OutputError, match="--suggestions"):
            SuggestionFile(path).require_folder()
    SuggestionFile(tmp_path / "s.tsv").require_folder()
    gone = Client(Service(make_pool()[0], suggestions=SuggestionFile(tmp_path / "none" / "s.tsv")))
    assert gone.post("/suggest", json={"q": "a", "s": "b", "source": "en", "target": "de"}).status_code == 507


def test_corrections_of_several_directions_have_a_file_each(tmp_path: Path) -> None:
    pool, _ = make_pool(("eng", "deu"), ("deu", "eng"))
    client = Client(Service(pool, suggestions=SuggestionFile(tmp_path / "s.tsv", by_direction=True)))
    client.ask("/suggest", q="a", s="b", source="de", target="en")
    assert [path.name for path in tmp_path.iterdir()] == ["s.de-en.tsv"]


def make_learning_client(path: Path, *directions: tuple[str, str]) -> Client:
    """A client of a server that keeps corrections in a file, and has recalled those that are there."""
    pool, _ = make_pool(*directions)
    for model in pool.models:
        model.memory = TranslationMemory(model.card.languages[1])
    suggestions = SuggestionFile(path, by_direction=len(pool.models) > 1)
    suggestions.recall(pool.models)
    return Client(Service(pool, suggestions=suggestions))


def test_a_correction_is_in_the_memory_at_once_and_after_a_restart(tmp_path: Path) -> None:
    both = ("eng", "deu"), ("deu", "eng")
    client = make_learning_client(tmp_path / "s.tsv", *both)
    client.ask("/suggest", q="Open 2 files.", s="Öffne 2 Dateien.", source="en", target="de")
    client.ask("/suggest", q="Save it.", s="falsch", source="en", target="de")
    client.ask("/suggest", q="Save it.", s="Speichere es.", source="en", target="de")
    for each in (client, make_learning_client(tmp_path / "s.tsv", *both)):
        there, back = (model.memory for model in each.service.pool.models)
        assert there is not None and back is not None and not len(back)
        recalled = [there.find(text) for text in ("Save it.", "Open 3 files.")]
        assert recalled == [("Speichere es.", "memory"), ("Öffne 3 Dateien.", "memory_numbers")]


def test_a_near_correction_is_offered_and_not_used(tmp_path: Path) -> None:
    client = make_learning_client(tmp_path / "s.tsv")
    client.ask("/suggest", q="Save the file now.", s="Speichere die Datei jetzt.", source="en", target="de")
    values = {"q": "Save the new file now.", "source": "en", "target": "de"}
    answer = client.ask("/translate", **values, alternatives=2)
    assert answer["translatedText"] == "SAVE THE NEW FILE NOW."
    assert answer["alternatives"] == ["Speichere die Datei jetzt."]
    assert "alternatives" not in client.ask("/translate", **values)
    (line,) = client.ask("/page/translate", **values)["lines"]
    assert (line["text"], line["alternatives"]) == ("SAVE THE NEW FILE NOW.", ["Speichere die Datei jetzt."])


@pytest.mark.parametrize("service", ["MTRestService", "MtRestService", "mtrestservice", "mtRESTservice"])
def test_opus_cat_is_asked_by_get(service: str) -> None:
    client = Client()
    values = {"tokenCode": "0", "input": "hello", "srcLangCode": "en", "trgLangCode": "de", "modelTag": ""}
    assert client.get(f"/{service}/TranslateJson", params=values).json() == {"translation": "HELLO"}
    assert client.get(f"/{service}/ListSupportedLanguagePairs", params={"tokenCode": "0"}).json() == ["en-de"]
    assert "ready" in client.get(f"/{service}/CheckModelStatus", params=values).json()
    assert client.post(f"/{service}/PreOrderBatch", params=values, json=["hello"]).status_code == 200
    assert client.get(f"/{service}/Nothing").status_code == 404


def test_text_lists_keep_placeholders_and_order() -> None:
    answer = Client().ask("/translate", text_list=["hello", "you"], source_lang="auto", target_lang="de")
    assert answer == {
        "translations": [{"detected_source_lang": "en", "text": "HELLO"}, {"detected_source_lang": "en", "text": "YOU"}]
    }


def test_deeplx_is_told_by_the_key_text() -> None:
    answer = Client().ask("/translate", text="hello", source_lang="EN", target_lang="DE")
    assert (answer["code"], answer["data"], answer["alternatives"]) == (200, "HELLO", [])


def test_deepl_answers_as_weblate_asks() -> None:
    client = Client()
    values = {
        "text": ['hello &amp; <x id="7"></x> you'],
        "target_lang": "DE",
        "tag_handling": "xml",
        "ignore_tags": ["x"],
    }
    response = client.post("/v2/translate", json=values, headers={"Authorization": "DeepL-Auth-Key secret"})
    assert response.json()["translations"][0]["detected_source_language"] == "EN"
    assert client.post("/v2/translate", json={"text": ["a"]}).json() == {
        "message": "Invalid request: missing target_lang parameter"
    }
    assert client.get("/v2/languages?type=target").json() == [
        {"language": "DE", "name": "German", "supports_formality": False}
    ]
    assert client.post("/v2/usage").json()["character_count"] == 0
    form = client.post("/v2/translate", content="text=a&text=b&target_lang=DE", headers=FORM).json()
    assert [row["text"] for row in form["translations"]] == ["A", "B"]


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_the_client_of_libretranslate_is_served() -> None:
    with serve_on_port() as (url, _):
        client = LibreTranslateAPI(f"{url}/")
        assert client.translate("hello you", "en", "de") == "HELLO YOU"
        assert client.detect("Where is the station?")[0]["language"] == "en"
        assert client.languages()[0]["code"] == "en"


def test_the_client_of_deepl_is_served() -> None:
    with serve_on_port() as (url, _):
        client = deepl.DeepLClient("any-key", server_url=url, send_platform_info=False)
        assert client.translate_text("hello", target_lang="DE").text == "HELLO"  # type: ignore[union-attr]
        results = client.translate_text(["a", "b"], source_lang="EN", target_lang="DE")
        assert [result.text for result in results] == ["A", "B"]  # type: ignore[union-attr]
        assert [language.code for language in client.get_source_languages()] == ["EN"]
        assert not client.get_usage().any_limit_reached
        assert client.get_glossary_languages() == []


def test_health_settings_and_interface_are_described() -> None:
    client = Client(Service(make_pool()[0], admission=Admission([Key("", "secret")])))
    assert client.get("/health").json() == {"status": "ok"}
    settings = client.get("/frontend/settings").json()
    assert (settings["keyRequired"], settings["suggestions"]) == (True, False)
    assert settings["language"]["source"] == {"code": "en", "name": "English"}
    assert ".srt" in settings["supportedFilesFormat"]
    assert "/translate" in client.get("/spec").json()["paths"]


REQUESTS = {  # the bytes that clients send, by their sources or documents, and what they look for
    "Weblate": (
        b"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Weblate/5.9\r\nAccept-Encoding: gzip, deflate\r\n"
        b"Accept: */*\r\nConnection: close\r\nContent-Length: 70\r\nContent-Type: application/json\r\n\r\n"
        b'{"api_key": "", "q": ["hello", "you"], "source": "en", "target": "de"}',
        b'{"translatedText":["HELLO","YOU"]}',
    ),
    "OmegaT": (
        b"GET /translate?q=hello+you&source=en&target=de HTTP/1.1\r\nUser-Agent: Java/11\r\nHost: localhost\r\n"
        b"Accept: text/html, image/gif, image/jpeg, */*; q=.2\r\nConnection: close\r\n\r\n",
        b'"translatedText":"HELLO YOU"',
    ),
    "OmegaT FakeMT": (
        b"GET /translate?source=en-US&target=de-DE&q=hello%20you HTTP/1.1\r\nHost: localhost\r\n"
        b"Connection: close\r\n\r\n",
        b'"translation":"HELLO YOU"',
    ),
    "OPUS-CAT for memoQ": (
        b"GET /MTRestService/TranslateJson?tokenCode=0&input=hello%20you&srcLangCode=en&trgLangCode=de&modelTag="
        b" HTTP/1.1\r\nHost: localhost:8500\r\nConnection: close\r\n\r\n",
        b'{"translation":"HELLO YOU"}',
    ),
    "Subtitle Edit": (
        b"POST /translate HTTP/1.1\r\nHost: localhost:5000\r\nContent-Type: application/json; charset=utf-8\r\n"
        b"Connection: close\r\nContent-Length: 52\r\n\r\n"
        b'{"q": "hello\\nyou", "source": "en", "target": "de" }',
        b'"translatedText":"HELLO\\nYOU"',
    ),
    "curl": (
        b"POST /translate HTTP/1.1\r\nHost: 127.0.0.1:5000\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n"
        b"Connection: close\r\nContent-Length: 27\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
        b"q=hello&source=en&target=de",
        b'{"translatedText":"HELLO"}',
    ),
}


@pytest.mark.parametrize("client", REQUESTS)
def test_the_bytes_that_a_client_sends_are_answered(client: str) -> None:
    request, expected = REQUESTS[client]
    with serve_on_port() as (url, _):
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(request)
            answer = connection.makefile("rb").read()
    assert b" 200 " in answer.split(b"\r\n")[0]
    assert expected in answer
