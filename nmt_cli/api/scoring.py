"""The work of `nmt evaluate`: reads, translates, scores. `cli/evaluate.py` has the options and the output.

Must stay light: it is imported for `nmt --help`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.api.open_model import add_stored_pictures, open_translator
from nmt_cli.api.progress import StageReporter, count_stage, ignore_progress
from nmt_cli.errors import DataError, OptionError
from nmt_cli.evaluation import report, texts
from nmt_cli.evaluation.analysis.warnings import find_learned, find_seen, warn_of_leak
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.registry import Available
from nmt_cli.evaluation.metrics.score import References
from nmt_cli.languages.codes import is_same_language
from nmt_cli.runtime.installed_models import CARD
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.config import ModelRequest

if TYPE_CHECKING:
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.translation.translator import Translator

SAMPLE = 200  # training sentences translated to measure memorisation


@dataclass(frozen=True)
class EvaluationInputs:
    """What to score: files, or (where none is named) a split of `data`."""

    data: Path
    model: Path
    source: Path | None = None
    references: tuple[Path, ...] = ()
    hypothesis: Path | None = None
    rival: Path | None = None  # other hypotheses, or another model directory, to compare with
    split: str = "test"  # or "dev"
    data_named: bool = False  # whether `data` was typed, so that it must exist
    precision: str | None = None  # of the weights of every model: float or int8; None: as its card says

    def __post_init__(self) -> None:
        if [self.source, self.hypothesis, self.rival, *self.references].count(Path("-")) > 1:
            raise OptionError("- is standard input, which can be read once", hint="give the others as files")
        if self.rival and self.rival.is_dir() and self.hypothesis and not self.source:
            raise OptionError(
                f"--against {self.rival}/ is a model, which needs the sentences to translate",
                hint="name them with --source, or give --against a file of translations",
            )

    @property
    def available(self) -> Available:
        return Available(model=self.hypothesis is None, sources=self.hypothesis is None or self.source is not None)

    @property
    def option_values(self) -> dict[str, Any]:
        """The inputs by their options, for `--json`."""
        references = [str(path) for path in self.references]
        source = {"source": str(self.source)} if self.source else {}
        precision = {"precision": self.precision} if self.precision else {}
        if self.hypothesis:
            return {"hypothesis": str(self.hypothesis), **source, "reference": references, **precision}
        if self.source:
            return {**source, "reference": references, "model": str(self.model), **precision}
        return {"split": self.split, "data": str(self.data), "model": str(self.model), **precision}

    @property
    def task_values(self) -> dict[str, Any]:
        """The sentences by their options, without the systems, for `--json`."""
        return {name: value for name, value in self.option_values.items() if name not in ("model", "hypothesis")}

    @property
    def sentence_noun(self) -> str:
        """What the sentences are called in print."""
        if not self.references:
            return f"{self.split} sentences"
        return f"sentences of {self.source or self.references[0]}"


@dataclass(frozen=True)
class Outcome:
    report: report.Report
    what: str  # what the sentences are called in print
    unseen: bool  # whether it is known that no source was trained on


@dataclass
class Evaluation:
    """One evaluation: reads, translates, scores, compares, warns."""

    names: Sequence[str]
    inputs: EvaluationInputs
    search: SearchConfig
    config: ScoreConfig
    profiled: bool = False  # whether the profile is wanted
    progress: StageReporter = ignore_progress

    def run(self) -> Outcome:
        corpus = self.load_corpus()
        text, translator = self.load_text(corpus), None
        rival = read_rival(self.inputs.rival, text)  # before anything is translated
        if self.inputs.hypothesis is None:
            translator = self.load_translator(self.inputs.model, corpus)
        note = self.choose_tokenizer(corpus, translator, text.references)
        if translator is not None:
            evaluation = self.translate(text, translator)
        else:
            self.progress("scoring", 0, 0)
            evaluation = report.score_material(self.names, self.read_material(text), self.config)
            evaluation = dataclasses.replace(evaluation, system=str(self.inputs.hypothesis))
        if self.inputs.rival:
            evaluation = self.compare(evaluation, text, rival)
        if note and any(name.startswith("bleu") for name in self.names):
            evaluation = evaluation.add_warnings(note)
        languages = None if translator is None else (translator.card.source_language, translator.card.target_language)
        evaluation = evaluation.add_warnings(*texts.list_language_warnings(text.languages, languages))
        return self.add_warnings(evaluation, corpus, translator)

    def choose_tokenizer(
        self, corpus: PreparedCorpus | None, translator: Translator | None, references: References
    ) -> str:
        """Sets the tokenizer for BLEU that the target language wants, and returns a note if that is not the usual."""
        from nmt_cli.evaluation.metrics import bleu_tokenizers

        language = "" if translator is None else translator.card.target_language
        if not language and corpus is not None and not self.inputs.references:
            language = corpus.target_language
        self.config, note = bleu_tokenizers.choose_for_text(self.config, language, references)
        return note

    def load_corpus(self) -> PreparedCorpus | None:
        """Loads the prepared corpus; None where files are scored and no corpus tells what was trained on."""
        from nmt_cli.corpus.dataset import PreparedCorpus  # numpy, which `nmt --help` does not need
        from nmt_cli.corpus.manifest import MANIFEST_NAME

        dispensable = self.inputs.references and not self.inputs.data_named
        if dispensable and not (self.inputs.data / MANIFEST_NAME).is_file():
            return None
        corpus = PreparedCorpus.load(self.inputs.data)
        return corpus if self.inputs.hypothesis is not None else orient_corpus(corpus, self.inputs.model)

    def load_translator(self, model: Path, corpus: PreparedCorpus | None) -> Translator:
        """Loads a model, with the pictures of the corpus if it has any."""
        translator = open_translator(ModelRequest(model, precision=self.inputs.precision))
        return translator if corpus is None else add_stored_pictures(translator, corpus)

    def load_text(self, corpus: PreparedCorpus | None) -> texts.ParallelText:
        lines = self.inputs.hypothesis or self.inputs.source
        if lines is not None:
            return texts.read_files(lines, self.inputs.references, "hypothesis" if self.inputs.hypothesis else "source")
        if corpus is None:
            raise OptionError("there is nothing to score")
        return texts.read_split(corpus, self.inputs.split)

    def translate(self, text: texts.ParallelText, translator: Translator) -> report.Report:
        progress = count_stage(self.progress, "translating", len(text.lines))
        made = report.score_translations(self.names, text, translator, self.search, progress, self.config)
        return dataclasses.replace(made, system=str(self.inputs.model))

    def read_material(self, text: texts.ParallelText) -> Material:
        if self.inputs.source is None:
            return Material(text.lines, text.references)
        sources = texts.read_lines_of(self.inputs.source, "source")
        texts.check_count(str(self.inputs.hypothesis), len(text.lines), self.inputs.source, len(sources))
        return Material(text.lines, text.references, sources)

    def compare(
        self, evaluation: report.Report, text: texts.ParallelText, rival: Sequence[str] | None
    ) -> report.Report:
        """Compares with the other hypotheses, or with the other model's translations of the sources."""
        name = str(self.inputs.rival)
        sources = evaluation.material.sources
        warnings: list[str] = []
        if rival is not None:
            material = Material(rival, text.references, sources)
        else:
            corpus = self.load_corpus()
            other = self.load_translator(Path(name), corpus)
            lines = texts.ParallelText(tuple(sources or ()), text.references)
            progress = count_stage(self.progress, f"translating with {name}", len(lines.lines))
            made = report.translate_text(self.names, lines, other, self.search, progress)
            material = made.material
            warnings = [
                *self.list_training_warnings(name, other.card, corpus),
                *(f"{name}: {warning}" for warning in made.warnings),
            ]
        self.progress("comparing", 0, 0)
        return report.compare_report(evaluation, name, material, self.config).add_warnings(*warnings)

    def add_warnings(
        self, evaluation: report.Report, corpus: PreparedCorpus | None, translator: Translator | None
    ) -> Outcome:
        """Adds warnings from what is known of the training data, and the profile where it is asked for."""
        is_split = not self.inputs.references
        what = (
            f"{self.inputs.split} sentences"
            if is_split
            else f"sentences of {name_input(self.inputs.hypothesis or self.inputs.source)}"
        )
        pairs = corpus.read_pairs("train") if corpus is not None and evaluation.material.sources else []
        sources = evaluation.material.sources or ()
        seen = find_seen(sources, {pair.source for pair in pairs})
        if translator is not None:
            learned = find_learned(sources, self.inputs.model)
            seen = list(map(or_, seen, learned))
        same = bool(
            translator is not None and corpus is not None and translator.card.dataset_fingerprint == corpus.fingerprint
        )
        doubts = [] if translator is None else self.list_training_warnings(self.inputs.model, translator.card, corpus)
        evaluation = evaluation.add_warnings(*doubts, *warn_of_leak(seen, f"{self.inputs.data}/"))
        if self.profiled:
            profiled, trained = evaluation, [pair.source for pair in pairs]
            if corpus is not None and corpus.has_pictures:  # the names of their files are no words to group by
                profiled, trained = dataclasses.replace(evaluation, material=drop_sources(evaluation.material)), []
            profiled = self.add_profile(profiled, trained, corpus, translator if same and is_split else None)
            evaluation = dataclasses.replace(evaluation, profile=profiled.profile)
        return Outcome(evaluation, what, unseen=same and not doubts and not any(seen))

    def list_training_warnings(self, model: Path | str, card: ModelCard, corpus: PreparedCorpus | None) -> list[str]:
        """Returns why a model may have been trained on the sentences that it is scored on."""
        is_split = not self.inputs.references
        warnings = list_other_languages(model, card, corpus) if corpus is not None and is_split else []
        if is_split and (corpus is None or card.dataset_fingerprint != corpus.fingerprint):
            warnings.append(
                f"{model}/ was trained on other data than {self.inputs.data}/: "
                f"these {self.inputs.split} sentences may be in its training data"
            )
        earlier = list_earlier_data(card)
        if earlier:
            warnings.append(
                f"{model}/ was trained on {' and '.join(earlier)} too: these sentences may be in that training data"
            )
        return warnings

    def add_profile(
        self,
        evaluation: report.Report,
        sources: Sequence[str],
        corpus: PreparedCorpus | None,
        translator: Translator | None,
    ) -> report.Report:
        from nmt_cli.evaluation.analysis.profile import build_profile, compare_memory
        from nmt_cli.evaluation.analysis.sentence_groups import TrainingSources

        language = corpus.target_language if corpus is not None else ""
        self.progress("looking where it fails", 0, 0)
        groups = build_profile(
            evaluation.material, TrainingSources.from_sources(sources) if sources else None, language, self.config
        )
        if translator is not None and corpus is not None:
            trained = self.translate_training_sample(corpus, translator)
            groups = dataclasses.replace(
                groups, sections=(*groups.sections, compare_memory(trained, evaluation.material, self.config))
            )
        return dataclasses.replace(evaluation, profile=groups)

    def translate_training_sample(self, corpus: PreparedCorpus, translator: Translator) -> Material:
        """Translates a sample of training sentences, evenly spread over the corpus."""
        sentences = corpus.read_references("train")
        chosen = sentences[:: max(1, len(sentences) // SAMPLE)][:SAMPLE]
        text = texts.ParallelText(
            tuple(sentence.source for sentence in chosen), tuple(sentence.references for sentence in chosen)
        )
        progress = count_stage(self.progress, "translating training sentences", len(chosen))
        return report.translate_text((), text, translator, self.search, progress).material


def list_other_languages(model: Path | str, card: ModelCard, corpus: PreparedCorpus) -> list[str]:
    """Returns a message if the model translates between other languages than those of the corpus."""
    ours, theirs = (card.source_language, card.target_language), (corpus.source_language, corpus.target_language)
    if {"source", "target"} & {*ours, *theirs} or corpus.has_pictures:
        return []
    if all(is_same_language(code, other) for code, other in zip(ours, theirs, strict=True)):
        return []
    return [f"{model}/ translates {ours[0]} -> {ours[1]}, but the data is {theirs[0]} -> {theirs[1]}"]


def orient_corpus(corpus: PreparedCorpus, model: Path) -> PreparedCorpus:
    """Returns the corpus in the direction in which the model translates it."""
    from nmt_cli.corpus.reversed import reverse_corpus
    from nmt_cli.runtime.model_directory import read_card

    if corpus.has_pictures or not (model / CARD).is_file():
        return corpus
    other = reverse_corpus(corpus)
    return other if read_card(model).dataset_fingerprint == other.fingerprint else corpus


def list_earlier_data(card: ModelCard) -> list[str]:
    """Returns what a model was trained on beside its corpus: the data of its initial model, and replayed pairs."""
    start, replayed = (card.training.get(name) for name in ("init_from", "replay"))
    return [*([f"what {start} was trained on"] if start else []), *([str(replayed)] if replayed else [])]


def name_input(path: Path | None) -> str:
    return "standard input" if path == texts.STDIN else str(path)


def drop_sources(material: Material) -> Material:
    return dataclasses.replace(material, sources=None)


def read_rival(path: Path | None, text: texts.ParallelText) -> list[str] | None:
    """Reads the other hypotheses; None where there are none, or where a model is to make them.

    Raises DataError if their number differs from that of the references.
    """
    if path is None or path.is_dir():
        if path is not None and not (path / CARD).is_file():
            raise DataError(
                f"{path}/ is not a model: it has no {CARD}", hint="--against takes a model or a file of lines"
            )
        return None
    lines = texts.read_lines_of(path, "hypothesis")
    texts.check_count(path, len(lines), "the references", len(text.references))
    return lines
