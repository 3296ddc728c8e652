"""Addresses that are served: parsed, opened and shown. Standard library only."""

from __future__ import annotations

import socket

from nmt_cli.errors import OptionError

LOCAL = "127.0.0.1"
BACKLOG = 2048  # connections that may wait to be accepted


def parse_address(text: str) -> tuple[str, int]:
    """Parses [HOST:]PORT; without a host, only this machine is served. Raises OptionError."""
    host, _, number = text.rpartition(":")
    host = host.strip("[]") or LOCAL
    if "/" in host or not number.isascii() or not number.isdecimal() or int(number) > 65535:
        raise OptionError(
            f"--serve cannot be {text!r}",
            hint="it takes a port, or a host and a port: --serve 5000, --serve 0.0.0.0:5000",
        )
    return host, int(number)


def open_port(host: str, port: int) -> socket.socket:
    """Returns a listening socket; port 0 takes a free port. Raises OptionError if that is impossible."""
    try:
        family, _, _, _, endpoint = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(endpoint)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OptionError(
            f"--serve cannot listen on {host}:{port}: {reason}", hint="name another port, or 0 for any that is free"
        ) from error
    return listener


def write_address(host: str, listener: socket.socket) -> str:
    """Returns the address of a listening socket, for a browser."""
    shown_host = f"[{host}]" if ":" in host else host
    return f"http://{shown_host}:{listener.getsockname()[1]}"
