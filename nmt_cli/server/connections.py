"""Limits how much the server reads ahead on a connection, and ends connections without losing data.

1. Requests that a client sends ahead are read up to `AHEAD` bytes; the rest waits with the client, as does a response
   that it does not read.
2. A connection ends when no request arrives, when a response is not read, and after a response to a request whose body
was not read. The server then briefly reads and discards the remaining input: closing a socket with unread data can
   reset the connection, and the response in transit is lost.
3. A client that has sent its request may close its half of the connection, and still gets its response.
"""

from __future__ import annotations

import socket
from typing import Any

import h11
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from nmt_cli.server.admission import DEFAULT_LIMITS

AHEAD = 64 * 1024  # bytes of the requests behind the one that is being answered
PATIENCE = 1.0  # seconds in which a connection that was accepted last must send its request
UNREAD = (h11.SEND_BODY, h11.ERROR)  # states of a client that may still be sending what is not read
LOOKING_SECONDS = 0.25  # between two looks whether a client that sends no more is still there


class BoundedFlow(FlowControl):
    """Reads from a connection only while little of what was read is waiting to be answered."""

    def __init__(self, transport: Any, connection: h11.Connection) -> None:
        super().__init__(transport)
        self.connection = connection

    def resume_reading(self) -> None:
        if len(self.connection.trailing_data[0]) <= AHEAD:
            super().resume_reading()


class LingeringTransport:
    """A transport that is closed by `protocol.end_connection`."""

    def __init__(self, transport: Any, protocol: PatientProtocol) -> None:
        self.transport = transport
        self.protocol = protocol

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)

    def close(self) -> None:
        self.protocol.end_connection(self.transport)


class PatientProtocol(H11Protocol):
    """Buffers little of what a client sends, and ends a connection as soon as nothing can be lost, but not before."""

    limits = DEFAULT_LIMITS

    def connection_made(self, transport: Any) -> None:
        self.is_lingering = False
        super().connection_made(LingeringTransport(transport, self))  # type: ignore[arg-type]
        self.flow = BoundedFlow(self.transport, self.conn)
        self.is_ending = False  # whether the server stops
        self.is_half_closed = False  # whether the client sends nothing more
        self.head_timer: Any = None
        self.answer_timer: Any = None
        self.start_head_timer()

    def data_received(self, data: bytes) -> None:
        if self.is_lingering:
            return
        super().data_received(data)
        if not self.awaits_head:
            self.stop_head_timer()
        elif self.head_timer is None and data:
            self.start_head_timer()
        if self.is_ending and self.cycle is not None:
            self.cycle.keep_alive = False

    @property
    def awaits_head(self) -> bool:
        """Whether no request is being answered, so that the head of the next one is awaited."""
        return self.conn.their_state is h11.IDLE and (self.cycle is None or self.cycle.response_complete)

    def start_head_timer(self) -> None:
        self.head_timer = self.loop.call_later(self.limits.head_seconds, self.close_if_silent)

    def stop_head_timer(self) -> None:
        if self.head_timer is not None:
            self.head_timer.cancel()
            self.head_timer = None

    def close_if_silent(self) -> None:
        """Closes the connection if no request has arrived in the meantime."""
        self.head_timer = None
        if self.awaits_head:
            self.transport.close()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Returns whether the connection stays open for a response, though the client sends nothing more."""
        if self.is_lingering or self.conn.their_state in (h11.IDLE, *UNREAD):
            return False
        if not self.is_half_closed:
            self.is_half_closed = True
            self.send_interim_answer()
            self.look_for_client()
        return True

    def send_interim_answer(self) -> None:
        """Sends bytes that every client of HTTP/1.1 skips; if the client has gone, its system refuses them."""
        if self.conn.our_state is h11.SEND_RESPONSE and self.scope["http_version"] == "1.1":
            event = h11.InformationalResponse(status_code=100, headers=[], reason="Continue")
            self.transport.write(self.conn.send(event))

    def look_for_client(self) -> None:
        """Ends the connection if the client has gone, so that nothing is translated for it."""
        if self.transport.is_closing():
            return
        if self.transport.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self.transport.abort()
        else:
            self.loop.call_later(LOOKING_SECONDS, self.look_for_client)

    def end_connection(self, transport: Any) -> None:
        """Closes the transport: at once, or once a client that is still sending has had time to read its response."""
        if self.is_lingering or self.conn.their_state not in UNREAD:
            transport.close()
            return
        self.is_lingering = True
        transport.write_eof()
        transport.resume_reading()
        self.loop.call_later(self.limits.linger_seconds, transport.close)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.start_answer_timer()

    def resume_writing(self) -> None:
        self.stop_answer_timer()
        super().resume_writing()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self.start_answer_timer()
        if self.is_half_closed and self.awaits_head:
            self.transport.close()

    def start_answer_timer(self) -> None:
        self.stop_answer_timer()
        self.answer_timer = self.loop.call_later(self.limits.answer_seconds, self.close_if_unread, self.cycle)

    def stop_answer_timer(self) -> None:
        if self.answer_timer is not None:
            self.answer_timer.cancel()
            self.answer_timer = None

    def close_if_unread(self, cycle: Any) -> None:
        """Closes the connection if the client has still not read all of this cycle's response."""
        self.answer_timer = None
        if not self.transport.get_write_buffer_size():
            return
        if cycle is self.cycle:
            self.transport.abort()
        else:  # the answer to a later request, which the client has not had as long to read
            self.start_answer_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_head_timer()
        self.stop_answer_timer()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        if self.cycle is None:
            self.is_ending = True
            self.loop.call_later(PATIENCE, self.close_if_silent)
        else:
            super().shutdown()
