"""`nmt.visualize`: `nmt visualize` as a function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from nmt_cli.api.drawings.drawing import Drawing, DrawingRequest, Subject
from nmt_cli.api.options.arguments import (
    PathLike,
    build_settings,
    explain_os_errors,
    find_path,
    list_paths,
    list_texts,
)
from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.search.config import SearchConfig


@explain_os_errors
def visualize(
    sentences: str | Iterable[str] = (),
    *,
    output: PathLike | Iterable[PathLike] | None = None,
    target: str | Iterable[str] | None = None,
    pairs: PathLike | None = None,
    gold: PathLike | None = None,
    subwords: bool = False,
    transpose: bool = False,
    heads: bool = False,
    beam: bool = False,
    curves: bool = False,
    corpus: bool = False,
    network: bool = False,
    nearest: int = 0,
    data: PathLike | Iterable[PathLike] = "prepared",
    model: PathLike | Iterable[PathLike] = "model",
    progress: StageReporter | None = None,
    **options: Any,
) -> Drawing:
    """Draws the attention of translations: to files that end in .png, .svg or .html, or as `text` for a terminal.

    Draws something else with `beam` (the search), `curves` (of learning), `corpus` (the prepared one), `network` (its
    layers) or `nearest` (the number of nearest training pairs). `curves` takes several models, `corpus` several of
    `data`. `options` are those of `nmt visualize`, such as `beam_size=1`. Raises NotFoundError, DataError or
    OptionError.
    """
    subjects = {"beam": beam, "curves": curves, "corpus": corpus, "network": network, "nearest": nearest > 0}
    flags = {"subwords": subwords, "transpose": transpose, "heads": heads}
    values: dict[str, Any] = {"sentences": tuple(list_texts(sentences)), "targets": tuple(list_texts(target)), **flags}
    values |= {"outputs": tuple(list_paths(output)), "pairs": find_path(pairs), "gold": find_path(gold)}
    others = {"sentences": values["sentences"] or None, "target": target, "pairs": pairs, "gold": gold}
    others |= {"output": values["outputs"] or None, **flags, **subjects}
    (search,) = build_settings("visualize", options, SearchConfig, others=others)
    models, corpora = tuple(map(find_model, list_paths(model))), tuple(list_paths(data))
    values |= {"subject": choose_subject(**subjects), "search": search, "nearest": nearest}
    request = DrawingRequest(models=models, corpora=corpora, **values)
    return draw(request, progress or ignore_progress)


def choose_subject(**asked: bool) -> Subject:
    """Returns the requested subject, by default attention."""
    return cast(Subject, next((name for name, is_asked in asked.items() if is_asked), "attention"))


def draw(request: DrawingRequest, progress: StageReporter) -> Drawing:
    """Draws what the request names, and returns the drawing."""
    from nmt_cli.api.drawings.attention_view import draw_attention
    from nmt_cli.api.drawings.charts import draw_corpora, draw_histories, draw_model_network, draw_search, list_nearest

    draws = {
        "attention": draw_attention,
        "beam": draw_search,
        "curves": draw_histories,
        "corpus": draw_corpora,
        "network": draw_model_network,
        "nearest": list_nearest,
    }
    drawing = Drawing(progress)
    draws[request.subject](request, drawing)
    return drawing
