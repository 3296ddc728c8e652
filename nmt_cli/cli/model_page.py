"""The output of `nmt translate --info`: the card of each model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from nmt_cli.api.model_info import ModelInfo, ScoreInfo, read_info
from nmt_cli.cli.render import print_lines
from nmt_cli.runtime.installed_models import list_installable, list_models, write_installation
from nmt_cli.text.wrapping import format_count

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
        print_lines([f"--model {name:<12} not installed; in the folder of nmt's sources: {write_installation(name)}"])
    print_lines(["", "nmt translate --info --model NAME tells more; nmt train makes others"])


def format_info(model: ModelInfo) -> list[str]:
    """Returns the lines on a model: a name and a value each."""
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
    """Returns the scores on a set, each with half of its interval if it has one."""
    by_metric = {METRICS[name]: score for name, score in scores.items() if name in METRICS}
    spread = {
        name: "" if score.half_width is None else f" ± {score.half_width:.2f}" for name, score in by_metric.items()
    }
    return ", ".join(f"{name} {score.value:.2f}{spread[name]}" for name, score in by_metric.items())
