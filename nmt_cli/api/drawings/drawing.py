"""What `visualize` made: lines for a terminal, files, and what a person should know of them. Prints nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nmt_cli.api.progress import StageReporter, ignore_progress

TERMINAL = Path("-")  # the output that is text, for a terminal


@dataclass
class Drawing:
    """The pictures that were drawn: `text` for a terminal, and `files`."""

    progress: StageReporter = field(default=ignore_progress, repr=False)
    text: str = ""
    files: list[Path] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  # a line for each file, and other remarks
    warnings: list[str] = field(default_factory=list)

    def show(self, text: str) -> None:
        """Adds lines to the text."""
        self.text += text + "\n"

    def add_file(self, path: Path, message: str) -> None:
        """Adds a file that was written, with the line that reports it."""
        self.files.append(path)
        self.say(message)

    def say(self, message: str) -> None:
        self.messages.append(message)

    def warn(self, problem: str) -> None:
        self.warnings.append(problem)
