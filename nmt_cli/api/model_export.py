"""`nmt translate --export` and `nmt.export`: a trained model in the format of another program, or as a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nmt_cli.api.options.interface import check_call
from nmt_cli.api.options.options import PathLike
from nmt_cli.errors import OptionError

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelDirectory

ExportFormat = Literal["ctranslate2", "page"]


@check_call()
def export_model(
    model: PathLike,
    output: PathLike,
    format: ExportFormat,
    *,
    assets: PathLike | None = None,
    force: bool = False,
) -> Path:
    """Writes a model in the format of another program into the directory `output`, and returns this directory.

        nmt.export("eng-deu", "exported", format="ctranslate2")

    `model` is a directory, or the name of an installed one; `assets` a folder with the files that a page needs.
    Raises OptionError for a model that the program cannot run (with the reason), NotFoundError, and OutputError.
    """
    write_export(Path(model), Path(output), format, None if assets is None else Path(assets), force=force)
    return Path(output)


def write_export(model: Path, output: Path, format: ExportFormat, assets: Path | None, *, force: bool) -> None:
    """Writes a model as `export_model` does; errors speak as the command line does."""
    from nmt_cli.files import stage_directory
    from nmt_cli.runtime.installed_models import find_model
    from nmt_cli.runtime.model_directory import ModelDirectory

    trained = ModelDirectory.load(find_model(model))
    write = choose_writer(format, assets)
    with stage_directory(output, replace=force) as staged:
        write(trained, staged)


def describe_exported_tags(model: Path) -> str:
    """Returns how another program asks an exported model for its tags; empty if it has none."""
    from nmt_cli.runtime.model_directory import read_card
    from nmt_cli.text.tags import parse_tag_name

    pieces = [parse_tag_name(name).piece for name in read_card(model).tags]
    if not pieces:
        return ""
    return f"to ask for a tag, put it in front of the pieces of a source: {' '.join(pieces)}"


def choose_writer(format: ExportFormat, assets: Path | None) -> Callable[[ModelDirectory, Path], None]:
    """Returns the function that writes a format.

    Raises OptionError for assets of no page, and for a page without.
    """
    from nmt_cli.runtime.browser.page_export import find_assets, write_page
    from nmt_cli.runtime.ctranslate2_export import write_ctranslate2  # numpy, which `nmt --help` does not need

    if (format == "page") != (assets is not None):
        hint = "name a folder with the files that docs/page.md lists: --assets FOLDER"
        raise OptionError("a page needs --assets, and no other format does", hint=hint)
    if assets is not None:
        return partial(write_page, assets=find_assets(assets))
    return write_ctranslate2
