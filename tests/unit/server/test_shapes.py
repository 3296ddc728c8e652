"""Each shape that clients send, as their sources and documents have it, and each trap in them."""

import re
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.server.admission import Admission, Key
from nmt_cli.server.service import Service
from nmt_cli.translation.result import FailedCheck, LeastSure, Translation
from support.served import Client, make_pool
from support.translations import louder


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


FRENCH, GERMAN = "Où est la gare, s'il vous plaît ?", "Wo ist der Bahnhof?"
LOOKS_FRENCH = "the text looks like French, but is translated as English"


@pytest.mark.parametrize(
    ("path", "values", "expected"),
    [
        (
            "/translate",
            {"q": FRENCH, "source": "auto", "target": "de"},
            {"detectedLanguage": {"confidence": 0.0, "language": "en"}, "warning": LOOKS_FRENCH},
        ),
        (
            "/translate",
            {"text_list": [FRENCH], "target_lang": "de"},
            {"translations": [{"detected_source_lang": "fr", "text": FRENCH.upper()}]},
        ),
        ("/translate", {"text": FRENCH, "target_lang": "DE"}, {"source_lang": "FR"}),
        (
            "/v2/translate",
            {"text": [FRENCH], "target_lang": "DE"},
            {
                "translations": [
                    {"detected_source_language": "FR", "text": FRENCH.upper(), "billed_characters": len(FRENCH)}
                ]
            },
        ),
        ("/MTRestService/TranslateJson", {"input": FRENCH}, {"translation": FRENCH.upper()}),
    ],
)
@pytest.mark.parametrize("directions", [[("eng", "deu")], [("eng", "deu"), ("deu", "eng")]])
def test_a_text_in_a_third_language_is_translated_and_the_answer_says_so(
    directions: list[tuple[str, str]], path: str, values: dict[str, object], expected: dict[str, object]
) -> None:
    answer = Client(Service(make_pool(*directions)[0])).post(path, json=values)
    assert {name: answer.json()[name] for name in expected} == expected
    assert answer.headers["warning"] == f'199 nmt "{LOOKS_FRENCH}"'


def test_a_text_that_is_already_in_the_target_language_stays_as_it_is() -> None:
    texts = ["Where is the platform?", f" {GERMAN}\n{GERMAN}", "12", FRENCH]
    for answer, is_told in (
        (Client().ask("/translate", q=texts, source="auto", target="de", alternatives=1), True),
        (Client().ask("/translate", q=texts, source="auto", target="de", format="html"), True),
        (Client().ask("/translate", q=texts, source="en", target="de"), False),
    ):
        kept = texts[1] if is_told else texts[1].upper()
        assert answer["translatedText"] == [texts[0].upper(), kept, "12", FRENCH.upper()]
        assert answer.get("warning") == (LOOKS_FRENCH.replace("the text", "text 4") if is_told else None)
        guesses = [(guess["language"], guess["confidence"] > 80) for guess in answer.get("detectedLanguage", [])]
        assert guesses == [("en", True), ("de", True), ("en", False), ("en", False)] * is_told
    marked = "<a href='https://the.example/with-the-words' class='of the page that is here'>Wo ist der Bahnhof?</a>"
    assert Client().ask("/translate", q=marked, source="auto", target="de", format="html")["translatedText"] == marked
    both = Client(Service(make_pool(("eng", "deu"), ("deu", "eng"))[0]))
    assert both.ask("/translate", q=GERMAN, source="auto", target="de")["translatedText"] == GERMAN
    assert both.ask("/translate", q=GERMAN, source="auto", target="en")["translatedText"] == GERMAN.upper()
    # A short text, of whose language nobody is sure, has the likeliest one, also of the target languages.
    answer = Client().ask("/translate", q="Guten Morgen.", source="auto", target="de")
    assert answer["detectedLanguage"]["language"] == "de"
    assert (
        Client().ask("/v2/translate", text=["Guten Morgen."], target_lang="DE")["translations"][0][
            "detected_source_language"
        ]
        == "DE"
    )


def test_any_language_is_detected() -> None:
    detected = Client().ask("/detect", q=[FRENCH, "¿Dónde está la estación?", GERMAN])
    assert [(row["language"], row["confidence"] > 80) for row in detected] == [("fr", True), ("es", True), ("de", True)]
    (short,) = Client().ask("/detect", q="merci beaucoup")  # too short to be sure, but hardly English
    assert (short["language"], short["confidence"] < 20) == ("en", True)


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
        ({"q": {"a": 1}, "source": "en", "target": "de"}, "neither a string nor a list"),
        ({"q": [1], "source": "en", "target": "de"}, "neither a string nor a list"),
    ],
)
def test_what_is_wrong_is_said_as_libretranslate_says_it(values: dict[str, object], message: str) -> None:
    response = Client().post("/translate", json=values)
    assert response.status_code == 400
    assert message in response.json()["error"]


FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ASKED = {"q": "a", "source": "en", "target": "de"}
DEEPL = {"text": "<b>a</b>", "target_lang": "de"}
TRANSLATED = {"translatedText": "A"}


@pytest.mark.parametrize(
    ("path", "options", "answer"),
    [
        ("/translate", {"json": {**ASKED, "source": "AUTO"}}, {"translatedText": "A", "detectedLanguage": ...}),
        ("/translate", {"json": {**ASKED, "q": "<b>a</b>", "format": "HTML"}}, {"translatedText": "<b>A</b>"}),
        ("/translate", {"json": {**ASKED, "glossary": {}}}, TRANSLATED),
        ("/translate", {"json": {**ASKED, "format": "", "formality": "", "tag": "", "alternatives": ""}}, TRANSLATED),
        ("/translate", {"content": "q[]=a&source=en&target=de", "headers": FORM}, {"translatedText": ["A"]}),
        ("/translate", {"content": "q[]=a&q[]=b&source=en&target=de", "headers": FORM}, {"translatedText": ["A", "B"]}),
        ("http://localhost//translate", {"json": ASKED}, TRANSLATED),
        ("/translate/", {"json": ASKED}, TRANSLATED),
        ("/detect", {"json": {"q": "12"}}, [{"confidence": 0.0, "language": "en"}]),
        (
            "/v2/translate",
            {"json": {**DEEPL, "text": "a &amp; b", "tag_handling": "HTML"}},
            {"translations": [{"detected_source_language": "EN", "text": "A &amp; B", "billed_characters": 9}]},
        ),
        ("/v2/translate", {"json": {**DEEPL, "glossary_id": "", "source_lang": "Auto"}}, {"translations": ...}),
        (
            "/v2/translate",
            {"json": {**DEEPL, "tag_handling": "md"}},
            {"message": "Value for 'tag_handling' not supported: md"},
        ),
        ("/v2/languages", {"json": {"type": "TARGET"}}, [{"language": "DE", "name": ..., "supports_formality": False}]),
    ],
)
def test_what_clients_write_in_other_ways_is_read(path: str, options: dict[str, object], answer: object) -> None:
    received = Client().post(path, **options).json()
    assert matches(received, answer), received


def matches(received: object, answer: object) -> bool:
    """Whether an answer is the expected one, in which `...` stands for anything."""
    if isinstance(answer, dict) and isinstance(received, dict):
        return received.keys() == answer.keys() and all(matches(received[name], answer[name]) for name in answer)
    if isinstance(answer, list) and isinstance(received, list):
        return len(received) == len(answer) and all(map(matches, received, answer))
    return answer is ... or received == answer


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
    assert path.endswith("my_file.de.srt")
    download = client.get(path)
    assert "HELLO YOU" in download.text
    assert download.headers["content-disposition"].startswith("attachment")
    for name, advice in (("a.exe", "name a text"), ("a.pdf", "pdftotext -layout a.pdf"), ("a.mp4", "such as .txt")):
        refused = client.post("/translate_file", files={"file": (name, b"MZ")}, data=values)
        assert refused.status_code == 400 and advice in refused.json()["error"]
    french = {"file": ("a.txt", FRENCH.encode())}
    answer = client.post("/translate_file", files=french, data={"source": "auto", "target": "de"}).json()
    assert answer["warning"] == LOOKS_FRENCH.replace("text", "document")


def test_the_answer_about_a_document_says_how_many_texts_failed_which_checks() -> None:
    def doubt(text: str) -> Translation:
        checks = (FailedCheck("numbers", "the number 3 is missing"), FailedCheck("failed", "in search.py"))
        return louder(text)._replace(checks=checks[: len(text)] if "3" in text else (), confidence=1 / len(text))

    client, values = Client(Service(make_pool(rule=doubt)[0])), {"source": "en", "target": "de"}
    lines = "a\nb 3\n" + "".join(f"c 3{'!' * n}\n" for n in range(30))
    report = client.post("/translate_file", files={"file": ("a.txt", lines.encode())}, data=values).json()["report"]
    assert (report["texts"], report["failed"], report["checks"]) == (32, 31, {"numbers": 31, "failed": 31})
    assert [text["number"] for text in report["flagged"]] == [*range(32, 12, -1)]
    assert report["flagged"][0]["translation"].startswith("C 3!")
    assert [check["message"] for check in report["flagged"][0]["checks"]] == [
        *("the number 3 is missing", "not translated: internal error"),
    ]


def test_the_answer_about_texts_says_which_checks_they_failed_if_asked() -> None:
    def doubt(text: str) -> Translation:
        checks = (FailedCheck("numbers", "the number 3 is missing"),) * text.count("3")
        return louder(text)._replace(checks=checks, confidence=1 / len(text))

    client, values = Client(Service(make_pool(rule=doubt)[0])), {"source": "en", "target": "de"}
    texts = ["a 3\n\nb 333", "c", "?"]
    answer = client.ask("/translate", q=texts, **values, quality=True)["quality"]
    assert [([check["kind"] for check in text["checks"]], text.get("confidence")) for text in answer] == [
        *((["numbers"] * 4, 1 / 5), ([], 1), ([], None)),
    ]
    assert client.get("/translate?q=a&source=en&target=de&quality=true").json()["quality"]["confidence"] == 1
    for refused in (
        "/translate?q=a&source=en&target=de&quality=high",
        "/translate?q=a&source=en&target=de&qualty=true",
    ):
        assert client.get(refused).status_code == 400
    assert "quality" not in client.ask("/translate", q="a", **values, quality=False)


def test_html_has_no_alternatives_and_the_answer_says_so() -> None:
    values = {"q": "hello", "source": "en", "target": "de", "format": "html", "alternatives": 3, "quality": True}
    answer = Client().post("/translate", json=values)
    assert answer.json()["alternatives"] == [] and "they need format text" in answer.json()["warning"]
    assert "quality" not in answer.json()
    assert answer.json()["warning"] in answer.headers["Warning"]


@pytest.mark.parametrize("source", ["en", "auto"])
def test_of_a_table_the_request_names_the_column(source: str) -> None:
    client = Client()
    table, values = {"file": ("a.csv", b"id,text\n1,hello you\n")}, {"source": source, "target": "de"}
    answer = client.post("/translate_file", files=table, data=values | {"column": "text"}).json()
    assert "HELLO YOU" in client.get(answer["translatedFileUrl"].removeprefix("http://localhost")).text
    answer = client.post("/translate_file", files=table, data=values | {"column": ["text", "id"]}).json()
    written = client.get(answer["translatedFileUrl"].removeprefix("http://localhost")).text
    assert written.splitlines()[0] == "id,text,text_deu,id_deu"
    refused = client.post("/translate_file", files=table, data=values)
    assert refused.status_code == 400
    question, advice = (
        "which column of a.csv should nmt translate?",
        "give its name or number; the columns are id, text",
    )
    assert refused.json()["error"] == f"column is missing: {question} {advice}"


@pytest.mark.parametrize("name", ["glosary", "glossaries", "formalty", "tags", "frmat", "alternative"])
def test_a_name_that_is_nearly_one_of_ours_is_refused_and_others_are_left_to_their_clients(name: str) -> None:
    client, values = Client(), {"q": "hello", "source": "en", "target": "de"}
    refused = client.post("/translate", json=values | {name: {"hello": "hallo"}})
    assert refused.status_code == 400 and refused.json()["error"].startswith(f"Invalid request: there is no {name!r}; ")
    foreign = dict.fromkeys(("secret", "tag_handling", "style", "pageUrl", "formatting"), "x")
    assert client.post("/translate", json=values | foreign).json()["translatedText"] == "HELLO"
    deepl = {"text": ["hello"], "target_lang": "de", name: "x", **foreign, "glossary_id": "", "tag_handling": "html"}
    assert client.post("/v2/translate", json=deepl).status_code == 200


@pytest.mark.parametrize(
    ("path", "values", "message"),
    [
        ("/translate", {"confidence": True}, "'confidence'; this option is for files: nmt translate FILE --confidence"),
        ("/translate", {"beam_size": 3}, "this option is for a server: nmt translate --serve 5000 --beam-size"),
        ("/translate", {"n_best": 3}, "did you mean 'alternatives'?"),
        ("/translate", {"column": "a"}, "use this option with /translate_file"),
        ("/v2/translate", {"temperature": 0.3}, "nmt translate --serve 5000 --temperature"),
        ("/xunity", {"min_confidence": 0.3}, "nmt translate --serve 5000 --min-confidence"),
    ],
)
def test_an_option_that_no_request_takes_is_refused(path: str, values: dict[str, Any], message: str) -> None:
    needed = {"q": "a", "text": "a", "source": "en", "target": "de", "target_lang": "de"}
    refused = Client().post(path, json=needed | values)
    assert refused.status_code == 400 and message in refused.text
    assert Client().post(path, json=needed | dict.fromkeys(values, False)).status_code == 200
    assert Client().post(path, json=needed | {"context": "b", "split_sentences": "1"}).status_code == 200


SUBTITLE = b"1\n00:00:01,000 --> 00:00:02,000\nhello you\n"


@pytest.mark.parametrize("service", ["MTRestService", "MtRestService", "mtrestservice", "mtRESTservice"])
def test_opus_cat_is_asked_by_get(service: str) -> None:
    client = Client()
    values = {"tokenCode": "0", "input": "hello", "srcLangCode": "en", "trgLangCode": "de", "modelTag": ""}
    assert client.get(f"/{service}/TranslateJson", params=values).json() == {"translation": "HELLO"}
    assert client.get(f"/{service}/ListSupportedLanguagePairs", params={"tokenCode": "0"}).json() == ["en-de"]
    assert "ready" in client.get(f"/{service}/CheckModelStatus", params=values).json()
    assert client.post(f"/{service}/PreOrderBatch", params=values, json=["hello"]).status_code == 200
    assert client.get(f"/{service}/Nothing").status_code == 404
    assert client.get(f"/{service}/TranslateJson", params=values | {"input": ""}).json() == {"translation": ""}
    assert client.get(f"/{service}/TranslateJson", params={"text": "hello"}).status_code == 400


def test_games_are_answered_with_plain_text() -> None:
    client = Client()
    answer = client.get("/xunity", params={"from": "en", "to": "de", "text": "hello\nyou – 12"})
    assert answer.text == "HELLO\nYOU – 12" and answer.headers["content-type"].startswith("text/plain")
    assert client.get("/xunity", params={"from": "en", "to": "de"}).status_code == 400
    assert client.get("/xunity", params={"from": "en", "to": "fr", "text": "a"}).status_code == 400


def test_sugoi_is_answered_in_the_form_of_its_content() -> None:
    client = Client()
    assert client.ask("/", message="translate sentences", content="hello") == "HELLO"
    assert client.ask("/", message="translate sentences", content=["a", "", "b"]) == ["A", "", "B"]
    assert client.ask("/", message="translate sentences", content=[]) == []
    assert client.ask("/", message="check if server is ready") is True
    assert client.ask("/", message="close server") == ""  # and it goes on
    assert client.post("/", json={"content": "hello"}).status_code == 400
    assert client.get("/").headers["content-type"].startswith("text/html")


def test_text_lists_keep_placeholders_and_order() -> None:
    answer = Client().ask("/translate", text_list=["hello", "you"], source_lang="auto", target_lang="de")
    assert answer == {
        "translations": [{"detected_source_lang": "en", "text": "HELLO"}, {"detected_source_lang": "en", "text": "YOU"}]
    }


def test_deeplx_is_told_by_the_key_text() -> None:
    answer = Client().ask("/translate", text="hello", source_lang="EN", target_lang="DE")
    assert (answer["code"], answer["data"], answer["alternatives"]) == (200, "HELLO", [])
    mixed = {"text": "hello", "source": "en", "target": "de"}  # two shapes in one: the answer names what the one lacks
    assert Client().post("/translate", json=mixed).json() == {"error": "Invalid request: missing q parameter"}


def test_json_is_read_also_as_curl_sends_it_without_a_header() -> None:
    body = '{"q": "hello", "source": "en", "target": "de"}'
    assert Client().post("/translate", content=body, headers=FORM).json() == {"translatedText": "HELLO"}


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


def test_health_settings_and_interface_are_described() -> None:
    client = Client(Service(make_pool()[0], admission=Admission([Key("", "secret")])))
    assert client.get("/health").json() == {"status": "ok"}
    settings = client.get("/frontend/settings").json()
    assert (settings["keyRequired"], settings["suggestions"]) == (True, False)
    assert settings["language"]["source"] == {"code": "en", "name": "English"}
    assert ".srt" in settings["supportedFilesFormat"]
    assert "/translate" in client.get("/spec").json()["paths"]
    assert client.get("/openapi.json").json() == client.get("/spec").json()
    paths = client.get("/spec").json()["paths"]
    bodies = {path: paths[path]["post"]["requestBody"]["content"] for path in ("/translate", "/translate_file")}
    assert bodies["/translate"]["application/json"]["schema"]["required"][:1] == ["q"]
    assert bodies["/translate_file"]["multipart/form-data"]["schema"]["properties"]["file"]["format"] == "binary"
    asked = {row["name"]: row["in"] for row in paths["/translate"]["get"]["parameters"]}
    assert asked["q"] == asked["target"] == "query" and "requestBody" not in paths["/translate"]["get"]
    operations = [(path, operation) for path, methods in paths.items() for operation in methods.values()]
    for path, operation in operations:
        named = {row["name"] for row in operation["parameters"] if row["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)", path))


def doubt(text: str) -> Translation:
    """The text in capitals, of which the second sentence is doubtful, or the whole, if it is one."""
    worst = LeastSure(2, "Go.", "GO.", (0.9, 0.3)) if " " in text else None
    message = "confidence 0.30 is below 0.4" + (" in sentence 2 of 2: Go. -> GO." if worst else "")
    failed = FailedCheck("confidence", message)
    return louder(text)._replace(confidence=0.3, checks=(failed,), least_sure=worst)


def test_the_page_names_the_worst_sentence_of_a_line() -> None:
    client = Client(Service(make_pool(rule=doubt)[0]))
    one, several = client.ask("/page/translate", q="Go.\nStay. Go.", source="en", target="de")["lines"]
    assert (one["isUnsure"], one["checks"], one["leastSure"]) == (True, [], None)
    assert several["checks"] == ["confidence 0.30 is below 0.4 in sentence 2 of 2: Go. -> GO."]
    assert (several["leastSure"], several["confidence"]) == ("Go.", 0.3)
