"""`nmt translate --export` and `nmt.export`: a trained model in the format of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from nmt_cli.api.options.arguments import PathLike, explain_os_errors

ExportFormat = Literal["ctranslate2", "marian"]


@explain_os_errors
def export_model(model: PathLike, output: PathLike, format: ExportFormat, *, force: bool = False) -> Path:
    """Writes a model in the format of another program into the directory `output`, and returns that.

    `model` is a directory, or the name of an installed one. Raises OptionError for a model that the program cannot run,
    saying why, and OutputError.
    """
    from nmt_cli.files import stage_directory
    from nmt_cli.runtime.ctranslate2_export import write_ctranslate2  # numpy, which `nmt --help` does not need
    from nmt_cli.runtime.installed_models import find_model
    from nmt_cli.runtime.marian_export import write_marian
    from nmt_cli.runtime.model_directory import ModelDirectory

    trained = ModelDirectory.load(find_model(Path(model)))
    write = {"ctranslate2": write_ctranslate2, "marian": write_marian}[format]
    with stage_directory(Path(output), replace=force) as staged:
        write(trained, staged)
    return Path(output)
