"""Clients over a port: the official ones, and the bytes that others send."""

import socket

import deepl
import pytest
from libretranslatepy import LibreTranslateAPI

from support.served import serve_on_port


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
