"""Limits on requests. Exceeding one is answered by a specific status, never by silence."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """The limits of a server."""

    body: int = 2_000_000  # bytes of a request; 413
    file: int = 50_000_000  # bytes of a document; 413
    lines: int = 5_000  # of a request; 413
    characters: int = 200_000  # of a line, which cannot be given up once it is being translated; 413
    waiting: int = 50_000  # lines of all requests that wait; 503
    connections: int = 1_000  # at a time; 503
    head_seconds: float = 10.0  # until the head of a request is there; the connection is closed
    body_seconds: float = 30.0  # until its body is there; 408
    answer_seconds: float = 30.0  # in which a client takes a buffer of its answer; the connection is closed
    linger_seconds: float = 2.0  # in which a refused client that still sends can read why; the connection is closed
    seconds: float = 120.0  # until a text is translated; 503
    file_seconds: float = 1_800.0  # until a document is; 503
    alternatives: int = 10  # of a text
    suggestion: int = 10_000  # characters of each side of a suggestion; 413
    suggestions: int = 10_000_000  # bytes of their file: in memory, short pairs take forty times as much; 507
    client_suggestions: int = 10_000  # of a key, or of an address without one, in a day; 429
    arenas: int = 1  # of the C library, from which all threads have their memory


DEFAULT_LIMITS = Limits()
