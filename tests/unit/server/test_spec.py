"""What a server tells a monitor, and the programs that read its description."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from nmt_cli.server.admission import Admission, Key, Limits
from nmt_cli.server.calls import Call, ServedPath
from nmt_cli.server.page import describe_answer
from nmt_cli.server.service import BOUNDS, RequestCounts, Service
from nmt_cli.server.stores import SuggestionFile
from support.served import Client, make_pool

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="[^"\n\\]*",?)+)\})? (\d+(?:\.\d+)?)')


def read_metrics(client: Client) -> dict[str, float]:
    """The samples of an answer, each of which has the form that Prometheus reads."""
    samples: dict[str, float] = {}
    for line in client.get("/metrics").text.splitlines():
        match = SAMPLE.fullmatch(line)
        assert match or re.fullmatch(r"# (?:HELP|TYPE) [a-z_]+ .+", line), line
        if match:
            samples[line.rpartition(" ")[0]] = float(match[3])
    return samples


def test_requests_are_counted_by_path_and_status() -> None:
    client = Client()
    asked = {"q": "one\n\ntwo", "source": "en", "target": "de"}
    client.ask("/translate", **asked)
    assert client.post("/translate", json={"q": "a"}).status_code == 400
    assert client.get("/download_file/secret").status_code == 404
    client.post("/v2/glossaries", json={"name": "a", "source_lang": "en", "target_lang": "de", "entries": "a\tb"})
    seen = read_metrics(client)
    assert seen['nmt_requests_total{path="/translate",status="200"}'] == 1
    assert seen['nmt_requests_total{path="/translate",status="400"}'] == 1
    assert seen['nmt_requests_total{path="/download_file/{name}",status="404"}'] == 1
    assert (seen["nmt_loaded_models"], seen["nmt_waiting_lines"], seen["nmt_glossaries"]) == (1, 0, 1)
    assert seen["nmt_request_seconds_count"] == seen['nmt_request_seconds_bucket{le="+Inf"}'] == 4
    assert seen["process_resident_memory_bytes"] > 1e6
    assert not any("secret" in name for name in seen)


def test_lines_that_were_translated_are_counted() -> None:
    service = Service(make_pool()[0])
    client = Client(service)
    service.batcher.line_count = 3  # a client of tests renews the batcher with each request
    assert read_metrics(client)["nmt_lines_total"] == 3


def test_durations_fall_into_cumulative_buckets() -> None:
    counts = RequestCounts()
    for seconds in (0.001, BOUNDS[0], 0.3, 1_000.0):
        counts.add("/translate", 200, seconds)
    histogram = dict(counts.write_histogram())
    totals = [histogram[f'_bucket{{le="{bound}"}}'] for bound in ("0.01", "0.25", "0.5", "120.0", "+Inf")]
    assert totals == [2, 2, 3, 3, 4]
    assert (histogram["_sum"], histogram["_count"]) == (1000.311, 4)


def test_a_server_with_keys_tells_only_those_who_have_one() -> None:
    client = Client(Service(make_pool()[0], admission=Admission([Key("", "secret")])))
    assert client.get("/metrics").status_code == 403
    answer = client.get("/metrics", headers={"Authorization": "Bearer secret"})
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert 'status="403"} 1' in answer.text
    spec, open_spec = client.get("/spec").json(), Client().get("/spec").json()
    assert spec["components"]["securitySchemes"].keys() == {"bearer", "api_key"}
    assert spec["security"] == [{"bearer": []}, {"api_key": []}] and open_spec["security"] == []
    operations = {path: next(iter(methods.values())) for path, methods in spec["paths"].items()}
    assert operations["/health"]["security"] == [] and "security" not in operations["/translate"]


# Requests that are answered, by the paths of the description; `{...}` is what an earlier answer has under that key.
FILE, DIRECTION = {"file": ("a.txt", b"Wo ist der Bahnhof?")}, {"source": "en", "target": "de"}
ASKED: list[tuple[str, str, dict[str, Any]]] = [
    ("post /translate", "/translate", {"json": {"q": "a", **DIRECTION}}),
    ("post /translate", "/translate", {"json": {"q": ["Wo ist der Bahnhof?"], "source": "auto", "target": "en"}}),
    (
        "post /translate",
        "/translate",
        {"json": {"q": "a", "source": "auto", "target": "de", "alternatives": 1, "quality": True}},
    ),
    ("post /translate", "/translate", {"json": {"text_list": ["a"], "target_lang": "de"}}),
    ("post /translate", "/translate", {"json": {"text": "a", "target_lang": "de"}}),
    ("get /translate", "/translate?q=a&source=auto&target=de", {}),
    ("post /detect", "/detect", {"json": {"q": ["a", "b"]}}),
    ("get /detect", "/detect?q=a", {}),
    ("get /languages", "/languages", {}),
    ("post /translate_file", "/translate_file", {"files": FILE, "data": {"source": "auto", "target": "de"}}),
    ("get /download_file/{name}", "{translatedFileUrl}", {}),
    ("post /suggest", "/suggest", {"json": {"q": "a", "s": "b", **DIRECTION}}),
    ("get /health", "/health", {}),
    ("get /frontend/settings", "/frontend/settings", {}),
    ("post /v2/translate", "/v2/translate", {"json": {"text": ["a"], "target_lang": "DE"}}),
    ("get /v2/languages", "/v2/languages", {}),
    ("post /v2/languages", "/v2/languages", {"json": {"type": "target"}}),
    ("get /v2/usage", "/v2/usage", {}),
    ("post /v2/usage", "/v2/usage", {}),
    ("get /v2/glossary-language-pairs", "/v2/glossary-language-pairs", {}),
    (
        "post /v2/glossaries",
        "/v2/glossaries",
        {"json": {"name": "a", "source_lang": "en", "target_lang": "de", "entries": "a\tb"}},
    ),
    ("get /v2/glossaries", "/v2/glossaries", {}),
    ("get /v2/glossaries/{identifier}", "/v2/glossaries/{glossary_id}", {}),
    ("get /v2/glossaries/{identifier}/entries", "/v2/glossaries/{glossary_id}/entries", {}),
    ("delete /v2/glossaries/{identifier}", "/v2/glossaries/{glossary_id}", {}),
    ("post /v2/document", "/v2/document", {"files": FILE, "data": {"target_lang": "DE"}}),
    ("post /v2/document/{identifier}", "/v2/document/{document_id}", {"json": {"document_key": "{document_key}"}}),
    ("get /xunity", "/xunity?text=a", {}),
    ("post /xunity", "/xunity", {"data": {"text": "a"}}),
    ("post /", "/", {"json": {"message": "translate sentences", "content": "a"}}),
    ("post /", "/", {"json": {"message": "translate sentences", "content": ["a"]}}),
    ("post /", "/", {"json": {"message": "check if server is ready"}}),
    ("get /MTRestService/TranslateJson", "/MTRestService/TranslateJson?input=a", {}),
    ("post /MTRestService/TranslateJson", "/mtrestservice/listsupportedlanguagepairs", {}),
    ("get /metrics", "/metrics", {}),
]
ANSWERED_LATER = {"post /v2/document/{identifier}/result"}  # once the document is translated
JSON_TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}


def find_faults(value: Any, schema: dict[str, Any], replies: dict[str, Any]) -> Iterator[str]:
    """Where a value differs from its schema, which must know all that it has."""
    schema = replies[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if "anyOf" in schema:
        if all(list(find_faults(value, one, replies)) for one in schema["anyOf"]):
            yield f"{value!r} is none of {schema}"
        return
    if not isinstance(value, JSON_TYPES[schema["type"]]) or value not in schema.get("enum", [value]):
        yield f"{value!r} is not {schema}"
    elif isinstance(value, list):
        for item in value:
            yield from find_faults(item, schema["items"], replies)
    elif isinstance(value, dict):
        yield from (f"{name} is missing" for name in schema.get("required", []) if name not in value)
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        for name, item in value.items():
            if name in known or others:
                yield from find_faults(item, known.get(name, others), replies)
            else:
                yield f"{name} is not described"


def list_faults(response: Any, described: dict[str, Any], replies: dict[str, Any]) -> list[str]:
    kind = response.headers.get("content-type", "").split(";")[0]
    content = described["responses"][str(response.status_code)]["content"]
    if kind not in content:
        return [] if kind == "" and not content else [f"{kind} is not in {content}"]
    return list(find_faults(response.json(), content[kind]["schema"], replies)) if kind == "application/json" else []


def fill(text: Any, earlier: dict[str, Any]) -> Any:
    return re.sub(r"\{(\w+)\}", lambda match: str(earlier[match[1]]), text) if isinstance(text, str) else text


def test_each_answer_and_each_error_is_as_the_description_has_it(tmp_path: Any) -> None:
    suggestions = SuggestionFile(tmp_path / "a.jsonl", by_direction=True)
    service = Service(make_pool(("eng", "deu"), ("deu", "eng"))[0], Limits(), suggestions=suggestions)
    client, earlier = Client(service), dict[str, Any]()
    spec = client.get("/openapi.json").json()
    replies = spec["components"]["schemas"]
    operations = {
        f"{method} {path}": described
        for path, methods in spec["paths"].items()
        for method, described in methods.items()
    }
    assert operations.keys() == {operation for operation, _, _ in ASKED} | ANSWERED_LATER
    for operation, path, options in ASKED:
        json = {name: fill(value, earlier) for name, value in options.get("json", {}).items()}
        asked = options | ({"json": json} if json else {})
        response = client.request(operation.split()[0].upper(), fill(path, earlier), **asked)
        assert response.is_success, response.text
        assert list_faults(response, operations[operation], replies) == [], operation
        if response.text.startswith("{"):
            earlier |= response.json()
    for operation, described in operations.items():
        method, path = operation.split()
        refused = client.request(method.upper(), path, json={"q": 3, "text": 3, "name": ""})
        if not refused.is_success:
            assert list_faults(refused, described, replies) == [], operation
            assert refused.status_code in (400, 404)


@pytest.mark.parametrize("annotation", ["NotImported", "dict", Any])
def test_a_handler_of_another_package_is_described_whatever_it_returns(annotation: Any) -> None:
    async def handle(call: Call) -> None: ...

    handle.__annotations__["return"] = annotation
    assert describe_answer(ServedPath("/a", handle)) == {"application/json": {"schema": {}}}
