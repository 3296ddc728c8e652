"""Draws the attention of translations: on a terminal, as pictures, as a page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.api.drawings.config import TERMINAL, DrawingConfig
from nmt_cli.api.drawings.drawing import Drawing
from nmt_cli.text.wrapping import format_count
from nmt_cli.visuals.canvas import PAGES
from nmt_cli.visuals.heatmap import AxisLabels, Panel, draw_heatmap, format_heatmap
from nmt_cli.visuals.words import LabelledAttention, label_attention

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.translation.result import Translation


class AttentiveTranslation(NamedTuple):
    """A translation whose attention is drawn, with a line of measures and, optionally, the weights of every head."""

    translation: Translation
    measure: str
    heads: FloatArray | None = None
    model: str = ""  # its name, where several models translate


class AttentionView(NamedTuple):
    """The translations of each sentence, by one model or by several."""

    config: DrawingConfig
    sentences: Sequence[Sequence[AttentiveTranslation]]
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
        for index, drawn in enumerate(chain.from_iterable(self.sentences)):
            if index:
                drawing.show("")
            matrix = label_attention(drawn.translation, merge=not self.config.subwords)
            names = [f"{drawn.model}:"] if drawn.model else []
            lines = [
                matrix.source_text,
                *names,
                matrix.target_text,
                "",
                *self.format_matrix(matrix, width),
                drawn.measure,
            ]
            drawing.show(*lines)

    def format_matrix(self, matrix: LabelledAttention, width: int) -> list[str]:
        if self.config.transpose:
            return format_heatmap(matrix.attention.T, matrix.target, matrix.source, width, ("translation", "source"))
        return format_heatmap(matrix.attention, matrix.source, matrix.target, width)

    def draw_pictures(self, output: Path, drawing: Drawing) -> None:
        """Draws one picture per sentence; with several sentences the file names are numbered."""
        for number, several in enumerate(self.sentences, start=1):
            path = output if len(self.sentences) == 1 else output.with_stem(f"{output.stem}-{number}")
            missing = self.draw_sentence(several, path)
            drawing.add_file(path, describe_file(path, several))
            drawing.warn_of_glyphs(missing)

    def draw_sentence(self, several: Sequence[AttentiveTranslation], path: Path) -> str:
        """Draws the attention of the translations of one sentence; returns the characters that no font has."""
        if self.are_pictures:
            matrix = label_attention(several[0].translation, merge=not self.config.subwords)
            return draw_over_picture(matrix, path)
        panels = [self.make_panel(drawn) for drawn in several]
        if not self.config.heads:
            return draw_heatmap(panels, path)
        from nmt_cli.visuals.head_sheet import draw_head_sheet

        return draw_head_sheet(panels[0], path)

    def make_panel(self, drawn: AttentiveTranslation) -> Panel:
        """Returns the attention of one translation, with its labels and title."""
        matrix = label_attention(drawn.translation, merge=not self.config.subwords, heads=drawn.heads)
        title = (drawn.model or matrix.source_text, matrix.target_text)
        if self.config.transpose:
            labels = AxisLabels(matrix.target, matrix.source, "translation", "source")
            return Panel(matrix.attention.swapaxes(-1, -2), labels, title)
        return Panel(matrix.attention, AxisLabels(matrix.source, matrix.target), title)

    def write_page(self, output: Path) -> None:
        """Writes a page on which a reader chooses between words and subwords."""
        from nmt_cli.visuals.html import PageSentence, write_page

        def label_all() -> Iterator[PageSentence]:
            for translation, measure, heads, model in chain.from_iterable(self.sentences):
                words, pieces = (label_attention(translation, merge=merge, heads=heads) for merge in (True, False))
                yield PageSentence(words, pieces, measure, model)

        write_page(list(label_all()), output, merge=not self.config.subwords, transpose=self.config.transpose)

    def describe_page(self, output: Path) -> str:
        """Returns the line that reports a page."""
        if len(self.sentences) > 1:
            return f"{output}: {format_count(len(self.sentences), 'sentence')}"
        return describe_file(output, self.sentences[0])


def describe_file(output: Path, several: Sequence[AttentiveTranslation]) -> str:
    """Returns the line that reports the picture of one sentence."""
    texts = " | ".join(drawn.translation.text for drawn in several)
    return f"{output}: {texts}" if texts.strip(" |") else f"{output} written"


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
