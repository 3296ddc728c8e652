"""A path that is served, as the tables of `shapes/` and those of other packages list them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from starlette.routing import Route

from nmt_cli.errors import NmtError
from nmt_cli.plugins import list_plugins, load_plugin, name_package_of
from nmt_cli.server.calls import Handler, make_endpoint, write_error
from nmt_cli.server.service import Service

ADDED = "nmt_cli.shapes"  # the entry points of shapes that other packages add
GET, POST, BOTH = ("GET",), ("POST",), ("GET", "POST")


class ServedPath(NamedTuple):
    """A path with its handler, and what `/docs` and `/spec` say of it; without a summary, nothing."""

    path: str
    handler: Handler
    summary: str = ""
    required: tuple[str, ...] = ()  # values of a request
    optional: tuple[str, ...] = ()
    methods: tuple[str, ...] = POST
    needs_key: bool = True
    takes_files: bool = False
    error_key: str = "error"  # under which its clients look for a message
    name: str | None = None  # for links to it
    shown: str = ""  # the path as it is described, if clients write it in several ways

    def make_route(self, service: Service) -> Route:
        endpoint = make_endpoint(
            service,
            self.handler,
            self.shown or self.path,
            needs_key=self.needs_key,
            takes_files=self.takes_files,
            error_writer=partial(write_error, key=self.error_key),
        )
        return Route(self.path, endpoint, methods=list(self.methods), name=self.name)


def load_added_paths(report: Callable[[str], None]) -> Iterator[ServedPath]:
    """Yields the paths of shapes that other packages add; reports those that cannot be served, and leaves them out."""
    for plugin in list_plugins(ADDED):
        try:
            paths = load_plugin(plugin)
        except NmtError as error:
            report(f"{error.message}: it is not served")
            continue
        if isinstance(paths, Sequence) and all(isinstance(path, ServedPath) for path in paths):
            yield from paths
        else:
            report(f"{plugin.name} of the package {name_package_of(plugin)} is no table of paths: it is not served")
