"""Refusals over HTTP, with their statuses. Knows no shape."""

from __future__ import annotations


class RequestError(Exception):
    """A request that cannot be answered: the status, and a message for a person."""

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after  # seconds


def explain_missing(parameter: str) -> RequestError:
    """Returns the error for a missing parameter, in LibreTranslate's words."""
    return RequestError(400, f"Invalid request: missing {parameter} parameter")
