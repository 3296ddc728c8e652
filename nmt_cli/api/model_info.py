"""Describes a model without loading its network, for `nmt translate --info`, `nmt.info` and `nmt.installed`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt_cli.api.options.interface import check_call
from nmt_cli.api.options.options import PathLike

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard

PRECISIONS = ("float", "int8")


class LanguageInfo(NamedTuple):
    """A language of a model: the code that it records, the BCP 47 tag and the English name."""

    code: str
    tag: str
    name: str


class PackageInfo(NamedTuple):
    """The version, summary and licence of a model's package."""

    version: str = ""
    summary: str = ""
    licence: str = ""


class ScoreInfo(NamedTuple):
    """A score of a model; `half_width` is half the width of its 95 % confidence interval, if one was computed."""

    value: float
    half_width: float | None
    signature: str


@dataclass(frozen=True)
class ModelInfo:
    """A model: its languages, network, sizes, training, scores and licence."""

    name: str  # what `--model` takes
    directory: Path
    source: LanguageInfo
    target: LanguageInfo
    network: str  # in a few words
    subwords: Mapping[str, int | str]  # their kind, and how many each side has
    bytes: Mapping[str, int]  # of the graphs in each precision, and of the whole directory
    precision: str  # the default one
    date: str  # of its training, as YYYY-MM-DD; empty if unknown
    epochs: int
    data: str  # the fingerprint of its corpus
    synthetic: Mapping[str, Any]
    parent: Mapping[str, Any]
    scores: Mapping[str, Mapping[str, ScoreInfo]]  # by set ("dev" is the development set) and metric
    has_confidence: bool
    context: int  # sentences before that it reads in documents
    tags: Mapping[str, int]  # that it knows, and the training pairs of each
    versions: Mapping[str, str]  # of the programs that trained it
    package: PackageInfo

    def __repr__(self) -> str:
        return f"ModelInfo({self.name!r}, {self.source.code} -> {self.target.code}, {self.network!r})"

    def to_mapping(self) -> dict[str, Any]:
        """Returns the information as `--json` prints it."""
        scores = {name: {key: score._asdict() for key, score in group.items()} for name, group in self.scores.items()}
        languages = {"source": self.source._asdict(), "target": self.target._asdict()}
        rest = {"directory": str(self.directory), "package": self.package._asdict(), "scores": scores}
        return asdict(self) | languages | rest


@check_call()
def describe_model(model: PathLike = "model") -> ModelInfo:
    """Returns the facts about a model: languages, network, sizes, training, scores, licence.

        nmt.info("eng-deu").scores

    `model` is a directory, or the name of an installed model. Raises NotFoundError or DamagedError.
    """
    from nmt_cli.runtime.installed_models import find_model

    return read_info(find_model(Path(model)))


@check_call()
def describe_installed() -> dict[str, ModelInfo]:
    """Returns the installed models by name, in order. Raises DamagedError.

    list(nmt.installed())
    """
    from nmt_cli.runtime.installed_models import list_models

    return {name: read_info(directory) for name, directory in list_models().items()}


def read_info(directory: Path) -> ModelInfo:
    """Returns the information on the model in a directory."""
    from nmt_cli.model.config import ModelConfig, describe_network
    from nmt_cli.runtime.installed_models import name_model
    from nmt_cli.runtime.model_directory import read_card  # SentencePiece, which `nmt --help` does not need

    card = read_card(directory)
    sizes = {side: card.vocabularies[side] for side in ("source", "target")}
    return ModelInfo(
        name=name_model(directory),
        directory=directory,
        source=describe_language(card.source_language),
        target=describe_language(card.target_language),
        network=describe_network(ModelConfig.from_options(**card.network)),
        subwords={"kind": card.tokenizer["kind"], **sizes},
        bytes=measure_sizes(directory),
        precision=card.default_precision,
        date=card.date,
        epochs=card.epochs,
        data=card.dataset_fingerprint,
        synthetic=card.synthetic,
        parent=card.parent,
        scores=collect_scores(card),
        has_confidence="features" in card.confidence,
        context=card.context,
        tags=card.tags,
        versions=card.versions,
        package=read_package(directory),
    )


def describe_language(code: str) -> LanguageInfo:
    from nmt_cli.languages.codes import find_language, find_language_tag

    return LanguageInfo(code, find_language_tag(code), find_language(code).name)


def measure_sizes(directory: Path) -> dict[str, int]:
    """Returns the sizes in bytes of the graphs in each available precision, and of the whole directory."""
    from nmt_cli.runtime.model_directory import name_graphs, name_weights

    sizes = {path.name: path.stat().st_size for path in directory.iterdir() if path.is_file()}
    graphs = {precision: name_graphs(precision) for precision in PRECISIONS}
    return {
        **{
            precision: sum(sizes.get(file, 0) for name in names for file in (name, name_weights(name)))
            for precision, names in graphs.items()
            if sizes.keys() >= {*names}
        },
        "directory": sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()),
    }


def collect_scores(card: ModelCard) -> dict[str, dict[str, ScoreInfo]]:
    """Returns the scores on the development set, and on each test set of a package."""
    sets = {"dev": card.development, **card.scores}
    return {
        name: {
            metric: ScoreInfo(float(score["value"]), score.get("half_width"), str(score.get("signature", "")))
            for metric, score in scores.items()
            if isinstance(score, Mapping) and score.get("value") is not None
        }
        for name, scores in sets.items()
    }


def read_package(directory: Path) -> PackageInfo:
    """Returns the metadata of the package that contains a model; empty for a model outside a package."""
    package = directory.parent
    if not package.name.startswith("nmt_model_"):
        return PackageInfo()
    project = package.parent / "pyproject.toml"
    if project.is_file():  # in a checkout
        import tomllib  # only this needs it

        values = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
        return PackageInfo(values.get("version", ""), values.get("description", ""), values.get("license", ""))
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        entries = metadata(package.name)
    except PackageNotFoundError:
        return PackageInfo()
    return PackageInfo(
        *(entries[name] if name in entries else "" for name in ("Version", "Summary", "License-Expression"))
    )
