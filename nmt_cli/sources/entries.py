"""The entries of a model's card about its source side, for text or pictures.

`corpus.sides` does the same for a prepared corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from nmt_cli.records import Range, build
from nmt_cli.sources.source import MIN_LENGTH_FACTOR, Source, TextSource
from nmt_cli.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class TextEntries:
    """A source side of text."""

    type: Literal["text"] = "text"
    limit: Annotated[int, Range(1, 10**9)] | None = None
    length_factor: Annotated[float, Range(0.01, 10**4)] = MIN_LENGTH_FACTOR

    is_text: ClassVar[bool] = True
    line: ClassVar[str] = "One sentence per line"

    def open_source(self, load_tokenizer: Callable[[], Tokenizer]) -> Source:
        """Returns the source side as it was in training."""
        return TextSource(load_tokenizer(), self.limit, self.length_factor)

    def find_identity(self, subwords: object) -> object:
        """Returns a value shared by models that read the same rows."""
        return subwords


@dataclass(frozen=True, kw_only=True)
class PictureEntries:
    """A source side of pictures."""

    type: Literal["features", "image"]
    depth: Annotated[int, Range(1, 10**6)]

    is_text: ClassVar[bool] = False
    line: ClassVar[str] = "The path of one file per line"

    def open_source(self, load_tokenizer: Callable[[], Tokenizer]) -> Source:
        """Returns the source side as it was in training."""
        from nmt_cli.sources.images import GridSource  # text does not need it

        return GridSource(self.type, self.depth)

    def find_identity(self, subwords: object) -> object:
        """Returns a value shared by models that read the same rows: no subwords, but grids of one depth."""
        return self


SourceEntries = TextEntries | PictureEntries


def read_entries(values: Mapping[str, Any]) -> SourceEntries:
    """Reads the entries of a card about its source. Raises RecordError for any that describe none."""
    kind = TextEntries if values.get("type", "text") == "text" else PictureEntries
    entries: SourceEntries = build(kind, values, "source")
    return entries
