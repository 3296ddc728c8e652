"""What all pictures share: file formats, fonts that show their text, quiet and repeatable drawing. Knows matplotlib."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.errors import OptionError
from nmt_cli.files import atomic_path
from nmt_cli.visuals.fonts import fonts_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
INK = "#26262b"
FAINT = "#6b6b73"
GRID = "#ececf0"
BLUE = "#1f5a94"
ORANGE = "#c7601a"  # darker in grey than it looks, and apart from the blue for every kind of colour blindness
FONT_SIZE = 10.0  # points
LARGEST_SIDE = 6000  # pixels, about 100 MB while drawing


def check_suffix(path: Path, allowed: Sequence[str] = SUFFIXES) -> None:
    """Raises OptionError unless such a file can be written: by its suffix, and where no directory has the name."""
    if path.suffix.lower() not in allowed:
        raise OptionError(
            f"{path} does not say which kind of picture is wanted",
            hint=f"end the name with {' or '.join(allowed)}, such as {path.stem or 'attention'}{allowed[0]}",
        )
    if path.is_dir():
        raise OptionError(f"{path} is a directory; the name of a file is needed")


def write_figure(path: Path, text: str, build: Callable[[], Figure], *, title: str = "") -> str:
    """Writes what `build` draws to a PNG or SVG file; `text` is all text in it. The same input gives the same SVG.

    Returns the characters that no installed font can show (boxes in a PNG; an SVG leaves fonts to the viewer).
    """
    kind = path.suffix.lower().removeprefix(".")
    with quiet_matplotlib():
        fonts = fonts_for(text)
        with rc_context(settings_of(kind, fonts.families)), atomic_path(path, suffix=path.suffix) as temporary:
            save(build(), temporary, kind, title)
    return fonts.missing if kind == "png" else ""


def svg_text(text: str, build: Callable[[], Figure]) -> str:
    """What `build` draws as an SVG element that can stand inside an HTML page."""
    buffer = io.BytesIO()
    with quiet_matplotlib(), rc_context(settings_of("svg", fonts_for(text).families)):
        save(build(), buffer, "svg", "")
    drawn = buffer.getvalue().decode("utf-8")
    return drawn[drawn.index("<svg") :]


def settings_of(kind: str, families: tuple[str, ...]) -> dict[str, Any]:
    return {
        "font.family": [*families, *(["sans-serif"] if kind == "svg" else [])],
        "svg.fonttype": "none",  # text stays text: it can be searched, and the viewer's own fonts show it
        "svg.hashsalt": "nmt",
    }


def save(figure: Figure, target: Any, kind: str, title: str) -> None:
    dpi = min(160.0, LARGEST_SIDE / max(figure.get_size_inches()))
    metadata = ({"Title": title} if title else {}) | ({"Date": None} if kind == "svg" else {})
    figure.savefig(target, format=kind, dpi=dpi, bbox_inches="tight", pad_inches=0.25, metadata=metadata)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches, without pyplot: no global state, no window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # half a second that only pictures pay
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)  # measures text
    return figure


def plain_axes(axes: Any, title: str = "") -> None:
    """Axes with a heading at the left, faint ticks, a light grid and no box."""
    axes.set_title(title, loc="left", fontsize=FONT_SIZE + 1, color=INK, parse_math=False)
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0, labelsize=FONT_SIZE - 1, labelcolor=FAINT)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)


def inside_label(axes: Any, height: float, colour: str, name: str) -> None:
    """The name of a line at the right of the axes, in its colour, at this share of their height."""
    axes.text(
        0.98,
        height,
        name,
        transform=axes.transAxes,
        ha="right",
        color=colour,
        fontsize=FONT_SIZE - 1,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        parse_math=False,
    )


@contextmanager
def quiet_matplotlib() -> Iterator[None]:
    """Keeps matplotlib's remarks off stderr: on glyphs (draw returns them), font caches and missing directories."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph ")
            warnings.filterwarnings("ignore", module="matplotlib")
            yield
    finally:
        logger.setLevel(level)


def rc_context(settings: dict[str, Any]) -> Any:
    """matplotlib's defaults with these settings, whatever the user's own matplotlibrc says."""
    import matplotlib  # half a second that only pictures pay

    values: dict[Any, Any] = {**matplotlib.rcParamsDefault, **settings}
    values.pop("backend")  # the one that rc_context would not restore
    return matplotlib.rc_context(values)
