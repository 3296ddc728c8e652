"""What all pictures share: file formats, fonts, quiet and reproducible drawing. Knows matplotlib."""

from __future__ import annotations

import io
import logging
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.errors import OptionError
from nmt_cli.files import GENERATOR, stage_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Chooses installed fonts that can show a text. Knows matplotlib's list of fonts, and nothing of what is drawn.


BASE = "DejaVu Sans"  # comes with matplotlib: Latin, Greek, Cyrillic, Arabic, Hebrew, Armenian, Georgian
PREFERRED = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "PingFang SC", "Hiragino Sans", "Microsoft YaHei"),
    *("Yu Gothic", "Malgun Gothic", "Apple SD Gothic Neo", "WenQuanYi Micro Hei", "Noto Sans", "Noto Sans Devanagari"),
    *("Nirmala UI", "Kohinoor Devanagari", "Noto Sans Thai", "Leelawadee UI", "Arial Unicode MS", "Unifont"),
)
# Fonts that come with matplotlib and draw characters as parts of formulas, or as boxes.
NOT_FOR_TEXT = ("cm", "STIX", "Last Resort")


@dataclass(frozen=True)
class FontChoice:
    """Font families, in the order in which glyphs are looked up, and the characters missing from all of them."""

    families: tuple[str, ...]
    missing: str


def choose_fonts(text: str) -> FontChoice:
    """Returns the base font, and the installed families with the characters of `text` that it lacks."""
    missing = {c for c in text if not (c.isspace() or unicodedata.category(c) in ("Cf", "Cc"))}
    families = [BASE]
    for family, characters in list_candidates():
        if not missing:
            break
        covered = {character for character in missing if ord(character) in characters}
        if covered and family not in families:
            families.append(family)
        missing -= covered
    return FontChoice(tuple(families), "".join(sorted(missing)))


def list_candidates() -> Iterator[tuple[str, Iterable[int]]]:
    """Yields the installed families with their code points: the base font, the preferred ones, then all others.

    Lazy, because reading a font takes milliseconds.
    """
    from matplotlib.font_manager import fontManager, get_font  # half a second

    upright = {e.name: e.fname for e in fontManager.ttflist if e.style == "normal" and int(e.weight) in range(300, 600)}
    others = sorted(name for name in upright if not name.startswith(NOT_FOR_TEXT))
    for name in dict.fromkeys((BASE, *(family for family in PREFERRED if family in upright), *others)):
        yield name, get_font(upright[name]).get_charmap()


SUFFIXES = (".png", ".svg", ".pdf")
PAGES = (".html",)
INK = "#26262b"
FAINT = "#6b6b73"
GRID = "#ececf0"
BLUE = "#1f5a94"
ORANGE = "#c7601a"  # differs from the blue in grey, and with every kind of colour blindness
FONT_SIZE = 10.0  # points
LARGEST_SIDE = 6000  # pixels, about 100 MB while drawing


def check_suffix(path: Path, allowed: Sequence[str] = SUFFIXES) -> None:
    """Raises OptionError if the suffix is not `allowed`, or if `path` is a directory."""
    if path.suffix.lower() not in allowed:
        raise OptionError(
            f"{path} does not say which image format to write",
            hint=f"end the name with {' or '.join(allowed)}, such as {path.stem or 'attention'}{allowed[0]}",
        )
    if path.is_dir():
        hint = f"name a file in it: {path}/attention{allowed[0]}"
        raise OptionError(f"{path} is a directory, but must be a file", hint=hint)


def write_figure(path: Path, text: str, build: Callable[[], Figure], *, title: str) -> str:
    """Writes the figure built by `build` to a PNG, SVG or PDF file; `text` is all text in it.

    The same input gives the same SVG and PDF. Returns the characters that no installed font can show, drawn as boxes;
    an SVG leaves fonts to the viewer, so nothing is returned for it.
    """
    kind = path.suffix.lower().removeprefix(".")
    with silence_matplotlib():
        fonts = choose_fonts(text)
        with (
            apply_rc_settings(make_rc_settings(kind, fonts.families)),
            stage_file(path, suffix=path.suffix) as temporary,
        ):
            save(build(), temporary, kind, title)
    return "" if kind == "svg" else fonts.missing


def render_svg(text: str, build: Callable[[], Figure]) -> str:
    """Returns the figure built by `build` as an SVG element for an HTML page."""
    buffer = io.BytesIO()
    with silence_matplotlib(), apply_rc_settings(make_rc_settings("svg", choose_fonts(text).families)):
        save(build(), buffer, "svg", "")
    document = buffer.getvalue().decode("utf-8")
    return document[document.index("<svg") :]


def make_rc_settings(kind: str, families: tuple[str, ...]) -> dict[str, Any]:
    """Returns matplotlib's settings for a file of this kind: png, svg or pdf."""
    return {
        "font.family": [*families, *(["sans-serif"] if kind == "svg" else [])],
        "svg.fonttype": "none",  # text stays text: it can be searched, and the viewer's own fonts show it
        "svg.hashsalt": "nmt",
        "pdf.fonttype": 42,  # TrueType, which journals ask for
    }


def save(figure: Figure, target: Any, kind: str, title: str) -> None:
    """Saves a figure to a path or buffer; a PNG has at most LARGEST_SIDE pixels on each side."""
    dpi = min(160.0, LARGEST_SIDE / max(figure.get_size_inches()))
    marks: dict[str, dict[str, Any]] = {
        "png": {"Software": GENERATOR},
        "svg": {"Creator": GENERATOR, "Date": None},
        "pdf": {"Creator": GENERATOR, "CreationDate": None},
    }
    metadata = ({"Title": title} if title else {}) | marks[kind]
    figure.savefig(target, format=kind, dpi=dpi, bbox_inches="tight", pad_inches=0.25, metadata=metadata)


def create_figure(width: float, height: float) -> Figure:
    """Returns an empty figure of this size in inches, without pyplot: no global state, no window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # half a second, which only pictures need
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)  # measures text
    return figure


def style_axes(axes: Any, title: str) -> None:
    """Gives the axes a heading at the left, faint ticks, a light grid and no box."""
    axes.set_title(title, loc="left", fontsize=FONT_SIZE + 1, color=INK, parse_math=False)
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0, labelsize=FONT_SIZE - 1, labelcolor=FAINT)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)


@contextmanager
def silence_matplotlib() -> Iterator[None]:
    """Keeps matplotlib's messages off stderr: about glyphs (drawing returns them), font caches, missing directories."""
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


def apply_rc_settings(settings: dict[str, Any]) -> Any:
    """Returns a context with matplotlib's defaults and these settings, whatever the user's own matplotlibrc says."""
    import matplotlib  # half a second, which only pictures need

    values: dict[Any, Any] = {**matplotlib.rcParamsDefault, **settings}
    values.pop("backend")  # the only one that rc_context would not restore
    return matplotlib.rc_context(values)
