"""Provides `nmt visualize` as the function `nmt.visualize`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Unpack

from nmt_cli.api.drawings.config import DrawingOptions
from nmt_cli.api.drawings.drawing import Drawing, DrawingRequest, check_outputs
from nmt_cli.api.options.interface import check_call
from nmt_cli.api.options.options import PathLike, build_settings, list_paths, list_texts
from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.config import TagOptions

if TYPE_CHECKING:
    from nmt_cli.api.options.keywords import VisualizeKeywords


@check_call(DrawingOptions, SearchOptions, TagOptions)
def visualize(
    sentences: str | Iterable[str] = (),
    *,
    output: PathLike | Iterable[PathLike] | None = None,
    data: PathLike | Iterable[PathLike] = "prepared",
    model: PathLike | Iterable[PathLike] = "model",
    force: bool = False,
    progress: StageReporter | None = None,
    **options: Unpack[VisualizeKeywords],
) -> Drawing:
    """Draws the attention of translations: to files that end in .png, .svg, .pdf or .html, or as `text` for a terminal.

        nmt.visualize("Where is the station?", model="eng-deu", output="attention.png")

    Other drawings are `beam` (the search), `curves` (of learning), `corpus` (the prepared corpus), `network` (its
    layers) and `nearest` (the number of nearest training pairs). `curves` takes several models, `corpus` several
    `data`. `force` replaces files that nmt did not write. `nmt visualize --help-all` explains the `options`, such as
    `target="Wo?"` or `beam_size=1`. Raises NotFoundError, DataError or OptionError.
    """
    texts, outputs = tuple(list_texts(sentences)), tuple(list_paths(output))
    others = {"sentences": texts or None, "output": outputs or None}
    kinds = DrawingOptions, SearchOptions, TagOptions
    config, search, tags = build_settings("visualize", options, *kinds, others=others)
    request = DrawingRequest(
        models=tuple(map(find_model, list_paths(model))),
        corpora=tuple(list_paths(data)),
        config=config,
        search=search,
        tags=tags,
        sentences=texts,
        outputs=outputs,
        force=force,
    )
    return draw(request, progress or ignore_progress)


def draw(request: DrawingRequest, progress: StageReporter) -> Drawing:
    """Makes the drawing of a request, and returns it."""
    from nmt_cli.api.drawings.attention import draw_attention
    from nmt_cli.api.drawings.charts import draw_corpora, draw_histories, draw_model_network, draw_search, list_nearest

    draws = {
        "attention": draw_attention,
        "beam": draw_search,
        "curves": draw_histories,
        "corpus": draw_corpora,
        "network": draw_model_network,
        "nearest": list_nearest,
    }
    check_outputs(request)
    drawing = Drawing(progress)
    draws[request.config.subject](request, drawing)
    return drawing
