"""The caller's side of a translation: streams for lines without a file, and a recipient for messages."""

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
    """Provides and accepts lines that belong to no file, and shows messages to the user."""

    @property
    def can_prompt(self) -> bool:
        """Whether a person types the lines and reads their translations one by one."""
        ...

    @property
    def output(self) -> IO[bytes]:
        """Accepts output that goes to no file."""
        ...

    def open_input(self) -> IO[bytes]:
        """Opens a reader of input that comes from no file."""
        ...

    def ask_for_lines(
        self, card: ModelCard, write: Callable[[Translation], str], errors: str
    ) -> Iterator[list[TranslationUnit]]:
        """Yields the lines typed by a person, each as a unit that `write` formats."""
        ...

    def show_progress(self, paths: Sequence[Path]) -> AbstractContextManager[Callable[[int], None]]:
        """Shows how many lines of these files are translated; the context receives their number."""
        ...

    def say(self, text: str) -> None: ...

    def say_detail(self, text: str) -> None: ...
