"""The options shared by commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nmt_cli.cli.parsing.command import show_full_help
from nmt_cli.cli.parsing.completion import complete_corpora, complete_models, complete_settings
from nmt_cli.cli.parsing.configuration import read_configuration

DATA_OPTION: dict[str, Any] = {"envvar": "NMT_DATA", "autocompletion": complete_corpora, "rich_help_panel": "Files"}
MODEL_OPTION: dict[str, Any] = {"envvar": "NMT_MODEL", "autocompletion": complete_models, "rich_help_panel": "Files"}


def resolve_model(path: Path) -> Path:
    """Returns the directory of the model with this path or name. Raises NotFoundError for a file."""
    from nmt_cli.runtime.installed_models import find_model

    return find_model(path)


def resolve_models(paths: list[Path] | None) -> list[Path] | None:
    """Returns the directories of the models with these paths or names. Raises NotFoundError for a file."""
    return [resolve_model(path) for path in paths] if paths else paths


def make_models_option(several: str) -> Any:
    """Returns the option `--model` of a command that takes several; its help explains their use."""
    text = f"Directory of the model, or the name of an installed one; {several}.  [default: model]"
    return typer.Option("--model", help=text, show_default=False, callback=resolve_models, **MODEL_OPTION)


DataOption = Annotated[Path, typer.Option("--data", help="Directory of the prepared corpus.", **DATA_OPTION)]
CorporaOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--data",
        help="Directory of the prepared corpus; --corpus compares several.  [default: prepared]",
        show_default=False,
        **DATA_OPTION,
    ),
]
ModelOption = Annotated[Path, typer.Option("--model", help="Directory of the model.", **MODEL_OPTION)]
ModelsOption = Annotated[list[Path] | None, make_models_option("several are compared")]
ServedModelsOption = Annotated[list[Path] | None, make_models_option("several with --serve")]
Precision = Annotated[
    Literal["int8", "float"] | None,
    typer.Option(
        "--precision",
        help="Weights in 8 bits or as trained.  [default: int8 if it cost at most 0.2 BLEU after training]",
        rich_help_panel="Files",
    ),
]
Rerank = Annotated[
    Path | None,
    typer.Option(
        "--rerank",
        metavar="MODEL",
        help="Model of the other direction, which ranks the hypotheses by how well it reads the source back from them.",
        rich_help_panel="Decoding",
    ),
]
DEFAULT_MODEL = Path("model")
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel="Output")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing output.", rich_help_panel="Files")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.", rich_help_panel="Output")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Print more detail.", rich_help_panel="Output")]

Configuration = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="TOML file with settings of the same names, at the top level or in a table named for the command; typed "
        "options take precedence.",
        is_eager=True,
        callback=read_configuration,
        rich_help_panel="Files",
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set any setting by name, including those that are not options; may be repeated.",
        autocompletion=complete_settings,
        rich_help_panel="Files",
    ),
]
FullHelp = Annotated[
    bool,
    typer.Option(
        "--help-all",
        help="Show every option and setting in full.",
        is_eager=True,
        callback=show_full_help,
        hidden=True,
    ),
]
