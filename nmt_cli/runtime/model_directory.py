"""The model directory: its files, its card, and how both are written and checked.

A directory is complete as soon as `model.json` exists, which is written last and lists the checksum of every other
file."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from math import log1p
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from nmt_cli.errors import DamagedError, NmtError, OptionError
from nmt_cli.files import hash_file, write_json
from nmt_cli.languages.codes import UNNAMED, are_same_languages, find_variety, is_same_language
from nmt_cli.records import Count, FileName, Range, Share, build, parse_json
from nmt_cli.runtime.installed_models import CARD as CARD
from nmt_cli.runtime.installed_models import CHECKPOINTS as CHECKPOINTS
from nmt_cli.runtime.installed_models import FLOAT as FLOAT
from nmt_cli.runtime.installed_models import INT8 as INT8
from nmt_cli.runtime.installed_models import explain_missing_model, list_models
from nmt_cli.sources.source import MIN_LENGTH_FACTOR, Source, TextSource
from nmt_cli.text.profile import PROFILE_NAME, CorpusProfile
from nmt_cli.text.tags import Tag, TagPurpose, TagSet, merge_tags, parse_tag_name
from nmt_cli.text.tokenizer import Tokenizer, TokenizerSettings
from nmt_cli.text.wrapping import format_count

FORMAT = 3
ENCODER = "encoder.onnx"
DECODER = "decoder.onnx"
WEIGHTS = "weights.npz"
HISTORY = "history.jsonl"
TRAINED_SOURCES = "sources.npy"  # keys of the sources of real and synthetic pairs, where there are synthetic ones
SAMPLE = "sample.tsv.gz"  # pairs of the training and the development set, which packages carry
STAGES = "stages"  # the directory of helper models and synthetic pairs, while a training run makes them
STAGED = ".publishing."  # prefix of the directory in which files wait for publication


Entries = dict[str, Any]


class VocabularyEntries(NamedTuple):
    """The entries of a card about the sizes of the vocabularies."""

    source: Count
    target: Count
    joint: bool
    features: Count | None = None


class ModelCard(NamedTuple):
    """The entries of `model.json`: everything that a model records about itself."""

    format: int
    source_language: str
    target_language: str
    network: Entries  # model.config.ModelConfig
    vocabularies: Entries  # model.config.Vocabularies
    training: Entries  # training.options.TrainOptions
    tokenizer: Entries  # text.tokenizer_settings.TokenizerSettings
    source_tokenizer: FileName
    target_tokenizer: FileName
    dataset_fingerprint: str
    epochs: Count  # trained when the weights were saved
    development: Entries  # scores on the development set, with their signatures
    precision: Entries  # the default one, and the BLEU of each on the development set
    versions: dict[str, str]
    checksums: dict[FileName, str]  # SHA-256
    source: Entries  # how rows are made, beside the tokenizer
    synthetic: Entries = {}  # noqa: RUF012 - never changed; the synthetic pairs it was trained on, if any
    confidence: Entries = {}  # noqa: RUF012 - never changed; `translation.checks.confidence`, or why there is none
    parent: Entries = {}  # noqa: RUF012 - never changed; the model that training started from, if any
    date: str = ""  # of the end of training, as YYYY-MM-DD
    scores: Entries = {}  # noqa: RUF012 - never changed; on the test sets of a package
    tags: dict[str, Count] = {}  # noqa: RUF012 - never changed; training pairs by tag
    context: Count = 0  # sentences before that it has learned to read

    def __repr__(self) -> str:
        return f"ModelCard({' -> '.join(self.languages)}, {self.dataset_fingerprint!r})"

    @property
    def languages(self) -> tuple[str, str]:
        """The codes of the source and the target language."""
        return self.source_language, self.target_language

    @property
    def direction(self) -> str:
        """All languages of both sides: `eng -> deu, nld`."""
        return " -> ".join(", ".join(self.list_languages(kind)) for kind in (TagPurpose.SOURCE, TagPurpose.TARGET))

    def with_languages(self, languages: tuple[str, str]) -> ModelCard:
        """Returns the card with these as its languages."""
        return self._replace(source_language=languages[0], target_language=languages[1])

    @property
    def directions(self) -> list[ModelCard]:
        """The card for each source language and each other target language, the usual pair first."""
        sources, targets = self.list_languages(TagPurpose.SOURCE), self.list_languages(TagPurpose.TARGET)
        _, *others = product(sources, targets)
        pairs = (pair for pair in others if not is_same_language(*pair))
        return [self, *map(self.with_languages, pairs)]

    def list_languages(self, kind: TagPurpose) -> list[str]:
        """Returns the languages of a side: the usual one first, then those of tags for another language or variety."""
        usual = self.target_language if kind is TagPurpose.TARGET else self.source_language
        tagged = [tag.value for tag in map(parse_tag_name, self.tags) if tag.kind is kind]
        return [usual, *(code for code in tagged if find_variety(code) != find_variety(usual))]

    def complete_tags(self, tags: TagSet) -> TagSet:
        """Returns the tags, plus that of the first target language if the model has one and they name none."""
        usual = Tag(TagPurpose.TARGET, self.target_language)
        return merge_tags([usual] if str(usual) in self.tags else [], tags)

    @property
    def domains(self) -> frozenset[str]:
        """The domains that the model has learned by tags."""
        tags = map(parse_tag_name, self.tags)
        return frozenset(tag.value for tag in tags if tag.kind is TagPurpose.DOMAIN)

    @property
    def side(self) -> SourceEntries:
        """The source side, of text or of pictures."""
        return read_entries(self.source)

    @property
    def has_pictures(self) -> bool:
        """Whether the sources are pictures rather than text."""
        return not self.side.is_text

    @property
    def default_precision(self) -> str:
        return str(self.precision.get("default", FLOAT))

    @property
    def development_bleu(self) -> float | None:
        """BLEU (0-100) of greedy translations of the development set; None if training stopped before any."""
        score = self.development.get("bleu")
        return float(score["value"] or 0.0) if isinstance(score, dict) else None

    @property
    def development_gain(self) -> float | None:
        """The chrF (0-100) of the same translations minus that of random sentences; None if it was not measured."""
        score = self.development.get("chrf")
        value, chance = (score.get(name) for name in ("value", "chance")) if isinstance(score, dict) else (None, None)
        return None if value is None or chance is None else float(value) - float(chance)


class ModelDirectory(NamedTuple):
    """A model directory: its card as it was read, and the files that belong to it."""

    directory: Path
    card: ModelCard
    precision: str  # of the weights: FLOAT or INT8

    @classmethod
    def load(cls, directory: Path, precision: str | None = None) -> ModelDirectory:
        """Does what `open` does, and checks the tokenizers, the profile and the graphs of the precision.

        Raises DamagedError if one is missing or has changed.
        """
        model = cls.open(directory, precision)
        for name in model.files:
            check_file(directory / name, model.card.checksums.get(name, ""))
        return model

    @classmethod
    def open(cls, directory: Path, precision: str | None = None) -> ModelDirectory:
        """Reads the card; each other file is checked when it is read. `precision` None means the card's default.

        Raises NotFoundError if there is no model, DamagedError if its card is damaged, and OptionError for a precision
        that the model lacks.
        """
        card = read_card(directory)
        if precision is not None and not card.checksums.keys() >= set(name_graphs(precision)):
            raise OptionError(f"{directory}/ has no weights in {precision}", hint="leave out --precision")
        return cls(directory=directory, card=card, precision=precision or card.default_precision)

    def read(self, name: str) -> bytes:
        """Returns the content of a file of the model. Raises DamagedError if it is missing or has changed."""
        return read_checked(self.directory / name, self.card.checksums.get(name, ""))

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that are read to translate text, except the card."""
        graphs = name_graphs(self.precision)
        weights = [name for name in map(name_weights, graphs) if name in self.card.checksums]
        tokenizers = (self.card.source_tokenizer, self.card.target_tokenizer)
        return tuple(dict.fromkeys((*graphs, *weights, *tokenizers, PROFILE_NAME)))

    def load_source(self) -> Source:
        """Returns the source side as it was in training. Raises DamagedError for a tokenizer of another model."""
        size = self.card.vocabularies["source"]
        return self.card.side.open_source(lambda: self.load_tokenizer(self.card.source_tokenizer, size=size))

    def load_profile(self) -> CorpusProfile:
        """Returns the profile of the training text. Raises DamagedError."""
        path, content = self.directory / PROFILE_NAME, self.read(PROFILE_NAME)
        try:
            return CorpusProfile.parse(content)
        except (ValueError, KeyError, TypeError) as error:
            raise report_damage(path, f"cannot be read ({error})") from error

    def load_target_tokenizer(self) -> Tokenizer:
        return self.load_tokenizer(self.card.target_tokenizer, size=self.card.vocabularies["target"])

    def load_tokenizer(self, name: str, *, size: int) -> Tokenizer:
        """Returns a tokenizer. Raises DamagedError unless its vocabulary has the size expected by the network."""
        path = self.directory / name
        tokenizer = Tokenizer.parse(self.read(name), TokenizerSettings(**self.card.tokenizer), path)
        if tokenizer.vocabulary_size != size:
            raise report_damage(path, f"has {format_count(tokenizer.vocabulary_size, 'subword')}; {CARD} says {size:,}")
        return tokenizer


def name_graphs(precision: str) -> tuple[str, str]:
    """Returns the file names of the encoder's graph and the decoder's."""
    return (ENCODER, DECODER) if precision == FLOAT else (f"encoder.{precision}.onnx", f"decoder.{precision}.onnx")


def name_weights(graph: str) -> str:
    """Returns the name of a graph's weights file, which exists if the weights are too large for the graph."""
    return f"{graph}.data"


def read_card(directory: Path) -> ModelCard:
    """Reads `model.json`. Raises NotFoundError if it is missing, DamagedError if it is not a card of this format."""
    path = directory / CARD
    if not path.is_file():
        raise explain_missing_model(directory)
    try:
        values = parse_json(path.read_text(encoding="utf-8"))
        written = values.get("format") if isinstance(values, dict) else None
        if type(written) is int and written != FORMAT:
            hint = "train it again with this nmt"
            raise DamagedError(f"{path} has format {written}; this nmt reads format {FORMAT}", hint=hint)
        card: ModelCard = build(ModelCard, values)
        check_entries(card)
    except ValueError as error:  # a RecordError, or bytes that are not UTF-8
        raise report_damage(path, f"is damaged: {error}") from error
    return card


def find_models(languages: tuple[str, str]) -> Iterator[str]:
    """Yields the names of the available models for this source and target language."""
    return (name for name, model in open_models() if model.card.languages == languages)


def find_model_for(text: str) -> str | None:
    """Returns the name of the model that knows the words of a text best; None if there is no named model."""

    def count_known(model: ModelDirectory) -> float:
        with suppress(NmtError):
            source = model.load_profile().source
            return -1.0 if source is None else sum(map(log1p, source.count_words(text)))
        return -1.0

    return max(open_models(), key=lambda entry: count_known(entry[1]), default=(None,))[0]


def open_models() -> Iterator[tuple[str, ModelDirectory]]:
    """Yields the models that have a name and a valid card."""
    for name, directory in list_models().items():
        with suppress(NmtError):
            yield name, ModelDirectory.open(directory)


def check_entries(card: ModelCard) -> None:
    """Raises RecordError for values that make translation impossible."""
    read_entries(card.source)
    build(VocabularyEntries, card.vocabularies, "vocabularies")
    build(TokenizerSettings, card.tokenizer, "tokenizer")
    build(Literal["float", "int8"], card.precision.get("default", FLOAT), "precision.default")
    build(Share, card.training.get("placeholders", 0.0), "training.placeholders")
    score = card.development.get("bleu")
    if score is not None:
        values = build(Entries, score, "development.bleu")
        build(float, values.get("value"), "development.bleu.value")
    values = build(Entries, card.development.get("chrf") or {}, "development.chrf")
    for name in ("value", "chance"):
        build(float | None, values.get(name), f"development.chrf.{name}")


def check_file(path: Path, checksum: str | None, *, name: Path | None = None) -> None:
    """Raises DamagedError, with the file's `name` as the user knows it, if it is missing or its checksum differs.

    A checksum of None accepts any file.
    """
    name = name or path
    if not path.is_file():
        raise report_damage(name, "is missing")
    if checksum is not None and hash_file(path) != checksum:
        raise report_damage(name, f"is damaged: its checksum is not the one in {CARD}")


def read_checked(path: Path, checksum: str | None) -> bytes:
    """Returns the content of a file of a model. Raises DamagedError if it is missing or its checksum differs."""
    try:
        content = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise report_damage(path, "is missing") from error
    if checksum is not None and hashlib.sha256(content).hexdigest() != checksum:
        raise report_damage(path, f"is damaged: its checksum is not the one in {CARD}")
    return content


def report_damage(path: Path, problem: str) -> DamagedError:
    """Returns the error for a damaged file; `problem` continues a sentence that begins with its path."""
    return DamagedError(
        f"{path} {problem}", hint="copy the whole directory again, or train the model again with `nmt train --force`"
    )


@contextmanager
def publish_directory(directory: Path) -> Iterator[Path]:
    """Yields a staging directory inside `directory`; its files are moved into place when the block succeeds.

    The card is moved last: a process killed before that leaves either the old model, or one reported as damaged.
    """
    directory.mkdir(parents=True, exist_ok=True)
    staged = directory / f"{STAGED}{os.urandom(4).hex()}"
    try:  # a signal may come as soon as the directory is there
        staged.mkdir(mode=0o700)
        yield staged
        for path in sorted(staged.iterdir(), key=lambda path: path.name == CARD):
            os.replace(path, directory / path.name)
    except OSError as error:  # name the path that the user knows, not the one of the staging directory
        staged_name = Path(str(error.filename or staged)).name
        error.filename = str(directory if staged_name == staged.name else directory / staged_name)
        raise
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def write_card(directory: Path, card: ModelCard) -> None:
    """Writes `card` with the checksums of all other files in `directory`."""
    checksums = {path.name: hash_file(path) for path in sorted(directory.iterdir()) if path.name != CARD}
    write_json(directory / CARD, card._replace(checksums=checksums)._asdict())


# Checks whether two exported models fit together, in an ensemble or to check each other's translations.


def require_same_sides(first: ModelDirectory, other: ModelDirectory) -> None:
    """Raises OptionError unless both models read the same rows and write the same ids."""
    for side, identify in (("source", identify_source), ("target", identify_target)):
        if identify(first.card) != identify(other.card):
            raise OptionError(
                f"{other.directory}/ cannot be ensembled with {first.directory}/: it has different {side} subwords",
                hint="train both on the same prepared corpus, or prepare with --tokenizer-from the other model",
            )


def require_reverse(model: ModelDirectory, other: ModelDirectory, option: str = "check-with") -> None:
    """Raises OptionError unless `other`, named by `option`, translates text back into the language `model` reads."""
    languages = model.card.languages
    others = (other.card.target_language, other.card.source_language)
    is_text = not (model.card.has_pictures or other.card.has_pictures)
    if not is_text or not are_same_languages(languages, others):
        reverse = next(find_models((languages[1], languages[0])), None)
        raise OptionError(
            f"--{option} {other.directory} does not translate text from {languages[1]} to {languages[0]}",
            hint=f"name a model that does: --{option} {reverse}"
            if reverse and is_text
            else "name a model of the other direction: `nmt train --reverse` makes one from the same corpus",
        )


def identify_source(card: ModelCard) -> Any:
    """Returns a value shared by models that read the same rows: their subwords, or their kind of picture."""
    return card.side.find_identity((card.tokenizer, card.checksums[card.source_tokenizer]))


def identify_target(card: ModelCard) -> Any:
    """Returns a value shared by models that write the same ids: their target subwords."""
    return card.tokenizer, card.checksums[card.target_tokenizer]


# The installed models that a training run on a small corpus could start from.


class KnownStart(NamedTuple):
    """An installed model with weights, and the sides whose languages it shares with a corpus."""

    name: str  # as --init-from takes it
    sides: tuple[str, ...]  # of "source" and "target"
    difference: str = ""  # why its texts look unlike those of the corpus

    @property
    def reason(self) -> str:
        return f"the same {' and '.join(self.sides)} language{'s' if len(self.sides) > 1 else ''}"

    @property
    def doubt(self) -> str:
        """The reason to distrust scores after this start: a model of both languages may have learned the test set."""
        return "which may have seen the test sentences" if len(self.sides) > 1 else ""


UNLIKE = 0.5  # difference of the shares of texts that begin with a capital, from which two corpora look unlike


def list_starts(languages: tuple[str, str], profile: str | None = None) -> list[KnownStart]:
    """Returns the installed models that share a source or target language with a corpus, the best start first.

    `profile` is that of the corpus; the profiles of the models are compared with it.

    Those that share both languages come first, then those that share the source, as measured
    (benchmarks/log/small-corpora.md). A damaged model is left out.
    """
    starts = []
    for name, directory in list_models().items():
        with suppress(NmtError):
            model = ModelDirectory.open(directory)
            if model.card.has_pictures or not (directory / WEIGHTS).is_file():
                continue
            kinds = {"source": TagPurpose.SOURCE, "target": TagPurpose.TARGET}
            sides = tuple(
                side
                for (side, kind), code in zip(kinds.items(), languages, strict=True)
                if code not in UNNAMED
                and any(is_same_language(code, other) for other in model.card.list_languages(kind))
            )
            # A directory of the same name would be taken for it.
            path = str(directory) if Path(name).exists() else name
            difference = compare_capitals(model.load_profile(), profile, sides) if profile and sides else ""
            starts += [KnownStart(path, sides, difference)] if sides else []
    return sorted(starts, key=lambda start: (-len(start.sides), start.sides, start.name))


def compare_capitals(model: CorpusProfile, profile: str, sides: tuple[str, ...]) -> str:
    """Returns how differently the texts of a model and of a corpus begin, on the sides they share; empty if alike."""
    shares = (known.list_capitals(sides) for known in (model, CorpusProfile.parse(profile.encode())))
    unlike = [(theirs, ours) for theirs, ours in zip(*shares, strict=True) if abs(theirs - ours) >= UNLIKE]
    return (
        (f"because {unlike[0][0]:.0%} of its texts begin with a capital, but {unlike[0][1]:.0%} of yours do")
        if unlike
        else ""
    )


# The entries of a model's card about its source side, for text or pictures.
#
# `corpus.manifest` does the same for a prepared corpus.


@dataclass(frozen=True, kw_only=True)
class TextEntries:
    """A source side of text."""

    type: Literal["text"] = "text"
    limit: Annotated[int, Range(1, 10**9)] | None = None
    length_factor: Annotated[float, Range(0.01, 10**4)] = MIN_LENGTH_FACTOR

    is_text: ClassVar[bool] = True
    line: ClassVar[str] = "One sentence per line"

    def open_source(self, load_tokenizer: Callable[[], Tokenizer]) -> Source:
        """Returns the source side as it was in training."""
        return TextSource(load_tokenizer(), self.limit, self.length_factor)

    def find_identity(self, subwords: object) -> object:
        """Returns a value shared by models that read the same rows."""
        return subwords


@dataclass(frozen=True, kw_only=True)
class PictureEntries:
    """A source side of pictures."""

    type: Literal["features", "image"]
    depth: Annotated[int, Range(1, 10**6)]

    is_text: ClassVar[bool] = False
    line: ClassVar[str] = "One path per line"

    def open_source(self, load_tokenizer: Callable[[], Tokenizer]) -> Source:
        """Returns the source side as it was in training."""
        from nmt_cli.sources.images import GridSource  # text does not need it

        return GridSource(self.type, self.depth)

    def find_identity(self, subwords: object) -> object:
        """Returns a value shared by models that read the same rows: no subwords, but grids of one depth."""
        return self


SourceEntries = TextEntries | PictureEntries


def read_entries(values: Mapping[str, Any]) -> SourceEntries:
    """Reads the entries of a card about its source. Raises RecordError if they describe no valid source."""
    kind = TextEntries if values.get("type", "text") == "text" else PictureEntries
    entries: SourceEntries = build(kind, values, "source")
    return entries
