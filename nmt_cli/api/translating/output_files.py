"""The output of `nmt translate`: standard output, one file, or a file for each input."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO

from nmt_cli.documents.document import Document, TranslationUnit
from nmt_cli.errors import OptionError, OutputError
from nmt_cli.files import stage_file
from nmt_cli.text.escapes import protect_terminal

BatchUnits = Callable[[Iterator[TranslationUnit]], Iterator[list[TranslationUnit]]]

STREAM = "-"  # standard input or output
FIELDS = "{name}, {lang} and {ext}"


def is_for_several(output: str | None) -> bool:
    """Whether `-o` names a file for each input: a directory, or a pattern."""
    return output is not None and ("{" in output or output.endswith(("/", os.sep)) or Path(output).is_dir())


def name_outputs(output: str | None, paths: Sequence[Path], language: str, *, force: bool) -> list[Path]:
    """Returns the files to write: empty for standard output, one for all inputs, or one for each.

    Raises OptionError for an output that is also an input, or for two equal outputs; OutputError for an existing file
    among several, unless `force` is set.
    """
    if output is None or output == STREAM:
        return []
    if not is_for_several(output):
        targets = [Path(output)]
    elif not paths:
        raise OptionError(
            f"-o {output} names a file for each input, and standard input has no name", hint="name a file"
        )
    else:
        targets = [name_output(output, path, language) for path in paths]
    for target in targets:
        same = next((path for path in paths if target.exists() and path.samefile(target)), None)
        if same is not None:
            raise OptionError(f"the output {target} is the input", hint="choose another name with -o")
        if targets.count(target) > 1:
            raise OptionError(f"two inputs would be written to {target}", hint="tell them apart in -o, or by folders")
        if is_for_several(output) and target.exists() and not force:
            raise OutputError(f"{target} already exists", hint="replace it with --force, or choose another -o")
    return targets


def name_output(output: str, path: Path, language: str) -> Path:
    """Returns the file for one input; a pattern without a folder is placed beside the input."""
    if "{" not in output:
        return Path(output) / path.name
    try:
        name = output.format_map({"name": path.stem, "lang": language, "ext": path.suffix})
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        hint = f"it may have {FIELDS}: '{{name}}.{{lang}}{{ext}}'"
        raise OptionError(f"-o {output} is not a pattern of names", hint=hint) from error
    return Path(name) if Path(name).name != name else path.parent / name


class OutputFiles(AbstractContextManager["OutputFiles"]):
    """Writes files one after the other, renaming each when complete; without files, writes to a stream."""

    def __init__(self, targets: Sequence[Path], stream: IO[bytes]) -> None:
        self.targets = targets
        self.stack = ExitStack()
        self.stream = stream

    def __enter__(self) -> OutputFiles:
        if len(self.targets) == 1:
            self.start_file(self.targets[0])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self.stack.__exit__(kind, error, trace)

    def start_file(self, path: Path) -> None:
        """Completes the previous file and begins the next."""
        self.stack.close()
        with ExitStack() as stack:
            temporary = stack.enter_context(stage_file(path))
            self.stream = protect_terminal(stack.enter_context(temporary.open("wb")))
            self.stack = stack.pop_all()

    def write(self, data: bytes) -> None:
        self.stream.write(data)
        self.stream.flush()

    def batch_files(self, documents: Iterable[Document], batch: BatchUnits) -> Iterator[list[TranslationUnit]]:
        """Yields the batches of all documents, each document preceded by a batch that begins its file when written."""
        for target, document in zip(self.targets, documents, strict=True):
            yield [TranslationUnit((), lambda _, target=target: self.begin(target))]  # type: ignore[misc]
            yield from batch(document.read_units())

    def begin(self, path: Path) -> str:
        self.start_file(path)
        return ""
