"""The files that a job names, packed for machines that lack them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from nmt_cli.carrying.glossary import Glossary
from nmt_cli.files import require_file
from nmt_cli.runtime.compatibility import require_reverse, require_same_sides
from nmt_cli.runtime.model_directory import CARD, ModelDirectory
from nmt_cli.sources.images import IMAGE_WEIGHTS
from nmt_cli.translation.config import ModelRequest


@dataclass(frozen=True)
class PackedFiles:
    """The contents of the model directories and the glossary that a request names, for machines that lack them."""

    models: tuple[dict[str, bytes], ...]  # file name to content, of each model
    glossary: bytes | None

    @classmethod
    def pack(cls, request: ModelRequest) -> PackedFiles:
        """Reads and checks the models and the glossary here, where their paths mean something to the user.

        Raises NotFoundError, DamagedError, OptionError and DataError.
        """
        first, *others = models = [ModelDirectory.open(path, request.precision) for path in request.paths]
        for other in others[: len(request.ensemble)]:
            require_same_sides(first, other)
        for other in others[len(request.ensemble) :]:
            require_reverse(first, other)
        return cls(tuple(map(read_model_files, models)), read_glossary(request))

    def unpack(self, request: ModelRequest, directory: Path) -> ModelRequest:
        """Writes the models and the glossary to `directory`, and returns the request that names them there."""
        models = [directory / str(number) for number, _ in enumerate(self.models)]
        for model, files in zip(models, self.models, strict=True):
            model.mkdir()
            for name, content in files.items():
                (model / name).write_bytes(content)
        request = request.with_paths(models)._replace(is_private=True)
        if self.glossary is not None and request.lines is not None:
            terms = directory / "glossary.tsv"
            terms.write_bytes(self.glossary)
            request = request._replace(lines=replace(request.lines, glossary=str(terms)))
        return request


def read_model_files(model: ModelDirectory) -> dict[str, bytes]:
    """Returns the files of a model that translation needs, and the weights that read pictures, if any."""
    names = (*model.files, *({IMAGE_WEIGHTS} & model.card.checksums.keys()))
    card = json.dumps(model.card._asdict(), ensure_ascii=False).encode()  # the file may be another by now
    return {CARD: card} | {name: model.read(name) for name in names}


def read_glossary(request: ModelRequest) -> bytes | None:
    """Returns the content of the glossary, if one is named. Raises NotFoundError, and DataError for an invalid one."""
    if request.lines is None or request.lines.glossary is None:
        return None
    path = require_file(Path(request.lines.glossary))
    Glossary.load(path)
    return path.read_bytes()
