"""Two files, or folders of files, whose texts have keys: a segment number, a Bible verse.

Texts with the same key are a pair, whatever their order; keys on only one side are counted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from nmt_cli.corpus.formats.input_stream import InputStream
from nmt_cli.corpus.formats.reader import Reader, Row
from nmt_cli.errors import DataError
from nmt_cli.text.wrapping import format_count

MAXIMUM_SIDE = 1 << 28  # characters of the texts of one side, which are held in memory


class KeyedText(NamedTuple):
    """A text, its key, and its first line number."""

    line: int
    key: str
    text: str


class KeyedReader(Reader):
    """The base of readers that join two sides by keys."""

    noun: ClassVar[str]  # what a text is called
    split = 1  # how many of the streams are the source's

    @abstractmethod
    def read_texts(self, stream: InputStream, side: int) -> Iterator[KeyedText]:
        """Yields the texts of one file of the source (0) or the target (1)."""

    def read_rows(self) -> Iterator[Row]:
        if self.options.one_side:
            texts = self.collect_side(self.streams, 0).values()
            yield from (Row(text.line, text.text, text.text) for text in texts)
            return
        streams = self.streams[: self.split], self.streams[self.split :]
        sides = [self.collect_side(of_side, side) for side, of_side in enumerate(streams)]
        source, target = self.align(*sides)
        for key, text in source.items():
            if key in target:
                yield Row(text.line, text.text, target[key].text)
        lonely = len(source.keys() ^ target.keys())
        if lonely and lonely == len(source) + len(target):
            raise DataError(f"{self.file.name}: the two sides have no {self.noun} in common", hint=self.expects)
        if lonely:
            self.add_note(f"{format_count(lonely, self.noun)} only on one side, left out")

    def collect_side(self, streams: Sequence[InputStream], side: int) -> dict[str, KeyedText]:
        """Returns the texts of one side by key, joining texts with the same key."""
        texts: dict[str, KeyedText] = {}
        size = 0
        for stream in streams:
            for text in self.read_texts(stream, side):
                first = texts.get(text.key)
                texts[text.key] = text if first is None else first._replace(text=f"{first.text} {text.text}".strip())
                size += len(text.text)
                if size > MAXIMUM_SIDE:
                    raise DataError(f"{stream.name}: more than {MAXIMUM_SIDE:,} characters")
        return texts

    def align(
        self, source: dict[str, KeyedText], target: dict[str, KeyedText]
    ) -> tuple[dict[str, KeyedText], dict[str, KeyedText]]:
        """Returns both sides with comparable keys."""
        return source, target
