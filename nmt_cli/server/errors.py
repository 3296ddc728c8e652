"""Refusals over HTTP, with their statuses. Knows no shape."""

from __future__ import annotations

INTERNAL_ERROR = "internal error"  # all that a client is told; where it happened, the report of the server says


class RequestError(Exception):
    """A request that cannot be answered: the status, and a message for a person.

    `detail` is what the server reports instead, such as places in the code or on its disk, which no client should see.
    """

    def __init__(self, status: int, message: str, *, retry_after: int | None = None, detail: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.detail = detail or message
        self.retry_after = retry_after  # seconds


def explain_missing(parameter: str) -> RequestError:
    """Returns the error for a missing parameter, in LibreTranslate's words."""
    return RequestError(400, f"Invalid request: missing {parameter} parameter")
