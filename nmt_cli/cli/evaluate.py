"""`nmt evaluate`: scores of the model's translations, or of translations that are ready."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nmt_cli.cli.options import DataDirectory, ModelDirectory, Quiet, Verbose, with_settings
from nmt_cli.cli.render import Screen, evaluation_context, sentence_progress
from nmt_cli.errors import OptionError
from nmt_cli.evaluation import report, texts
from nmt_cli.evaluation.metrics import ALL, METRICS, metric_names
from nmt_cli.inference.config import SearchConfig

if TYPE_CHECKING:
    from nmt_cli.inference.translator import Translator

METRIC_HELP = f"One of {', '.join((*METRICS, ALL))}; may be given several times.  [default: {ALL}]"
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", "-m", help=METRIC_HELP, show_default=False, rich_help_panel="Scores")
]
References = Annotated[
    list[Path] | None, typer.Option(help="Their references; may be given several times.", rich_help_panel="Files")
]


@dataclass(frozen=True)
class Inputs:
    """What is to be scored: files, or (where none is named) the test split of `data`."""

    data: Path
    model: Path
    source: Path | None = None
    references: tuple[Path, ...] = ()
    hypothesis: Path | None = None

    def __post_init__(self) -> None:
        if self.source and self.hypothesis:
            raise OptionError(
                "--source and --hypothesis do not go together",
                hint="--source is translated by the model, --hypothesis is scored as it is; give one of them",
            )
        named = "--source" if self.source else "--hypothesis"
        if (self.source or self.hypothesis) and not self.references:
            raise OptionError(f"{named} needs --reference", hint=f"nmt evaluate {named} FILE --reference FILE")
        if self.references and not (self.source or self.hypothesis):
            raise OptionError(
                "--reference needs --source or --hypothesis",
                hint="--source FILE is translated first, --hypothesis FILE is scored as it is",
            )

    @property
    def described(self) -> dict[str, Any]:
        """The inputs by their options, for `--json`."""
        references = [str(path) for path in self.references]
        if self.hypothesis:
            return {"hypothesis": str(self.hypothesis), "reference": references}
        if self.source:
            return {"source": str(self.source), "reference": references, "model": str(self.model)}
        return {"split": "test", "data": str(self.data), "model": str(self.model)}


@dataclass(frozen=True)
class Outcome:
    report: report.Report
    what: str  # what the sentences are called in print
    unseen: bool  # whether it is known that no source was trained on


@with_settings
def evaluate(
    *,
    metric: Metrics = None,
    source: Annotated[Path | None, typer.Option(help="Sentences to translate.", rich_help_panel="Files")] = None,
    reference: References = None,
    hypothesis: Annotated[
        Path | None, typer.Option(help="Ready translations to score; no model is needed.", rich_help_panel="Files")
    ] = None,
    data: DataDirectory = Path("prepared"),
    model: ModelDirectory = Path("model"),
    search: SearchConfig,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel="Output")] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Score the model on the test split, or on files of one sentence a line.

    Scores are 0-100, of free-running beam search, on detokenised, cased text; each comes with its signature.
    """
    screen = Screen(quiet=quiet, verbose=verbose)
    names = metric_names(metric or [ALL])
    inputs = Inputs(data, model, source, tuple(reference or ()), hypothesis)
    outcome = score(names, inputs, search, screen)
    print_scores(outcome, inputs, json_wanted=as_json)
    evaluation_context(screen, outcome.report, what=outcome.what, unseen=outcome.unseen)


def score(names: Sequence[str], inputs: Inputs, search: SearchConfig, screen: Screen) -> Outcome:
    """Scores what `inputs` names; a bar on `screen` while the model translates."""
    if inputs.hypothesis:
        text = texts.text_of_files(inputs.hypothesis, inputs.references)
        return Outcome(report.report_of_hypotheses(names, text), f"sentences of {inputs.hypothesis}", False)
    if inputs.source:
        text = texts.text_of_files(inputs.source, inputs.references)
        done = score_translations(names, text, load_translator(inputs.model), search, screen)
        return Outcome(done, f"sentences of {inputs.source}", False)
    return score_test_split(names, inputs, search, screen)


def score_test_split(names: Sequence[str], inputs: Inputs, search: SearchConfig, screen: Screen) -> Outcome:
    """Scores the model on the test split, and says whether the model may have been trained on it."""
    from nmt_cli.corpus.dataset import PreparedCorpus  # numpy, which `nmt --help` does not need

    corpus = PreparedCorpus.load(inputs.data)
    text = texts.text_of_test_split(corpus)
    translator = load_translator(inputs.model)
    done = score_translations(names, text, translator, search, screen)
    if translator.card.dataset_fingerprint == corpus.fingerprint:
        return Outcome(done, "test sentences", True)  # no sentence stands in two splits of a prepared corpus
    other = (
        f"{inputs.model}/ was trained on other data than {inputs.data}/: "
        "these test sentences may be in its training data"
    )
    return Outcome(dataclasses.replace(done, warnings=(other, *done.warnings)), "test sentences", False)


def load_translator(model: Path) -> Translator:
    from nmt_cli.inference.translator import Translator  # ONNX Runtime, which `nmt --help` does not need

    return Translator.load(model)


def score_translations(
    names: Sequence[str], text: texts.ParallelText, translator: Translator, search: SearchConfig, screen: Screen
) -> report.Report:
    with sentence_progress(screen, "translating", len(text.lines)) as progress:
        return report.report_of_translations(names, text, translator, search, progress)


def print_scores(outcome: Outcome, inputs: Inputs, *, json_wanted: bool) -> None:
    """The command's product, on stdout."""
    if json_wanted:
        typer.echo(json.dumps(report.as_json(outcome.report, inputs.described), ensure_ascii=False, indent=2))
    else:
        for line in report.as_lines(tuple(outcome.report.scores.values())):
            typer.echo(line)
