"""Evaluates one system for `nmt evaluate`: translates, scores, and warns.

For 1,000 test sentences and a model, `Evaluation.run` returns a report (BLEU 31.2 with its interval), what the
sentences are called "test sentences", and whether training is known to have seen none of them. A model trained on
another corpus adds a warning, and so do sentences that occur in its training data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.api.advice import describe_weakness
from nmt_cli.api.open_model import describe_foreign, open_translator
from nmt_cli.api.progress import StageReporter, count_stage
from nmt_cli.errors import DataError, OptionError
from nmt_cli.evaluation import report, texts
from nmt_cli.evaluation.analysis.warnings import find_learned, find_seen, warn_of_leak
from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.registry import Available
from nmt_cli.evaluation.metrics.score import Material, References
from nmt_cli.languages.codes import is_same_language
from nmt_cli.runtime.installed_models import CARD, PREFIX, is_being_trained, name_model
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.tags import replace_languages
from nmt_cli.translation.config import ContextOptions, TagOptions
from nmt_cli.translation.request import TranslationRequest

if TYPE_CHECKING:
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.translation.translator import LineTranslator

# Doubts about the scores of a model: it may have been trained on the sentences, or for other languages.


def list_doubts(
    request: EvaluationRequest, model: Path | str, card: ModelCard, corpus: PreparedCorpus | None
) -> list[str]:
    """Returns reasons why a model may have been trained on the sentences it is scored on."""
    is_split, name = not request.references, name_model(Path(model))
    warnings = list_other_languages(name, card, corpus) if corpus is not None and is_split else []
    sources = list_earlier_data(card, name)
    if is_split and (corpus is None or card.dataset_fingerprint != corpus.fingerprint):
        sources = [f"data other than {request.data}/", *(source for source in sources if source != EARLIER)]
    if sources:
        sentences = f"these {request.split} sentences" if is_split else "these sentences"
        warnings.append(f"{name} was trained on {' and on '.join(sources)}: {sentences} may be in its training data")
    if is_being_trained(Path(model)):
        warnings.append(f"{name}/ is being trained again: these are the scores of its previous model")
    return warnings


EARLIER = "earlier data"  # of an earlier stage of the same model


def list_other_languages(name: str, card: ModelCard, corpus: PreparedCorpus) -> list[str]:
    """Returns a message if the model's languages differ from the corpus's."""
    ours, theirs = card.languages, corpus.languages
    if {"source", "target"} & {*ours, *theirs}:
        return []
    if all(is_same_language(code, other) for code, other in zip(ours, theirs, strict=True)):
        return []
    return [f"{name} translates {ours[0]} -> {ours[1]}, but the data is {theirs[0]} -> {theirs[1]}"]


def list_earlier_data(card: ModelCard, name: str) -> list[str]:
    """Returns a model's training data other than its corpus: the data of its initial model, and replayed pairs.

    The initial model may be an earlier stage of the same `name`.
    """
    start, replayed = (card.training.get(key) for key in ("init_from", "replay"))
    if str(start).startswith(PREFIX):  # the name of a package
        start = str(start).removeprefix(PREFIX).replace("_", "-")
    before = [] if not start else [EARLIER] if start == name else [f"the data of {start}"]
    return [*before, *([str(replayed)] if replayed else [])]


def find_known(sources: Sequence[str], corpus: PreparedCorpus | None, models: Sequence[Path]) -> list[bool]:
    """Returns for each source whether it is in the training data of a corpus or of one of these models."""
    pairs = corpus.read_pairs("train") if corpus is not None and sources else []
    seen = find_seen(sources, {pair.source for pair in pairs})
    for model in models:
        seen = list(map(or_, seen, find_learned(sources, model)))
    return seen


SAMPLE = 200  # training sentences translated to measure memorisation


@dataclass(frozen=True)
class EvaluationOutcome:
    """The scores of one system."""

    report: report.Report
    what: str  # what the sentences are called in print
    unseen: bool  # whether it is known that no source was trained on


@dataclass
class Evaluation:
    """Evaluates one system: reads, translates, scores and warns."""

    names: Sequence[str]
    request: EvaluationRequest
    config: ScoreOptions
    progress: StageReporter

    def run(self) -> EvaluationOutcome:
        corpus = self.request.load_corpus()
        text, translator = self.request.load_text(corpus), None
        if self.request.hypothesis is None:
            translator = self.load_translator(self.request.model, corpus, self.request.rerank)
        note = self.choose_tokenizer(corpus, translator, text.references)
        if translator is not None:
            evaluation = self.translate(text, translator, self.request.model)
        else:
            self.progress("scoring", 0, 0)
            evaluation = report.score_material(self.names, self.request.read_material(text), self.config)
        if note and any(name.startswith("bleu") for name in self.names):
            evaluation = evaluation.add_warnings(note)
        languages = None if translator is None else self.find_languages(translator)
        evaluation = evaluation.add_warnings(*texts.list_language_warnings(text.languages, languages))
        return self.add_warnings(evaluation, corpus, translator)

    def choose_tokenizer(
        self, corpus: PreparedCorpus | None, translator: LineTranslator | None, references: References
    ) -> str:
        """Sets the target language's tokenizer for BLEU, and returns a note if it is not the usual one."""
        from nmt_cli.evaluation.metrics import sacrebleu_metrics

        language = "" if translator is None else self.find_languages(translator)[1]
        if not language and corpus is not None and not self.request.references:
            language = corpus.target_language
        self.config, note = sacrebleu_metrics.choose_for_text(self.config, language, references)
        return note

    def find_languages(self, translator: LineTranslator) -> tuple[str, str]:
        """Returns the languages of a model, or those named by the requested tags."""
        from nmt_cli.translation.known_tags import find_tags  # SentencePiece, which `nmt --help` lacks

        tags = find_tags(self.request.tags.names, translator.card, self.request.model)
        return replace_languages(translator.card.languages, tags)

    def load_translator(self, model: Path, corpus: PreparedCorpus | None, rerank: Path | None = None) -> LineTranslator:
        """Loads a model, with the pictures of the corpus if it has any, and the model that ranks its hypotheses."""
        translator = open_translator(TranslationRequest(model, precision=self.request.precision, rerank=rerank))
        return translator if corpus is None else translator.with_stored_pictures(corpus.load_pictures())

    def translate(
        self, text: texts.ParallelText, translator: LineTranslator, model: Path, stage: str = "translating"
    ) -> report.Report:
        text = self.request.ask_of(model, translator.card, text)
        progress = count_stage(self.progress, stage, len(text.lines))
        made = report.score_translations(self.names, text, translator, self.request.search, progress, self.config)
        pairs = [*zip(text.lines, (references[0] for references in text.references), strict=True)]
        languages, profile = self.find_languages(translator), translator.profile
        if profile is not None and not any(text.tags) and profile.are_turned(pairs):
            name, direction = name_model(model), " -> ".join(languages)
            turned = (
                "the text runs in the opposite direction: its references are in the source language of "
                f"{name} ({direction})"
            )
            return made.add_warnings(turned)
        return made.add_warnings(*describe_foreign("the text", pairs, languages, profile))

    def add_warnings(
        self, evaluation: report.Report, corpus: PreparedCorpus | None, translator: LineTranslator | None
    ) -> EvaluationOutcome:
        """Adds warnings based on the training data and, if requested, the profile."""
        is_split, file = not self.request.references, self.request.hypothesis or self.request.source
        name = "standard input" if file == texts.STDIN else str(file)
        what = f"{self.request.split} sentences" if is_split else f"sentences of {name}"
        models = [] if translator is None else [self.request.model]
        seen = find_known(evaluation.material.sources or (), corpus, models)
        same = bool(
            translator is not None and corpus is not None and translator.card.dataset_fingerprint == corpus.fingerprint
        )
        is_vouched = False
        if translator is not None:
            evaluation, is_vouched = self.add_doubts(evaluation, self.request.model, translator.card, corpus)
        evaluation = evaluation.add_warnings(*warn_of_leak(seen, f"{self.request.data}/"))
        if self.request.is_profiled:
            evaluation = self.add_profile(evaluation, corpus, translator if same and is_split else None)
        return EvaluationOutcome(evaluation, what, unseen=is_vouched and not any(seen))

    def add_doubts(
        self, evaluation: report.Report, model: Path, card: ModelCard, corpus: PreparedCorpus | None
    ) -> tuple[report.Report, bool]:
        """Adds doubts about a model, and returns whether it is known to have been trained on the corpus alone."""
        doubts = list_doubts(self.request, model, card, corpus)
        is_same = corpus is not None and card.dataset_fingerprint == corpus.fingerprint
        weaknesses = describe_weakness(card.development_bleu, card.development_gain)
        return evaluation.add_warnings(*doubts, *weaknesses), is_same and not doubts

    def add_profile(
        self,
        evaluation: report.Report,
        corpus: PreparedCorpus | None,
        translator: LineTranslator | None,
    ) -> report.Report:
        """Adds a profile: the groups of sentences that translate poorly, by the words of sources that are text."""
        from nmt_cli.evaluation.analysis.profile import TrainingSources, build_profile, compare_memory

        self.progress("looking for weak points", 0, 0)
        material, training, language = evaluation.material, None, ""
        if corpus is not None:
            language, sources = corpus.target_language, [pair.source for pair in corpus.read_pairs("train")]
            trained = corpus.select_texts(sources if material.sources else [])
            material = dataclasses.replace(material, sources=corpus.select_texts(material.sources or ()) or None)
            training = TrainingSources.from_sources(trained) if trained else None
        groups = build_profile(material, training, language, self.config)
        if translator is not None and corpus is not None:
            memory = compare_memory(self.translate_training_sample(corpus, translator), material, self.config)
            groups = dataclasses.replace(groups, sections=(*groups.sections, memory))
        return dataclasses.replace(evaluation, profile=groups)

    def translate_training_sample(self, corpus: PreparedCorpus, translator: LineTranslator) -> Material:
        """Translates a sample of training sentences, spread evenly over the corpus."""
        sentences = corpus.read_references("train")
        sample = sentences[:: max(1, len(sentences) // SAMPLE)][:SAMPLE]
        text = texts.ParallelText(
            tuple(sentence.source for sentence in sample),
            tuple(sentence.references for sentence in sample),
            tags=tuple(sentence.tags for sentence in sample),
        )
        progress = count_stage(self.progress, "translating training sentences", len(sample))
        return report.translate_text((), text, translator, self.request.search, progress).material


# The request of `nmt evaluate`: the systems, and the sentences of files or of a prepared corpus.
#
# Reads; translates and scores nothing.


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """The systems and metrics, and what to score them on: files or, if none is named, a split of `data`."""

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
            raise OptionError("standard input (-) can be read only once", hint="give the others as files")
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
        """The first file of translations; None if a model translates."""
        return next(iter(self.hypotheses), None)

    @property
    def systems(self) -> tuple[Path, ...]:
        """The systems; those to compare with come last."""
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
        """The names of the systems: models as `--model` takes them, translations by their files."""
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
        """The inputs by option, without the systems, for `--json`."""
        return {name: value for name, value in self.option_values.items() if name not in ("model", "hypothesis")}

    @property
    def sentence_noun(self) -> str:
        """What the sentences are called in the output."""
        if not self.references:
            return f"{self.split} sentences"
        return f"sentences of {self.source or self.references[0]}"

    def load_corpus(self) -> PreparedCorpus | None:
        """Loads the prepared corpus; returns None if files are scored and no corpus holds the training data."""
        from nmt_cli.corpus.dataset import PreparedCorpus  # numpy, which `nmt --help` does not need
        from nmt_cli.corpus.manifest import MANIFEST_NAME

        dispensable = self.references and not self.is_data_named
        if dispensable and not (self.data / MANIFEST_NAME).is_file():
            return None
        corpus = PreparedCorpus.load(self.data)
        if self.hypothesis is not None:
            return corpus
        corpus = orient_corpus(corpus, self.model)
        is_other = dispensable and is_trained_elsewhere(self.model, corpus)  # which says nothing about the model
        return None if is_other else corpus

    def load_text(self, corpus: PreparedCorpus | None) -> texts.ParallelText:
        lines = self.hypothesis or self.source
        if lines is not None:
            return texts.read_files(lines, self.references, "hypothesis" if self.hypothesis else "source")
        if corpus is None:
            raise OptionError("there is nothing to score")
        return texts.read_split(corpus, self.split)

    def ask_of(self, model: Path, card: ModelCard, text: texts.ParallelText) -> texts.ParallelText:
        """Returns the text with the requested tags before each line, and with or without context as requested.

        The lines of a file count as one text. Raises OptionError for tags or context that the model does not know.
        """
        from nmt_cli.translation.known_tags import find_scope, find_tags  # SentencePiece, which `nmt --help` lacks

        tags = find_tags(self.tags.names, card, model)
        text = replace(text, tags=(tags,) * len(text.lines) if tags else text.tags)
        if self.before.context is None:
            return text
        if find_scope(self.before.context, card, model) == "nothing":
            return replace(text, text_sizes=())
        if not (text.text_sizes or self.references):
            hint = "prepare the corpus with --context 1, or leave --context out here"
            raise OptionError(f"the {self.split} sentences of {self.data}/ are not in document order", hint=hint)
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


def is_trained_elsewhere(model: Path, corpus: PreparedCorpus) -> bool:
    """Whether a model was trained on a corpus other than this one."""
    from nmt_cli.runtime.model_directory import read_card

    return (model / CARD).is_file() and read_card(model).dataset_fingerprint != corpus.fingerprint


def read_rival(path: Path, text: texts.ParallelText) -> list[str] | None:
    """Reads the hypotheses of a system; returns None if a model will generate them.

    Raises DataError if there are more or fewer hypotheses than references.
    """
    if path.is_dir():
        if not (path / CARD).is_file():
            raise DataError(
                f"{path}/ is not a model: it has no {CARD}", hint="give --against a model, or a file of translations"
            )
        return None
    lines = texts.read_lines_of(path, "hypothesis")
    texts.check_count(path, len(lines), "the references", len(text.references))
    return lines
