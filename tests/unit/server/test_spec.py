"""What a server tells a monitor."""

import re

from nmt_cli.server.admission import Admission, Key
from nmt_cli.server.service import BOUNDS, RequestCounts, Service
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
