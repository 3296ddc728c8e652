"""What `nmt evaluate` does with its options: reads, translates, scores. `evaluate.py` has the options and the output.

Must stay light: it is imported for `nmt --help`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.cli.open_model import open_translator, with_pictures_of
from nmt_cli.cli.render import Screen, sentence_progress
from nmt_cli.errors import DataError, OptionError
from nmt_cli.evaluation import report, texts
from nmt_cli.evaluation.analysis.warnings import doubt_of_leak, seen_in
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.registry import Given
from nmt_cli.search.config import SearchConfig

if TYPE_CHECKING:
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.translation.translator import Translator

SAMPLE = 200  # training sentences that are translated to measure memorisation
CARD = "model.json"  # inference.bundle.CARD and corpus.manifest.NAME, whose modules need numpy
MANIFEST = "dataset.json"


@dataclass(frozen=True)
class Inputs:
    """What is to be scored: files, or (where none is named) a split of `data`."""

    data: Path
    model: Path
    source: Path | None = None
    references: tuple[Path, ...] = ()
    hypothesis: Path | None = None
    rival: Path | None = None  # hypotheses, or a model directory, to compare with
    split: str = "test"  # or "dev"
    data_named: bool = False  # so that it must be there

    def __post_init__(self) -> None:
        named = "--hypothesis" if self.hypothesis else "--source"
        if (self.source or self.hypothesis) and not self.references:
            raise OptionError(f"{named} needs --reference", hint=f"nmt evaluate {named} FILE --reference FILE")
        if self.references and not (self.source or self.hypothesis):
            raise OptionError(
                "--reference needs --source or --hypothesis",
                hint="--source FILE is translated first, --hypothesis FILE is scored as it is",
            )
        if self.references and self.split != "test":
            raise OptionError("--split is of --data, and files are to be scored", hint="leave one of them out")
        if self.rival and self.rival.is_dir() and self.hypothesis and not self.source:
            raise OptionError(
                f"--against {self.rival}/ is a model, which needs the sentences to translate",
                hint="name them with --source, or give --against a file of ready translations",
            )

    @property
    def given(self) -> Given:
        return Given(model=self.hypothesis is None, sources=self.hypothesis is None or self.source is not None)

    @property
    def described(self) -> dict[str, Any]:
        """The inputs by their options, for `--json`."""
        references = [str(path) for path in self.references]
        source = {"source": str(self.source)} if self.source else {}
        if self.hypothesis:
            return {"hypothesis": str(self.hypothesis), **source, "reference": references}
        if self.source:
            return {**source, "reference": references, "model": str(self.model)}
        return {"split": self.split, "data": str(self.data), "model": str(self.model)}


@dataclass(frozen=True)
class Outcome:
    report: report.Report
    what: str  # what the sentences are called in print
    unseen: bool  # whether it is known that no source was trained on


@dataclass
class Evaluation:
    """One evaluation under way."""

    names: Sequence[str]
    inputs: Inputs
    search: SearchConfig
    config: ScoreConfig
    screen: Screen
    profiled: bool  # whether the profile is wanted

    def run(self) -> Outcome:
        corpus = self.corpus()
        text, translator = self.text(corpus), None
        rival = read_rival(self.inputs.rival, text)  # before anything is translated
        if self.inputs.hypothesis is None:
            translator = load_translator(self.inputs.model, corpus)
            done = self.translate(text, translator)
        else:
            with self.screen.status("scoring"):
                done = report.report_of_material(self.names, self.ready_material(text), self.config)
        if self.inputs.rival:
            done = self.compared(done, text, rival)
        return self.judged(done, corpus, translator)

    def corpus(self) -> PreparedCorpus | None:
        """The prepared corpus; None where files are scored and there is none to know the training data from."""
        from nmt_cli.corpus.dataset import PreparedCorpus  # numpy, which `nmt --help` does not need

        dispensable = self.inputs.references and not self.inputs.data_named
        if dispensable and not (self.inputs.data / MANIFEST).is_file():
            return None
        return PreparedCorpus.load(self.inputs.data)

    def text(self, corpus: PreparedCorpus | None) -> texts.ParallelText:
        lines = self.inputs.hypothesis or self.inputs.source
        if lines is not None:
            return texts.text_of_files(lines, self.inputs.references)
        if corpus is None:
            raise OptionError("there is nothing to score")
        return texts.text_of_split(corpus, self.inputs.split)

    def translate(self, text: texts.ParallelText, translator: Translator) -> report.Report:
        with sentence_progress(self.screen, "translating", len(text.lines)) as progress:
            return report.report_of_translations(self.names, text, translator, self.search, progress, self.config)

    def ready_material(self, text: texts.ParallelText) -> Material:
        if self.inputs.source is None:
            return Material(text.lines, text.references)
        sources = texts.read_sentences(self.inputs.source)
        texts.check_count(str(self.inputs.hypothesis), len(text.lines), self.inputs.source, len(sources))
        return Material(text.lines, text.references, sources)

    def compared(self, done: report.Report, text: texts.ParallelText, rival: Sequence[str] | None) -> report.Report:
        """`done` against the other hypotheses, or against what the other model makes of the sources."""
        name = str(self.inputs.rival)
        sources = done.material.sources
        doubts: list[str] = []
        if rival is not None:
            material = Material(rival, text.references, sources)
        else:
            corpus = self.corpus()
            other = load_translator(Path(name), corpus)
            lines = texts.ParallelText(tuple(sources or ()), text.references)
            with sentence_progress(self.screen, f"translating with {name}", len(lines.lines)) as progress:
                made = report.translated(self.names, lines, other, self.search, progress)
            material = made.material
            doubts = [*self.doubts_of_training(name, other.card, corpus), *(f"{name}: {one}" for one in made.doubts)]
        with self.screen.status("comparing"):
            return report.against(done, name, material, self.config).warned(*doubts)

    def judged(self, done: report.Report, corpus: PreparedCorpus | None, translator: Translator | None) -> Outcome:
        """`done` with what is known of the training data, and the profile where it is wanted."""
        own = not self.inputs.references  # a split of the corpus
        what = (
            f"{self.inputs.split} sentences" if own else f"sentences of {self.inputs.hypothesis or self.inputs.source}"
        )
        pairs = corpus.pairs("train") if corpus is not None and done.material.sources else []
        seen = seen_in(done.material.sources or (), {pair.source for pair in pairs})
        same = bool(
            translator is not None and corpus is not None and translator.card.dataset_fingerprint == corpus.fingerprint
        )
        doubts = [] if translator is None else self.doubts_of_training(self.inputs.model, translator.card, corpus)
        done = done.warned(*doubts, *doubt_of_leak(seen, f"{self.inputs.data}/"))
        if self.profiled:
            profiled, sources = done, [pair.source for pair in pairs]
            if corpus is not None and corpus.has_pictures:  # the names of their files are no words to group by
                profiled, sources = dataclasses.replace(done, material=without_sources(done.material)), []
            profiled = self.with_profile(profiled, sources, corpus, translator if same and own else None)
            done = dataclasses.replace(done, profile=profiled.profile)
        return Outcome(done, what, unseen=same and not doubts and not any(seen))

    def doubts_of_training(self, model: Path | str, card: ModelCard, corpus: PreparedCorpus | None) -> list[str]:
        """Why a model may have learnt the sentences that it is judged by."""
        told = []
        if not self.inputs.references and (corpus is None or card.dataset_fingerprint != corpus.fingerprint):
            told.append(
                f"{model}/ was trained on other data than {self.inputs.data}/: "
                f"these {self.inputs.split} sentences may be in its training data"
            )
        before = learnt_before(card)
        if before:
            told.append(
                f"{model}/ was trained on {' and '.join(before)} too: these sentences may be in that training data"
            )
        return told

    def with_profile(
        self,
        done: report.Report,
        sources: Sequence[str],
        corpus: PreparedCorpus | None,
        translator: Translator | None,
    ) -> report.Report:
        from nmt_cli.evaluation.analysis.profile import memory, profile
        from nmt_cli.evaluation.analysis.sentence_groups import Training

        language = corpus.target_language if corpus is not None else ""
        with self.screen.status("looking where it fails"):
            told = profile(done.material, Training.of(sources) if sources else None, language, self.config)
        if translator is not None and corpus is not None:
            trained = self.trained_sample(corpus, translator)
            told = dataclasses.replace(told, sections=(*told.sections, memory(trained, done.material, self.config)))
        return dataclasses.replace(done, profile=told)

    def trained_sample(self, corpus: PreparedCorpus, translator: Translator) -> Material:
        """Training sentences, evenly spread, and what the model makes of them."""
        sentences = corpus.referenced("train")
        chosen = sentences[:: max(1, len(sentences) // SAMPLE)][:SAMPLE]
        text = texts.ParallelText(tuple(each.source for each in chosen), tuple(each.references for each in chosen))
        with sentence_progress(self.screen, "translating training sentences", len(chosen)) as progress:
            return report.translated((), text, translator, self.search, progress).material


def learnt_before(card: ModelCard) -> list[str]:
    """What else than its own corpus a model was trained on: that of the model it began with, and what was replayed."""
    start, replayed = (card.training.get(name) for name in ("init_from", "replay"))
    return [*([f"what {start} was trained on"] if start else []), *([str(replayed)] if replayed else [])]


def without_sources(material: Material) -> Material:
    return dataclasses.replace(material, sources=None)


def read_rival(path: Path | None, text: texts.ParallelText) -> list[str] | None:
    """The other hypotheses; None where there are none, or where a model is to make them.

    Raises DataError where they are not as many as the references.
    """
    if path is None or path.is_dir():
        if path is not None and not (path / CARD).is_file():
            raise DataError(f"{path}/ is no model: it has no {CARD}", hint="--against takes a model or a file of lines")
        return None
    lines = texts.read_sentences(path)
    texts.check_count(path, len(lines), "the references", len(text.references))
    return lines


def load_translator(model: Path, corpus: PreparedCorpus | None) -> Translator:
    translator = open_translator(model)
    return translator if corpus is None else with_pictures_of(translator, corpus)
