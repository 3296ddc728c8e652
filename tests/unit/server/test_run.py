"""Tests of `server/run.py`.

The port, the end of the server, and what a person is told. A server ends within ten seconds of a signal, whatever it
translates."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from nmt_cli.api.serve_config import ServeOptions, parse_size
from nmt_cli.api.translator import load
from nmt_cli.cli.serve import describe_service
from nmt_cli.errors import OptionError
from nmt_cli.runtime.installed_models import list_bundled_models
from nmt_cli.server import run
from nmt_cli.server.models import ModelPool, ServedModel
from nmt_cli.server.run import FORCED_STOP, LOCAL, LONGEST_STOP, make_application, make_server, open_port, parse_address
from nmt_cli.server.service import Service
from nmt_cli.translation.result import Translation
from support.fakes import louder
from support.served import connect, make_head, make_pool, make_rules, read_all, serve_on_port, wait_until
from support.slow import sample

VALUES = {"q": ["hello", "you"], "source": "en", "target": "de"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5000", (LOCAL, 5000)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("[::1]:5000", ("::1", 5000)),
        ("localhost:0", ("localhost", 0)),
    ],
)
def test_an_address_is_a_port_with_or_without_a_host(text: str, expected: tuple[str, int]) -> None:
    assert parse_address(text) == expected


@pytest.mark.parametrize("text", ["", "http://localhost:5000", "localhost", "70000", "-1", "5000:"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(OptionError):
        parse_address(text)


def test_a_port_that_is_taken_is_an_error_with_a_way_out() -> None:
    with open_port(LOCAL, 0) as taken, pytest.raises(OptionError) as raised:
        open_port(LOCAL, taken.getsockname()[1])
    assert "in use" in raised.value.message
    assert "0" in raised.value.hint


def test_sizes_have_units() -> None:
    assert (parse_size("500M"), parse_size("2g"), parse_size("1.5 GiB"), parse_size(None)) == (
        500 << 20,
        2 << 30,
        3 << 29,
        None,
    )
    with pytest.raises(OptionError):
        ServeOptions(memory_limit="much")


def test_requests_that_have_begun_are_answered_before_the_end() -> None:
    pool, _ = make_pool(seconds_per_line=0.2)
    body = json.dumps(VALUES).encode()
    head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    with serve_on_port(Service(pool)) as (url, server), ExitStack() as stack:
        connections = [stack.enter_context(connect(url)) for _ in range(10)]
        for connection in connections:
            connection.sendall(head + body)
        server.should_exit = True
        answers = [connection.makefile("rb").read() for connection in connections]
    assert all(answer.endswith(b'{"translatedText":["HELLO","YOU"]}') for answer in answers)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_in_a_batch_ends_the_server_once_the_batch_is_answered(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The server runs in this thread, which alone receives signals; the client in another."""
    monkeypatch.setattr(run, "end_process_after", lambda seconds, clean_up: None)  # it would end this process
    begun, gate, answers = threading.Event(), threading.Event(), list[bytes]()

    def wait(text: str) -> Translation:
        begun.set()
        gate.wait(10)
        return louder(text)

    service = Service(make_pool(rule=wait)[0])
    server = make_server(make_application(service, make_rules(service.limits)), service.limits)

    def ask(port: int) -> None:
        body = json.dumps(VALUES).encode()
        with connect(f"http://{LOCAL}:{port}") as connection:
            connection.sendall(make_head("/translate", f"Content-Length: {len(body)}") + body)
            begun.wait(10)
            os.kill(os.getpid(), number)
            wait_until(lambda: server.should_exit)
            wait_until(lambda: listener.fileno() < 0)
            time.sleep(0.5)  # no more connections are accepted: only the batch is waited for
            gate.set()
            answers.append(read_all(connection))

    handlers = [signal.getsignal(known) for known in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]
    with open_port(LOCAL, 0) as listener:
        client = threading.Thread(target=ask, args=[listener.getsockname()[1]])
        client.start()
        server.run(sockets=[listener])
        client.join(10)
    assert answers[0].endswith(b'{"translatedText":["HELLO","YOU"]}')
    assert handlers == [signal.getsignal(known) for known in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]


def test_a_connection_that_waits_to_be_accepted_is_still_served_at_the_end() -> None:
    with serve_on_port() as (url, server):
        with connect(url) as connection:
            server.should_exit = True
            time.sleep(0.3)
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b'{"status":"ok"}' in connection.makefile("rb").read()


def test_a_person_is_told_what_is_served_and_where() -> None:
    line = describe_service("http://127.0.0.1:5000", Service(make_pool()[0]))
    assert line.startswith("en -> de, eng-deu, on http://127.0.0.1:5000   page: /")


@pytest.mark.skipif(sys.platform != "linux", reason="the arenas are those of glibc")
@pytest.mark.parametrize(("limit", "are_many"), [("", True), ("limit_arenas(1)", False)])
def test_all_threads_have_their_memory_from_as_many_arenas_as_allowed(limit: str, *, are_many: bool) -> None:
    code = f"""
        import ctypes, threading
        from nmt_cli.server.run import limit_arenas
        {limit}
        together = threading.Barrier(4)
        def work():
            together.wait(30)
            blocks = [bytes(10_000) for _ in range(100)]
            together.wait(30)
        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        ctypes.CDLL(None).malloc_stats()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert (done.stderr.count("Arena ") > 1) is are_many, done.stderr


TESTS = Path(__file__).parents[2]
STOPPING = {"error": "the server is stopping"}
SERVER = """
from nmt_cli.api.serve_config import ServeOptions
from nmt_cli.server import run
from support.served import make_pool

def say(line):
    print(line, flush=True)

def translate_forever(line):
    say("begun")
    while True:
        pass

pool, _ = make_pool(rule=translate_forever)
run.ModelPool = lambda *_: pool
run.LONGEST_STOP, run.FORCED_STOP = {seconds}
run.serve(run.ServeRequest(ServeOptions(serve="0"), (), None), lambda address, service: say(address), report=say)
"""


def start_server(seconds: str) -> subprocess.Popen[str]:
    """A server with these values of LONGEST_STOP and FORCED_STOP, whose translations never end."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
    command = [sys.executable, "-c", SERVER.format(seconds=seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.parametrize("numbers", [[signal.SIGTERM], [signal.SIGINT], [signal.SIGINT] * 2])
def test_a_signal_ends_a_server_whose_translation_never_ends(numbers: list[signal.Signals]) -> None:
    answers: list[httpx.Response] = []

    def ask(address: str) -> None:
        values = {"q": "Hello.", "source": "en", "target": "de"}
        answers.append(httpx.post(f"{address}/translate", json=values, timeout=60))

    with start_server("1, 60") as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        client = threading.Thread(target=ask, args=(address,))
        client.start()
        assert process.stdout.readline() == "begun\n"
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.5)
        reported = process.stdout.read()
        assert process.wait(timeout=30) == 0
        client.join()
    (answer,) = answers
    assert (answer.status_code, answer.json(), int(answer.headers["Retry-After"]) > 0) == (503, STOPPING, True)
    assert "Error" not in reported and "Traceback" not in reported
    assert LONGEST_STOP < FORCED_STOP < 10


def test_a_server_that_waits_for_an_answer_for_too_long_ends_by_force() -> None:
    with start_server("60, 1") as process, ThreadPoolExecutor(1) as clients:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        values = {"q": "Hello.", "source": "en", "target": "de"}
        answer = clients.submit(httpx.post, f"{address}/translate", json=values, timeout=60)
        try:
            assert process.stdout.readline() == "begun\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=30) == 0
            assert isinstance(answer.exception(), httpx.RemoteProtocolError)
        finally:
            process.kill()


# Words between two marks stay between them, whichever client asks and whatever the marks are.

PAIRS = (
    *(("[X5X]", "[X12X]"), ("{0}", "{1}"), ("%s", "%s"), ("{bold}", "{/bold}"), ("%(a)s", "%(b)s"), ("{{a}}", "{{b}}")),
    *(("<b>", "</b>"), ("<b0>", "</b0>"), ("<t-1>", "</t-1>"), ("<g2>", "</g2>"), ('<g id="1">', "</g>")),
    *(('<x id="1"/>', '<x id="2"/>'), ('<x id="1"></x>', '<x id="2"></x>'), ('<bpt id="1"/>', '<ept id="1"/>')),
)
NUMBERED = (("<1>", "</1>"), ("<0>", "</0>"))  # elements that neither HTML nor XML has
SENTENCES = {"I am {}not{} hungry.": "(?:kein|nicht)", "Please open the {}door{}.": "Tür"}
LIBRETRANSLATE, DEEPL = {"source": "en", "target": "de"}, {"source_lang": "EN", "target_lang": "DE"}
OPUS_CAT = {"srcLangCode": "en", "trgLangCode": "de"}
# Each shape that docs/serve.md lists: the request for a text, and where in its answer the translation is.
SHAPES: dict[str, tuple[Callable[[str], tuple[str, dict[str, Any]]], Callable[[Any], str]]] = {
    "LibreTranslate": (lambda text: ("/translate", {"q": text, **LIBRETRANSLATE}), lambda a: a["translatedText"]),
    "LibreTranslate, HTML": (
        lambda text: ("/translate", {"q": text, "format": "html", **LIBRETRANSLATE}),
        lambda a: a["translatedText"],
    ),
    "DeepL": (lambda text: ("/v2/translate", {"text": [text], **DEEPL}), lambda a: a["translations"][0]["text"]),
    "DeepL, XML": (
        lambda text: ("/v2/translate", {"text": [text], "tag_handling": "xml", **DEEPL}),
        lambda a: a["translations"][0]["text"],
    ),
    "a list": (lambda text: ("/translate", {"text_list": [text], **DEEPL}), lambda a: a["translations"][0]["text"]),
    "DeepLX": (lambda text: ("/translate", {"text": text, **DEEPL}), lambda a: a["data"]),
    "OPUS-CAT": (
        lambda text: ("/MTRestService/TranslateJson", {"input": text, **OPUS_CAT}),
        lambda a: a["translation"],
    ),
    "XUnity": (lambda text: ("/xunity", {"text": text, "from": "en", "to": "de"}), str),
    "Sugoi": (lambda text: ("/", {"message": "translate sentences", "content": text}), str),
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server of the bundled model."""
    model = ServedModel.read(list_bundled_models()["eng-deu"])
    with serve_on_port(Service(ModelPool([model], load))) as (url, _):
        yield url


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("first", sample([0, 1], 0), ids=["one sentence", "the other"])
def test_a_word_between_two_marks_stays_between_them(server: str, shape: str, first: int) -> None:
    """Each pair of marks is asked of each client in one of the sentences, in turn; before a release, in both."""
    make_request, read_answer = SHAPES[shape]
    lost = []
    with httpx.Client(base_url=server, timeout=60) as client:
        for number, (opening, closing) in enumerate((*PAIRS, *NUMBERED), start=first + list(SHAPES).index(shape)):
            sentence, word = list(SENTENCES.items())[number % 2]
            path, values = make_request(sentence.format(opening, closing))
            answer = client.post(path, json=values)
            is_json = "json" in answer.headers["content-type"]
            text = read_answer(answer.json() if is_json else answer.text)
            if not re.search(rf"{re.escape(opening)}(?:[\w ]* )?{word}\w*(?: \w+)?{re.escape(closing)}", text):
                lost.append(text)
    assert lost == []
