"""A request to draw, and its result: lines for a terminal, files, and remarks. Prints nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.errors import OptionError
from nmt_cli.search.config import SearchConfig

TERMINAL = Path("-")  # the output that is text, for a terminal
Subject = Literal["attention", "beam", "curves", "corpus", "network", "nearest"]


@dataclass(frozen=True, kw_only=True)
class DrawingRequest:
    """What to draw, of which model or corpus, and where."""

    subject: Subject
    models: tuple[Path, ...]  # one; several for their curves
    corpora: tuple[Path, ...]  # one; several for their charts
    search: SearchConfig
    sentences: tuple[str, ...] = ()
    outputs: tuple[Path, ...] = ()  # none, or TERMINAL: as text
    targets: tuple[str, ...] = ()  # the translations whose attention is drawn; none: the model translates
    pairs: Path | None = None  # sentences and targets as a file
    gold: Path | None = None
    subwords: bool = False
    transpose: bool = False
    heads: bool = False  # whether every head of a Transformer is drawn
    nearest: int = 5  # pairs per sentence

    @property
    def model(self) -> Path:
        """The only model. Raises OptionError for several."""
        return require_one("--model", self.models)

    @property
    def data(self) -> Path:
        """The only corpus. Raises OptionError for several."""
        return require_one("--data", self.corpora)


def require_one(option: str, paths: Sequence[Path]) -> Path:
    """Returns the only path. Raises OptionError for several."""
    if len(paths) > 1:
        hint = "give one of them; --curves draws several models, --corpus several corpora"
        raise OptionError(f"{option} is given {len(paths)} times", hint=hint)
    return paths[0]


@dataclass
class Drawing:
    """The drawn pictures: `text` for a terminal, and `files`."""

    progress: StageReporter = field(default=ignore_progress, repr=False)
    text: str = ""
    files: list[Path] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  # a line for each file, and other remarks
    warnings: list[str] = field(default_factory=list)

    def show(self, text: str) -> None:
        """Adds lines to the text."""
        self.text += text + "\n"

    def add_file(self, path: Path, message: str) -> None:
        """Adds a written file, with the line that reports it."""
        self.files.append(path)
        self.say(message)

    def say(self, message: str) -> None:
        self.messages.append(message)

    def warn(self, problem: str) -> None:
        self.warnings.append(problem)

    def warn_of_glyphs(self, missing: str) -> None:
        """Warns of characters that no installed font has, if any."""
        if missing:
            self.warn(f"no installed font has {missing[:20]} (drawn as boxes): write an .svg, or install a Noto font")
