"""The request of `nmt evaluate`: the systems, and the sentences of files or of a prepared corpus.

Reads; translates and scores nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.errors import DataError, OptionError
from nmt_cli.evaluation import texts
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.registry import Available
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.runtime.installed_models import CARD, name_model
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.config import ContextOptions, TagOptions

if TYPE_CHECKING:
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.runtime.model_directory import ModelCard


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """The systems and metrics to score, on files or, if no file is named, on a split of `data`."""

    metrics: tuple[str, ...] = ()  # none: all
    scores: ScoreOptions
    search: SearchOptions
    tags: TagOptions = field(default_factory=TagOptions)  # of files; each pair of a split has its own
    before: ContextOptions = field(default_factory=ContextOptions)
    data: Path
    is_data_named: bool = False  # explicitly, so that it must exist
    models: tuple[Path, ...]
    hypotheses: tuple[Path, ...] = ()  # translations, in place of the models
    against: tuple[Path, ...] = ()  # further translations or models
    source: Path | None = None
    references: tuple[Path, ...] = ()
    split: str = "test"  # or "dev"
    precision: str | None = None  # of the weights of every model: float or int8; None: as its card says
    rerank: Path | None = None  # the model of the other direction that ranks hypotheses
    is_profiled: bool = False
    with_runs: bool = False  # whether each run of a model trained with --runs is scored, too
    settings_from: Mapping[str, str] = field(
        default_factory=dict
    )  # the variables and files of options that nobody typed

    def __post_init__(self) -> None:
        if [*self.paths].count(Path("-")) > 1:
            raise OptionError("- is standard input, which can be read once", hint="give the others as files")
        rival = next((path for path in self.against if path.is_dir()), None)
        if rival and self.hypothesis and not self.source:
            raise OptionError(
                f"--against {rival}/ is a model, which needs the sentences to translate",
                hint="name them with --source, or give --against a file of translations",
            )

    @property
    def model(self) -> Path:
        """The first model."""
        return self.models[0]

    @property
    def hypothesis(self) -> Path | None:
        """The first translations; None if a model makes them."""
        return next(iter(self.hypotheses), None)

    @property
    def systems(self) -> tuple[Path, ...]:
        """The systems; those compared with come last."""
        return (*(self.hypotheses or self.models), *self.against)

    @property
    def paths(self) -> list[Path]:
        """All files read, except the prepared corpus."""
        return [path for path in (self.source, *self.references, *self.systems) if path is not None]

    @property
    def available(self) -> Available:
        """The resources available to metrics for every system."""
        are_models = all(path.is_dir() for path in self.against)
        return Available(
            model=self.hypothesis is None and are_models, sources=self.hypothesis is None or self.source is not None
        )

    @property
    def names(self) -> list[str]:
        """The names of the systems: of models what `--model` takes, else their files."""
        first, *others = map(name_model, self.systems)
        return [first if self.rerank is None else f"{first} reranked by {name_model(self.rerank)}", *others]

    @property
    def option_values(self) -> dict[str, Any]:
        """The inputs by option, and where options that nobody typed come from, for `--json`."""
        return self.input_values | ({"settings_from": dict(self.settings_from)} if self.settings_from else {})

    @property
    def input_values(self) -> dict[str, Any]:
        """The inputs by option."""
        references = [str(path) for path in self.references]
        source = {"source": str(self.source)} if self.source else {}
        precision = {"precision": self.precision} if self.precision else {}
        rerank = {"rerank": str(self.rerank)} if self.rerank else {}
        if self.hypothesis:
            return {"hypothesis": str(self.hypothesis), **source, "reference": references, **precision}
        if self.source:
            asked = {"tags": " ".join(self.tags.names)} if self.tags.names else {}
            return {**source, "reference": references, "model": str(self.model), **asked, **rerank, **precision}
        return {"split": self.split, "data": str(self.data), "model": str(self.model), **rerank, **precision}

    @property
    def task_values(self) -> dict[str, Any]:
        """The sentences by option, without the systems, for `--json`."""
        return {name: value for name, value in self.option_values.items() if name not in ("model", "hypothesis")}

    @property
    def sentence_noun(self) -> str:
        """The name of the sentences in print."""
        if not self.references:
            return f"{self.split} sentences"
        return f"sentences of {self.source or self.references[0]}"

    def load_corpus(self) -> PreparedCorpus | None:
        """Loads the prepared corpus; None if files are scored and no corpus shows the training data."""
        from nmt_cli.corpus.dataset import PreparedCorpus  # numpy, which `nmt --help` does not need
        from nmt_cli.corpus.manifest import MANIFEST_NAME

        dispensable = self.references and not self.is_data_named
        if dispensable and not (self.data / MANIFEST_NAME).is_file():
            return None
        corpus = PreparedCorpus.load(self.data)
        return corpus if self.hypothesis is not None else orient_corpus(corpus, self.model)

    def load_text(self, corpus: PreparedCorpus | None) -> texts.ParallelText:
        lines = self.hypothesis or self.source
        if lines is not None:
            return texts.read_files(lines, self.references, "hypothesis" if self.hypothesis else "source")
        if corpus is None:
            raise OptionError("there is nothing to score")
        return texts.read_split(corpus, self.split)

    def ask_of(self, model: Path, card: ModelCard, text: texts.ParallelText) -> texts.ParallelText:
        """Returns a text with the requested tags before each line, and with or without context as requested.

        The lines of files are one text. Raises OptionError for tags or context that the model does not know.
        """
        from nmt_cli.translation.known_tags import find_scope, find_tags  # SentencePiece, which `nmt --help` lacks

        tags = find_tags(self.tags.names, card, model)
        text = replace(text, tags=(tags,) * len(text.lines) if tags else text.tags)
        if self.before.context is None:
            return text
        if find_scope(self.before.context, card, model) == "nothing":
            return replace(text, text_sizes=())
        if not (text.text_sizes or self.references):
            hint = "prepare the corpus with --context 1, or leave it out"
            raise OptionError(f"the {self.split} sentences of {self.data}/ are in no order", hint=hint)
        return replace(text, text_sizes=text.text_sizes or (len(text.lines),))

    def read_material(self, text: texts.ParallelText) -> Material:
        if self.source is None:
            return Material(text.lines, text.references)
        sources = texts.read_lines_of(self.source, "source")
        texts.check_count(str(self.hypothesis), len(text.lines), self.source, len(sources))
        return Material(text.lines, text.references, sources)


def orient_corpus(corpus: PreparedCorpus, model: Path) -> PreparedCorpus:
    """Returns the corpus in the direction in which the model translates it."""
    from nmt_cli.corpus.dataset import reverse_corpus
    from nmt_cli.runtime.model_directory import read_card

    if not (model / CARD).is_file() or read_card(model).dataset_fingerprint != corpus.manifest.reversed_fingerprint:
        return corpus
    return reverse_corpus(corpus)


def name_input(path: Path | None) -> str:
    return "standard input" if path == texts.STDIN else str(path)


def read_rival(path: Path, text: texts.ParallelText) -> list[str] | None:
    """Reads the hypotheses of a system; None if a model will make them.

    Raises DataError if there are more or fewer hypotheses than references.
    """
    if path.is_dir():
        if not (path / CARD).is_file():
            raise DataError(
                f"{path}/ is not a model: it has no {CARD}", hint="--against takes a model or a file of lines"
            )
        return None
    lines = texts.read_lines_of(path, "hypothesis")
    texts.check_count(path, len(lines), "the references", len(text.references))
    return lines
