"""The models of the server. It chooses them by direction, loads them on first use, and unloads them to save memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from nmt_cli.api.translator import Translator
from nmt_cli.errors import NmtError, OptionError
from nmt_cli.files import FileState, read_states
from nmt_cli.languages.codes import KnownLanguage, find_code, find_language, find_language_tag, find_variety
from nmt_cli.runtime.model_directory import CARD, ModelCard, ModelDirectory, read_card
from nmt_cli.server.admission import RequestError
from nmt_cli.text.tags import Tag, TagPurpose, TagSet, merge_tags, parse_tag_name, replace_languages

if TYPE_CHECKING:
    from nmt_cli.translation.memory.lookup import TranslationMemory

ServedDirection = tuple[Path, tuple[str, str]]  # the directory of a model, and the codes of its languages
ModelOpener = Callable[[Path], Translator]
DiskState = tuple[FileState | None, ...]  # of the card of a model, and of each file that it names

LONGEST_CODE = 100  # characters of a language code that are looked at; what is looked up is remembered
PAUSE = 10  # after a directory could not be loaded, in times that this took: so trying again takes a tenth of the time
LOADED_EXTRA = 30_000_000  # bytes that a loaded model takes beside its files: tables of the tokenizer, buffers


class FailedLoad(NamedTuple):
    """The last attempt to load the replacement of a model."""

    reason: str
    states: Mapping[str, FileState]  # of all files of the directory, any of which may have been missing
    end_of_pause: float  # by a monotonic clock


@dataclass
class ServedModel:
    """A model, loaded or not."""

    directory: Path
    card: ModelCard
    source: KnownLanguage
    target: KnownLanguage
    size: int  # bytes of memory once it is loaded, about
    state: DiskState = ()  # of the files when it was loaded; a model that is trained further gets others
    translator: Translator | None = None
    last_used: float = 0.0  # by a monotonic clock
    memory: TranslationMemory | None = None  # of this direction
    tags: TagSet = ()  # of its languages, where the model in its directory has several directions

    def find_memory(self, tags: Iterable[str] = ()) -> TranslationMemory | None:
        """Returns the memory for requests with these tags, if there is one."""
        return None if self.memory is None else self.memory.choose_register(tuple(map(parse_tag_name, tags)))

    def find_near(self, text: str, most: int, tags: Iterable[str] = ()) -> list[str]:
        """Returns the translations of nearly identical texts in that memory, nearest first."""
        memory = self.find_memory(tags)
        return [] if memory is None else memory.find_near(text, most)

    @classmethod
    def read(cls, directory: Path) -> ServedModel:
        """Reads only the card. Raises NotFoundError, DamagedError, and OptionError for a captioning model."""
        card = read_card(directory)
        if card.has_pictures:
            raise OptionError(
                f"{directory}/ is a captioning model, which the server does not support",
                hint="serve models that translate text",
            )
        files = ModelDirectory(directory, card, card.default_precision).files
        size = sum((directory / name).stat().st_size for name in files if (directory / name).is_file())
        source, target = find_language(card.source_language), find_language(card.target_language)
        return cls(directory, card, source, target, size + LOADED_EXTRA)

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

    def find_state(self, states: Mapping[str, FileState]) -> DiskState:
        """Returns the states of the card and of the files that it names; one changes whenever the model does."""
        return tuple(states.get(name) for name in (CARD, *sorted(self.card.checksums)))


def require_same_directions(card: ModelCard, models: Iterable[ServedModel]) -> None:
    """Raises OptionError unless a model with this card can replace all of these served models."""
    for model in models:
        sides = (replace_languages(languages, model.tags) for languages in (card.languages, model.card.languages))
        new, old = ([*map(find_language_tag, codes)] for codes in sides)
        if card.has_pictures or new != old or not {*map(str, model.tags)} <= card.tags.keys():
            problem = "is a captioning model" if card.has_pictures else f"translates {' to '.join(new)}"
            raise OptionError(f"{model.directory}/ now {problem}, and no longer translates {' to '.join(old)}")


def name_language(code: str, others: Iterable[str]) -> KnownLanguage:
    """Returns a language, with its region or script if there are others of that language."""
    language, tag = find_language(code), find_language_tag(code)
    _, _, variety = tag.partition("-")
    if not variety or len({find_variety(other) for other in others if find_code(other) == language.code}) < 2:
        return language
    return language._replace(code=tag, name=f"{language.name} ({variety})")


def is_any(code: str | None) -> bool:
    """Whether a code asks for no language in particular: `auto` (in upper or lower case), an empty code or None."""
    return code is None or code.strip().lower() in ("", "auto")


def select_named(
    models: Sequence[ServedModel], side: Literal["source", "target"], code: str | None
) -> list[ServedModel]:
    """Returns the models for a language, its exact variety first; None or an empty code means any language."""
    if is_any(code):
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
        self.failures: dict[Path, FailedLoad] = {}  # of what replaced a model, by its directory
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
            name = "any language" if is_any(source) else candidates[0].source.name
            raise RequestError(400, f"{target} is not available as a target language from {name}")
        return fitting[0]

    def list_sources(self, target: str | None = None) -> list[KnownLanguage]:
        """Returns the languages that can be translated into a target, each once. Raises RequestError if none can."""
        self.find(None, target)
        return list(dict.fromkeys(model.source for model in select_named(self.models, "target", target)))

    @property
    def languages(self) -> list[KnownLanguage]:
        """The languages of both sides, source languages first."""
        targets = {model.target.code: model.target for model in self.models}
        return list({**{source.code: source for source in self.list_sources()}, **targets}.values())

    def list_targets(self, source: KnownLanguage) -> list[KnownLanguage]:
        """Returns the languages that a source language can be translated into."""
        return [model.target for model in self.models if model.source.code == source.code]

    def open(self, model: ServedModel) -> Translator:
        """Returns the translator of a model, loading it if necessary; for threads that may wait.

        If the model has been replaced in the meantime, loads the new one as soon as it is complete.
        """
        with self.lock:
            model.last_used = time.monotonic()
            twins = [other for other in self.models if other.directory == model.directory]
            if model.translator is None:
                self.make_room(model)
                return self.load(model, twins, read_states(model.directory))
            states = read_states(model.directory)
            if model.find_state(states) != model.state:
                self.load_again(model, twins, states)
            return model.translator

    def load(self, model: ServedModel, twins: Sequence[ServedModel], states: Mapping[str, FileState]) -> Translator:
        """Loads the model in the directory; `states` are those that its files had before.

        Raises the errors of the opener, and OptionError if the languages have changed.
        """
        translator = self.opener(model.directory)
        require_same_directions(translator.card, twins)
        for twin in twins:
            languages = replace_languages(translator.card.languages, twin.tags)
            twin.translator, twin.card = translator, translator.card.with_languages(languages)
            twin.state = twin.find_state(states)
        return translator

    def load_again(self, model: ServedModel, twins: Sequence[ServedModel], states: Mapping[str, FileState]) -> None:
        """Loads a model that was replaced; a batch that is being translated keeps the old one until it is done.

        While the new one is incomplete, the old one is served, and the log says why, once for each reason.
        """
        started, failure = time.monotonic(), self.failures.get(model.directory)
        if failure is not None and (failure.states == states or started < failure.end_of_pause):
            return
        try:
            is_new = self.is_other(model)
            if is_new:
                self.load(model, twins, states)
        except Exception as error:  # files that change while they are read fail in many ways
            reason = (
                error.message if isinstance(error, NmtError) else f"the model cannot be loaded ({type(error).__name__})"
            )
            if failure is None or failure.reason != reason:
                self.report(f"{reason}: the server keeps the old model of {model.directory}")
            now = time.monotonic()
            self.failures[model.directory] = FailedLoad(reason, states, now + PAUSE * (now - started))
            return
        self.failures.pop(model.directory, None)
        for twin in twins:
            twin.state = twin.find_state(states)
        if is_new:
            self.report(f"{model.directory} was replaced: the server uses the new model")

    def is_other(self, model: ServedModel) -> bool:
        """Returns whether a directory has a different model from that in memory. Raises DamagedError for half a model.

        Files that were copied again or only touched are still the same model.
        """
        if model.translator is None or read_card(model.directory) != model.translator.card:
            return True
        ModelDirectory.load(model.directory)
        return False

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
