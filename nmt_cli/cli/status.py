"""The output of `nmt` without a command: the state of this directory, and the next command."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

import typer

from nmt_cli.api.evaluate import read_scores
from nmt_cli.api.model_info import ModelInfo, ScoreInfo, read_info
from nmt_cli.cli.parsing.configuration import FILE, FoundFile, find_file, name_variable
from nmt_cli.cli.render import print_lines
from nmt_cli.errors import NmtError
from nmt_cli.formats import list_preparations
from nmt_cli.languages.rules import find_rules
from nmt_cli.runtime.installed_models import (
    is_being_trained,
    list_beside,
    list_installable,
    list_models,
    write_installation,
)
from nmt_cli.text.wrapping import format_count, join_first

if TYPE_CHECKING:
    from nmt_cli.corpus.manifest import Manifest
    from nmt_cli.runtime.model_directory import ModelCard

FILES_NAMED = 3
MODELS_NAMED = 2  # with a command
MODELS_SHOWN = 5
STATUS_COLUMN = 9  # of what follows a name such as "corpus"


class Status(NamedTuple):
    """The content of a directory; `problems` lists unreadable files."""

    data: Path
    model: Path
    manifest: Manifest | None
    card: ModelCard | None
    beside: tuple[Path, ...]  # other models in its folder
    interrupted: tuple[Path, ...]  # models there, perhaps this one, whose training can be resumed
    named_models: tuple[str, ...]  # installed ones
    problems: tuple[str, ...] = ()
    settings: str | None = None  # the configuration file of this directory, or why it is not read

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Status:
        """Inspects the directories that commands would use here."""
        from nmt_cli.corpus.manifest import MANIFEST_NAME, Manifest
        from nmt_cli.runtime.installed_models import CARD, CHECKPOINTS, find_model, list_models
        from nmt_cli.runtime.model_directory import read_card

        manifest, card, nearby, problems, interrupted = None, None, None, [], list[Path]()
        data, model = Path("prepared"), Path("model")
        try:
            nearby = find_file()
            data = choose_place("data", data, environment, nearby)
            model = choose_place("model", model, environment, nearby)
            manifest = Manifest.read(data) if (data / MANIFEST_NAME).is_file() else None
            model = find_model(model)
            card = read_card(model) if (model / CARD).is_file() else None
            if any(model.parent.glob(f"*/{CHECKPOINTS}/*.npz")):
                from nmt_cli.training.checkpoints import list_interrupted  # numpy, which few directories need

                interrupted = list_interrupted(model)
        except NmtError as error:
            problems.append(f"{error.message} ({error.hint})" if error.hint else error.message)
        return cls(
            data=data,
            model=model,
            manifest=manifest,
            card=card,
            beside=tuple(other for other in list_beside(model) if other != model),
            interrupted=tuple(interrupted),
            named_models=tuple(list_models()),
            problems=tuple(problems),
            settings=nearby.warning or str(FILE) if nearby is not None else None,
        )


def choose_place(name: str, default: Path, environment: Mapping[str, str], nearby: FoundFile | None) -> Path:
    """Returns the directory named by the environment or the top level of a configuration file, else the default."""
    filed = nearby.values.get(name) if nearby is not None else None
    return Path(environment.get(str(name_variable(name))) or (filed if isinstance(filed, str) else default))


def describe_status(environment: Mapping[str, str] | None = None) -> list[str]:
    """Returns the lines printed by bare `nmt`."""
    status = Status.read(os.environ if environment is None else environment)
    return [
        f"corpus   {describe_corpus(status)}",
        f"model    {describe_model(status)}",
        *describe_scores(status),
        *([f"settings {status.settings}"] if status.settings is not None else []),
        *(f"  ! {problem}" for problem in status.problems),
        *(f"{name:{STATUS_COLUMN}}{line}" for name, line in zip_longest(["next"], list_next(status), fillvalue="")),
        "",
        "All commands: nmt --help",
    ]


def describe_corpus(status: Status) -> str:
    manifest = status.manifest
    if manifest is None:
        return f"none in {status.data}/"
    sizes = ", ".join(f"{number:,} {split}" for split, number in manifest.counts.splits.items())
    return f"{status.data}/: {manifest.direction}; pairs: {sizes}"


def describe_model(status: Status) -> str:
    card = status.card
    if card is None:
        names = {"others": [f"{path}/" for path in status.beside], "installed": status.named_models}
        others = "".join(f"; {kind}: {join_first(models, MODELS_SHOWN)}" for kind, models in names.items() if models)
        state = "an interrupted training run" if status.model in status.interrupted else "none"
        state = "training is running" if is_being_trained(status.model) else state
        return f"{state} in {status.model}/{others}"
    network = str(card.network.get("architecture", "rnn"))
    network += f" with {card.network['attention']} attention" if "attention" in card.network else ""
    scores = [f"{name} {card.development[key]['value']:.1f}" for key, name in SCORES if key in card.development]
    scored = f", dev {', '.join(scores)} (greedy)" if scores else ""
    return f"{status.model}/: {card.direction}; {network}, epoch {card.epochs}{scored}{compare_data(status)}"


SCORES = (("bleu", "BLEU"), ("chrf", "chrF"))


def describe_scores(status: Status) -> list[str]:
    """Returns a line about the model's last evaluation on its test set, if any."""
    last = read_scores(status.data, status.model) if status.card is not None else None
    if last is None:
        return []
    return [f"scores   {', '.join(last.scores)} on {format_count(last.sentences, 'test sentence')} ({last.decoding})"]


def compare_data(status: Status) -> str:
    """Returns a note if the model was trained on a corpus other than the one here."""
    manifest, card = status.manifest, status.card
    if manifest is None or card is None or manifest.fingerprint == card.dataset_fingerprint:
        return ""
    return f"; trained on data other than {status.data}/"


def list_next(status: Status) -> list[str]:
    """Returns the next commands, most useful first."""
    resumption = [f"nmt train{name_option(path, status)} --resume" for path in status.interrupted if status.manifest]
    if status.card is not None:
        scores = ["nmt evaluate"] if status.manifest is not None else []
        sentence = find_rules(status.card.source_language).example
        drawing = [f'nmt visualize "{sentence}"'] if sentence else []
        return [*resumption[:MODELS_NAMED], make_example(status.card.source_language), *scores, *drawing]
    if is_being_trained(status.model):
        return ["nmt visualize --curves"]
    if status.manifest is not None:
        scores = [f"nmt evaluate{name_option(path, status)}" for path in status.beside]
        start = [] if status.model in status.interrupted else ["nmt train"]
        return [*resumption[:MODELS_NAMED], *scores[:MODELS_NAMED], *start]
    installed = [f"{make_example(name)} --model {name}" for name in status.named_models[:MODELS_NAMED]]
    return [*list_preparations()[:FILES_NAMED], *installed]


def name_option(model: Path, status: Status) -> str:
    """Returns the option for a model; empty for that which commands use here."""
    return "" if model == status.model else f" --model {quote(str(model))}"


def make_example(language: str) -> str:
    """Returns a command that translates an example sentence; the language code may be followed by others."""
    sentence = find_rules(language).example
    return f'echo "{sentence}" | nmt translate' if sentence else "nmt translate"


# The output of `nmt translate --info`: the card of each model.

METRICS = {"bleu": "BLEU", "bleu4": "BLEU-4", "chrf": "chrF"}


def show_models(models: Sequence[Path], *, as_json: bool) -> None:
    """Prints the information on models: lines, or a JSON object for one and a list for several."""
    pages = [read_info(model) for model in models]
    if as_json:
        values = [model.to_mapping() for model in pages]
        typer.echo(json.dumps(values[0] if len(values) == 1 else values, ensure_ascii=False, indent=2))
        return
    for number, model in enumerate(pages):
        print_lines(["", *format_info(model)] if number else format_info(model))


def show_installed(*, as_json: bool) -> None:
    """Prints the models that `--model` takes by name, a line each, and how the others are installed."""
    models = {name: read_info(directory) for name, directory in list_models().items()}
    if as_json:
        values = [model.to_mapping() for model in models.values()]
        typer.echo(json.dumps(values, ensure_ascii=False, indent=2))
        return
    for name, model in models.items():
        scores = format_scores(model.scores["dev"])
        size = f"{model.bytes.get(model.precision, model.bytes['directory']) / 1e6:.1f} MB"
        print_lines([f"--model {name:<12} {model.source.name} to {model.target.name}, {size}, {scores}"])
    for name in list_installable():
        print_lines(
            [
                (
                    f"--model {name:<12} not installed; to install it, run in nmt's source folder: "
                    f"{write_installation(name)}"
                )
            ]
        )
    print_lines(["", "For details: nmt translate --info --model NAME", "To train another: nmt train"])


def format_info(model: ModelInfo) -> list[str]:
    """Returns the lines about a model: a name and a value on each."""
    source, target, package = model.source, model.target, model.package
    kind, *sizes = model.subwords.values()
    trained = [model.date, f"{model.epochs} epochs", f"nmt {model.versions.get('nmt', '?')}", f"data {model.data[:12]}"]
    rows = {
        "languages": f"{source.code} -> {target.code}, {source.name} to {target.name} ({source.tag}, {target.tag})",
        "about": package.summary,
        "network": model.network,
        "subwords": " / ".join(f"{size:,}" for size in sizes) + f", {kind}",
        "size": ", ".join(f"{name} {count / 1e6:.1f} MB" for name, count in model.bytes.items()),
        "precision": f"{model.precision} by default",
        "trained": ", ".join(filter(None, trained)),
        **{name: format_scores(scores) for name, scores in model.scores.items()},
        "confidence": "estimates the quality of each translation" if model.has_confidence else "",
        "context": "in documents, reads the previous sentence and its translation" if model.context else "",
        "tags": ", ".join(f"{tag} ({format_count(count, 'pair')})" for tag, count in model.tags.items()),
        "licence": package.licence,
        "directory": f"{model.directory}/",
    }
    width = max(map(len, rows)) + 2
    return [model.name, *(f"  {name:<{width}}{value}" for name, value in rows.items() if value)]


def format_scores(scores: Mapping[str, ScoreInfo]) -> str:
    """Returns the scores on a set, each with half the width of its interval if it has one."""
    shown = [(METRICS[name], score, score.half_width) for name, score in scores.items() if name in METRICS]
    return ", ".join(
        f"{name} {score.value:.2f}" + ("" if half is None else f" ± {half:.2f}") for name, score, half in shown
    )
