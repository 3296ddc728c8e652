"""`nmt translate --export` and `nmt.export`: a trained model in the format of another program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nmt_cli.api.options.arguments import PathLike, explain_os_errors
from nmt_cli.errors import OptionError

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard

ExportFormat = Literal["ctranslate2", "marian"]
WITHOUT_MARIAN = (
    "Marian begins a translation with zeros and has positions of its own, which no network of nmt is trained with"
)


@explain_os_errors
def export_model(model: PathLike, output: PathLike, format: ExportFormat, *, force: bool = False) -> Path:
    """Writes a model in the format of another program into the directory `output`, and returns that.

    `model` is a directory, or the name of an installed one. Raises OptionError for a model that the program cannot run,
    saying why, and OutputError.
    """
    from nmt_cli.files import stage_directory
    from nmt_cli.runtime.ctranslate2_export import write_ctranslate2  # numpy, which `nmt --help` does not need
    from nmt_cli.runtime.installed_models import find_model
    from nmt_cli.runtime.model_directory import ModelDirectory

    trained = ModelDirectory.load(find_model(Path(model)))
    if format == "marian":
        refuse_marian(trained.card)
    with stage_directory(Path(output), replace=force) as staged:
        write_ctranslate2(trained, staged)
    return Path(output)


def refuse_marian(card: ModelCard) -> None:
    """Raises OptionError, with the reason why Marian cannot run a model."""
    reason = "its layers are recurrent" if card.network["architecture"] != "transformer" else WITHOUT_MARIAN
    raise OptionError(f"Marian cannot run this model: {reason}", hint="leave it to nmt, or use --export ctranslate2")
