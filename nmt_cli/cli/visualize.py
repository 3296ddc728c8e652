"""The command `nmt visualize`: draws attention, beam search, learning curves, corpora, networks and nearest pairs."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from nmt_cli.api.drawings.config import TERMINAL, DrawingOptions
from nmt_cli.api.drawings.drawing import DrawingRequest
from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.api.visualize import draw
from nmt_cli.cli.parsing.options import (
    DEFAULT_MODEL,
    CorporaOption,
    Force,
    ModelsOption,
    declare_option,
    resolve_model,
    with_settings,
)
from nmt_cli.cli.render import Screen, print_lines, show_stage_progress
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.characters import END_MARKS, PAUSES
from nmt_cli.text.normalise import is_unspaced
from nmt_cli.text.streams import decode_lines
from nmt_cli.translation.config import TagOptions

SPOKEN = ("attention", "beam", "nearest")  # subjects that need sentences


SENTENCES_HELP = "Sentences; if there are none, the lines of standard input."
OUTPUT_HELP = "File to write (.png, .svg, .pdf or .html), or - for the terminal; can be repeated.  [default: -]"
OPEN_HELP = "Open the chart in the browser, as a page."


@with_settings
def visualize(
    *,
    screen: Screen,
    explicit: ExplicitOptions,
    sentences: Annotated[
        list[str] | None, typer.Argument(metavar="[SENTENCE]...", help=SENTENCES_HELP, show_default=False)
    ] = None,
    output: Annotated[list[Path] | None, declare_option("--output", OUTPUT_HELP, "Files", short="-o")] = None,
    open_files: Annotated[bool, declare_option("--open", OPEN_HELP, "Files")] = False,
    force: Force = False,
    data: CorporaOption = None,
    model: ModelsOption = None,
    config: DrawingOptions,
    search: SearchOptions,
    tags: TagOptions,
) -> None:
    """Draw the attention of translations: source words down, target words across.

    Draws in the terminal, to a picture (.png, .svg, .pdf) or to an interactive page (.html). --beam, --curves,
    --corpus, --network and --nearest make other drawings; --data without a sentence draws the corpus in that directory.
    """
    if config.subject == "attention" and not (sentences or config.target or config.pairs):
        config = replace(config, corpus="data" in explicit.typed)
    if len(sentences or ()) > 1 and not config.target and all(map(is_word, sentences or ())):
        sentences = [" ".join(sentences or ())]
        screen.say(f"{sentences[0]!r} is read as one sentence; to draw several sentences, put each in quotes")
    if config.subject in SPOKEN and not (sentences or config.target or config.pairs or sys.stdin.isatty()):
        sentences = [line for line in decode_lines(sys.stdin.buffer, "stdin") if line.strip()]
    request = DrawingRequest(
        models=tuple(model or [resolve_model(DEFAULT_MODEL)]),
        corpora=tuple(data or [Path("prepared")]),
        config=config,
        search=search,
        tags=tags,
        sentences=tuple(sentences or ()),
        outputs=choose_outputs(output or [], config.subject, open_files=open_files),
        force=force,
    )
    with show_stage_progress(screen) as progress:
        drawing = draw(request, progress)
    print_lines(drawing.text.splitlines())
    for warning in drawing.warnings:
        screen.warn(warning)
    for message in drawing.messages:
        screen.say(message)
    if open_files:
        open_in_browser(drawing.files, screen)


def is_word(text: str) -> bool:
    """Whether a typed sentence is a single word, as if quotes were forgotten; never true in an unspaced script."""
    return text.strip(END_MARKS + PAUSES).isalpha() and not any(map(is_unspaced, text))


def choose_outputs(outputs: Sequence[Path], subject: str, *, open_files: bool) -> tuple[Path, ...]:
    """Returns the outputs; if files are to be opened and none is named, also a temporary one."""
    if not open_files or any(path != TERMINAL for path in outputs):
        return tuple(outputs)
    return (*outputs, Path(tempfile.mkdtemp(prefix="nmt-")) / f"{subject}.html")


def open_in_browser(paths: Sequence[Path], screen: Screen) -> None:
    """Shows the files in the browser or, without one, says which to open."""
    import webbrowser

    for path in paths:
        if not webbrowser.open(path.resolve().as_uri()):
            screen.warn(f"no browser could be started: open {path} yourself")
