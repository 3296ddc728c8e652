"""`nmt visualize`: where the network looked while it wrote a translation."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nmt_cli.cli.options import ModelDirectory, Quiet, Verbose, with_settings
from nmt_cli.cli.render import Screen
from nmt_cli.errors import OptionError
from nmt_cli.inference.config import SearchConfig
from nmt_cli.visuals.canvas import check_suffix
from nmt_cli.visuals.heatmap import draw, terminal_lines
from nmt_cli.visuals.labels import piece_labels, printable

if TYPE_CHECKING:
    from nmt_cli.inference.translator import Translation


@with_settings
def visualize(
    *,
    sentence: Annotated[str, typer.Argument(help="The sentence to translate.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Picture to write, .png or .svg; else drawn here.", rich_help_panel="Files"
        ),
    ] = None,
    model: ModelDirectory = Path("model"),
    search: SearchConfig,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Draw the attention of a translation: source tokens downwards, produced tokens across."""
    if output is not None:
        check_suffix(output)
    screen = Screen(quiet=quiet, verbose=verbose)
    translation = translate_sentence(sentence, model, search)
    if translation.cut:
        screen.warn(f"the translation was cut before its end (--max-length {search.max_length})")
    if output is None:
        typer.echo("\n".join(terminal_drawing(translation, shutil.get_terminal_size().columns)))
        return
    missing = draw_translation(translation, output)
    screen.say(f"{output}: {translation.text}")
    if missing:
        screen.warn(f"no installed font shows {missing[:20]} (drawn as boxes): write an .svg, or install a Noto font")


def translate_sentence(sentence: str, model: Path, search: SearchConfig) -> Translation:
    """The best translation, with its attention. Raises OptionError for a sentence without any text."""
    line = " ".join(sentence.split("\n"))
    if not line.strip():
        raise OptionError("the sentence is empty", hint='write it in quotes: nmt visualize "where is the station?"')
    from nmt_cli.inference.translator import Translator  # numpy and ONNX Runtime, which `nmt --help` does not need

    (translation,) = Translator.load(model).translate([line], dataclasses.replace(search, n_best=1))
    if not translation.hypotheses:
        raise OptionError(f"nothing is left of {sentence!r} once it is normalised", hint="give a sentence with words")
    return translation


def draw_translation(translation: Translation, path: Path) -> str:
    """Writes the picture; returns the characters that no font could show."""
    best = translation.hypotheses[0]
    source, target = piece_labels(translation.source_pieces), piece_labels(best.pieces)
    return draw(best.attention, source, target, path, title=(printable(translation.source), printable(best.text)))


def terminal_drawing(translation: Translation, width: int) -> list[str]:
    """The sentence, its translation, and the drawing, as lines of at most `width` columns."""
    best = translation.hypotheses[0]
    drawing = terminal_lines(best.attention, piece_labels(translation.source_pieces), piece_labels(best.pieces), width)
    return [printable(translation.source), printable(best.text), "", *drawing]
