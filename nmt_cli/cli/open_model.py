"""Where a command needs the network that reads pictures: it is loaded then, and only then.

Must stay light: it is imported for `nmt --help`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.cli.tensorflow_startup import require_tensorflow, silent_tensorflow

if TYPE_CHECKING:
    from nmt_cli.corpus.config import PrepareConfig
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.sources.images import PictureReader
    from nmt_cli.translation.config import LineConfig
    from nmt_cli.translation.translator import Translator


def reader_for(config: PrepareConfig) -> PictureReader | None:
    """What reads the pictures of a corpus; None where it is text."""
    if config.source_type == "text":
        return None
    from nmt_cli.sources.images import FeatureFiles  # numpy, which `nmt --help` does not need

    if config.source_type == "features":
        return FeatureFiles()
    return inception(Path(config.image_weights) if config.image_weights is not None else None)


def open_translator(
    model: Path,
    ensemble: Sequence[Path] = (),
    lines: LineConfig | None = None,
    *,
    precision: str | None = None,
    threads: int | None = None,
) -> Translator:
    """The translator in a model directory or of several, with what reads pictures where it was trained on them."""
    from nmt_cli.translation.translator import Translator

    translator = Translator.load(model, ensemble, lines, precision=precision, threads=threads)
    if translator.card.source.get("type") == "image":
        from nmt_cli.sources.images import IMAGE_WEIGHTS

        reader = cache(lambda: inception(model / IMAGE_WEIGHTS))  # loaded once, if at all
        translator = translator.with_picture_reader(reader)
    return translator


def with_pictures_of(translator: Translator, corpus: PreparedCorpus) -> Translator:
    """The same translator, which knows the pictures of `corpus` by their names there."""
    return translator.with_stored_pictures(corpus.stored_pictures()) if corpus.has_pictures else translator


def inception(weights: Path | None) -> PictureReader:
    """InceptionV3 with these weights, or ImageNet's. Raises MissingExtraError where TensorFlow is not installed."""
    require_tensorflow("reading pictures")
    with silent_tensorflow():
        from nmt_cli.model.inception import InceptionV3
    return InceptionV3(weights)
