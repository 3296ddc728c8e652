"""The application: maps each path to its handler."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.convertors import register_url_convertor
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from nmt_cli.server import page
from nmt_cli.server.errors import INTERNAL_ERROR
from nmt_cli.server.paths import load_added_paths
from nmt_cli.server.security import Application, Guard, Rules
from nmt_cli.server.service import Service
from nmt_cli.server.shapes import deepl, games, libretranslate, opus_cat
from nmt_cli.server.spec import list_description_paths

PATHS = (*libretranslate.PATHS, *deepl.PATHS, *opus_cat.PATHS, *games.PATHS, *page.PATHS)


def make_application(service: Service, rules: Rules) -> Application:
    """Returns the application, with the guard before it."""

    @asynccontextmanager
    async def close_service(application: Starlette) -> AsyncIterator[None]:
        removal = asyncio.ensure_future(service.results.keep_removing())
        try:
            yield
        finally:
            removal.cancel()
            service.close()

    handlers = {404: report_missing, 405: report_missing, 500: report_failure}
    return Guard(Starlette(routes=list_routes(service), lifespan=close_service, exception_handlers=handlers), rules)


def list_routes(service: Service) -> list[BaseRoute]:
    """Returns the routes of all shapes; those of other packages come last, and replace none."""
    register_url_convertor("opus_cat", opus_cat.PathName())
    paths = [*PATHS, *load_added_paths(service.report)]
    return [path.make_route(service) for path in (*list_description_paths(paths), *paths)]


async def report_missing(request: Request, error: Exception) -> Response:
    """Answers a request for an unknown path, in the words of both LibreTranslate and DeepL."""
    status = getattr(error, "status_code", 404)
    message = "this method is not allowed here" if status == 405 else "there is nothing at this address"
    return JSONResponse({"error": message, "message": message}, status, getattr(error, "headers", None))


async def report_failure(request: Request, error: Exception) -> Response:
    """Answers after an unexpected failure, without a word about the text."""
    return JSONResponse({"error": INTERNAL_ERROR, "message": INTERNAL_ERROR}, 500)
