"""What a server tells a monitor, at `/metrics` in the text form of Prometheus: numbers alone, and of no text."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from nmt_cli.server.service import Service

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def write_metrics(service: Service) -> str:
    """Returns all metrics of a server."""
    batcher, counts = service.batcher, service.counts
    answers = {f'{{path="{path}",status="{status}"}}': number for (path, status), number in counts.answers.items()}
    loaded = {model.directory for model in service.pool.models if model.translator is not None}
    families: tuple[tuple[str, str, str, Mapping[str, float]], ...] = (
        ("nmt_requests_total", "counter", "Requests answered, by path and status.", answers),
        ("nmt_request_seconds", "histogram", "Time until an answer.", dict(counts.write_histogram())),
        ("nmt_lines_total", "counter", "Lines translated.", {"": batcher.line_count}),
        ("nmt_batches_total", "counter", "Batches translated.", {"": batcher.batches}),
        ("nmt_waiting_lines", "gauge", "Lines that wait to be translated.", {"": batcher.waiting_lines}),
        ("nmt_loaded_models", "gauge", "Models in memory.", {"": len(loaded)}),
        ("nmt_glossaries", "gauge", "Glossaries that clients created.", {"": len(service.glossaries.glossaries)}),
        ("process_resident_memory_bytes", "gauge", "Memory of the server.", measure_memory()),
    )
    lines = []
    for name, kind, text, values in families:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
        lines += [f"{name}{suffix} {value}" for suffix, value in values.items()]
    return "\n".join(lines) + "\n"


def measure_memory() -> dict[str, Any]:
    """Returns the resident memory of this process, as a metric; none where the system does not tell it."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return {"": pages * os.sysconf("SC_PAGE_SIZE")}
    return {}
