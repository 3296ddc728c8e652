"""The fuzzer of the server asks all its endpoints."""

from fuzz_server import ENDPOINTS
from starlette.routing import Match

from nmt_cli.server.run import list_routes
from nmt_cli.server.service import Service
from support.served import make_pool


def test_every_endpoint_is_fuzzed() -> None:
    lines = [make("Room 1234567 is free.").decode().split(" ", 2) for make in ENDPOINTS.values()]
    scopes = [{"type": "http", "method": method, "path": path.partition("?")[0]} for method, path, _ in lines]
    routes = list_routes(Service(make_pool()[0]))
    missed = [route for route in routes if not any(route.matches(scope)[0] is Match.FULL for scope in scopes)]
    assert routes and missed == []
