"""The curves of a training while it runs: the picture of `nmt visualize --curves`, on a page that renews itself.

A thread serves it. Training waits for it once: for a browser that shows it, at the end. Only what a watcher is told is
shown, and nothing of any text.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

from nmt_cli.api.addresses import open_port, parse_address, write_address
from nmt_cli.pages.frame import POLICY, read_asset, render_document
from nmt_cli.training.watcher import EpochRecord, RunInfo, StepStatus, Watcher

RENEWED = 5  # seconds after which a browser asks again
TITLE = "nmt train"


class LiveCurves(Watcher):
    """The epochs of a training, of each of its runs, and how far the present epoch is."""

    def __init__(self) -> None:
        self.histories: dict[str, list[dict[str, Any]]] = {}
        self.name = "model"
        self.status = "Training begins"
        self.drawn = (0, "")  # how many epochs the picture shows, and the picture
        self.lock = threading.Lock()
        self.is_over = False
        self.asked = -float("inf")  # when a browser asked last, by a monotonic clock
        self.last_look = threading.Event()

    def report_run(self, number: int, runs: int, seed: int) -> None:
        self.name = f"run {number} of {runs}, seed {seed}"

    def report_stage(self, name: str, number: int, stages: int) -> None:
        self.histories, self.name, self.status = {}, name, f"{name}: stage {number} of {stages}"

    def report_start(self, info: RunInfo) -> None:
        self.histories[self.name] = []

    def report_resume(self, records: Sequence[EpochRecord], epoch: int, step: int) -> None:
        self.histories[self.name] = list(map(asdict, records))

    def report_step(self, status: StepStatus) -> None:
        progress = f"epoch {status.epoch} of {status.epochs}, step {status.step:,} of {status.steps_per_epoch:,}"
        speed = f"{status.tokens_per_second:,.0f} tokens per second"
        self.status = f"{self.name}: {progress}, loss {status.loss:.3f}, {speed}"

    def report_validation(self, epoch: int) -> None:
        self.status = f"{self.name}: validating epoch {epoch}"

    def report_epoch(self, record: EpochRecord, validation: Any) -> None:
        self.histories.setdefault(self.name, []).append(asdict(record))

    def finish(self) -> None:
        """Waits for the browser that shows the page, if any, to ask for it once more; it keeps what it gets then."""
        self.status, self.is_over = "Training has ended", True
        if time.monotonic() - self.asked < 2 * RENEWED:
            self.last_look.wait(2 * RENEWED)

    def render_page(self) -> str:
        body = [f"<h1>{TITLE}</h1>", f"<p>{escape(self.status)}.</p>", self.draw()]
        return render_document(TITLE, body, style=read_asset("nmt_cli.visuals", "report.css"))

    def draw(self) -> str:
        """Returns the picture, drawn once for each epoch."""
        from nmt_cli.visuals.curves import render_curves_svg  # matplotlib, which takes half a second
        from nmt_cli.visuals.page import embed_figure

        with self.lock:  # matplotlib draws one picture at a time
            histories = {name: list(records) for name, records in list(self.histories.items()) if records}
            count = sum(map(len, histories.values()))
            if not histories:
                return "<p>No epoch has finished yet.</p>"
            if self.drawn[0] != count:
                self.drawn = count, embed_figure(render_curves_svg(histories))
            return self.drawn[1]


def make_handler(curves: LiveCurves, host: str) -> type[BaseHTTPRequestHandler]:
    """Returns the handler of requests for the page; `host` is a name of this machine beside `localhost`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not is_own_name(self.headers.get("Host", ""), host):  # of a page whose name was pointed at this machine
                self.send_error(403)
            elif self.path != "/":
                self.send_error(404)
            else:
                curves.asked, is_last = time.monotonic(), curves.is_over
                self.send_page(curves.render_page().encode("utf-8"), {} if is_last else {"Refresh": RENEWED})
                if is_last:
                    curves.last_look.set()

        def send_page(self, page: bytes, renewal: dict[str, int]) -> None:
            self.send_response(200)
            headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": len(page), **renewal}
            for name, value in {**headers, "Content-Security-Policy": POLICY, "Cache-Control": "no-store"}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *values: Any) -> None:
            """Prints nothing: the terminal shows the training."""

    return Handler


def is_own_name(header: str, host: str) -> bool:
    """Whether a `Host` header names this machine: a numeric address, `localhost`, or the name that was asked for."""
    name = header.rpartition(":")[0] if header.rpartition(":")[2].isdecimal() else header
    if name.lower() in ("localhost", host.lower()):
        return True
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


@contextmanager
def serve_curves(curves: LiveCurves, address: str) -> Iterator[str]:
    """Serves the curves at [HOST:]PORT while the block runs, and yields their address. Raises OptionError."""
    host, port = parse_address(address)
    server = ThreadingHTTPServer((host, port), make_handler(curves, host), bind_and_activate=False)
    server.socket.close()
    server.socket = open_port(host, port)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield write_address(host, server.socket)
    finally:
        curves.finish()
        server.shutdown()
        server.server_close()
