"""The learning curves of a training while it runs, on a page of this machine."""

from __future__ import annotations

import http.client
import threading
import time

import pytest

from nmt_cli.api.live_curves import RENEWED, LiveCurves, is_own_name, serve_curves
from nmt_cli.errors import OptionError
from nmt_cli.training.watcher import EpochRecord, StepStatus, Watchers

STATUS = StepStatus(2, 5, 120, 400, 520, 3.21, 5000.0, 60.0)


def make_record(epoch: int, bleu: float) -> EpochRecord:
    return EpochRecord(epoch, 100 * epoch, 4.0 / epoch, 4.2 / epoch, 60.0, 30.0, bleu, 30.0, 1e-3, 5e3, 9.0, True, True)


def ask(url: str, path: str = "/", host: str | None = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)
    connection.request("GET", path, headers={"Host": host} if host else {})
    return connection.getresponse()


def test_the_page_follows_the_training() -> None:
    curves = LiveCurves()
    watcher = Watchers(curves)
    looks = []
    with serve_curves(curves, "0") as url:
        first = ask(url)
        page = first.read().decode()
        assert "No epoch has finished yet" in page and "<svg" not in page
        assert first.headers["Refresh"] == "5" and "default-src 'none'" in first.headers["Content-Security-Policy"]
        watcher.report_epoch(make_record(1, 7.0), None)  # type: ignore[attr-defined]
        watcher.report_step(STATUS)
        page = ask(url).read().decode()
        assert "epoch 2 of 5, step 120 of 400, loss 3.210, 5,000 tokens per second." in page and "<svg" in page
        drawn = curves.drawn
        assert ask(url).read().decode() == page and curves.drawn is drawn  # not drawn again for each request
        watcher.report_epoch(make_record(2, 9.0), None)  # type: ignore[attr-defined]
        assert ask(url).read().decode() != page
        assert ask(url, "/model.json").status == 404
        assert ask(url, host="evil.example").status == 403
        timer = threading.Timer(0.2, lambda: looks.append(ask(url)))
        timer.start()
    timer.join()
    assert "Refresh" not in looks[0].headers and "Training has ended." in looks[0].read().decode()
    with pytest.raises(OSError):
        ask(url)


def test_a_training_that_nobody_looks_at_ends_at_once() -> None:
    started = time.monotonic()
    with serve_curves(LiveCurves(), "0"):
        pass
    assert time.monotonic() - started < RENEWED


def test_each_run_has_its_curve_and_a_resumed_one_its_past() -> None:
    curves = LiveCurves()
    for number in (1, 2):
        curves.report_run(number, 2, 6 + number)
        curves.report_resume([make_record(1, 5.0)], 2, 0)
        curves.report_epoch(make_record(2, 6.0), None)
    assert {name: len(records) for name, records in curves.histories.items()} == {
        "run 1 of 2, seed 7": 2,
        "run 2 of 2, seed 8": 2,
    }
    curves.report_stage("<helper>", 1, 3)
    assert "&lt;helper&gt;: stage 1 of 3." in curves.render_page() and "<svg" not in curves.render_page()


def test_an_address_that_cannot_be_served_is_told_before_training() -> None:
    with serve_curves(LiveCurves(), "0") as url, pytest.raises(OptionError, match=r"cannot listen on 127\.0\.0\.1"):
        with serve_curves(LiveCurves(), url.rpartition(":")[2]):
            pass


@pytest.mark.parametrize(
    ("header", "is_own"),
    [
        ("localhost:6006", True),
        ("127.0.0.1:6006", True),
        ("[::1]:6006", True),
        ("me.local", True),
        ("evil.com:1", False),
    ],
)
def test_only_names_of_this_machine_are_answered(header: str, is_own: bool) -> None:
    assert is_own_name(header, "me.local") is is_own
