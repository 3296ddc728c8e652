"""Attacks: foreign names and pages, paths, headers, malformed values, texts in logs."""

import json
import logging
import re
import tracemalloc
from pathlib import Path

import pytest

from nmt_cli.server.admission import Admission, Key, RequestError
from nmt_cli.server.run import log_without_texts
from nmt_cli.server.service import Service
from nmt_cli.server.stores import SuggestionFile
from nmt_cli.translation.result import Translation
from support.served import Client, connect, make_pool, read_all, serve_on_port
from support.translations import louder

PAIR = {"source": "en", "target": "de"}
VALUES = {"q": "hello", **PAIR}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.nip.io", "a b", ""]
)
def test_a_foreign_name_is_refused(host: str) -> None:
    assert Client().get("/health", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:5000", "127.0.0.1:5000", "[::1]:5000", "192.168.1.7"])
def test_own_names_and_addresses_of_numbers_are_served(host: str) -> None:
    assert Client().get("/health", headers={"Host": host}).status_code == 200


def test_pages_of_other_sites_cannot_read_or_write() -> None:
    client, foreign = Client(), {"Origin": "https://evil.example"}
    answer = client.post("/translate", json=VALUES, headers=foreign)
    assert "access-control-allow-origin" not in answer.headers
    assert client.post("/suggest", json=VALUES, headers=foreign).status_code == 403
    for path in ("/translate_file", "/page/translate_file", "/v2/document", "/v2/document/x/result"):
        assert client.post(path, data=VALUES, headers={"Origin": "null"}).status_code == 403
    local = client.post("/translate", json=VALUES, headers={"Origin": "http://localhost:3000"})
    assert local.headers["access-control-allow-origin"] == "http://localhost:3000"


def test_cors_is_for_all_once_it_is_asked_for() -> None:
    answer = Client(cors=True).request("OPTIONS", "/translate", headers={"Origin": "https://a.example"})
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-methods"] == "GET, POST"


def test_a_key_is_asked_for_wherever_something_is_translated() -> None:
    client = Client(Service(make_pool()[0], admission=Admission([Key("", "secret")])))
    assert client.post("/translate", json=VALUES).status_code == 403
    assert client.post("/translate", json={**VALUES, "api_key": "wrong"}).status_code == 403
    assert client.post("/translate", json={**VALUES, "api_key": "secret"}).status_code == 200
    assert client.post("/translate", json=VALUES, headers={"Authorization": "Bearer secret"}).status_code == 200
    assert client.post("/page/translate", json=VALUES).status_code == 403
    deepl = {"text": "a", "target_lang": "DE"}
    assert client.post("/v2/translate", json=deepl).json() == {"message": "This server asks for an API key"}
    headers = {"Authorization": "DeepL-Auth-Key secret"}
    assert client.post("/v2/translate", json=deepl, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/page/../run.py", "/page/%2e%2e%2frun.py", "/page/page.py", "/download_file/..%2f..%2fetc%2fpasswd"),
        *("/download_file/passwd", "//etc/passwd", "/page/%00", "/assets/page.html"),
    ],
)
def test_no_path_leads_to_a_file(path: str) -> None:
    assert Client().get(path).status_code == 404


@pytest.mark.parametrize("body", [b"{", b"[[[", b'"text"', b"null", b"[" * 100_000, b"\xff\xfe"])
def test_a_body_that_is_no_request_is_an_error_of_the_client(body: bytes) -> None:
    assert Client().post("/translate", content=body, headers={"Content-Type": "application/json"}).status_code == 400


def test_a_multipart_body_that_is_cut_is_an_error_of_the_client() -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    for body in (b"--x\r\nContent-Disposition: form-data; name=", b"nothing", b""):
        assert Client().post("/translate_file", content=body, headers=headers).status_code == 400


def test_nothing_of_a_text_is_logged() -> None:
    lines: list[str] = []
    client = Client(Service(make_pool()[0], log=lines.append))
    client.get("/translate", params={**VALUES, "q": "confidential"})
    client.post("/translate", json={**VALUES, "q": "confidential", "source": "confidential"})
    client.get("/download_file/confidential.txt")
    assert [line.split()[:3] for line in lines] == [
        ["GET", "/translate", "200"],
        ["POST", "/translate", "400"],
        ["GET", "/download_file", "404"],
    ]
    assert not any("confidential" in line for line in lines)


def test_an_error_of_the_server_is_told_without_the_text(capfd: pytest.CaptureFixture[str]) -> None:
    def fail(text: str) -> Translation:
        raise ValueError(f"this is wrong: {text}")

    said: list[str] = []
    service = Service(make_pool(rule=fail)[0], log=said.append, report=said.append)
    with serve_on_port(service) as (url, _), log_without_texts(said.append):
        body = b'{"q": "confidential", "source": "en", "target": "de"}'
        with connect(url) as connection:
            head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
            connection.sendall(head % len(body) + body)
            answer = read_all(connection)
        with connect(url) as connection:
            connection.sendall(b"confidential\r\n\r\n")
            read_all(connection)
        logging.getLogger("asyncio").error("a task\nconfidential", exc_info=ValueError("confidential"))
    assert b" 500 " in answer
    assert b'"line 1 was not translated: internal error"' in answer and b".py" not in answer
    assert said[0].startswith("POST /translate: line 1 was not translated: nmt failed (ValueError at test_security.py:")
    assert "a task: ValueError" in said
    assert "confidential" not in "".join([*said, *capfd.readouterr()]) + answer.decode()


def test_a_failure_ends_markup_and_is_told_of_a_document_without_the_text() -> None:
    def fail(text: str) -> Translation:
        return louder(text) if text != "confidential" else 1 / 0  # type: ignore[return-value]

    said: list[str] = []
    client = Client(Service(make_pool(rule=fail)[0], report=said.append))
    markup = client.post("/translate", json={**VALUES, "q": "<p>a</p><p>confidential</p>", "format": "html"})
    assert (markup.status_code, markup.json()) == (500, {"error": "a text was not translated: internal error"})
    files = {"file": ("a.txt", b"a\nconfidential\nb\n")}
    name = client.post("/translate_file", files=files, data=VALUES).json()["translatedFileUrl"].rpartition("/")[2]
    assert client.get(f"/download_file/{name}").content == b"A\nconfidential\nB\n"
    on_page = client.post("/page/translate_file", files=files, data={**VALUES, "job": "1"}).json()
    assert on_page["flagged"][0]["checks"] == ["not translated: internal error"]
    place = "nmt failed (ZeroDivisionError at test_security.py:"
    assert said[0].startswith(f"POST /translate: a text was not translated: {place}")
    assert all(line.startswith(f"text 2 of a document was not translated: {place}") for line in said[1:])
    assert len(said) == 3 and "confidential" not in "".join(said)


def test_long_codes_of_languages_are_not_kept() -> None:
    pool = make_pool()[0]
    tracemalloc.start()
    for number in range(100):
        with pytest.raises(RequestError):
            pool.find(f"{number}" + "x" * 100_000, "de")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("/translate", {**VALUES, "alternatives": float("inf")}),
        ("/translate", {**VALUES, "format": "doc"}),
        ("/translate", {**VALUES, "source": "\ud800"}),
        ("/translate", {**VALUES, "format": 5}),
        ("/v2/translate", {"text": "a", "target_lang": "DE", "ignore_tags": 5}),
        ("/v2/translate", {"text": "a", "target_lang": "DE", "ignore_tags": [5]}),
        ("/suggest", {**VALUES, "s": 5}),
        ("/page/translate", {**VALUES, "q": ["a"]}),
    ],
)
def test_a_value_that_is_wrong_is_an_error_of_the_client(path: str, values: dict[str, object]) -> None:
    client = Client(Service(make_pool()[0], suggestions=SuggestionFile(Path("none"))))
    response = client.post(path, content=json.dumps(values), headers={"Content-Type": "application/json"})
    assert response.status_code == 400, response.text


def test_half_of_a_character_is_no_key() -> None:
    client = Client(Service(make_pool()[0], admission=Admission([Key("", "secret")])))
    body = '{"q": "1 \\ud800 2", "source": "en", "target": "de", "api_key": "%s"}'
    assert client.post("/translate", content=body % "secret").json() == {"translatedText": "1 \ufffd 2"}
    assert client.post("/translate", content=body % "\\ud800").status_code == 403


HALVES = {
    "LibreTranslate": ("/translate", {"q": "so{0}", **PAIR}),
    "LibreTranslate's list": ("/translate", {"q": ["{0}", "so {0}"], **PAIR, "alternatives": 2}),
    "LibreTranslate's markup": ("/translate", {"q": "<p title='{0}'>so {0}</p>", **PAIR, "format": "html"}),
    "LibreTranslate's glossary": ("/translate", {"q": "so {0}", **PAIR, "glossary": {"so{0}": "also {0}"}}),
    "detection": ("/translate", {"q": "so {0}", "source": "auto", "target": "de"}),
    "the language of a text": ("/detect", {"q": "so {0}"}),
    "DeepL": ("/v2/translate", {"text": ["so{0}"], "target_lang": "DE"}),
    "DeepL's markup": ("/v2/translate", {"text": ["a{0}b"], "target_lang": "DE", "tag_handling": "xml"}),
    "DeepL's tags": (
        "/v2/translate",
        {"text": ["<x>{0}</x>"], "target_lang": "DE", "tag_handling": "html", "ignore_tags": ["{0}", "x"]},
    ),
    "DeepL's context": ("/v2/translate", {"text": ["so"], "target_lang": "DE", "context": "{0}"}),
    "DeepL's glossary": (
        "/v2/glossaries",
        {"name": "{0}", "source_lang": "en", "target_lang": "de", "entries": "so{0}\talso{0}", "entries_format": "tsv"},
    ),
    "DeepLX": ("/translate", {"text": "so {0}", "source_lang": "en", "target_lang": "de", "tag_handling": "html"}),
    "Immersive Translate": ("/translate", {"text_list": ["so {0}", "{0}"], "source_lang": "en", "target_lang": "de"}),
    "OPUS-CAT": ("/MTRestService/TranslateJson", {"input": "so {0}", "srcLangCode": "en", "trgLangCode": "de"}),
    "XUnity": ("/xunity", {"text": "so {0}", "from": "en", "to": "de"}),
    "Sugoi": ("/", {"message": "translate sentences", "content": ["so {0}", "{0}"]}),
    "the page": ("/page/translate", {"q": "so {0}", **PAIR}),
    "a suggestion": ("/suggest", {"q": "so {0}", "s": "{0}", **PAIR}),
}


@pytest.mark.parametrize("half", ["\\ud83d", "\\ude00", "\\ude00\\ud83d", "\\uD83D"])
@pytest.mark.parametrize("name", HALVES)
def test_half_of_a_character_is_as_good_as_a_text_in_every_field(name: str, half: str, tmp_path: Path) -> None:
    said: list[str] = []
    service = Service(make_pool()[0], suggestions=SuggestionFile(tmp_path / "c.jsonl"), report=said.append)
    path, values = HALVES[name]
    body = json.dumps(values).replace("{0}", half)
    answer = Client(service).post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 201) and not said, answer.text
    assert re.search("[\ud800-\udfff]", answer.text) is None and "\\ud" not in answer.text.lower()


@pytest.mark.parametrize("origin", ["http://[", "http://localhost:99999999", "http://[::1", "\xff", ""])
def test_an_origin_that_is_none_is_a_foreign_one(origin: str) -> None:
    client, headers = Client(), {b"Origin": origin.encode("latin-1")}
    answer = client.get("/health", headers=headers)
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers
    assert client.post("/suggest", json=VALUES, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "head",
    [
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 1_000_000 + b"\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\nhello",
        b"\x16\x03\x01\x02\x00\x01\x00",
    ],
)
def test_malformed_heads_are_refused_and_the_server_goes_on(head: bytes) -> None:
    with serve_on_port() as (url, _):
        with connect(url) as connection:
            connection.sendall(head)
            answer = connection.recv(65536)
            assert answer.split(b" ")[1:2] in ([b"400"], [b"403"], [b"431"]), answer
        with connect(url) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert b'{"status":"ok"}' in read_all(connection)


@pytest.mark.parametrize("names", [["localhost", "evil.example"], ["localhost", "localhost"]])
def test_a_request_to_several_hosts_is_refused_whatever_the_server_accepts(names: list[str]) -> None:
    assert Client().get("/health", headers=[("Host", name) for name in names]).status_code == 403


def test_a_foreign_path_of_suggestions_is_never_written(tmp_path: Path) -> None:
    client = Client()
    assert client.post("/suggest", json={**VALUES, "s": "x", "file": str(tmp_path / "x")}).status_code == 403
    assert list(tmp_path.iterdir()) == []
