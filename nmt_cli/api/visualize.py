"""`nmt.visualize`: what `nmt visualize` does, as a function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from nmt_cli.api.drawings.drawing import Drawing
from nmt_cli.api.options.arguments import (
    PathLike,
    build_settings,
    explain_os_errors,
    find_path,
    list_paths,
    list_texts,
)
from nmt_cli.api.progress import StageReporter, ignore_progress
from nmt_cli.errors import OptionError
from nmt_cli.search.config import SearchConfig

Subject = Literal["attention", "beam", "curves", "corpus", "network", "nearest"]


@dataclass(frozen=True)
class DrawingRequest:
    """What to draw, of which model or corpus, and where to."""

    subject: Subject
    sentences: tuple[str, ...]
    outputs: tuple[Path, ...]  # none, or `drawing.TERMINAL`: as text
    models: tuple[Path, ...]  # one; several for their curves
    corpora: tuple[Path, ...]  # one; several for their charts
    search: SearchConfig
    targets: tuple[str, ...] = ()  # the translations whose attention is drawn; none: the model translates
    pairs: Path | None = None
    gold: Path | None = None
    subwords: bool = False
    transpose: bool = False
    nearest: int = 5  # pairs per sentence
    heads: bool = False  # whether every head of a Transformer is drawn

    @property
    def model(self) -> Path:
        """The only model. Raises OptionError for several."""
        return require_one("--model", self.models)

    @property
    def data(self) -> Path:
        """The only corpus. Raises OptionError for several."""
        return require_one("--data", self.corpora)


def require_one(option: str, paths: Sequence[Path]) -> Path:
    """Returns the only path. Raises OptionError for several, where only one can be shown."""
    if len(paths) > 1:
        hint = "give one of them; --curves draws several models, --corpus several corpora"
        raise OptionError(f"{option} is given {len(paths)} times", hint=hint)
    return paths[0]


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
    layers) or `nearest` (so many of the nearest training pairs). `curves` takes several models, `corpus` several of
    `data`. `options` are those of `nmt visualize`, such as `beam_size=1`. Raises NotFoundError, DataError or
    OptionError.
    """
    from nmt_cli.runtime.installed_models import find_model

    subjects = {"beam": beam, "curves": curves, "corpus": corpus, "network": network, "nearest": nearest > 0}
    others: dict[str, Any] = {
        "sentences": list_texts(sentences) or None,
        "target": target,
        "pairs": pairs,
        "gold": gold,
    }
    others |= {"output": list_paths(output) or None, "subwords": subwords, "transpose": transpose, "heads": heads}
    (search,) = build_settings("visualize", options, SearchConfig, others={**subjects, **others})
    request = DrawingRequest(
        choose_subject(**subjects),
        tuple(list_texts(sentences)),
        tuple(list_paths(output)),
        tuple(map(find_model, list_paths(model))),
        tuple(list_paths(data)),
        search,
        tuple(list_texts(target)),
        find_path(pairs),
        find_path(gold),
        subwords,
        transpose,
        nearest,
        heads,
    )
    return draw(request, progress or ignore_progress)


def choose_subject(**asked: bool) -> Subject:
    """Returns the subject that is asked for, else attention."""
    return cast(Subject, next((name for name, is_asked in asked.items() if is_asked), "attention"))


def draw(request: DrawingRequest, progress: StageReporter) -> Drawing:
    """Draws what the request names; returns what was drawn."""
    from nmt_cli.api.drawings.attention_view import AttentionRequest, draw_attention
    from nmt_cli.api.drawings.charts import draw_corpora, draw_histories, draw_model_network, draw_search, list_nearest

    drawing = Drawing(progress)
    outputs, sentences = request.outputs, request.sentences
    if request.subject == "curves":
        draw_histories(request.models, outputs, drawing)
    elif request.subject == "corpus":
        draw_corpora(request.corpora, outputs, drawing)
    elif request.subject == "beam":
        draw_search(sentences, outputs, request.model, request.search, drawing)
    elif request.subject == "network":
        draw_model_network(request.model, outputs, drawing)
    elif request.subject == "nearest":
        list_nearest(sentences, request.nearest, request.data, request.model, drawing)
    else:
        attention = AttentionRequest.from_options(
            sentences,
            request.targets,
            request.pairs,
            outputs,
            merge=not request.subwords,
            transpose=request.transpose,
            gold=request.gold,
            heads=request.heads,
        )
        draw_attention(attention, request.model, request.search, drawing)
    return drawing
