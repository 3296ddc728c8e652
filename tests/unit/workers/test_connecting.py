"""A cluster may still be starting; one that is not there, or does not fit, is an error that says so."""

from collections.abc import Iterator
from socket import gaierror, socket
from threading import Timer
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from nmt_cli.errors import NotFoundError
from nmt_cli.workers import pool
from nmt_cli.workers.pool import await_head, connect_ray


@pytest.fixture
def head() -> Iterator[socket]:
    """A head whose port refuses connections until it listens."""
    with socket() as opened:
        opened.bind(("127.0.0.1", 0))
        yield opened


def join_address(head: socket) -> str:
    host, port = head.getsockname()
    return f"{host}:{port}"


def make_ray(error: Exception) -> Any:
    """Returns a module whose connection fails."""

    def init(*_: Any, **__: Any) -> NoReturn:
        raise error

    return SimpleNamespace(init=init)


def test_a_head_that_is_starting_is_awaited(head: socket) -> None:
    heard: list[str] = []

    def listen() -> None:
        heard.append("listens")
        head.listen()

    Timer(0.2, listen).start()
    await_head(join_address(head))
    assert heard == ["listens"]


def test_a_head_that_never_listens_is_an_error_before_ray_tries(head: socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "PATIENCE", 0.1)
    with pytest.raises(NotFoundError, match="Connection refused"):
        connect_ray(make_ray(AssertionError("Ray was asked")), join_address(head))


def test_a_host_without_an_address_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[str, int]] = []

    def look_up(place: tuple[str, int], **_: Any) -> NoReturn:
        tried.append(place)
        raise gaierror("Name or service not known")

    monkeypatch.setattr(pool, "create_connection", look_up)
    with pytest.raises(NotFoundError, match="nowhere:6379: Name or service not known"):
        connect_ray(make_ray(AssertionError("Ray was asked")), "nowhere:6379")
    assert tried == [("nowhere", 6379)]


@pytest.mark.parametrize("kind", [RuntimeError, ConnectionError, ValueError])
def test_what_ray_says_against_a_cluster_is_told_in_a_line(kind: type[Exception]) -> None:
    with pytest.raises(NotFoundError, match=r"--ray auto: Version mismatch: the cluster has Ray: 2\.9"):
        connect_ray(make_ray(kind("Version mismatch: the cluster has\n    Ray: 2.9\n")), "auto")
