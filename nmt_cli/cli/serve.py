"""The command `nmt translate --serve`: its errors and messages.

`nmt translate --serve 5000 --model en-de --tm terms.tsv` opens the memory of each direction, starts the server with the
command's search settings as the defaults of every request, and says "en -> de, en-de (BLEU 31.2), on
http://127.0.0.1:5000 ...".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.api.serve_config import ServeOptions
from nmt_cli.api.translating.request import TranslateCommand
from nmt_cli.cli.render import Screen
from nmt_cli.errors import MissingExtraError, explain_install
from nmt_cli.settings import Settings, option_fields

if TYPE_CHECKING:
    from nmt_cli.api.translator import Translator
    from nmt_cli.server.admission import Key
    from nmt_cli.server.models import ServedDirection
    from nmt_cli.translation.memory.lookup import TranslationMemory

KEYS_VARIABLE = "NMT_API_KEYS"
PACKAGES = ("starlette", "uvicorn", "python_multipart")


def serve_models(command: TranslateCommand, config: ServeOptions, screen: Screen) -> None:
    """Serves the models of a command until a signal arrives; the command's search settings are the defaults.

    Raises MissingExtraError without the packages of the extra `serve`.
    """
    require_server()
    from nmt_cli.api.open_model import open_translator
    from nmt_cli.api.translating.translate import require_abilities
    from nmt_cli.api.translator import Translator
    from nmt_cli.runtime.model_directory import read_card
    from nmt_cli.server.run import ServeRequest, serve

    for model in command.models:
        require_abilities(command, read_card(model))
    request, asked = command.request, command.request.options
    memories = open_memories(command.models, command.memories.tm, config.suggestions)
    options = list_changed(asked.search, asked.search.sampling, asked.repair, asked.checks)
    companions = {"ensemble": request.ensemble, "rerank": request.rerank}

    def open_model(path: Path) -> Translator:
        translator = open_translator(replace(request, model=path))
        memory = memories.get((path, translator.card.languages))
        return Translator(translator, path, options, companions=companions, memory=memory)

    serving = ServeRequest(config, command.models, open_model, read_keys(config, screen), memories)
    serve(serving, lambda *served: screen.say(describe_service(*served)), screen.say_detail, screen.warn)


def require_server() -> None:
    """Raises MissingExtraError if a package of the extra `serve` is not installed."""
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingExtraError(
                f"--serve needs the package {package.replace('_', '-')}, which is not installed",
                hint=explain_install("serve"),
            )


def read_keys(config: ServeOptions, screen: Screen) -> tuple[Key, ...]:
    """Returns the keys from the environment and `--api-key`; warns of a key that all users of this machine can see.

    Raises DataError for an invalid key.
    """
    from nmt_cli.server.admission import parse_keys

    keys = parse_keys(os.environ.get(KEYS_VARIABLE, ""), KEYS_VARIABLE, has_commas=True)
    if config.api_key is None:
        return tuple(keys)
    if any(config.api_key in argument for argument in sys.argv):
        screen.warn(f"other users of this machine can see the key of --api-key; {KEYS_VARIABLE} or --api-keys hides it")
    return (*keys, *parse_keys(config.api_key, "--api-key", has_commas=True))


def list_changed(*settings: Settings | None) -> dict[str, Any]:
    """Returns the options of these settings that differ from their defaults."""
    values = {field: getattr(group, field.name) for group in settings if group for field in option_fields(type(group))}
    return {field.name: value for field, value in values.items() if value != field.default}


def open_memories(
    models: Sequence[Path], files: Sequence[str], suggestions: str | None
) -> dict[ServedDirection, TranslationMemory]:
    """Returns the translation memory of each direction, from the files in its languages; may be empty, for suggestions.

    A file that names no languages is for the first direction of each model.

    Raises MemoryLanguageError for a file whose languages no model has.
    """
    files = [file for file in files if file != suggestions]  # which the server recalls itself
    if not files and suggestions is None:
        return {}
    from nmt_cli.api.open_model import MemoryLanguageError, load_memory
    from nmt_cli.runtime.model_directory import read_card

    directions = [(model, card.languages) for model in models for card in read_card(model).directions]
    memories: dict[ServedDirection, TranslationMemory] = {}
    if suggestions is not None:
        memories = {(model, languages): load_memory([], languages) for model, languages in directions}
    for file in files:
        refused: list[MemoryLanguageError] = []
        loaded: dict[ServedDirection, TranslationMemory] = {}
        for model, languages in directions:
            is_first = all(other != model for other, _ in loaded)
            try:
                if memory := load_memory([file], languages, with_untagged=is_first):
                    loaded[model, languages] = memory
            except MemoryLanguageError as error:
                refused.append(error)
        if len(refused) == len(directions):
            raise refused[0]
        for direction, memory in loaded.items():
            memories.setdefault(direction, memory).update(memory)
    return memories


def describe_service(url: str, service: Any) -> str:
    """Returns the line with the models of the server and its address."""
    from nmt_cli.runtime.installed_models import name_model

    models = [
        f"{model.source.code} -> {model.target.code}, {name_model(model.directory)}"
        + (f" (BLEU {model.card.development_bleu:.1f})" if model.card.development_bleu is not None else "")
        for model in service.pool.models
    ]
    return f"{'; '.join(models)}, on {url}   page: /   LibreTranslate: /translate   Ctrl-C to stop"
