"""The body of a request: how much of it is read, and for how long. Knows only HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers

from nmt_cli.server.errors import RequestError

HttpMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[HttpMessage]]


class BoundedBody:
    """Receives a body that may neither grow too large nor come too slowly."""

    def __init__(self, receive: Receive, headers: Headers, limit: int, seconds: float) -> None:
        """`limit` is in bytes."""
        self.receive_part = receive
        self.limit = limit
        self.size = 0
        self.deadline = asyncio.get_running_loop().time() + seconds
        self.is_complete = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers

    async def receive_within_limits(self) -> HttpMessage:
        """Returns the next message. Raises RequestError for a body that is too large or too slow."""
        if self.is_complete:
            return await self.receive_part()
        left = self.deadline - asyncio.get_running_loop().time()
        try:
            message = await asyncio.wait_for(self.receive_part(), max(0.001, left))
        except TimeoutError as error:
            raise RequestError(408, "the request came too slowly") from error
        self.size += len(message.get("body", b""))
        self.is_complete = not message.get("more_body", False)
        if self.size > self.limit:
            raise RequestError(413, explain_limit(self.limit))
        return message


def explain_limit(limit: int) -> str:
    """Returns the message for a body of more than `limit` bytes."""
    return f"the request is too large; at most {limit:,} bytes are read"
