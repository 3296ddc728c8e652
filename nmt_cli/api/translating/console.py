"""What a translation needs of whoever asked for it: streams for lines without a file, and somebody to tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from nmt_cli.documents.document import TranslationUnit

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.translation.result import Translation


class Console(Protocol):
    """Gives and takes lines that are in no file, and shows what a person should know."""

    @property
    def can_prompt(self) -> bool:
        """Whether a person types the lines, and reads their translations one by one."""
        ...

    @property
    def output(self) -> IO[bytes]:
        """Takes what is written to no file."""
        ...

    def open_input(self) -> IO[bytes]:
        """Opens a reader of what is in no file."""
        ...

    def ask_for_lines(
        self, card: ModelCard, write: Callable[[Translation], str], errors: str
    ) -> Iterator[list[TranslationUnit]]:
        """Yields the lines that a person types, each as a unit that `write` formats."""
        ...

    def show_progress(self, paths: Sequence[Path]) -> AbstractContextManager[Callable[[int], None]]:
        """Shows how many lines of these files are translated; the context takes their number."""
        ...

    def say(self, text: str) -> None: ...

    def say_detail(self, text: str) -> None: ...

    def warn(self, text: str) -> None: ...
