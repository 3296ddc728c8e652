"""Opens models for commands. The network that reads pictures is loaded only once a picture is read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.api.startup import require_tensorflow, silence_onnxruntime, silent_tensorflow

if TYPE_CHECKING:
    from nmt_cli.corpus.config import PrepareConfig
    from nmt_cli.sources.source import PictureReader
    from nmt_cli.translation.config import ModelRequest
    from nmt_cli.translation.reranking import Judge
    from nmt_cli.translation.translator import Translator


def make_picture_reader(config: PrepareConfig) -> PictureReader | None:
    """Returns the reader of a corpus's pictures; None for a corpus of text."""
    if config.source_type == "text":
        return None
    from nmt_cli.sources.images import FeatureFiles  # numpy, which `nmt --help` does not need

    if config.source_type == "features":
        return FeatureFiles()
    return load_inception(Path(config.image_weights) if config.image_weights is not None else None)


def open_translator(request: ModelRequest) -> Translator:
    """Opens a model, or an ensemble of models, with its reader of pictures or the model that ranks its hypotheses."""
    silence_onnxruntime()
    from nmt_cli.translation.translator import Translator

    translator = Translator.load(request)
    if translator.card.source.get("type") == "image":
        from nmt_cli.sources.images import IMAGE_WEIGHTS

        reader = partial(load_own_inception, request.model / IMAGE_WEIGHTS, translator.card.checksums)
        translator = translator.with_picture_reader(cache(reader))  # loaded once, if at all
    if request.check_with is not None:
        from nmt_cli.translation.reading_back import attach_reverse  # which few runs ask for

        attach_reverse(translator, request)
    return translator if request.rerank is None else translator.with_judge(open_judge(request, request.rerank))


def open_judge(request: ModelRequest, rerank: Path) -> Judge:
    """Opens the model that ranks the hypotheses of another. Raises OptionError for one of other languages."""
    from nmt_cli.runtime.compatibility import require_reverse
    from nmt_cli.runtime.model_directory import ModelDirectory
    from nmt_cli.translation.reranking import Judge  # numpy, as above
    from nmt_cli.translation.translator import Translator

    require_reverse(ModelDirectory.open(request.model), ModelDirectory.open(rerank), "rerank")
    return Judge(Translator.load(request._replace(model=rerank, ensemble=(), lines=None)))


def load_own_inception(weights: Path, checksums: Mapping[str, str]) -> PictureReader:
    """Loads the InceptionV3 of a model. Raises DamagedError if its weights have been replaced since."""
    from nmt_cli.runtime.model_directory import check_file  # numpy, as above

    check_file(weights, checksums.get(weights.name, ""))
    return load_inception(weights)


def load_inception(weights: Path | None) -> PictureReader:
    """Loads InceptionV3 with these weights, or those of ImageNet. Raises MissingExtraError without TensorFlow."""
    require_tensorflow("reading pictures")
    with silent_tensorflow():
        from nmt_cli.model.inception import InceptionV3
    return InceptionV3(weights)
