"""The served models: chosen by direction, loaded on first use, unloaded when memory runs short."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nmt_cli.api.translator import LoadedTranslator
from nmt_cli.errors import NmtError, OptionError
from nmt_cli.files import FileState, read_state
from nmt_cli.languages.codes import KnownLanguage, find_code, find_language, find_language_tag, find_variety
from nmt_cli.runtime.model_directory import CARD, ModelCard, ModelDirectory, read_card
from nmt_cli.server.admission import RequestError
from nmt_cli.text.tags import Tag, TagPurpose, TagSet, merge_tags, parse_tag_name

if TYPE_CHECKING:
    from nmt_cli.translation.memory.lookup import TranslationMemory

ServedDirection = tuple[Path, tuple[str, str]]  # the directory of a model, and the codes of its languages
ModelOpener = Callable[[Path], LoadedTranslator]

ANY = (None, "", "auto")  # what asks for no language
LONGEST_CODE = 100  # characters of a language code that are looked at; what is looked up is remembered
LOADED_EXTRA = 30_000_000  # bytes that a loaded model takes beside its files: tables of the tokenizer, buffers


@dataclass
class ServedModel:
    """A model, loaded or not."""

    directory: Path
    card: ModelCard
    source: KnownLanguage
    target: KnownLanguage
    size: int  # bytes of memory once it is loaded, about
    state: FileState | None = None  # of the card; a model that is trained further gets another
    translator: LoadedTranslator | None = None
    last_used: float = 0.0  # by a monotonic clock
    memory: TranslationMemory | None = None  # of this direction
    tags: TagSet = ()  # of its languages, where the model in its directory has several directions

    def find_memory(self, tags: Iterable[str] = ()) -> TranslationMemory | None:
        """Returns the memory for requests with these tags, if there is one."""
        return None if self.memory is None else self.memory.follow_tags(tuple(map(parse_tag_name, tags)))

    def find_near(self, text: str, most: int, tags: Iterable[str] = ()) -> list[str]:
        """Returns the translations of texts in that memory that are nearly the same, nearest first."""
        memory = self.find_memory(tags)
        return [] if memory is None else memory.find_near(text, most)

    @classmethod
    def read(cls, directory: Path) -> ServedModel:
        """Reads only the card. Raises NotFoundError, DamagedError, and OptionError for a model that reads pictures."""
        state, card = read_state(directory / CARD), read_card(directory)
        if card.has_pictures:
            raise OptionError(f"{directory}/ reads pictures, which cannot be served", hint="serve models of text")
        files = ModelDirectory(directory, card, card.default_precision).files
        size = sum((directory / name).stat().st_size for name in files if (directory / name).is_file())
        source, target = find_language(card.source_language), find_language(card.target_language)
        return cls(directory, card, source, target, size + LOADED_EXTRA, state)

    def list_directions(self) -> list[ServedModel]:
        """Returns a model for each pair of languages of the card, the usual one first; they share a translator."""
        usual, cards = self.card.languages, self.card.directions
        sides = [list(dict.fromkeys(codes)) for codes in zip(*(card.languages for card in cards), strict=True)]
        directions = []
        for card in cards:
            source, target = map(name_language, card.languages, sides)
            kinds = zip((TagPurpose.SOURCE, TagPurpose.TARGET), card.languages, usual, strict=True)
            tags = merge_tags(Tag(kind, code) for kind, code, other in kinds if code != other)
            directions.append(replace(self, card=card, source=source, target=target, tags=tags))
        return directions


def name_language(code: str, others: Iterable[str]) -> KnownLanguage:
    """Returns a language, with its region or script if there are others of that language."""
    language, tag = find_language(code), find_language_tag(code)
    _, _, variety = tag.partition("-")
    if not variety or len({find_variety(other) for other in others if find_code(other) == language.code}) < 2:
        return language
    return language._replace(code=tag, name=f"{language.name} ({variety})")


def select_named(
    models: Sequence[ServedModel], side: Literal["source", "target"], code: str | None
) -> list[ServedModel]:
    """Returns the models of a language, those of its very variety first; None or an empty code means any language."""
    if code in ANY:
        return list(models)
    code = str(code)[:LONGEST_CODE]
    of_language = [model for model in models if find_code(getattr(model, side).code) == find_code(code)]
    return sorted(of_language, key=lambda model: find_variety(getattr(model, side).code) != find_variety(code))


class ModelPool:
    """The models of a server, in the order given."""

    def __init__(
        self,
        models: Sequence[ServedModel],
        opener: ModelOpener,
        memory_limit: int | None = None,
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        """`memory_limit` is in bytes, for all loaded models together; one model is always loaded.

        Raises OptionError.
        """
        self.models = list(models)
        self.opener = opener
        self.memory_limit = memory_limit
        self.report = report
        self.lock = threading.Lock()
        directions: dict[tuple[str, str], Path] = {}
        for model in self.models:
            other = directions.setdefault((model.source.code, model.target.code), model.directory)
            if other != model.directory:
                raise OptionError(
                    f"{other}/ and {model.directory}/ both translate {model.source.code} to {model.target.code}",
                    hint="serve one of them, or each on a port of its own",
                )

    def find(self, source: str | None, target: str | None) -> ServedModel:
        """Returns the model of a direction; None or "auto" means any language. Raises RequestError if there is none."""
        candidates = select_named(self.models, "source", source)
        if not candidates:
            raise RequestError(400, f"{source} is not supported")
        fitting = select_named(candidates, "target", target)
        if not fitting:
            name = "any language" if source in ANY else candidates[0].source.name
            raise RequestError(400, f"{target} is not available as a target language from {name}")
        return fitting[0]

    @property
    def sources(self) -> list[KnownLanguage]:
        """The source languages, each once."""
        return list(dict.fromkeys(model.source for model in self.models))

    def list_targets(self, source: KnownLanguage) -> list[KnownLanguage]:
        """Returns the languages that a source language can be translated to."""
        return [model.target for model in self.models if model.source.code == source.code]

    def open(self, model: ServedModel) -> LoadedTranslator:
        """Returns the translator of a model, loading it if necessary; for threads that may wait.

        One whose model was replaced in the meantime makes room for the new one, unless that cannot be loaded.
        """
        with self.lock:
            model.last_used = time.monotonic()
            twins = [other for other in self.models if other.directory == model.directory]
            state = read_state(model.directory / CARD)
            if model.translator is None:
                self.make_room(model)
                model.translator = self.opener(model.directory)
            elif state != model.state:
                self.load_again(model)
            for twin in twins:
                twin.translator, twin.state = model.translator, state
            return model.translator

    def load_again(self, model: ServedModel) -> None:
        """Loads a replaced model; a batch that is being translated keeps the old one until it is done."""
        try:
            model.translator, card = self.opener(model.directory), read_card(model.directory)
            for twin in self.models:
                twin.card = card.follow_tags(twin.tags) if twin.directory == model.directory else twin.card
        except NmtError as error:
            self.report(f"{error.message}: {model.directory} is served as it was")
        else:
            self.report(f"{model.directory} was replaced: the new one is served")

    def make_room(self, wanted_model: ServedModel) -> None:
        """Unloads the least recently used models until there is room for another."""
        if self.memory_limit is None:
            return
        others = [model for model in self.models if model.directory != wanted_model.directory]
        by_use = sorted((model for model in others if model.translator is not None), key=lambda model: model.last_used)
        loaded = {model.directory: model for model in by_use}  # the direction of each that was used last
        total = wanted_model.size + sum(model.size for model in loaded.values())
        for directory, model in sorted(loaded.items(), key=lambda item: item[1].last_used):
            if total <= self.memory_limit:
                return
            for twin in others:
                if twin.directory == directory:
                    twin.translator = None  # a batch that is being translated keeps it until it is done
            total -= model.size
