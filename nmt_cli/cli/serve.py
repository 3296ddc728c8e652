"""`nmt translate --serve`: what it refuses, and what it says. Must stay light: `nmt translate` imports it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.api.serve_config import ServeConfig, parse_size
from nmt_cli.cli.render import Screen
from nmt_cli.errors import MissingExtraError, OptionError, explain_install
from nmt_cli.settings import Settings, option_fields
from nmt_cli.translation.config import MemoryConfig, ModelRequest

if TYPE_CHECKING:
    from nmt_cli.api.translator import LoadedTranslator
    from nmt_cli.server.service import Service
    from nmt_cli.translation.memory.lookup import TranslationMemory

PACKAGES = ("starlette", "uvicorn", "python_multipart")


def choose_model(models: Sequence[Path]) -> Path:
    """Returns the only model. Raises OptionError for several."""
    if len(models) > 1:
        raise OptionError(
            "several --model need --serve, which chooses by language", hint="name one, or average them with --ensemble"
        )
    return models[0]


def serve_models(
    models: Sequence[Path],
    config: ServeConfig,
    settings: Sequence[Settings],
    template: ModelRequest,
    memories: MemoryConfig,
    screen: Screen,
) -> None:
    """Serves the models until a signal comes; `settings` are the defaults of search, `template` how models are loaded.

    Raises MissingExtraError without the packages of the extra `serve`.
    """
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingExtraError(
                f"--serve needs the package {package.replace('_', '-')}, which is not installed",
                hint=explain_install("serve"),
            )
    from nmt_cli.api.open_model import open_translator
    from nmt_cli.api.translator import LoadedTranslator
    from nmt_cli.server.run import ServeRequest, serve

    memory_by_model = open_memories(models, memories.tm, config.suggestions)
    options = {
        field.name: getattr(group, field.name)
        for group in settings
        for field in option_fields(type(group))
        if getattr(group, field.name) != field.default
    }

    def open_model(path: Path) -> LoadedTranslator:
        translator = open_translator(template._replace(model=path))
        return LoadedTranslator(
            translator, path, options, ensemble=bool(template.ensemble), memory=memory_by_model.get(path)
        )

    def announce_service(url: str, service: Service) -> None:
        screen.say(describe_service(url, service))

    request = ServeRequest(
        address=str(config.serve),
        models=tuple(models),
        opener=open_model,
        memory_limit=parse_size(config.memory_limit),
        cors=config.cors,
        api_key=config.api_key,
        hosts=config.allow_host,
        suggestions=Path(config.suggestions) if config.suggestions is not None else None,
    )
    serve(request, announce_service, screen.say_detail, screen.warn)


def open_memories(
    models: Sequence[Path], files: Sequence[str], suggestions: str | None
) -> dict[Path, TranslationMemory]:
    """Returns the translation memory of each model, of those files that have its languages.

    Raises MemoryLanguageError for a file that has those of no model. That of suggestions may not be there yet.
    """
    files = [file for file in files if file != suggestions or Path(file).exists()]
    if not files:
        return {}
    from nmt_cli.api.memory import MemoryLanguageError, load_memory
    from nmt_cli.runtime.model_directory import read_card

    cards = {model: read_card(model) for model in models}
    memories: dict[Path, TranslationMemory] = {}
    for file in files:
        refused: list[MemoryLanguageError] = []
        for model, card in cards.items():
            try:
                memory = load_memory([file], (card.source_language, card.target_language))
            except MemoryLanguageError as error:
                refused.append(error)
                continue
            memories.setdefault(model, memory).update(memory)
        if len(refused) == len(cards):
            raise refused[0]
    return memories


def describe_service(url: str, service: Any) -> str:
    """Returns the line that says what is served, and where."""
    models = [
        f"{model.source.code} -> {model.target.code}, {model.directory}/"
        + (f" (BLEU {model.card.development_bleu:.1f})" if model.card.development_bleu is not None else "")
        for model in service.pool.models
    ]
    return f"{'; '.join(models)}, on {url}   page: /   LibreTranslate: /translate   Ctrl-C ends"
