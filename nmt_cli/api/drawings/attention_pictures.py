"""Draws the attention of translations: on a terminal, as pictures, as a page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.api.drawings.drawing import TERMINAL, Drawing, DrawingConfig
from nmt_cli.text.wrapping import format_count
from nmt_cli.visuals.heatmap import draw_heatmap, format_heatmap
from nmt_cli.visuals.words import LabelledAttention, label_attention

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.translation.result import Translation

PAGES = (".html",)


class AttentionView(NamedTuple):
    """The translations whose attention is drawn, each with its measures and, optionally, the weights of every head."""

    config: DrawingConfig
    translations: Sequence[Translation]
    measures: Sequence[str]
    heads: Sequence[FloatArray | None]
    are_pictures: bool  # rather than texts, what was translated

    def draw(self, output: Path, drawing: Drawing) -> None:
        """Draws every translation to one output."""
        if output == TERMINAL:
            self.show(drawing)
        elif output.suffix.lower() in PAGES:
            self.write_page(output)
            drawing.add_file(output, self.describe_page(output))
        else:
            self.draw_pictures(output, drawing)

    def show(self, drawing: Drawing) -> None:
        """Shows the attention of each translation as lines of text."""
        width = shutil.get_terminal_size().columns
        for index, (translation, measure) in enumerate(zip(self.translations, self.measures, strict=True)):
            if index:
                drawing.show("")
            matrix = label_attention(translation, merge=not self.config.subwords)
            lines = self.format_matrix(matrix, width)
            drawing.show("\n".join([matrix.source_text, matrix.target_text, "", *lines, measure]))

    def format_matrix(self, matrix: LabelledAttention, width: int) -> list[str]:
        if self.config.transpose:
            return format_heatmap(matrix.attention.T, matrix.target, matrix.source, width, ("translation", "source"))
        return format_heatmap(matrix.attention, matrix.source, matrix.target, width)

    def draw_pictures(self, output: Path, drawing: Drawing) -> None:
        """Draws one picture per sentence; with several sentences the file names are numbered."""
        for number, (translation, weights) in enumerate(zip(self.translations, self.heads, strict=True), start=1):
            path = output if len(self.translations) == 1 else output.with_stem(f"{output.stem}-{number}")
            matrix = label_attention(translation, merge=not self.config.subwords, heads=weights)
            missing = draw_over_picture(matrix, path) if self.are_pictures else self.draw_matrix(matrix, path)
            drawing.add_file(path, describe_file(path, translation))
            drawing.warn_of_glyphs(missing)

    def draw_matrix(self, matrix: LabelledAttention, path: Path) -> str:
        """Draws the attention of one translation; returns the characters that no font has."""
        labels, array, names = (matrix.source, matrix.target), matrix.attention, ("source", "translation")
        if self.config.transpose:
            labels, names = (matrix.target, matrix.source), ("translation", "source")
            array = matrix.attention.swapaxes(-1, -2)
        title = (matrix.source_text, matrix.target_text)
        if self.config.heads:
            from nmt_cli.visuals.head_sheet import draw_head_sheet

            return draw_head_sheet(array, *labels, path, title=title, names=names)
        return draw_heatmap(array, *labels, path, title=title, names=names)

    def write_page(self, output: Path) -> None:
        """Writes a page on which a reader chooses between words and subwords."""
        from nmt_cli.visuals.html import PageSentence, write_page

        def label_all() -> Iterator[PageSentence]:
            for translation, measure, weights in zip(self.translations, self.measures, self.heads, strict=True):
                words, pieces = (label_attention(translation, merge=merge, heads=weights) for merge in (True, False))
                yield PageSentence(words, pieces, measure)

        write_page(list(label_all()), output, merge=not self.config.subwords, transpose=self.config.transpose)

    def describe_page(self, output: Path) -> str:
        """Returns the line that reports a page."""
        if len(self.translations) > 1:
            return f"{output}: {format_count(len(self.translations), 'sentence')}"
        return describe_file(output, self.translations[0])


def describe_file(output: Path, translation: Translation) -> str:
    """Returns the line that reports the picture of one sentence."""
    return f"{output}: {translation.text}" if translation.text else f"{output} written"


def draw_over_picture(matrix: LabelledAttention, path: Path) -> str:
    """Draws the weights of each word over the picture named by the source, or found beside its features."""
    from nmt_cli.visuals.grid import draw_grid
    from nmt_cli.visuals.picture import find_picture

    return draw_grid(
        matrix.attention,
        matrix.target,
        path,
        title=matrix.target_text,
        picture=find_picture(Path(matrix.source_text)),
    )
