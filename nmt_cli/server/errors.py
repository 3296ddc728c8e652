"""What is refused over HTTP, with the status that says why. Knows no shape."""

from __future__ import annotations


class RequestError(Exception):
    """A request that cannot be answered: the status, and a message for whoever reads it."""

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after  # seconds


def explain_missing(parameter: str) -> RequestError:
    """Returns the error for a parameter that a request lacks, in LibreTranslate's words."""
    return RequestError(400, f"Invalid request: missing {parameter} parameter")
