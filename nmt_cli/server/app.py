"""The application: maps each path to its handler."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from nmt_cli.server import page
from nmt_cli.server.calls import Handler, make_endpoint, write_error
from nmt_cli.server.security import Application, Guard, Rules
from nmt_cli.server.service import Service
from nmt_cli.server.shapes import deepl, games, libretranslate, opus_cat
from nmt_cli.server.spec import describe_interface

BOTH = ["GET", "POST"]


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
    return [
        *list_libretranslate_routes(service),
        *list_deepl_routes(service),
        *list_opus_cat_routes(service),
        Route("/xunity", make_endpoint(service, games.translate_for_unity), methods=BOTH),
        Route("/", make_endpoint(service, games.answer_sugoi), methods=["POST"]),
    ]


def list_libretranslate_routes(service: Service) -> list[BaseRoute]:
    """Returns the routes of LibreTranslate's interface, of the custom shapes, and of the page."""
    make = partial(make_endpoint, service)
    is_open = partial(make, needs_key=False)
    return [
        Route("/translate", make(libretranslate.translate), methods=BOTH),
        Route("/detect", make(libretranslate.detect_language), methods=BOTH),
        Route("/languages", is_open(libretranslate.list_languages)),
        Route("/translate_file", make(libretranslate.translate_file, takes_files=True), methods=["POST"]),
        Route("/download_file/{name}", is_open(libretranslate.download_file), name="download_file"),
        Route("/suggest", make(libretranslate.keep_suggestion), methods=["POST"]),
        Route("/health", is_open(libretranslate.report_health)),
        Route("/frontend/settings", is_open(libretranslate.list_settings)),
        Route("/spec", is_open(describe_interface)),
        Route("/", is_open(page.show_page)),
        Route("/page/translate", make(page.translate), methods=["POST"]),
        Route("/page/translate_file", make(page.translate_file, takes_files=True), methods=["POST"]),
        Route("/page/models", is_open(page.list_models)),
        Route("/page/progress", is_open(page.report_progress)),
        Route("/page/{name}", is_open(page.send_file)),
    ]


def list_deepl_routes(service: Service) -> list[BaseRoute]:
    """Returns the routes of DeepL's interface."""

    def make_route(path: str, handler: Handler, methods: list[str]) -> Route:
        return Route(
            path, make_endpoint(service, handler, error_writer=partial(write_error, key="message")), methods=methods
        )

    return [
        make_route("/v2/translate", deepl.translate, ["POST"]),
        make_route("/v2/languages", deepl.list_languages, BOTH),
        make_route("/v2/usage", deepl.report_usage, BOTH),
        make_route("/v2/glossary-language-pairs", deepl.list_glossary_pairs, ["GET"]),
        make_route("/v2/glossaries", deepl.list_glossaries, ["GET"]),
    ]


def list_opus_cat_routes(service: Service) -> list[BaseRoute]:
    """Returns the routes of OPUS-CAT's interface."""
    register_url_convertor("opus_cat", OpusCatName())
    return [Route("/{name:opus_cat}/{method}", make_endpoint(service, opus_cat.serve_method), methods=BOTH)]


class OpusCatName(StringConvertor):
    """The first part of OPUS-CAT's paths, whose case clients vary."""

    regex = "(?i:MTRestService)"


async def report_missing(request: Request, error: Exception) -> Response:
    """Answers a request for an unknown path, in the words of both LibreTranslate and DeepL."""
    status = getattr(error, "status_code", 404)
    message = "this method is not allowed here" if status == 405 else "there is nothing at this address"
    return JSONResponse({"error": message, "message": message}, status, getattr(error, "headers", None))


async def report_failure(request: Request, error: Exception) -> Response:
    """Answers after an unexpected failure, without a word about the text."""
    message = f"internal error: {type(error).__name__}"
    return JSONResponse({"error": message, "message": message}, 500)
