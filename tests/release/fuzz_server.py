"""Throws honest, odd and broken requests at `nmt translate --serve`, and counts what comes back.

    python tests/release/fuzz_server.py --model MODEL [MODEL ...] [--seconds 60 | --requests 50000] [--seed 1]

An honest request has a number of its own, which alone may come back, as text or in the document that is downloaded. An
odd one has values that no client sends, a broken one is cut, changed, doubled or sent in pieces through a bare socket.
No request may be answered with 500, with the number of another, or not at all, and the server must end well; otherwise,
the program ends with 1. So it does if the server's memory has grown by more than 15 % since the first 5,000 requests;
whoever wants to know that sends 50,000, which takes half an hour.
"""

import json
import re
import socket
import sys
import tempfile
import threading
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from bench import NMT, make_parser
from serve import Server

PAIRS = Path(__file__).parents[2] / "data" / "eng-deu.tsv"
SENTENCES = [line.split("\t")[0] for line in PAIRS.read_text(encoding="utf-8").splitlines()]
CLIENTS = 24
SETTLED, LARGEST_GROWTH = 5_000, 1.15  # requests after which memory counts; what it may be at the end over that
PATIENCE = 60.0  # seconds; a request that comes too slowly is refused after 30
LINK = re.compile(rb"/download_file/[\w.-]+")  # in the answer to an upload
TICKET = re.compile(rb'"document_id":"([\w-]+)","document_key":"([\w-]+)"')  # in that to an upload of DeepL's
NUMBER = re.compile(rb"(?<!\d)[1-9]\d{6}(?!\d)")
NUMBERS = r"\d{7}"  # that no correction may have, since others are answered with it
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
PAIR = {"source": "en", "target": "de"}
ODD = (None, "", 0, -1, 10**400, 1.5, True, [], {}, [[]], ["a", 1], "\ud800", "\0\x1b[2J", "a" * 3_000, "<b>" * 900)
PLAIN = """/languages /health /frontend/settings /metrics /spec /openapi.json /docs / /page/page.js
    /page/models /page/progress?job=1
    /v2/languages /v2/usage /v2/glossaries /v2/glossaries/x /v2/glossaries/x/entries /v2/glossary-language-pairs
    /MTRestService/ListSupportedLanguagePairs
    /MTRestService/GetLanguagePairModelTags /MTRestService/CheckModelStatus /MTRestService/Login""".split()
BLOCKS = ("\r\n", "\r\n\r\n", "\0", "Transfer-Encoding: chunked\r\n", "Content-Length: 7\r\n", "Host: x\r\n", "\xff")


def as_json(path: str, **values: object) -> bytes:
    return write_request("POST", path, json.dumps(values).encode(), "application/json")


def as_form(path: str, **values: object) -> bytes:
    return write_request("POST", path, urlencode(values, True).encode(), "application/x-www-form-urlencoded")


def as_query(path: str, **values: object) -> bytes:
    return write_request("GET", f"{path}?{urlencode(values, True)}")


def as_upload(path: str, name: str, text: str, **values: str) -> bytes:
    parts = {f'"file"; filename="{name}"': text, **{f'"{key}"': value for key, value in (values | PAIR).items()}}
    lines = [f"--x\r\nContent-Disposition: form-data; name={part}\r\n\r\n{value}\r\n" for part, value in parts.items()]
    return write_request("POST", path, "".join([*lines, "--x--\r\n"]).encode(), "multipart/form-data; boundary=x")


def write_request(method: str, path: str, body: bytes = b"", kind: str = "text/plain") -> bytes:
    length = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{length}\r\n".encode() + body


# Every endpoint, asked about a text with a number; those of `OPEN` answer without it.
ENDPOINTS: Mapping[str, Callable[[str], bytes]] = {
    "json": lambda text: as_json("/translate", q=text, **PAIR),
    "list": lambda text: as_json("/translate", q=[text, "Good day."], alternatives=2, **PAIR),
    "detected": lambda text: as_json("/translate", q=text, source="auto", target="de"),
    "html": lambda text: as_json("/translate", q=f"<p>{text}</p>", format="html", **PAIR),
    "form": lambda text: as_form("/translate", q=text, **PAIR),
    "query": lambda text: as_query("/translate", q=text, **PAIR),
    "DeepLX": lambda text: as_json("/translate", text=text, source_lang="EN", target_lang="DE"),
    "text_list": lambda text: as_json("/translate", text_list=[text], source_lang="en", target_lang="de"),
    "DeepL": lambda text: as_form("/v2/translate", text=[text, "Good day."], target_lang="DE"),
    "terms": lambda text: as_json("/translate", q=text, glossary={"room": "Saal", text.split()[-2]: "leer"}, **PAIR),
    "glossary": lambda text: as_form(
        "/v2/glossaries", name="a", source_lang="EN", target_lang="DE", entries=f"{text}\tx"
    ),
    "DeepL's document": lambda text: as_upload("/v2/document", "a.txt", f"{text}\n", target_lang="DE"),
    "DeepL's status": lambda text: as_json("/v2/document/x", document_key=text),
    "DeepL's result": lambda text: as_json("/v2/document/x/result", document_key=text),
    "deletion": lambda text: write_request("DELETE", "/v2/glossaries/x"),
    "page": lambda text: as_json("/page/translate", q=text, **PAIR),
    "document of the page": lambda text: as_upload("/page/translate_file", "a.txt", f"{text}\n", job="1"),
    "XUnity": lambda text: as_query("/xunity", text=text, **{"from": "en", "to": "de"}),
    "Sugoi": lambda text: as_json("/", message="translate sentences", content=[text]),
    "OPUS-CAT": lambda text: as_query("/MTRestService/TranslateJson", input=text, srcLangCode="en", trgLangCode="de"),
    "document": lambda text: as_upload("/translate_file", "a.srt", f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n"),
    "correction": lambda text: as_json("/suggest", q=(shared := re.sub(NUMBERS, "12", text)), s=shared, **PAIR),
    "back": lambda text: as_json("/translate", q=text, source="de", target="en"),
    "detection": lambda text: as_json("/detect", q=text),
    **{path: lambda text, path=path: write_request("GET", path) for path in PLAIN},  # type: ignore[misc]
    "download": lambda text: write_request("GET", f"/download_file/{text[:4]}"),
}
OPEN = {"correction", "detection", "download", "glossary", "deletion", "DeepL's status", "DeepL's result", *PLAIN}


def make_odd(random: Random, text: str) -> bytes:
    """Returns a request with values that no client sends."""
    paths = "/translate /v2/translate /page/translate /suggest /detect /translate_file /v2/glossaries /v2/document"
    path = random.choice([*paths.split(), "/v2/document/x"])
    names = [
        "q",
        "source",
        "target",
        "format",
        "alternatives",
        "text",
        "text_list",
        "target_lang",
        "s",
        "tag_handling",
        "glossary",
        "entries",
    ]
    values = {"q": text, "text": text, "target_lang": "DE", "source_lang": "EN", "name": "a", "entries": "a\tb", **PAIR}
    values |= {name: random.choice(ODD) for name in random.sample(names, random.randint(1, 3))}
    return as_json(path, **values)


def break_request(random: Random, request: bytes) -> bytes:
    """Returns a request that is cut, changed, doubled, or all of it."""
    data = bytearray(request)
    for _ in range(random.randint(1, 4)):
        offset = random.randrange(len(data) + 1)
        kind = random.randrange(5)
        if kind == 0:
            del data[offset:]
        elif kind == 1:
            del data[offset : offset + random.randint(1, 9)]
        elif kind == 2:
            data[offset:offset] = random.choice(BLOCKS).encode("latin-1")
        elif kind == 3:
            data[offset:offset] = random.randbytes(random.randint(1, 9))
        else:
            data += request
    return bytes(data)


def exchange(port: int, parts: list[bytes], *, closes_half: bool, reads: bool) -> bytes:
    """Returns all that comes back. Raises TimeoutError if the connection does not end."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        answer = b""
        with suppress(ConnectionError):
            for part in parts:
                connection.sendall(part)
            if closes_half:
                connection.shutdown(socket.SHUT_WR)
            while reads and (block := connection.recv(1 << 16)):
                answer += block
        return answer


class Fuzzer:
    """Clients that send until the time is over or there were enough, and what they saw."""

    def __init__(self, server: Server, options: Namespace) -> None:
        self.server, self.seed, self.most = server, options.seed, options.requests
        self.port = server.port
        self.end = time.monotonic() + options.seconds if options.requests is None else float("inf")
        self.lock, self.started = threading.Lock(), 0
        self.memory: dict[int, float] = {}  # MB, by the requests until then
        self.seen: Counter[str] = Counter()
        self.sent: set[bytes] = set()  # the numbers, of which an answer has none but its own
        self.faults: list[str] = []

    def run(self) -> None:
        clients = [threading.Thread(target=self.send_all, args=[Random(f"{self.seed} {n}")]) for n in range(CLIENTS)]
        self.note_memory()
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.note_memory()

    def note_memory(self) -> None:
        self.memory[self.started] = self.server.resident_megabytes
        print(f"{self.started:7,} requests: {self.memory[self.started]:.0f} MB", flush=True)

    def send_all(self, random: Random) -> None:
        while self.begin_request():
            self.send_one(random)

    def begin_request(self) -> bool:
        """Returns whether there is another request to send, and counts it."""
        with self.lock:
            if time.monotonic() >= self.end or self.started == self.most:
                return False
            self.started += 1
            if self.started % SETTLED == 0:
                self.note_memory()
            return True

    @property
    def growth(self) -> float:
        """The memory at the end over that after the first requests; 1 if there were no more than those."""
        *_, last = self.memory.values()
        return last / self.memory.get(SETTLED, last)

    def send_one(self, random: Random) -> None:
        number = str(random.randint(10**6, 10**7 - 1))
        self.sent.add(number.encode())
        name = random.choice(list(ENDPOINTS))
        text = " ".join([f"Room {number} is free.", *random.choices(SENTENCES, k=random.choice([0, 1, 1, 2, 5]))])
        kind = random.choices(["honest", "odd", "broken"], [5, 2, 3])[0]
        request = make_odd(random, text) if kind == "odd" else ENDPOINTS[name](text)
        if kind == "broken":
            request = break_request(random, request)
        cuts = sorted(random.sample(range(len(request) + 1), random.choice([0, 0, min(2, len(request))])))
        parts = [request[start:end] for start, end in zip([0, *cuts], [*cuts, len(request)], strict=True)]
        closes_half = kind == "broken" or random.random() < 0.3
        try:
            answer = exchange(self.port, parts, closes_half=closes_half, reads=random.random() < 0.95)
            if kind == "honest":
                answer += self.download(answer)
        except TimeoutError:
            self.faults.append(f"hangs: {request[:300]!r}")
            return
        self.check(f"{kind} {name}", request, answer, number, is_due=kind == "honest" and name not in OPEN)

    def download(self, answer: bytes) -> bytes:
        """Returns the answers to requests for the document that an answer promises; none if it promises none."""
        answers = b""
        if link := LINK.search(answer):
            answers = exchange(self.port, [write_request("GET", link[0].decode())], closes_half=False, reads=True)
        while (ticket := TICKET.search(answer)) and not answers.startswith(b"HTTP/1.1 200"):
            identifier, key = (part.decode() for part in ticket.groups())
            result = as_json(f"/v2/document/{identifier}/result", document_key=key)
            answers = exchange(self.port, [result], closes_half=False, reads=True)
            if not answers.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503")):  # 503: it is not translated yet
                break
            time.sleep(0.1)
        return answers

    def check(self, name: str, request: bytes, answer: bytes, number: str, *, is_due: bool) -> None:
        """Counts an answer by its statuses, and notes what is wrong with it.

        `number` is that of the request, which a broken one may spell in another way.
        """
        statuses = [status.decode() for status in STATUS.findall(answer) if status != b"100"]
        self.seen[f"{name.split()[0]} {' '.join(statuses[:3]) or 'no answer'}"] += 1
        if "500" in statuses:
            self.faults.append(f"500: {request[:300]!r}: {answer[-200:]!r}")
        strange = self.sent.intersection(NUMBER.findall(answer)) - {number.encode(), *NUMBER.findall(request)}
        if strange or (is_due and set(statuses) == {"200"} and number.encode() not in answer):
            self.faults.append(f"swapped: {request[:300]!r}: {answer[-300:]!r}")


def main() -> None:
    parser = make_parser(__doc__, "seed")
    parser.add_argument("--model", nargs="+", required=True, help="models to serve; the first is English to German")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--requests", type=int, help="so many, however long they take")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = ["--beam-size", "1", "--suggestions", str(Path(folder, "s.tsv"))]
        models = [argument for model in options.model for argument in ("--model", model)]
        server = Server([*NMT, "translate", *models, "--serve", "0", *settings])
        fuzzer = Fuzzer(server, options)
        fuzzer.run()
        code = server.close()
    for seen, count in sorted(fuzzer.seen.items()):
        print(f"{count:7,}  {seen}")
    kinds = Counter(fault.partition(":")[0] for fault in fuzzer.faults)
    faults = ", ".join(f"{kind}: {kinds[kind]}" for kind in ("500", "hangs", "swapped"))
    print(f"{sum(fuzzer.seen.values()):,} requests; {faults}; exit code {code}; memory x {fuzzer.growth:.2f}")
    print("\n".join(fuzzer.faults[:20]), file=sys.stderr)
    sys.exit(1 if fuzzer.faults or code or fuzzer.growth > LARGEST_GROWTH else 0)


if __name__ == "__main__":
    main()
