"""The options shared by commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nmt_cli.cli.parsing.command import show_full_help
from nmt_cli.cli.parsing.completion import complete_corpora, complete_models, complete_settings
from nmt_cli.cli.parsing.configuration import read_configuration

DEFAULT_MODEL = Path("model")
OF_DATA: dict[str, Any] = {"autocompletion": complete_corpora}
OF_MODEL: dict[str, Any] = {"autocompletion": complete_models}


def declare_option(
    flag: str, help: str, panel: str, *, short: str | None = None, harmless: bool | None = None, **more: Any
) -> Any:
    """Returns an option of a command, which its help lists under the heading `panel`.

    `harmless` is that of a `Setting`: whether a file that nobody named may set the option.
    """
    flags = [flag] if short is None else [short, flag]
    option: Any = typer.Option(*flags, help=help, rich_help_panel=panel, **more)
    option.harmless = harmless
    return option


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
    more = OF_MODEL | {"show_default": False, "callback": resolve_models}
    return declare_option("--model", text, "Files", harmless=True, **more)


DATA_HELP = "Directory of the prepared corpus."
DataOption = Annotated[Path, declare_option("--data", DATA_HELP, "Files", harmless=True, **OF_DATA)]
WrittenDataOption = Annotated[Path, declare_option("--data", DATA_HELP, "Files", **OF_DATA)]
CORPORA_HELP = "Directory of the prepared corpus; --corpus compares several.  [default: prepared]"
CorporaOption = Annotated[
    list[Path] | None, declare_option("--data", CORPORA_HELP, "Files", show_default=False, harmless=True, **OF_DATA)
]
WrittenModelOption = Annotated[Path, declare_option("--model", "Directory of the model.", "Files", **OF_MODEL)]
ModelsOption = Annotated[list[Path] | None, make_models_option("several are compared")]
ServedModelsOption = Annotated[list[Path] | None, make_models_option("several with --serve")]
PRECISION_HELP = "Weights in 8 bits or as trained.  [default: int8 if it cost at most 0.2 BLEU after training]"
Precision = Annotated[Literal["int8", "float"] | None, declare_option("--precision", PRECISION_HELP, "Files")]
RERANK_HELP = "Model of the other direction, which ranks the hypotheses by how well it reads the source back from them."
Rerank = Annotated[Path | None, declare_option("--rerank", RERANK_HELP, "Decoding", metavar="MODEL", harmless=True)]
AsJson = Annotated[bool, declare_option("--json", "Print one JSON object.", "Output", harmless=True)]
Force = Annotated[bool, declare_option("--force", "Replace existing output.", "Files")]
Quiet = Annotated[bool, declare_option("--quiet", "Print errors only.", "Output", short="-q")]
Verbose = Annotated[bool, declare_option("--verbose", "Print more detail.", "Output", short="-v", harmless=True)]
Configuration = Annotated[
    Path | None,
    declare_option(
        "--config",
        "TOML file with settings of the same names, at the top level or in a table named for the command; typed "
        "options take precedence.  [default: what is harmless in nmt.toml of the current directory]",
        "Files",
        is_eager=True,
        callback=read_configuration,
    ),
]
SET_HELP = "Set any setting by name, including those that are not options; may be repeated."
Assignments = Annotated[
    list[str] | None,
    declare_option("--set", SET_HELP, "Files", metavar="NAME=VALUE", autocompletion=complete_settings),
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
