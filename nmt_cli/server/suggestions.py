"""User corrections: appended to a file of pairs, and to the memory from which their model translates from now on."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from nmt_cli.api.memory import HEADINGS, has_tags, read_file
from nmt_cli.errors import OutputError
from nmt_cli.files import write_text
from nmt_cli.server.errors import RequestError
from nmt_cli.server.models import ServedModel
from nmt_cli.text.escapes import CONTROLS
from nmt_cli.text.tags import TagPurpose, TagSet, find_tag_value

MOST_BYTES = 10_000_000  # of a file: in memory, short pairs take forty times as much


class SuggestionFile:
    """Appends pairs to a file; with models of several directions, to one file each."""

    def __init__(self, path: Path, *, by_direction: bool = False) -> None:
        self.path = path
        self.by_direction = by_direction
        self.lock = threading.Lock()

    def require_folder(self) -> None:
        """Raises OutputError if a file cannot be written there."""
        folder = self.path.parent
        if not folder.is_dir() or self.path.is_dir() or not os.access(folder, os.W_OK):
            raise OutputError(
                f"--suggestions {self.path} cannot be written", hint="name a file in a directory that can be written"
            )

    def find_path(self, model: ServedModel) -> Path:
        """Returns the file of a direction."""
        if not self.by_direction:
            return self.path
        direction = f"{model.source.code}-{model.target.code}"
        return self.path.with_name(f"{self.path.stem}.{direction}{self.path.suffix}")

    def recall(self, models: Sequence[ServedModel]) -> None:
        """Adds earlier corrections to the memories of the models, which they overrule. Raises DataError."""
        from nmt_cli.corpus.formats.inputs import CorpusFile  # readers, which few servers need

        for model in models:
            path = self.find_path(model)
            if model.memory is not None and path.is_file() and path.stat().st_size:
                for pair in read_file(CorpusFile(path), model.card.languages):
                    model.memory.add(pair.source, pair.target, find_tag_value(pair.tags, TagPurpose.REGISTER))

    def append(self, model: ServedModel, source: str, target: str, tags: TagSet = ()) -> None:
        """Appends a pair, or one pair per line if both texts have equally many; the memory learns them.

        Tags stand in a third column; with the first correction that has some, a file gets headings. Raises RequestError
        for an empty text.
        """
        if not (source.strip() and target.strip()):
            raise RequestError(400, "a suggestion needs a text and its translation")
        sources, targets = source.strip().splitlines(), target.strip().splitlines()
        if len(sources) != len(targets):
            sources, targets = [source], [target]
        pairs = [(as_one_line(left), as_one_line(right)) for left, right in zip(sources, targets, strict=True)]
        pairs = [pair for pair in pairs if all(pair)]
        column = f"\t{' '.join(map(str, tags))}" if tags else ""
        data = "".join(f"{left}\t{right}{column}\n" for left, right in pairs).encode("utf-8", "replace")
        try:
            with self.lock, self.open_file(self.find_path(model), with_tags=bool(tags)) as file:
                size = os.fstat(file.fileno()).st_size
                if size + len(data) > MOST_BYTES:
                    raise RequestError(507, "the file of suggestions is full")
                if size:
                    file.seek(-1, os.SEEK_END)
                    data = data if file.read(1) == b"\n" else b"\n" + data  # editors leave a last line without its end
                file.write(data)
        except OSError as error:
            raise RequestError(507, "the file of suggestions cannot be written") from error
        if model.memory is not None:
            for left, right in pairs:
                model.memory.add(left, right, find_tag_value(tags, TagPurpose.REGISTER))

    def open_file(self, path: Path, *, with_tags: bool) -> BinaryIO:
        """Opens a file to append to, which begins with headings if some of its corrections have tags."""
        if with_tags and not has_tags(path):
            earlier = path.read_text(encoding="utf-8") if path.is_file() else ""
            write_text(path, "\t".join(HEADINGS) + f"\n{earlier}")
        return open(path, "ab+")


def as_one_line(text: str) -> str:
    """Returns a text in which single blanks replace control characters, which the terminals of readers would obey."""
    return " ".join(re.sub(CONTROLS, " ", text).split())
