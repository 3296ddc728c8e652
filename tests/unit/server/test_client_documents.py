"""DeepL's documents: sent, asked for and fetched by its client, for their own key alone, and bounded."""

import asyncio
import io
import socket
import time
from typing import Any

import deepl
import httpx
import pytest
from libretranslatepy import LibreTranslateAPI

from nmt_cli.server import stores
from nmt_cli.server.admission import DEFAULT_LIMITS, RequestError
from nmt_cli.server.service import Service
from nmt_cli.server.stores import DocumentStore
from support.served import Client, make_pool, serve_on_port

SUBTITLE = b"1\n00:00:01,000 --> 00:00:02,000\nhello you\n"
PAIR = {"source_lang": "EN", "target_lang": "DE"}


def send(url: str, name: str = "a.txt", content: bytes = b"hello\n", key: str = "k", **values: str) -> httpx.Response:
    headers = {"Authorization": f"DeepL-Auth-Key {key}"}
    return httpx.post(f"{url}/v2/document", data=PAIR | values, files={"file": (name, content)}, headers=headers)


def ask(url: str, sent: dict[str, str], key: str = "k", result: str = "") -> httpx.Response:
    headers = {"Authorization": f"DeepL-Auth-Key {key}"}
    path = f"{url}/v2/document/{sent['document_id']}{result}"
    return httpx.post(path, json={"document_key": sent["document_key"]}, headers=headers)


def wait_until_finished(url: str, sent: dict[str, str]) -> dict[str, Any]:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        status: dict[str, Any] = ask(url, sent).json()
        if status["status"] != "translating":
            return status
        time.sleep(0.02)
    raise TimeoutError


def test_the_client_of_deepl_has_documents_translated() -> None:
    with serve_on_port() as (url, _):
        client = deepl.DeepLClient("any-key", server_url=url, send_platform_info=False)
        handle = client.translate_document_upload(SUBTITLE, filename="a.srt", target_lang="DE")
        while not client.translate_document_get_status(handle).done:
            time.sleep(0.02)
        written = io.BytesIO()
        client.translate_document_download(handle, written)
        assert written.getvalue() == SUBTITLE.replace(b"hello you", b"HELLO YOU")


def test_a_document_is_for_its_own_keys_alone() -> None:
    with serve_on_port() as (url, _):
        sent = send(url).json()
        status = wait_until_finished(url, sent)
        assert status["status"] == "done"
        assert status["report"] == {"texts": 1, "failed": 0, "checks": {}, "flagged": [], "notes": {}}
        for asked, key in ((sent, "other"), (sent | {"document_key": "x"}, "k"), (sent | {"document_id": "x"}, "k")):
            assert ask(url, asked, key).status_code == ask(url, asked, key, "/result").status_code == 404
        assert ask(url, sent, result="/result").content == b"HELLO\n"


def test_what_cannot_be_translated_is_an_error_of_its_document() -> None:
    with serve_on_port() as (url, _):
        assert send(url, "a.exe").status_code == send(url, output_format="pdf").status_code == 400
        sent = send(url, "a.docx", b"PK\x03\x04 no archive").json()
        status = wait_until_finished(url, sent)
        assert status["status"] == "error" and "a.docx" in status["error_message"]
        assert ask(url, sent, result="/result").status_code == 404
        other = send(url, target_lang="FR").json()
        assert wait_until_finished(url, other)["status"] == "error"


def test_a_document_that_takes_too_long_is_given_up() -> None:
    service = Service(make_pool(seconds_per_line=2.0)[0], DEFAULT_LIMITS._replace(file_seconds=1.0))
    with serve_on_port(service) as (url, _):
        sent = send(url).json()
        assert ask(url, sent, result="/result").status_code == 503
        assert "1 seconds" in wait_until_finished(url, sent)["error_message"]


def test_only_the_document_itself_may_be_as_large_as_a_document() -> None:
    service = Service(make_pool()[0], DEFAULT_LIMITS._replace(body=100, file=10_000))
    large = {"document_key": "x" * 1_000}
    assert Client(service).post("/v2/document/x", json=large).status_code == 413
    assert Client(service).post("/v2/document", data=PAIR, files={"file": ("a.exe", b"x" * 1_000)}).status_code == 400


def test_a_key_and_a_server_have_so_many_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"MOST_RESULTS_OF_KEY": 2, "MOST_RESULTS_TOGETHER": 3, "MOST_FINISHED": 2}.items():
        monkeypatch.setattr(stores, name, value)

    async def fill() -> None:
        store, finish = DocumentStore(), asyncio.Event()

        async def translate() -> str:
            await finish.wait()
            return "name"

        documents = [store.start(owner, translate) for owner in ("a", "a", "b")]
        for owner, status in (("a", 456), ("b", 503)):
            with pytest.raises(RequestError) as caught:
                store.start(owner, translate)
            assert caught.value.status == status
        finish.set()
        await asyncio.gather(*(document.task for document in documents))
        last = store.start("a", translate)
        assert list(store.documents) == [documents[2].identifier, last.identifier]
        store.close()
        await asyncio.wait([last.task])
        assert isinstance(last.error, asyncio.CancelledError)

    asyncio.run(fill())


# Clients over a port: the official ones, and the bytes that others send.


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
