"""Folders as input of `nmt translate`: every file below one that can be translated, and why the others are not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nmt_cli.documents import TABLES
from nmt_cli.documents.config import DocumentConfig
from nmt_cli.errors import NotFoundError, OptionError
from nmt_cli.formats import TEXT, find_by_name, select_format
from nmt_cli.text.sniffing import HEAD, recognise_format
from nmt_cli.text.wrapping import format_count

SKIPPED_SHOWN = 5
OUTSIDE = "a link to a file outside of the folder"


class InputFile(NamedTuple):
    """A file to translate, and its path below the folder that was named; for a file that was named, its name."""

    path: Path
    relative: Path
    is_found: bool = False  # in a folder, rather than named


class FolderContent(NamedTuple):
    """The files of folders that are translated, and those that are not, each with the reason, if there is one."""

    files: list[InputFile]
    skipped: list[tuple[Path, str]]

    def describe_skipped(self) -> str:
        """Returns the line that names the first files that are not translated; empty without any."""
        if not self.skipped:
            return ""
        shown = [f"{path} ({reason})" if reason else str(path) for path, reason in self.skipped[:SKIPPED_SHOWN]]
        more = " ..." if len(self.skipped) > SKIPPED_SHOWN else ""
        total = format_count(len(self.files) + len(self.skipped), "file")
        return f"{len(self.skipped):,} of {total} neither translated nor copied: {', '.join(shown)}{more}"


def list_files(inputs: Sequence[Path], output: str | None, config: DocumentConfig) -> FolderContent:
    """Returns the files that are named, and those below the folders that are.

    Hidden files, links to files elsewhere and the folder `output` are left out. Raises NotFoundError for a folder
    without a file to translate.
    """
    content = FolderContent([], [])
    for path in inputs:
        if not path.is_dir():
            content.files.append(InputFile(path, Path(path.name)))
            continue
        before = len(content.files)
        for file in walk_folder(path, None if output is None else Path(output)):
            reason = OUTSIDE if leads_outside(file, path) else find_reason_to_skip(file, config)
            if reason is None:
                content.files.append(InputFile(file, file.relative_to(path), is_found=True))
            else:
                content.skipped.append((file, reason))
        if len(content.files) == before:
            what = content.describe_skipped()
            raise NotFoundError(f"{path}/ has no file to translate" + (what and f"; {what}"))
    return content


def walk_folder(folder: Path, output: Path | None) -> Iterator[Path]:
    """Yields the files below a folder in the order of their names, without hidden ones and those below `output`."""
    for name in sorted(os.listdir(folder)):
        path = folder / name
        if name.startswith("."):
            continue
        if path.is_file():
            yield path
        elif path.is_dir() and not path.is_symlink() and not is_same_place(path, output):
            yield from walk_folder(path, output)


def leads_outside(path: Path, folder: Path) -> bool:
    """Whether a file is a link to one outside of the folder: whoever sent the folder may not mean what lies there."""
    return path.is_symlink() and not path.resolve().is_relative_to(folder.resolve())


def is_same_place(path: Path, other: Path | None) -> bool:
    return other is not None and other.exists() and path.samefile(other)


def find_reason_to_skip(path: Path, config: DocumentConfig) -> str | None:
    """Returns what a file is that is not translated, empty if it is of no known kind; None for one to translate."""
    format = recognise_format(path, read_head(path))
    if config.format is not None:
        requested = select_format(config.format, "translate")
        is_readable = format is requested or not (format.is_binary or requested.is_binary)
        return None if is_readable else format.title
    if format is TEXT and find_by_name(path) is not TEXT:
        return "" if find_by_name(path) is None else "not what its name says"
    if "translate" not in format.uses:
        return format.title
    return "a table; name its --column" if format.name in TABLES and config.column is None else None


def read_head(path: Path) -> bytes:
    """Returns the first bytes of a file; none if it cannot be read, which its translation reports."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(HEAD)
    return b""


def require_folder_for_output(inputs: Iterable[Path], output: str | None) -> str | None:
    """Returns the output, as the name of a directory if a folder is translated. Raises OptionError without any."""
    folder = next((path for path in inputs if path.is_dir()), None)
    if folder is None or (output is not None and "{" in output):
        return output
    if output in (None, "-"):
        raise OptionError(f"{folder} is a folder, which cannot be written to standard output", hint="add -o out/")
    if Path(str(output)).is_file():
        raise OptionError(f"-o {output} is a file, and {folder} is a folder", hint="name a folder: -o out/")
    return f"{output}/" if not str(output).endswith(("/", os.sep)) else output
