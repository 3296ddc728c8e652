"""What a process has to know to translate, and the blocks of text that it is given. Light, and can be pickled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nmt_cli.inference.config import SearchConfig

if TYPE_CHECKING:
    from nmt_cli.inference.translator import Translation


@dataclass(frozen=True)
class Block:
    """Texts that are translated together; `first` is the number of the first one in the whole input, from 0."""

    first: int
    texts: tuple[str, ...]


TranslateBlock = Callable[[Block], "list[Translation]"]


@dataclass(frozen=True)
class Job:
    """A model directory and how it is to search."""

    model: Path
    search: SearchConfig

    def start(self, *, threads: int | None = None) -> TranslateBlock:
        """Loads the model, to run with so many threads (None: all cores). Raises NotFoundError and DamagedError."""
        from nmt_cli.inference.translator import Translator  # numpy and ONNX Runtime; the job itself is light

        translator = Translator.load(self.model, threads=threads)
        return lambda block: translator.translate(block.texts, self.search)


class Crew(Protocol):
    """Who translates: this process, several, or a cluster. For equal blocks all give equal translations."""

    @property
    def replaced(self) -> int:
        """Processes that died on the way and were replaced."""
        ...

    def translations(self, blocks: Iterable[Block]) -> Iterator[list[Translation]]:
        """Those of each block, in the order of the blocks; of a block whose time comes, before another one must come.

        What the blocks raise is raised here after the translations of those before it.
        """
        ...


@dataclass(frozen=True)
class Alone:
    """A crew of this process."""

    translate: TranslateBlock
    replaced: int = 0

    def translations(self, blocks: Iterable[Block]) -> Iterator[list[Translation]]:
        return map(self.translate, blocks)
