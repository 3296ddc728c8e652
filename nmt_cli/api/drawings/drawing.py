"""The request and the result of `nmt visualize`: text for a terminal, files, and remarks. Prints nothing."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.api.drawings.config import TERMINAL, DrawingOptions
from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.errors import OptionError
from nmt_cli.files import GENERATOR, REPLACE, require_output
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.wrapping import escape_line
from nmt_cli.translation.config import TagOptions
from nmt_cli.visuals.canvas import PAGES, SUFFIXES, check_suffix

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard


@dataclass(frozen=True, kw_only=True)
class DrawingRequest:
    """A drawing to make: its kind, its models or corpora, and its files."""

    models: tuple[Path, ...]  # one; several for their curves or their attention
    corpora: tuple[Path, ...]  # one; several for their charts
    config: DrawingOptions
    search: SearchOptions
    tags: TagOptions = field(default_factory=TagOptions)
    sentences: tuple[str, ...] = ()
    outputs: tuple[Path, ...] = ()  # none, or TERMINAL: as text
    force: bool = False  # replaces files that nmt did not write

    @property
    def model(self) -> Path:
        """The only model. Raises OptionError for several."""
        return require_one("--model", self.models)

    @property
    def model_names(self) -> list[str]:
        """The parts of the models' paths that tell them apart."""
        if len(self.models) < 2:
            return [str(model) for model in self.models]
        paths = [model.parts for model in self.models]
        most = min(map(len, paths)) - 1
        head = count_common(paths, most)
        tail = count_common([path[::-1] for path in paths], most - head)
        return [str(Path(*path[head : len(path) - tail])) for path in paths]

    def search_behind_tags(self, card: ModelCard, model: Path) -> SearchOptions:
        """Returns the search with the requested tags. Raises OptionError for a tag that a model lacks."""
        from nmt_cli.translation.known_tags import find_tags  # SentencePiece, which `nmt --help` lacks

        return replace(self.search, tags=find_tags(self.tags.names, card, model))

    @property
    def data(self) -> Path:
        """The only corpus. Raises OptionError for several."""
        return require_one("--data", self.corpora)


def count_common(paths: Sequence[Sequence[str]], most: int) -> int:
    """Returns how many leading parts all paths share, at most `most`."""
    return next((n for n in range(most) if len({path[n] for path in paths}) > 1), max(most, 0))


def require_one(option: str, paths: Sequence[Path]) -> Path:
    """Returns the only path. Raises OptionError for several."""
    if len(paths) > 1:
        hint = f"give {option} only once; --curves and attention compare several models, --corpus several corpora"
        raise OptionError(f"{option} is given {len(paths)} times", hint=hint)
    return paths[0]


def check_outputs(request: DrawingRequest) -> None:
    """Raises OptionError for an output that is neither a picture nor a page nor the terminal.

    Raises OutputError for a file that cannot be written, or that nmt did not write.
    """
    for output in request.outputs:
        if output != TERMINAL:
            check_suffix(output, (*SUFFIXES, *PAGES))
            for path in name_pictures(output, len(request.sentences)):
                require_output(path, "--output", way_on=None if request.force else REPLACE, renewed=[GENERATOR])


def name_pictures(output: Path, sentences: int) -> list[Path]:
    """Returns the files of an output: the output itself, or a numbered picture for each of several sentences."""
    if sentences < 2 or output.suffix.lower() in PAGES:
        return [output]
    return [output.with_stem(f"{output.stem}-{number}") for number in range(1, sentences + 1)]


@dataclass(repr=False)
class Drawing:
    """The drawn pictures: `text` for a terminal, and `files`."""

    progress: StageReporter = ignore_progress
    text: str = ""
    files: list[Path] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  # a line for each file, and other remarks
    warnings: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return self.text.rstrip("\n") or f"Drawing({', '.join(map(str, self.files)) or 'empty'})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>" + "".join(map(embed_file, self.files))

    def show(self, *lines: str) -> None:
        """Adds lines to the text, escaped so that no name or word in them can begin another line."""
        self.text += "".join(f"{escape_line(line)}\n" for line in lines)

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


def embed_file(path: Path) -> str:
    """Returns a written picture or page as an element of a notebook."""
    if path.suffix.lower() in PAGES:
        page = escape(path.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width:100%;height:40em;border:0"></iframe>'
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    if path.suffix.lower() == ".pdf":
        return f'<embed type="application/pdf" src="data:application/pdf;base64,{data}" width="100%" height="600">'
    kind = "svg+xml" if path.suffix.lower() == ".svg" else "png"
    image = f'<img alt="{escape(path.name)}" src="data:image/{kind};base64,{data}" style="max-width:none">'
    return f'<div style="overflow-x:auto">{image}</div>'  # a long beam scrolls in its box, at a size that can be read
